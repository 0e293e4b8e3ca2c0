"""A spec with all it inherits and overrides, each value still knowing the file it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound, UsageError, nearest_names
from ollama_kit.specs.keys import MERGED, described, looks_like_path, wrong_type
from ollama_kit.specs.model import SPEC_VERSION
from ollama_kit.specs.source import Source, parse_yaml, read_yaml

COMMAND_LINE = Path("--set")


@dataclass(frozen=True)
class Layered:
    """A spec with all it inherits: values by key, and the file each came from."""

    data: Mapping[str, Any]
    origin: Mapping[str, Source]

    def where(self, key: str) -> tuple[Path, int]:
        """File and line of a dotted key, or of the nearest thing around it."""
        around = key
        while around and around not in self.origin:
            around = around.rpartition(".")[0]
        source = self.origin[around]
        return source.path, source.line(key)

    def error(self, key: str, message: str, hint: str | tuple[str, str] = "") -> SpecError:
        path, line = self.where(key)
        return SpecError(message, path=path, line=line, hint=hint)


def spec_names() -> tuple[str, ...]:
    """The names of all specs in sight: the project's, the user's and the shipped ones."""
    return tuple(path.stem for path in resources.each("modelfiles", ".yaml"))


def find_spec(name: str) -> Path:
    """The file of a spec, by name or by path. SpecNotFound names the nearest ones that exist."""
    if looks_like_path(name) or name.endswith((".yaml", ".yml")):
        path = Path(name).expanduser()
        if path.is_file():
            return path
        raise SpecNotFound("there is no such file", path=path)
    found = resources.find("modelfiles", f"{name}.yaml")
    if found:
        return found
    nearest = nearest_names(name, spec_names())
    said = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
    raise SpecNotFound(
        f"there is no spec called {name!r}.{said}",
        nearest=nearest,
        hint=("`ollama-kit list` shows all of them.", "用 `ollama-kit list` 查看全部。"),
    )


def inherit(path: Path, chain: tuple[Path, ...]) -> Layered:
    """A spec's own keys over those of the one it extends, and so on up."""
    source = read_yaml(path)
    if not isinstance(source.data, dict):
        found = "is empty" if source.data is None else f"holds {described(source.data)}"
        raise SpecError(f"a spec is a mapping of keys to values; this file {found}", path=path, line=1)
    _check_version(source)
    own = Layered(source.data, dict.fromkeys(dotted_keys(source.data), source) | {"": source})
    if "extends" not in source.data:
        return own
    if problem := wrong_type("extends", source.data["extends"]):
        raise own.error("extends", problem)
    line, here = source.line("extends"), (*chain, path.resolve())
    parent = _find_parent(path, source.data["extends"], line)
    if parent.resolve() in here:
        names = " → ".join(step.stem for step in (*here, parent))
        raise SpecError(f"`extends` goes round in a circle: {names}", path=path, line=line)
    return _over(own, inherit(parent, here))


def _find_parent(path: Path, name: str, line: int) -> Path:
    beside = path.parent / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    if beside.is_file() and beside.resolve() != path.resolve():
        return beside
    try:
        found = find_spec(name)
    except SpecNotFound as problem:
        raise SpecNotFound(
            f"extends {name!r}: {problem.problem}", nearest=problem.nearest, path=path, line=line
        ) from problem
    if found.resolve() == path.resolve():  # a project's spec may refine the shipped one of the same name
        below = resources.shipped_root() / "modelfiles" / found.name
        return below if below.is_file() else found
    return found


def _over(child: Layered, parent: Layered) -> Layered:
    data, origin = dict(parent.data), dict(parent.origin)
    for key, value in child.data.items():
        if key in MERGED and isinstance(value, dict) and isinstance(data.get(key), dict):
            value = {**data[key], **value}
        else:
            origin = {at: source for at, source in origin.items() if at != key and not at.startswith(f"{key}.")}
        data[key] = value
    return Layered(data, origin | dict(child.origin))


def override(layered: Layered, key: str, text: str) -> Layered:
    value = parse_yaml(text, COMMAND_LINE).data
    data = dict(layered.data)
    top, _, rest = key.partition(".")
    if rest and top in MERGED:
        inner = data.get(top)
        data[top] = {**(inner if isinstance(inner, dict) else {}), rest: value}
    elif rest:
        raise UsageError(f"--set {key}: only {' and '.join(sorted(MERGED))} have keys of their own")
    else:
        data[top] = value
    given = Source(COMMAND_LINE, value)
    return Layered(data, {**layered.origin, key: given, **({} if rest else {top: given})})


def _check_version(source: Source) -> None:
    version = source.data.get("spec")
    if version == SPEC_VERSION and not isinstance(version, bool):
        return
    if isinstance(version, int) and not isinstance(version, bool) and version > SPEC_VERSION:
        raise SpecError(
            f"this spec is of version {version}; this ollama-kit reads version {SPEC_VERSION}",
            path=source.path,
            line=source.line("spec"),
            hint=("Upgrade with `pip install -U ollama-kit`.", "请升级：`pip install -U ollama-kit`。"),
        )
    said = "`spec: 1` is missing" if version is None else f"spec must be {SPEC_VERSION}, not {described(version)}"
    raise SpecError(
        f"{said}: the version of the spec format",
        path=source.path,
        line=source.line("spec") if version is not None else 1,
        hint=("Write `spec: 1` as the first line.", "请在第一行写上 `spec: 1`。"),
    )


def dotted_keys(data: Any, prefix: str = "") -> Sequence[str]:
    """The dotted keys of a tree: {"a": [{"b": 1}]} gives a, a.0, a.0.b."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    keys: list[str] = []
    for name, value in pairs:
        dotted = f"{prefix}.{name}" if prefix else str(name)
        keys += [dotted, *dotted_keys(value, dotted)]
    return keys
