"""What a key of a policy may hold: a word, a number, or a mapping that a stage reads itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ollama_kit.errors import SpecError
from ollama_kit.specs.model import described
from ollama_kit.specs.source import Source


@dataclass(frozen=True)
class Words:
    """One of a few words. `by_strength` orders them, the strongest first, where `words` is in another order."""

    words: tuple[str, ...]
    default: str
    by_strength: tuple[str, ...] = ()
    turns_on = True

    def read(self, key: str, value: Any, source: Source) -> str:
        """The word that is written there. YAML reads a bare on and off as true and false; a bare `on` is the first
        word where there is no "on"."""
        word = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
        if word == "on" and "on" not in self.words:
            word = self.words[0]
        if word not in self.words:
            said = f"{key} must be {', '.join(self.words[:-1])} or {self.words[-1]}, not {described(value)}"
            raise SpecError(said, path=source.path, line=source.line(key))
        return str(word)

    def is_weaker(self, word: Any, than: Any) -> bool:
        """Whether a word guards less than another."""
        order = self.by_strength or self.words
        return order.index(word) > order.index(than)

    def softened(self, word: Any) -> Any:
        """`flag` instead of `block`, where there is such a word: what the stage would find, and nothing refused."""
        return "flag" if word == "block" and "flag" in self.words else word


@dataclass(frozen=True)
class Number:
    """A number from `least` up, whole where `kind` is int; `removable` if null may take the limit away."""

    kind: type
    least: float
    default: float | None = None
    removable: bool = True
    turns_on = False

    def read(self, key: str, value: Any, source: Source) -> Any:
        """The number, None for no limit."""
        whole = self.kind is int
        right = (
            isinstance(value, int | float) and not isinstance(value, bool) and not (whole and isinstance(value, float))
        )
        if value is None and self.removable:
            return None
        if not right or not self.least <= value < math.inf:
            what = "a whole number" if whole else "a number"
            said = f"{key} must be {what} from {self.least:g} up, not {described(value)}"
            raise SpecError(said, path=source.path, line=source.line(key))
        return self.kind(value)

    def is_weaker(self, value: Any, than: Any) -> bool:
        """A threshold above another's finds less; None is the stage's own."""
        return value is not None and (than is None or value > than)

    def softened(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Mapped:
    """A mapping with keys of its own. `parse` gives the stage's own value for it, None where it is off; `soften` the
    one that finds the same and refuses nothing; `weaker` whether one value guards less than another; `said` is what the
    README says of it; `turns_on` whether saying something here turns the stage on."""

    parse: Callable[[Any, Source], Any]
    soften: Callable[[Any], Any] = lambda value: value
    weaker: Callable[[Any, Any], bool] = lambda value, than: value is None and than is not None
    said: str = "a mapping, **off**"
    default: None = None
    turns_on: bool = True

    def read(self, key: str, value: Any, source: Source) -> Any:
        return self.parse(value, source)

    def is_weaker(self, value: Any, than: Any) -> bool:
        """Whether it guards less: by default, whether it is off where the other is on."""
        return self.weaker(value, than)

    def softened(self, value: Any) -> Any:
        return None if value is None else self.soften(value)


Option = Words | Number | Mapped


CALL_OPTIONS: Mapping[str, Option] = {
    "context": Words(("error", "drop_oldest", "middle_out", "map_reduce"), "error"),
    "on_failure": Words(("error", "empty"), "error"),
    "max_context": Number(int, 64),
    "attempts": Number(int, 1, 3, removable=False),
    "max_seconds": Number(float, 0.0),
    "max_tokens": Number(int, 1),
    "image_side": Number(int, 16, 1536, removable=False),
    "image_megapixels": Number(float, 0.001, 50.0, removable=False),
    "image_megabytes": Number(float, 0.001, 20.0, removable=False),
}
"""The keys that belong to no stage, and what each may hold."""
