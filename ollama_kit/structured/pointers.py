"""JSON Pointers (RFC 6901): the form in which every place in a schema or an answer is named."""

from __future__ import annotations

from collections.abc import Iterable


def join(parts: Iterable[str | int]) -> str:
    """The pointer to a path of keys and indexes; the whole document is the empty text.

    >>> join(["messages", 3, "a/b"])
    '/messages/3/a~1b'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
