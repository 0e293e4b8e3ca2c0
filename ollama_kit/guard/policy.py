"""What a guarded call does to its texts, as data: presets that ship, and a project's own files.

The keys of the stages come from the pipeline's list; the others are rules and limits of the call as a whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound, nearest_names
from ollama_kit.guard.images.image import ImageRules
from ollama_kit.guard.options import CALL_OPTIONS, Option
from ollama_kit.guard.pipeline import stage_options
from ollama_kit.specs.model import described, looks_like_path
from ollama_kit.specs.source import Source, read_yaml

POLICY_VERSION = 1
FOLDER = "templates"

OLD_KEYS: Mapping[str, str] = {"normalise": "normalize"}
"""Keys of earlier versions, which are still read."""


@dataclass(frozen=True)
class Policy:
    """What a call's guard does. `settings` are the keys of stages that differ from their defaults, as sorted pairs;
    each can be read as an attribute: `policy.injection`. `max_context` bounds the prompt in tokens below the window;
    `max_seconds` and `max_tokens` (generated) bound all attempts of a call together. None: no such bound. `image_side`
    is the longest side in pixels that an image is shrunk to; beyond the other two it is refused. `origin` is the file
    that it came from; of a mapping, that of what it extends."""

    name: str = "standard"
    settings: tuple[tuple[str, Any], ...] = ()
    context: str = "error"
    on_failure: str = "error"
    max_context: int | None = None
    attempts: int = 3
    max_seconds: float | None = None
    max_tokens: int | None = None
    image_side: int = 1536
    image_megapixels: float = 50.0
    image_megabytes: float = 20.0
    origin: Path | None = field(default=None, compare=False, repr=False)

    def setting(self, key: str) -> Any:
        """What the policy says about a key of a stage. KeyError for a key that no stage has."""
        return self._settings[key] if key in self._settings else stage_options()[key].default

    def with_settings(self, **changes: Any) -> Policy:
        """This policy with other words for its stages."""
        options = stage_options()
        merged = {**self._settings, **changes}
        differing = {key: value for key, value in merged.items() if value != options[key].default}
        return replace(self, settings=tuple(sorted(differing.items())))

    def softened(self) -> Policy:
        """This policy with nothing that refuses a text: what would block, flags."""
        return self.with_settings(
            **{key: option.softened(self.setting(key)) for key, option in stage_options().items()}
        )

    def weaker_than(self, other: Policy) -> tuple[str, ...]:
        """The keys of stages with which this policy guards less than another, each as `key: word`."""
        return tuple(
            f"{key}: {self.setting(key)}"
            for key, option in stage_options().items()
            if option.is_weaker(self.setting(key), other.setting(key))
        )

    @property
    def image_rules(self) -> ImageRules:
        """The bounds of an image."""
        return ImageRules(self.image_side, round(self.image_megapixels * 1e6), round(self.image_megabytes * 2**20))

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        return dict(self.settings)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in stage_options():
            raise AttributeError(f"a policy has no {key!r}")
        return self.setting(key)


PolicyLike = Policy | str | Mapping[str, Any]
"""A Policy, the name or path of one, or a mapping of what differs from `standard` (or from its `extends`)."""


def policy_options() -> Mapping[str, Option]:
    """Every key of a policy and what it may hold: those of the stages, in their order, then those of the call."""
    return {**stage_options(), **CALL_OPTIONS}


def load_policy(policy: PolicyLike) -> Policy:
    """The policy that is meant; SpecError, with file and line, where it is wrong."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return _load(policy)
    source = Source(Path("policy"), dict(policy))
    below = _load(_named(policy.get("extends", "standard")))
    return replace(_over(below, source, "custom"), origin=below.origin)


@lru_cache(maxsize=32)
def _read(path: Path, mtime_ns: int) -> Source:
    return read_yaml(path)


def _load(name: str, chain: tuple[Path, ...] = ()) -> Policy:
    path = _find(name)
    if path in chain:
        raise SpecError(f"circular `extends`: {' → '.join(p.stem for p in (*chain, path))}", path=path)
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
        raise SpecNotFound("no such policy file", path=path)
    if name in shipped_policy_names():
        return _reserved(name)
    found = resources.find(FOLDER, f"policies/{name}.yaml")
    if found:
        return found
    known = policy_names()
    nearest = nearest_names(name, known)
    meant = f"; did you mean {nearest[0]!r}?" if nearest else f"; there are {', '.join(known)}"
    raise SpecNotFound(f"no guard policy is called {name!r}{meant}", nearest=nearest)


def shipped_policy_names() -> tuple[str, ...]:
    """The names that nobody can give another meaning."""
    return tuple(sorted(path.stem for path in (resources.shipped_root() / FOLDER / "policies").glob("*.yaml")))


def _reserved(name: str) -> Path:
    """The shipped file of that name; SpecError where a project or the user has one of the same name."""
    shipped = resources.shipped_root() / FOLDER / "policies" / f"{name}.yaml"
    found = resources.find(FOLDER, f"policies/{name}.yaml")
    if found is not None and found.resolve() != shipped.resolve():
        raise SpecError(
            f"{name} is the name of a shipped policy, which no file can replace",
            path=found,
            hint=(
                f"Rename it, and begin it with `extends: {name}`.",
                f"请改名，并以 `extends: {name}` 开头。",
            ),
        )
    return shipped


def policy_names() -> tuple[str, ...]:
    """The names of all policies in sight."""
    folders = (folder / "policies" for folder in resources.search_path(FOLDER))
    return tuple(sorted({path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.yaml")}))


def _over(below: Policy, source: Source, name: str) -> Policy:
    """The policy `below` with what a file or a mapping says otherwise."""
    options = policy_options()
    words: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for written, value in source.data.items():
        if written in ("policy", "extends"):
            continue
        key = _spelled(written, source)
        if key not in options:
            nearest = nearest_names(key, tuple(options))
            meant = f"; did you mean `{nearest[0]}`?" if nearest else f"; the keys are {', '.join(options)}"
            raise SpecError(f"unknown stage or option {key!r}{meant}", path=source.path, line=source.line(written))
        kept = changes if key in CALL_OPTIONS else words
        kept[key] = options[key].read(written, value, source)
    return replace(below, name=name, origin=source.path, **changes).with_settings(**words)


def _spelled(key: Any, source: Source) -> str:
    """A key as it is spelled today; one of an earlier version is read, and said."""
    if key not in OLD_KEYS:
        return str(key)
    place = f"{source.path}:{source.line(key)}"
    message = f"{place}: the key `{key}` is spelled `{OLD_KEYS[key]}` now; the old one is still read"
    warnings.warn(message, FutureWarning, stacklevel=2)
    return OLD_KEYS[key]
