"""Parties, dates and amounts of a contract, each with the words that prove it, by rules: no model, no server.

Usage: python facts_of_a_contract.py [CONTRACT]    (PDF, DOCX, HTML, Markdown or text)
"""

import sys
from pathlib import Path

from ollama_kit.documents import read_document
from ollama_kit.jobs.contract import Evidence, extract_facts

HERE = Path(__file__).parent


def show(what: str, value: str, evidence: Evidence) -> None:
    page = f"page {evidence.page}, " if evidence.page else ""
    quote = " ".join(evidence.quote.split())
    print(f"{what}: {value}  “{quote}” ({page}paragraph {evidence.paragraph})")


path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "contracts" / "purchase_contract.txt"
facts = extract_facts(read_document(path))
for party in facts.parties:
    show("/".join(party.roles), party.name, party.names[0].evidence)
for name in ("signing_date", "effective_date", "end_date"):
    for value in facts.facts[name].values:
        show(name, value.value, value.evidence)
for amount in facts.amounts:
    differs = " CONFLICT" if amount.conflict else ""
    show(amount.about or "amount", f"{amount.currency} {amount.value:,}{differs}", amount.evidence)
