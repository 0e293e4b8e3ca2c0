"""YAML as a tree that remembers the file and line of each value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import SourceError, SpecError
from ollama_kit.text.encodings import decode

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 4 * 1024 * 1024
MAX_NODES = 20_000  # aliases multiply: ten lines of YAML can name a billion values


@dataclass(frozen=True)
class Source:
    """The data of one YAML file. `lines` maps a dotted key ("messages.0.role") to its line, from 1."""

    path: Path
    data: Any
    lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def line(self, key: str) -> int:
        """The line of a key, or of the nearest thing around it that has one."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return self.lines.get(key, 1)


def read_yaml(path: Path, *, error: type[SourceError] = SpecError) -> Source:
    """The data and lines of a YAML file; every failure is an `error` that names the file and the line."""
    try:
        raw = path.read_bytes()
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    if len(raw) > MAX_BYTES:
        raise error(f"has {len(raw):,} bytes; at most {MAX_BYTES:,} are read", path=path)
    try:
        text, _ = decode(raw)
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise error("is not text in UTF-8, UTF-16 or GB18030", path=path, line=line) from problem
    return parse_yaml(text, path, error=error)


def parse_yaml(text: str, path: Path, *, error: type[SourceError] = SpecError, is_own: bool | None = None) -> Source:
    """The data and lines of YAML text that `path` names in errors. `is_own`: the user wrote it, and may read any
    variable in it with `!env`; None asks where the file is."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        what = problem.problem or problem.context or "wrong syntax"
        hint = _syntax_hint(text, mark.line if mark else 0)
        raise error(f"is not YAML: {what}", path=path, line=mark.line + 1 if mark else 0, hint=hint) from problem
    except yaml.YAMLError as problem:  # a character that YAML forbids; it has an offset, no line
        line = text.count("\n", 0, getattr(problem, "position", 0)) + 1
        raise error(f"is not YAML: {problem}".splitlines()[0], path=path, line=line) from problem
    except RecursionError as problem:
        raise error("is nested too deeply", path=path) from problem
    if root is None:
        return Source(path, None)
    reader = _Reader(path, error, is_own)
    return Source(path, reader.value(root, ""), MappingProxyType(reader.lines))


def _syntax_hint(text: str, line: int) -> str | tuple[str, str]:
    lines = text.splitlines()
    around = lines[max(0, line - 1) : line + 1]
    if any("\t" in found[: len(found) - len(found.lstrip())] for found in around):
        return "Indent with spaces: YAML does not allow tabs.", "YAML 的缩进只能用空格，不能用制表符。"
    if any(":" in found.partition(": ")[2] for found in around):
        return "Put a value that contains a colon in quotes.", "值里含有冒号时请加引号。"
    return ""


ENV_ALLOWED = "OLLAMA_KIT_ENV_ALLOWED"


def _own_settings() -> Path:
    return resources.user_root() / resources.SETTINGS_FILE


def _allowed_variables() -> frozenset[str]:
    """The variables that a project's files may read: OLLAMA_KIT_ENV_ALLOWED, else `env_allowed` in the user's own
    settings."""
    named: Any = os.environ.get(ENV_ALLOWED)
    if not named and _own_settings().is_file():
        data = read_yaml(_own_settings()).data
        named = data.get("env_allowed") if isinstance(data, dict) else None
    listed = named.split(",") if isinstance(named, str) else named or ()
    return frozenset(str(name).strip() for name in listed)


class _Reader:
    """Builds plain data from YAML nodes and notes each key's line."""

    def __init__(self, path: Path, error: type[SourceError], is_own: bool | None = None) -> None:
        import yaml

        self.path, self.error, self.lines, self.nodes = path, error, {"": 1}, 0
        self.is_own = is_own
        self.within: set[int] = set()
        self._plain = yaml.SafeLoader("")

    def value(self, node: yaml.Node, key: str) -> Any:
        import yaml

        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self.fail(f"contains more than {MAX_NODES:,} values", node)
        self.lines[key] = node.start_mark.line + 1
        if isinstance(node, yaml.CollectionNode):
            if id(node) in self.within:
                raise self.fail("an alias contains itself", node)
            self.within.add(id(node))
            try:
                if isinstance(node, yaml.MappingNode):
                    return dict(self._pairs(node, key))
                return [self.value(item, f"{key}.{at}" if key else str(at)) for at, item in enumerate(node.value)]
            finally:
                self.within.remove(id(node))
        if node.tag == "!env":
            return self._from_environment(node)
        if not node.tag.startswith("tag:yaml.org,2002:"):
            raise self.fail(f"unknown tag {node.tag}; only !env NAME is supported", node)
        try:
            return self._plain.construct_object(node)
        except (yaml.YAMLError, ValueError) as problem:
            raise self.fail(f"{node.value!r} is not a value: {problem}", node) from problem

    def _pairs(self, node: yaml.MappingNode, key: str) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for name_node, value_node in node.value:
            name = name_node.value
            if not isinstance(name, str):
                raise self.fail("a key must be text", name_node)
            line = name_node.start_mark.line + 1
            if name in seen:
                raise self.fail(f"duplicate key {name!r} (first on line {seen[name]})", name_node)
            seen[name] = line
            dotted = f"{key}.{name}" if key else name
            value = self.value(value_node, dotted)
            self.lines[dotted] = line
            yield name, value

    def _from_environment(self, node: yaml.Node) -> str:
        name = str(node.value)
        if not self._may_read(name):
            raise self.fail(
                f"a project's file may not read the environment variable {name!r}",
                node,
                hint=(
                    f"If you trust this project, add {name} to `env_allowed` in {_own_settings()}.",
                    f"如果信任该项目，请把 {name} 加入 {_own_settings()} 的 `env_allowed`。",
                ),
            )
        if name not in os.environ:
            raise self.fail(
                f"the environment variable {name!r} is not set",
                node,
                hint=(f"Set it before the call, for example `export {name}=…`.", f"请先设置环境变量 {name}。"),
            )
        return os.environ[name]

    def _may_read(self, name: str) -> bool:
        """Whether a file may read a variable: the user's own and those that ship any, others what the user allows."""
        own = resources.is_own(self.path) if self.is_own is None else self.is_own
        return own or name in _allowed_variables()

    def fail(self, message: str, node: yaml.Node, hint: str | tuple[str, str] = "") -> SourceError:
        return self.error(message, path=self.path, line=node.start_mark.line + 1, hint=hint)
