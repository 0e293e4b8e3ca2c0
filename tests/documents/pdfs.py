"""PDFs for the tests: pages drawn with reportlab, and a few written by hand that no honest program would write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

Draw = Callable[[Canvas], None]
A4 = (595.0, 842.0)
CHINESE = "STSong-Light"


def pdf(path: Path, *pages: Draw, encrypt: StandardEncryption | None = None, title: str = "") -> Path:
    """Writes a PDF of A4 pages, each drawn by one function."""
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE))
    canvas = Canvas(str(path), pagesize=A4, encrypt=encrypt, invariant=True)
    canvas.setTitle(title)
    for draw in pages:
        canvas.setFont("Helvetica", 11)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def lines(texts: Sequence[str], x: float = 72, top: float = 770, *, font: str = "Helvetica", step: float = 14) -> Draw:
    """Draws lines one below the other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 11)
        for number, text in enumerate(texts):
            canvas.drawString(x, top - step * number, text)

    return draw


def both(*draws: Draw) -> Draw:
    """Draws one after the other on the same page."""

    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


def picture(color: int = 128) -> ImageReader:
    """A small picture of one grey."""
    return ImageReader(Image.new("L", (20, 20), color))


def scan(*, recognized: str = "") -> Draw:
    """A page that is a picture, with a text layer without ink where one is given."""

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(picture(), 0, 0, *A4)
        text = canvas.beginText(72, 700)
        text.setTextRenderMode(3)
        text.textOut(recognized)
        canvas.drawText(text)

    return draw


def by_hand(path: Path, content: bytes, fonts: bytes, more: Sequence[bytes] = ()) -> Path:
    """Writes a PDF of one page: its content stream, the value of /Font, and further objects from number 5 on."""
    stream = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font %s >> >>" % fonts
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        stream,
        *more,
    )
    out, offsets = BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    path.write_bytes(out.getvalue())
    return path


CID_FONT = (
    b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Odd /FontDescriptor 7 0 R /DW 600"
    b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
)
DESCRIPTOR = (
    b"<< /Type /FontDescriptor /FontName /Odd /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800"
    b" /Descent -200 /CapHeight 700 /StemV 80 >>"
)


def glyphs(path: Path, more: bytes, *further: bytes) -> Path:
    """A page of nine glyphs in a font that is not embedded; `more` goes into its dictionary."""
    content = b"BT /F1 12 Tf 72 700 Td <000100020003000400050006000700080009> Tj ET"
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /DescendantFonts [6 0 R] %s >>" % more
    return by_hand(path, content, b"<< /F1 5 0 R >>", (font, CID_FONT, DESCRIPTOR, *further))


def nameless_glyphs(path: Path) -> Path:
    """The font says of no glyph which character it is, as in files made to defeat copying."""
    return glyphs(path, b"")


def private_glyphs(path: Path) -> Path:
    """The font names characters of the private use area, which mean nothing to anybody else."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Odd def /CMapType 2 def"
        b" 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0009> <E001> endbfrange"
        b" endcmap end end"
    )
    return glyphs(path, b"/ToUnicode 8 0 R", b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap))
