"""Finds people's names where a title or a label shows them: 张三先生, 联系人：李四, Mr. Smith.

Nothing is guessed from a name alone: without a list of all words, 高兴 is as good a name as 高峰.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews, places

SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈吕苏卢蒋蔡贾魏薛叶阎余潘戴夏钟汪田姜范"
    "姚谭廖邹熊郝孔邱秦侯顾孟邵龙雷段汤黎贺毛龚武康严施洪龄翁倪俞覃柯鲁樊殷齐庞伍芦柴冉焦巴路岳申聂章"
    "張劉陳楊趙黃吳孫馬羅鄭謝韓馮蕭鄧許呂蘇盧蔣賈葉閻鍾譚鄒龍賀龔嚴彭曾丁任崔尹莫易乔霍喻裴闫"
)
"""Surnames that seldom are the end of another word."""

ALSO_WORDS = frozenset("高于方石白万文史钱江常安金成关向时华程应祝全陆温包左和平强尚游明管连梅童单古项简解谷卜水")
"""Surnames that are everyday words too: they count where nothing precedes them, or a label does."""

_DOUBLE = "欧阳|上官|司马|诸葛|夏侯|皇甫|尉迟|公孙|慕容|令狐|司徒|宇文|东方|端木|独孤|南宫|歐陽"
_PERSONAL = "先生|女士|小姐|太太|夫人|同志|老师|医生|大夫|教授|律师|法官|阿姨|叔叔"
_OFFICE = "经理|总监|主任|主管|工程师|科长|处长|局长|部长|院长|校长|董事长|会计|书记|队长|站长|师傅|總監|經理"
_BEFORE = frozenset("找请由与和给叫向跟同让是对约问及、，。：；！？,.:;!?\n ()（）“”\"'《》/—-@")

_AFTER_ALL = "经监裁体是共计数量和部结额价要会局行厂台的长里面公"
"""What makes 总 the beginning of another word than the title: 总体, 总是, 总公司."""

_UNITS = "区部市省国组司厂店院系科处室级"
_WORDS = "苏州|徐州|郑州|武汉|韩国|韩语|陈列|雷达|路由|马达|任务|任课|武术|马术|孔子|黄金"

_NOT_NAMES = "先生|女士|小姐|电话|手机|身份|地址|性别|年龄|职务|部门|邮箱|联系|微信|签字|签名"


@cache
def _title() -> re.Pattern[str]:
    return re.compile(f"{_PERSONAL}|{_OFFICE}|总(?![{_AFTER_ALL}])")


@cache
def _double_at_end() -> re.Pattern[str]:
    return re.compile(rf"(?:{_DOUBLE})[一-鿿]{{0,2}}\Z")


@cache
def _label() -> re.Pattern[str]:
    labels = (
        "联系人|收件人|收货人|寄件人|经办人|负责人|法定代表人|委托代理人|代表|代理人|姓名|户名|持卡人|申请人|被申请人|"
        "原告|被告|证人|患者|投保人|被保险人|受益人|借款人|出借人|担保人|承租人|出租人|紧急联系人|签收人|對象"
    )
    return re.compile(
        rf"(?:{labels})(?:\([^()\n]{{1,10}}\))?[ \t]{{0,4}}:[ \t_]{{0,8}}(?P<name>(?:{_DOUBLE}|[一-鿿])[一-鿿·]{{1,7}})"
    )


@cache
def _labeled_end() -> re.Pattern[str]:
    return re.compile(_NOT_NAMES)


@cache
def _english() -> re.Pattern[str]:
    prose = "If|The|In|And|Or|Of|For|On|At|To|As|With|By|From|Any|All|He|She|It|We"
    word = rf"(?!(?:{prose})\b)[A-Z][a-z]{{1,20}}(?:[-'’][A-Z][a-z]{{1,20}})?"
    return re.compile(rf"(?:Mrs?|Ms|Miss|Dr|Prof)(?:\.[ ]?|[ ])(?P<name>{word}(?:[ ](?:[A-Z]\.[ ])?{word}){{0,2}})")


def find_names(views: FoldedViews) -> Iterator[Hit]:
    """Every name that a title follows or a label introduces. A lone surname is taken with its title."""
    for title in _title().finditer(views.folded):
        if title[0] == "总" and not _is_boss(views.folded, title.start()):
            continue
        start = _start_of_name(views.folded, title.start(), office=title[0] not in _PERSONAL)
        if start < title.start():
            alone = title.start() - start == 1
            yield Hit(start, title.end() if alone else title.start(), "name_with_title")
    for label in _label().finditer(views.folded):
        end = _end_of_name(label["name"])
        if end:
            yield Hit(label.start("name"), label.start("name") + end, "labeled_name")
    for at, _ in places(views.folded, ("Mr", "Ms", "Miss", "Dr", "Prof")):
        found = _english().match(views.folded, at)
        before = views.folded[at - 1 : at] if at else ""
        if found and not (before.isascii() and before.isalnum()):
            yield Hit(*found.span("name"), "name_with_title")


def _start_of_name(text: str, end: int, *, office: bool) -> int:
    """Where the name begins that ends at `end`, before a title; `end` itself if there is none.

    An office follows many words (安全主任, 黄金经理), so that a given name is believed there only behind a word that
    can precede a person.
    """
    double = _double_at_end().search(text, max(0, end - 4), end)
    if double:
        return double.start()
    for length in (3, 2):
        name = text[end - length : end] if end >= length else ""
        if name and _is_full_name(name, _is_fresh(text, end - length), office):
            return end - length
    return end - 1 if end and _is_surname(text[end - 1], _is_fresh(text, end - 1)) else end


def _is_fresh(text: str, start: int) -> bool:
    """Whether a person can begin at `start`: nothing precedes, or what can precede a person."""
    return start <= 0 or text[start - 1] in _BEFORE


def _is_surname(character: str, fresh: bool) -> bool:
    return character in SURNAMES or (fresh and character in ALSO_WORDS)


def _is_boss(text: str, at: int) -> bool:
    """Whether 总 at `at` follows a lone surname, which is how a boss is called."""
    return at > 0 and text[at - 1] in SURNAMES and (at == 1 or text[at - 2] in _BEFORE)


def _is_full_name(name: str, fresh: bool, office: bool) -> bool:
    if office and not (fresh and name[0] in SURNAMES and name[-1] not in _UNITS):
        return False
    joined = name[0] in ALSO_WORDS and name[1] in SURNAMES  # 向李先生: not the name 向李
    return (
        _is_surname(name[0], fresh)
        and not joined
        and name[:2] not in _WORDS.split("|")
        and all(map(_is_given, name[1:]))
    )


def _is_given(character: str) -> bool:
    return "一" <= character <= "鿿" and character not in "的了是在和与及或总副"


def _end_of_name(value: str) -> int:
    """How many characters of `value`, which follows a label, are the name; 0 if it begins with no surname."""
    stop = _labeled_end().search(value)
    value = value[: stop.start()] if stop else value
    double = re.match(_DOUBLE, value) is not None
    if "·" in value:
        return len(value)
    if not (double or value[:1] in SURNAMES or value[:1] in ALSO_WORDS):
        return 0
    return len(value) if 2 <= len(value) <= (4 if double else 3) else 0
