"""Amounts of memory as people write them, read and printed."""

from __future__ import annotations

import re

from ollama_kit.errors import UsageError

KIB, MIB, GIB = 2**10, 2**20, 2**30
_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS |= {f"{_letter}ib": 2 ** (10 * _power), _letter: 2 ** (10 * _power), f"{_letter}b": 10 ** (3 * _power)}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")


def read_bytes(text: str, where: str = "--memory") -> int:
    """The bytes that a text such as `8GiB`, `8g`, `24 GB` or `512MiB` means; UsageError, naming `where`, for another.

    `8g` is 8 GiB, as cards are sold; `8GB` is 8,000,000,000 bytes, as the unit says.

    >>> read_bytes("8GiB"), read_bytes("1.5 g"), read_bytes("24GB")
    (8589934592, 1610612736, 24000000000)
    """
    match = _AMOUNT.fullmatch(text.strip())
    unit = match and _UNITS.get(match[2].lower())
    amount = int(float(match[1]) * unit) if match and unit else 0
    if not 2**20 <= amount < 2**60:
        raise UsageError(
            f"{where}: {text!r} is not an amount of memory",
            hint=("Write it as 8GiB, 24GiB or 512MiB.", "请写成 8GiB、24GiB 或 512MiB。"),
        )
    return amount


def shown(size_bytes: int) -> str:
    """An amount for a person: GiB with two decimals, below one MiB as whole numbers.

    >>> shown(17_015_046_144), shown(130_023_424), shown(512)
    ('15.85 GiB', '124 MiB', '512 B')
    """
    if size_bytes >= GIB:
        return f"{size_bytes / GIB:.2f} GiB"
    if size_bytes >= MIB:
        return f"{size_bytes / MIB:.0f} MiB"
    return f"{size_bytes / KIB:.0f} KiB" if size_bytes >= KIB else f"{size_bytes} B"


def rounded_up(value: int, multiple: int) -> int:
    """The next multiple that is not below the value.

    >>> rounded_up(4097, 256)
    4352
    """
    return -(-value // multiple) * multiple
