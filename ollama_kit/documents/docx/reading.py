"""Reads a DOCX: the body with its numbers, and what stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ollama_kit.documents.document import Aside, Draft, Limits
from ollama_kit.documents.docx import asides
from ollama_kit.documents.docx.blocks import Blocks
from ollama_kit.documents.docx.numbering import numbering_of
from ollama_kit.documents.docx.package import Package, W, opened
from ollama_kit.documents.docx.styles import styles_of
from ollama_kit.errors import DocumentError

_PICTURES_HINT = (
    "Save it as PDF and have the text recognized, for instance with `ocrmypdf -l chi_sim+eng in.pdf out.pdf`.",
    "请另存为 PDF 并做文字识别(OCR)，例如 `ocrmypdf -l chi_sim+eng in.pdf out.pdf`。",
)
_KIND_HINT = (
    "Save a spreadsheet, a presentation or an OpenDocument text as .docx or PDF.",
    "表格、演示文稿或 OpenDocument 文档请另存为 .docx 或 PDF。",
)


def read_docx(path: Path, limits: Limits) -> tuple[Draft, int]:
    """The draft of a DOCX, and its number of pages: as Word last laid them out, 0 where the file does not say.

    DocumentError for a broken or unsafe package, one that is no Word document, and for pictures only."""
    try:
        import lxml  # noqa: F401
    except ImportError as problem:
        raise DocumentError(
            "reading DOCX needs the package lxml",
            path=path,
            hint=(
                "Install it with `pip install 'ollama-kit[contract]'`.",
                "请运行 `pip install 'ollama-kit[contract]'` 安装。",
            ),
        ) from problem
    try:
        with opened(path, limits) as package:
            return _read(package, limits)
    except RecursionError as problem:
        raise DocumentError("elements inside one another beyond all reason", path=path) from problem


def _read(package: Package, limits: Limits) -> tuple[Draft, int]:
    main = next((part for kind, part in package.relations("").values() if kind == "officeDocument"), "")
    root = package.xml(main)
    body = None if root is None else root.find(W + "body")
    if body is None:
        raise package.problem("a ZIP archive, but no Word document", hint=_KIND_HINT)
    relations = package.relations(main)
    parts = dict(relations.values())
    styles = styles_of(package.xml(parts.get("styles", "")))
    blocks = Blocks(styles, numbering_of(package.xml(parts.get("numbering", "")), styles))
    blocks.paged = next(body.iter(W + "lastRenderedPageBreak"), None) is not None
    blocks.page = int(blocks.paged)
    draft = Draft()
    blocks.read(body, draft)
    blocks.finish(draft)
    _check(package, blocks, draft, limits)
    draft.asides.extend(asides.notes(package, relations, blocks.anchors, styles))
    draft.asides.extend(asides.edges(package, relations, body, styles))
    draft.asides.extend(map(Aside, asides.properties(package)))
    draft.warnings.extend(_warnings(blocks, body))
    return draft, blocks.page


def _check(package: Package, blocks: Blocks, draft: Draft, limits: Limits) -> None:
    if not draft.pieces and blocks.pictures:
        raise package.problem("pictures only: there is no text in it", hint=_PICTURES_HINT)
    if blocks.page > limits.pages:
        raise package.problem(f"{blocks.page:,} pages; the limit is {limits.pages:,}")


def _warnings(blocks: Blocks, body: Any) -> list[str]:
    found = []
    if blocks.skipped:
        found.append(f"{blocks.skipped} embedded document(s) were not read")
    if any(next(body.iter(W + name), None) is not None for name in ("ins", "del", "moveFrom")):
        found.append("tracked changes: read as if all of them were accepted")
    return found
