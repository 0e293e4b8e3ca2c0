"""Reading documents: text and structure of 100 pages of PDF as programs write it; DOCX; memory for 5,000 pages.

Target: 100 pages in less than 2 s; 5,000 pages in less than 300 MB. Real contracts are read too, where they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import verdict
from ollama_kit.documents import read_document
from ollama_kit.errors import DocumentError

ROOT = Path(__file__).parents[1]
ROUNDS = 3
MOST_S, MOST_MB = 2.0, 300
PAGES, MANY_PAGES = 100, 5_000
CLAUSE = (
    "The Supplier shall deliver all goods to the place named in the schedule, free of any charge to the Buyer, and the"
    " Buyer shall accept them there without undue delay and pay for them within thirty days of the invoice. "
)
CHINESE = (
    "乙方应于合同生效之日起三十日内将全部设备运抵甲方指定地点，运费由乙方承担，甲方应在到货后十个工作日内完成验收。"
)
PEAK = (
    "import sys; from benchmarks.timing import peak_bytes; from ollama_kit.documents import read_document;"
    "n = len(read_document(sys.argv[1]).pages);"
    "print(n, peak_bytes() >> 20)"
)


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contract"
        read_document(_pdf(path, 1, "words"))  # loads pdfium
        for title in ("words", "letters", "Chinese", "tables"):
            yield _timed(f"{PAGES} pages of PDF, {title}", _pdf(path, PAGES, title), PAGES)
        yield _timed(f"DOCX of {PAGES} pages", _docx(path), PAGES)
        if sys.platform != "win32":
            yield _peak(_pdf(path, MANY_PAGES, "words"))
    for real in _real():
        yield _real_one(real)


def _timed(title: str, path: Path, pages: int) -> str:
    seconds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        read = read_document(path)
        seconds.append(time.perf_counter() - begun)
    took = median(seconds)
    rate = took * PAGES / pages
    return f"{title}: {took:.2f} s, {len(read.text):,} characters, {rate:.2f} s for 100; {verdict(rate < MOST_S)}"


def _pdf(path: Path, pages: int, kind: str) -> Path:
    """Writes a PDF: one object a line ("words"), one a letter ("letters", as browsers print), and so on."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    canvas = Canvas(str(path), pagesize=(595, 842), pageCompression=1)
    for page in range(pages):
        canvas.setFont("STSong-Light" if kind == "Chinese" else "Helvetica", 10)
        _PAGES[kind](canvas, page)
        canvas.drawString(280, 30, f"{page + 1} / {pages}")
        canvas.showPage()
    canvas.save()
    return path


def _words(canvas: Any, page: int) -> None:
    for row in range(52):
        canvas.drawString(60, 790 - 14 * row, f"{page}.{row} {CLAUSE}"[: 95 - row % 7])


def _letters(canvas: Any, page: int) -> None:
    for row in range(40):
        x = 60.0
        for letter in f"{page}.{row} {CLAUSE}"[:80]:
            canvas.drawString(x, 790 - 14 * row, letter)
            x += canvas.stringWidth(letter)


def _chinese(canvas: Any, page: int) -> None:
    for row in range(30):
        canvas.drawString(60, 780 - 24 * row, (f"{page}.{row} " + CHINESE)[:42])


def _tables(canvas: Any, page: int) -> None:
    columns, rows = [60 + 80 * at for at in range(7)], [790 - 18 * at for at in range(41)]
    canvas.grid(columns, rows)
    for y in rows[1:]:
        for x in columns[:-1]:
            canvas.drawString(x + 4, y + 5, f"{page}.{y % 97} item")


_PAGES = {"words": _words, "letters": _letters, "Chinese": _chinese, "tables": _tables}


def _docx(path: Path) -> Path:
    import docx

    document = docx.Document()
    for number in range(10 * PAGES):
        document.add_paragraph(f"{number}. {CLAUSE * 2}")
        if number % 10 == 0:
            table = document.add_table(4, 4)
            for cell in table._cells:
                cell.text = f"{number} item"
    document.save(str(path))
    return path


def _peak(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, encoding="utf-8", check=True)
    pages, megabytes = map(int, done.stdout.split())
    return f"PDF of {pages:,} pages: {megabytes} MB at most; {verdict(megabytes < MOST_MB)}"


def _real() -> list[Path]:
    """The documents shipped for the tests, and those of the shared data where they are (see benchmarks.injection)."""
    shared = Path(os.environ.get("OLLAMA_KIT_SHARED_DATA") or ROOT.parent / "shared" / "data")
    folders = (ROOT / "tests" / "data" / "contracts" / "docs", shared / "public" / "contracts" / "docs")
    return sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir())


def _real_one(path: Path) -> str:
    begun = time.perf_counter()
    try:
        read = read_document(path)
    except DocumentError as problem:
        return f"{path.name}: refused, {problem.problem}"
    took = time.perf_counter() - begun
    found = f"{len(read.paragraphs)} paragraphs, {len(read.notes)} notes, {len(read.hidden)} hidden"
    return f"{path.name}: {took:.2f} s, {len(read.pages)} pages, {len(read.text):,} characters, {found}"
