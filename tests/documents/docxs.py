"""DOCX files for the tests: made with python-docx, with what it cannot write put in as XML."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

NS = (
    nsdecls("w")
    + ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    + ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    + ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def xml(text: str) -> Any:
    """The element of a piece of XML whose root may use the prefixes w, mc, m and r."""
    head, mark, rest = text.partition(" " if " " in text.split(">")[0] else ">")
    if head.endswith("/"):
        head, mark = head[:-1], "/" + mark
    return parse_xml(f"{head} {NS}{mark}{rest}")


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def body(path: Path, *blocks: str, styles: str = "", numbering: str = "") -> Path:
    """Writes a document whose body holds the blocks; further styles and a numbering part may be given."""
    document = docx.Document()
    section = document.element.body.sectPr
    for block in blocks:
        section.addprevious(xml(block))
    if styles:
        document.styles.element.append(xml(styles))
    if numbering:
        root = document.part.numbering_part.element
        for child in list(root):
            root.remove(child)
        for child in xml(f"<w:numbering>{numbering}</w:numbering>"):
            root.append(child)
    document.save(str(path))
    return path


def with_parts(path: Path, parts: Mapping[str, bytes], relations: str = "") -> Path:
    """Puts parts into a package, or in place of those of that name; relations are added to the document's."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    held.update(parts)
    name = "word/_rels/document.xml.rels"
    held[name] = held[name].replace(b"</Relationships>", relations.encode() + b"</Relationships>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, data in held.items():
            archive.writestr(part, data)
    return path


def relation(key: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
