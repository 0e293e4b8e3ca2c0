"""What an answer comes to, by which two ways of writing it can be told to be one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ollama_kit.jobs.contract.proof.figures import Figure, figures_of, is_whole
from ollama_kit.text.locate import letters_of


def meaning_of(value: Any) -> str:
    """What a value comes to: where it is one figure and nothing else a date in ISO, an amount with its currency, a rate
    or a length of time; of anything else its letters.

    >>> meaning_of("2026年3月1日") == meaning_of("March 1, 2026"), meaning_of("两年") == meaning_of("24 months")
    (True, True)
    >>> meaning_of("人民币伍拾万元整") == meaning_of("RMB 500,000"), meaning_of("甲方 ") == meaning_of("甲方")
    (True, True)
    >>> meaning_of("2026年3月1日或首付款到账之日")
    '2026年3月1日或首付款到账之日'
    """
    if isinstance(value, Mapping):
        return "|".join(f"{name}={meaning_of(inner)}" for name, inner in sorted(value.items()))
    if isinstance(value, list):
        return "|".join(map(meaning_of, value))
    if not isinstance(value, str):
        return str(value)
    return _of_figure(value) or letters_of(value)


def same_meaning(one: str, other: str) -> bool:
    """Whether two meanings are one: equal, or dates of which one says less (a month, and a day in it), or rates of
    which one does not say over what time they run.

    >>> same_meaning("2026-03", "2026-03-01"), same_meaning("3", "13"), same_meaning("rate 1/20 ", "rate 1/20 day")
    (True, False, True)
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if short.startswith("rate "):
        return short.endswith(" ") and long.startswith(short)
    return len(short) >= 4 and short[:4].isdigit() and short[4:5] in ("-", "") and long.startswith(f"{short}-")


def rate_meaning(low: object, high: object, per: str | None) -> str:
    """The meaning of a rate that was read already."""
    return f"rate {low} {per or ''}" if low == high else f"rate {low}–{high} {per or ''}"


def figures_alike(one: str, other: str) -> bool:
    """Whether two texts say the same figures, in whatever form.

    >>> figures_alike("提前三十日解除", "30日前通知解除"), figures_alike("甲方提前三十日", "甲方提前六十日")
    (True, False)
    """
    first, second = figures_of(one), figures_of(other)
    return _borne(first, second) and _borne(second, first)


def _borne(said: tuple[Figure, ...], given: tuple[Figure, ...]) -> bool:
    return all(any(figure.bears(one) for figure in given) for one in said)


def _of_figure(text: str) -> str:
    """The one figure that a text is; empty where it is more than that, or more than one."""
    if not is_whole(text):
        return ""
    found = figures_of(text)
    kinds = {figure.kind for figure in found}
    if len(kinds) != 1:
        return ""
    figure = found[0]
    if figure.kind == "date":
        return figure.day.removesuffix("-?").removesuffix("-?") if len(found) == 1 else ""
    numbers = sorted({one.number for one in found})
    if figure.kind == "rate":
        return rate_meaning(numbers[0], numbers[-1], figure.unit)
    return f"{figure.kind} {figure.unit} {numbers[0]}" if len(numbers) == 1 else ""
