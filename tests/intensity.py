"""How much the heavy tests do: OLLAMA_KIT_TEST_INTENSITY is `quick` (`make quick`), `ci` (the default) or `nightly`.

A test states the whole number of its examples, kills or mutations; `make nightly` runs that many, other runs a part.
What is tested is the same in each.
"""

from __future__ import annotations

import os

VARIABLE = "OLLAMA_KIT_TEST_INTENSITY"
SHARES = {"quick": 0.1, "ci": 0.3, "nightly": 1.0}
LEAST_EXAMPLES = 15


def share() -> float:
    """The share of the whole that this run does. ValueError for a word that is none of the three."""
    named = os.environ.get(VARIABLE, "") or "ci"
    if named not in SHARES:
        raise ValueError(f"{VARIABLE} must be one of {', '.join(SHARES)}, not {named!r}")
    return SHARES[named]


def examples(whole: int) -> int:
    """How many examples a property is tried on."""
    return min(whole, max(LEAST_EXAMPLES, round(whole * share())))


def times(whole: int, ci: int) -> int:
    """How often something heavy is done: `whole` in nightly, `ci` and below else."""
    part = share()
    return whole if part == 1 else max(1, round(ci * part / SHARES["ci"]))
