"""A policy's identity by what it says: for keys of stored outcomes, which must outlive new fields and other names.

A digest holds only what differs from the defaults, so that a key that a later version adds, with a default that leaves
everything as it was, changes no digest. A default that changes what calls do is another matter: whoever changes one
changes what the digests of all policies mean (tests/guard/test_policy_digest.py holds those of the presets).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from ollama_kit.guard.policy import OLD_KEYS, Policy


def policy_digest(policy: Policy) -> str:
    """The SHA-256 of what differs from the defaults, in the policy and in the values of its keys, as canonical JSON.
    The policy's own name is no part of it: two that do the same are the same.

    >>> policy_digest(Policy(attempts=3)) == policy_digest(Policy(name="mine"))
    True
    >>> policy_digest(Policy(attempts=3)) == policy_digest(Policy(attempts=2))
    False
    """
    text = json.dumps(_said(policy), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _said(policy: Policy) -> dict[str, Any]:
    """Every key that is not at its default, as plain data."""
    call = {key: value for key, value in _differing(policy).items() if key not in ("name", "settings")}
    return {**call, **{key: _plain(value) for key, value in policy.settings}}


def _differing(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not at their default, as plain data. What has no default is always there."""
    pairs = ((item.name, getattr(value, item.name), _default(item)) for item in fields(value) if item.compare)
    return {name: _plain(found) for name, found, default in pairs if found != default}


def _default(item: Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return _differing(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# -- the text that keys were made of before there were digests (0.1, until December 2026)

_FORMER_FIELDS: Mapping[str, tuple[str, ...]] = {
    "Policy": (
        *("name", "normalise", "secrets", "personal", "injection", "control_tokens", "markup", "fence", "context"),
        *("evidence", "leak", "on_failure", "injection_threshold", "max_context", "attempts", "max_seconds"),
        *("max_tokens", "judge", "scanners", "image_side", "image_megapixels", "image_megabytes"),
    ),
    "JudgeConfig": ("model", "form", "timeout_s", "on_error", "on", "action", "question"),
    "ScannerConfig": ("input", "output", "download", "timeout_s", "max_chars"),
    "ScannerRule": ("name", "scanner", "side", "on_fail", "model", "threshold", "labels", "options"),
}
"""The fields of each class, by the names and in the order of that version."""


def former_repr(policy: Policy) -> str | None:
    """The `repr` that this policy had when keys held it; the jobs' policies were all called "custom". None where the
    policy says something that the version of then did not know: it never asked under such a policy."""
    if not set(_said(policy)) <= {OLD_KEYS.get(name, name) for name in _FORMER_FIELDS["Policy"]}:
        return None
    if any(_unknown_then(value) for _, value in policy.settings):
        return None
    return _written_then(policy, name="custom")


def _unknown_then(value: Any) -> bool:
    """Whether a value, or what it holds, says something in a field that was not there then."""
    if isinstance(value, tuple):
        return any(map(_unknown_then, value))
    if not is_dataclass(value):
        return False
    known = _FORMER_FIELDS.get(type(value).__name__, ())
    return not set(_differing(value)) <= set(known) or any(_unknown_then(getattr(value, name)) for name in known)


def _written_then(value: Any, **instead: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_written_then, value))}{',' * (len(value) == 1)})"
    if not is_dataclass(value):
        return repr(value)
    return f"{type(value).__name__}({', '.join(_fields_then(value, instead))})"


def _fields_then(value: Any, instead: Mapping[str, Any]) -> Iterator[str]:
    for then in _FORMER_FIELDS[type(value).__name__]:
        now = OLD_KEYS.get(then, then)
        yield f"{then}={_written_then(instead[now] if now in instead else getattr(value, now))}"
