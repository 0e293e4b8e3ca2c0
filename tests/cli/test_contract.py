"""`contract extract` as a lawyer's script runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

FOLDER = Path(__file__).parents[1] / "data" / "contracts" / "zh_synthetic"
SALE = str(FOLDER / "synthetic_zh_sale.txt")
LEASE = str(FOLDER / "synthetic_zh_lease_conflict.txt")


def test_the_facts_are_printed_in_the_contracts_language(run: Run) -> None:
    """No server is asked; --no-model says what happens anyway."""
    told = run("contract", "extract", SALE)
    assert told.returncode == 0, told.stderr
    assert "北辰精工设备有限公司" in told.stdout
    assert run("contract", "extract", SALE, "--no-model").stdout == told.stdout


def test_a_folder_gets_json_and_markdown_of_each(run: Run, project: Path) -> None:
    """Named after the documents."""
    told = run("contract", "extract", SALE, LEASE, "--out", "结果")
    assert told.returncode == 0, told.stderr
    names = {path.name for path in (project / "结果").iterdir()}
    assert names == {
        f"{name}.facts.{end}"
        for name in ("synthetic_zh_sale.txt", "synthetic_zh_lease_conflict.txt")
        for end in ("json", "md")
    }
    facts = json.loads((project / "结果" / "synthetic_zh_sale.txt.facts.json").read_text(encoding="utf-8"))
    assert facts["facts"]["effective_date"]["values"][0]["value"] == "2026-04-20"


def test_json_has_every_contract_and_every_refusal(run: Run, project: Path) -> None:
    """Exit code 1 where one could not be read; the others are there."""
    (project / "broken.pdf").write_bytes(b"not a PDF")
    told = run("contract", "extract", LEASE, "broken.pdf", "--json")
    assert told.returncode == 1
    result = json.loads(told.stdout)
    assert [one["document"] for one in result["contracts"]] == ["synthetic_zh_lease_conflict.txt"]
    assert "broken.pdf" in result["refused"][0]["message"]
    assert "broken.pdf" in told.stderr


def test_a_narrow_console_shows_what_it_can(run: Run) -> None:
    """A Chinese Windows writes GBK."""
    told = run("contract", "extract", SALE, encoding="gbk")
    assert told.returncode == 0, told.stderr
    assert "设备采购合同" in told.stdout


def test_the_help_says_that_no_model_is_asked(run: Run) -> None:
    """By rules, which is what it does."""
    assert "by rules, without a model" in " ".join(run("contract", "extract", "--help").stdout.split())
