"""What a file is is told by its content, and every refusal says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ollama_kit.documents as documents
from ollama_kit.documents import read_document
from ollama_kit.documents.document import Note
from ollama_kit.documents.draft import Anchor, Aside, Draft, DraftParagraph, assemble
from ollama_kit.errors import DocumentError
from tests.documents.docxs import body, run
from tests.documents.pdfs import lines, pdf
from tests.documents.test_pdf_refusals import refused


def test_names_that_lie_do_not_matter(tmp_path: Path) -> None:
    """A PDF called .docx, a DOCX called .pdf and HTML called .txt are read as what they are."""
    written = pdf(tmp_path / "a.pdf", lines(["a PDF"])).rename(tmp_path / "合同 文件.docx")
    assert read_document(written).kind == "pdf"
    word = body(tmp_path / "b.docx", f"<w:p>{run('Word')}</w:p>").rename(tmp_path / "b.pdf")
    assert read_document(word).kind == "docx"
    page = tmp_path / "c.txt"
    page.write_text("\n <!DOCTYPE html><p>page", encoding="utf-8")
    assert (read_document(page).kind, read_document(str(page)).text) == ("html", "page")


@pytest.mark.parametrize(
    ("data", "said", "hint"),
    [
        (b"", "empty", ""),
        (b" \n\n", "no text", ""),
        (b"{\\rtf1 text}", "RTF", ".docx"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "picture", "ocrmypdf"),
        (bytes(range(256)) * 4, "", ""),
    ],
)
def test_other_kinds_are_refused_with_the_remedy(tmp_path: Path, data: bytes, said: str, hint: str) -> None:
    """Empty files, other programs' formats, pictures, bytes that are no text."""
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    error = refused(path)
    assert said in error.message
    assert hint in error.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The system's reason, in our error; a folder too."""
    assert "cannot be read" in refused(tmp_path / "none.pdf").message
    assert "cannot be read" in refused(tmp_path).message


def test_a_text_called_pdf_is_no_pdf(tmp_path: Path) -> None:
    """A web page that a download left under the name of the PDF."""
    path = tmp_path / "a.pdf"
    path.write_text("moved elsewhere", encoding="utf-8")
    assert "not a PDF" in refused(path).message


def test_places_are_within_the_text() -> None:
    """An offset outside the text is a mistake of the caller's, not place 0; notes beyond the end stand at the end."""
    draft = Draft([DraftParagraph("one"), DraftParagraph("two")], [Aside(Note("comment", "late"), Anchor(9, 3))])
    read = assemble(draft, "a", "txt")
    assert [read.place(at).paragraph for at in range(8)] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert read.notes[0].offset == 7
    for offset in (-1, 8):
        with pytest.raises(IndexError):
            read.place(offset)


@pytest.mark.process
def test_nothing_heavy_is_loaded_before_a_document_is_read() -> None:
    """Importing the package loads neither pdfium nor lxml nor the guard's rules."""
    program = "import sys; from ollama_kit.documents import read_document; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert not {"pypdfium2", "lxml", "docx", "ollama_kit.guard"} & set(done.stdout.split())


def test_a_missing_extra_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pypdfium2 or lxml the error names the extra."""
    paths = pdf(tmp_path / "a.pdf", lines(["a PDF"])), body(tmp_path / "b.docx", f"<w:p>{run('Word')}</w:p>")
    for module in ("pypdfium2", "lxml"):
        monkeypatch.setitem(sys.modules, module, None)
    for path in paths:
        with pytest.raises(DocumentError) as caught:
            read_document(path)
        assert "ollama-kit[contract]" in caught.value.hint


@pytest.mark.parametrize("name", documents.__all__)
def test_public_names_resolve(name: str) -> None:
    """Each name of the package is what it says."""
    assert getattr(documents, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As in any module."""
    with pytest.raises(AttributeError, match="read_documents"):
        documents.read_documents  # noqa: B018
