"""Gives an answer the caller's own words back: hidden values, and control tokens that were broken.

A value is put back where a person reads it, and nowhere else: never inside an address, a link or an image, which carry
it away when they are followed or only shown; in HTML attributes and arguments of tools where the policy says so. What
is not put back keeps its placeholder, and is told. A placeholder that the model changed (`[phone_1]`, 【PHONE_1】,
`\\[PHONE\\_1\\]`) is put back where it can mean one value only.

A stream is restored piece by piece, and comes out as the whole would.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.guard.private.placeholders import LITERAL, Placeholders, changed_look_alikes
from ollama_kit.guard.private.policy_keys import RestoreRules
from ollama_kit.guard.private.reach import CONTEXT, is_settled, reach_of
from ollama_kit.guard.private.rulebook import KINDS
from ollama_kit.records.report import Finding, Severity

STAGE = "private_data"
LONGEST_WRITTEN = 96
"""Characters of the longest text that changed_look_alikes matches."""

OPENINGS = "[\\［【〔&"
"""What a placeholder in brackets begins with."""

Use = Literal["text", "argument"]
"""What a text is for: to be read, or an argument of a tool."""


class Note(NamedTuple):
    """Something about a placeholder in an answer: a rule of RULES, the placeholder as it was written, and where it, or
    what replaced it, is in the restored text."""

    rule: str
    written: str
    start: int
    end: int


RULES: Mapping[str, tuple[Severity, str]] = {
    "placeholder_in_address": ("medium", "{} is part of an address, a link or an image: not put back"),
    "placeholder_in_attribute": ("medium", "{} is in an HTML attribute: not put back"),
    "placeholder_in_argument": ("medium", "{} is in an argument of a tool: not put back"),
    "placeholder_changed": ("info", "{} came back changed, and was put back"),
    "placeholder_unclear": ("low", "{} came back changed: not put back"),
    "placeholder_unknown": ("low", "{} was never given out"),
}


_SPACE = r"[ \u3000*`]{0,3}"
_LETTER = "[A-Za-zＡ-Ｚａ-ｚ]"


@cache
def _beginning() -> re.Pattern[str]:
    """The beginning of a placeholder at the end of a text that still grows."""
    opening = r"(?:\\{0,2}(?:\[|\Z)|[［【〔]|&(?:#?[0-9a-zA-Z]{0,6}\Z|#91;|#x5[bB];|lsqb;|lbrack;))"
    number = rf"[0-9０-９]{{1,9}}{_SPACE}(?:\\{{0,2}}|&[#0-9a-zA-Z]{{0,7}})"
    kind = rf"{_LETTER}[A-Za-zＡ-Ｚａ-ｚ_＿\\ \u3000-]{{0,46}}"
    return re.compile(rf"{opening}{_SPACE}(?:{kind}(?:{number})?)?")


@cache
def _literal() -> re.Pattern[str]:
    """A string in JSON."""
    return re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


@cache
def _numbered() -> re.Pattern[str]:
    return re.compile("_[0-9]")


@cache
def _bare() -> re.Pattern[str]:
    """The name of a placeholder without its brackets, or in others."""
    kinds = "|".join(sorted(kind.upper() for kind in (*KINDS, LITERAL)))
    return re.compile(rf"(?:(?<![A-Za-z0-9_\[\\])|(?<=%5[Bb]))((?:{kinds})_[0-9]{{1,9}})(?![A-Za-z0-9_\]])")


def canonical(kind: str, number: str) -> str:
    """The placeholder that is meant.

    >>> canonical("phone", "1"), canonical("ID\\\\_card", "０2")
    ('[PHONE_1]', '[ID_CARD_2]')
    """
    plain = unicodedata.normalize("NFKC", kind).replace("\\", "").upper()
    name = re.sub(r"[\s_-]+", "_", plain).strip("_")
    return f"[{name}_{int(unicodedata.normalize('NFKC', number))}]"


def _kind_of(placeholder: str) -> str:
    return placeholder[1:].rpartition("_")[0].lower()


@dataclass(frozen=True)
class Restorer:
    """Puts hidden values back by the policy's `rules`, and takes the break out of control tokens (`broken`)."""

    placeholders: Placeholders
    broken: frozenset[str] = frozenset()
    rules: RestoreRules = field(default_factory=RestoreRules)

    def __call__(self, value: Any) -> Any:
        """The same value with its texts restored, keys too."""
        return self.restored(value)[0]

    def restored(self, value: Any, use: Use = "text") -> tuple[Any, tuple[Note, ...]]:
        """The same value with its texts restored, and what is to be told of its placeholders. Spans are in the
        restored text that each was in."""
        notes: list[Note] = []

        def restore(text: str) -> str:
            restored, found = self.part(text, 0, len(text), use)
            notes.extend(found)
            return restored

        return _over_texts(value, restore), tuple(notes)

    def in_json(self, text: str) -> str:
        """A text that holds JSON, restored: each string by itself, as the data will be, and written as JSON again."""
        if not self.placeholders:
            return self._whole(text)

        def literal(found: re.Match[str]) -> str:
            try:
                value = json.loads(found[0], strict=False)
            except ValueError:
                return self(found[0])  # type: ignore[no-any-return]
            restored = self(value)
            return found[0] if restored == value else json.dumps(restored, ensure_ascii=False)

        pieces: list[str] = []
        at = 0
        for found in _literal().finditer(text):
            pieces += (self.part(text, at, found.start())[0], literal(found))
            at = found.end()
        return "".join((*pieces, self.part(text, at, len(text))[0]))

    def full(self, value: Any) -> Any:
        """The same value with every placeholder replaced, wherever it is: for checks, never to be given away."""
        return _over_texts(value, lambda text: self.part(text, 0, len(text), anywhere=True)[0])

    def part(
        self, text: str, start: int, end: int, use: Use = "text", *, anywhere: bool = False
    ) -> tuple[str, list[Note]]:
        """`start`:`end` of a text restored, and what is to be told; the rest of the text says where it is."""
        pieces: list[str] = []
        notes: list[Note] = []
        at, length = start, 0
        for found in self._occurrences(text, start, end):
            before = self._whole(text[at : found.start])
            put, rule = self._put(text, found, use, anywhere=anywhere)
            pieces += (before, put)
            length += len(before) + len(put)
            if rule:
                notes.append(Note(rule, found.written, length - len(put), length))
            at = found.end
        return "".join((*pieces, self._whole(text[at:end]))), notes

    def _occurrences(self, text: str, start: int, end: int) -> Iterator[_Occurrence]:
        """Every placeholder in `start`:`end`, in order, as far as something may be done or said about it."""
        at, brackets = start, changed_look_alikes().finditer(text, start, end)
        for found in chain(brackets, (None,)):
            yield from self._names(text, at, found.start() if found else end)
            if found:
                yield from self._occurrence(found[0], canonical(found[1], found[2]), *found.span())
                at = found.end()

    def _names(self, text: str, start: int, end: int) -> Iterator[_Occurrence]:
        """Placeholders without their brackets."""
        if _numbered().search(text, start, end):  # a look that costs next to nothing
            for name in _bare().finditer(text, start, end):
                yield from self._occurrence(name[0], f"[{name[1]}]", *name.span())

    def _occurrence(self, written: str, meant: str, start: int, end: int) -> Iterator[_Occurrence]:
        """Nothing for what is no business of ours: another notation, or a text that the model was given like that."""
        known, bracketed = meant in self.placeholders, written[0] in OPENINGS
        if self.placeholders.is_taken(written):
            return
        as_given = bracketed and "_" in written and written == written.upper() and _kind_of(meant) in KINDS
        if known or (as_given and not self.placeholders.is_taken(meant)):
            yield _Occurrence(start, end, written, meant, known, bracketed)

    def _put(self, text: str, found: _Occurrence, use: Use, *, anywhere: bool) -> tuple[str, str]:
        """What goes in the place of a placeholder, and the rule of what is to be told, or nothing."""
        if not found.known:
            return found.written, "placeholder_unknown"
        value, kind = self.placeholders.value_of(found.meant), _kind_of(found.meant)
        if not found.bracketed:
            return found.written, "placeholder_unclear"
        changed = "" if found.written == found.meant else "placeholder_changed"
        if anywhere or kind == LITERAL:
            return value, changed
        word = self.rules.of(kind)
        if word == "never":
            return found.written, ""
        if use == "argument" and word != "everywhere":
            return found.written, "placeholder_in_argument"
        reach = reach_of(text, found.start, found.end)
        if reach == "address" or (reach == "attribute" and word != "everywhere"):
            return found.written, f"placeholder_in_{reach}"
        return value, changed

    def _whole(self, text: str) -> str:
        """A text with the control tokens whole again."""
        if BREAK in text:
            for token in self.broken:
                text = text.replace(token[0] + BREAK + token[1:], token)
        return text

    # -- what still grows

    def stream(self) -> RestoredStream:
        """Restores a text that comes in pieces."""
        return RestoredStream(self)

    def ready(self, text: str, start: int) -> int:
        """Up to where `text`, which still grows, can be restored from `start` on: its end, or where something begins
        that more text may change."""
        end = self._unfinished(text, start)
        for found in self._occurrences(text, start, end):
            if found.known and not is_settled(text, found.start, found.end):
                return found.start
        return end

    def _unfinished(self, text: str, start: int) -> int:
        """Where at the end something may have begun that is to be restored whole; the text's length where nothing."""
        beginnings, longest = self._beginnings
        first = max(start, len(text) - longest)
        end = next((at for at in range(first, len(text)) if text[at:] in beginnings), len(text))
        for at in range(max(start, len(text) - LONGEST_WRITTEN), end) if self.placeholders else ():
            if text[at] in OPENINGS and _beginning().fullmatch(text, at):
                return at
        return end

    @cached_property
    def _beginnings(self) -> tuple[frozenset[str], int]:
        """Every beginning of a broken token, with the length of the longest."""
        whole = [token[0] + BREAK + token[1:] for token in self.broken]
        beginnings = frozenset(text[:end] for text in whole for end in range(1, len(text)))
        return beginnings, max(map(len, beginnings), default=0)


class _Occurrence(NamedTuple):
    """A placeholder in a text: as it is `written`, the one that is `meant`, and whether that was given out."""

    start: int
    end: int
    written: str
    meant: str
    known: bool
    bracketed: bool


class RestoredStream:
    """A text that grows: `feed` takes the next piece and gives what can be restored for good; `rest` gives the end."""

    def __init__(self, restorer: Restorer) -> None:
        self._restorer = restorer
        self._text, self._told = "", 0

    def feed(self, piece: str) -> str:
        """What is sure now."""
        self._text += piece
        return self._upto(self._restorer.ready(self._text, self._told))

    def rest(self) -> str:
        """What was held back, once no more comes."""
        return self._upto(len(self._text))

    def _upto(self, end: int) -> str:
        restored, _ = self._restorer.part(self._text, self._told, end)
        self._told = end
        if end > 4 * CONTEXT:  # what is further back says nothing of what comes
            self._text, self._told = self._text[end - CONTEXT :], CONTEXT
        return restored


def _over_texts(value: Any, restore: Callable[[str], str]) -> Any:
    """`value` with `restore` on its texts and on those of nested lists and mappings. A key keeps its placeholder where
    the restored one is there already, since one of two entries would be lost."""
    if isinstance(value, str):
        return restore(value)
    if isinstance(value, Mapping):
        entries: dict[Any, Any] = {}
        for key, inner in value.items():
            put = restore(key) if isinstance(key, str) else key
            free = put == key or (put not in value and put not in entries)
            entries[put if free else key] = _over_texts(inner, restore)
        return entries
    if type(value) in (list, tuple):
        return type(value)(_over_texts(item, restore) for item in value)
    return value


def findings_of(notes: Sequence[Note], source: str) -> Iterator[Finding]:
    """What is to be told of an answer's placeholders, as findings."""
    for note in notes:
        severity, detail = RULES[note.rule]
        yield Finding(
            STAGE, note.rule, severity, "flagged", source, (note.start, note.end), detail.format(note.written)
        )
