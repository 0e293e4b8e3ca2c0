"""The finders measured on lines that were written for it: what has to be hidden, and what only looks like it.

`cases` came from people who attacked the product; `own`, `look_alikes` and `held_out` were written before the rules for
addresses, birthdays, WeChat and QQ ids, IBANs, speakers and laid-out secrets, `held_out` was not looked at while they
were made; `variants` are other ways to write the same. Each line names what has to be hidden, in a form without spaces.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.private.redaction import detect, redact_private_data
from ollama_kit.guard.private.rulebook import KINDS, PERSONAL, RULES
from ollama_kit.text.checksums import IBAN_LENGTHS, is_iban

FOLDER = Path(__file__).parents[2] / "data" / "private_measured"
FILES = ("cases", "own", "look_alikes", "held_out", "variants")
SAME = {"bank_account": {"bank_account", "iban"}, "wechat": {"wechat", "qq"}}
"""Kinds of the lines that are two of ours."""


class Row(NamedTuple):
    """A line: what has to be hidden in a text, and its kind; kind "none" where nothing is."""

    kind: str
    hide: str
    text: str


def rows(name: str) -> Iterator[Row]:
    for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        read = json.loads(line.replace("¦", ""))
        yield Row(read["kind"], read["hide"], read["text"])


ROWS = [row for name in FILES for row in rows(name)]
PRIVATE, ORDINARY = [row for row in ROWS if row.hide], [row for row in ROWS if not row.hide]


def squeezed(text: str) -> str:
    return re.sub(r"[\s.()-]", "", unicodedata.normalize("NFKC", text)).upper()


@pytest.mark.parametrize("row", PRIVATE, ids=[f"{row.kind}-{at}" for at, row in enumerate(PRIVATE)])
def test_what_is_private_is_found(row: Row) -> None:
    """The whole of it, under its kind."""
    kinds = SAME.get(row.kind, {row.kind})
    found = [row.text[hit.start : hit.end] for hit in detect(row.text, KINDS) if RULES[hit.rule] in kinds]
    wanted = squeezed(row.hide)
    # 一 among digits stands for a 1, or for a dash.
    assert any(wanted in squeezed(value.replace("一", digit)) for value in found for digit in ("一", "1", "")), found


@pytest.mark.parametrize("row", ORDINARY, ids=range(len(ORDINARY)))
def test_what_is_ordinary_is_left(row: Row) -> None:
    """Words that look like a name, numbers that look like an account, labels without a value."""
    assert detect(row.text, KINDS) == ()


def test_the_lines_are_many_of_each_kind() -> None:
    """Else the figures say little."""
    assert len(list(rows("cases"))) == 122
    assert len(list(rows("held_out"))) == 40
    assert len(ORDINARY) >= 200
    for kind in ("address", "birthday", "wechat", "qq", "iban", "name", "password", "api_key"):
        assert sum(row.kind == kind for row in PRIVATE) >= 5, kind


@pytest.mark.parametrize("kind", sorted(PERSONAL))
def test_each_kind_is_found_by_itself(kind: str) -> None:
    """Nothing but what is asked for is looked for, and nothing else is hidden."""
    mine = [row for row in PRIVATE if row.kind == kind]
    assert mine or kind in ("ip", "mac", "credit_code", "plate", "passport")
    for row in mine:
        changed, findings = redact_private_data(row.text, "text", Placeholders(), redact=frozenset({kind}))
        assert all(RULES.get(finding.rule) == kind for finding in findings)
        if row.kind not in SAME:
            assert f"[{kind.upper()}_1]" in changed.text


@pytest.mark.parametrize("country", sorted(IBAN_LENGTHS))
def test_the_check_digits_of_accounts_of_every_country(country: str) -> None:
    """Each has one pair of check digits; a changed digit, or another length, is none."""
    rest = ("12345678901234567890123456789012345")[: IBAN_LENGTHS[country] - 4]
    valid = [f"{country}{check:02}{rest}" for check in range(2, 99) if is_iban(f"{country}{check:02}{rest}")]
    assert len(valid) == 1
    account = valid[0]
    assert not is_iban(account + "1")
    assert not is_iban(account[:-1] + str((int(account[-1]) + 1) % 10))
    (hit,) = (hit for hit in detect(f"({account})", frozenset({"iban"})))
    assert f"({account})"[hit.start : hit.end] == account
