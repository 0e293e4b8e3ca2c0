"""Settings, and where each came from: flag, environment, project file, user file, default, in that order."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SettingsError, UsageError, nearest_names
from ollama_kit.specs.source import read_yaml

FILE_NAME = resources.SETTINGS_FILE


@dataclass(frozen=True)
class Settings:
    """How to reach the server, what may leave this machine and what is recorded. `audit` is "off", "on" (a file
    in the user's own folder) or a path. `env_allowed` are the environment variables that a project's spec may read
    with `!env`. `origins` says where each value came from."""

    host: str | None = None
    proxy: str | None = None
    ca_file: str | None = None
    allow_remote: bool = False
    connect_timeout_s: float = 5.0
    first_token_timeout_s: float = 600.0
    between_tokens_timeout_s: float = 120.0
    memory: str | None = None
    audit: str = "off"
    audit_texts: bool = False
    audit_max_age_days: float = 365.0
    audit_max_mb: float = 512.0
    env_allowed: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)


ENVIRONMENT: Mapping[str, str] = {
    "host": "OLLAMA_HOST",
    "proxy": "OLLAMA_KIT_PROXY",
    "ca_file": "OLLAMA_KIT_CA_FILE",
    "allow_remote": "OLLAMA_KIT_ALLOW_REMOTE",
    "connect_timeout_s": "OLLAMA_KIT_CONNECT_TIMEOUT_S",
    "first_token_timeout_s": "OLLAMA_KIT_FIRST_TOKEN_TIMEOUT_S",
    "between_tokens_timeout_s": "OLLAMA_KIT_BETWEEN_TOKENS_TIMEOUT_S",
    "memory": "OLLAMA_KIT_MEMORY",
    "audit": "OLLAMA_KIT_AUDIT",
    "audit_texts": "OLLAMA_KIT_AUDIT_TEXTS",
    "audit_max_age_days": "OLLAMA_KIT_AUDIT_MAX_AGE_DAYS",
    "audit_max_mb": "OLLAMA_KIT_AUDIT_MAX_MB",
    "env_allowed": "OLLAMA_KIT_ENV_ALLOWED",
}
"""The environment variable of each setting. The host's is Ollama's own."""

PERSONAL = frozenset(
    {
        *("host", "hosts", "proxy", "proxies", "ca_file", "allow_remote", "headers", "api_key"),
        *("audit", "audit_texts", "audit_max_age_days", "audit_max_mb", "env_allowed"),
        *("post", "mail", "upstreams", "cluster", "clusters", "embedder", "embedders", "store", "stores"),
        *("mcp", "mcp_servers", "notes"),
    }
)
"""What names an address, a program to run, a file to write, or what is kept or sent. A project's file may come from
anybody: these are read from flags, the environment and the user's own file only. Those that are no setting yet are
reserved."""


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force. UsageError names the file and line, the variable or the flag that is wrong."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(_NAMES, "default")
    project = resources.project_root()
    own = resources.user_root() / FILE_NAME
    for path in (own, project and project / FILE_NAME):
        if path and path.is_file():
            for name, value in _read(path, is_own=path == own).items():
                values[name], origins[name] = value, str(path)
    for name, variable in ENVIRONMENT.items():
        if os.environ.get(variable):
            values[name], origins[name] = _typed(name, os.environ[variable], variable), variable
    for name, value in (flags or {}).items():
        if value is not None:
            values[name], origins[name] = _typed(name, value, f"--{name.replace('_', '-')}"), "flag"
    return Settings(**values, origins=MappingProxyType(origins))


_NAMES = tuple(item.name for item in fields(Settings) if item.name != "origins")


def _read(path: Path, *, is_own: bool) -> dict[str, Any]:
    source = read_yaml(path, error=SettingsError)
    if source.data is None:
        return {}
    if not isinstance(source.data, dict):
        raise SettingsError("settings are a mapping of names to values", path=path, line=1)
    for name in source.data:
        if name in PERSONAL and not is_own:
            raise _not_a_projects(name, path, source.line(name))
        if name not in _NAMES:
            nearest = nearest_names(name, _NAMES)
            meant = f"; did you mean {nearest[0]!r}?" if nearest else f"; the settings are {', '.join(_NAMES)}"
            raise SettingsError(f"unknown setting {name!r}{meant}", path=path, line=source.line(name))
    values = {name: _typed(name, value, f"{path}:{source.line(name)}") for name, value in source.data.items()}
    if values.get("audit", "off") not in ("on", "off"):  # a relative path in a file starts at that file's folder
        values["audit"] = str(path.parent / Path(values["audit"]).expanduser())
    return values


def _not_a_projects(name: str, path: Path, line: int) -> SettingsError:
    own = resources.user_root() / FILE_NAME
    variable = f", or set {ENVIRONMENT[name]}" if name in ENVIRONMENT else ""
    variable_zh = f"，或设置环境变量 {ENVIRONMENT[name]}" if name in ENVIRONMENT else ""
    return SettingsError(
        f"{name!r} is not a project's to set: it says where text goes or what is kept",
        path=path,
        line=line,
        hint=(f"Put it into your own file, {own}{variable}.", f"请写入您自己的配置文件 {own}{variable_zh}。"),
    )


def _typed(name: str, value: Any, where: str) -> Any:
    """The value in the setting's own type, or UsageError."""
    read: Callable[[Any], Any] = _READERS.get(name, _seconds if name.endswith("_s") else _text)
    try:
        return read(value)
    except ValueError as problem:
        raise UsageError(f"{where}: {name} must be {problem}, not {value!r}") from problem


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if str(value).lower() not in known:
        raise ValueError("true or false")
    return known[str(value).lower()]


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if isinstance(value, bool) or not 0 < seconds < 1e7:
        raise ValueError("a number of seconds above 0")
    return seconds


def _above_zero(value: Any) -> float:
    try:
        return _seconds(value)
    except ValueError as problem:
        raise ValueError("a number above 0") from problem


def _audit(value: Any) -> str:
    """ "on", "off" or a path. YAML reads a bare on and off as true and false."""
    word = {True: "on", False: "off"}[value] if isinstance(value, bool) else value
    if not isinstance(word, str) or not word.strip():
        raise ValueError("on, off or a path")
    known = {"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off"}
    return known.get(word.lower(), word)


def _names(value: Any) -> tuple[str, ...]:
    """Names as a list, or in one text with commas between."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise ValueError("a list of names")
    return tuple(name.strip() for name in listed if name.strip())


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("text")
    return str(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "allow_remote": _boolean,
    "audit": _audit,
    "audit_texts": _boolean,
    "audit_max_age_days": _above_zero,
    "audit_max_mb": _above_zero,
    "env_allowed": _names,
}
