"""What a guarded call does to its texts, as data: presets that ship, and a project's own files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound, nearest_names
from ollama_kit.guard.images.image import ImageRules
from ollama_kit.guard.judge import JudgeConfig, parse_judge
from ollama_kit.guard.scanners.rules import ScannerConfig, parse_scanners
from ollama_kit.specs.model import described, looks_like_path
from ollama_kit.specs.source import Source, read_yaml

POLICY_VERSION = 1
FOLDER = "templates"

CHOICES: Mapping[str, tuple[str, ...]] = {
    "normalize": ("on", "off"),
    "secrets": ("redact", "flag", "block", "off"),
    "personal": ("redact", "flag", "block", "off"),
    "injection": ("flag", "cut", "block", "off"),
    "control_tokens": ("break", "off"),
    "markup": ("disarm", "off"),
    "fence": ("on", "off"),
    "context": ("error", "drop_oldest", "middle_out", "map_reduce"),
    "evidence": ("error", "mark"),
    "leak": ("error", "flag", "off"),
    "on_failure": ("error", "empty"),
}
"""The stages and rules that take a word, and the words they take."""

NUMBERS: Mapping[str, tuple[type, float]] = {
    "injection_threshold": (float, 0.0),
    "max_context": (int, 64),
    "attempts": (int, 1),
    "max_seconds": (float, 0.0),
    "max_tokens": (int, 1),
    "image_side": (int, 16),
    "image_megapixels": (float, 0.001),
    "image_megabytes": (float, 0.001),
}
"""The limits, with their type and the least value."""

BOUNDED = frozenset({"attempts", "image_side", "image_megapixels", "image_megabytes"})
"""The limits that can be set and not taken away."""


@dataclass(frozen=True)
class Policy:
    """One word for each stage, and the limits of a call. `max_context` bounds the prompt in tokens below the window;
    `max_seconds` and `max_tokens` (generated) bound all attempts of a call together. None: no such bound.
    `image_side` is the longest side in pixels that an image is shrunk to; beyond the other two it is refused."""

    name: str = "standard"
    normalize: str = "on"
    secrets: str = "redact"
    personal: str = "flag"
    injection: str = "flag"
    control_tokens: str = "break"
    markup: str = "disarm"
    fence: str = "on"
    context: str = "error"
    evidence: str = "error"
    leak: str = "flag"
    on_failure: str = "error"
    injection_threshold: float | None = None
    max_context: int | None = None
    attempts: int = 3
    max_seconds: float | None = None
    max_tokens: int | None = None
    judge: JudgeConfig | None = None
    scanners: ScannerConfig | None = None
    image_side: int = 1536
    image_megapixels: float = 50.0
    image_megabytes: float = 20.0

    @property
    def image_rules(self) -> ImageRules:
        """The bounds of an image."""
        return ImageRules(self.image_side, round(self.image_megapixels * 1e6), round(self.image_megabytes * 2**20))


PolicyLike = Policy | str | Mapping[str, Any]
"""A Policy, the name or path of one, or a mapping of what differs from `standard` (or from its `extends`)."""

KEYS = tuple(item.name for item in fields(Policy) if item.name != "name")


def _scanners(value: Any, source: Source) -> ScannerConfig | None:
    """llm-guard's scanners; None where the key says off, or names none."""
    config = None if value is False or value is None else parse_scanners(value, source)
    return config if config is not None and config.rules else None


PARSED: Mapping[str, Callable[[Any, Source], Any]] = {"judge": parse_judge, "scanners": _scanners}
"""The keys that hold a mapping of their own, and what reads each."""


def load_policy(policy: PolicyLike) -> Policy:
    """The policy that is meant; SpecError, with file and line, where it is wrong."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return _load(policy)
    source = Source(Path("policy"), dict(policy))
    return _over(_load(_named(policy.get("extends", "standard"))), source, "custom")


@lru_cache(maxsize=32)
def _read(path: Path, mtime_ns: int) -> Source:
    return read_yaml(path)


def _load(name: str, chain: tuple[Path, ...] = ()) -> Policy:
    path = _find(name)
    if path in chain:
        raise SpecError(f"`extends` goes round in a circle: {' → '.join(p.stem for p in (*chain, path))}", path=path)
    source = _read(path, path.stat().st_mtime_ns)
    if not isinstance(source.data, dict):
        raise SpecError(f"a policy is a mapping of stages to words, not {described(source.data)}", path=path, line=1)
    if source.data.get("policy") != POLICY_VERSION:
        line = source.line("policy") if "policy" in source.data else 1
        raise SpecError(f"the first line of a policy is `policy: {POLICY_VERSION}`", path=path, line=line)
    parent = source.data.get("extends")
    below = _load(_named(parent), (*chain, path)) if parent is not None else Policy()
    return _over(below, source, path.stem)


def _named(parent: Any) -> str:
    """The name that `extends` gives. YAML reads a bare `off` as false."""
    return "off" if parent is False else str(parent)


def _find(name: str) -> Path:
    if looks_like_path(name) or name.endswith((".yaml", ".yml")):
        path = Path(name).expanduser().resolve()
        if path.is_file():
            return path
        raise SpecNotFound("there is no such policy file", path=path)
    found = resources.find(FOLDER, f"policies/{name}.yaml")
    if found:
        return found
    known = policy_names()
    nearest = nearest_names(name, known)
    meant = f"; did you mean {nearest[0]!r}?" if nearest else f"; there are {', '.join(known)}"
    raise SpecNotFound(f"there is no guard policy called {name!r}{meant}", nearest=nearest)


def policy_names() -> tuple[str, ...]:
    """The names of all policies in sight."""
    folders = (folder / "policies" for folder in resources.search_path(FOLDER))
    return tuple(sorted({path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.yaml")}))


def _over(below: Policy, source: Source, name: str) -> Policy:
    changes: dict[str, Any] = {}
    for key, value in source.data.items():
        if key in ("policy", "extends"):
            continue
        if key not in KEYS:
            nearest = nearest_names(key, KEYS)
            meant = f"; did you mean `{nearest[0]}`?" if nearest else f"; the keys are {', '.join(KEYS)}"
            raise SpecError(f"unknown stage or option {key!r}{meant}", path=source.path, line=source.line(key))
        if key in PARSED:
            changes[key] = PARSED[key](value, source)
        else:
            changes[key] = _word(key, value, source) if key in CHOICES else _number(key, value, source)
    return replace(below, name=name, **changes)


def _word(key: str, value: Any, source: Source) -> str:
    """One of the words a key takes. YAML reads a bare on and off as true and false."""
    words = CHOICES[key]
    word = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    if word == "on" and "on" not in words:
        word = words[0]
    if word not in words:
        said = f"{key} must be {', '.join(words[:-1])} or {words[-1]}, not {described(value)}"
        raise SpecError(said, path=source.path, line=source.line(key))
    return str(word)


def _number(key: str, value: Any, source: Source) -> Any:
    kind, least = NUMBERS[key]
    right = isinstance(value, int | float) and not isinstance(value, bool) and (kind is float or isinstance(value, int))
    if value is None and key not in BOUNDED:
        return None
    if not right or not least <= value < math.inf:
        what = "a whole number" if kind is int else "a number"
        said = f"{key} must be {what} from {least:g} up, not {described(value)}"
        raise SpecError(said, path=source.path, line=source.line(key))
    return kind(value)
