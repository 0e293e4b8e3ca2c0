"""Reads a Modelfile without losing anything of it: text, comments, and the characters that Ollama drops."""

from __future__ import annotations

import codecs
from pathlib import Path

from ollama_kit.errors import ModelfileError
from ollama_kit.modelfile.grammar import Modelfile
from ollama_kit.modelfile.rules import RULES
from ollama_kit.modelfile.scan import scan

LIMIT_BYTES = 4 * 1024 * 1024
"""Larger files are refused unread: the longest prompt a model can hold is far below."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_modelfile(data: bytes | str, path: str = "") -> Modelfile:
    """The Modelfile that the bytes or the text hold. ModelfileError, with the line, for what Ollama refuses to parse.

    Refused here although Ollama takes them: files over 4 MiB, NUL bytes, and bytes that are not text in their encoding
    (Ollama would put U+FFFD, which is how a GBK file turns to rubbish). Encodings: UTF-8, and UTF-16 with a BOM.

    >>> [(c.name, c.args) for c in read_modelfile("FROM qwen3:4b\\nSYSTEM hello\\n").commands]
    [('from', 'qwen3:4b'), ('system', 'hello')]
    """
    text, encoding = decode(data, path)
    found = scan(text)
    for fault in found.faults:
        raise ModelfileError(fault.message, path=path, line=fault.line, hint=RULES[fault.rule].fix)
    modelfile = Modelfile(found.commands, found.after, path, encoding, "\r\n" in text)
    if not any(modelfile.named("from")):
        raise ModelfileError("no FROM line", path=path, hint=RULES["no-from"].fix)
    return modelfile


def load_modelfile(path: Path) -> Modelfile:
    """The Modelfile in a file. ModelfileError if it is too large to be one, before it is read."""
    return read_modelfile(load_bytes(path), str(path))


def load_bytes(path: Path) -> bytes:
    """The bytes of a file of at most LIMIT_BYTES, else ModelfileError."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise ModelfileError(f"cannot be read: {error.strerror or error}", path=path) from error
    _check_size(data, str(path))
    return data


def decode(data: bytes | str, path: str = "") -> tuple[str, str]:
    """(text without its BOM, name of the encoding). ModelfileError if it is not text or too large.

    >>> decode("FROM x".encode("utf-16"))[1] in ("utf-16-le", "utf-16-be")
    True
    """
    _check_size(data, path)
    if isinstance(data, str):
        text, encoding = data.removeprefix("\ufeff"), "utf-8-sig" if data.startswith("\ufeff") else "utf-8"
    else:
        text, encoding = _decode_bytes(data, path)
    _check_nul(text, path)
    return text, encoding


_NUL_HINT = (
    "A Modelfile is UTF-8 text. Save UTF-16 without a BOM as UTF-8; name a GGUF in a Modelfile: FROM ./file.gguf",
    "Modelfile 是 UTF-8 文本。若它是没有 BOM 的 UTF-16,请另存为 UTF-8;若是 GGUF,请写 FROM ./file.gguf",
)
_ENCODING_HINT = (
    "Save the file as UTF-8. A Chinese Windows editor may have saved it as GBK.",
    "请将文件另存为 UTF-8;它可能是以 GBK 保存的。",
)
_SIZE_HINT = (
    "If it is a weights file, name it in a Modelfile: FROM ./file.gguf",
    "如果它是权重文件,请在 Modelfile 中写 FROM ./file.gguf",
)


def _decode_bytes(data: bytes, path: str) -> tuple[str, str]:
    if data.startswith(b"GGUF"):
        raise ModelfileError("is a GGUF weights file, not a Modelfile", path=path, line=1, hint=_SIZE_HINT)
    bom, encoding = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", "utf-8"))
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    body = data[len(bom) :]
    try:
        return body.decode(codec), encoding
    except UnicodeDecodeError as error:
        _check_nul(body.decode(codec, "replace"), path)
        line = _line_at(body[: error.start].decode(codec, "replace"))
        problem = f"is not {codec.upper()} text (byte {error.start + len(bom)})"
        raise ModelfileError(problem, path=path, line=line, hint=_ENCODING_HINT) from error


def _check_nul(text: str, path: str) -> None:
    before, nul, _ = text.partition("\0")
    if nul:
        problem = "holds a NUL byte: this is not a text file"
        raise ModelfileError(problem, path=path, line=_line_at(before), hint=_NUL_HINT)


def _check_size(data: bytes | str, path: str) -> None:
    if len(data) > LIMIT_BYTES:
        raise ModelfileError(
            f"is larger than {LIMIT_BYTES // 1024 // 1024} MiB, too large for a Modelfile", path=path, hint=_SIZE_HINT
        )


def _line_at(before: str) -> int:
    """The line on which a text stands, from what comes before it; a lone CR ends a line too."""
    return before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
