"""The guard's vectors: one JSON object a line; hidden characters stand as escapes, so that a reader sees them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "guard"


def vectors(name: str) -> list[dict[str, Any]]:
    """The rows of one file of tests/data/guard."""
    return [json.loads(line) for line in DATA.joinpath(name).read_text(encoding="utf-8").splitlines()]


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python ran: a measure of work that no other process disturbs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
