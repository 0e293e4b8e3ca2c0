"""Fields of values, and what a range walks over (Go's text/template/exec.go, evalField and walkRange)."""

from __future__ import annotations

from collections.abc import Iterator

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.chat_template.values import NIL, ArgumentMap, Data, Listing, Record, Value

_METHODS = frozenset(("String", "MarshalJSON", "UnmarshalJSON", "All", "Get", "Len", "Set", "ToMap"))
"""Methods that Ollama's types have had in one version or another."""


def field(value: Value, name: str, missing: Value) -> Value:
    """`value.name`: a field of a struct or a key of a map; `missing` where a map lacks it.

    TemplateError where Go fails, TemplateBeyondSubset where the name may be one of another version of Ollama.
    """
    if value is None:
        return None
    if value is NIL:
        raise TemplateError(f"nil pointer evaluating interface {{}}.{name}")
    if isinstance(value, Listing | ArgumentMap) and name in _METHODS:
        raise TemplateBeyondSubset(f"the method {name}")
    if isinstance(value, Record):
        if name in value.fields:
            return value.fields[name]
        raise TemplateBeyondSubset(f"field or method {name} of a {value.type_name}")
    if isinstance(value, dict):
        if name in value:
            return NIL if value[name] is None else value[name]
        if any(isinstance(item, Record) for item in value.values()):
            raise TemplateBeyondSubset("the zero value of a struct")
        return missing
    raise TemplateError(f"cannot evaluate field {name} in a {type(value).__name__}")


def items(value: Value, variables: int) -> Iterator[tuple[Value, Value]]:
    """What `range` walks over: (index or key, item), maps by sorted key, an int from 0; nothing is empty.

    `variables` is how many the range declares.
    """
    if isinstance(value, bool | str | float | Record):
        raise TemplateError("range cannot iterate over the value")
    if value is None or value is NIL:
        return
    if isinstance(value, int):
        if variables > 1:
            raise TemplateError("cannot use an integer to iterate over more than one variable")
        yield from ((None, number) for number in range(value))
    elif isinstance(value, Data):
        raise TemplateBeyondSubset("everything a template is given, in a range")
    elif isinstance(value, dict):
        for key in sorted(value):
            yield key, NIL if value[key] is None else value[key]
    else:
        for position, item in enumerate(value):
            yield position, NIL if item is None else item
