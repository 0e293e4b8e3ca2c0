"""The example contracts: what a careful reader annotated in them is what the rules find, in every file of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.documents import ReadDocument, read_document
from ollama_kit.jobs.contract import ContractFacts, Evidence, extract_facts
from tests.examples.contract_files import FOLDER, write_docx, write_pdf

GOLD = Path(__file__).parents[1] / "data" / "contracts" / "examples"
FILES = ("purchase_contract.txt", "purchase_contract.docx", "service_agreement.txt", "service_agreement.pdf")
LARGEST_BYTES = 60_000

each_file = pytest.mark.parametrize("name", FILES)


@cache
def read(name: str) -> tuple[ContractFacts, dict[str, Any], ReadDocument]:
    """The facts of an example, its annotation, and the document."""
    document = read_document(FOLDER / name)
    gold = json.loads((GOLD / f"{Path(name).stem}.gold.json").read_text(encoding="utf-8"))
    return extract_facts(document), gold, document


def paragraphs(document: ReadDocument) -> list[str]:
    """The paragraphs without running headers and page numbers."""
    return [document.of(one) for one in document.paragraphs if one.role not in ("header", "footer")]


def proved(quote: str, evidence: Iterable[Evidence]) -> bool:
    """Whether one of them covers the words."""
    return any(quote in one.quote for one in evidence)


@each_file
def test_every_annotated_quote_stands_in_the_file(name: str) -> None:
    """To the letter, so that the annotation can be trusted."""
    _, gold, document = read(name)
    quotes = re.findall(r'"quote": "((?:[^"\\]|\\.)*)"', json.dumps(gold, ensure_ascii=False))
    assert len(quotes) > 15
    assert [quote for quote in quotes if json.loads(f'"{quote}"') not in document.text] == []


@pytest.mark.parametrize("name", ["purchase_contract.docx", "service_agreement.pdf"])
def test_the_file_says_what_the_text_beside_it_says(name: str) -> None:
    """Word's own numbers, rows of tables, and lines of a printed page become the paragraphs of the text."""
    _, _, document = read(name)
    text = (FOLDER / name).with_suffix(".txt").read_text(encoding="utf-8")
    assert paragraphs(document) == [line for line in text.split("\n") if line]
    assert not document.hidden
    assert not document.warnings
    assert (FOLDER / name).stat().st_size < LARGEST_BYTES


def test_the_numbers_of_the_docx_are_words_own() -> None:
    """None of them is written out, so that the reader has to count as Word does."""
    with zipfile.ZipFile(FOLDER / "purchase_contract.docx") as archive:
        written = archive.read("word/document.xml").decode("utf-8")
    assert "第十一条 " not in written
    assert "11.3" not in written
    assert "（二）到货款" not in written


def test_the_files_are_made_from_the_texts(tmp_path: Path) -> None:
    """By the script beside this test."""
    for name, write in (("purchase_contract.docx", write_docx), ("service_agreement.pdf", write_pdf)):
        write((FOLDER / name).with_suffix(".txt").read_text(encoding="utf-8"), tmp_path / name)
        assert read_document(tmp_path / name).text == read(name)[2].text


@each_file
def test_parties_with_their_particulars(name: str) -> None:
    """Two of them, no more, by role and name; codes with a right check character."""
    facts, gold, _ = read(name)
    assert [(party.roles, party.name) for party in facts.parties] == [
        (tuple(one["roles"]), one["name"]) for one in gold["parties"]
    ]
    for party, one in zip(facts.parties, gold["parties"], strict=True):
        assert len(party.names) == 1
        for particular in ("registration", "representative", "address"):
            value = getattr(party, particular)
            assert particular not in one or value.value == one[particular]
        assert party.registration_valid is (True if "registration" in one else None)


@each_file
def test_title_number_type_and_language(name: str) -> None:
    """What the head says."""
    facts, gold, _ = read(name)
    assert (facts.title.first, facts.number.first, facts.contract_type.first, facts.language) == (
        gold["title"],
        gold["number"],
        gold["type"],
        gold["language"],
    )


@each_file
@pytest.mark.parametrize(
    "field", ["signing_date", "effective_date", "end_date", "term", "governing_law", "dispute_forum"]
)
def test_dates_term_law_and_forum(name: str, field: str) -> None:
    """One of the right answers, none that is wrong, and the words that say so."""
    facts, gold, _ = read(name)
    found, wanted = facts.facts[field], gold.get(field)
    if wanted is None:
        assert found.state == "absent"
        return
    assert found.values
    assert {value.value for value in found.values} <= set(wanted["values"])
    assert proved(wanted["quote"], (one for value in found.values for one in (value.evidence, *value.basis)))


@each_file
def test_amounts_with_figures_and_capitals(name: str) -> None:
    """Each that is annotated, and none besides: with its name where one is annotated, and its conflict."""
    facts, gold, _ = read(name)
    for one in gold["amounts"]:
        (found, *_) = [amount for amount in facts.amounts if amount.evidence.quote == one["quote"]]
        words = Decimal(one["words"]) if "words" in one else None
        assert (found.currency, found.figures, found.words) == (one["currency"], Decimal(one["figures"]), words)
        assert found.conflict is one.get("conflict", False)
        assert one.get("about", "") in found.about
    assert {amount.figures for amount in facts.amounts} == {Decimal(one["figures"]) for one in gold["amounts"]}


@each_file
def test_a_part_of_the_price_is_not_called_the_price(name: str) -> None:
    """合同总价的30%，即人民币708,000.00元 is an instalment."""
    facts, gold, _ = read(name)
    parts = {Decimal(one["amount"]) for one in gold["payments"] if one["share"] and one["amount"]}
    wrong = [one for one in facts.amounts if one.value in parts and ("总价" in one.about or one.about == "price")]
    assert wrong == []


@each_file
def test_stages_of_payment(name: str) -> None:
    """Share, amount (the capitals, where they differ from the figures), what it waits for, and when it is due."""
    facts, gold, _ = read(name)
    found = [(one.share, one.amount, one.trigger, one.due) for one in facts.payments]
    for one in gold["payments"]:
        share = Fraction(one["share"]) if one["share"] else None
        amount = Decimal(one["amount"]) if one["amount"] else None
        assert any(
            (share, amount) == stage[:2] and one["trigger"] in stage[2] and one["due"] in stage[3] for stage in found
        )


@each_file
def test_rates_and_what_they_are_for(name: str) -> None:
    """Tax, instalments, penalties, interest."""
    facts, gold, _ = read(name)
    found = [(one.kind, one.low, one.per) for one in facts.rates]
    for one in gold["rates"]:
        assert (one["kind"], Fraction(one["value"]), one.get("per")) in found


@each_file
def test_warranties(name: str) -> None:
    """How long; what is provided after the warranty has run out is none."""
    facts, gold, _ = read(name)
    assert [(one.count, one.unit) for one in facts.warranties] == [
        (one["count"], one["unit"]) for one in gold["warranties"]
    ]


@each_file
def test_clauses_and_attachments(name: str) -> None:
    """Those of the first level, by their numbers."""
    facts, gold, _ = read(name)
    assert sum(clause.depth == 0 for clause in facts.structure.outline.clauses) == gold["clauses"]
    assert [one.number for one in facts.structure.attachments] == gold["attachments"]
    assert facts.structure.signatures is not None


@each_file
@pytest.mark.parametrize("at", range(3))
def test_each_planted_risk_is_found_with_its_words(name: str, at: int) -> None:
    """Three in each contract, put there on purpose."""
    facts, gold, _ = read(name)
    planted = gold["risks"][at]
    assert any(risk.rule == planted["rule"] and proved(planted["quote"], risk.evidence) for risk in facts.risks)


@each_file
def test_nothing_else_is_said_to_be_wrong(name: str) -> None:
    """But that it is not signed yet."""
    facts, gold, _ = read(name)
    assert {risk.rule for risk in facts.risks} <= {one["rule"] for one in gold["risks"]} | {"blank", "unsigned"}


@pytest.mark.process
@each_file
def test_the_example_program_prints_each_with_its_words(name: str) -> None:
    """By rules alone: nothing answers at the host."""
    _, gold, _ = read(name)
    ended = subprocess.run(
        [sys.executable, str(FOLDER.parent / "facts_of_a_contract.py"), str(FOLDER / name)],
        env={**os.environ, "OLLAMA_HOST": "http://127.0.0.1:9", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for one in gold["parties"]:
        assert f"{'/'.join(one['roles'])}: {one['name']}  “{one['name']}” (" in ended.stdout
    assert ("CONFLICT" in ended.stdout) is any(one.get("conflict") for one in gold["amounts"])
    assert f"effective_date: {gold['effective_date']['values'][0]}" in ended.stdout
