"""Timing of things that are to be compared, and how the figures are written."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path


def in_turns(works: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 1) -> dict[str, list[float]]:
    """Seconds of each work in each round. All works take a turn in every round, so that what else the machine does
    falls on all of them; rounds of `warm_up` come first and do not count."""
    return metered_in_turns({name: partial(seconds_of, work) for name, work in works.items()}, rounds, warm_up)


def metered_in_turns(
    meters: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """As `in_turns`, of works that say themselves how many seconds they took (in another process, say)."""
    seconds: dict[str, list[float]] = {name: [] for name in meters}
    for number in range(warm_up + rounds):
        for name, meter in meters.items():
            passed = meter()
            if number >= warm_up:
                seconds[name].append(passed)
    return seconds


def peak_bytes() -> int | None:
    """The most memory that this program has ever had; None where the system does not say. getrusage would give
    the peak of the program that started it, where that was higher."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return None


def seconds_of(work: Callable[[], object]) -> float:
    """How long a work takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_ratio(seconds: list[float], of: list[float]) -> float:
    """The median of the ratios round by round: a slow spell of the machine slows both sides of a round."""
    return statistics.median(ours / theirs for ours, theirs in zip(seconds, of, strict=True))


def median_above(seconds: list[float], of: list[float]) -> float:
    """The median of the differences round by round, in seconds.

    >>> median_above([0.5, 0.25, 2.0], [0.25, 0.25, 1.0])
    0.25
    """
    return statistics.median(ours - theirs for ours, theirs in zip(seconds, of, strict=True))


def in_ms(seconds: list[float]) -> str:
    """Median and spread (the middle half) for a person to read.

    >>> in_ms([0.010, 0.011, 0.012, 0.013, 0.030])
    '12.0 ms (11.0 to 13.0)'
    """
    low, middle, high = (value * 1e3 for value in statistics.quantiles(seconds, n=4, method="inclusive"))
    return f"{middle:.1f} ms ({low:.1f} to {high:.1f})"


def verdict(met: bool) -> str:
    """The end of a line that has a target.

    >>> verdict(True)
    'met'
    """
    return "met" if met else "MISSED"
