"""How one contract is spoken of: its language, its clauses, and where in it something stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.structure.outline import Outline
from ollama_kit.jobs.contract.writers.glossary import TERMS, term_of
from ollama_kit.jobs.contract.writers.view_model import Level, Mark, Proof
from ollama_kit.jobs.contract.writers.wording import words_of

LEVELS: Mapping[str, Level] = {
    "conflict": "bad",
    "unproven": "bad",
    "failed": "bad",
    "suspect": "bad",
    "unread": "warn",
    "orders": "bad",
    "differ": "warn",
    "figures": "bad",
    "wrong_code": "warn",
    "agree": "good",
    "both": "good",
}
"""How grave a mark is; the others only say where an answer comes from."""


@dataclass(frozen=True)
class Speech:
    """The words for one contract. `outline` says in which clause a place lies."""

    language: str
    outline: Outline

    @property
    def words(self) -> Mapping[str, str]:
        return words_of(self.language)

    def mark(self, name: str) -> Mark:
        return Mark(name, self.words[f"mark_{name}"], LEVELS.get(name, "quiet"))

    def marks(self, *names: str) -> tuple[Mark, ...]:
        """A mark for each name that is not empty."""
        return tuple(self.mark(name) for name in names if name)

    def searched(self, words: Iterable[str]) -> tuple[str, ...]:
        """What the rules looked for, as a sentence."""
        listed = self.words["joint"].join(filter(None, map(one_line, words)))
        return (self.words["searched"].format(listed),) if listed else ()

    def proofs(self, evidence: Iterable[Evidence]) -> tuple[Proof, ...]:
        """Each quote once, with its place."""
        return tuple(Proof(one, self.place_of(one)) for one in dict.fromkeys(evidence))

    def place_of(self, evidence: Evidence) -> str:
        """Clause, page and paragraph; a page only where the format has pages."""
        place = self.place(evidence.page, evidence.paragraph)
        clause = self.clause_at(evidence.start)
        return self.words["clause_place"].format(clause=clause, place=place) if clause else place

    def place(self, page: int, paragraph: int) -> str:
        named = [self.words["page"].format(page)] if page else []
        return self.words["comma"].join([*named, self.words["paragraph"].format(paragraph)])

    def clause_at(self, offset: int) -> str:
        """The numbers of the clause at an offset, from the top down: 第五条 1."""
        clause, numbers = self.outline.at(offset), []
        while clause is not None:
            numbers.append(one_line(clause.number))
            clause = self.outline.clauses[clause.parent] if clause.parent >= 0 else None
        # 3.2 says by itself that it is of 3.
        kept = [number for at, number in enumerate(numbers) if at == 0 or not numbers[at - 1].startswith(number)]
        return " ".join(reversed(kept))

    def money(self, currency: str, value: Decimal) -> str:
        """An amount with its currency.

        >>> Speech("en", Outline()).money("CNY", Decimal("1200000.00"))
        'CNY 1,200,000'
        """
        whole = value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()
        return f"{currency} {whole:,f}".strip()

    def length(self, count: str, unit: str) -> str:
        """A length of time: 24 个月, 24 months, 1 year."""
        named = term_of("unit", unit, self.language)
        return f"{count} {named[:-1] if count == '1' and self.language != 'zh' else named}"

    def plain(self, value: str) -> str:
        """What rules say in names of ours as a reader says it; the contract's own words as they are.

        >>> speech = Speech("zh", Outline())
        >>> speech.plain("90 day"), speech.plain("0.05% per day"), speech.plain("automatic"), speech.plain("甲方")
        ('90 天', '每日 0.05%', '自动', '甲方')
        """
        text = one_line(value)
        count, _, unit = text.partition(" ")
        if unit in TERMS["unit"]:
            return self.length(count, unit)
        rate, _, per = text.partition(" per ")
        if per in TERMS["per"]:
            time = term_of("per", per, self.language)
            return f"{time} {rate}" if self.language == "zh" else f"{rate} {time}"
        return term_of("said", text, self.language) if text in TERMS["said"] else text

    def share(self, low: Fraction, high: Fraction, per: str | None = None) -> str:
        """A rate or a range of them, with the time it runs over."""
        span = f"{number(100 * low)} %" if low == high else f"{number(100 * low)} – {number(100 * high)} %"
        time = term_of("per", per, self.language) if per else ""
        return f"{time} {span}".strip() if self.language == "zh" else f"{span} {time}".strip()


def number(value: Fraction) -> str:
    """A number in figures, at most six of them.

    >>> number(Fraction(3, 2)), number(Fraction(1_000_000))
    ('1.5', '1000000')
    """
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
