"""An image as a caller has it → an image as a model gets it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from ollama_kit.errors import GuardBlocked, Hint, UsageError
from ollama_kit.guard.images.decode import Checked, decode
from ollama_kit.guard.images.header import MOST_SCANS, SUFFIXES, Header, count_scans, read_header
from ollama_kit.guard.images.image import STAGE, Image, ImageRules, check_size, refusal
from ollama_kit.records.report import Finding

# One slash is enough: a path made from a URL has lost the other.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/|data:", re.IGNORECASE)

_NOT_FETCHED: Hint = (
    "Images are never fetched: download it yourself, and give the file.",
    "图片不会被自动下载：请自行下载后给出文件路径。",
)
DEFAULT = ImageRules()


def prepare_image(source: Path | str | bytes, rules: ImageRules = DEFAULT, *, name: str = "") -> Image:
    """The image in a file (or in its bytes): its first frame, upright, in RGB or grey, at most `rules.longest_side`
    pixels a side, encoded anew as PNG (JPEG, if it came with losses), so that no metadata and no second content is
    left in it. The same image gives the same bytes, and the server's prompt cache still works.

    What is seen of it is untrusted: a picture may hold sentences for the model, and an answer about it is text from
    outside like any document.

    UsageError where it is a URL, no image of a kind that is taken, or damaged, and where Pillow is not installed;
    GuardBlocked where it is larger than the rules allow. Both before a pixel is decoded, damage apart.
    """
    data = source if isinstance(source, bytes) else _read(source, rules)
    name = name or ("the image" if isinstance(source, bytes) else str(source))
    if len(data) > rules.limit_bytes:
        raise _too_many_bytes(name, len(data), rules)
    header = read_header(data, name)
    check_size(header, rules, name)
    if header.kind == "JPEG" and (scans := count_scans(data)) > MOST_SCANS:
        raise refusal(f"{name} is a JPEG of {scans:,} scans; {MOST_SCANS} are allowed", "scans")
    suffix = "" if isinstance(source, bytes) else Path(source).suffix.lower()
    findings = (misnamed(suffix, header, name),) if suffix and suffix not in SUFFIXES[header.kind] else ()
    return decode(Checked(data, header, rules, name), findings)


def refuse_url(source: object) -> None:
    """UsageError if an image is given as a URL."""
    if isinstance(source, str | Path) and _URL.match(str(source)):
        shown = str(source) if len(str(source)) < 80 else f"{str(source)[:60]}…"
        raise UsageError(f"{shown} is a URL, not a file", hint=_NOT_FETCHED)


def misnamed(suffix: str, header: Header, name: str) -> Finding:
    """That a file's name says something else than its content."""
    detail = f"named {suffix}, is {header.kind}"
    return Finding(STAGE, "misnamed", "low", "flagged", name, (0, 0), detail)


def _read(source: Path | str, rules: ImageRules) -> bytes:
    """The bytes of a file, no more than the rules allow. Pipes and devices are not read: they may have no end."""
    refuse_url(source)
    path = Path(source)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise UsageError(f"{path} is not a file")
        if state.st_size > rules.limit_bytes:
            raise _too_many_bytes(str(path), state.st_size, rules)
        with path.open("rb") as file:
            return file.read(rules.limit_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the image {path} cannot be read: {reason}") from error


def _too_many_bytes(name: str, size: int, rules: ImageRules) -> GuardBlocked:
    said = f"{name} is {size / 2**20:,.1f} MiB; {rules.limit_bytes / 2**20:,.1f} are allowed"
    return refusal(said, "bytes")
