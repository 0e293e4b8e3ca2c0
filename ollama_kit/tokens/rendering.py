"""Rendering here against rendering by the server: on what kinds of conversation both are the same, kept by model.

A conversation has features (a system turn, tools, a thought in an earlier answer …). Each has a sample, which the
server renders once; a conversation is rendered here where the samples of all its features came out alike. What was
found is kept on disk for a digest, a template and a version of the server.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.tokens.chat_template.turns import ToolCall, Turn
from ollama_kit.tokens.store import keep_file, kept_file

FORMAT = "ollama-kit renderings 1"
KEPT_IN_MEMORY = 32
KEPT_SKELETONS = 256
"""Shapes of conversations kept for one model; the oldest go first."""

TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city, 天气.",
        "parameters": {
            "type": "object",
            "required": ["city"],
            "properties": {
                "days": {"type": "integer"},
                "city": {"type": "string", "description": "城市 <name>", "enum": ["a", "b"]},
                "more": {"type": "array", "items": {"type": "string", "default": 1.0}},
            },
        },
    },
}
_CALL = ToolCall("weather", {"days": 2, "city": "杭州", "more": [1.5, None, {"b": 1, "a": "\n"}]})
_ASKED = Turn("user", " \u3000Hello 你好\n ")
_SAID = Turn("assistant", "\u3000two\n")

SAMPLES: Mapping[str, tuple[Turn, ...]] = {
    "plain": (_ASKED,),
    "system": (Turn("system", " Be brief.\n"), _ASKED),
    "turns": (_ASKED, _SAID, _ASKED),
    "thought": (_ASKED, Turn("assistant", "<think>\nbecause\n</think>\n\na"), _ASKED),
    "prefill": (_ASKED, Turn("assistant", "Once upon ")),
    "late_system": (_ASKED, _SAID, Turn("system", "Be loud."), _ASKED),
    "neighbors": (_ASKED, Turn("user", "and"), _SAID, _SAID, _ASKED),
    "two_systems": (Turn("system", "One."), Turn("system", "Two."), _ASKED),
    "tools": (_ASKED,),
    "calls": (_ASKED, Turn("assistant", "", tool_calls=(_CALL, _CALL)), Turn("tool", "sunny", tool_name="weather"),
              Turn("tool", "windy", tool_name="weather"), _SAID, _ASKED),
    "result_last": (_ASKED, Turn("assistant", "so", tool_calls=(_CALL,)), Turn("tool", "sunny", tool_name="weather")),
}  # fmt: skip
"""A small conversation for each feature."""


def features_of(turns: Sequence[Turn], *, tools: bool) -> tuple[str, ...]:
    """What a conversation has of the features, in the order of SAMPLES. `tools`: whether it offers any."""
    roles = [turn.role for turn in turns]
    first = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
    found = {
        "plain": True,
        "system": first > 0,
        "turns": "assistant" in roles[:-1],
        "thought": any(turn.role == "assistant" and "think>" in turn.content for turn in turns),
        "prefill": roles[-1:] == ["assistant"],
        "late_system": "system" in roles[first:],
        "neighbors": any(one == other != "tool" for one, other in pairwise(roles[first:])),
        "two_systems": first > 1,
        "tools": tools,
        "calls": "tool" in roles or any(turn.tool_calls for turn in turns),
        "result_last": roles[-1:] == ["tool"],
    }
    return tuple(name for name in SAMPLES if found[name])


def skeleton_of(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The same turns with one letter each: what is rendered around it is the template's."""
    return tuple(Turn(turn.role, "x") for turn in turns)


@dataclass(frozen=True)
class Skeleton:
    """How much a template writes around the turns of a shape: bytes and tokens."""

    around_bytes: int
    around_tokens: int


@dataclass
class KnownRenderings:
    """What is known of one model's rendering by one server; safe to share between threads. `agrees` is by feature and
    thinking, `skeletons` by roles and thinking. `is_served` is False where the server does not render on request."""

    key: str
    agrees: dict[str, bool] = field(default_factory=dict)
    skeletons: OrderedDict[str, Skeleton] = field(default_factory=OrderedDict)
    is_served: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def learn(self, name: str, agrees: bool) -> None:
        """Keeps whether a sample came out alike."""
        with self._lock:
            self.agrees[name] = agrees
            self._keep()

    def measure(self, name: str, skeleton: Skeleton) -> None:
        """Keeps what a template writes around a shape."""
        with self._lock:
            self.skeletons[name] = skeleton
            while len(self.skeletons) > KEPT_SKELETONS:
                self.skeletons.popitem(last=False)
            self._keep()

    def _keep(self) -> None:
        if not self.key:
            return
        sizes = {name: [each.around_bytes, each.around_tokens] for name, each in self.skeletons.items()}
        body = json.dumps({"agrees": self.agrees, "skeletons": sizes}, ensure_ascii=False)
        keep_file(cache_file(self.key), FORMAT, body.encode())


_loaded: OrderedDict[str, KnownRenderings] = OrderedDict()
_lock = threading.Lock()


def known_renderings(digest: str, template: str, version: str) -> KnownRenderings:
    """What is known for a model by its digest, the template that runs, and the server's version. Without a digest
    nothing is kept."""
    if not digest:
        return KnownRenderings("")
    key = hashlib.sha256("\0".join((digest, template, version)).encode("utf-8", "surrogatepass")).hexdigest()
    with _lock:
        known = _loaded.setdefault(key, _from_disk(key) if key not in _loaded else _loaded[key])
        _loaded.move_to_end(key)
        while len(_loaded) > KEPT_IN_MEMORY:
            _loaded.popitem(last=False)
    return known


def forget_renderings() -> None:
    """Empties the cache of this process; files stay."""
    with _lock:
        _loaded.clear()


def cache_file(key: str) -> Path:
    return resources.cache_root() / "renderings" / f"{key[:32]}.json"


def _from_disk(key: str) -> KnownRenderings:
    known = KnownRenderings(key)
    body = kept_file(cache_file(key), FORMAT)
    try:
        value = json.loads(body) if body is not None else {}
        known.agrees.update({str(name): bool(agrees) for name, agrees in value.get("agrees", {}).items()})
        for name, (around_bytes, around_tokens) in value.get("skeletons", {}).items():
            known.skeletons[str(name)] = Skeleton(int(around_bytes), int(around_tokens))
    except (ValueError, TypeError, AttributeError):
        return KnownRenderings(key)
    return known


def missing_turns(rendered: str, turns: Sequence[Turn]) -> Iterator[int]:
    """Which turns of the caller are not in a rendered prompt: a server that drops what does not fit does so before it
    renders. What an assistant said is not looked for, since templates cut its thoughts."""
    for at, turn in enumerate(turns):
        if turn.role != "assistant" and turn.content.strip() not in rendered:
            yield at
