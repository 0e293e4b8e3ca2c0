"""The check digits of Chinese ID cards (GB 11643), bank cards (Luhn, ISO/IEC 7812-1), credit codes (GB 32100) and bank
accounts (IBAN, ISO 13616)."""

from __future__ import annotations

import re
from datetime import date

_REGIONS = (
    *range(11, 16),
    *range(21, 24),
    *range(31, 38),
    *range(41, 47),
    *range(50, 55),
    *range(61, 66),
    71,
    81,
    82,
    83,
)
PROVINCES = frozenset(map(str, _REGIONS))
"""The first two digits of the division codes of GB/T 2260; 83 is the residence permit of people from Taiwan."""

CREDIT_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_CREDIT_VALUE = {character: value for value, character in enumerate(CREDIT_ALPHABET)}
_CREDIT_REGISTRIES = re.compile("1[1239]|2[19]|3[123459]|4[19]|5[1239]|6[129]|7[129]|8[19]|9[123]|A[19]|N[1239]|Y1")


def luhn_holds(digits: str) -> bool:
    """Whether the last of `digits` is the check digit of the others.

    >>> luhn_holds("4111111111111111"), luhn_holds("4111111111111112")
    (True, False)
    """
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit)
        if at % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def is_bank_card(digits: str) -> bool:
    """Whether `digits` are a card of one of the known networks, of a length that network uses, with a right check
    digit. Lengths that are on paper only (Visa of 13 and 19) are left out: the numbers of messages and orders look
    like them."""
    return _network_uses(digits) and luhn_holds(digits)


def _network_uses(digits: str) -> bool:
    length, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if four // 10 in (620, 621, 622, 623) or four == 9558:
        return 16 <= length <= 19
    if digits[0] == "4" or two == 62 or two == 60:
        return length == 16
    if 51 <= two <= 55 or 2221 <= four <= 2720 or 3528 <= four <= 3589 or two in (64, 65):
        return length == 16
    if two in (34, 37):
        return length == 15
    return two in (30, 36, 38, 39) and length == 14


def id_card_check(first_17: str) -> str:
    """The 18th character of an ID number.

    >>> id_card_check("11010519491231002")
    'X'
    """
    return "10X98765432"[sum(int(digit) * pow(2, 17 - at, 11) for at, digit in enumerate(first_17)) % 11]


def is_id_card(number: str) -> bool:
    """Whether `number` (18 characters, X in capitals) has a province, a day that exists, and a right check digit."""
    return (
        number[:2] in PROVINCES
        and is_day(int(number[6:10]), int(number[10:12]), int(number[12:14]))
        and id_card_check(number[:17]) == number[17]
    )


def is_old_id_card(number: str) -> bool:
    """Whether the 15 digits of `number` have a province and a day that exists; there was no check digit."""
    return number[:2] in PROVINCES and is_day(1900 + int(number[6:8]), int(number[8:10]), int(number[10:12]))


def is_day(year: int, month: int, day: int) -> bool:
    """Whether a person in a register can have been born on that day."""
    try:
        return 1850 < date(year, month, day).year < 2100
    except ValueError:
        return False


def credit_code_check(first_17: str) -> str:
    """The 18th character of a unified social credit code."""
    total = sum(_CREDIT_VALUE[character] * pow(3, at, 31) for at, character in enumerate(first_17))
    return CREDIT_ALPHABET[-total % 31]


def is_credit_code(code: str) -> bool:
    """Whether `code` (18 characters, in capitals) has a registry, a division and a right check character."""
    return (
        _CREDIT_REGISTRIES.match(code) is not None
        and (code[2:4] in PROVINCES or code[2:4] == "10")
        and all(character in _CREDIT_VALUE for character in code)
        and credit_code_check(code[:17]) == code[17]
    )


IBAN_LENGTHS: dict[str, int] = {
    "NO": 15,
    "BE": 16,
    **dict.fromkeys(("DK", "FI", "FK", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    "LC": 32,
    "RU": 33,
}
"""Country → characters of its IBAN. Source: SWIFT, IBAN Registry."""


def is_iban(account: str) -> bool:
    """Whether `account`, in capitals and without spaces, has its country's length and the check digits of ISO 7064
    (MOD 97-10).

    >>> is_iban("GB29NWBK60161331926819"), is_iban("GB28NWBK60161331926819")
    (True, False)
    """
    if not (account.isascii() and account.isalnum() and len(account) == IBAN_LENGTHS.get(account[:2])):
        return False
    return account[2:4].isdigit() and int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4])) % 97 == 1
