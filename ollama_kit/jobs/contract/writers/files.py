"""The facts of contracts as files, named after the documents that they come from."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ollama_kit.encodings import write_text
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.writers.data import write_json
from ollama_kit.jobs.contract.writers.markdown import write_markdown

WRITERS: dict[str, Callable[[ContractFacts], str]] = {"json": write_json, "md": write_markdown}
FORMATS = tuple(WRITERS)
"""What facts can be written as; each is also the end of its file's name."""


def write_files(contracts: Sequence[ContractFacts], folder: Path, formats: Iterable[str] = FORMATS) -> tuple[Path, ...]:
    """Writes `NAME.facts.json` and `NAME.facts.md` for each contract into `folder`, which is made if need be.

    Each is written beside and then renamed; one of that name is replaced. Documents of one name from different
    folders are numbered in their order."""
    wanted = tuple(formats)
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    paths = []
    for facts in contracts:
        stem, number = facts.name, 1
        while _folded(stem) in taken:
            number += 1
            stem = f"{facts.name} ({number})"
        taken.add(_folded(stem))
        for name in wanted:
            path = folder / f"{stem}.facts.{name}"
            write_text(path, WRITERS[name](facts))
            paths.append(path)
    return tuple(paths)


def _folded(name: str) -> str:
    """What names have in common that are one file on Windows or macOS."""
    return unicodedata.normalize("NFC", name.casefold())
