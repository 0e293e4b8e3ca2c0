"""Files are written whole, under a name that nobody knows beforehand, and through no link."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from ollama_kit.text.encodings import write_bytes
from ollama_kit.text.private_files import replacing

PACKAGE = Path(__file__).parents[2] / "ollama_kit"


@pytest.mark.skipif(os.name != "posix", reason="links that anybody can make")
def test_a_link_at_the_target_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    target = tmp_path / "out.txt"
    target.symlink_to(victim)
    write_bytes(target, b"new")
    assert (victim.read_text(encoding="utf-8"), target.read_bytes(), target.is_symlink()) == ("mine", b"new", False)


@pytest.mark.skipif(os.name != "posix", reason="links that anybody can make")
def test_links_under_every_name_that_could_be_guessed_are_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    for name in (f".out.txt.{os.getpid()}.part", "out.txt.part", ".out.txt.part"):
        (tmp_path / name).symlink_to(victim)
    write_bytes(tmp_path / "out.txt", b"new")
    assert victim.read_text(encoding="utf-8") == "mine"


def test_what_fails_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError), replacing(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert target.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_file_that_is_not_private_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.touch(0o640)
    target.chmod(0o640)
    with replacing(target, private=False) as file:
        file.write(b"x")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_nothing_else_in_the_package_opens_a_file_to_write() -> None:
    """But the modules that make a temporary file of their own, which is as safe."""
    writes = re.compile(r"\.write_text\(|\.write_bytes\(|\.open\(\s*\"[wax]|open\([^)]*\"[wax]b?\"")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if writes.search(line) and "ZipFile" not in line
    }
    assert found == {"text/private_files.py"}
