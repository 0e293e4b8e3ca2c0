"""Reports as files: a file a contract and format, and one table for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ollama_kit.documents.pages.output_files import chosen_formats, numbered, safe_stem, write_all
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers.page import write_html, write_markdown
from ollama_kit.jobs.contract.writers.report_json import write_json
from ollama_kit.jobs.contract.writers.table import write_csv
from ollama_kit.jobs.contract.writers.workbook import write_xlsx

WRITERS: dict[str, Callable[[ContractReport], str]] = {"json": write_json, "md": write_markdown, "html": write_html}
"""What is written of each contract; the format is also the end of the file's name."""
TABLES: dict[str, Callable[[Sequence[ContractReport]], str | bytes]] = {"xlsx": write_xlsx, "csv": write_csv}
"""What is written of all of them together, one row a contract."""
FORMATS = (*WRITERS, *TABLES)


def write_files(
    reports: Sequence[ContractReport], folder: Path, formats: Iterable[str] = ("json", "md")
) -> tuple[Path, ...]:
    """Writes `NAME.facts.json`, `.md` and `.html` for each contract (`NAME.summary.…` for a page in plain words),
    `contracts.xlsx` and `contracts.csv` for all of them into `folder`, which is made if need be; returns their paths in
    the order of the contracts.

    Everything is rendered before the first file is written, and each is written beside and then renamed. One of that
    name is replaced; documents of one name from different folders are numbered in their order. UsageError for a format
    that there is none of."""
    wanted = chosen_formats(formats, FORMATS, "a contract")
    stems = numbered(safe_stem(report.facts.name, "contract") for report in reports)
    contents: dict[str, str | bytes] = {}
    for stem, report in zip(stems, reports, strict=True):
        what = "summary" if report.is_page else "facts"
        contents |= {f"{stem}.{what}.{name}": WRITERS[name](report) for name in wanted if name in WRITERS}
    contents |= {f"contracts.{name}": TABLES[name](reports) for name in wanted if name in TABLES}
    return write_all(folder, contents)
