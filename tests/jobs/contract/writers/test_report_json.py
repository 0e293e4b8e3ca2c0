"""JSON against its published schema.

OLLAMA_KIT_UPDATE_GOLDENS=1 takes over what contract_facts.schema.json says of the facts; the run then fails once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from ollama_kit import resources
from ollama_kit.jobs.contract.writers import report_as_dict, write_json
from tests.intensity import examples
from tests.jobs.contract.samples import FOLDER, NAMES
from tests.jobs.contract.test_facts import english as agreement
from tests.jobs.contract.writers.dressed import NASTY, SPANS, Spans, dressed
from tests.jobs.contract.writers.reports import bare, english, ruled, sale

UPDATING = bool(os.environ.get("OLLAMA_KIT_UPDATE_GOLDENS"))  # read here: a test sees no setting of the user's


def schema_path(name: str) -> Path:
    path = resources.find("templates", f"schemas/{name}.schema.json")
    assert path is not None
    return path


def schema(name: str = "contract_report") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(schema_path(name).read_text(encoding="utf-8"))
    return loaded


def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def test_the_schema_stands_alone() -> None:
    """Every reference leads to a part of the same file, so that it validates offline."""
    text = schema_path("contract_report").read_text(encoding="utf-8")
    assert text.count('"$ref"') == text.count('"$ref": "#/$defs/')


def test_the_schema_says_of_the_facts_what_theirs_says() -> None:
    """A report is the facts and a few more members."""
    facts, report = schema("contract_facts"), schema()
    expected = json.loads(json.dumps(report))
    expected["required"] = [*facts["required"], "answers", "summary"]
    own = {name: report["properties"][name] for name in ("answers", "summary", "templates")}
    expected["properties"] = {**facts["properties"], **own}
    expected["$defs"] = {**report["$defs"], **facts["$defs"]}
    if UPDATING and expected != report:
        text = json.dumps(expected, ensure_ascii=False, indent=2) + "\n"
        schema_path("contract_report").write_text(text, encoding="utf-8")
    assert report == expected, "what is said of the facts was written anew: look at it"


@pytest.mark.parametrize(
    "text",
    ["x", agreement(), agreement(law="Kansas") + "\udcff", "第一条 价款\n￥1 元（大写：贰元整），违约金日万分之三。"],
)
def test_facts_alone_are_as_the_schema_says(text: str) -> None:
    """Of much, of little and of broken characters; what no model was asked for is null."""
    written = json.loads(write_json(bare(text)))
    validator().validate(written)
    assert written["answers"] is written["summary"] is None


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_contracts_are_as_the_schema_says(name: str) -> None:
    """And the same bytes again."""
    path = FOLDER / f"synthetic_{name}.txt"
    validator().validate(json.loads(write_json(ruled(path))))
    assert write_json(ruled(path)) == write_json(ruled(path))


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(40))
@given(NASTY, SPANS)
def test_any_report_is_as_the_schema_says_and_comes_back(text: str, spans: Spans) -> None:
    """Whatever the texts are; only halves of surrogate pairs are replaced."""
    report = dressed(text, spans)
    written = json.loads(write_json(report))
    validator().validate(written)
    plain = json.dumps(report_as_dict(report), ensure_ascii=False)
    assert written == json.loads(plain.encode("utf-8", "replace").decode("utf-8").replace("?", "\ufffd")) or (
        "\ud800" not in text and written == report_as_dict(report)
    )


def test_an_answer_says_whether_it_is_proven() -> None:
    """Its state, its quotes, and what was invented are all there for a program."""
    questions = {one["name"]: one for one in report_as_dict(sale())["answers"]["questions"]}
    assert questions["term"]["state"] == "unproven"
    assert questions["term"]["answers"][0]["proven"] is False
    assert questions["term"]["answers"][0]["invented"] == ["本合同有效期三年"]
    assert questions["effective_date"]["state"] == "conflict"
    assert questions["confidentiality"]["state"] == "failed"
    assert questions["amounts"]["answers"][1]["doubts"] == ["8,000"]


def test_the_value_of_a_users_own_schema_is_there_as_it_is() -> None:
    """With what the schema says against it."""
    answers = report_as_dict(english())["answers"]
    assert answers["value"] == {"notice_days": 30, "contacts": []}
    assert answers["problems"] == ["$: 'insurance' is a required property"]


@pytest.mark.slow
def test_the_schema_names_every_field_and_no_other() -> None:
    """A field that is missing, misspelt or new is a failure of the schema."""
    plain = report_as_dict(sale())
    question: list[Any] = ["answers", "questions", 0]
    paths: list[list[Any]] = [
        [],
        ["answers"],
        question,
        [*question, "answers", 0],
        ["answers", "notices", 0],
        ["summary"],
    ]
    for path in [*paths, ["summary", "sentences", 0], [*question, "answers", 0, "evidence", 0]]:
        for change in ("lost", "new"):
            part = changed = json.loads(json.dumps(plain))
            for step in path:
                part = part[step]
            if change == "lost":
                del part[next(iter(part))]
            else:
                part["new"] = 1
            assert not validator().is_valid(changed), (path, change)
