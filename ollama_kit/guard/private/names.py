"""Finds people's names where a title, a label or the colon of a speaker shows them: 张三先生, 联系人：李四, Mr. Smith,
陈静：下午开会.

Nothing is guessed from a name alone: without a list of all words, 高兴 is as good a name as 高峰. Where less than a
title or a label shows a name, its characters have to be ones that given names are made of (GIVEN, ALONE).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

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

ALONE = frozenset(
    "伟芳娜敏静丽强磊军洋勇艳杰娟涛超秀霞刚桂英华玉兰红文辉鹏飞鑫波斌莉琳玲婷婧雪倩颖洁璐瑶薇蕾雯怡佳嘉慧琪琴琼梅燕霖云峰峻浩宇航轩睿翔昊晨旭"
    "林森松柏德仁忠诚哲瀚墨诗雅涵萱馨蓉莹晶晓俊豪凯虎彪梦若伊珍珠宝荣昌健宁泰瑞喜欢萍芬芝芸菲蓓蕊薛彤彬钧铭锋钢锐锦铮坤乾震巍岩岚嵩宏弘贞光耀"
    "炜炎焱烨煜灿晖晔曦曼妮娅媛婉娇娴姗妍姝嫣楠楚桐桦榕樱柳桃杏棠淑沛洪淼滔潇湘启迪凌霄鸣鹤鸿雁鹰亮庭越毅翼羽逸冰霜露雷皎明平"
)
"""Characters that are a given name by themselves."""

GIVEN = ALONE | frozenset(
    "国建东庆龙海天小大子文立志永世长春秋冬夏山川江河一二三卫义礼智信良善思远书可心爱美贵富盛兴旺福禄寿康安顺和祥吉乐悦地元亨利伯仲叔季恒久清澈泽"
    "润源渊溪潮奇进步成胜双全有才生学友廷跃飘然冉雨电皓苗钰铁欣紫如诺依姬香月花凤阳翰博旋少正家开先新力金玄登根保发连来振士方维治守绍继承"
    "之丰树人克靖宗敬希孝惠臣延朝本风培素时锡定彦传卿剑尚雄应邦行昭麟加丁初年田坚莲威兆崇仪炳佩修龄茂儒裕业晋宣曾孟"
)
"""Characters that given names of two are made of."""

RARE = frozenset(
    "涛娜婷磊鑫雯倩琳莉芳娟燕颖璐蕾薇瑶昊鹏浩轩睿翔敏超勇刚杰伟丽霞艳婧玲萍芬莹晶俊凯斌彬辉怡佳慧琪琴梅霖峰宇航旭晨静洁英红兰玉飞波亮毅宏"
)
"""Given names that are seldom the end of a word."""

_NO_SPEAKERS = (
    "严峻 严明 康泰 巴林 徐州 柯文 樊建 武昌 毛桃 焦墨 申光 申明 罗兰 苏宁 苏平 苏波 路平 "
    "黄洋 韩庆 齐楚 齐泰 龙华 龙庭 龙洋 任意 华彬 华晨 华航 单晶 单红 平静 强毅 文静 文波 "
    "明丽 明亮 明晨 明洁 明艳 明静 水晶 水波 水红 江波 温静 简洁 陆航 高洁 万佳 方晶 余一元 "
    "夏秋季 武学家 林学家 张家 水利学 水力学 水文学 水晶花 水源地 水珠子 水立方 水花生 文学家 "
    "文学士 史学家 万立方 万平方 万学文 安乐国 平安地 强有力 方志学 全天然 全家电 全金发 单生花 "
    "江河源 龙川江 黄连山 黄龙山 许久方 白兰地 高电平 金平阳 和家富 小康 小龙 老汤 老路 小路 "
    "小林 老林 武林 高峰 石英 安静 朱红 黎明 金刚 苏军 华丽 高超 洪峰 唐诗 宋诗 杨柳 白玉 "
    "马虎 洪亮 雷鸣 殷红 贺喜 古琴 胡琴 胡桃 杨梅 余晖 余光 严霜 林涛 林森 黄鹤 余波 余震 "
    "余辉 黄玉 杨桃 黄柏 齐鸣 秦军 武宁 龙虎 龙飞 黄梅 康佳 高丽 贺兰 许昌 吴楚 吴越 林芝 "
    "龙岩 莫若 路德 康德 雷德 巴德 雷曼 黎曼 金玉 毛诗 单飞 水亮 何若 路军 路雪 明慧 文峰 "
    "范文 万美元 万美金 万光年 全家人 全家福 全年龄 单行本 成人礼 成年人 强行军 平地人 明年初 "
    "白发人 文进士 连年来 水利业 金元宝 巴克利 马克思 白玉兰 安邦河 安宁河 平行力 武学本 游乐业 "
    "水家电 "
)
"""Words that read like a name."""

_NOT_NAMES = "先生|女士|小姐|电话|手机|身份|地址|性别|年龄|职务|部门|邮箱|联系|微信|签字|签名"


STOCK = frozenset({"张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十", "張三"})
"""Names that stand for anybody's."""


@cache
def _no_speakers() -> frozenset[str]:
    return frozenset(_NO_SPEAKERS.split())


@cache
def _first_names() -> frozenset[str]:
    return frozenset(_FIRST_NAMES.split())


@cache
def _not_people() -> frozenset[str]:
    return frozenset(_NOT_PEOPLE.split())


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
        "原告|被告|证人|患者|投保人|被保险人|受益人|借款人|出借人|担保人|承租人|出租人|紧急联系人|签收人|對象|"
        "记录人|主持人|汇报人|发言人|审批人|审核人|经手人|对接人|报告人|提交人|创建人|撰稿人|编制人|复核人|监护人|保证人"
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


LOOSE_LABELS = (
    *("代表", "联系人", "收件人", "收货人", "寄件人", "经办人", "法定代表人", "委托代理人", "姓名", "户名", "持卡人"),
    *("申请人", "签收人", "投保人", "被保险人", "受益人", "借款人"),
)


@cache
def _loose_label() -> re.Pattern[str]:
    """A label without a colon: 收件人 王小明, 户名 林志强, 甲方代表张三丰签字."""
    behind = "签字|签名|签署|出席|盖章|签收|发言"
    return re.compile(
        rf"(?:{'|'.join(LOOSE_LABELS[1:])})(?: ?[|\t] ?| {{1,3}})(?P<name>[一-鿿]{{2,4}})(?![一-鿿])"
        rf"|代表(?P<signs>[一-鿿]{{2,4}}?)(?={behind})"
    )


LONGEST_SPEAKER = 72
"""Characters before the colon of a speaker, with a bullet and a time."""


@cache
def _speaker() -> re.Pattern[str]:
    """A line from its beginning to the colon of a speaker: a name alone, or behind a bullet and a time."""
    mark = r"(?:[-*>•]{1,2} {0,2}|\*\*|[0-9]{1,3}[.、)] {0,2}|\[m?[0-9]{1,6}\] |@)?"
    time = r"(?:[\[(]?(?:[0-9/.-]{4,10} )?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[\])]?[ ,]{0,3})?"
    english = r"(?P<english>[A-Z][a-z]{1,14}(?:(?: [A-Z]\.)? [A-Z][A-Za-z'’-]{1,20})?)"
    behind = r"(?: ?\([0-9: /.-]{4,20}\))? ?"
    return re.compile(
        rf"[ \t]{{0,4}}{mark}{time}【?(?:(?P<name>[一-鿿]{{2,4}})|{english})】?"
        rf"(?:\*\*)?{behind}:(?=[ \t]{{0,3}}\S)(?!//)"
    )


@cache
def _party() -> re.Pattern[str]:
    """A party of a contract, or an English label, in front of a colon."""
    return re.compile(
        r"(?:[甲乙丙]方|[买卖]方|[Nn]ame|[Cc]ontact|[Rr]ecipient)[\"']?(?:\([^()\n]{1,10}\))?[ \t]{0,3}\Z"
    )


@cache
def _chinese_value() -> re.Pattern[str]:
    """A Chinese word of two to four characters behind a colon, which is group 1."""
    return re.compile(r":[ \t\"'“]{0,3}([一-鿿]{2,4})(?![一-鿿])")


@cache
def _english_name() -> re.Pattern[str]:
    """What joins a label to a name of two to four words with capitals; the name is group 1."""
    word = r"[A-Z][a-z'’]{1,20}(?:-[A-Z][a-z]{1,20})?"
    rest = rf"(?:[A-Z]\.|(?:van|von|de|der|da|la|bin|al)|{word})"
    return re.compile(
        rf"(?:[:=|][ \t|*]{{0,4}}[\"'“]?|(?<=[Nn]ame) is )({word}(?: {rest}){{0,2}} {word})(?![A-Za-z0-9])"
    )


@cache
def _english_label() -> re.Pattern[str]:
    whose = (
        "full|customer|client|patient|contact|employee|legal|real|student|guest|applicant|account holder|sender|"
        "recipient|passenger|card ?holder|holder|buyer|seller|tenant|first and last"
    )
    alone = (
        "contact(?: person)?|recipient|attn|attention|signed by|signatory|prepared by|card ?holder|beneficiary|sender|"
        "from(?=:)|cc(?=:)"
    )
    return re.compile(
        rf"(?:\A|(?<=[\n\t|*,;.(>{{\"'“]))[ \t*]{{0,4}}(?:(?:my|his|her|the|our) )?"
        rf"(?:(?:(?:{whose})(?:'s)? )?names?(?: of (?:the )?[a-z]{{3,12}})?|{alone})"
        r"(?:\([^()\n]{1,12}\))?[\"'”]?[ \t*]{0,4}\Z"
    )


_FIRST_NAMES = (
    "James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony "
    "Mark Donald Steven Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason Jeffrey Ryan "
    "Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Frank Gregory Raymond "
    "Alexander Patrick Jack Dennis Jerry Peter Henry Adam Nathan Douglas Kyle Walter Ethan Jeremy Noah Oliver "
    "Lucas Liam Leo Simon Martin Hugo Felix Max Tom Tim Mike Dave Steve Chris Matt Dan Ben Sam Nick Alex Joe Jim "
    "Bob Bill Rob Tony Andy Greg Jeff Ken Ron Ali Omar Ahmed Mohammed Mary Patricia Jennifer Linda Elizabeth "
    "Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Margaret Sandra Ashley Kimberly Emily Donna Michelle "
    "Carol Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Kathleen Amy Angela Shirley Anna Brenda "
    "Pamela Emma Nicole Helen Samantha Katherine Christine Rachel Carolyn Janet Catherine Maria Heather Diane "
    "Ruth Julie Olivia Joyce Virginia Victoria Kelly Lauren Christina Joan Evelyn Judith Megan Andrea Cheryl "
    "Hannah Jacqueline Martha Gloria Teresa Ann Sara Madison Frances Kathryn Janice Jean Alice Abigail Julia Judy "
    "Sophia Grace Denise Amber Doris Marilyn Danielle Beverly Isabella Theresa Diana Natalie Brittany Charlotte "
    "Marie Kayla Alexis Lori Kate Jane Claire Lucy Chloe Zoe Mia Ella Sophie Eva Clara Nina Elena Sofia Carlos "
    "Juan Jose Luis Miguel Pedro Antonio Francisco Pierre Hans Klaus Stefan Wei Ming Priya Raj Amit Anil Ravi "
    "Sanjay Yuki Kenji Hiroshi Ivan Olga Dmitri Natasha Fatima Aisha"
)
"""Given names that a speaker in an English transcript may have: common ones in teams that write English."""


def find_names(views: FoldedViews) -> Iterator[Hit]:
    """Every name that a title follows, a label introduces or a speaker's colon ends. A lone surname is taken with its
    title."""
    yield from _titled(views)
    yield from _behind_labels(views)
    yield from _speakers(views.folded)


def _speakers(text: str) -> Iterator[Hit]:
    for at, _ in places(text, (":",)):
        line = text.rfind("\n", max(0, at - LONGEST_SPEAKER), at) + 1
        if not line and at > LONGEST_SPEAKER:
            continue
        found = _speaker().match(text, line)
        if found is None or found.end() != at + 1:
            continue
        name, english = found["name"], found["english"]
        if name and is_name(name):
            yield Hit(*found.span("name"), "speaker")
        elif english and _is_english_name(english):
            yield Hit(*found.span("english"), "speaker")
    for line_end in chain((at for at, _ in places(text, ("\n",))), (len(text),)):
        stamp = _stamp().search(text, max(0, line_end - LONGEST_STAMP), line_end)
        if stamp is None:
            continue
        start = end = stamp.start()
        while start and end - start < 5 and "一" <= text[start - 1] <= "鿿":
            start -= 1
        if text[start - 1 : start] in ("", "\n") and start < end and is_name(text[start:end]):
            yield Hit(start, end, "speaker")


LONGEST_STAMP = 26
"""Characters of the time that ends a line: two spaces, a date, a time."""


@cache
def _stamp() -> re.Pattern[str]:
    """A time that ends a line of a chat's export: 陈静 2026-03-01 10:32:15."""
    return re.compile(
        r"(?<=[一-鿿]) {1,2}(?:[0-9/.年月日-]{8,11} {1,2})?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[ \t\r]{0,2}\Z"
    )


def _is_english_name(text: str) -> bool:
    """Whether a speaker's name begins with a known given name; one alone must not be a word as well."""
    first, _, rest = text.partition(" ")
    if first not in _first_names() or _not_people().intersection(rest.split()):
        return False
    return bool(rest) or first not in _ENGLISH_WORDS


_ENGLISH_WORDS = frozenset(
    {
        "Mark",
        "Grace",
        "Amber",
        "Virginia",
        "Madison",
        "Charlotte",
        "Jack",
        "Frank",
        "Max",
        "Bill",
        "Rob",
        "Jean",
        "Victoria",
    }
)
"""Given names that are words or places too."""


def is_name(text: str) -> bool:
    """Whether `text` reads as a Chinese name by itself: a surname, and a given name of characters that such are made
    of.

    >>> is_name("陈静"), is_name("周末"), is_name("欧阳娜娜")
    (True, False, True)
    """
    if text in STOCK or (text[0] in "小老阿" and len(text) == 2 and text[1] in SURNAMES and text not in _no_speakers()):
        return True
    double = re.match(_DOUBLE, text) is not None
    given = text[2 if double and len(text) > 2 else 1 :]
    if text in _no_speakers() or text[:2] in _WORDS.split("|") or not 1 <= len(given) <= 2:
        return False
    if len(given) == 2:
        return (double or text[0] in SURNAMES or text[0] in ALSO_WORDS) and all(sign in GIVEN for sign in given)
    return (double or (text[0] in SURNAMES and given in ALONE)) or (text[0] in ALSO_WORDS and given in RARE)


def _behind_labels(views: FoldedViews) -> Iterator[Hit]:
    for at, _ in places(views.folded, (":",)):
        name = _chinese_value().match(views.folded, at)
        if name and is_name(name[1]) and _party().search(views.folded, max(0, at - 24), at):
            yield Hit(*name.span(1), "labeled_name")
    for at, _ in places(views.folded, LOOSE_LABELS):
        loose = _loose_label().match(views.folded, at)
        group = "name" if loose and loose["name"] else "signs"
        if loose and is_name(loose[group]):
            yield Hit(*loose.span(group), "labeled_name")
    for value in _english_name().finditer(views.folded):
        label = _english_label().search(views.lower, max(0, value.start() - 40), value.start())
        words = value[1].split()
        while words[-1] in _NEXT_LABELS:
            words.pop()
        if label and len(words) > 1 and not _not_people().intersection(words):
            yield Hit(value.start(1), value.start(1) + len(" ".join(words)), "labeled_name")


_NEXT_LABELS = frozenset({"Title", "Date", "By", "Its", "Email", "Phone", "Tel", "Fax", "Age", "Gender", "Position"})
_NOT_PEOPLE = (
    "Ltd Inc LLC Corp Corporation Company Co GmbH Limited Group Bank Project Team Department Support Service "
    "Services Us Sales Center Centre Office University School Hospital System Server Test Default Required "
    "Optional The Name Address Phone Email Ocean Blue Red Green Plan Form Page File Agreement Contract Customer "
    "Information Details Not No To Be For Please See Any General Counsel Registration Syndicate Officer President "
    "Director Manager Chief Secretary Treasurer Legal Finance Accounts Board Down Up Out Employees Buyer Seller"
)
"""Words that are in the names of companies, teams and forms."""


def _titled(views: FoldedViews) -> Iterator[Hit]:
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
