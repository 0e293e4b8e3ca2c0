"""The stages of payment: 合同签订后7个工作日内支付合同总价的30%作为预付款, 30% within 10 days after signing, Net 30."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ollama_kit.jobs.contract.facts import payment_words as words
from ollama_kit.jobs.contract.facts.fact_values import Payment
from ollama_kit.jobs.contract.facts.payment_times import due_in, trigger_in
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.outline import Outline
from ollama_kit.text.figures.amounts import Amount
from ollama_kit.text.figures.percentages import Percentage

NEAR = 20
"""Characters beside a share in which the word stands that says what it is a share of."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What is paid, at `[start:end]` of the text: a share, an amount, both, or the rest (neither).

    `so_far`: the share counts what was paid before (支付至80%). `mark` is where the first figure ends."""

    start: int
    end: int
    mark: int = 0
    share: Fraction | None = None
    amount: Amount | None = None
    so_far: bool = False


def read_payments(text: ContractText, outline: Outline) -> tuple[Payment, ...]:
    """Every stage of payment that the contract names, in order.

    In a list that a sentence about payment opens, a share needs no such word of its own."""
    found: list[Payment] = []
    listed = False
    for start, end in text.sentences:
        sentence = text.lower[start:end]
        pays = any(map(sentence.__contains__, words.TOUCHED)) and words.paying().search(sentence) is not None
        item = words.numbered().match(sentence) is not None if listed else False
        if pays or item:
            for first, last in _runs(text.lower, start, end):
                found += _payments(text, outline, first, last)
        listed = item or (pays and sentence.rstrip().endswith(":"))
    return tuple(found)


def _runs(lower: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a sentence that are about the price: not those about default, and what follows from it."""
    if _is_chinese(lower, start, end):
        at = begin = start
        for piece in re.split(r"(?<=[,;])", lower[start:end]):
            if words.no_stage_chinese().search(piece):
                yield begin, at
                begin = at + len(piece)
                if words.default_behind().search(piece.rstrip(",; ")):
                    return
            at += len(piece)
        yield begin, end
    elif not words.no_stage_english().search(lower, start, end):
        yield start, end


def _is_chinese(lower: str, start: int, end: int) -> bool:
    return re.compile(r"[\u4e00-\u9fff]").search(lower, start, end) is not None


def _payments(text: ContractText, outline: Outline, start: int, end: int) -> Iterator[Payment]:
    heads = _heads(text, start, end)
    if not heads:
        owes = words.owes().search(text.lower, start, end)
        due = due_in(text, start, end) if owes else None
        trigger = trigger_in(text, start, end, due) if owes and (due or owes["at"]) else None
        if (due or trigger) and not _is_listed(text.lower, end):
            yield _payment(text, outline, (start, end), None, (due, trigger))
        return
    paid = Fraction(0)
    for head, (first, last) in zip(heads, _segments(text, heads, start, end), strict=True):
        if head.so_far and head.share:
            head = replace(head, share=head.share - paid if paid < head.share else head.share)
        paid += head.share or 0
        due = due_in(text, first, last)
        trigger = trigger_in(text, first, last, due)
        if head.share or head.amount or due or trigger:
            yield _payment(text, outline, (first, last), head, (due, trigger))


def _is_listed(lower: str, end: int) -> bool:
    """Whether the sentence ends with a colon, so that the stages follow."""
    return lower[:end].rstrip().endswith(":") if end <= 400 else lower[end - 8 : end].rstrip().endswith(":")


def _payment(
    text: ContractText,
    outline: Outline,
    span: tuple[int, int],
    head: _Head | None,
    times: tuple[tuple[int, int] | None, tuple[int, int] | None],
) -> Payment:
    amount = head.amount if head else None
    evidence = text.evidence(*_trimmed(text.plain, *span))
    clause = outline.at(evidence.start)
    due, trigger = (text.plain[slice(*one)].strip() if one else "" for one in times)
    return Payment(
        stage=_stage(text, span, head),
        share=head.share if head else None,
        currency=amount.currency if amount else "",
        amount=amount.value if amount else None,
        trigger=trigger,
        due=due,
        clause=clause.number if clause else "",
        evidence=evidence,
    )


def _trimmed(plain: str, start: int, end: int) -> tuple[int, int]:
    """The span without punctuation between it and its neighbors."""
    part = plain[start:end]
    first = re.match(r"[\s，,；;、]*(?:and\s+)?", part)
    return start + (first.end() if first else 0), start + len(part.rstrip(" \t\n，,；;、"))


def _stage(text: ContractText, span: tuple[int, int], head: _Head | None) -> str:
    """What the stage is called: the name right behind what is paid, else the last before it, else the next."""
    start, end = span
    first, last = (head.start, head.mark) if head else (end, end)
    behind = list(words.named().finditer(text.lower, last, end))
    if behind and re.fullmatch(r"[^,。;后]{0,10}", text.lower[last : behind[0].start()]):
        return text.plain[slice(*behind[0].span())]
    before = [one for one in words.named().finditer(text.lower, start, max(first, start)) if _is_name(text.lower, one)]
    own = words.rest().match(text.lower, first, end)
    chosen = own or (before[-1] if before else behind[0] if behind else None)
    return text.plain[slice(*chosen.span())] if chosen else ""


def _is_name(lower: str, match: re.Match[str]) -> bool:
    return lower[match.end() : match.end() + 1] != "后"


def _heads(text: ContractText, start: int, end: int) -> list[_Head]:
    """What is paid in a part of a sentence, in order."""
    shares = [one for one in text.numbers.percentages.within(start, end) if _is_share(text.lower, one, start, end)]
    amounts = [one for one in text.numbers.amounts.within(start, end) if _is_paid(text.lower, one, start, end)]
    heads: list[_Head] = []
    found: list[Amount | Percentage] = [*shares, *amounts]
    for one in sorted(found, key=lambda placed: placed.start):
        joined = _joined(text.lower, heads[-1], one) if heads else None
        if joined:
            heads[-1] = joined
        elif isinstance(one, Percentage):
            counts_all = words.so_far().search(text.lower, max(start, one.start - 20), one.start) is not None
            heads.append(_Head(one.start, one.end, one.end, one.low, so_far=counts_all))
        else:
            heads.append(_Head(one.start, one.end, one.end, amount=one))
    heads += [
        rest for rest in _rests(text.lower, start, end) if not any(_beside(text.lower, rest, head) for head in heads)
    ]
    heads.sort(key=lambda head: head.start)
    return heads or [*_instalments(text.lower, start, end)]


def _beside(lower: str, rest: _Head, head: _Head) -> bool:
    """Whether the rest is said of this share: 余款10%, 10%的尾款, the balance of 70%."""
    if rest.start < head.end and head.start < rest.end:
        return True
    gap = lower[rest.end : head.start] if rest.start < head.start else lower[head.end : rest.start]
    return re.fullmatch(r"[^,;。、付]{0,16}|,?\s?(?:即|being|i\.e\.|which is)[^,;。付]{0,10}", gap) is not None


def _joined(lower: str, head: _Head, one: Amount | Percentage) -> _Head | None:
    """A share and the amount that it comes to as one; None where they are two."""
    gap = lower[head.end : one.start]
    if isinstance(one, Percentage):
        if head.amount and head.share is None and gap.strip() in ("的", "中的"):
            return _Head(head.start, one.end, one.end, one.low)  # of an amount, which is the whole price
        if head.share is None and head.amount and words.same().fullmatch(gap):
            return replace(head, end=one.end, share=one.low)
    elif head.amount is None and head.share is not None and words.same().fullmatch(gap):
        return replace(head, end=one.end, amount=one)
    return None


def _is_share(lower: str, one: Percentage, start: int, end: int) -> bool:
    if one.per or one.low != one.high or not 0 < one.low <= 1:
        return False
    before = re.split(r"[,。;\n]", lower[max(start, one.start - NEAR) : one.start])[-1]
    behind = re.split(r"[,。;\n]", lower[one.end : min(end, one.end + NEAR)])[0]
    if words.other_share().search(before) or words.other_share().search(behind):
        return False
    if _is_chinese(lower, max(start, one.start - NEAR), min(end, one.end + NEAR)):
        return True
    return words.of_price().match(lower, one.end, end) is not None


def _is_paid(lower: str, one: Amount, start: int, end: int) -> bool:
    before = lower[max(start, one.start - 80) : one.start]
    if _is_due_regularly(lower, one, start, end):
        return True
    if words.total().search(before[-30:]) and not re.search(r"付(?:清)?[^,;。]{0,12}\Z", before):
        return False
    if _is_chinese(lower, start, end):
        return words.pays_amount().search(before) is not None
    payable = re.compile(r"\s?(?:\([^()]{1,60}\)\s?)?(?:shall be |is |will be )?(?:due|payable|paid)").match(
        lower, one.end
    )
    return payable is not None or words.pays_amount().search(before) is not None


def _is_due_regularly(lower: str, one: Amount, start: int, end: int) -> bool:
    """Whether a fee is paid again and again: what it comes to each time is no whole that has parts."""
    return words.regular_fee().search(lower, max(start, one.start - 80), one.start) is not None or (
        words.fee_of().search(lower, max(start, one.start - 80), one.start) is not None
        and "%" not in lower[start:end]
        and "percent" not in lower[start:end]
    )


def _rests(lower: str, start: int, end: int) -> Iterator[_Head]:
    for match in words.rest().finditer(lower, start, end):
        yield _Head(*match.span(), match.end())


def _instalments(lower: str, start: int, end: int) -> Iterator[_Head]:
    match = words.instalments().search(lower, start, end)
    if match is None or _is_listed(lower, end):
        return
    word = match["zh"] or match["en"]
    count = int(word) if word.isdecimal() else words.NUMBERS.get(word, 0)
    even = match["even"] or match["equal"]
    yield _Head(*match.span(), match.end(), share=Fraction(1, count) if even and count > 1 else None)


def _segments(text: ContractText, heads: Sequence[_Head], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The part of the sentence that belongs to each: what is in between goes to the next one, unless the one before
    has not said yet when it is due."""
    for at, head in enumerate(heads):
        last = end
        if at + 1 < len(heads):
            gap = text.lower[head.end : heads[at + 1].start]
            marks = [head.end + mark.start() for mark in re.finditer(r"[,;、]|\band\b", gap)]
            last = heads[at + 1].start
            if marks:
                known = due_in(text, start, marks[0]) or trigger_in(text, start, marks[0], None)
                last = marks[0] if known else marks[-1]
        yield start, last
        start = last
