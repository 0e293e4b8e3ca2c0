"""What the rules found, as rows: a row has the name of the question that a model is asked for the same."""

from __future__ import annotations

from collections.abc import Iterator

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.facts.fact_values import Fact, Length, Money, Party, Payment, Provision, Rate, Value
from ollama_kit.jobs.contract.topics import PROVISIONS, TOPICS
from ollama_kit.jobs.contract.writers.glossary import TERMS, term_of, topic_of
from ollama_kit.jobs.contract.writers.labels import Speech, number
from ollama_kit.jobs.contract.writers.view_model import Item, Row

RATES = ("penalty", "tax", "payment", "interest", "other")
PARTIES = "parties"


def fact_rows(facts: ContractFacts, speech: Speech) -> Iterator[Row]:
    """The questions with one answer."""
    for name, found in facts.facts.items():
        group = name if name in ("type", "term") else ""
        items = tuple(_value(value, speech, group) for value in found.values)
        yield Row(name, speech.words[name], items, speech.marks(_conflict(found)), speech.searched(found.searched))


def _conflict(found: Fact) -> str:
    return "conflict" if found.state == "conflict" else ""


def _value(value: Value, speech: Speech, group: str = "") -> Item:
    text = value.value
    if group == "type":
        text = term_of("type", text, speech.language)
    elif group == "term":
        text = speech.plain(text)
    basis = tuple(Item("", speech.words["basis"], proofs=speech.proofs([one])) for one in value.basis)
    return Item(
        text, marks=speech.marks("computed" if value.basis else ""), proofs=speech.proofs([value.evidence]), parts=basis
    )


def party_row(facts: ContractFacts, speech: Speech) -> Row:
    """The parties, each with its particulars."""
    items = tuple(_party(party, speech) for party in facts.parties)
    return Row(PARTIES, speech.words[PARTIES], items, searched=speech.searched(facts.parties_searched))


def _party(party: Party, speech: Speech) -> Item:
    parts = []
    for name in ("representative", "registration", "address"):
        value: Value | None = getattr(party, name)
        if value is not None:
            wrong = "wrong_code" if name == "registration" and party.registration_valid is False else ""
            item = Item(value.value, speech.words[name], speech.marks(wrong), speech.proofs([value.evidence]))
            parts.append(item)
    if party.seal:
        proof = [party.seal_evidence] if party.seal_evidence else []
        parts.append(Item(term_of("seal", party.seal, speech.language), speech.words["seal"], (), speech.proofs(proof)))
    # A contract that names a party in two ways has two values for it.
    return Item(
        " / ".join(one_line(name.value) for name in party.names),
        " / ".join(map(one_line, party.roles)),
        speech.marks("conflict" if len(party.names) > 1 else ""),
        speech.proofs(name.evidence for name in party.names),
        tuple(parts),
    )


def money_rows(facts: ContractFacts, speech: Speech) -> Iterator[Row]:
    """Amounts, stages of payment, and rates by what they are for."""
    yield Row("amounts", speech.words["amounts"], tuple(_amount(one, speech) for one in facts.amounts))
    yield Row("payments", speech.words["payments"], tuple(_payment(one, speech) for one in facts.payments))
    for kind in RATES:
        items = tuple(_rate(one, speech) for one in facts.rates if one.kind == kind)
        yield Row("penalty" if kind == "penalty" else f"rates_{kind}", speech.words[f"rates_{kind}"], items)


def _amount(amount: Money, speech: Speech) -> Item:
    parts: list[Item] = []
    if amount.conflict:
        for name, value in (("figures", amount.figures), ("capitals", amount.words)):
            if value is not None:
                parts.append(Item(speech.money(amount.currency, value), speech.words[name]))
    return Item(
        speech.money(amount.currency, amount.value),
        one_line(amount.about),
        speech.marks("figures" if amount.conflict else ""),
        speech.proofs([amount.evidence]),
        tuple(parts),
    )


def _payment(payment: Payment, speech: Speech) -> Item:
    share = speech.share(payment.share, payment.share) if payment.share is not None else ""
    amount = speech.money(payment.currency, payment.amount) if payment.amount is not None else ""
    said = (("trigger", payment.trigger), ("due", payment.due))
    parts = tuple(Item(one_line(text), speech.words[name]) for name, text in said if text.strip())
    text = " · ".join(filter(None, (share, amount)))
    return Item(text, one_line(payment.stage), proofs=speech.proofs([payment.evidence]), parts=parts)


def _rate(rate: Rate, speech: Speech) -> Item:
    text = speech.share(rate.low, rate.high, rate.per)
    marks = speech.marks("figures" if rate.conflict else "")
    return Item(text, marks=marks, proofs=speech.proofs([rate.evidence]))


def provision_rows(facts: ContractFacts, speech: Speech) -> Iterator[Row]:
    """What the clauses provide, by topic in the order in which contracts settle them; warranties are lengths."""
    for topic in TOPICS:
        if topic == "warranty":
            items = tuple(_length(one, speech) for one in facts.warranties)
        elif topic in PROVISIONS:
            items = tuple(_provision(one, speech) for one in facts.provisions if one.topic == topic)
        else:
            continue
        yield Row(topic, topic_of(topic, speech.language), items)


def _length(length: Length, speech: Speech) -> Item:
    marks = speech.marks("figures" if length.conflict else "")
    return Item(speech.length(number(length.count), length.unit), marks=marks, proofs=speech.proofs([length.evidence]))


def _provision(provision: Provision, speech: Speech) -> Item:
    parts = tuple(
        Item(
            speech.plain(one.value), term_of("detail", one.name, speech.language), proofs=speech.proofs([one.evidence])
        )
        for one in provision.details
    )
    return Item("", one_line(provision.title), proofs=speech.proofs([provision.evidence]), parts=parts)


def risk_rows(facts: ContractFacts, speech: Speech) -> Iterator[Row]:
    """The findings by kind, the gravest first."""
    kinds = dict.fromkeys([*TERMS["risk"], *(risk.kind for risk in facts.risks)])
    for kind in kinds:
        items = tuple(_risk(risk, speech) for risk in facts.risks if risk.kind == kind)
        if items:
            yield Row(kind, term_of("risk", kind, speech.language), items)


def _risk(risk: Risk, speech: Speech) -> Item:
    return Item(one_line(risk.said(speech.language)), proofs=speech.proofs(risk.evidence))
