"""DOCX: packages that are broken, or made to hurt, are refused before they do."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ollama_kit.documents import DocumentLimits, read_document
from tests.documents.docxs import NS, body, run, with_parts
from tests.documents.test_pdf_refusals import refused

PARAGRAPH = f"<w:p>{run('The contract.')}</w:p>"


def written(path: Path) -> Path:
    return body(path / "a.docx", PARAGRAPH)


@pytest.mark.parametrize(
    "doctype",
    [
        b'<!DOCTYPE w [<!ENTITY x "boom">]>',
        b'<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        b'<!DOCTYPE w SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_entities_are_refused(tmp_path: Path, doctype: bytes, encoding: str) -> None:
    """A document part with a DTD is refused, whatever the DTD holds and however the part is encoded."""
    text = f'<?xml version="1.0" encoding="{encoding}"?>{doctype.decode()}<w:document {NS}><w:body>{PARAGRAPH}'
    data = (text + "</w:body></w:document>").encode(encoding)
    error = refused(with_parts(written(tmp_path), {"word/document.xml": data}))
    assert "XML entities" in error.message


def test_a_part_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    """A bomb: a megabyte and more of nothing, packed to a thousandth."""
    error = refused(with_parts(written(tmp_path), {"word/media/a.bin": bytes(3_000_000)}))
    assert ":1; the limit is 200:1" in error.message


def test_sums_and_counts_are_limited(tmp_path: Path) -> None:
    """All parts together, one part, and the number of parts."""
    path = written(tmp_path)
    assert "unpacks to" in refused(path, limits=DocumentLimits(unpacked_bytes=1_000)).message
    assert "unpacks to" in refused(path, limits=DocumentLimits(part_bytes=100)).message
    assert "parts; the limit is 3" in refused(path, limits=DocumentLimits(entries=3)).message


def test_a_lie_about_the_size_does_not_unpack_more(tmp_path: Path) -> None:
    """An archive that says a part is small is not believed: zipfile stops there, and the part is broken."""
    path = with_parts(written(tmp_path), {"word/document.xml": b"<x>" + b" " * 900_000 + b"</x>"})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("word/document.xml").file_size.to_bytes(4, "little")
    assert data.count(size) >= 2
    path.write_bytes(bytes(data).replace(size, (100).to_bytes(4, "little")))
    assert "cannot be unpacked" in refused(path).message


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_package_that_is_cut_short_is_refused(tmp_path: Path, share: float) -> None:
    """A ZIP archive has its list of parts at its end."""
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert "truncated" in refused(path).message


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    """Broken XML, and bytes that do not unpack."""
    error = refused(with_parts(written(tmp_path), {"word/document.xml": b"<w:document><w:body>"}))
    assert "word/document.xml is broken" in error.message
    path = written(tmp_path)
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("word/document.xml").header_offset
    data = bytearray(path.read_bytes())
    data[start + 80 : start + 120] = bytes(40)
    path.write_bytes(bytes(data))
    assert "word/document.xml cannot be unpacked" in refused(path).message


def test_elements_within_elements_end_somewhere(tmp_path: Path) -> None:
    """Tables in tables a thousand deep are refused by the XML parser."""
    deep = "<w:tbl><w:tr><w:tc>" * 400 + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * 400
    data = f"<w:document {NS}><w:body>{deep}</w:body></w:document>".encode()
    assert "word/document.xml" in refused(with_parts(written(tmp_path), {"word/document.xml": data})).message


def test_tables_within_tables_are_read_as_deep_as_the_parser_goes(tmp_path: Path) -> None:
    """Eighty tables in one another are foolish, and are read."""
    deep = "<w:tbl><w:tr><w:tc>" * 80 + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * 80
    data = f"<w:document {NS}><w:body>{deep}</w:body></w:document>".encode()
    assert read_document(with_parts(written(tmp_path), {"word/document.xml": data})).text == "The contract."


def test_a_circle_of_styles_ends(tmp_path: Path) -> None:
    """Two styles that are based on each other."""
    style = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="{}"/><w:basedOn w:val="{}"/></w:style>'
    path = body(
        tmp_path / "a.docx",
        f'<w:p><w:pPr><w:pStyle w:val="A"/></w:pPr>{run("text")}</w:p>',
        styles=style.format("A", "x", "A"),
    )
    assert read_document(path).text == "text"


def test_an_archive_that_is_no_word_document_is_refused(tmp_path: Path) -> None:
    """A spreadsheet, or any ZIP."""
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    assert "not a Word document" in refused(path).message


def test_a_document_of_pictures_only_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """A scan that was pasted into Word."""
    error = refused(body(tmp_path / "a.docx", "<w:p><w:r><w:drawing/></w:r></w:p>"))
    assert "pictures only" in error.message
    assert "ocrmypdf" in error.hint


def test_an_old_or_locked_word_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """.doc, and .docx with a password, are both in Microsoft's older container."""
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "password" in refused(path).message
