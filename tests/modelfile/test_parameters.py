"""The table of parameters by server version."""

from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import given, settings, strategies as st
from ollama import Options

from ollama_kit import resources
from ollama_kit.modelfile import PARAMETERS, ServerVersion, check_parameter
from ollama_kit.modelfile.parameters import current_names, typed_value, value_text
from ollama_kit.specs.model import PARAMETER_LIKE

NOT_IN_A_MODELFILE = {"num_gqa", "embedding_only", "numa", "tfs_z", "mirostat", "mirostat_tau", "mirostat_eta"}


def test_every_option_of_the_ollama_package_is_in_the_table() -> None:
    """ollama-python's Options, which still carry old ones, hold no name that the table lacks."""
    assert set(Options.model_fields) <= set(PARAMETERS)


def test_types_agree_with_the_ollama_package() -> None:
    """Where ollama-python has the option, its type is the table's."""
    kinds = {"int": int, "float": float, "bool": bool}
    for name, field in Options.model_fields.items():
        kind = PARAMETERS[name].kind
        if kind in kinds:
            assert kinds[kind] in getattr(field.annotation, "__args__", (field.annotation,)), name


REMOVED = {
    "embedding_only": "0.1.28",
    "num_gqa": "0.1.35",
    "rope_frequency_base": "0.1.35",
    "numa": "0.3.4",
    "tfs_z": "0.5.2",
    "penalize_newline": "0.5.5",
    "mirostat": "0.7.0",
    "use_mlock": "0.7.0",
}


@pytest.mark.parametrize(("name", "gone_in"), REMOVED.items())
def test_a_removed_parameter_names_the_version_it_went_in(name: str, gone_in: str) -> None:
    """It is known up to that version, and refused from it on."""
    version = ServerVersion.parse(gone_in)
    value = {"int": "1", "float": "1", "bool": "true", "strings": "x"}[PARAMETERS[name].kind]
    (problem,) = check_parameter(name, value, version)
    assert gone_in in problem.message
    assert check_parameter(name, value)
    before = ServerVersion(version.major, version.minor, version.patch - 1 if version.patch else 0)
    before = before if version.patch else ServerVersion(0, version.minor - 1, 99)
    assert check_parameter(name, value, before) == ()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("num_ctx", "8192", 8192),
        ("num_ctx", "+5", 5),
        ("seed", "-1", -1),
        ("temperature", "0.7", 0.7),
        ("temperature", "1e-1", 0.1),
        ("temperature", ".5", 0.5),
        ("temperature", "1", 1.0),
        ("top_p", "0.123456789", 0.12345679),
        ("use_mmap", "T", True),
        ("use_mmap", "0", False),
        ("stop", "", ("",)),
    ],
)
def test_text_is_read_as_go_reads_it(name: str, text: str, value: object) -> None:
    """Values as strconv gives them, floats in 32 bits."""
    assert typed_value(name, text) == value
    assert type(typed_value(name, text)) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_ctx", text) for text in ("8k", "8192.0", "", " 1", "1_000", "0x10", "٣", "9223372036854775808", "9" * 5000)]
    + [("temperature", text) for text in ("warm", "NaN", "inf", "1e39", "1,5", "", "0.7 # x", "1" * 5000)]
    + [("use_mmap", text) for text in ("yes", "on", "tRUE", "")]
    + [
        ("num_ctx", True),
        ("num_ctx", 1.5),
        ("temperature", True),
        ("use_mmap", 1),
        ("stop", 5),
        ("temperature", math.nan),
    ]
    + [("seed", 2**63), ("temperature", 10**400), ("temperature", ("a",))],
)
def test_a_wrong_type_says_what_was_expected(name: str, value: object) -> None:
    """What would fail at the first chat, or be refused by the command line, is found here."""
    (problem,) = check_parameter(name, value)  # type: ignore[arg-type]
    assert problem.rule == "parameter-type"
    assert f"{name} must be " in problem.message


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_a_float_keeps_its_32_bits_through_its_text(value: float) -> None:
    """The shortest text of a 32-bit float is read back as the same value."""
    typed = typed_value("temperature", value)
    assert isinstance(typed, float)
    assert struct.pack("<f", typed) == struct.pack("<f", value)
    assert typed_value("temperature", value_text(typed)) == typed


def test_an_unknown_name_suggests_the_nearest() -> None:
    """Misspelt and capitalized names lead to the right one; the tokenizer is explained."""
    (problem,) = check_parameter("temprature", "1")
    assert problem.nearest[0] == "temperature"
    (problem,) = check_parameter("tokenizer", "Qwen/Qwen3-27B")
    assert "GGUF" in problem.message


def test_the_names_of_a_version_are_those_of_its_release() -> None:
    """0.9.3 has the twenty options that its api/types.go lists."""
    names = current_names(ServerVersion(0, 9, 3))
    assert len(names) == 19
    assert "min_p" in names
    assert not NOT_IN_A_MODELFILE & set(names)
    assert current_names(ServerVersion(0, 0, 0)) == current_names()


def test_spec_and_schema_know_the_names_of_the_table() -> None:
    """An editor completes each of them; one that stands beside `parameters:` is led there. `context` and
    `parameters.stop` have a place of their own."""
    found = resources.find("templates", "schemas/spec.schema.json")
    assert found is not None
    schema = json.loads(found.read_text(encoding="utf-8"))
    names = set(current_names())
    assert set(schema["properties"]["parameters"]["properties"]) == names - {"num_ctx"}
    assert names - {"num_ctx", "stop"} == PARAMETER_LIKE
