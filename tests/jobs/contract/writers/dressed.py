"""Reports whose every text is the same hostile one, and whose quotes lie anywhere in the document, over each other."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from ollama_kit.documents.document import HiddenText, Note, ReadDocument
from ollama_kit.documents.draft import Aside, Draft, DraftParagraph, assemble
from ollama_kit.jobs.contract.answers import Agreement, Answer, Answered, Answers, Notice, PlainSummary, Sentence
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk, Structure
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.facts.fact_values import (
    Detail,
    Fact,
    Length,
    Money,
    Party,
    Payment,
    Provision,
    Rate,
    Value,
)
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.structure.back_matter import Attachment
from ollama_kit.jobs.contract.structure.definitions import Definition
from ollama_kit.jobs.contract.structure.outline import Clause, Outline
from ollama_kit.jobs.contract.structure.references import Reference
from tests.jobs.contract.samples import document

NASTY = st.text(alphabet="ab中1 \t\n\r\\`*_~[](){}<>#+-=.!|&;:$\"'/@%x0\u202e\u2028\x00\x0b\ufffe\ud800", max_size=40)
AGREEMENTS: tuple[Agreement, ...] = ("agree", "differ", "rules_only", "model_only", "neither", "not_compared")
QUESTIONS = ("parties", "title", "type", "effective_date", "amounts", "payments", "penalty", "renewal", "risks", "x")

Spans = list[tuple[int, int]]
SPANS: st.SearchStrategy[Spans] = st.lists(
    st.tuples(st.integers(0, 80), st.integers(0, 80)).map(lambda span: (min(span), max(span))), min_size=1, max_size=12
)


def paper(text: str) -> ReadDocument:
    """A PDF of two pages with headings, a table, a page break within a paragraph, notes and hidden text."""
    draft = Draft()
    roles = ("heading", "text", "table", "table", "text", "footer", "turned")
    for at, role in enumerate(roles):
        shown = text if text.strip() else "x"
        draft.add(DraftParagraph(f"{shown}\tA{at}\n{shown}", 1 + at // 4, role))  # type: ignore[arg-type]
    draft.pieces.append(DraftParagraph("before and after", 2, breaks=(7,)))
    draft.asides.append(Aside(HiddenText("white", text or "hidden", 1, 3)))
    draft.asides.append(Aside(Note("footnote", text or "note", 1, 5, text)))
    draft.warnings.append(text or "warning")
    return assemble(draft, text or "x", "pdf", [1, 2, 3])


def dressed(text: str, spans: Spans = [(0, 3)]) -> ContractReport:  # noqa: B006
    """A report with all there can be in it. `spans` are those of its quotes, in turn."""
    read = paper(text)
    where = cycle(spans)

    def one() -> Evidence:
        start, end = next(where)
        start, end = min(start, len(read.text)), min(end, len(read.text))
        place = read.place(start)
        return Evidence(read.text[start:end], start, end, place.page, place.paragraph)

    return ContractReport(read, _facts(text, read, one), _answers(text, one), _summary(text, one))


def _facts(text: str, read: ReadDocument, one: Any) -> ContractFacts:
    value = Value(text, one(), text, (one(),))
    fact = Fact((value, Value(text, one(), text)), (text, text), conflict=True)
    empty = extract_facts(document("x"))
    clauses = (Clause(text, text, "article", (text,), 0, 50, 0, -1), Clause(text, text, "decimal", (text,), 4, 9, 1, 0))
    structure = Structure(
        Outline(clauses),
        (Definition(text, one()),),
        (Attachment(text, text, 60, 70),),
        (Reference(one(), 0),),
        one(),
    )
    return ContractFacts(
        name=read.name,
        kind=read.kind,
        language="zh" if "中" in text else "en",
        **dict.fromkeys(
            ("title", "contract_type", "number", "signing_date", "effective_date", "end_date", "governing_law"), fact
        ),  # type: ignore[arg-type]
        term=Fact((), (text,)),
        dispute_forum=empty.dispute_forum,
        parties=(Party((text, text), (value, value), value, value, False, value, "named", one()), Party((), ())),
        parties_searched=(text,),
        amounts=(Money(text, "CNY", Decimal("1.50"), Decimal(2), True, text, one()),),
        rates=(Rate("penalty", Fraction(1, 3), Fraction(1, 2), "day", True, text, one()),),
        warranties=(Length(text, Fraction(3, 2), "month", True, text, one()),),
        structure=structure,
        warnings=read.warnings,
        risks=(
            Risk("two_amounts", "contradictory", text, text, (one(), one())),
            Risk("missing_law", "missing", text, text),
        ),
        payments=(Payment(text, Fraction(1, 3), "CNY", Decimal(3), text, text, text, one()),),
        provisions=(
            Provision("renewal", text, text, (Detail("notice", text, one()), Detail("cap", text, one())), one()),
        ),
    )


def _answers(text: str, one: Any) -> Answers:
    values: tuple[Any, ...] = (
        text,
        {"name": text, "role": text, text: text},
        {"says": text, "kind": text},
        [text],
        None,
    )
    questions = tuple(
        Answered(
            name if name != "x" else text,
            text,
            at % 2 == 0,
            (
                Answer(values[at % len(values)], (one(), one())),
                Answer(values[(at + 1) % len(values)], (), (text,), (text,)),
                Answer({"a": {"b": [text, 1.5, True, None]}}, (one(),), suspect=True),
            ),
            (text, text),
            (text,),
            AGREEMENTS[at % len(AGREEMENTS)],
            (text,),
            text,
        )
        for at, name in enumerate(QUESTIONS)
    )
    return Answers(text, text, questions, (Notice(text, text, text, one()),), None, (text,))


def _summary(text: str, one: Any) -> PlainSummary:
    sentences = (Sentence(text, text, (one(), one())), Sentence("x", text, (), (text,), (text,)))
    return PlainSummary(text, text, sentences, (text,), 2, (text,), (Notice(text, text, text, one()),))
