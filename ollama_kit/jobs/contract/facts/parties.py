"""Who the parties are, with what stands beside their names: representative, registration number, address, seal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from ollama_kit.jobs.contract.facts.chinese_parties import Named, find_aliased, find_labeled
from ollama_kit.jobs.contract.facts.english_parties import find_in_preamble
from ollama_kit.jobs.contract.facts.fact_values import Party, SealState, Value
from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.jobs.contract.structure.back_matter import Parts
from ollama_kit.text.checksums import is_credit_code

SEARCHED = ("甲方：/买方：… (label)", "（以下简称“甲方”）", "Party A: (label)", 'between X ("Buyer") and Y ("Seller")')
PREAMBLE = 6_000
"""Characters from the beginning in which the parties are named; the signatures name them again."""
PARTICULARS = 600
"""Characters behind a party's name in which its particulars stand."""


def read_parties(text: ContractText, parts: Parts) -> tuple[Party, ...]:
    """The parties in the order they are named. One that head and signatures name differently keeps both names."""
    head = min(PREAMBLE, len(text.plain))
    found = [*find_labeled(text.folded, 0, head), *find_aliased(text.folded, 0, head)]
    if len({one.roles[:1] for one in found}) < 2:
        found += find_in_preamble(text.plain)
    signed = list(find_labeled(text.folded, *parts.signatures)) if parts.signatures else []
    parties = _merged(text, sorted(found, key=lambda one: one.start))
    parties = _merged(text, signed, parties) if parties else _merged(text, signed)
    return tuple(_sealed(text, parts, _with_particulars(text, party, found)) for party in parties)


def _merged(text: ContractText, found: Iterable[Named], known: Sequence[Party] = ()) -> list[Party]:
    parties = list(known)
    for one in found:
        name = Value(text.plain[one.start : one.end], text.evidence(one.start, one.end), one.rule)
        at = next((at for at, party in enumerate(parties) if _same(party, one, name.value)), -1)
        if at < 0 and not known:
            parties.append(Party(one.roles, (name,)))
        elif at >= 0:
            parties[at] = _joined(parties[at], one, name)
    return parties


def _same(party: Party, one: Named, name: str) -> bool:
    return bool(set(party.roles) & set(one.roles)) or any(_bare(name) == _bare(known.value) for known in party.names)


def _joined(party: Party, one: Named, name: Value) -> Party:
    roles = tuple(dict.fromkeys((*party.roles, *one.roles)))
    if any(_bare(known.value) in _bare(name.value) for known in party.names) or not _whole().search(name.value):
        return replace(party, roles=roles)
    return replace(party, roles=roles, names=(*party.names, name))


@cache
def _whole() -> re.Pattern[str]:
    """How the name of an organization ends, and that of a person in Chinese; the rest may be a part of a line."""
    return re.compile(
        r"(?:公司|集团|厂|店|中心|医院|大学|学院|研究院|局|委员会|合作社|事务所)(?:\([^()]{1,10}\))?\Z"
        r"|\A[\u4e00-\u9fff·]{2,4}\Z"
        r"|(?:Inc|LLC|Ltd|Limited|Corp|Corporation|Company|GmbH|PLC|L\.P|LLP)\.?\Z"
    )


def _bare(name: str) -> str:
    """A name without width, case, blanks and punctuation, by which two ways of writing it are one."""
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _with_particulars(text: ContractText, party: Party, found: Sequence[Named]) -> Party:
    """The party with what stands between its name and the next party."""
    spans = [one for one in found if _same(party, one, text.plain[one.start : one.end])]
    for one in spans:
        after = min((other.start for other in found if other.start > one.end), default=one.end + PARTICULARS)
        stop = min(after, one.end + PARTICULARS, len(text.plain))
        code = _code().search(text.folded, one.end, stop)
        if code and party.registration is None:
            number = code["credit"] or code["other"]
            group = "credit" if code["credit"] else "other"
            evidence = text.evidence(*code.span(group))
            valid = is_credit_code(number.upper()) if len(number) == 18 else None
            party = replace(party, registration=Value(number, evidence, "label"), registration_valid=valid)
        person = _representative().search(text.folded, one.end, stop)
        if person and party.representative is None:
            party = replace(party, representative=_value(text, person))
        address = _address().search(text.folded, one.end, stop)
        if address and party.address is None:
            party = replace(party, address=_address_value(text, address))
    return party


def _value(text: ContractText, match: re.Match[str]) -> Value:
    start, end = match.span("value")
    return Value(text.plain[start:end].strip(), text.evidence(start, end), "label")


def _address_value(text: ContractText, match: re.Match[str]) -> Value:
    """The address up to the next label on its line."""
    start, end = match.span("value")
    label = _next_label().search(text.folded, start, end)
    end = label.start() if label else end
    return Value(text.plain[start:end].strip(" ,，"), text.evidence(start, end), "label")


@cache
def _next_label() -> re.Pattern[str]:
    chinese = (
        "法定代表人|法人代表|负责人|授权代表|联系人|联系电话|电话|传真|邮编|邮政编码|邮箱|开户行|开户银行|账号|税号"
    )
    return re.compile(
        rf"[\s,](?:{chinese})\s?:|\s(?i:(?:authorized|legal)\srep|(?:tel|telephone|fax|phone|e-?mail|attn|attention"
        rf"|contact)\b\.?\s?:)"
    )


@cache
def _code() -> re.Pattern[str]:
    label = r"统一社会信用代码|社会信用代码|营业执照(?:注册)?号码?|纳税人识别号|注册号|身份证号码?"
    return re.compile(
        rf"(?:{label})(?:/[^:\n]{{1,12}})?\s?:\s?(?P<credit>[0-9A-Za-z]{{18}})(?![0-9A-Za-z])"
        rf"|(?:{label}|(?i:registration|company|uen|tax)\s(?i:no|number|"
        rf"id)\.?)\s?[:#]?\s?(?P<other>[0-9A-Z][0-9A-Z\-]{{5,24}})"
    )


@cache
def _representative() -> re.Pattern[str]:
    return re.compile(
        r"(?:法定代表人|法人代表|负责人|授权代表|(?i:(?:legal"
        r"|authorized)\srepresentative))(?:\s?[/(][^:\n]{1,12})?\s?:\s?"
        r"(?P<value>[\u4e00-\u9fff·]{2,8}|[A-Z][\w.\-]+(?:\s(?!Party|Address|Title|Date)[A-Z][\w.\-]+){0,3})"
    )


@cache
def _address() -> re.Pattern[str]:
    return re.compile(
        r"(?:住所地?|地址|注册地址|通讯地址|联系地址|Registered Address|Address)\s?:\s?(?P<value>[^\n;。]{4,120})"
    )


def _sealed(text: ContractText, parts: Parts, party: Party) -> Party:
    """The party with what the signature block shows of it."""
    if parts.signatures is None:
        return party
    start, end = parts.signatures
    at = _where_it_signs(text, party, start, end)
    if at is None:
        return party
    label, stop = at
    state, evidence = _seal_state(text, label, stop, party)
    return replace(party, seal=state, seal_evidence=evidence)


def _where_it_signs(text: ContractText, party: Party, start: int, end: int) -> tuple[int, int] | None:
    """From where to where the party signs: from its role or name up to that of the next."""
    labels = [match.start() for match in _signing_label().finditer(text.folded, start, end)]
    names = [_lower(name.value) for name in party.names]
    begins = [word for name in names for word in name.split()[:1]]
    places = [_as_label(text.lower, _lower(role), begins, (start, end)) for role in party.roles]
    places += [_signature_of(text.lower, name, start, end) for name in names]
    found = next((place for place in places if place >= 0), -1)
    return None if found < 0 else (found, min([one for one in labels if one > found + 2] + [found + 300, end]))


def _signature_of(lower: str, name: str, start: int, end: int) -> int:
    """Where a name stands, with the mark of signing before it; -1 where it does not."""
    found = lower.find(name, start, end)
    mark = re.compile(r"/s/\s?\Z").search(lower, max(start, found - 4), found) if found >= 0 else None
    return mark.start() if mark else found


def _lower(wanted: str) -> str:
    return unicodedata.normalize("NFKC", wanted).lower()


def _as_label(lower: str, role: str, names: Sequence[str], span: tuple[int, int]) -> int:
    """Where a role stands as a label of what is signed and not within a sentence; -1 where it does not. `names` are
    how the names begin that may follow it."""
    follows = "|".join([r"\n", "_", "by\\b", "name\\b", "/s/", r"\(", r"\Z", *map(re.escape, names)])
    label = rf"(?:(?<=\s)|\A){re.escape(role)}\s?(?:\(|\n|\Z|/|(?:[:,]\s?)?(?:{follows}))"
    if not role.isascii():
        label = rf"{re.escape(role)}\s?(?:[:(_/\n]|\Z)"
    found = re.compile(label).search(lower, *span)
    return found.start() if found else -1


@cache
def _signing_label() -> re.Pattern[str]:
    return re.compile(
        r"[甲乙丙丁]方|买方|卖方|出租方|承租方|委托方|受托方|供方|需方|(?i:party\s[a-f]\b)"
        r"|(?<=\n)[A-Z][A-Z .,&\-]{6,60}(?=\s)"
    )


def _seal_state(text: ContractText, start: int, stop: int, party: Party) -> tuple[SealState, Evidence]:
    block = text.folded[start:stop]
    mark = _signed_mark().search(block)
    if mark:
        return "signed", text.evidence(start + mark.start(), start + mark.end())
    line = block.partition("\n")[0]
    evidence = text.evidence(start, start + max(1, len(line)))
    named = any(_bare(name.value) in _bare(block) for name in party.names)
    blank = re.search(r":\s?_{2,}", line) is not None or not named
    return ("blank" if blank else "named"), evidence


@cache
def _signed_mark() -> re.Pattern[str]:
    return re.compile(r"/s/\s?[A-Z][^\n]{0,40}|\((?:已盖章|已签字|已签署)\)|\[(?i:seal|signed|company seal)\]")
