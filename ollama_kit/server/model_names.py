"""Names of models by Ollama's own rules (types/model/name.go): what a server would refuse is refused before anything is
sent or made."""

from __future__ import annotations

import hashlib
import re

from ollama_kit.errors import UsageError

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*\Z")
_MOST = {"host": 350, "namespace": 80, "model": 80, "tag": 80}


def check_model_name(name: str) -> None:
    """Returns for [host/][namespace/]model[:tag]; UsageError, with a name that would do, for anything else."""
    problem = _problem(name)
    if problem:
        meant = suggested(name)
        raise UsageError(
            f"{name!r} is not a name that Ollama takes: {problem}",
            hint=(
                f"Letters, digits, - _ and dots are allowed, for example {meant}; `--name` gives another name.",
                f"只能用英文字母、数字、- _ 和点，例如 {meant}；可用 `--name` 指定其他名称。",
            ),
        )


def suggested(name: str) -> str:
    """A name like this one that Ollama takes.

    >>> suggested("my model"), suggested("合同模型")
    ('my-model', 'model-7022db')
    """
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")
    return kept if re.search("[A-Za-z0-9]", kept) else f"model-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _problem(name: str) -> str:
    path, separator, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "")
    parts = path.split("/")
    if len(parts) > 3:
        return "it has more than two slashes"
    kinds = ("host", "namespace", "model")[-len(parts) :]
    for kind, part in (*zip(kinds, parts, strict=True), *((("tag", tag),) if separator else ())):
        if not part:
            return f"its {kind} is empty"
        if len(part) > _MOST[kind]:
            return f"its {kind} has more than {_MOST[kind]} characters"
        if not (_HOST if kind == "host" else _PART).match(part):
            return f"its {kind} holds {_first_wrong(part)!r}"
        if kind == "namespace" and "." in part:
            return "its namespace holds a dot"
    return ""


def _first_wrong(part: str) -> str:
    return next((one for one in part if not re.match(r"[A-Za-z0-9_.-]", one)), part[0])
