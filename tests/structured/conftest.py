"""The official JSON-Schema-Test-Suite, out of jsonschema's source distribution: fetched once, kept in a cache."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import pytest


@dataclass(frozen=True)
class Group:
    """A schema of the suite with its tests; `name` says the file and the group."""

    dialect: str
    name: str
    schema: Any
    tests: tuple[dict[str, Any], ...]


@pytest.fixture(scope="session")
def suite() -> tuple[Group, ...]:
    """Every group of draft 7 and draft 2020-12, formats included; its absence is a failure where CI is set."""
    version = importlib.metadata.version("jsonschema")
    cache = Path(os.environ.get("OLLAMA_KIT_TEST_CACHE") or platformdirs.user_cache_dir("ollama-kit-tests"))
    folder = cache / "json-schema-test-suite"
    archive = folder / f"jsonschema-{version}.tar.gz"
    if not archive.exists():
        problem = _download(version, folder)
        if problem and os.environ.get("CI"):
            pytest.fail(f"the JSON-Schema-Test-Suite could not be fetched: {problem}")
        if problem:
            pytest.skip(f"the JSON-Schema-Test-Suite could not be fetched: {problem}")
    return tuple(_groups(archive))


def _download(version: str, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jsonschema"]
    done = subprocess.run(
        [*command, "--dest", str(folder), f"jsonschema=={version}"],
        capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=300, check=False,
    )  # fmt: skip
    return done.stderr.strip()[-500:] or "pip failed" if done.returncode else ""


def _groups(archive: Path) -> Iterator[Group]:
    wanted = tuple(f"/json/tests/{dialect}/" for dialect in ("draft7", "draft2020-12"))
    with tarfile.open(archive) as opened:
        for member in opened:
            if not member.name.endswith(".json") or not any(part in member.name for part in wanted):
                continue
            stream = opened.extractfile(member)
            if stream is None:
                continue
            dialect, _, name = member.name.partition("/json/tests/")[2].partition("/")
            for group in json.load(stream):
                label = f"{dialect}/{name}: {group['description']}"
                yield Group(dialect, label, group["schema"], tuple(group["tests"]))
