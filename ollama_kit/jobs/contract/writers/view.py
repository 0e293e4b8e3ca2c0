"""The one view of a report that every writer for people shows: Markdown, HTML, and the sheet of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.contract.answers import Answered
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers import model_rows, rule_rows
from ollama_kit.jobs.contract.writers.glossary import TERMS, term_of
from ollama_kit.jobs.contract.writers.labels import Speech
from ollama_kit.jobs.contract.writers.view_model import Clause, Hidden, Item, Numbering, Proof, Row, Section, View

DEEPEST_CLAUSE = 1
"""Levels of the outline that are shown below the first, where a clause there has a title."""


def view_of(report: ContractReport) -> View:
    """What is shown of a contract, in its language."""
    return _Viewer(report).view()


class _Viewer:
    def __init__(self, report: ContractReport) -> None:
        self.report = report
        self.facts = report.facts
        self.speech = Speech(report.facts.language, report.facts.structure.outline)
        self.words = self.speech.words
        answers = report.answers
        self.own = answers is not None and answers.value is not None
        asked = answers.questions if answers else ()
        self.asked = {} if self.own else {question.name: question for question in asked}
        self.others = list(asked) if self.own else []
        self.risks = self.asked.pop("risks", None)

    def view(self) -> View:
        sections = list(self._sections())
        notices = tuple(self._notices())
        numbering = Numbering(_proofs(sections, notices))
        numbered = tuple(replace(one, rows=tuple(map(numbering.row, one.rows))) for one in sections)
        shown_notices = tuple(numbering.item(item, self.words["notices"]) for item in notices)
        uses = {number: tuple(dict.fromkeys(labels)) for number, labels in numbering.uses.items()}
        return View(
            title=one_line(self.facts.title.first) or one_line(self.facts.name) or self.words["contract"],
            document=one_line(self.facts.name),
            language=self.speech.language,
            words=self.words,
            counts=tuple(self._counts(numbered)),
            sections=numbered,
            clauses=tuple(self._clauses()),
            is_page=self.report.is_page,
            hidden=tuple(self._hidden()),
            notices=shown_notices,
            warnings=model_rows.lines(self.facts.warnings),
            made=tuple(self._made()),
            incomplete="" if self.report.is_complete and not self.report.unread else self.words["incomplete"],
            uses=uses,
        )

    def _sections(self) -> Iterator[Section]:
        summary = self.report.summary
        if summary is not None:
            left = [self.words["left_out"].format(count=summary.left_out)] if summary.left_out else []
            failures = [self.words["failure"].format(one_line(failure)) for failure in summary.failures]
            unread = model_rows.unread(summary.unread, self.speech)
            rows = tuple(model_rows.summary_rows(summary, self.speech))
            yield Section("summary", self.words["summary"], rows, (*failures, *unread, *left))
        if not self.report.is_page:
            yield from self._facts()
        yield Section("risks", self.words["risks"], tuple(self._risks()), self._risk_notes())

    def _facts(self) -> Iterator[Section]:
        facts, speech = self.facts, self.speech
        yield self._section("facts", rule_rows.fact_rows(facts, speech))
        parties = [rule_rows.party_row(facts, speech), *self._unruled("signatures")]
        yield self._section("parties", parties)
        money = [row for row in rule_rows.money_rows(facts, speech) if self._is_told(row)]
        yield self._section("money", money)
        yield self._section("provisions", rule_rows.provision_rows(facts, speech))
        if own := self._others():
            yield own

    def _section(self, name: str, rows: Iterable[Row]) -> Section:
        return Section(name, self.words[name], tuple(map(self._answered, rows)))

    def _answered(self, row: Row) -> Row:
        question = self.asked.pop(row.name, None)
        return model_rows.beside(row, question, self.speech) if question else row

    def _is_told(self, row: Row) -> bool:
        """Rates of a kind are shown where there are some; amounts and payments in any case."""
        return bool(row.items) or row.name in self.asked or row.name in ("amounts", "payments")

    def _unruled(self, name: str) -> Iterator[Row]:
        question = self.asked.pop(name, None)
        if question:
            yield model_rows.answered(question, self.speech)

    def _risks(self) -> Iterator[Row]:
        """The rules' findings and the model's, by kind."""
        rows = {row.name: row for row in rule_rows.risk_rows(self.facts, self.speech)}
        if self.risks is None:
            yield from rows.values()
            return
        for name, row in rows.items():
            marked = (replace(item, marks=(*item.marks, self.speech.mark("rules"))) for item in row.items)
            rows[name] = replace(row, items=tuple(marked))
        for answer in self.risks.answers:
            kind = str(answer.value.get("kind", "")) if isinstance(answer.value, dict) else ""
            value = {name: inner for name, inner in answer.value.items() if name != "kind"} if kind else answer.value
            item = model_rows.reply(replace(answer, value=value), self.speech, "risks")
            item = replace(item, marks=(*item.marks, self.speech.mark("model")))
            row = rows.get(kind) or Row(kind or "other", term_of("risk", kind, self.speech.language))
            rows[kind] = replace(row, items=(*row.items, item))
        order = [*TERMS["risk"], *rows]
        yield from (rows[kind] for kind in dict.fromkeys(order) if kind in rows)

    def _risk_notes(self) -> tuple[str, ...]:
        return model_rows.notes(self.risks, self.speech) if self.risks is not None else ()

    def _others(self) -> Section | None:
        """A user's own questions, and any of ours that has no place elsewhere."""
        questions: list[Answered] = [*self.others, *self.asked.values()]
        answers = self.report.answers
        if not questions or answers is None:
            return None
        problems = tuple(self.words["problems"].format(one_line(problem)) for problem in answers.problems)
        rows = tuple(model_rows.answered(question, self.speech, own=self.own) for question in questions)
        return Section("own", self.words["own"], rows, problems)

    def _notices(self) -> Iterator[Item]:
        found = [*(self.report.answers.notices if self.report.answers else ())]
        found += self.report.summary.notices if self.report.summary else ()
        yield from (model_rows.notice_item(notice, self.speech) for notice in dict.fromkeys(found))

    def _clauses(self) -> Iterator[Clause]:
        structure = self.facts.structure
        for clause in structure.outline.clauses:
            if clause.depth == 0 or (clause.depth <= DEEPEST_CLAUSE and clause.title.strip()):
                yield Clause(one_line(f"{clause.number} {clause.title}"), clause.depth, clause.start)
        for one in structure.attachments:
            yield Clause(one_line(f"{one.number} {one.title}"), 0, one.start)

    def _hidden(self) -> Iterator[Hidden]:
        for one in self.report.document.hidden:
            place = self.report.document.place(min(max(one.offset, 0), len(self.report.document.text)))
            shown = self.speech.place(one.page or place.page, place.paragraph)
            how = term_of("hidden", one.rule, self.speech.language)
            marks = self.speech.marks("orders" if one.orders else "")
            yield Hidden(one_line(one.text), how, shown, one.offset, marks)

    def _made(self) -> Iterator[str]:
        answers, summary, words = self.report.answers, self.report.summary, self.words
        if answers is not None:
            yield words["with_model"].format(model=one_line(answers.model), host=one_line(answers.host))
        if summary is not None:
            yield words["with_summary"].format(model=one_line(summary.model), host=one_line(summary.host))
        yield words["rules_only" if answers is None and summary is None else "marks_note"]

    def _counts(self, sections: tuple[Section, ...]) -> Iterator[tuple[str, str, int]]:
        rows = [(section.name, row) for section in sections for row in section.rows]
        items = [one for _, row in rows for item in row.items for one in item.each()]
        found = {
            "risks": sum(len(row.items) for name, row in rows if name == "risks"),
            "conflicts": sum(one.marked("conflict") or one.marked("figures") for one in items)
            + sum(row.marked("conflict") for _, row in rows),
            "unproven": sum(one.marked("unproven") for one in items),
            "absent": sum(
                row.absent and row.nothing == "absent" for name, row in rows if name not in ("risks", "summary")
            ),
        }
        yield from ((name, self.words[f"count_{name}"], count) for name, count in found.items() if count)


def _proofs(sections: Iterable[Section], notices: Iterable[Item]) -> Iterator[Proof]:
    shown = [item for section in sections for row in section.rows for item in row.items]
    for item in (*shown, *notices):
        for one in item.each():
            yield from one.proofs
