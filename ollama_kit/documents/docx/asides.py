"""What a DOCX holds beside its body: comments, footnotes, running headers, properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ollama_kit.documents.document import Anchor, Aside, Draft, HiddenText, Note, NoteKind
from ollama_kit.documents.docx.blocks import Blocks
from ollama_kit.documents.docx.numbering import Numbering
from ollama_kit.documents.docx.package import Package, R, W, attribute
from ollama_kit.documents.docx.styles import Styles

_PARTS: dict[str, NoteKind] = {"comments": "comment", "footnotes": "footnote", "endnotes": "endnote"}
_EDGES: dict[str, NoteKind] = {"headerReference": "header", "footerReference": "footer"}
LONGEST_PROPERTY = 20_000


def notes(
    package: Package, relations: dict[str, tuple[str, str]], anchors: list[tuple[str, str, Anchor]], styles: Styles
) -> Iterator[Aside]:
    """Comments, footnotes and endnotes, each at its place, in the order of the text; hidden words in them too.

    A footnote that the text does not refer to (any more) is left out; a comment stays, at the beginning."""
    places: dict[tuple[str, str], Anchor] = {}
    for kind, key, anchor in anchors:
        places.setdefault((kind, key), anchor)
    found: list[tuple[Anchor, Aside]] = []
    for relation, part in relations.values():
        kind_of_note = _PARTS.get(relation)
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


def edges(package: Package, relations: dict[str, tuple[str, str]], body: Any, styles: Styles) -> Iterator[Aside]:
    """Running headers and footers of all sections, each text once."""
    seen: set[tuple[str, str]] = set()
    for tag, kind in _EDGES.items():
        for reference in body.iter(W + tag):
            _, part = relations.get(reference.get(R + "id", ""), ("", ""))
            if ("part", part) in seen or (root := package.xml(part)) is None:
                continue
            seen.add(("part", part))
            for value in _texts(root, kind, "", styles):
                if (kind, value.text) not in seen:
                    seen.add((kind, value.text))
                    yield Aside(value)


def properties(package: Package) -> Iterator[HiddenText]:
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
