"""Finds postal addresses: Chinese ones by a house number behind a street, or a room behind a building; English ones by
a house number before a street; and what a label calls an address, where it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews, places

FRONT = 36
"""Characters of a Chinese address before its house number: province, city, district, street."""
LONGEST_VALUE = 120
"""Characters of the longest labeled address."""

_NUMBER = r"(?:[0-9]{1,5}(?:[-之][0-9]{1,4})?|[一二三四五六七八九十百]{1,4})"
_STREETS = frozenset("路街道巷弄村段同")
"""Last characters of what a house number follows: 中山路, 长安街, 世纪大道, 菊儿胡同."""
_PLACES = frozenset("里组庄区园镇乡线湾坊")
"""Last characters of other places, behind which a number is a house's only with a town in front or a room behind."""


def find_postal_addresses(views: FoldedViews) -> Iterator[Hit]:
    """Every street address with a house number or a room, and every labeled address."""
    yield from _chinese(views)
    yield from _english(views)
    yield from _labeled(views)


# -- Chinese


@cache
def _house() -> re.Pattern[str]:
    """The number before 号 or 弄."""
    return re.compile(rf"{_NUMBER} ?\Z")


_NO_HOUSE = frozenset("线文令机桌车码称段公检会")
"""What makes 号 the end of another number: 3号线, 5号文, 2号机."""


@cache
def _block() -> re.Pattern[str]:
    """The number before 栋, 号楼 and their like."""
    return re.compile("(?:[0-9A-Za-z]{1,4}|[一二三四五六七八九十]{1,3}) ?\\Z")


@cache
def _room() -> re.Pattern[str]:
    """What is inside a building with a number: 2单元1201, 1502室."""
    return re.compile(
        "(?:号楼|栋|幢|座|号) ?(?:[0-9一二三四五六七八九十]{1,3} ?(?:单元|门|层|楼) ?)?"
        "(?:[0-9]{3,4}[A-Za-z]?(?![0-9年月日元点人]) ?[室房户]?|[0-9]{1,4}[室房户])"
    )


@cache
def _flat() -> re.Pattern[str]:
    """Block, staircase and flat in short, behind the name of a compound: 3-2-501."""
    return re.compile(r"[0-9][0-9]{0,2}-[0-9]{1,2}-[0-9]{3,4}(?![0-9-])")


@cache
def _rest() -> re.Pattern[str]:
    """One more part of an address behind its house number."""
    number = "(?:[0-9A-Za-z]{1,5}(?:-[0-9A-Za-z]{1,5}){0,3}|[一二三四五六七八九十百]{1,4})"
    unit = "(?:号院|号楼|号|栋|幢|座|单元|层|楼|室|房|户|弄|铺|门)"
    kinds = "小区|花园|公寓|大厦|大楼|广场|中心|产业园|园区|工业园|科技园|家园|国际|苑|城|[A-Z]座|写字楼"
    name = f"[一-鿿A-Za-z]{{1,8}}?(?:{kinds})"
    return re.compile(
        rf"[ ,]?(?:[院内]|{number} ?{unit}(?![年月日元])|{name}|(?<=[院楼栋幢座元])[0-9]{{2,4}}(?![0-9年月日元人点:.]))"
    )


@cache
def _leading() -> re.Pattern[str]:
    """What goes before an address in a sentence without being a part of it."""
    return re.compile(
        rf".{{0,{FRONT}}}(?:地址|住址|住所地?|位于|坐落于?|关于|居住于|家住|现住|租住|户籍|公司|学校|我家|他家|她家|快递|包裹|取件|[在到往至是为去寄送])",
        re.DOTALL,
    )


@cache
def _provinces() -> re.Pattern[str]:
    return re.compile(
        "(?:北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|"
        "陕西|甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|香港|澳门)(?:省|市|壮族自治区|回族自治区|维吾尔自治区|自治区|特别行政区)?"
        "(?=[一-鿿]{1,8}[市区县州路街道镇乡])"
    )


@cache
def _building() -> re.Pattern[str]:
    names = "小区|花园|公寓|家园|新村|新城|大厦|广场|公馆|社区|宿舍|[一二三四五六七八九东西南北]区"
    return re.compile(rf"(?:{names}|[苑园府城庭院湾里墅寓村厦])\Z")


def _chinese(views: FoldedViews) -> Iterator[Hit]:
    yield from _houses(views.folded)
    for flat in _flat().finditer(views.folded):
        if _building().search(views.folded, max(0, flat.start() - 2), flat.start()):
            yield Hit(_start_of(views.folded, flat.start()), flat.end(), "chinese_address")
    done = 0
    for at, _ in places(views.folded, ("号", "栋", "幢", "座")):
        block, room = _block().search(views.folded, max(0, at - 5), at), _room().match(views.folded, at)
        if not (block and room) or (start := block.start()) < done:
            continue
        if _building().search(views.folded, max(0, start - 2), start):
            done = _end_of(views.folded, room.end())
            yield Hit(_start_of(views.folded, start), done, "chinese_address")


def _houses(text: str) -> Iterator[Hit]:
    """House numbers behind a street: 88号, 100弄."""
    done = 0
    for at, _ in places(text, ("号", "弄")):
        number = _house().search(text, max(0, at - 12), at)
        if number is None or (start := number.start()) < done or text[at + 1 : at + 2] in _NO_HOUSE:
            continue
        if text[start - 1 : start] not in _STREETS | _PLACES:
            continue
        begin, done = _start_of(text, start), _end_of(text, at + 1)
        if text[start - 1] in _STREETS or done > at + 1 or len(_towns().findall(text, begin, start)) > 1:
            yield Hit(begin, done, "chinese_address")


@cache
def _towns() -> re.Pattern[str]:
    return re.compile("[省市区县镇乡州]")


def _end_of(text: str, end: int) -> int:
    """Where the address ends whose house number ends at `end`."""
    for _ in range(6):
        part = _rest().match(text, end)
        if not part:
            break
        end = part.end()
    return end


def _start_of(text: str, house: int) -> int:
    """Where the address begins whose house number begins at `house`: at its province, else behind the word that leads
    to it, else where the sentence does."""
    start = house
    while start > max(0, house - FRONT) and ("一" <= text[start - 1] <= "鿿" or text[start - 1].isalnum()):
        start -= 1
    province = _provinces().search(text, start, house)
    if province:
        return province.start()
    leading = _leading().match(text, start, house)
    return leading.end() if leading and house - leading.end() >= 2 else start


# -- English

_STRONG = (
    r"Street|St\.?|Avenue|Ave\.?|Road|Rd\.?|Boulevard|Blvd\.?|Lane|Ln\.?|Parkway|Pkwy\.?|Highway|Hwy\.?|"
    "Terrace|Crescent"
)
_WEAK = (
    r"Drive|Dr\.?|Way|Court|Ct\.?|Place|Pl\.?|Square|Sq\.?|Close|Row|Circle|Hill|Walk|Gardens|Mews|Broadway|"
    "Loop|Plaza|Pike|Trail|Alley"
)


@cache
def _street() -> re.Pattern[str]:
    """A house number and a street; group `weak` for endings that are everyday words too."""
    name = r"(?:[NSEW]\.? )?(?:(?:[A-Z][A-Za-z'’.-]{0,20}|[0-9]{1,3}(?:st|nd|rd|th)) ){1,4}?"
    return re.compile(
        rf"[0-9][0-9]{{0,4}}[A-Za-z]?(?:[-/][0-9]{{1,5}}[A-Za-z]?)?,? {name}(?:(?:{_STRONG})|(?P<weak>{_WEAK}))"
        "(?![A-Za-z0-9])"
        r"(?: [NSEW]{1,2}\b)?"
    )


@cache
def _box() -> re.Pattern[str]:
    return re.compile(r"P\.? ?O\.? ?Box [0-9]{1,6}(?![0-9])")


@cache
def _unit() -> re.Pattern[str]:
    word = r"Apt|Apartment|Suite|Ste|Unit|Floor|Fl|Flat|Room|Rm|Building|Bldg|Block"
    return re.compile(
        rf"(?:,? )?(?:(?:{word})\b\.? ?#?[A-Za-z0-9-]{{1,6}}|#[A-Za-z0-9-]{{1,6}}|[0-9]{{1,3}}(?:st|nd|rd|th) [Ff]loor)"
    )


@cache
def _unit_before() -> re.Pattern[str]:
    word = r"Apt|Apartment|Suite|Ste|Unit|Floor|Flat|Room|Rm|Building|Bldg|Block|House|No"
    return re.compile(rf"(?<![A-Za-z])(?:(?:(?:{word})\.? ?#?[A-Za-z0-9-]{{0,6}},? ){{1,4}})\Z")


@cache
def _town() -> re.Pattern[str]:
    """A town, district or country behind a street."""
    word = r"(?:[A-Z][a-z'’.-]{1,20}|USA?|UK|PRC)"
    code = r" (?:[A-Z]{2,3} [0-9]{4,5}|[A-Z]{1,2}[0-9]|[0-9]{5,6}(?![0-9]))"
    words = rf"{word}(?: {word}){{0,2}}"
    return re.compile(rf"(?:, {words}(?= ?(?:[,.;)\n]|\Z)|{code})| {words}(?=, [A-Z]|{code}))")


@cache
def _code() -> re.Pattern[str]:
    """A post code: ST 12345, SW1A 2AA, 100022."""
    return re.compile(
        r",? (?:[A-Z]{2,3} [0-9]{4,5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}"
        r"|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"
        r"|[0-9]{5,6})(?![0-9A-Za-z])"
    )


@cache
def _capital_next() -> re.Pattern[str]:
    return re.compile(" [A-Z][a-z]")


@cache
def _year_before() -> re.Pattern[str]:
    return re.compile(r"(?:in|since|of|by|from|until|during|and|[0-9][,/-])[ ,]{0,2}\Z", re.IGNORECASE)


def _english(views: FoldedViews) -> Iterator[Hit]:
    text, done = views.folded, 0
    for found in _street().finditer(text):
        start, end = found.span()
        before = text[start - 1 : start]
        if start < done or (before.isascii() and (before.isalnum() or before in tuple("._-/$:"))):
            continue
        end, placed = _tail(text, found.end())
        number = found[0].split(" ")[0]
        yearly = len(number) == 4 and number[:2] in ("19", "20") and number.isdigit()
        if not placed and (
            found["weak"]
            or _capital_next().match(text, found.end())
            or (yearly and _year_before().search(text, max(0, start - 8), start))
        ):
            continue
        unit = _unit_before().search(text, max(0, start - 50), start)
        done = end
        yield Hit(unit.start() if unit else start, end, "english_address")
    for at, _ in places(text, ("Box ",)):
        found_box = _box().search(text, max(0, at - 6), at + 11)
        if found_box:
            yield Hit(found_box.start(), _tail(text, found_box.end())[0], "english_address")


def _tail(text: str, end: int) -> tuple[int, bool]:
    """Where the address ends whose street ends at `end`, and whether a unit, a town or a code makes sure of it."""
    begun = end
    for pattern, most in ((_unit(), 2), (_town(), 3), (_code(), 1), (_town(), 1)):
        for _ in range(most):
            part = pattern.match(text, end)
            if not part:
                break
            end = part.end()
    return end, end > begun


# -- by its label


ADDRESSES = ("地址", "住址", "住所", "户籍地", "居住地", "address")


@cache
def _label() -> re.Pattern[str]:
    """A label and its value, which is group 1."""
    chinese = (
        r"(?:地址|住址|住所地?|户籍地|居住地)(?:\([^()\n]{1,8}\))?(?: ?[是为])?"
        r"(?:[ \t]{0,3}[:=|]|(?<=[是为])|(?=[ \t]))"
    )
    english = r"address(?: ?(?:line)? ?[12])?(?:\([^()\n]{1,8}\))?(?:[ \t]{0,3}[:=|]| is )"
    return re.compile(rf"(?:{chinese}|{english})[ \t]{{0,3}}([^\n;|<>\"。]{{5,{LONGEST_VALUE}}})")


@cache
def _not_a_place() -> re.Pattern[str]:
    """What before the word "address" makes it one of a machine, of a page or of memory."""
    words = "ip|邮箱|邮件|电邮|网络?|内存|mac|链接|下载|仓库|服务器|接口|回调|e-?mail|web|网页|主机|访问|登录"
    return re.compile(rf"(?:{words})[ _-]?\Z")


@cache
def _chinese_parts() -> re.Pattern[str]:
    return re.compile("[省市区县镇乡村路街巷弄栋幢室]|号楼?|大道|小区|花园|大厦")


def _labeled(views: FoldedViews) -> Iterator[Hit]:
    for at, _ in places(views.lower, ADDRESSES):
        if _not_a_place().search(views.lower, max(0, at - 6), at):
            continue
        label = _label().match(views.lower, at)
        if not label:
            continue
        start, end = label.span(1)
        end = _end_of_value(views.folded, start, end)
        if end - start >= 5 and is_place(views.folded[start:end]):
            yield Hit(start, end, "labeled_address")


@cache
def _next_field() -> re.Pattern[str]:
    """Where a labeled address ends on its line: at the next label, or at a comma behind which it is not one."""
    return re.compile(r"[ ,](?=[一-鿿A-Za-z]{1,12} ?[:=])|[,、 ](?=(?:电话|手机|邮编|联系|收件|姓名|身份))")


def _end_of_value(text: str, start: int, end: int) -> int:
    cut = _next_field().search(text, start, end)
    end = cut.start() if cut else end
    while end > start and text[end - 1] in " \t,.()":
        end -= 1
    return end


@cache
def _no_address() -> re.Pattern[str]:
    return re.compile("见|详见|如[上下]|待|同上?|请|必填|无|暂|http|未|[^ @]{0,64}@|需|可|和|与|栏|簿|格式|为空")


def is_place(value: str) -> bool:
    """Whether a labeled value, folded, reads as a place: two parts of a Chinese address, or one and a number; or an
    English one with a number and a comma or a street."""
    if _no_address().match(value) or "://" in value:
        return False
    parts = len(_chinese_parts().findall(value))
    has_digit = any(map(str.isdigit, value))
    if parts:
        return parts >= 2 or has_digit
    words = value.split()
    capitals = sum(word[:1].isupper() for word in words)
    return value.isascii() and has_digit and len(words) >= 3 and capitals >= 2 and ("," in value or capitals >= 3)
