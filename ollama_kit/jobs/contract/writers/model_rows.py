"""What a model answered, put beside what the rules found: an answer that both have is one item with both sources."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.contract.answers import Answer, Answered, Notice, PlainSummary, Sentence
from ollama_kit.jobs.contract.topics import PROVISIONS
from ollama_kit.jobs.contract.writers.glossary import term_of, topic_of
from ollama_kit.jobs.contract.writers.labels import Speech
from ollama_kit.jobs.contract.writers.view_model import Item, Mark, Proof, Row

AGREEMENTS = ("agree", "differ", "rules_only", "model_only")
BY_PLACE = frozenset({"payments", "penalty", "warranty", *PROVISIONS})
"""Rows whose answers are sentences: what rests on the same words is one answer, however it is put."""

FIGURES = frozenset({"signing_date", "effective_date", "end_date", "term", "amounts", "payments", "warranty"})
"""Rows whose answers are the same where their figures are: 2026-04-20 and 2026年4月20日."""

_SAID_OF_ROW = {"agree": "both", "rules_only": "rules", "model_only": "model"}
"""The source that needs no saying of an answer, because the mark of its row says it."""
_LABELS = ("role", "what", "stage", "party")
_TEXTS = ("says", "name", "share", "amount", "body", "why")
_TERMS = {"state": "seal", "kind": "said"}


def beside(row: Row, question: Answered, speech: Speech) -> Row:
    """The row with the model's answers. Where the two say the same, and where an answer of a sentence rests on the same
    words, they become one item; neither's words are lost."""
    items = list(row.items)
    sources = ["rules"] * len(items)
    for answer in question.answers:
        item = reply(answer, speech, row.name)
        at = _partner(items[: len(row.items)], item, row.name) if answer.is_proven else -1
        if at < 0:
            items.append(item)
            sources.append("model")
        else:
            # Alike in figures is not yet the same where the comparison says that something differs.
            alike = _letters(items[at].text) == _letters(item.text)
            agreed = alike or question.agreement in ("agree", "not_compared")
            sources[at] = "both" if agreed else "rules model"
            items[at] = _joined(items[at], item, agreed, speech)
    said = _SAID_OF_ROW.get(question.agreement, "")
    shown = tuple(
        replace(item, marks=(*item.marks, *speech.marks(*source.replace(said, "").split())))
        for item, source in zip(items, sources, strict=True)
    )
    return replace(
        row,
        items=shown,
        marks=_marks(row, question, speech),
        searched=(*row.searched, *_read(question, speech)),
        notes=notes(question, speech),
    )


def answered(question: Answered, speech: Speech, *, own: bool = False) -> Row:
    """A question that rules do not read: a user's own, or one of ours."""
    items = tuple(reply(answer, speech, question.name, own=own) for answer in question.answers)
    row = Row(question.name, one_line(question.label) or one_line(question.name) or "—", items)
    return replace(
        row,
        nothing="not_read" if question.state == "unread" else row.nothing,
        marks=_marks(row, question, speech),
        searched=_read(question, speech),
        notes=notes(question, speech),
    )


def _marks(row: Row, question: Answered, speech: Speech) -> tuple[Mark, ...]:
    names = [mark.name for mark in row.marks]
    if question.state == "conflict":
        names.append("conflict")
    if question.agreement in AGREEMENTS:
        names.append(question.agreement)
    names += ["failed"] if question.failure else []
    names += ["unread"] if question.unread else []
    return speech.marks(*dict.fromkeys(names))


def notes(question: Answered, speech: Speech) -> tuple[str, ...]:
    """What must be said of a question as a whole: what differs, what failed, what was not read."""
    failure = [speech.words["failure"].format(one_line(question.failure))] if question.failure else []
    return (*lines(question.differences), *failure, *unread(question.unread, speech))


def lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text on one line, but those in which nothing stands."""
    return tuple(filter(None, map(one_line, texts)))


def unread(clauses: Sequence[str], speech: Speech) -> tuple[str, ...]:
    """What there was no room for, as a sentence; nothing where all was read."""
    listed = speech.words["joint"].join(lines(clauses))
    return (speech.words["unread"].format(listed),) if listed else ()


def _doubtful(said: Answer | Sentence, speech: Speech) -> tuple[Mark, ...]:
    return speech.marks("" if said.is_proven else "unproven", "suspect" if said.suspect else "")


def _read(question: Answered, speech: Speech) -> tuple[str, ...]:
    if not question.shown:
        return speech.searched(question.searched)
    read = speech.words["joint"].join(lines(question.searched))
    return (speech.words["read"].format(read),) if read else ()


def reply(answer: Answer, speech: Speech, name: str, *, own: bool = False) -> Item:
    """One answer as it is shown. An answer without proof is marked as such, whatever else is said of it."""
    shape = _own(answer.value, speech) if own or not isinstance(answer.value, Mapping) else _ours(answer.value, speech)
    text = term_of("type", shape.text, speech.language) if name == "type" and not own else shape.text
    return replace(
        shape,
        text=text,
        marks=_doubtful(answer, speech),
        proofs=speech.proofs(answer.evidence),
        invented=lines(answer.invented),
        doubts=lines(answer.doubts),
    )


def _ours(value: Mapping[str, Any], speech: Speech) -> Item:
    """An answer of our questions: what it is called, what it says, and its particulars."""
    given = {name: flat(inner, speech) for name, inner in value.items() if inner not in (None, "", [])}
    for name, group in _TERMS.items():
        if name in given:
            given[name] = term_of(group, given[name], speech.language)
    label = next((given.pop(name) for name in _LABELS if name in given), "")
    texts = [given.pop(name) for name in _TEXTS if name in given]
    if not texts and "state" in given:
        texts = [given.pop("state")]
    parts = tuple(Item(text, term_of("detail", name, speech.language)) for name, text in given.items())
    return Item(" · ".join(texts), label, parts=parts)


def _own(value: Any, speech: Speech) -> Item:
    """An answer in the form of a user's own schema."""
    if isinstance(value, Mapping):
        return Item("", parts=tuple(Item(flat(inner, speech), one_line(str(key))) for key, inner in value.items()))
    return Item(flat(value, speech))


def flat(value: Any, speech: Speech) -> str:
    """Plain data on one line.

    >>> from ollama_kit.jobs.contract.structure.outline import Outline
    >>> flat({"a": [1, True], "b": None}, Speech("en", Outline()))
    'a: 1; yes; b: —'
    """
    if isinstance(value, Mapping):
        return speech.words["joint"].join(
            f"{one_line(str(key))}: {flat(inner, speech)}" for key, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return speech.words["joint"].join(flat(inner, speech) for inner in value) or "—"
    if isinstance(value, bool):
        return term_of("said", "true" if value else "false", speech.language)
    return "—" if value is None else one_line(str(value))


def _partner(items: list[Item], reply: Item, row: str) -> int:
    """The place of the rules' item that is the same answer, the one that rests on the same words first; -1 if none."""
    same = [at for at, item in enumerate(items) if _same(item.text, reply.text, figures=row in FIGURES)]
    near = [at for at, item in enumerate(items) if _overlap(item.proofs, reply.proofs)]
    both = [at for at in same if at in near]
    return next(iter([*both, *same, *(near if row in BY_PLACE else ())]), -1)


def _overlap(ones: tuple[Proof, ...], others: tuple[Proof, ...]) -> bool:
    return any(
        one.evidence.start < other.evidence.end and other.evidence.start < one.evidence.end
        for one in ones
        for other in others
    )


def _same(one: str, other: str, *, figures: bool) -> bool:
    """Whether two texts say the same: letters and figures alike, or, of `figures`, the same ones in the same order."""
    if _letters(one) == _letters(other):
        return bool(_letters(one))
    found = _figures(one) if figures else []
    return bool(found) and found == _figures(other)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _figures(text: str) -> list[float]:
    plain = unicodedata.normalize("NFKC", text).replace(",", "")
    return [float(found) for found in _number().findall(plain)]


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"[0-9]{1,24}(?:\.[0-9]{1,12})?")


def _joined(ruled: Item, replied: Item, agreed: bool, speech: Speech) -> Item:
    """Both answers as one. What the model says in other words stands with the particulars, but for what stands in the
    same quote; of two quotes around the same words the rules' is shown."""
    quoted = [_letters(proof.evidence.quote) for proof in ruled.proofs]
    known = {_letters(part.text) for part in ruled.parts}
    parts = [
        replace(part, label=f"{part.label} · {speech.words['mark_model']}")
        for part in replied.parts
        if _letters(part.text) not in known and not any(_letters(part.text) in words for words in quoted)
    ]
    if replied.text and not (agreed and _same(ruled.text, replied.text, figures=True)):
        parts.insert(0, Item(replied.text, speech.words["model_says"]))
    return replace(
        ruled,
        proofs=(*ruled.proofs, *(proof for proof in replied.proofs if not _around(proof, ruled.proofs))),
        parts=(*ruled.parts, *parts),
        invented=(*ruled.invented, *replied.invented),
        doubts=(*ruled.doubts, *replied.doubts),
    )


def _around(proof: Proof, others: tuple[Proof, ...]) -> bool:
    """Whether a quote holds another one whole, or lies in it."""
    start, end = proof.evidence.start, proof.evidence.end
    spans = [(other.evidence.start, other.evidence.end) for other in others]
    return any((start <= one and other <= end) or (one <= start and end <= other) for one, other in spans)


def summary_rows(summary: PlainSummary, speech: Speech) -> Iterator[Row]:
    """The sentences of the plain summary by what they are about, in their order."""
    for topic in dict.fromkeys(sentence.topic for sentence in summary.sentences):
        items = tuple(_sentence(one, speech) for one in summary.sentences if one.topic == topic)
        yield Row(topic, one_line(topic_of(topic, speech.language)) or speech.words["summary"], items)


def _sentence(sentence: Sentence, speech: Speech) -> Item:
    return Item(
        one_line(sentence.text),
        marks=_doubtful(sentence, speech),
        proofs=speech.proofs(sentence.evidence),
        invented=lines(sentence.invented),
        doubts=lines(sentence.doubts),
    )


def notice_item(notice: Notice, speech: Speech) -> Item:
    """What the guard found in the contract: its rule, how grave it is, what was done, and the words."""
    done = term_of("action", notice.action, speech.language)
    text = " · ".join(map(one_line, (notice.rule, notice.severity, done)))
    return Item(text, proofs=speech.proofs([notice.evidence]))
