"""A model's thinking told from its answer, where the server has not done it.

Thinking is at the start of a reply or it is text: between a family's tags, which may be nested, or in the channels of
harmony (gpt-oss). A closing tag alone counts too, since many templates write the opening one into the prompt. A tag in
code or between quotation marks is talked about, and ends nothing.

Sources of the pairs: the chat templates of Qwen3, DeepSeek-R1, GLM (`<think>`), Granite and Phi-4 (`<thinking>`,
`<thought>`), Magistral (`[THINK]`), Seed-OSS (`<seed:think>`), gpt-oss (channels); what a vocabulary holds besides is
read by `thinking_tags`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Tags = Sequence[tuple[str, str]]
"""(opening, closing) pairs."""

TAGS: Tags = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
)
BLANK = " \t\r\n\ufeff"

_START, _CHANNEL, _MESSAGE = "<|start|>assistant", "<|channel|>", "<|message|>"
_ENDS = re.compile(r"<\|(?:end|return|call)\|>")
_OWN = re.compile(r"<([a-z_:.-]*(?:think|thought|reason)[a-z_:.-]*)>")
_NEAR = 400
"""Characters around a tag in which a code span is looked for, so that work grows with the text and no faster."""
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}


@dataclass(frozen=True)
class Thinking:
    """What a reply begins with. `is_open`: the text ends in the middle of thinking, or of a tag that may begin it."""

    thinking: str
    rest: str
    is_open: bool = False


def thinking_tags(tokens: Iterable[str]) -> Tags:
    """The known pairs and those that a vocabulary has besides, such as `<my_think>` with `</my_think>`.

    >>> thinking_tags(["<deep_think>", "</deep_think>", "<think>", "<b>"])[-1]
    ('<deep_think>', '</deep_think>')
    """
    known = set(tokens)
    own = [(f"<{found[1]}>", f"</{found[1]}>") for found in map(_OWN.fullmatch, sorted(known)) if found]
    return (*TAGS, *(pair for pair in own if pair not in TAGS and pair[1] in known))


def strip_thinking(text: str, tags: Tags = TAGS) -> tuple[str, str]:
    """(the thinking, the rest of the reply).

    >>> strip_thinking("<think>two?</think>\\n\\n[2]")
    ('two?', '[2]')
    >>> strip_thinking("Use `<think>x</think>` here.")
    ('', 'Use `<think>x</think>` here.')
    """
    read = read_thinking(text, tags)
    return read.thinking, read.rest


def read_thinking(text: str, tags: Tags = TAGS, *, ended: bool = True) -> Thinking:
    """The thinking at the start of a text; of one that has not `ended`, as far as it is sure."""
    rest = text.lstrip(BLANK)
    if not ended and _may_begin(rest, (_START + _CHANNEL, _CHANNEL)):
        return Thinking("", "", is_open=True)
    if rest.startswith((_CHANNEL, _START + _CHANNEL)):
        return _channels(rest)
    thoughts: list[str] = []
    while pair := next((pair for pair in tags if rest.startswith(pair[0])), None):
        end = _end_of(rest, pair, ended=ended)
        if end is None:
            return Thinking(_joined([*thoughts, rest[len(pair[0]) :]]), "", is_open=True)
        thoughts.append(rest[len(pair[0]) : end - len(pair[1])])
        rest = rest[end:].lstrip(BLANK)
    if not ended and _may_begin(rest, [opening for opening, _ in tags]):
        return Thinking(_joined(thoughts), rest, is_open=True)
    if thoughts:
        return Thinking(_joined(thoughts), rest)
    return (_orphan(rest, tags) if ended else None) or Thinking("", text)


def longest_closing(tags: Tags) -> int:
    """The length of the longest closing tag, in characters."""
    return max(len(closing) for _, closing in tags)


def closes(text: str, tags: Tags) -> bool:
    """Whether a text holds something that may end thinking."""
    return _CHANNEL in text or any(closing in text for _, closing in tags)


def _may_begin(text: str, openings: Iterable[str]) -> bool:
    """Whether a text, as far as it has come, is the beginning of one of these, and not yet all of it."""
    return any(len(text) < len(opening) and opening.startswith(text) for opening in openings) if text else False


def _end_of(text: str, pair: tuple[str, str], *, ended: bool) -> int | None:
    """Where the block that a text begins with ends: at the closing tag of the same depth; in a text that has ended with
    tags that do not pair up, at the last closing one. None where there is none."""
    depth, last = 0, None
    for at, tag in _tags_in(text, pair):
        if tag == pair[0]:
            depth += 1
            continue
        depth, last = depth - 1, at + len(tag)
        if depth == 0:
            return last
    return last if ended else None


def _tags_in(text: str, pair: tuple[str, str]) -> Iterator[tuple[int, str]]:
    """The tags of a pair with their places, less those that are only talked about."""
    pattern = re.compile("|".join(map(re.escape, pair)))
    for found in pattern.finditer(text):
        if found.start() == 0 or not _is_quoted(text, found.start(), found.end()):
            yield found.start(), found[0]


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether quotation marks or backticks stand right around a tag, or it is in an inline code span."""
    if start and end < len(text) and _QUOTES.get(text[start - 1]) == text[end]:
        return True
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    after = text[end : end + _NEAR].partition("\n")[0]
    return before.count("`") % 2 == 1 and "`" in after


def _orphan(text: str, tags: Tags) -> Thinking | None:
    """What stands before a closing tag that nothing opened. JSON at the start is an answer."""
    if text.startswith(("{", "[")):
        return None
    for opening, closing in tags:
        thought, closed, after = text.partition(closing)
        if not closed or opening in thought:
            continue
        if not _in_string(thought, after) and not _is_quoted(text, len(thought), len(thought) + len(closing)):
            return Thinking(thought.strip(), after.lstrip(BLANK))
    return None


def _in_string(before: str, after: str) -> bool:
    """Whether a tag is inside a JSON string: after an odd number of quotes, with no line break beside it."""
    return before.count('"') % 2 == 1 and not before.endswith("\n") and after[:1] not in ("", "\n", "\r")


def _channels(text: str) -> Thinking:
    """The channels of harmony: `final` is the answer, all others are thinking."""
    thoughts: list[str] = []
    said: list[str] = []
    rest, is_open = text, False
    while rest.startswith((_CHANNEL, _START + _CHANNEL)):
        head, begun, body = rest.partition(_CHANNEL)[2].partition(_MESSAGE)
        end = _ENDS.search(body)
        (said if head.strip().startswith("final") else thoughts).append(body[: end.start()] if end else body)
        rest = body[end.end() :] if end else ""
        is_open = not begun or (end is None and not head.strip().startswith("final"))
    return Thinking(_joined(thoughts), "".join(said).lstrip(BLANK) + rest, is_open)


def _joined(thoughts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in thoughts if part.strip())
