"""Files that can hold text: for their owner alone, never through a link, never in a folder that is open to all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ollama_kit.audit.log import AuditLog
from ollama_kit.builder.build_records import BuildRecord, keep_build_record
from ollama_kit.documents.pages.output_files import write_all
from ollama_kit.errors import OllamaKitError
from ollama_kit.jobs.ledger import Ledger, Outcome
from ollama_kit.server import blobs
from ollama_kit.text.encodings import write_bytes, write_text
from ollama_kit.text.private_files import create_private, replacing
from ollama_kit.tokens import store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def loose_umask() -> object:
    """The rights are ours to set, not the umask's."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that everybody may write into."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def _ledger(folder: Path) -> None:
    with Ledger(folder / "ledger.sqlite", "wechat") as ledger:
        ledger.write(Outcome("a", "a", True, {"text": "b"}))


def _audit(folder: Path) -> None:
    AuditLog(folder / "audit.sqlite3", True, 1, 1 << 20).close()


def _output(folder: Path) -> None:
    write_all(folder, {"summary.md": "text"})


def _text(folder: Path) -> None:
    write_text(folder / "a.txt", "text")


WRITERS: dict[str, Callable[[Path], None]] = {"ledger": _ledger, "audit": _audit, "output": _output, "text": _text}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_holds_text_is_for_its_owner_alone(writer: str, tmp_path: Path) -> None:
    """Every file that is there afterwards, those of SQLite too."""
    folder = tmp_path / "own"
    folder.mkdir(mode=0o755)
    WRITERS[writer](folder)
    written = list(folder.iterdir())
    assert written
    assert {rights(path) for path in written} == {0o600}


def test_caches_are_for_their_owner_alone_or_are_not(tmp_path: Path, shared: Path) -> None:
    """What is read again later: tokenizers and digests of files."""
    store._write(tmp_path / "cache" / "tokenizer", b"text")
    blobs._remember(tmp_path / "cache" / "digests.json", {"digest": "a"})
    assert {rights(path) for path in (tmp_path / "cache").iterdir()} == {0o600}
    blobs._remember(shared / "digests.json", {"digest": "a"})
    assert list(shared.iterdir()) == []


def test_the_files_that_sqlite_keeps_beside_have_the_same_rights(tmp_path: Path) -> None:
    """While the ledger is open, its journal holds what was written last."""
    with Ledger(tmp_path / "ledger.sqlite", "wechat") as ledger:
        ledger.write(Outcome("a", "a", True, {"text": "b"}))
        assert len(list(tmp_path.iterdir())) > 1
        assert {rights(path) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_written_into_a_folder_that_is_open_to_all(writer: str, shared: Path) -> None:
    """The error names what to do, and nothing is left behind."""
    with pytest.raises((OllamaKitError, OSError)) as raised:
        WRITERS[writer](shared)
    assert "chmod" in str(raised.value)
    assert list(shared.iterdir()) == []


def test_a_receipt_of_a_build_is_private_or_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    """A build does not fail because its record cannot be kept."""
    record = BuildRecord(**dict.fromkeys(BuildRecord.__dataclass_fields__, "x"))
    monkeypatch.setattr("ollama_kit.resources.cache_root", lambda: tmp_path / "cache")
    keep_build_record("http://127.0.0.1", "m", record)
    (kept,) = (tmp_path / "cache" / "builds").iterdir()
    assert rights(kept) == 0o600
    (shared / "builds").mkdir()
    (shared / "builds").chmod(0o777)
    monkeypatch.setattr("ollama_kit.resources.cache_root", lambda: shared)
    keep_build_record("http://127.0.0.1", "m", record)
    assert list((shared / "builds").iterdir()) == []


def test_an_older_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """A ledger of an earlier version was 0644."""
    path = tmp_path / "ledger.sqlite"
    path.touch(mode=0o644)
    create_private(path)
    assert rights(path) == 0o600


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Neither by what is made once, nor by what is replaced; a planted temporary name is not used."""
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("kept", encoding="utf-8")
    link.symlink_to(victim)
    with pytest.raises(OSError, match=r"link|loop"):
        create_private(link)
    (tmp_path / f".link.{os.getpid()}.part").symlink_to(victim)
    write_bytes(link, b"new")
    assert victim.read_text(encoding="utf-8") == "kept"
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()


def test_a_part_is_private_while_it_is_written_and_goes_where_that_fails(tmp_path: Path) -> None:
    """Also where the file itself is meant for others."""
    path = tmp_path / "a.txt"
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half")
        assert {rights(part) for part in tmp_path.iterdir()} == {0o600}
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_file_for_others_keeps_its_rights(tmp_path: Path) -> None:
    """A spec or a Modelfile that is written again is as it was; a new one is what the umask leaves."""
    path = tmp_path / "spec.yaml"
    write_text(path, "a", private=False)
    assert rights(path) == 0o666
    path.chmod(0o640)
    write_text(path, "b", private=False)
    assert rights(path) == 0o640
    assert path.read_text(encoding="utf-8") == "b"


def test_a_file_system_without_rights_is_taken_as_it_is(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every file shows all rights, a folder that does says nothing."""
    monkeypatch.setattr("ollama_kit.text.private_files._keeps_rights", lambda folder: False)
    write_text(shared / "a.txt", "text")
    assert (shared / "a.txt").read_text(encoding="utf-8") == "text"
