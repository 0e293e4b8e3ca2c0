"""The context rules that shorten a prompt: each gives drafts from short to long, and the longest that fits wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ollama_kit.guard.conversation import Document, Message
from ollama_kit.guard.sanitize import Draft
from ollama_kit.text.graphemes import cut_after, cut_before
from ollama_kit.text.language import language_of

_LEFT_OUT = {"en": "[… {count} characters left out …]", "zh": "［……此处省略 {count} 个字符……］"}


@dataclass(frozen=True)
class Trimmed:
    """A draft that fits, and what is no longer in it: {"turns", "characters"}."""

    draft: Draft
    dropped: Mapping[str, int]


def drop_oldest(draft: Draft, fits: Callable[[Draft], bool]) -> Trimmed | None:
    """The draft without its oldest exchanges, as few as will do: whole turns, a question with its answers. System
    turns, turns marked `keep` and the last question stay, with its documents and all that came after it (a call of a
    tool and its result). None where even that is too long."""
    groups = _exchanges(draft)

    def keeping(newest: int) -> Draft:
        gone = {at for group in groups[: len(groups) - newest] for at in group}
        return replace(draft, turns=tuple(turn for at, turn in enumerate(draft.turns) if at not in gone))

    newest = _most(len(groups), lambda count: fits(keeping(count)))
    if newest is None:
        return None
    kept = keeping(newest)
    characters = _characters(draft.turns) - _characters(kept.turns)
    return Trimmed(kept, {"turns": len(draft.turns) - len(kept.turns), "characters": characters})


def middle_out(draft: Draft, fits: Callable[[Draft], bool]) -> Trimmed | None:
    """The draft with the middle of its longest document left out, and a mark in its place. None where that is not
    enough, or there is no document."""
    if not draft.documents:
        return None
    at = max(range(len(draft.documents)), key=lambda index: len(draft.documents[index].text))
    document = draft.documents[at]

    def keeping(characters: int) -> Draft:
        shorter = Document(_without_middle(document.text, characters), document.name)
        return replace(draft, documents=(*draft.documents[:at], shorter, *draft.documents[at + 1 :]))

    most = _most(len(document.text) - 1, lambda count: fits(keeping(count)))
    if most is None:
        return None
    head, tail = _ends(document.text, most)
    return Trimmed(keeping(most), {"characters": tail - head})


def _exchanges(draft: Draft) -> list[list[int]]:
    """The turns that may go, oldest first, a question together with what followed it."""
    groups: list[list[int]] = []
    for at, turn in enumerate(draft.turns[: draft.question]):
        if turn.role == "system" or turn.keep:
            continue
        if turn.role == "user" or not groups:
            groups.append([])
        groups[-1].append(at)
    return groups


def _most(high: int, fits: Callable[[int], bool]) -> int | None:
    """The largest count up to `high` that fits, None if not even 0 does. Looks from below, doubling, so that the work
    goes with what fits and not with what there is."""
    if not fits(0):
        return None
    low, step = 0, 1
    while low + step <= high and fits(low + step):
        low += step
        step *= 2
    high = min(high, low + step - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str, characters: int) -> tuple[int, int]:
    """Where the head ends and the tail begins when about so many characters are kept, never more."""
    head = cut_before(text, characters // 2)
    tail = cut_after(text, len(text) - (characters - characters // 2))
    return head, max(head, tail)


def _without_middle(text: str, characters: int) -> str:
    head, tail = _ends(text, characters)
    mark = _LEFT_OUT[language_of(text)].format(count=tail - head)
    return f"{text[:head]}\n{mark}\n{text[tail:]}"


def _characters(turns: Sequence[Message]) -> int:
    return sum(len(turn.content) for turn in turns)
