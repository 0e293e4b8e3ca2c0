"""A JSON Schema as the kit uses it: the whole document to check with, the part a grammar holds, what is lost."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import SchemaError
from ollama_kit.structured.derivation import Addition, Grammar, Limits, Loss
from ollama_kit.structured.dialect import Json, dialect_of, format_checker, join, registry, validator_class
from ollama_kit.structured.linked import link, subschemas
from ollama_kit.text.encodings import decode

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SchemaSource = Mapping[str, Any] | bool | str | Path | type

_FOREIGN = re.compile(r"\\[pP]\{|\\u\{|\\c[A-Za-z]|\(\?<[A-Za-z]|\[\^\]|\[\]")


@dataclass(frozen=True)
class Schema:
    """A checked schema. `document` is all of it; `grammar` is what to send as Ollama's `format`: a schema, or `"json"`.

    `lost` lists what the grammar does not hold (the answer is checked for it), `added` what it limits besides.
    `source` is how messages name the schema: a path, a class, or `schema`.
    """

    document: Json
    grammar: Grammar
    lost: tuple[Loss, ...]
    added: tuple[Addition, ...]
    source: str
    target: type | None = None
    validator: Validator = field(repr=False, compare=False, kw_only=True)

    @functools.cached_property
    def keys(self) -> frozenset[str]:
        """Every key of every object in the document: a keyword that is not among them says nothing anywhere."""
        found: set[str] = set()
        waiting = [self.document]
        while waiting:
            node = waiting.pop()
            found.update(node if isinstance(node, dict) else ())
            waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        return frozenset(found)

    def to_python(self, data: Json) -> Any:
        """Validated plain data as the class the schema came from; as it is where it came from none.

        Raises ValueError or TypeError where the class itself refuses the data (a validator, a `__post_init__`):
        `validate` reports those.
        """
        if self.target is None:
            return data
        from ollama_kit.structured.classes import instance

        return instance(self.target, data)


def load_schema(
    source: SchemaSource | Schema, *, max_items: int = Limits.max_items, max_length: int | None = None
) -> Schema:
    """A checked schema from a dict, the path of a JSON file, a pydantic model or a dataclass.

    `max_items` ends arrays, and `max_length` (characters) strings, that the schema leaves open: in the grammar only,
    and listed in `added`. Raises SchemaError naming the file and the place in it for what is not a JSON Schema, and for
    a reference that leads out of the document; nothing is ever fetched. Compiling takes milliseconds: the same words in
    the same order, like the same class, give the same object.
    """
    if isinstance(source, Schema):
        return source
    limits = Limits(max_items, max_length)
    if isinstance(source, type):
        return _of_class(source, limits)
    if isinstance(source, (str, Path)):
        return _of_text(_as_json(_read(Path(source)), str(source)), str(source), limits)
    if isinstance(source, (Mapping, bool)):
        plain = dict(source) if isinstance(source, Mapping) else source
        return _of_text(_as_json(plain, "schema"), "schema", limits)
    raise SchemaError(
        f"expected a JSON Schema, got {type(source).__name__}",
        hint=(
            "Pass a dict, the path of a JSON file, a pydantic model or a dataclass.",
            "请传入 dict、JSON 文件路径、pydantic 模型或 dataclass。",
        ),
    )


@functools.lru_cache(maxsize=256)
def _of_class(cls: type, limits: Limits) -> Schema:
    if not dataclasses.is_dataclass(cls) and not callable(getattr(cls, "model_json_schema", None)):
        raise SchemaError(
            f"{cls.__qualname__} is neither a pydantic model nor a dataclass",
            hint=("Decorate it with @dataclass, or pass a dict.", "请用 @dataclass 装饰它，或传入 dict。"),
        )
    from ollama_kit.structured.classes import class_schema

    return _compile(class_schema(cls), cls.__qualname__, cls, limits)


@functools.lru_cache(maxsize=64)
def _of_text(text: str, source: str, limits: Limits) -> Schema:
    return _compile(json.loads(text), source, None, limits)


def _compile(document: Json, source: str, target: type | None, limits: Limits) -> Schema:
    from ollama_kit.structured.grammar_subset import derive_grammar

    dialect = dialect_of(document, source)
    try:
        _check(document, dialect, source)
        enforced, unread = _without_foreign_patterns(document, source)
        linked = link(enforced, dialect, source)
        derived = derive_grammar(linked, limits)
    except RecursionError:
        raise SchemaError(f"{source}: nested too deep to be read") from None
    validator = validator_class(dialect)(enforced, registry=registry(), format_checker=format_checker())
    return Schema(
        document, derived.grammar, (*unread, *derived.lost), derived.added, source, target, validator=validator
    )


def _check(document: Json, dialect: str, source: str) -> None:
    """Raises SchemaError at the likeliest place where `document` breaks its dialect's meta-schema."""
    from jsonschema import FormatChecker
    from jsonschema.exceptions import SchemaError as Broken

    try:
        # Formats are left out: a pattern that Python cannot compile may still be a good one elsewhere.
        checked: Any = validator_class(dialect)
        checked.check_schema(document, format_checker=FormatChecker(formats=()))
    except Broken as error:
        place = join(error.absolute_path) or "/"
        raise SchemaError(
            f"{source}: at {place}: {_short(error.message)}",
            hint=(
                f"Correct it by JSON Schema {dialect}: https://json-schema.org/specification",
                f"请按 JSON Schema {dialect} 修改：https://json-schema.org/specification",
            ),
        ) from error


def _without_foreign_patterns(document: Json, source: str) -> tuple[Json, tuple[Loss, ...]]:
    r"""(the document to validate with, the patterns left out of it because Python cannot run them, such as `\p{Han}`).

    Raises SchemaError for a pattern that is a regular expression nowhere.
    """
    unread: list[Loss] = []
    enforced = document
    stack: list[tuple[tuple[str, ...], Json]] = [((), document)]
    while stack:
        path, node = stack.pop()
        if not isinstance(node, dict):
            continue
        stack += [((*path, *parts), sub) for parts, sub in subschemas(node)]
        named: list[tuple[tuple[str, ...], str, str]] = []
        named += [((), "pattern", node["pattern"])] if isinstance(node.get("pattern"), str) else []
        patterns = node.get("patternProperties")
        named += [(("patternProperties",), regex, regex) for regex in patterns] if isinstance(patterns, dict) else []
        for parts, key, regex in named:
            try:
                re.compile(regex)
            except re.error as error:
                if not _FOREIGN.search(regex):
                    raise SchemaError(f"{source}: at {join((*path, *parts, key))}: {regex!r}: {error}") from error
                enforced = copy.deepcopy(document) if enforced is document else enforced
                holder = functools.reduce(_step, (*path, *parts), enforced)
                del holder[key]
                unread.append(Loss(join(path), parts[0] if parts else key, f"Python cannot run {regex!r}: not checked"))
    return enforced, tuple(unread)


def _step(node: Json, part: str) -> Json:
    return node[int(part)] if isinstance(node, list) else node[part]


def _read(path: Path) -> Json:
    try:
        raw = path.read_bytes()
        text, _ = decode(raw)
        document = json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, path))
    except OSError as error:
        raise SchemaError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SchemaError(
            f"{path}:{line}: not text in UTF-8, UTF-16 or GB18030",
            hint=("Save it as UTF-8.", "请另存为 UTF-8。"),
        ) from error
    except json.JSONDecodeError as error:
        raise SchemaError(f"{path}:{error.lineno}: not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError:
        raise SchemaError(f"{path}: nested too deep to be read") from None
    except ValueError as error:  # a number with more digits than Python reads
        raise SchemaError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, (dict, bool)):
        raise SchemaError(f"{path}: expected a JSON Schema (an object), found {type(document).__name__}")
    return document


def _unique(pairs: list[tuple[str, Json]], path: Path) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"{path}: duplicate key {double!r}")
    return found


def _as_json(document: Json, source: str) -> str:
    """The caller's schema as JSON has it: a tuple becomes a list, and later changes do not reach it."""
    try:
        return json.dumps(document)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{source}: not JSON: {error}") from error
    except RecursionError:
        raise SchemaError(f"{source}: nested too deep to be read") from None


def _short(message: str, most: int = 300) -> str:
    return message if len(message) <= most else message[: most - 1] + "…"
