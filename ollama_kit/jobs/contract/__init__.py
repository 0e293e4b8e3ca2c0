"""What stands in a contract, found by rules and answered by a model: every value with the words that prove it.

By rules alone, nothing is sent anywhere:
passages        the text as rules read it, and the way back into the document; Evidence
structure/      numbers, the outline, definitions, attachments and signatures, cross-references
facts/          one module per question: parties, dates, money, payments, provisions, law and disputes, title
risks/          missing, contradictory and one-sided clauses, orders to models
extraction      extract_facts: all of it, for a document that was read; read_contracts: many files

With a model, through the guarded client:
topics          what contracts speak of, and the words by which the place is found
questions/      what is asked, ours or a user's own schema, and the form of an answer
windows/        the clauses that a question needs, in windows of exact tokens
proof/          quotes found in the contract, and what of a value they do not hold
asking          one group of questions and one window, and once more for what was not proven
answer_merge    what several windows gave, conflicts kept; comparison holds it against the rules
planning, job   ContractJob: a batch with a ledger

contract_report ContractReport: a document, its facts, a model's answers or its summary
writers/        JSON (templates/schemas/contract_report.schema.json), Markdown, HTML, XLSX, CSV, files

Nothing is loaded before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.contract_facts import ContractFacts as ContractFacts, Risk as Risk
    from ollama_kit.jobs.contract.contract_report import ContractReport as ContractReport
    from ollama_kit.jobs.contract.extraction import extract_facts as extract_facts, read_contracts as read_contracts
    from ollama_kit.jobs.contract.job import ContractJob as ContractJob
    from ollama_kit.jobs.contract.passages import Evidence as Evidence
    from ollama_kit.jobs.contract.writers import (
        facts_as_dict as facts_as_dict,
        report_as_dict as report_as_dict,
        write_csv as write_csv,
        write_files as write_files,
        write_html as write_html,
        write_json as write_json,
        write_markdown as write_markdown,
        write_xlsx as write_xlsx,
    )
else:
    __getattr__, __dir__ = exports(__name__)
