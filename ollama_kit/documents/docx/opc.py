"""The parts of a DOCX, a ZIP archive of XML: read one at a time, within the limits, without DTD or entities."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ollama_kit.documents.document import DocumentLimits
from ollama_kit.errors import DocumentError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", W[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/relationships", R[1:-1].encode()),
)
"""The namespaces of "Strict Open XML", and those that everybody writes (ECMA-376 part 1 and part 4)."""
RATIO_FROM_BYTES = 1_000_000

_BROKEN_HINT = (
    "Open it in Word, WPS or LibreOffice and save it again as .docx, or obtain the file again.",
    "请用 Word、WPS 或 LibreOffice 打开后重新另存为 .docx，或重新获取该文件。",
)
_BOMB_HINT = (
    "Such a file does not come from a word processor; do not trust it.",
    "文字处理软件不会生成这样的文件，请勿信任。",
)
_ZIP_PROBLEMS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError)
"""What zipfile raises for a broken, encrypted or strangely packed archive."""


class Package:
    """The parts by name. Nothing is unpacked before it is asked for, nothing is written to disk."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, limits: DocumentLimits) -> None:
        self._archive, self.path, self._limits = archive, path, limits
        self.names = frozenset(archive.namelist())

    def xml(self, name: str) -> Any | None:
        """The root of a part; None where the part is missing. DocumentError for one that is broken or unsafe."""
        if name not in self.names:
            return None
        from lxml import etree

        data = self._read(name)
        plain = data.replace(b"\0", b"")
        if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
            raise self.problem(f"{name} declares XML entities", hint=_BOMB_HINT)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
        )
        try:
            return etree.fromstring(data, parser)
        except etree.XMLSyntaxError as problem:
            raise self.problem(f"{name} is broken: {problem}") from problem

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Of a part ("" for the package): (kind, name of the target part) by id; those to other files are left out."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        if root is None:
            return {}
        found = {}
        for one in root.iter(_RELATION):
            if one.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, unquote(one.get("Target", ""))))
                found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target.lstrip("/"))
        return found

    def problem(self, message: str, hint: tuple[str, str] = _BROKEN_HINT) -> DocumentError:
        return DocumentError(message, path=self.path, hint=hint)

    def _read(self, name: str) -> bytes:
        info = self._archive.getinfo(name)
        if info.file_size > self._limits.part_bytes:
            most = self._limits.part_bytes
            raise self.problem(
                f"{name} unpacks to {info.file_size / 1e6:,.0f} MB; the limit is {most / 1e6:,.0f} MB", hint=_BOMB_HINT
            )
        try:
            data = self._archive.read(info)
        except _ZIP_PROBLEMS as problem:
            raise self.problem(f"{name} cannot be unpacked: {problem}") from problem
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
        return data

    def check(self) -> None:
        """Raises DocumentError for too many parts, or for what unpacks to too much (sizes as the archive says: zipfile
        unpacks no more than that)."""
        limits, infos = self._limits, self._archive.infolist()
        if len(infos) > limits.entries:
            raise self.problem(f"{len(infos):,} parts; the limit is {limits.entries:,}", hint=_BOMB_HINT)
        total = sum(info.file_size for info in infos)
        if total > limits.unpacked_bytes:
            raise self.problem(
                f"unpacks to {total / 1e6:,.0f} MB; the limit is {limits.unpacked_bytes / 1e6:,.0f} MB", hint=_BOMB_HINT
            )
        for info in infos:
            if info.file_size > RATIO_FROM_BYTES and info.file_size > limits.ratio * max(info.compress_size, 1):
                raise self.problem(
                    f"{info.filename} has a compression ratio of {info.file_size // max(info.compress_size, 1):,}:1;"
                    f" the limit is {limits.ratio}:1",
                    hint=_BOMB_HINT,
                )


@contextmanager
def opened(path: Path, limits: DocumentLimits) -> Iterator[Package]:
    """The package, checked. DocumentError where the archive is broken or beyond the limits."""
    try:
        archive = zipfile.ZipFile(path)
    except _ZIP_PROBLEMS as problem:
        raise DocumentError(f"not a readable DOCX, or truncated: {problem}", path=path, hint=_BROKEN_HINT) from problem
    with archive:
        package = Package(archive, path, limits)
        package.check()
        yield package


def attribute(element: Any, name: str = "val") -> str | None:
    """An attribute of Word's own namespace; None where the element or the attribute is not there."""
    if element is None:
        return None
    found = element.get(W + name)
    return None if found is None else str(found)


def switched_on(element: Any) -> bool | None:
    """Whether a property that is on or off is on: present counts as on; None where it is not there."""
    if element is None:
        return None
    return (attribute(element) or "1").lower() not in ("0", "false", "off", "none")
