"""The parameters of a Modelfile by server version: type, since when, until when.

From `Options` and `Runner` in ollama api/types.go, every release from 0.0.3 to 0.33; what the command line still takes
and drops with a warning from `deprecatedParameters` in parser/parser.go. The server's own /api/create checks neither
names nor types (a wrong type fails at the first chat), so these checks are the only ones before that.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ollama_kit.errors import nearest_names
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.specs.model import ParameterValue

Kind = Literal["int", "float", "bool", "strings"]


@dataclass(frozen=True)
class Parameter:
    """One parameter. `since` None: always. `removed_in` None: current. `warned`: the command line still takes the line
    and drops it with a warning (from `removed_in` on), where it otherwise answers `unknown parameter`."""

    name: str
    kind: Kind
    since: ServerVersion | None = None
    removed_in: ServerVersion | None = None
    warned: bool = False
    note: str = ""


@dataclass(frozen=True)
class ParameterProblem:
    """Why a parameter cannot be used. `rule` is the linter's code, `nearest` the names likeliest meant."""

    rule: str
    message: str
    nearest: tuple[str, ...] = ()


def _table() -> Mapping[str, Parameter]:
    def gone(name: str, kind: Kind, version: str, *, warned: bool = False, note: str = "") -> Parameter:
        return Parameter(name, kind, removed_in=ServerVersion.parse(version), warned=warned, note=note)

    ints = "num_keep seed num_predict top_k repeat_last_n num_ctx num_batch num_gpu main_gpu num_thread"
    floats = "top_p typical_p temperature repeat_penalty presence_penalty frequency_penalty"
    everything = (
        *(Parameter(name, "int") for name in ints.split()),
        *(Parameter(name, "float") for name in floats.split()),
        Parameter("use_mmap", "bool"),
        Parameter("stop", "strings", note="one PARAMETER line per text"),
        Parameter("min_p", "float", since=ServerVersion(0, 3, 1)),
        Parameter("draft_num_predict", "int", since=ServerVersion(0, 30, 0)),
        gone("embedding_only", "bool", "0.1.28"),
        gone("num_gqa", "int", "0.1.35", note="the model file carries its own head counts"),
        gone("rope_frequency_base", "float", "0.1.35", note="the model file carries it"),
        gone("rope_frequency_scale", "float", "0.1.35", note="the model file carries it"),
        gone("numa", "bool", "0.3.4"),
        gone("tfs_z", "float", "0.5.2"),
        gone("penalize_newline", "bool", "0.5.5", warned=True),
        *(
            gone(name, "bool", "0.7.0", warned=True)
            for name in ["f16_kv", "low_vram", "logits_all", "vocab_only", "use_mlock"]
        ),
        gone("mirostat", "int", "0.7.0", warned=True),
        gone("mirostat_tau", "float", "0.7.0", warned=True),
        gone("mirostat_eta", "float", "0.7.0", warned=True),
    )
    return MappingProxyType({parameter.name: parameter for parameter in everything})


PARAMETERS = _table()
"""Every parameter that any release knew, by name."""

_INT = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_LONGEST_NUMBER = 400
_KIND_NAMES = {"int": "a whole number", "float": "a number", "bool": "true or false", "strings": "a list of texts"}


def current_names(target: ServerVersion | None = None) -> tuple[str, ...]:
    """The names that a server of that version takes (None: the newest), sorted.

    >>> "num_gqa" in current_names(), "num_gqa" in current_names(ServerVersion(0, 1, 34))
    (False, True)
    """
    return tuple(sorted(name for name, parameter in PARAMETERS.items() if _fits(parameter, target)))


def check_parameter(
    name: str, value: ParameterValue | list[str], target: ServerVersion | None = None
) -> tuple[ParameterProblem, ...]:
    """What is wrong with a parameter for a server of that version (None: the newest); empty if nothing is.

    `value` is text as written in a Modelfile, or a typed value of a spec (`stop`: a tuple or list of texts).

    >>> [problem.message for problem in check_parameter("num_gqa", 8)]
    ['num_gqa was removed in Ollama 0.1.35: the model file carries its own head counts']
    """
    parameter = PARAMETERS.get(name)
    if parameter is None:
        return (_unknown(name, target),)
    if not _fits(parameter, target):
        return (_unfit(parameter, target),)
    try:
        typed_value(name, value)
    except ValueError as error:
        return (ParameterProblem("parameter-type", str(error)),)
    return ()


def typed_value(name: str, value: ParameterValue | list[str]) -> ParameterValue:
    """The value as the server stores it: int, float rounded to 32 bits, bool, or a tuple of texts.

    Text is read as Go's ParseInt, ParseFloat and ParseBool do; a typed value must have the right type already.
    ValueError says what was expected. `name` must be one of PARAMETERS. For `stop` a lone text is one element.

    >>> typed_value("num_ctx", "8192"), typed_value("temperature", 0.7), typed_value("stop", "<|im_end|>")
    (8192, 0.7, ('<|im_end|>',))
    """
    kind = PARAMETERS[name].kind
    result: ParameterValue | None
    if kind == "strings":
        result = _strings(value)
    elif isinstance(value, str):
        result = {"int": _int, "float": _float, "bool": _bool}[kind](value)
    elif kind == "bool":
        result = value if isinstance(value, bool) else None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        result = None
    elif kind == "int":
        result = _in_64_bits(value) if isinstance(value, int) else None
    else:
        result = _in_32_bits(value)
    if result is None:
        raise ValueError(f"{name} must be {_KIND_NAMES[kind]}, not {str(value)[:60]!r}")
    return result


def value_text(value: int | float | bool | str) -> str:
    """A scalar as it is written in a Modelfile.

    >>> value_text(True), value_text(0.05), value_text(40)
    ('true', '0.05', '40')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fits(parameter: Parameter, target: ServerVersion | None) -> bool:
    if target is None or target.is_development:
        return parameter.removed_in is None
    return target.reaches(parameter.since) and (parameter.removed_in is None or target < parameter.removed_in)


def _unknown(name: str, target: ServerVersion | None) -> ParameterProblem:
    if name == "tokenizer":
        return ParameterProblem(
            "parameter-tokenizer", "tokenizer was never a parameter: the GGUF carries the tokenizer"
        )
    nearest = nearest_names(name, current_names(target))
    meant = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
    return ParameterProblem("unknown-parameter", f"unknown parameter {name[:60]!r}{meant}", nearest)


def _unfit(parameter: Parameter, target: ServerVersion | None) -> ParameterProblem:
    if target is not None and not target.reaches(parameter.since):
        return ParameterProblem(
            "newer-parameter", f"{parameter.name} came with Ollama {parameter.since}; the target is {target}"
        )
    rule = "ignored-parameter" if parameter.warned else "removed-parameter"
    note = f": {parameter.note}" if parameter.note else ""
    return ParameterProblem(rule, f"{parameter.name} was removed in Ollama {parameter.removed_in}{note}")


def _strings(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, tuple | list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    return None


def _int(text: str) -> int | None:
    return _in_64_bits(int(text)) if len(text) < _LONGEST_NUMBER and _INT.fullmatch(text) else None


def _in_64_bits(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _float(text: str) -> float | None:
    return _in_32_bits(float(text)) if len(text) < _LONGEST_NUMBER and _DECIMAL.fullmatch(text) else None


def _in_32_bits(value: float) -> float | None:
    """The shortest decimal with the same 32 bits, which is what Go writes; None if it does not fit or is not finite."""
    packed = _packed(value)
    if packed is None:
        return None
    single = struct.unpack("<f", packed)[0]
    shorter = (float(f"{single:.{digits}g}") for digits in range(1, 10))
    return next(short for short in shorter if _packed(short) == packed)


def _packed(value: float) -> bytes | None:
    try:
        packed = struct.pack("<f", float(value))
    except OverflowError:
        return None
    return packed if math.isfinite(value) else None


def _bool(text: str) -> bool | None:
    return True if text in _TRUE else False if text in _FALSE else None
