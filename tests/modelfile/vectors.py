"""Where the Modelfile vectors are, and hypothesis strategies for the values they stand for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ollama_kit.modelfile import Command, Modelfile

DATA = Path(__file__).parent.parent / "data" / "modelfiles"
OWN_FILES = sorted(DATA.glob("*.Modelfile"))

HOSTILE = st.sampled_from(
    (
        *('"', '""', '"""', '"""\n', '"""\r', '""" \t', "\n", "\r\n", "\r", " ", "\t", "#", "'", "\\", "你好", "é", ""),
        *("FROM x\n", "SYSTEM ", "\u3000", "\u200b", "\u00a0", "\u2028", "\u200d", "\ufeff", "\x00", "\x0b", "\u0301"),
        chr(0xDC80),
    )
)
TEXT = st.one_of(st.text(max_size=12), st.lists(HOSTILE, max_size=6).map("".join))
COMMENT = st.one_of(
    st.just(""),
    st.text(st.characters(exclude_characters="\r\n\x00", exclude_categories=["Cs"]), max_size=8).map("#{}".format),
)
BEFORE = st.lists(COMMENT, max_size=2).map(tuple)


def load(name: str) -> Any:
    """The vectors of one JSON file."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def shared_files() -> list[Path]:
    """Other people's Modelfiles, where the folder with them is at hand; they are not part of the repository."""
    root = os.environ.get("OLLAMA_KIT_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data"
    return sorted(path for path in (Path(root) / "public" / "modelfiles").rglob("*") if path.is_file())


def commands(text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[Command]:
    """Any command of Ollama 0.9.3 with such texts as values."""
    words = st.sampled_from(["system", "template", "license", "adapter"])
    roles = st.sampled_from(["system", "user", "assistant"])
    names = st.one_of(
        st.sampled_from(["stop", "num_ctx", "model", "system", "", "a b"]), st.from_regex("[a-z_0-9]{1,8}")
    )
    return st.one_of(
        st.builds(Command, words, text, before=BEFORE),
        st.builds(Command, st.just("message"), text, role=roles, before=BEFORE),
        st.builds(Command, st.just("parameter"), text, parameter=names, before=BEFORE),
    )


def modelfiles(text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[Modelfile]:
    """A FROM, and any other commands around it."""
    return st.builds(
        lambda ahead, base, behind, after: Modelfile((*ahead, base, *behind), after),
        st.lists(commands(text), max_size=2),
        st.builds(Command, st.just("from"), st.one_of(st.just("qwen3:4b"), text), before=BEFORE),
        st.lists(commands(text), max_size=3),
        BEFORE,
    )
