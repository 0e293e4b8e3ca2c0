"""What some tests need and not every machine has: programs, and packages with an environment of their own.

A test says `@pytest.mark.needs("chromium")`. Where that is missing the test is skipped, and the end of the run says how
many were not run and what runs them; where OLLAMA_KIT_REQUIRE names it, or the target that has it, the test fails.

    python -m tests.needs      the Debian packages that are missing here for the tests that there are
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

VARIABLE = "OLLAMA_KIT_REQUIRE"
"""Names or targets, with commas: what may not be missing."""


@dataclass(frozen=True)
class Need:
    """One of `programs` on the PATH, or all `packages` of Python; `make target` runs the tests with it."""

    target: str
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    debian: str = ""

    def is_here(self) -> bool:
        return all(find_spec(package) is not None for package in self.packages) and (
            not self.programs or any(shutil.which(program) for program in self.programs)
        )


NEEDS = {
    "chromium": Need("test-system", ("chromium", "chromium-browser", "google-chrome"), debian="chromium"),
    "libreoffice": Need("test-system", ("soffice", "libreoffice"), debian="libreoffice-calc-nogui"),
    "promtool": Need("test-system", ("promtool",), debian="prometheus"),
    "wrk": Need("test-system", ("wrk",), debian="wrk"),
    "llm-guard": Need("test-llm-guard", packages=("llm_guard", "torch", "transformers")),
}


def require(*names: str) -> None:
    """Skips the running test where one of these is missing; fails it where it must be there. KeyError for a name that
    is not in NEEDS."""
    for name in names:
        need = NEEDS[name]
        if need.is_here():
            continue
        wanted = {word.strip() for word in os.environ.get(VARIABLE, "").split(",")}
        if wanted & {name, need.target}:
            pytest.fail(f"{name} must be installed here: {VARIABLE} says so", pytrace=False)
        pytest.skip(f"needs {name}; make {need.target} runs this")


def needed_by(reason: str) -> str:
    """The name that a skipped test was missing, from its reason; empty where it was skipped for something else."""
    found = re.search(r"needs ([\w-]+); make \S+ runs this", reason)
    return found[1] if found else ""


def not_run(name: str, count: int) -> str:
    """One line for the end of a run.

    >>> not_run("wrk", 2)
    'not run: 2 tests that need wrk; make test-system runs them'
    """
    tests = f"{count} tests that need" if count > 1 else "1 test that needs"
    return f"not run: {tests} {name}; make {NEEDS[name].target} runs {'them' if count > 1 else 'it'}"


def missing_packages(folder: Path) -> Iterator[str]:
    """The Debian packages of what a test below `folder` is marked to need, and this machine lacks."""
    marked = re.compile(r"mark\.needs\(([^)]*)\)")
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("test_*.py"))
    names = {name for text in texts for inner in marked.findall(text) for name in re.findall(r'"([\w-]+)"', inner)}
    for name in sorted(names & set(NEEDS)):
        need = NEEDS[name]
        if need.debian and not need.is_here():
            yield need.debian


if __name__ == "__main__":
    print(*missing_packages(Path(__file__).parent))
    sys.exit(0)
