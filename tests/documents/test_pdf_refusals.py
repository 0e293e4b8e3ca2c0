"""PDF: what cannot be read, or not be read safely, is an error that says why and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from ollama_kit.documents import DocumentLimits, read_document
from ollama_kit.documents.pdf.pdf_text import numbers
from ollama_kit.errors import DocumentError
from tests.documents.pdfs import both, by_hand, lines, nameless_glyphs, pdf, private_glyphs, scan

PAGE = lines(["This is the contract of two parties."])


def refused(path: Path, **options: object) -> DocumentError:
    """The error of reading; it names the file, and comes with a hint."""
    with pytest.raises(DocumentError) as caught:
        read_document(path, **options)  # type: ignore[arg-type]
    assert path.name in str(caught.value)
    assert caught.value.code == "document"
    return caught.value


@pytest.mark.parametrize("strength", [40, 128])
def test_an_encrypted_pdf_opens_with_its_password_only(tmp_path: Path, strength: int) -> None:
    """Without a password and with a wrong one the error says which it is and how to give one."""
    locked = StandardEncryption("secret", ownerPassword="owner", strength=strength)
    path = pdf(tmp_path / "a.pdf", PAGE, encrypt=locked)
    missing, wrong = refused(path), refused(path, password="other")
    assert "needs a password" in missing.message
    assert "does not open" in wrong.message
    assert "--password-file" in missing.hint
    assert (missing.locked, wrong.locked) == (True, True)
    assert read_document(path, password="secret").text == "This is the contract of two parties."
    assert read_document(path, password="owner").text == "This is the contract of two parties."


def test_a_pdf_that_only_forbids_copying_opens(tmp_path: Path) -> None:
    """Encrypted for its owner, with no password for readers: it is read."""
    locked = StandardEncryption("", ownerPassword="owner", canCopy=0)
    path = pdf(tmp_path / "a.pdf", PAGE, encrypt=locked)
    assert read_document(path).text == "This is the contract of two parties."
    # A batch has one password, for those of its files that need it.
    assert read_document(path, password="of another file").text == "This is the contract of two parties."


def test_a_scan_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """Pages that are pictures: the error counts them and names the program that helps."""
    error = refused(pdf(tmp_path / "a.pdf", scan(), scan(), PAGE))
    assert "scan" in error.message
    assert "2 of 3 pages (1-2)" in error.message
    assert "ocrmypdf" in error.hint


def test_a_scan_with_recognized_text_is_read_with_a_warning(tmp_path: Path) -> None:
    """The text layer of a scan has no ink, and is the text all the same."""
    read = read_document(pdf(tmp_path / "a.pdf", scan(recognized="This agreement is made today.")))
    assert read.text == "This agreement is made today."
    assert read.hidden == ()
    assert any("recognized" in warning for warning in read.warnings)


def test_a_stamp_on_a_recognized_scan_is_read_with_it(tmp_path: Path) -> None:
    """Signing services print a line of their own on every scanned page: the recognized text stays text."""
    said = "This agreement is made today between the two parties that are named below."
    read = read_document(pdf(tmp_path / "a.pdf", both(scan(recognized=said), lines(["Envelope 7"], top=810))))
    assert read.text == f"Envelope 7\n{said}"
    assert read.hidden == ()
    assert any("recognized" in warning for warning in read.warnings)


def test_one_scanned_page_among_others_is_a_warning(tmp_path: Path) -> None:
    """A signature page that was scanned is named; the rest is read."""
    read = read_document(pdf(tmp_path / "a.pdf", PAGE, PAGE, scan()))
    assert [page.number for page in read.pages] == [1, 2, 3]
    assert any("page 3" in warning for warning in read.warnings)


@pytest.mark.parametrize("write", [nameless_glyphs, private_glyphs], ids=lambda write: write.__name__)
def test_garbled_text_is_refused(tmp_path: Path, write: object) -> None:
    """A font that does not say which characters its shapes are gives no text, however many glyphs there are."""
    error = refused(write(tmp_path / "a.pdf"))  # type: ignore[operator]
    assert "garbled" in error.message
    assert "ocrmypdf" in error.hint


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_pdf_that_is_cut_short_is_refused(tmp_path: Path, share: float) -> None:
    """pdfium would repair it and lose pages without a word."""
    path = pdf(tmp_path / "a.pdf", *[PAGE] * 30)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert "truncated" in refused(path).message


def test_a_file_of_rubbish_with_a_pdfs_head_and_end_is_refused(tmp_path: Path) -> None:
    """What pdfium cannot open is an error of ours."""
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n" + b"rubbish " * 99 + b"\n%%EOF\n")
    assert "not a readable PDF" in refused(path).message


def test_a_broken_page_is_named(tmp_path: Path) -> None:
    """A page that is no page: the error says which."""
    path = by_hand(tmp_path / "a.pdf", b"", b"<< >>")
    path.write_bytes(path.read_bytes().replace(b"/Kids [3 0 R] /Count 1", b"/Kids [9 0 R] /Count 1"))
    error = refused(path)
    assert error.page == 1
    assert "page 1" in str(error)


def test_a_blank_document_is_refused(tmp_path: Path) -> None:
    """No text at all is never an empty result that looks like success."""
    assert "no text" in refused(pdf(tmp_path / "a.pdf", lambda canvas: None)).message


def test_limits_are_kept(tmp_path: Path) -> None:
    """More bytes, pages or characters on a page than the limits allow: refused before they are read."""
    path = pdf(tmp_path / "a.pdf", PAGE, PAGE, PAGE)
    assert "3 pages; the limit is 2" in refused(path, limits=DocumentLimits(pages=2)).message
    assert "MB" in refused(path, limits=DocumentLimits(file_bytes=100)).message
    assert "characters; the limit is 10" in refused(path, limits=DocumentLimits(page_chars=10)).message
    assert read_document(path, limits=DocumentLimits(pages=3)).pages[-1].number == 3


def test_page_numbers_are_drawn_together() -> None:
    """Runs of pages are given by their ends."""
    assert numbers([1, 2, 3, 5, 9, 10]) == "1-3, 5, 9-10"
