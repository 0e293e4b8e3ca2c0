"""The pages of the repository as a test reads them: blocks that are made from the code, files that they name, and
samples that are taken from a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
UPDATING = bool(os.environ.get("OLLAMA_KIT_UPDATE_GOLDENS"))  # read here: a test sees no setting of the user's

PAGES = tuple(
    sorted(
        [
            *ROOT.glob("*.md"),
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "examples").rglob("*.md"),
        ]
    )
)
"""Every page that a person is meant to read."""

FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:py|md|toml|yaml|json|jinja|jsonl|css|txt|sh|cmd|csv|png)|(?:[\w.-]+/)+")
"""A name in backticks that means a file, or with a slash at its end a folder."""

_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_SAMPLE = re.compile(r"^ *`([^`\n]+)`[^\n]*:\n\n *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


class Sample(NamedTuple):
    """A block of code under a line that begins with the file it is from: "`path`: …"."""

    file: str
    text: str


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def files_named(text: str) -> Iterator[str]:
    """What a page names in backticks or links to that looks like a file of the repository. Names with a part to be
    filled in (`NAME`, `*`, `<…>`) are not looked for."""
    prose = _FENCED.sub("", text)
    for name in _CODE.findall(prose):
        if FILE.fullmatch(name) and "NAME" not in name:
            yield name
    yield from _LINK.findall(prose)


def samples(text: str) -> list[Sample]:
    """The blocks that are taken from a file."""
    return [Sample(*found) for found in _SAMPLE.findall(text)]


def is_part_of(sample: str, source: str) -> bool:
    """Whether the lines of a sample are in a source in that order and side by side, but for how far they are indented,
    and for what a line with only `…` leaves out.

    >>> is_part_of("def f():\\n    …\\n    return 1", "x = 0\\n  def f():\\n      y()\\n      return 1")
    True
    >>> is_part_of("def f():\\n    return 1", "def f():\\n    y()\\n    return 1")
    False
    """
    lines, at = [line.strip() for line in source.splitlines() if line.strip()], 0
    for part in re.split(r"^\s*…\s*$", sample, flags=re.MULTILINE):
        wanted = [line.strip() for line in part.splitlines() if line.strip()]
        starts = range(at, len(lines) - len(wanted) + 1)
        start = next((start for start in starts if lines[start : start + len(wanted)] == wanted), None)
        if start is None:
            return False
        at = start + len(wanted)
    return True


def held_block(page: Path, name: str, lines: Sequence[str]) -> None:
    """Fails where the page's block between `<!-- name … -->` and `<!-- end -->` is not made of these lines; with
    OLLAMA_KIT_UPDATE_GOLDENS=1 it is written anew first."""
    text, block = read(page), "".join(f"{line}\n" for line in lines)
    found = re.search(rf"(<!-- {name}\b[^>]*-->\n)((?:(?!<!-- ).)*)<!-- end -->", text, re.DOTALL)
    assert found is not None, f"{page.name} has no block <!-- {name} -->"
    if UPDATING and found[2] != block:
        page.write_text(text[: found.start(2)] + block + text[found.end(2) :], encoding="utf-8")
    assert found[2] == block, f"{page.name}: OLLAMA_KIT_UPDATE_GOLDENS=1 writes the block {name} anew"
