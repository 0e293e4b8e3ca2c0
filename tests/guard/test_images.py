"""Images before they are sent: real type, bounds, size, metadata, colors, and what damaged ones end in."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image as pillow, ImageDraw

from ollama_kit.errors import GuardBlocked, OllamaKitError, UsageError
from ollama_kit.guard.images.header import read_header
from ollama_kit.guard.images.image import Image, ImageRules
from ollama_kit.guard.images.prepare import prepare_image
from tests.intensity import examples

KINDS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


def encoded(pixels: pillow.Image, kind: str, **how: Any) -> bytes:
    out = io.BytesIO()
    pixels.save(out, kind, **how)
    return out.getvalue()


def picture(width: int = 60, height: int = 40) -> pillow.Image:
    """Red, with a white corner at the top left."""
    pixels = pillow.new("RGB", (width, height), (200, 10, 10))
    ImageDraw.Draw(pixels).rectangle((0, 0, width // 4, height // 4), fill=(255, 255, 255))
    return pixels


def png(width: int, height: int, *, depth: int = 8, color: int = 2, rows: bytes = b"", more: bytes = b"") -> bytes:
    """A PNG put together by hand: its header may say anything."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    parts = (chunk(b"IHDR", header), more, chunk(b"IDAT", rows), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def shown(image: Image) -> pillow.Image:
    pixels = pillow.open(io.BytesIO(image.data))
    pixels.load()
    return pixels


def rules_of(image: Image) -> set[str]:
    return {found.rule for found in image.findings}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (60, 40), (3, 700)])
def test_the_header_says_what_pillow_says(kind: str, size: tuple[int, int]) -> None:
    """Type and size, read from a few bytes, are those that the decoder finds."""
    header = read_header(encoded(picture(*size), kind), "x")
    assert (header.format, header.width, header.height) == (kind, *size)


@pytest.mark.parametrize("how", [{"lossless": True}, {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"}, {}])
def test_each_form_of_webp_is_measured(how: dict[str, Any]) -> None:
    """VP8L, VP8X and VP8."""
    header = read_header(encoded(picture(321, 123), "WEBP", **how), "x")
    assert (header.width, header.height) == (321, 123)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_becomes_png_or_jpeg_of_the_same_picture(kind: str) -> None:
    """What every server can read; the pixels are those of the file."""
    image = prepare_image(encoded(picture(), kind))
    assert image.media_type == ("image/jpeg" if kind in ("JPEG", "WEBP") else "image/png")
    pixels = shown(image)
    assert (pixels.format, pixels.size) == (image.media_type.partition("/")[2].upper(), (60, 40))
    assert (image.width, image.height) == (60, 40)
    for at, wanted in (((50, 30), (200, 10, 10)), ((3, 3), (255, 255, 255))):
        found = pixels.convert("RGB").getpixel(at)
        assert isinstance(found, tuple)
        assert all(abs(one - other) < 12 for one, other in zip(found, wanted, strict=True))


def test_the_same_image_gives_the_same_bytes() -> None:
    """So that the server's prompt cache still works."""
    data = encoded(picture(2000, 900), "JPEG")
    assert prepare_image(data) == prepare_image(data)


OTHERS = {
    "a PDF": b"%PDF-1.7\n",
    "a HEIC photo": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
    "an AVIF image": b"\0\0\0\x1cftypavif\0\0\0\0",
    "a video": b"\0\0\0\x18ftypmp42\0\0\0\0",
    "an SVG drawing": b'<?xml version="1.0"?>\n<!-- x -->\n<svg xmlns="http://www.w3.org/2000/svg"/>',
    "a TIFF": b"II*\0\x08\0\0\0",
    "a ZIP archive": b"PK\x03\x04\x14\0",
    "a Photoshop file": b"8BPS\0\x01",
    "an icon": b"\0\0\x01\0\x01\0",
    "an HTML page": b"<!DOCTYPE html><html><body>404",
    "not an image": b"hello, world",
    "is empty": b"",
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_file_that_is_no_image_is_called_by_its_name(what: str, tmp_path: Path) -> None:
    """Whatever its extension says: the content decides, and the message says what is taken."""
    path = tmp_path / "photo.png"
    path.write_bytes(OTHERS[what])
    with pytest.raises(UsageError) as caught:
        prepare_image(path)
    assert what in caught.value.message
    assert str(path) in caught.value.message
    assert "PNG, JPEG, WebP, GIF or BMP" in caught.value.message


def test_a_heic_photo_says_what_to_do() -> None:
    """Most phones make them."""
    with pytest.raises(UsageError, match="as JPEG"):
        prepare_image(OTHERS["a HEIC photo"])


def test_a_wrong_extension_is_said_and_taken(tmp_path: Path) -> None:
    """A JPEG called .png is a JPEG."""
    path = tmp_path / "a.png"
    path.write_bytes(encoded(picture(), "JPEG"))
    image = prepare_image(path)
    assert image.media_type == "image/jpeg"
    assert [(found.rule, found.detail) for found in image.findings] == [("misnamed", "named .png, is JPEG")]


@pytest.mark.parametrize(
    "url", ["https://example.com/a.png", "http://127.0.0.1/a.png", "file:///etc/x.png", "data:image/png;base64,AAAA"]
)
@pytest.mark.parametrize("form", [str, Path])
def test_a_url_is_never_fetched(url: str, form: Callable[[str], Any]) -> None:
    """Not even one that became a path."""
    with pytest.raises(UsageError, match="is a URL"):
        prepare_image(form(url))


def test_what_is_no_file_is_refused_without_reading(tmp_path: Path) -> None:
    """A folder, a name that is not there, and a pipe without an end."""
    with pytest.raises(UsageError, match="not a file"):
        prepare_image(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        prepare_image(tmp_path / "none.png")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        with pytest.raises(UsageError, match="not a file"):
            prepare_image(tmp_path / "pipe.png")


def test_bounds_are_exact() -> None:
    """At the bound it is taken, one beyond it is not."""
    data = encoded(picture(60, 40), "PNG")
    assert prepare_image(data, ImageRules(limit_pixels=2400, limit_bytes=len(data))).width == 60
    with pytest.raises(GuardBlocked, match="60 × 40 pixels"):
        prepare_image(data, ImageRules(limit_pixels=2399))
    with pytest.raises(GuardBlocked, match="MiB"):
        prepare_image(data, ImageRules(limit_bytes=len(data) - 1))


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file of 1 TB costs nothing."""
    path = tmp_path / "large.png"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(GuardBlocked, match=r"1,048,576\.0 MiB"):
        prepare_image(path)


def test_a_bomb_is_refused_by_its_header() -> None:
    """200 megapixels in a hundred bytes: nothing is decoded."""
    with pytest.raises(GuardBlocked, match=r"20,000 × 10,000 pixels \(200\.0 million\); 50\.0 million"):
        prepare_image(png(20_000, 10_000, rows=zlib.compress(b"\0")))
    with pytest.raises(GuardBlocked):
        prepare_image(png(2**31 - 1, 2**31 - 1, rows=zlib.compress(b"\0")))


def test_a_bomb_behind_a_modest_header_is_refused_too() -> None:
    """A second IHDR, and a GIF whose frame is larger than its screen."""
    second = chunk(b"IHDR", struct.pack(">IIBBBBB", 9000, 9000, 8, 2, 0, 0, 0))
    with pytest.raises(OllamaKitError):
        prepare_image(png(10, 10, rows=zlib.compress(bytes(310)), more=second))
    gif = bytearray(encoded(picture(10, 10), "GIF"))
    frame = gif.index(b"\x2c")
    gif[frame + 5 : frame + 9] = struct.pack("<HH", 60_000, 60_000)
    with pytest.raises(OllamaKitError):
        prepare_image(bytes(gif))


def test_a_jpeg_of_endless_scans_is_refused() -> None:
    """Each scan of a progressive JPEG is a pass over the whole image."""
    data = encoded(picture(), "JPEG", progressive=True)
    assert prepare_image(data).width == 60
    scan = data[data.rindex(b"\xff\xda") : -2]
    with pytest.raises(GuardBlocked, match="scans"):
        prepare_image(data[:-2] + scan * 200 + data[-2:])


MEMORY = """
    import sys, zlib, resource
    sys.path.insert(0, {root!r})
    from tests.guard.test_images import chunk, png
    from ollama_kit.guard.images.prepare import prepare_image
    from ollama_kit.errors import OllamaKitError
    import PIL.Image, PIL.PngImagePlugin
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        {what}
    except OllamaKitError as error:
        print(type(error).__name__)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def peak_mib(what: str) -> tuple[list[str], int]:
    """(what was printed, the growth of a fresh process in MiB) of one statement."""
    root = str(Path(__file__).parents[2])
    program = textwrap.dedent(MEMORY.format(root=root, what=what))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    *said, grown = done.stdout.splitlines()
    return said, int(grown)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="counts the peak of a process in KiB")
def test_refusing_a_bomb_takes_no_memory() -> None:
    """Decoded it would be 600 MB, and its compressed text 1 GB."""
    said, grown = peak_mib("prepare_image(png(20_000, 10_000, rows=zlib.compress(bytes(20_000_000))))")
    assert said == ["GuardBlocked"]
    assert grown < 60
    text = "chunk(b'zTXt', b'k\\0\\0' + zlib.compress(bytes(100_000_000)))"
    said, grown = peak_mib(f"bomb = {text}; prepare_image(png(9, 9, rows=zlib.compress(bytes(252)), more=bomb))")
    assert grown < 200  # making it took the 100 MB


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="counts the peak of a process in KiB")
def test_the_largest_image_that_is_taken_stays_within_ten_bytes_a_pixel() -> None:
    """Seven thousand pixels a side, with a palette and transparency: the form that costs most."""
    rows = "zlib.compress(bytes(7001 * 7000))"
    palette = "chunk(b'PLTE', bytes(768)) + chunk(b'tRNS', bytes(5))"
    said, grown = peak_mib(f"print(prepare_image(png(7000, 7000, color=3, rows={rows}, more={palette})).width)")
    assert said == ["1536"]
    assert grown < 49 * 10


def test_a_large_image_is_shrunk_to_its_longest_side_and_says_so() -> None:
    """The shape stays; a small one is left alone."""
    image = prepare_image(encoded(picture(4000, 3000), "PNG"))
    assert (image.width, image.height) == shown(image).size == (1536, 1152)
    assert [found.detail for found in image.findings] == ["4000 × 3000 to 1536 × 1152 pixels"]
    assert prepare_image(encoded(picture(1536, 10), "PNG")).findings == ()
    assert shown(prepare_image(encoded(picture(5000, 1), "PNG"), ImageRules(longest_side=100))).size == (100, 1)


def test_a_large_jpeg_is_shrunk_alike() -> None:
    """It is decoded at a fraction of its size; what is said is about the file."""
    image = prepare_image(encoded(picture(6000, 4000), "JPEG"))
    assert (image.width, image.height) == shown(image).size == (1536, 1024)
    assert [found.detail for found in image.findings] == ["6000 × 4000 to 1536 × 1024 pixels"]


GPS = {1: "N", 2: (31.0, 14.0, 5.0), 3: "E", 4: (121.0, 28.0, 1.0)}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_metadata_is_gone_and_the_gps_position_with_it(kind: str) -> None:
    """Not one byte of it is left, and the report says what was there."""
    exif = pillow.Exif()
    exif[0x010F], exif[0x8825] = "SECRET-CAMERA", GPS
    image = prepare_image(encoded(picture(), kind, exif=exif, xmp=b"<x>SECRET</x>", icc_profile=b"SECRET" * 30))
    assert b"SECRET" not in image.data
    pixels = shown(image)
    assert not pixels.getexif()
    assert not {"exif", "xmp", "icc_profile", "comment"} & set(pixels.info)
    (found,) = [found for found in image.findings if found.rule == "metadata"]
    assert found.action == "removed"
    assert found.severity == "low"
    assert {"EXIF", "GPS position"} <= set(found.detail.split(", "))


def test_comments_and_text_are_gone() -> None:
    """Of JPEG and of PNG, with what is hidden behind the end of the file."""
    jpeg = prepare_image(encoded(picture(), "JPEG", comment=b"SECRET") + b"SECRET")
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_text("Author", "SECRET")
    drawn = prepare_image(encoded(picture(), "PNG", pnginfo=text) + b"PK\x03\x04SECRET")
    assert b"SECRET" not in jpeg.data + drawn.data
    assert rules_of(jpeg) == rules_of(drawn) == {"metadata"}


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("size", [(60, 40), (2400, 1600)])
def test_an_image_is_turned_upright_before_its_exif_goes(orientation: int, size: tuple[int, int]) -> None:
    """The white corner stands where Pillow's own rule puts it, for each of the eight ways to hold a camera."""
    from PIL import ImageOps

    exif = pillow.Exif()
    exif[0x0112] = orientation
    data = encoded(picture(*size), "JPEG", exif=exif)
    upright = ImageOps.exif_transpose(pillow.open(io.BytesIO(data)))
    image = prepare_image(data, ImageRules(longest_side=60))
    pixels = shown(image)
    assert pixels.size == (60, 40) if orientation < 5 else (40, 60)
    for x, y in ((0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)):
        wanted = upright.getpixel((int(x * upright.width), int(y * upright.height)))
        found = pixels.getpixel((int(x * pixels.width), int(y * pixels.height)))
        assert isinstance(wanted, tuple)
        assert isinstance(found, tuple)
        assert abs(wanted[1] - found[1]) < 60
    assert ("orientation" in rules_of(image)) == (orientation > 1)


@pytest.mark.parametrize("length", range(8, 60, 4))
def test_damaged_exif_is_dropped_without_a_word_on_stderr(length: int) -> None:
    """The decoder would warn; the picture is whole."""
    exif = pillow.Exif()
    exif[0x010F], exif[0x8825] = "camera", GPS
    for kind in ("JPEG", "PNG", "WEBP"):
        assert prepare_image(encoded(picture(), kind, exif=exif.tobytes()[:length])).width == 60


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_sent(kind: str) -> None:
    """With a note, for the others are lost."""
    frames = [pillow.new("RGB", (30, 30), color) for color in ((250, 0, 0), (0, 250, 0), (0, 0, 250))]
    image = prepare_image(encoded(frames[0], kind, save_all=True, append_images=frames[1:]))
    red, green, blue = shown(image).convert("RGB").getpixel((15, 15))  # type: ignore[misc]
    assert red > 200 > 50 > green + blue
    assert "animated" in rules_of(image)


COLORS: dict[str, tuple[pillow.Image, str, tuple[int, int, int]]] = {
    "CMYK": (pillow.new("CMYK", (9, 9), (0, 255, 255, 0)), "JPEG", (255, 0, 0)),
    "16 bits": (pillow.new("I;16", (9, 9), 0x8080), "PNG", (128, 128, 128)),
    "one bit": (pillow.new("1", (9, 9), 1), "PNG", (255, 255, 255)),
    "palette": (pillow.new("RGB", (9, 9), (10, 200, 30)).quantize(), "PNG", (10, 200, 30)),
    "transparent": (pillow.new("RGBA", (9, 9), (0, 0, 0, 0)), "PNG", (255, 255, 255)),
    "half": (pillow.new("RGBA", (9, 9), (0, 0, 0, 128)), "WEBP", (127, 127, 127)),
    "grey": (pillow.new("L", (9, 9), 77), "JPEG", (77, 77, 77)),
    "grey with alpha": (pillow.new("LA", (9, 9), (0, 0)), "PNG", (255, 255, 255)),
}


@pytest.mark.parametrize("name", COLORS)
def test_every_kind_of_color_becomes_plain(name: str) -> None:
    """RGB or grey with 8 bits; what can be seen through is white, not black."""
    pixels, kind, wanted = COLORS[name]
    image = prepare_image(encoded(pixels, kind))
    out = shown(image)
    assert out.mode in ("RGB", "L")
    found = out.convert("RGB").getpixel((4, 4))
    assert isinstance(found, tuple)
    assert all(abs(one - other) < 8 for one, other in zip(found, wanted, strict=True))
    assert ("colors" in rules_of(image)) == (name != "grey")


TRANSPARENT = {  # (bits, color type of PNG, bytes of a row, the color that is transparent)
    "grey of one bit": (1, 0, bytes(2), b"\0\0"),
    "grey": (8, 0, bytes(9), b"\0\0"),
    "grey of 16 bits": (16, 0, b"\x80\x80" * 9, b"\x80\x80"),
    "color": (8, 2, bytes(27), bytes(6)),
    "color of 16 bits": (16, 2, b"\x80\x80" * 27, b"\x80\x80" * 3),
}


@pytest.mark.parametrize("name", TRANSPARENT)
def test_a_color_named_as_transparent_is_white(name: str) -> None:
    """In each form that PNG has for it."""
    depth, color, row, clear = TRANSPARENT[name]
    rows = zlib.compress((b"\0" + row) * 9)
    image = prepare_image(png(9, 9, depth=depth, color=color, rows=rows, more=chunk(b"tRNS", clear)))
    assert shown(image).convert("RGB").getpixel((4, 4)) == (255, 255, 255)


def test_an_alpha_channel_that_hides_nothing_is_not_worth_a_word() -> None:
    """Most screenshots have one."""
    image = prepare_image(encoded(picture().convert("RGBA"), "PNG"))
    assert image.findings == ()
    assert shown(image).getpixel((50, 30)) == (200, 10, 10)


def test_a_palette_with_a_transparent_color_becomes_white_there() -> None:
    """And keeps its other colors."""
    pixels = pillow.new("P", (10, 10), 1)
    pixels.putpalette([0, 0, 0, 10, 20, 200])
    ImageDraw.Draw(pixels).rectangle((0, 0, 4, 9), fill=0)
    for kind in ("PNG", "GIF"):
        out = shown(prepare_image(encoded(pixels, kind, transparency=0)))
        assert (out.getpixel((1, 1)), out.getpixel((8, 8))) == ((255, 255, 255), (10, 20, 200))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.95])
def test_a_truncated_image_is_an_error_that_says_so(kind: str, part: float) -> None:
    """No grey lower half that looks like success."""
    data = encoded(pillow.effect_noise((200, 200), 90).convert("RGB"), kind)
    with pytest.raises(UsageError, match=r"cut short|damaged") as caught:
        prepare_image(data[: int(len(data) * part)])
    assert "0x" not in caught.value.message


@pytest.mark.parametrize("kind", KINDS)
def test_the_shortest_beginnings_are_errors_too(kind: str) -> None:
    """Every prefix of a header."""
    data = encoded(picture(), kind)
    for length in range(64):
        with pytest.raises(UsageError):
            prepare_image(data[:length])


@settings(deadline=None, max_examples=examples(150))
@given(
    st.sampled_from(KINDS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=12),
    st.booleans(),
)
def test_a_damaged_image_is_an_image_or_an_error_of_ours(
    kind: str, flips: list[tuple[float, int]], early: bool
) -> None:
    """Nothing of the decoder's leaks, wherever bytes are wrong."""
    exif = pillow.Exif()
    exif[0x0112], exif[0x8825] = 6, GPS
    how = {} if kind in ("GIF", "BMP") else {"exif": exif}
    data = bytearray(encoded(picture(), kind, **how))
    reach = min(len(data), 400) if early else len(data)
    for at, value in flips:
        data[int(at * (reach - 1))] = value
    with suppress(OllamaKitError):
        image = prepare_image(bytes(data), ImageRules(limit_pixels=10_000))
        assert shown(image).size == (image.width, image.height)


@pytest.mark.process
def test_without_pillow_the_extra_is_named_and_the_header_still_judges() -> None:
    """What the header tells needs no library."""
    program = """
        import sys
        sys.modules["PIL"] = None
        from ollama_kit.errors import GuardBlocked, UsageError
        from ollama_kit.guard.images.prepare import prepare_image
        for data in (BOMB, SMALL, b"%PDF-1.7"):
            try:
                prepare_image(data)
            except (GuardBlocked, UsageError) as error:
                print(type(error).__name__, error.message, error.hint)
    """
    bomb, small = png(20_000, 10_000), png(1, 1, rows=zlib.compress(bytes(4)))
    program = textwrap.dedent(program).replace("BOMB", repr(bomb)).replace("SMALL", repr(small))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=60)
    first, second, third = done.stdout.splitlines()
    assert first.startswith("GuardBlocked")
    assert second.startswith("UsageError")
    assert "pip install 'ollama-kit[images]'" in second
    assert "a PDF" in third
