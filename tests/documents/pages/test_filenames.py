"""File names that every system takes, and no two made one."""

from __future__ import annotations

import ntpath
from pathlib import PureWindowsPath

from hypothesis import example, given, settings, strategies as st

from ollama_kit.documents.pages.filenames import numbered, safe_stem
from ollama_kit.documents.pages.plain import one_line

AWKWARD = st.text(alphabet='abC中😀é1 .-_/\\:*?"<>|\n\t\x00\x7f\u202e\u200d\ufe0f', max_size=90)


def is_reserved(name: str) -> bool:
    """Whether Windows keeps a name for itself; Python 3.13 moved the question to ntpath."""
    asked = getattr(ntpath, "isreserved", None)
    return bool(asked(name) if asked else PureWindowsPath(name).is_reserved())


@settings(deadline=None, max_examples=300)
@given(AWKWARD)
@example("CON")
@example("nul.txt")
@example("COM¹")
@example("家" * 90)
@example("-rf")
@example("..")
def test_a_name_is_one_that_windows_takes(name: str) -> None:
    """No character or end that Windows refuses, no device, nothing hidden, short enough with its end."""
    stem = safe_stem(name, "chat")
    assert stem
    assert not set(stem) & set('\\/:*?"<>|')
    assert stem.isprintable() or "\u200d" in stem or "\ufe0f" in stem
    assert stem.strip(" .") == stem
    assert stem[0] not in ".-"
    assert not is_reserved(f"{stem}.json")
    assert len(f".{stem} 2026-01-01.json.1234567.part".encode()) <= 200


@settings(deadline=None, max_examples=100)
@given(AWKWARD, AWKWARD)
@example("a/b", "a:b")
@example("CON", "_CON")
@example("", "chat")
def test_two_names_are_not_made_one(one: str, other: str) -> None:
    """A name that had to be changed says so with a hash, so that it is not another's."""
    if one_line(one) != one_line(other):
        assert safe_stem(one, "chat") != safe_stem(other, "chat")


@given(st.lists(st.sampled_from(["a", "A", "a (2)", "a (3)", "é", "e\u0301", "b"]), max_size=8))
def test_names_of_one_run_are_numbered(names: list[str]) -> None:
    """None is another's to a file system that ignores case, and the first of a name keeps it."""
    given_names = numbered(names)
    assert len({name.casefold().replace("e\u0301", "é") for name in given_names}) == len(names)
    assert given_names[:1] == tuple(names[:1])
