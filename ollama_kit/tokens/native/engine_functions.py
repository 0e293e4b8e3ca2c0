"""What a chat template can call: the methods, filters and tests of llama.cpp's Jinja interpreter, and none besides.

A method of a text or a list is its filter of the same name. See `engine_values` for how values differ from Python's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import Undefined
from jinja2.utils import Namespace

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateRefusal
from ollama_kit.tokens.native.engine_values import (
    LOWER,
    SPACE,
    UPPER,
    JSONForm,
    Paying,
    as_list,
    as_text,
    compared,
    contains,
    is_number,
    kind_name,
    needed_text,
    not_possible,
    spelled,
    to_json,
)

MOST_RANGE = 100_000
_DATE_FORM = re.compile(r"(?:[^%]|%-?[A-Za-z%])*")
_WHOLE = re.compile(r"\s*[+-]?\d{1,18}")
_NUMBER = re.compile(r"\s*[+-]?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:[eE][+-]?\d{1,3})?")

Function = Callable[..., Any]
"""Called with the context of rendering, the value, and the template's arguments."""


@dataclass(frozen=True)
class Method:
    """A function bound to a value."""

    value: Any
    function: Function

    def __call__(self, context: Paying, *args: Any, **named: Any) -> Any:
        return self.function(context, self.value, *args, **named)


@dataclass(frozen=True)
class Global:
    """A function that templates find by its name."""

    function: Function

    def __call__(self, context: Paying, *args: Any, **named: Any) -> Any:
        return self.function(context, *args, **named)


@dataclass(frozen=True)
class Clock:
    """`strftime_now`: the date and time of the server."""

    now: datetime

    def __call__(self, context: Paying, form: Any) -> str:
        text = as_text(form)
        context.budget.spend(len(text))
        if len(text) > 100 or not _DATE_FORM.fullmatch(text):
            raise TemplateBeyondSubset("a form of a date that is not known here")
        return self.now.strftime(text)


# -- texts


def _strip(left: bool, right: bool) -> Function:
    def strip(context: Paying, value: Any, chars: Any = None) -> str:
        if value is None:
            return "None"
        text, gone = needed_text(context, value), SPACE if chars is None else as_text(chars)
        if not gone.isascii():
            raise TemplateBeyondSubset("the template strips other characters than ASCII's")
        text = text.lstrip(gone) if left else text
        return text.rstrip(gone) if right else text

    return strip


def _cased(table: Mapping[int, int]) -> Function:
    return lambda context, value: needed_text(context, value).translate(table)


def _title(context: Paying, value: Any) -> str:
    text = needed_text(context, value)
    begins = {at for at in range(len(text)) if text[at] not in SPACE and (at == 0 or text[at - 1] in SPACE)}
    return "".join(piece.translate(UPPER if at in begins else LOWER) for at, piece in enumerate(text))


def _capitalize(context: Paying, value: Any) -> str:
    text = needed_text(context, value)
    return text[:1].translate(UPPER) + text[1:].translate(LOWER)


def _split(cut: Callable[..., list[str]]) -> Function:
    def split(context: Paying, value: Any, separator: Any = " ", most: Any = -1) -> list[str]:
        if not isinstance(value, str):
            not_possible(value)
        text, mark = needed_text(context, value), as_text(separator)
        if not mark:
            raise TemplateBeyondSubset("the template splits at nothing")
        context.budget.spend(64 * text.count(mark))
        return cut(text, mark, int(most))

    return split


def _replace(context: Paying, value: Any, old: Any, new: Any, count: Any = -1) -> str:
    text, before, after = needed_text(context, value), as_text(old), as_text(new)
    if not before or (is_number(count) and count > 0):
        raise TemplateBeyondSubset("the template replaces in a way that the engine does not know")
    context.budget.spend(text.count(before) * max(1, len(after)))
    return text.replace(before, after)


def _ends(test: Callable[[str, str], bool]) -> Function:
    def ends(context: Paying, value: Any, piece: Any) -> bool:
        if not isinstance(value, str) or not isinstance(piece, str):
            not_possible(value if isinstance(piece, str) else piece)
        context.budget.spend()
        return test(value, piece)

    return ends


def _indent(context: Paying, value: Any, width: Any = 4, first: Any = False, blank: Any = False) -> str:
    text, pad = needed_text(context, value), " " * min(1000, int(width))
    context.budget.spend((text.count("\n") + 1) * len(pad))
    lines = text.split("\n")
    rest = [pad + line if line or blank else line for line in lines[1:]]
    return "\n".join(((pad if first else "") + lines[0], *rest))


def _string(context: Paying, value: Any) -> str:
    return "" if isinstance(value, Undefined) else spelled(context.budget, value)


def _tojson(
    context: Paying,
    value: Any,
    ensure_ascii: Any = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: Any = False,
) -> str:
    if ensure_ascii or sort_keys:
        raise TemplateBeyondSubset("JSON in a form that the engine does not write")
    wide = indent if isinstance(indent, int) and not isinstance(indent, bool) else -1
    named = [as_text(piece) for piece in separators] if isinstance(separators, list | tuple) else []
    between = named[0] if named else ", " if wide < 0 else ","
    return to_json(context.budget, value, JSONForm(min(wide, 100), between, named[1] if len(named) > 1 else ": "))


# -- numbers and what is missing


def _default(context: Paying, value: Any, other: Any, boolean: Any = False) -> Any:
    missing = not value if boolean else value is None or isinstance(value, Undefined)
    return other if missing else value


def _int(context: Paying, value: Any, default: Any = 0, base: Any = 10) -> int:
    if isinstance(value, bool | float):
        return int(value)
    if isinstance(value, int):
        not_possible(value)
    if base != 10:
        raise TemplateBeyondSubset("a number of another base")
    found = _WHOLE.match(as_text(value)[:64])
    return int(found[0]) if found and abs(int(found[0])) < 2**31 else int(default)


def _float(context: Paying, value: Any, default: Any = 0.0) -> float:
    if is_number(value):
        return float(value)
    found = _NUMBER.match(as_text(value)[:600])
    return float(found[0]) if found else float(default)


def _abs(context: Paying, value: Any) -> Any:
    return abs(value) if is_number(value) and not isinstance(value, bool) else not_possible(value)


# -- lists and mappings


def _length(context: Paying, value: Any) -> int:
    context.budget.spend()
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if value is None:
        not_possible(value)
    return len(value) if isinstance(value, dict) else len(as_list(value))


def _list(context: Paying, value: Any) -> list[Any]:
    context.budget.spend(16 * len(as_list(value)))
    return list(as_list(value))


def _reverse(context: Paying, value: Any) -> list[Any]:
    return _list(context, value)[::-1]


def _end(at: int) -> Function:
    def end(context: Paying, value: Any) -> Any:
        items = as_list(value)
        return items[at] if items else Undefined()

    return end


def _append(context: Paying, value: Any, item: Any) -> Any:
    context.budget.spend(16)
    value.append(item)
    return value


def _taken(keep: bool) -> Function:
    """`selectattr` and `select`, which are one for the engine; or `rejectattr` and `reject`."""

    def taken(context: Paying, value: Any, first: Any, *more: Any) -> list[Any]:
        items = as_list(value)
        context.budget.spend(16 * len(items), len(items))
        if not more:
            return [item for item in items if bool(_attribute(item, first)) == keep]
        named = first if len(more) == 1 else more[0]
        test = TESTS.get(as_text(named)) or not_possible(named)
        subjects = items if len(more) == 1 else [_attribute(item, first) for item in items]
        return [item for item, it in zip(items, subjects, strict=True) if bool(test(context, it, more[-1])) == keep]

    return taken


def _attribute(item: Any, name: Any) -> Any:
    return item.get(as_text(name), Undefined()) if isinstance(item, dict) else not_possible(item)


def _map(context: Paying, value: Any, *filters: Any, attribute: Any = None, default: Any = None) -> list[Any]:
    if filters or not isinstance(attribute, str):
        raise TemplateBeyondSubset("map by a filter, which the engine does not know")
    items, other = as_list(value), Undefined() if default is None else default
    context.budget.spend(16 * len(items), len(items))
    return [item.get(attribute, other) if isinstance(item, dict) else other for item in items]


def _join(context: Paying, value: Any, d: Any = "", attribute: Any = None) -> str:
    items = as_list(value) if attribute is None else _map(context, value, attribute=attribute)
    between = "" if isinstance(d, Undefined) else as_text(d)
    for item in items:
        if not isinstance(item, str) and (isinstance(item, bool) or not is_number(item)):
            not_possible(item)
    context.budget.spend(len(items) * (1 + len(between)), len(items))
    return between.join(spelled(context.budget, item) for item in items)


def _sort(context: Paying, value: Any, reverse: Any = False, case_sensitive: Any = False, attribute: Any = None) -> Any:
    items = as_list(value)
    keys = items if attribute is None else [_attribute(item, attribute) for item in items]
    return [items[at] for at in _order(context, keys, bool(reverse))]


def _dictsort(context: Paying, value: Any, case_sensitive: Any = False, by: Any = "key", reverse: Any = False) -> Any:
    if not isinstance(value, dict):
        not_possible(value)
    pairs = list(value.items())
    keys = [pair[1] if by == "value" else pair[0] for pair in pairs]
    return dict(pairs[at] for at in _order(context, keys, bool(reverse)))


def _order(context: Paying, keys: Sequence[Any], reverse: bool) -> list[int]:
    """The places of `keys` in order: all numbers, or all texts by their bytes."""
    context.budget.spend(32 * len(keys) + sum(len(key) for key in keys if isinstance(key, str)), 8 * len(keys))
    if all(isinstance(key, str) for key in keys):
        data = [key.encode("utf-8", "surrogatepass") for key in keys]
        return sorted(range(len(keys)), key=data.__getitem__, reverse=reverse)
    if all(is_number(key) for key in keys):
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    raise TemplateBeyondSubset("the template sorts values of several kinds")


def _of_mapping(read: Callable[[dict[Any, Any]], Any]) -> Function:
    def of_mapping(context: Paying, value: Any) -> list[Any]:
        if value is None or isinstance(value, Undefined):
            return []
        if not isinstance(value, dict):
            not_possible(value)
        context.budget.spend(32 * len(value))
        return list(read(value))

    return of_mapping


def _get(context: Paying, value: Any, key: Any, default: Any = None) -> Any:
    if not isinstance(value, dict) or not isinstance(key, str):
        not_possible(value)
    return value.get(key, default)


# -- tests


def _isinstance(*kinds: type) -> Function:
    """Whether a value is of one of these types; a bool is no number."""
    return lambda context, value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _compares(operator: str) -> Function:
    return lambda context, value, other: compared(context, value, operator, other)


def _whole(context: Paying, value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else not_possible(value)


TESTS: Mapping[str, Function] = {
    "boolean": _isinstance(bool),
    "callable": _isinstance(Method, Global, Clock),
    "odd": lambda context, value: _whole(context, value) % 2 == 1,
    "even": lambda context, value: _whole(context, value) % 2 == 0,
    "divisibleby": lambda context, value, by: _whole(context, value) % _whole(context, by) == 0,
    "false": lambda context, value: value is False,
    "true": lambda context, value: value is True,
    "string": _isinstance(str),
    "integer": _isinstance(int),
    "float": _isinstance(float),
    "number": _isinstance(int, float),
    "iterable": _isinstance(list, tuple, str, dict, Undefined),
    "sequence": _isinstance(list, tuple, str, dict, Undefined),
    "mapping": _isinstance(dict),
    "lower": lambda context, value: not any("A" <= piece <= "Z" for piece in needed_text(context, value)),
    "upper": lambda context, value: not any("a" <= piece <= "z" for piece in needed_text(context, value)),
    "none": lambda context, value: value is None,
    "defined": lambda context, value: not isinstance(value, Undefined),
    "undefined": _isinstance(Undefined),
    "in": lambda context, value, whole: contains(context.budget, whole, value),
    **dict.fromkeys(("eq", "equalto"), _compares("eq")),
    "ne": _compares("ne"),
    "ge": _compares("gteq"),
    **dict.fromkeys(("gt", "greaterthan"), _compares("gt")),
    **dict.fromkeys(("lt", "lessthan"), _compares("lt")),
}

_TEXT: Mapping[str, Function] = {
    "upper": _cased(UPPER),
    "lower": _cased(LOWER),
    "strip": _strip(True, True),
    "lstrip": _strip(True, False),
    "rstrip": _strip(False, True),
    "title": _title,
    "capitalize": _capitalize,
    "startswith": _ends(str.startswith),
    "endswith": _ends(str.endswith),
    "split": _split(str.split),
    "rsplit": _split(str.rsplit),
    "replace": _replace,
}
_MAPPING: Mapping[str, Function] = {
    "get": _get,
    "keys": _of_mapping(dict.keys),
    "values": _of_mapping(dict.values),
    "items": _of_mapping(dict.items),
}
METHODS: Mapping[type, Mapping[str, Function]] = {str: _TEXT, dict: _MAPPING, list: {"append": _append}}
"""What can be called of a value, by its type."""

FILTERS: Mapping[str, Function] = {
    **_TEXT,
    **_MAPPING,
    "trim": _strip(True, True),
    "indent": _indent,
    "string": _string,
    "safe": _string,
    "tojson": _tojson,
    "default": _default,
    "int": _int,
    "float": _float,
    "abs": _abs,
    "length": _length,
    "list": _list,
    "first": _end(0),
    "last": _end(-1),
    "reverse": _reverse,
    "sort": _sort,
    "dictsort": _dictsort,
    "join": _join,
    "map": _map,
    **dict.fromkeys(("selectattr", "select"), _taken(True)),
    **dict.fromkeys(("rejectattr", "reject"), _taken(False)),
}


# -- functions


def _raise(context: Paying, message: Any) -> NoReturn:
    raise TemplateRefusal(as_text(message)[:400])


def _range(context: Paying, start: Any, stop: Any = None, step: Any = 1) -> list[int]:
    ends = (0, start) if stop is None else (start, stop)
    numbers = range(_whole(context, ends[0]), _whole(context, ends[1]), _whole(context, step))
    if len(numbers) > MOST_RANGE:
        raise TemplateBeyondSubset(f"the template counts to {len(numbers):,}")
    context.budget.spend(16 * len(numbers))
    return list(numbers)


def _namespace(context: Paying, **values: Any) -> Namespace:
    context.budget.spend(64)
    return Namespace(**values)


GLOBALS: Mapping[str, Global] = {
    "raise_exception": Global(_raise),
    "range": Global(_range),
    "namespace": Global(_namespace),
}


def called(value: Any) -> Function:
    """The function that a template calls; TypeError where it is none."""
    if isinstance(value, Method | Global | Clock):
        return value
    raise TypeError(f"{kind_name(value)} is not a function")
