"""Damaged files of every kind are read, or refused by our error: nothing else comes out, whatever the bytes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ollama_kit.documents import read_document
from ollama_kit.documents.html_text import CssRules
from ollama_kit.documents.plain_text import paragraph_ranges
from ollama_kit.errors import DocumentError
from tests.documents.docxs import body, run
from tests.documents.pdfs import lines, pdf
from tests.documents.test_pdf import check_places
from tests.intensity import examples

BOUNDED = settings(
    deadline=None,
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TAGS = (
    "<p> </p> <table> <tr> <td> </td> </tr> </table> <ol> <li> </ol> <br> <script> </script> <!-- -->"
    " <div/hidden> </div> text 第一条 < & <h1> </h1> <span/hidden> </span> <pre> </pre> <style>p{color:#fff }</style>"
)
MARKUP = st.lists(st.sampled_from(TAGS.split(" ")), max_size=30)


def read_or_refused(path: Path) -> None:
    """Reads the file; only our own error may come out, and no empty result."""
    with suppress(DocumentError):
        read = read_document(path)
        assert read.text.strip()
        check_places(read)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A small file of each kind that has a structure."""
    folder = tmp_path_factory.mktemp("whole")
    page = lines(["1. The contract of two parties.", "2. The price is 100 euros."])
    word = body(folder / "a.docx", f"<w:p>{run('The contract.')}</w:p>")
    return {"pdf": pdf(folder / "a.pdf", page, page).read_bytes(), "docx": word.read_bytes()}


@pytest.mark.parametrize("kind", ["pdf", "docx"])
@BOUNDED
@given(data=st.data())
def test_damaged_files(whole: dict[str, bytes], tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """A few bytes changed anywhere, and perhaps the end cut off."""
    damaged = bytearray(whole[kind])
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    keep = data.draw(st.sampled_from([1.0, 1.0, 0.7, 0.3]))
    path = tmp_path / f"damaged.{kind}"
    path.write_bytes(bytes(damaged[: int(len(damaged) * keep)]))
    read_or_refused(path)


@BOUNDED
@given(MARKUP)
def test_any_markup(tmp_path: Path, pieces: list[str]) -> None:
    """Tags opened and closed in any order."""
    path = tmp_path / "page.html"
    path.write_text("<html>" + "".join(pieces), encoding="utf-8")
    read_or_refused(path)


@BOUNDED
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    """Bytes under the name of a text."""
    path = tmp_path / "any.txt"
    path.write_bytes(data)
    read_or_refused(path)


@pytest.mark.slow
def test_long_texts_of_one_character_are_read_in_one_pass() -> None:
    """Texts that make careless patterns go back over and over: two megabytes each would take hours then."""
    for character in (" ", "\t", "一", "a", "<", "("):
        assert len(list(paragraph_ranges(character * 2_000_000))) <= 1
    sheet = CssRules()
    for css in ("a" * 2_000_000, "/*" * 1_000_000, "{" * 2_000_000, "}" * 2_000_000, ";" * 2_000_000):
        sheet.add(css)
    assert sheet.rules == {}
