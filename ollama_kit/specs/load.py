"""From the name of a spec to a ModelSpec: find, inherit, override, render, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound, UsageError, nearest_names
from ollama_kit.specs.model import (
    KEYS,
    MERGED,
    PARAMETER_LIKE,
    RIGHT_PLACE,
    SPEC_VERSION,
    Message,
    ModelSpec,
    ParameterValue,
    described,
    looks_like_path,
    wrong_type,
)
from ollama_kit.specs.source import Source, parse_yaml, read_yaml
from ollama_kit.templating import Failure, environment, failures_as

ROLES = ("system", "user", "assistant")
COMMAND_LINE = Path("--set")


def load_spec(name: str, overrides: Mapping[str, str] | None = None) -> ModelSpec:
    """The spec called `name` (or at that path), inherited, overridden (`--set`), rendered and checked.

    `overrides` maps dotted keys to YAML text: {"context": "4096", "parameters.stop": "[a, b]"}. Raises SpecError,
    with file and line, for anything that is not a valid spec: an unknown key, a value of the wrong type, a missing
    file, Jinja that fails.
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
            raise layered.error(key, "num_ctx is set by the key `context`, so that there is one place for it")
        if name == "num_gqa":
            raise layered.error(key, "num_gqa was removed in Ollama 0.1.35; set what you expect with the key `gqa`")
        if name == "tokenizer":
            raise layered.error(key, "tokenizer was never a parameter; set what you expect with the key `tokenizer`")
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
        raise layered.error(key, f"{key}: no such file: {path}", hint=_path_hint(key))
    return path


def _path_hint(key: str) -> str | tuple[str, str]:
    if key != "from":
        return ""
    return (
        "A model name has no leading ./ and no trailing .gguf.",
        "模型名不以 ./ 开头，也不以 .gguf 结尾。",
    )


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
        raise SpecNotFound("no such file", path=path)
    found = resources.find("modelfiles", f"{name}.yaml")
    if found:
        return found
    nearest = nearest_names(name, spec_names())
    said = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
    raise SpecNotFound(
        f"no spec named {name!r}.{said}",
        nearest=nearest,
        hint=("`ollama-kit list` shows all of them.", "用 `ollama-kit list` 查看全部。"),
    )


def inherit(path: Path, chain: tuple[Path, ...]) -> Layered:
    """A spec's own keys over those of the one it extends, and so on up."""
    source = read_yaml(path)
    if not isinstance(source.data, dict):
        found = "is empty" if source.data is None else f"contains {described(source.data)}"
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
        raise SpecError(f"circular `extends`: {names}", path=path, line=line)
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
    value = parse_yaml(text, COMMAND_LINE, is_own=True).data
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
            f"this spec has version {version}; this ollama-kit reads version {SPEC_VERSION}",
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


def render_texts(layered: Layered) -> Layered:
    """The same layers with `system` and the contents of `messages` rendered. SpecError names the template's line."""
    variables = layered.data.get("vars")
    if not variables:
        return layered
    render = _renderer(layered, variables)
    data = dict(layered.data)
    if isinstance(data.get("system"), str):
        data["system"] = render("system", data["system"])
    if isinstance(data.get("messages"), list):
        data["messages"] = [
            {**item, "content": render(f"messages.{at}.content", item["content"])}
            if isinstance(item, dict) and isinstance(item.get("content"), str)
            else item
            for at, item in enumerate(data["messages"])
        ]
    return replace(layered, data=data)


def _renderer(layered: Layered, variables: dict[str, Any]) -> Callable[[str, str], str]:
    sandbox = environment(trim=False)

    def render(key: str, text: str) -> str:
        def error(failure: Failure) -> SpecError:
            known = f"; `vars` has {', '.join(variables)}" if failure.undefined else ""
            return _at(layered, key, failure.line, failure.message + known)

        with failures_as(error):
            return sandbox.from_string(text).render(variables)

    return render


def _at(layered: Layered, key: str, line_in_text: int, message: str) -> SpecError:
    """The error at its line in the file: a block text (`|`) begins one line below its key."""
    path, line = layered.where(key)
    multiline = "\n" in str(_value_at(layered.data, key))
    return SpecError(f"{key}: {message}", path=path, line=line + (line_in_text if multiline else 0))


def _value_at(data: Any, key: str) -> Any:
    for part in key.split("."):
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data
