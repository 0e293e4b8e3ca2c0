"""A JSON document as it arrives: what is certain of it so far, for the work of one pass in all."""

from __future__ import annotations

import copy
import re
from typing import Any

from ollama_kit.structured.find import Refused, decoder, refuse_half_characters

_STRING_STOP = re.compile(r'["\\]')
_TOKEN_STOP = re.compile(r"[\s,\]}]")
_BLANK = " \t\r\n"


class PartialJSON:
    """Fed with a reply's text in pieces, holds the values that are complete.

    Text before the first bracket is passed over, text after the document ignored. A string or a number counts once it
    has ended, so that no reader sees half of one. `problem` is the first thing that is not JSON; nothing is read after.

    >>> reply = PartialJSON()
    >>> reply.feed('{"title": "周报", "items": [1, 2')
    >>> reply.value, reply.complete
    ({'title': '周报', 'items': [1]}, False)
    """

    def __init__(self) -> None:
        self.complete = False
        self.problem = ""
        self._root: Any = None
        self._open: list[tuple[Any, str]] = []  # containers not yet closed, and the key of an object's next value
        self._expects = "start"
        self._token: list[str] = []
        self._in_string = self._escaped = False

    @property
    def value(self) -> Any:
        """The document so far; None before its first bracket. It is the live value: the next `feed` changes it."""
        return self._root

    def snapshot(self) -> Any:
        """A copy of `value` that stays as it is."""
        return copy.deepcopy(self._root)

    def feed(self, text: str) -> None:
        """Reads the next piece of the reply. Never raises: see `problem`."""
        at = 0
        try:
            while at < len(text) and not self.complete and not self.problem:
                if self._in_string:
                    at = self._string(text, at)
                elif self._token:
                    at = self._bare(text, at)
                else:
                    at = self._structure(text, at)
        except (ValueError, RecursionError) as error:
            self.problem = str(error) or "not JSON"

    def _structure(self, text: str, at: int) -> int:
        char = text[at]
        if self._expects == "start":
            if char in "{[":
                self._begin(char)
        elif char in _BLANK:
            pass
        elif char == '"' and self._expects in ("value", "value or end", "key", "key or end"):
            self._in_string = True
        elif char in "}]" and self._closes(char):
            self._open.pop()
            self._expects = "comma or end"
            self.complete = not self._open
        elif char == ":" and self._expects == "colon":
            self._expects = "value"
        elif char == "," and self._expects == "comma or end":
            self._expects = "key" if isinstance(self._open[-1][0], dict) else "value"
        elif self._expects in ("value", "value or end"):
            if char in "{[":
                self._begin(char)
            elif char in "-0123456789tfnNI":
                self._token.append(char)
            else:
                raise Refused(f"{char!r} where a value was expected")
        else:
            raise Refused(f"{char!r} where {self._expects} was expected")
        return at + 1

    def _begin(self, char: str) -> None:
        container: Any = {} if char == "{" else []
        if self._open:
            self._put(container)
        else:
            self._root = container
        self._open.append((container, ""))
        self._expects = "key or end" if char == "{" else "value or end"

    def _closes(self, char: str) -> bool:
        return self._expects.endswith("or end") and isinstance(self._open[-1][0], dict) == (char == "}")

    def _string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            self._token.append(text[at])
            return at + 1
        stop = _STRING_STOP.search(text, at)
        if stop is None:
            self._token.append(text[at:])
            return len(text)
        self._token.append(text[at : stop.start()])
        if stop[0] == "\\":
            self._token.append("\\")
            self._escaped = True
            return stop.end()
        self._in_string = False
        self._end_of_token('"' + "".join(self._token) + '"')
        return stop.end()

    def _bare(self, text: str, at: int) -> int:
        """A number, true, false or null: it ends with what cannot belong to it."""
        stop = _TOKEN_STOP.search(text, at)
        self._token.append(text[at : stop.start()] if stop else text[at:])
        if stop:
            self._end_of_token("".join(self._token))
        return stop.start() if stop else len(text)

    def _end_of_token(self, token: str) -> None:
        value = decoder().decode(token)
        refuse_half_characters(value, token)
        self._token.clear()
        if self._expects.startswith("key"):
            container = self._open[-1][0]
            if value in container:
                raise Refused(f"duplicate key {value!r}")
            self._open[-1] = (container, value)
            self._expects = "colon"
        else:
            self._put(value)
            self._expects = "comma or end"

    def _put(self, value: Any) -> None:
        container, key = self._open[-1]
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)
