"""Real contracts of other people, where the folder with them is there: see OLLAMA_KIT_SHARED_DATA in benchmarks."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from ollama_kit.documents import read_document
from tests.documents.test_pdf import check_places, texts
from tests.documents.test_pdf_refusals import refused

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("OLLAMA_KIT_SHARED_DATA") or ROOT.parent / "shared" / "data") / "public" / "contracts"
DOCS = FOLDER / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the public contracts are not on this machine")


def test_the_sponsorship_agreement_holds_every_annotated_passage() -> None:
    """The annotations of CUAD on the text version are found in the PDF's text, white space and hyphens aside."""
    read = read_document(DOCS / "real_text_tickets_sponsorship.pdf")
    gold = next((FOLDER / "en_cuad").glob("TICKETSCOMINC*.gold.json")).read_text(encoding="utf-8")
    passages = set(re.findall(r'"text": "((?:[^"\\]|\\.)*)"', gold))
    squeezed = re.sub(r"[\s-]", "", read.text)
    found = [one for one in passages if re.sub(r"[\s-]", "", json.loads(f'"{one}"')) in squeezed]
    assert len(found) >= 0.9 * len(passages) > 5
    check_places(read)


def test_the_same_agreement_encrypted() -> None:
    """With its password, and where only the owner's rights are locked, the text is the same."""
    plain = read_document(DOCS / "real_text_tickets_sponsorship.pdf")
    assert "password" in refused(DOCS / "encrypted_aes256_user_password.pdf").message
    assert read_document(DOCS / "encrypted_aes256_user_password.pdf", password="test-user").text == plain.text
    assert read_document(DOCS / "encrypted_rc4_owner_only.pdf").text == plain.text


def test_a_real_scan_and_the_same_with_its_recognized_text() -> None:
    """The one is refused, the other read with a warning."""
    assert "ocrmypdf" in refused(DOCS / "real_scan_imageonly_westerncopper_p1-2.pdf").hint
    read = read_document(DOCS / "real_scan_with_ocr_layer_westerncopper_p1.pdf")
    assert "THIS AGREEMENT is dated May 3,2006." in texts(read)
    assert any("recognized" in warning for warning in read.warnings)


def test_numeric_tables_keep_their_cells() -> None:
    """A page of six pairs of columns, and one whose figures are added up."""
    rows = texts(read_document(DOCS / "real_tables_energyxxi_transportation.pdf"), "table")
    assert "20.3\t2.795\t25.2\t3.53\t30.1\t4.265\t35\t5\t39.9\t5.08\t44.8\t5.1" in rows
    assert "A\t100.00\t29.8\t4.220\t422.00" in rows


def test_a_page_printed_by_a_browser() -> None:
    """Each letter is an object of its own there, and white boxes lie under a clip: nothing is hidden, all is read."""
    read = read_document(DOCS / "real_mit_bonaroo_terms.pdf")
    assert read.hidden == ()
    assert texts(read, "footer") == [f"{number} / 13" for number in range(1, 14)]
    assert "1.7. Client: the party or person who has entered into an agreement with Bonaroo." in texts(read)
    check_places(read)


def test_a_word_file_made_from_markdown() -> None:
    """Eleven numbered clauses."""
    read = read_document(DOCS / "derived_commonpaper_mutual_nda.docx")
    assert [text.split()[0] for text in texts(read)[1:12]] == [f"{number}." for number in range(1, 12)]
