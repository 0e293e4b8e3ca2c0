"""No text makes the work grow faster than its length: patterns are bounded, twice the text is twice the work."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import FrameType
from typing import Any

import pytest

from ollama_kit.guard.private import KINDS, Placeholders, redact_private_data

MODULES = (
    *(
        f"guard.private.{name}"
        for name in (
            *("addresses", "broken_lines", "credentials", "digits", "labeled_cells", "names", "particulars"),
            *("placeholders", "postal"),
        )
    ),
    "text.folding",
)
LONGEST_MATCH = 16_000
"""Characters of the longest thing that a bounded pattern may match (a JWT)."""
UNBOUNDED = {
    "digits._runs": "one class; a run is read once",
    "credentials._long_words": "one class; a run is read once",
    "folding._odd": "one class; a run is read once",
    "credentials._parts": "one class, and only on a value",
    "credentials._shapes": "whole match, and only on a value",
    "credentials._secret_alphabet": "whole match, and only on a value",
    "credentials._one_word": "whole match, and only on a value of at most 64 characters",
    "credentials._number": "whole match, and only on a value of at most 64 characters",
    "labeled_cells._rule": "one class, and only a whole line",
    "credentials.key_block": "ends at the next five dashes, so that no part is read twice",
}

UNIT = 400
HOSTILE: dict[str, Callable[[int], str]] = {
    "beginnings of tokens": lambda n: "sk-ant-sk-proj-eyJeyJghp_ghp_glpat-xoxb-AKIA" * n,
    "beginnings of a JWT": lambda n: "eyJaaaaaaaaaaaa.eyJ" * n,
    "one long word": lambda n: "a1B" * 20 * n,
    "key files without an end": lambda n: "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n" * n,
    "users without a host": lambda n: "://a:b" * n,
    "at signs": lambda n: "a.b-c_d@" * n,
    "domains without an end": lambda n: "@" + "a." * 20 * n,
    "labels": lambda n: "password: password is key=token=secret:密码：密码是" * n,
    "quotes": lambda n: '密码："' * n,
    "digits": lambda n: "1" * 20 * n,
    "digits and gaps": lambda n: "138 0013-8000 62 0400-010)" * n,
    "plus signs": lambda n: "+1 (2) 3-4." * n,
    "octets": lambda n: "1.1." * 5 * n,
    "colons": lambda n: "a:" * 10 * n + "::" * n,
    "titles": lambda n: "王先生李经理" * n,
    "labels of names": lambda n: "联系人：王" * n,
    "streets": lambda n: "建国路88号1号楼5栋2单元" * n,
    "house numbers": lambda n: "12 Elm Oak Ash Road Street " * n,
    "Chinese without an end": lambda n: "地址在到建国门外大街路" * n,
    "days": lambda n: "1990年1月1日生于1990-01-01born " * n,
    "speakers": lambda n: "陈静：李明：\n10:20 王伟：\n" * n,
    "messengers": lambda n: "微信号：微信vxwxid_qq号12" * n,
    "accounts": lambda n: "GB29 NWBK DE89 FR14 " * n,
    "Chinese numerals": lambda n: "138一二三四五1" * n,
    "labels and lines": lambda n: "密码\npassword\ntoken如下\n" * n,
    "cells": lambda n: "| 密码 | password | a1! |\n" * n,
    "cells in one line": lambda n: "密码 | a1!b2 | " * n,
    "commas": lambda n: "password,a1!b2\n" * n,
    "cells in HTML": lambda n: "<tr><td>密码</td><td>a1!</td>" * n,
    "broken lines": lambda n: "a1b2c3d4e5\n" * n,
    "numbers over lines": lambda n: "1381\n2345\n" * n,
    "people": lambda n: "Name: John Smith Contact: " * n,
    "hashes": lambda n: "a#b.c" * n + "(#换成@)" * n,
    "brackets": lambda n: "[PHONE_[PHONE_1" * n,
    "many passwords": lambda n: "".join(f"密码：Abcdef{at:06}，" for at in range(n)),
    "full width": lambda n: "１３８－００" * n,
}


def work(text: str) -> int:
    """How many functions were called, Python's and the interpreter's own: the same on every machine."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    hidden = Placeholders()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        redact_private_data(text, "message 0", hidden, redact=KINDS)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_is_at_most_twice_the_work(name: str) -> None:
    """Calls are counted; what one call may cost is bounded by the test of the patterns."""
    work(HOSTILE[name](2))  # patterns are compiled
    small, large = work(HOSTILE[name](UNIT)), work(HOSTILE[name](2 * UNIT))
    assert large <= 2.1 * small + 200
    assert large <= 12 * len(HOSTILE[name](2 * UNIT)) + 2000


def patterns() -> dict[str, list[re.Pattern[str]]]:
    """Every pattern of the finders, by the function or constant that holds it."""
    found: dict[str, list[re.Pattern[str]]] = {}
    for name in MODULES:
        module = import_module(f"ollama_kit.{name}")
        for attribute, made in vars(module).items():
            own = getattr(made, "__module__", "") == module.__name__
            makes = own and hasattr(made, "cache_info") and made.__wrapped__.__code__.co_argcount == 0
            if inside := list(flat(made() if makes else made)):
                found[f"{name.rpartition('.')[2]}.{attribute}"] = inside
    return found


def flat(value: object) -> Iterator[re.Pattern[str]]:
    """The patterns in a value or in its tuples."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from flat(each)


def test_patterns_are_bounded_or_said_why_not() -> None:
    """A pattern that matches at most so many characters costs, at one place, at most so much."""
    made = patterns()
    assert len(made) >= 25
    unbounded = {name for name, each in made.items() if max(map(longest, each)) > LONGEST_MATCH}
    assert unbounded == set(UNBOUNDED)


def longest(pattern: re.Pattern[str]) -> int:
    """Characters of the longest text that `pattern` matches."""
    parser = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    return int(parser.parse(pattern.pattern, pattern.flags).getwidth()[1])


@pytest.mark.process
def test_importing_the_package_loads_no_finder() -> None:
    """Rules are read and compiled at the first text, not at start-up."""
    code = "import sys, ollama_kit.guard.private; print([m for m in sys.modules if 'guard.private.' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
