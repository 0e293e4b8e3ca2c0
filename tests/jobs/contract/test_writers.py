"""JSON against its published schema, Markdown against another reader, files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

from ollama_kit import resources
from ollama_kit.jobs.contract import read_contracts, write_files, write_json, write_markdown
from tests.jobs.contract.samples import FOLDER, NAMES, annotated, facts_of
from tests.jobs.contract.test_facts import english


def schema() -> dict[str, object]:
    path = resources.find("templates", "schemas/contract_facts.schema.json")
    assert path is not None
    loaded: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_the_schema_is_one() -> None:
    """By its own meta-schema."""
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    "text",
    ["x", english(), english(law="Kansas") + "\udcff", "第一条 价款\n￥1 元（大写：贰元整），违约金日万分之三。"],
)
def test_json_is_as_the_schema_says(text: str) -> None:
    """Of much, of little and of broken characters."""
    jsonschema.validate(json.loads(write_json(facts_of(text))), schema())


@pytest.mark.parametrize("name", NAMES)
def test_json_of_the_annotated_contracts(name: str) -> None:
    """And the same bytes again."""
    facts, _, _ = annotated(name)
    jsonschema.validate(json.loads(write_json(facts)), schema())
    assert write_json(annotated(name)[0]) == write_json(facts)


def test_markdown_shows_every_fact_and_its_proof() -> None:
    """In the contract's language."""
    text = write_markdown(annotated("zh_sale")[0])
    for shown in (
        "设备采购合同",
        "北辰精工设备有限公司",
        "2026-04-20",
        "自双方盖章之日起生效",
        "CNY 1,200,000",
        "未找到",
    ):
        assert shown in text
    assert "absent (searched" in write_markdown(facts_of("Nothing here."))


def test_markdown_of_a_hostile_contract_is_inert() -> None:
    """No heading, link, tag or emphasis of the contract's own."""
    hostile = "# [x](http://x) **b** <script>alert(1)</script> 合同\n甲方：<b>*某某*</b>\n合同编号：A`1`-B22\n"
    html = MarkdownIt().render(write_markdown(facts_of(hostile)))
    assert "<script" not in html
    assert "<a " not in html
    assert "<b>" not in html


def test_files_of_one_name_are_numbered(tmp_path: Path) -> None:
    """One JSON and one Markdown a contract."""
    facts = facts_of("x")
    names = [path.name for path in write_files([facts, facts], tmp_path / "out")]
    assert names == [
        "sample.txt.facts.json",
        "sample.txt.facts.md",
        "sample.txt (2).facts.json",
        "sample.txt (2).facts.md",
    ]


def test_a_file_that_can_not_be_read_stops_no_other(tmp_path: Path) -> None:
    """It is told, with its name."""
    empty = tmp_path / "空.txt"
    empty.write_bytes(b"")
    found, refused = read_contracts([empty, FOLDER / "synthetic_zh_sale.txt", tmp_path / "missing.pdf"])
    assert [facts.title.first for facts in found] == ["设备采购合同"]
    assert len(refused) == 2
    assert "空.txt" in str(refused[0])
