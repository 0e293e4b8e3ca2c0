"""Many files: one that cannot be read stops no other."""

from __future__ import annotations

from pathlib import Path

from ollama_kit.jobs.contract import read_contracts
from tests.jobs.contract.samples import FOLDER


def test_a_file_that_can_not_be_read_stops_no_other(tmp_path: Path) -> None:
    """It is told, with its name."""
    empty = tmp_path / "空.txt"
    empty.write_bytes(b"")
    found, refused = read_contracts([empty, FOLDER / "synthetic_zh_sale.txt", tmp_path / "missing.pdf"])
    assert [report.facts.title.first for report in found] == ["设备采购合同"]
    assert len(refused) == 2
    assert "空.txt" in str(refused[0])
