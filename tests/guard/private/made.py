"""Valid numbers to order, for properties: ID cards, bank cards, credit codes, telephones. None belongs to anybody."""

from __future__ import annotations

from datetime import date

from hypothesis import strategies as st

from ollama_kit.text.checksums import (
    CREDIT_ALPHABET,
    PROVINCES,
    credit_code_check,
    id_card_check,
    luhn_holds,
)


def digits(count: int) -> st.SearchStrategy[str]:
    """Texts of `count` ASCII digits."""
    return st.text("0123456789", min_size=count, max_size=count)


days = st.dates(min_value=date(1930, 1, 1), max_value=date(2020, 12, 31))

id_cards = st.builds(
    lambda province, division, day, serial: _checked(f"{province}{division}{day:%Y%m%d}{serial}", id_card_check),
    st.sampled_from(sorted(PROVINCES)),
    digits(4),
    days,
    digits(3),
)

credit_codes = st.builds(
    lambda registry, province, division, organization: _checked(
        f"{registry}{province}{division}{organization}", credit_code_check
    ),
    st.sampled_from(["91", "92", "93", "12", "51", "N2", "A1"]),
    st.sampled_from(sorted(PROVINCES)),
    digits(4),
    st.text(CREDIT_ALPHABET, min_size=9, max_size=9),
)

bank_cards = st.builds(
    lambda head, body: next(f"{head}{body}{last}" for last in range(10) if luhn_holds(f"{head}{body}{last}")),
    st.sampled_from(["622202", "621700", "623668"]),
    digits(12),
) | st.builds(
    lambda head, body: next(f"{head}{body}{last}" for last in range(10) if luhn_holds(f"{head}{body}{last}")),
    st.sampled_from(["411111", "542500", "625912", "650500"]),
    digits(9),
)

mobiles = st.builds("1{}{}".format, st.sampled_from("3456789"), digits(9))

keys = st.builds("{}{}".format, st.sampled_from(["ghp_", "hf_"]), st.just("aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"))

passwords = st.builds("密码：{}".format, st.from_regex(r"[A-Z][a-z]{3}[!@#][0-9]{4}", fullmatch=True))


def _checked(first_17: str, check) -> str:  # type: ignore[no-untyped-def]
    return first_17 + check(first_17)
