"""Reads a DOCX: the body with its numbers, then the notes: comments, footnotes, running headers, properties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ollama_kit.documents.document import DocumentLimits, HiddenText, Note, NoteKind
from ollama_kit.documents.docx.body import Blocks
from ollama_kit.documents.docx.list_numbers import Numbering, numbering_of
from ollama_kit.documents.docx.opc import Package, R, W, attribute, opened
from ollama_kit.documents.docx.styles import Styles, styles_of
from ollama_kit.documents.draft import Anchor, Aside, Draft
from ollama_kit.errors import DocumentError

_PICTURES_HINT = (
    "Save it as PDF and have the text recognized, for instance with `ocrmypdf -l chi_sim+eng in.pdf out.pdf`.",
    "请另存为 PDF 并做文字识别（OCR），例如 `ocrmypdf -l chi_sim+eng in.pdf out.pdf`。",
)
_KIND_HINT = (
    "Save a spreadsheet, a presentation or an OpenDocument text as .docx or PDF.",
    "表格、演示文稿或 OpenDocument 文档请另存为 .docx 或 PDF。",
)


def read_docx(path: Path, limits: DocumentLimits) -> tuple[Draft, int]:
    """The draft of a DOCX, and its number of pages: as Word last laid them out, 0 where the file does not say.

    DocumentError for a broken or unsafe package, one that is not a Word document, and for pictures only."""
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
        raise DocumentError("XML is nested too deeply", path=path) from problem


def _read(package: Package, limits: DocumentLimits) -> tuple[Draft, int]:
    main = next((part for kind, part in package.relations("").values() if kind == "officeDocument"), "")
    root = package.xml(main)
    body = None if root is None else root.find(W + "body")
    if body is None:
        raise package.problem("a ZIP archive, but not a Word document", hint=_KIND_HINT)
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
    draft.asides.extend(_notes(package, relations, blocks.anchors, styles))
    draft.asides.extend(_running_headers(package, relations, body, styles))
    draft.asides.extend(map(Aside, _properties(package)))
    draft.warnings.extend(_warnings(blocks, body))
    return draft, blocks.page


def _check(package: Package, blocks: Blocks, draft: Draft, limits: DocumentLimits) -> None:
    if not draft.pieces and blocks.pictures:
        raise package.problem("the document has pictures only and no text", hint=_PICTURES_HINT)
    if blocks.page > limits.pages:
        raise package.problem(f"{blocks.page:,} pages; the limit is {limits.pages:,}")


def _warnings(blocks: Blocks, body: Any) -> list[str]:
    found = []
    if blocks.skipped:
        found.append(f"{blocks.skipped} embedded document(s) were not read")
    if any(next(body.iter(W + name), None) is not None for name in ("ins", "del", "moveFrom")):
        found.append("tracked changes: read as if all of them were accepted")
    return found


_NOTE_PARTS: dict[str, NoteKind] = {"comments": "comment", "footnotes": "footnote", "endnotes": "endnote"}
_HEADER_REFERENCES: dict[str, NoteKind] = {"headerReference": "header", "footerReference": "footer"}
LONGEST_PROPERTY = 20_000


def _notes(
    package: Package, relations: dict[str, tuple[str, str]], anchors: list[tuple[str, str, Anchor]], styles: Styles
) -> Iterator[Aside]:
    """Comments, footnotes and endnotes, each at its place, in the order of the text; hidden words in them too.

    A footnote that the text does not refer to (any more) is left out; a comment stays, at the beginning."""
    places: dict[tuple[str, str], Anchor] = {}
    for kind, key, anchor in anchors:
        places.setdefault((kind, key), anchor)
    found: list[tuple[Anchor, Aside]] = []
    for relation, part in relations.values():
        kind_of_note = _NOTE_PARTS.get(relation)
        root = package.xml(part) if kind_of_note else None
        if root is None or kind_of_note is None:
            continue
        for element in root.iter(W + kind_of_note):
            place = places.get((kind_of_note, attribute(element, "id") or ""))
            if place is None and kind_of_note != "comment":
                continue
            author = attribute(element, "author") or ""
            found.extend(
                (place or Anchor(0, 0), Aside(value, place or Anchor(0, 0)))
                for value in _texts(element, kind_of_note, author, styles)
            )
    yield from (aside for _, aside in sorted(found, key=lambda one: one[0]))


def _running_headers(
    package: Package, relations: dict[str, tuple[str, str]], body: Any, styles: Styles
) -> Iterator[Aside]:
    """Running headers and footers of all sections, each text once."""
    seen: set[tuple[str, str]] = set()
    for tag, kind in _HEADER_REFERENCES.items():
        for reference in body.iter(W + tag):
            _, part = relations.get(reference.get(R + "id", ""), ("", ""))
            if ("part", part) in seen or (root := package.xml(part)) is None:
                continue
            seen.add(("part", part))
            for value in _texts(root, kind, "", styles):
                if (kind, value.text) not in seen:
                    seen.add((kind, value.text))
                    yield Aside(value)


def _properties(package: Package) -> Iterator[HiddenText]:
    """Title, keywords and the like, each as hidden text: the guard's rules say later which of them give orders."""
    for relation, part in package.relations("").values():
        if relation in ("core-properties", "extended-properties", "custom-properties"):
            root = package.xml(part)
            for element in () if root is None else root.iter():
                text = (element.text or "").strip()
                if text and isinstance(element.tag, str):
                    name = element.get("name") or element.tag.rpartition("}")[2]
                    yield HiddenText("metadata", text[:LONGEST_PROPERTY], detail=name)


def _texts(element: Any, kind: NoteKind, author: str, styles: Styles) -> Iterator[Note | HiddenText]:
    draft = Draft()
    Blocks(styles, Numbering()).read(element, draft)
    text = "\n".join(piece.text.strip() for piece in draft.pieces)
    if text:
        yield Note(kind, text, author=author)
    yield from (aside.value for aside in draft.asides)
