"""One spelling for characters that look alike. Every character becomes exactly one, so that offsets stay."""

from __future__ import annotations

import re
from functools import cache

_TRADITIONAL = "視無無記關閉絕過繞這從則規據數將輸統詞請話錄總結復複覆開發當現為們個與對應執運轉郵鏈連點擊網戶號帳賬審離禁權級優條約續會議問題驟須標頁電腦讀寫譯語員師給說顯誰設條業資產實際變環場寧許寫顧聽從遺棄讓時後訊參啟動導處務專練擴刪內圖檔碼鑰額匯報確認僅爲嚴絕屬護測試馬並頂層觸誤騙邊當僞偽裝擬態別惡隱藏過濾詢強類結論體檢驗應機屆們經歷給這麼壓縮擇麗顛換補充謝東車風險負責約節畧"
_SIMPLIFIED = "视无无记关闭绝过绕这从则规据数将输统词请话录总结复复覆开发当现为们个与对应执运转邮链连点击网户号帐账审离禁权级优条约续会议问题骤须标页电脑读写译语员师给说显谁设条业资产实际变环场宁许写顾听从遗弃让时后讯参启动导处务专练扩删内图档码钥额汇报确认仅为严绝属护测试马并顶层触误骗边当伪伪装拟态别恶隐藏过滤询强类结论体检验应机届们经历给这么压缩择丽颠换补充谢东车风险负责约节略"
_CYRILLIC_GREEK = "аАеЕоОрРсСуУхХіІјЈѕЅԁԛԝһҺкКмМтТвВнНгпиαΑβΒεΕιΙκΚνΝοΟρΡτΤυΥχΧΖζγηωσɑɡıℓ"
_LATIN = "aaeeooppccyyxxiijjssdqwhhkkmmttbbhhrnuaabbeeiikkvnooppttuyxxzzynwoagil"
_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
_SMALL = "abcdefghijklmnoprstuvwyz"

_LETTER_BLOCKS = (  # capital A of alphabets of 26 capitals and 26 small letters (Unicode, Mathematical Alphanumerics)
    *range(0x1D400, 0x1D6A4, 52),
)
_ACCENTED = "àáâãäåāăąǎèéêëēĕėęěìíîïĩīĭįǐòóôõöøōŏőǒùúûüũūŭůűǔǘǚǜǖçćčñńňśšýÿźżž"
_PLAIN = "aaaaaaaaaaeeeeeeeeeiiiiiiiiioooooooooouuuuuuuuuuvvvvcccnnnssyyzzz"


def fold(text: str) -> str:
    """`text` in small letters, with look-alikes, full-width, styled and traditional characters replaced by the plain
    one. The result has the length of `text`, and each character stands where it stood.

    >>> fold("Ｉgnоre 視")
    'ignore 视'
    """
    if text.isascii():
        return text.lower()
    text = _foldable().sub(lambda run: run.group().translate(_table()), text)
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


@cache
def _table() -> dict[int, str]:
    table = {
        ord(strange): plain
        for strange, plain in (
            *zip(_TRADITIONAL, _SIMPLIFIED, strict=True),
            *zip(_CYRILLIC_GREEK, _LATIN, strict=True),
            *zip(_SMALL_CAPITALS, _SMALL, strict=True),
            *zip(_ACCENTED, _PLAIN, strict=True),
        )
        if strange != plain
    }
    letters = "abcdefghijklmnopqrstuvwxyz"
    for start in _LETTER_BLOCKS:
        table.update({start + at: letters[at % 26] for at in range(52)})
    for start in (0x24B6, 0x24D0, 0x1F130, 0x1F150, 0x1F170, 0x249C):  # circled, squared, in brackets
        table.update({start + at: letters[at] for at in range(26)})
    table.update({0xFF10 + at: chr(0x30 + at) for at in range(10)})
    table.update({0xFF21 + at: letters[at] for at in range(26)} | {0xFF41 + at: letters[at] for at in range(26)})
    table.update({ord(mark): plain for mark, plain in zip("＜＞｛｝［］＃＠／｜＊＿＝＂", '<>{}[]#@/|*_="', strict=True)})
    return table


@cache
def _foldable() -> re.Pattern[str]:
    """One range for all that lies beyond the basic plane: `re` looks such characters up one by one."""
    plain = "".join(re.escape(chr(code)) for code in sorted(_table()) if code < 0x10000)
    return re.compile(f"[{plain}\U0001d400-\U0001f18f]+")
