"""The official JSON-Schema-Test-Suite, out of jsonschema's source distribution: fetched once, kept in a cache."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
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


CHECK_JSONSCHEMA = "0.39.0"
"""The release of check-jsonschema whose vendored schemas of the real world are tried."""


@pytest.fixture(scope="session")
def suite() -> tuple[Group, ...]:
    """Every group of draft 7 and draft 2020-12, formats included; its absence is a failure where CI is set."""
    version = importlib.metadata.version("jsonschema")
    return tuple(_groups(_fetched("json-schema-test-suite", f"jsonschema-{version}.tar.gz", f"jsonschema=={version}")))


@pytest.fixture(scope="session")
def real_world_schemas() -> dict[str, Any]:
    """The schemas of well-known configuration files that check-jsonschema carries, by file name."""
    name = f"check_jsonschema-{CHECK_JSONSCHEMA}-py3-none-any.whl"
    wheel = _fetched("check-jsonschema", name, f"check-jsonschema=={CHECK_JSONSCHEMA}")
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if "/builtin_schemas/" in name and name.endswith(".json")]
        return {name.rpartition("/")[2]: json.loads(opened.read(name)) for name in names}


def _fetched(folder: str, file: str, requirement: str) -> Path:
    """A package's file in the tests' cache, fetched by pip if it is not there. It is never committed."""
    cache = Path(os.environ.get("OLLAMA_KIT_TEST_CACHE") or platformdirs.user_cache_dir("ollama-kit-tests"))
    archive = cache / folder / file
    if not archive.exists():
        problem = _download(requirement, archive.parent, source=file.endswith(".tar.gz"))
        if problem and os.environ.get("CI"):
            pytest.fail(f"{requirement} could not be fetched: {problem}")
        if problem:
            pytest.skip(f"{requirement} could not be fetched: {problem}")
    return archive


def _download(requirement: str, folder: Path, *, source: bool) -> str:
    """What pip said if it failed, else nothing. Only a whole file gets its name."""
    name = requirement.partition("==")[0]
    folder.mkdir(parents=True, exist_ok=True)
    form = ("--no-binary", name) if source else ("--only-binary", ":all:")
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *form, "--dest", beside, requirement],
            capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=300, check=False,
        )  # fmt: skip
        if done.returncode:
            return done.stderr.strip()[-500:] or "pip failed"
        for found in Path(beside).iterdir():
            found.replace(folder / found.name)
    return ""


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
