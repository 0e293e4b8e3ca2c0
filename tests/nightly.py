"""`make nightly`: everything whole, in named parts of under half an hour each, that go on where they were stopped.

    python -m tests.nightly            every part that has not passed yet
    python -m tests.nightly kills      one part
    python -m tests.nightly --list     what there is, and what has passed

A part is a list of test files; one that has passed is noted under .nightly/ with the digest of the tree it passed on,
and is not run again while the tree is the same.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import intensity

ROOT = Path(__file__).parents[1]
STAMPS = ROOT / ".nightly"


@dataclass(frozen=True)
class Part:
    """Test files below `folders` with the tests that `selects` (a marker expression), or a `make` target that has its
    own environment."""

    summary: str
    folders: tuple[str, ...] = ()
    selects: str = "not real and not kills"
    target: str = ""


_CALLS = (
    "tests/guard",
    "tests/client",
    "tests/server",
    "tests/structured",
    "tests/tokens",
    "tests/audit",
    "tests/wire",
)
_JOBS = ("tests/jobs", "tests/examples")
PARTS = {
    "calls": Part("guards, clients, servers, schemas, tokens: every property on all its examples", _CALLS),
    "jobs": Part("both jobs and the examples", _JOBS),
    "texts": Part("documents and texts", ("tests/documents", "tests/text")),
    "rest": Part("commands, builds, specs, memory, the examples in docstrings", ("tests", "ollama_kit")),
    "real": Part("the real server", ("tests",), "real and not kills"),
    "kills": Part("series of kills and mutations", ("tests",), "kills"),
    "llm-guard": Part("llm-guard's scanners, in an environment of their own", target="test-llm-guard"),
    "benchmarks": Part("every benchmark", target="bench"),
}


def main(arguments: Sequence[str]) -> int:
    """Runs the named parts, or all. The exit code is 1 where a file failed, 2 for a part that there is not."""
    if arguments[:1] == ["--list"]:
        for name, part in PARTS.items():
            files = [part.target] if part.target else list(_files(name))
            done = sum(_stamp(name, file).exists() for file in files)
            print(f"{name:12} {part.summary} ({done} of {len(files)} passed)")
        return 0
    if unknown := [name for name in arguments if name not in PARTS]:
        print(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    failed = []
    for name in arguments or PARTS:
        begun = time.monotonic()
        failed += [f"{name}: {file}" for file in _failures(name)]
        print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)
    for one in failed:
        print(f"FAILED {one}", file=sys.stderr)
    return int(bool(failed))


def _failures(name: str) -> Iterator[str]:
    """The files of a part that do not pass; what has passed on this tree is passed over."""
    part = PARTS[name]
    if part.target:
        stamp = _stamp(name, part.target)
        if not stamp.exists():
            if subprocess.call(["make", part.target], cwd=ROOT):
                yield part.target
            else:
                _note(stamp)
        return
    environment = {**os.environ, intensity.VARIABLE: "nightly"}
    for file in _files(name):
        stamp = _stamp(name, file)
        if stamp.exists():
            continue
        print(f"{name}: {file}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-m", part.selects, file]
        if subprocess.call(command, cwd=ROOT, env=environment) == 0:
            _note(stamp)
        else:
            yield file


def _files(name: str) -> Iterator[str]:
    """The files of a part with a test that it selects. RuntimeError, with pytest's own words, where they cannot be
    collected."""
    part = PARTS[name]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", part.selects, *part.folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"the tests of {name} cannot be collected:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    for file in sorted({line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}):
        if covers(name, file):
            yield file


def covers(name: str, file: str) -> bool:
    """Whether a file belongs to a part; `rest` has those that no other part without a server has."""
    elsewhere = (*_CALLS, *_JOBS, *PARTS["texts"].folders) if name == "rest" else ()
    return _below(file, PARTS[name].folders) and not _below(file, elsewhere)


def _below(file: str, folders: Sequence[str]) -> bool:
    return file.startswith(tuple(f"{folder}/" for folder in folders))


def _stamp(name: str, file: str) -> Path:
    return STAMPS / name / f"{file.replace('/', '.')}.{_tree()}"


def _note(stamp: Path) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()


@cache
def _tree() -> str:
    """What names the tree: the commit, and what has changed or come since."""
    digest = hashlib.sha256()
    for command in (("rev-parse", "HEAD"), ("diff", "HEAD")):
        digest.update(subprocess.run(["git", *command], cwd=ROOT, capture_output=True, check=True).stdout)
    listed = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0"):
        if name:
            digest.update(name + (ROOT / os.fsdecode(name)).read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
