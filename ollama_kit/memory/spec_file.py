"""Sets `context` in a spec's file and leaves every other character as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ollama_kit.errors import SpecError
from ollama_kit.text.encodings import decode, write_bytes

KEY = "context"
AFTER = ("from", "extends", "spec")
"""Where a spec has no `context` of its own, it is put after the first of these that is there."""


def set_context(path: Path, tokens: int) -> bool:
    """Makes the file say `context: tokens`; False if it said so already. Comments, order, encoding and line ends stay.

    The new file is written beside the old one and renamed over it. SpecError where the file is not a mapping.
    """
    raw = path.read_bytes()
    text, encoding = decode(raw)
    changed = with_context(text, tokens, path)
    if changed == text:
        return False
    write_bytes(path, changed.encode(encoding), private=False)
    return True


def with_context(text: str, tokens: int, path: Path = Path("spec")) -> str:
    """The text of a spec with its `context` set.

    >>> with_context("spec: 1\\nfrom: m  # base\\ncontext: 8192   # tokens\\n", 4096)
    'spec: 1\\nfrom: m  # base\\ncontext: 4096   # tokens\\n'
    >>> with_context("spec: 1\\nfrom: m  # base\\n", 4096)
    'spec: 1\\nfrom: m  # base\\ncontext: 4096\\n'
    """
    import yaml

    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise SpecError("is not a mapping with one key per line, so it was not changed", path=path, line=1)
    pairs = {key.value: (key, value) for key, value in root.value}
    if KEY in pairs:
        value = pairs[KEY][1]
        start, end = value.start_mark.index, value.end_mark.index
        return f"{text[:start]}{'' if end > start else ' '}{tokens}{text[end:]}"
    anchor = next((pairs[name] for name in AFTER if name in pairs), None)
    if anchor is None:
        raise SpecError("has neither `from` nor `spec`", path=path, line=1)
    newline = "\r\n" if "\r\n" in text else "\n"
    line_end = text.find("\n", anchor[1].end_mark.index)
    if line_end < 0:
        return f"{text}{newline}{KEY}: {tokens}{newline}"
    return f"{text[: line_end + 1]}{KEY}: {tokens}{newline}{text[line_end + 1 :]}"
