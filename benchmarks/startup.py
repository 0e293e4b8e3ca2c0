"""How long it takes to start: the command line against its only import, and the package against an empty program."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.timing import in_ms, in_turns, median_ratio, verdict

ROUNDS = 25
HELP_RATIO = 2.0
IMPORT_ADDS_S = 0.015

_COMMAND = Path(sys.executable).with_name("ollama-kit.exe" if sys.platform == "win32" else "ollama-kit")
PROGRAMS = {
    "ollama-kit --help": [str(_COMMAND), "--help"],
    'python -c "import click"': [sys.executable, "-c", "import click"],
    'python -c "import ollama_kit"': [sys.executable, "-c", "import ollama_kit"],
    'python -c "pass"': [sys.executable, "-c", "pass"],
}


def run() -> Iterable[str]:
    if not _COMMAND.exists():
        yield f"{_COMMAND.name} is not beside {sys.executable}: install the package first"
        return
    seconds = in_turns({name: _process(arguments) for name, arguments in PROGRAMS.items()}, ROUNDS)
    for name, figures in seconds.items():
        yield f"{name:<32}{in_ms(figures)}"
    helped, clicked, imported, empty = seconds.values()
    ratio = median_ratio(helped, clicked)
    yield f"--help is {ratio:.2f} x import click; target {HELP_RATIO:.0f} x: {verdict(ratio <= HELP_RATIO)}"
    adds_s = statistics.median(ours - theirs for ours, theirs in zip(imported, empty, strict=True))
    yield (
        f"import ollama_kit adds {adds_s * 1e3:.1f} ms; target {IMPORT_ADDS_S * 1e3:.0f} ms: "
        f"{verdict(adds_s <= IMPORT_ADDS_S)}"
    )


def _process(arguments: list[str]) -> Callable[[], object]:
    return lambda: subprocess.run(arguments, check=True, capture_output=True)
