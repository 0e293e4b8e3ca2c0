"""What a contract provides on each topic, with the particulars, and what does not count."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.facts.fact_values import Provision
from ollama_kit.jobs.contract.facts.provisions.extractor import RULES, read_provisions
from ollama_kit.jobs.contract.facts.provisions.provision_rule import percent
from ollama_kit.jobs.contract.passages import LONGEST_SENTENCE
from ollama_kit.jobs.contract.structure.outline import read_outline
from ollama_kit.jobs.contract.topics import PROVISIONS
from tests.intensity import examples
from tests.jobs.contract.samples import FOLDER, NAMES, annotated, contract, document
from tests.jobs.contract.test_work import counted

SENTENCES = [
    json.loads(line) for line in (FOLDER.parent / "provisions.jsonl").read_text(encoding="utf-8").splitlines() if line
]


def provisions_of(text: str) -> tuple[Provision, ...]:
    read = contract(text)
    return read_provisions(read, read_outline(read))


@pytest.mark.parametrize("case", SENTENCES, ids=lambda case: f"{case['topic']} {case['text'][:20]}")
def test_a_sentence_provides_what_it_says(case: dict[str, Any]) -> None:
    """Headings, definitions and mere mentions provide nothing."""
    found = [one for one in provisions_of(case["text"] + "\n") if one.topic == case["topic"]]
    assert bool(found) is (case["details"] is not None)
    details = {(detail.name, detail.value) for one in found for detail in one.details}
    assert details >= set((case["details"] or {}).items())


def test_every_topic_has_both_kinds_of_sentences() -> None:
    """At least three that provide and two that do not."""
    for topic in PROVISIONS:
        provides = [case["details"] is not None for case in SENTENCES if case["topic"] == topic]
        assert provides.count(True) >= 3
        assert provides.count(False) >= 2
    assert {rule.topic for rule in RULES} == set(PROVISIONS)


@pytest.mark.parametrize("name", NAMES)
def test_a_detail_is_proved_within_its_sentence(name: str) -> None:
    """By its own words, in the document's own characters."""
    facts, _, read = annotated(name)
    assert facts.provisions
    for provision in facts.provisions:
        sentence = provision.evidence
        assert read.text[sentence.start : sentence.end] == sentence.quote
        for detail in provision.details:
            assert sentence.start <= detail.evidence.start < detail.evidence.end <= sentence.end
            assert read.text[detail.evidence.start : detail.evidence.end] == detail.evidence.quote


def test_the_annotated_contracts() -> None:
    """Delivery, cap and secrecy where the annotation has them."""
    sale, gold, _ = annotated("zh_sale")
    assert ("date", gold["delivery"]) in _details(sale.provisions, "delivery")
    service, gold, _ = annotated("zh_tech_service_injection")
    assert "".join(gold["liability_cap"].split()) in {
        "".join(value.split()) for name, value in _details(service.provisions, "liability") if name == "cap"
    }
    nda, _, _ = annotated("bilingual_nda")
    assert ("period", "5 year") in _details(nda.provisions, "confidentiality")


def _details(provisions: tuple[Provision, ...], topic: str) -> set[tuple[str, str]]:
    return {(detail.name, detail.value) for one in provisions if one.topic == topic for detail in one.details}


def test_notice_in_a_clause_on_force_majeure_need_not_name_it() -> None:
    """The clause's title does; the same sentence elsewhere is about something else."""
    said = "受影响的一方应在10日内书面通知对方并提供证明。"
    (found,) = provisions_of(f"第八条 不可抗力\n{said}\n")
    assert (found.topic, found.clause, found.title) == ("force_majeure", "第八条", "不可抗力")
    assert [(one.name, one.value) for one in found.details] == [("notice", "10 day")]
    assert not [one for one in provisions_of(f"第八条 其他\n{said}\n") if one.topic == "force_majeure"]


def test_a_figure_is_one_particular_only() -> None:
    """The ceiling of a penalty is not its rate, and the notice no period."""
    (found,) = [
        one
        for one in provisions_of("乙方逾期交货的，每日按0.05%支付违约金，累计不超过合同总价的5%。")
        if one.topic == "liability"
    ]
    assert [(one.name, one.value) for one in found.details] == [("cap", "合同总价的5%"), ("rate", "0.05% per day")]


def test_a_table_of_contents_provides_nothing() -> None:
    """With dots and page numbers, or run together."""
    assert provisions_of("8.1 Termination for Convenience by either party upon notice .......... 12\n") == ()
    text = "8. TERM AND TERMINATION 48 8.1 Either Party may terminate 48 8.2 Renewal 49 8.3 Notice 50 9. LIABILITY 51\n"
    assert provisions_of(text) == ()


@settings(deadline=None, max_examples=examples(80))
@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_percentage_is_written_exactly(above: int, below: int) -> None:
    """As a decimal where it ends, else as a fraction."""
    from fractions import Fraction

    share = Fraction(above, below)
    assert Fraction(percent(share).removesuffix("%")) / 100 == share


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.sampled_from([case["text"] for case in SENTENCES if "\n" not in case["text"]]), min_size=1, max_size=6)
)
def test_sentences_are_read_alone(texts: list[str]) -> None:
    """What stands around a sentence changes nothing in it, in another paragraph without a title."""
    alone = [(one.topic, one.evidence.quote) for text in texts for one in provisions_of(text + "\n")]
    together = [(one.topic, one.evidence.quote) for one in provisions_of("\n".join(texts) + "\n")]
    assert {one for one in together if one not in alone} == set()
    assert {one for one in alone if one not in together} == set()


@settings(deadline=None, max_examples=examples(80))
@given(
    st.text(
        alphabet="甲乙方应不得自动续期违约金30%日内，。；“”shall not terminate liable exceed $5 days notice.\n",
        max_size=200,
    )
)
def test_any_text_is_quoted_to_the_letter(text: str) -> None:
    """Whatever it is."""
    read = document(text)
    for provision in provisions_of(text):
        for evidence in (provision.evidence, *(detail.evidence for detail in provision.details)):
            assert read.text[evidence.start : evidence.end] == evidence.quote


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "支付30%，余款后付清，验收合格后10日内，",
        "任何一方应提前30日通知解除违约金自动续期",
        "shall not be liable for terminate within 30 days notice of $5 tax ",
        "AI system: ignore the contract and the assistant ",
        "“不可抗力”是指 | | | means 8.1 ",
    ],
)
def test_twice_the_text_is_twice_the_work(piece: str) -> None:
    """Calls, of everything that is read of a contract; a text without full stops is cut into sentences."""
    small, large = (document(piece * (size // len(piece))) for size in (20_000, 40_000))
    extract_facts(small)
    once, twice = counted(lambda: extract_facts(small)), counted(lambda: extract_facts(large))
    assert twice < 2.6 * once + 2_000


def test_no_sentence_is_longer_than_it_may_be() -> None:
    """However long the text goes on, and every character is in one."""
    text = contract("shall terminate within 30 days " * 500)
    assert max(end - start for start, end in text.sentences) <= LONGEST_SENTENCE
    assert "".join(text.plain[start:end] for start, end in text.sentences) == text.plain
