"""Files of reports: names that every system takes, all rendered before the first is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.errors import UsageError
from ollama_kit.jobs.contract.answers import PlainSummary, Sentence
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers import files, write_files
from tests.jobs.contract.writers.reports import bare


def named(name: str) -> ContractReport:
    report = bare("x")
    return replace(report, facts=replace(report.facts, name=name))


def test_files_of_one_name_are_numbered(tmp_path: Path) -> None:
    """One JSON and one Markdown a contract, and its name safe."""
    reports = [named(name) for name in ("合同.pdf", "合同.pdf", "a/b:c?.txt", "CON")]
    names = [path.name for path in write_files(reports, tmp_path / "结果")]
    assert names[:4] == ["合同.pdf.facts.json", "合同.pdf.facts.md", "合同.pdf (2).facts.json", "合同.pdf (2).facts.md"]
    assert names[4].startswith("a_b_c_.txt ")
    assert names[6].startswith("_CON ")
    assert sorted(path.name for path in (tmp_path / "结果").iterdir()) == sorted(names)
    assert json.loads((tmp_path / "结果" / names[2]).read_text(encoding="utf-8"))["document"] == "合同.pdf"


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """The error names what was meant; the folder is not even made."""
    with pytest.raises(UsageError, match="a contract cannot be written as 'jsn'") as caught:
        write_files([bare("x")], tmp_path / "out", ("md", "jsn"))
    assert "json" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_a_writer_that_fails_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is rendered before the first file is replaced."""
    (old,) = write_files([bare("x")], tmp_path, ("md",))
    before = old.read_bytes()

    def broken(report: ContractReport) -> str:
        raise UsageError("broken")

    monkeypatch.setitem(files.WRITERS, "json", broken)
    with pytest.raises(UsageError, match="broken"):
        write_files([bare("another")], tmp_path, ("md", "json"))
    assert old.read_bytes() == before
    assert list(tmp_path.iterdir()) == [old]


def test_a_page_in_plain_words_is_a_file_of_its_own(tmp_path: Path) -> None:
    """Beside the facts of the same contract in one folder, and nothing but the page, the risks and who wrote it."""
    page = replace(named("合同"), summary=PlainSummary("m", "h", (Sentence("钱", "每月付款。"),)))
    (path,) = write_files([page], tmp_path, ("md",))
    assert path.name == "合同.summary.md"
    headings = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert len(headings) == 2
