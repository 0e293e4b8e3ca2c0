"""From the name of a spec to a ModelSpec: find, inherit, override, render, check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ollama_kit.errors import SpecError, nearest_names
from ollama_kit.specs.keys import KEYS, PARAMETER_LIKE, RIGHT_PLACE, described, looks_like_path, wrong_type
from ollama_kit.specs.layers import COMMAND_LINE, Layered, dotted_keys, find_spec, inherit, override
from ollama_kit.specs.model import Message, ModelSpec, ParameterValue
from ollama_kit.specs.render import render_texts

ROLES = ("system", "user", "assistant")


def load_spec(name: str, overrides: Mapping[str, str] | None = None) -> ModelSpec:
    """The spec called `name` (or at that path), inherited, overridden (`--set`), rendered and checked.

    `overrides` maps dotted keys to YAML text: {"context": "4096", "parameters.stop": "[a, b]"}. Raises SpecError,
    with file and line, for anything that is not as DESIGN says a spec is.
    """
    path = find_spec(name)
    layered = inherit(path, ())
    for key, text in (overrides or {}).items():
        layered = override(layered, key, text)
    _check_keys(layered)
    if layered.data.get("from") is None:
        raise SpecError(
            "`from` is missing: the model to build on",
            path=path,
            line=1,
            hint=("Add a line such as `from: qwen3.6:27b`.", "请加一行，例如 `from: qwen3.6:27b`。"),
        )
    return _to_spec(path, render_texts(layered))


def _check_keys(layered: Layered) -> None:
    for key, value in layered.data.items():
        if key not in KEYS:
            raise layered.error(key, f"unknown key {key!r}{_meant(key)}")
        if value is not None and (problem := wrong_type(key, value)):
            raise layered.error(key, problem)


def _meant(key: str) -> str:
    if key in PARAMETER_LIKE:
        return f"; it belongs under `parameters:` (parameters.{key})"
    if key in RIGHT_PLACE:
        return f"; write `{RIGHT_PLACE[key]}`"
    nearest = nearest_names(key, tuple(KEYS))
    return f"; did you mean `{nearest[0]}`?" if nearest else f"; the keys are {', '.join(KEYS)}"


def _to_spec(path: Path, layered: Layered) -> ModelSpec:
    data = {key: value for key, value in layered.data.items() if value is not None}
    base_path = _existing_path(layered, "from") if looks_like_path(data["from"]) else None
    gqa, terms = data.get("gqa"), data.get("license", ())
    family = data.get("tokenizer")
    spec = ModelSpec(
        name=path.stem,
        base=data["from"],
        base_path=base_path,
        context=data.get("context"),
        gqa=None if gqa in (None, "auto") else gqa,
        tokenizer=family,
        thinking=data.get("thinking"),
        system=data.get("system"),
        template=data.get("template"),
        adapter=_existing_path(layered, "adapter") if "adapter" in data else None,
        messages=_messages(layered),
        license=(terms,) if isinstance(terms, str) else tuple(terms),
        parameters=MappingProxyType(_parameters(layered)),
        guard=_guard(data.get("guard")),
        modelfile_template=data.get("modelfile") or _modelfile_template(data),
        path=path,
        lines=MappingProxyType({key: layered.where(key) for key in dotted_keys(layered.data)}),
    )
    optional = ("renderer", "parser", "requires", "quantize", "keep_alive")
    return replace(spec, **{key: data[key] for key in optional if key in data})


def _guard(value: Any) -> str:
    """The name of a policy. YAML reads a bare `off` as false."""
    return "off" if value is False else value or "standard"


def _modelfile_template(data: Mapping[str, Any]) -> str:
    if "adapter" in data:
        return "adapter"
    return "qwen" if str(data.get("tokenizer", "")).startswith("qwen") else "default"


def _messages(layered: Layered) -> tuple[Message, ...]:
    turns = []
    for at, item in enumerate(layered.data.get("messages") or ()):
        key = f"messages.{at}"
        if not isinstance(item, dict) or set(item) != {"role", "content"}:
            raise layered.error(key, f"a message is {{role, content}}, not {described(item)}")
        if item["role"] not in ROLES:
            expected = ", ".join(ROLES[:-1]) + f" or {ROLES[-1]}"
            raise layered.error(f"{key}.role", f"role must be {expected}, not {described(item['role'])}")
        if not isinstance(item["content"], str):
            raise layered.error(f"{key}.content", f"content must be text, not {described(item['content'])}")
        turns.append(Message(item["role"], item["content"]))
    return tuple(turns)


def _parameters(layered: Layered) -> dict[str, ParameterValue]:
    checked: dict[str, ParameterValue] = {}
    for name, value in (layered.data.get("parameters") or {}).items():
        key = f"parameters.{name}"
        if value is None:  # `null` drops an inherited line
            continue
        if name == "num_ctx":
            raise layered.error(key, "num_ctx is written as the key `context`, so that there is one place for it")
        if name == "num_gqa":
            raise layered.error(key, "num_gqa left Ollama in 0.1.35; state what you expect as the key `gqa`")
        if name == "tokenizer":
            raise layered.error(key, "tokenizer was never a parameter; state what you expect as the key `tokenizer`")
        if isinstance(value, list):
            if not all(isinstance(item, str) for item in value):
                raise layered.error(key, f"{name} must be a list of texts, not {described(value)}")
            value = tuple(value)
        elif name == "stop":
            raise layered.error(key, f"stop must be a list of texts, not {described(value)}: write [{value!r}]")
        elif not isinstance(value, int | float | str):
            raise layered.error(key, f"{name} must be a number, true or false, or text, not {described(value)}")
        checked[name] = value
    return checked


def _existing_path(layered: Layered, key: str) -> Path:
    """A path in a spec, taken from the folder of the file that wrote it."""
    written = layered.data[key]
    origin, _ = layered.where(key)
    base = Path.cwd() if origin == COMMAND_LINE else origin.parent
    path = (base / Path(written).expanduser()).resolve()
    if not path.exists():
        raise layered.error(key, f"{key}: there is no {path}", hint=_path_hint(key))
    return path


def _path_hint(key: str) -> str | tuple[str, str]:
    if key != "from":
        return ""
    return (
        "A model name has no leading ./ and no .gguf at its end.",
        "模型名不以 ./ 开头，也不以 .gguf 结尾。",
    )
