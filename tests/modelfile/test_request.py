"""Create requests: from a spec and from a Modelfile, one value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ModelfileError, SpecError
from ollama_kit.modelfile import (
    CreateRequest,
    ServerVersion,
    create_request,
    create_request_from_spec,
    read_modelfile,
    render_modelfile,
)
from ollama_kit.specs.model import Message, ModelSpec
from tests.intensity import examples
from tests.modelfile.vectors import TEXT

SPEC = ModelSpec(
    name="x",
    base="qwen3.6:27b",
    context=8192,
    system="你好\n",
    parameters={"temperature": 0.7, "min_p": 0, "stop": ("a", "b ")},
    messages=(Message("user", "hi"), Message("assistant", "ho")),
    license=("MIT",),
    lines={"parameters.temperature": (Path("x.yaml"), 7), "context": (Path("x.yaml"), 3)},
    path=Path("x.yaml"),
)


def specs() -> st.SearchStrategy[ModelSpec]:
    """Specs with any texts and parameter values."""
    texts = st.one_of(st.none(), TEXT)
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    parameters = st.fixed_dictionaries(
        {},
        optional={
            "temperature": finite,
            "top_p": st.floats(0, 1),
            "seed": st.integers(-(2**63), 2**63 - 1),
            "use_mmap": st.booleans(),
            "stop": st.lists(TEXT, max_size=3).map(tuple),
        },
    )
    return st.builds(
        ModelSpec,
        name=st.just("x"),
        base=st.just("qwen3:4b"),
        context=st.one_of(st.none(), st.integers(1, 10**6)),
        thinking=st.sampled_from([None, True, False]),
        system=texts,
        template=texts,
        messages=st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXT), max_size=2).map(
            tuple
        ),
        license=st.lists(TEXT, max_size=2).map(tuple),
        parameters=parameters,
        requires=st.sampled_from([None, "0.14.0"]),
        renderer=st.sampled_from([None, "qwen3.5"]),
        modelfile_template=st.sampled_from(["default", "qwen", "adapter"]),
    )


@given(specs())
@settings(deadline=None, max_examples=examples(80))
def test_both_roads_give_one_value(spec: ModelSpec) -> None:
    """What the rendered Modelfile asks for is what the spec asks for, whenever text can carry it."""
    try:
        text = render_modelfile(spec)
    except ModelfileError:
        return
    assert create_request(read_modelfile(text)) == create_request_from_spec(spec)


def test_the_body_has_the_servers_field_names() -> None:
    """Only what is set is sent; stop is a list, num_ctx a number."""
    assert create_request_from_spec(SPEC).body("m") == {
        "model": "m",
        "from": "qwen3.6:27b",
        "system": "你好\n",
        "license": ["MIT"],
        "parameters": {"num_ctx": 8192, "temperature": 0.7, "min_p": 0.0, "stop": ["a", "b "]},
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
    }


def test_files_and_adapters_are_named_by_digest() -> None:
    """A GGUF and a LoRA are uploaded by the caller, who gives their digests."""
    spec = replace(SPEC, base="./m.gguf", base_path=Path("m.gguf"), adapter=Path("l.gguf"), quantize="q4_K_M")
    request = create_request_from_spec(spec)
    assert (request.from_, request.files, request.adapters) == (None, ("m.gguf",), ("l.gguf",))
    body = request.body("m", files={"m.gguf": "sha256:1"}, adapters={"l.gguf": "sha256:2"})
    assert body["files"] == {"m.gguf": "sha256:1"}
    assert body["adapters"] == {"l.gguf": "sha256:2"}
    assert body["quantize"] == "q4_K_M"
    assert "from" not in body


def test_what_the_server_does_not_know_is_not_sent() -> None:
    """renderer and parser go only to servers that know them."""
    spec = replace(SPEC, renderer="qwen3.5", parser="qwen3.5")
    assert create_request_from_spec(spec, ServerVersion(0, 9, 3)).renderer is None
    assert create_request_from_spec(spec, ServerVersion(0, 12, 0)).renderer == "qwen3.5"


@pytest.mark.parametrize(
    ("changes", "says", "line"),
    [
        ({"parameters": {"temperature": "warm"}}, "temperature must be a number", 7),
        ({"parameters": {"num_gqa": 8}}, "0.1.35", 0),
        ({"parameters": {"tokenizer": "qwen"}}, "GGUF", 0),
        ({"parameters": {"stop": "x"}}, "list of texts", 0),
        ({"parameters": {"top_k": "20"}}, "not the text '20'", 0),
        ({"context": 2**70}, "num_ctx", 3),
        ({"requires": "99.0.0"}, "requires Ollama 99.0.0", 0),
        ({"requires": "newest"}, "not a version", 0),
    ],
)
def test_a_wrong_parameter_names_the_specs_line(changes: dict[str, object], says: str, line: int) -> None:
    """The error leads to the file and line of the spec."""
    with pytest.raises(SpecError, match=says) as caught:
        create_request_from_spec(replace(SPEC, **changes), ServerVersion(0, 9, 3))  # type: ignore[arg-type]
    assert caught.value.line == line
    assert str(caught.value).startswith("x.yaml")


def test_a_modelfile_is_read_as_ollama_reads_it() -> None:
    """The last SYSTEM and ADAPTER win, stop and LICENSE and MESSAGE add up, names lose what Ollama drops."""
    text = (
        "FROM a\u200b\nFROM ./m.gguf\nSYSTEM one\nSYSTEM tw\u3000o\nADAPTER x\nADAPTER y\nLICENSE 1\nLICENSE 2\n"
        "PARAMETER seed 1\nPARAMETER seed 2\nPARAMETER stop a\nPARAMETER stop b\nPARAMETER mirostat 2\n"
        "MESSAGE user q: r\n"
    )
    assert create_request(read_modelfile(text), target=ServerVersion(0, 9, 3)) == CreateRequest(
        from_="a",
        files=("./m.gguf",),
        adapters=("y",),
        system="tw\u3000o",
        license=("1", "2"),
        parameters={"seed": 2, "stop": ("a", "b")},
        messages=(Message("user", "q: r"),),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("PARAMETER num_gqa 8", "0.1.35"),
        ("PARAMETER num_ctx 8k", "whole number"),
        ("PARAMETER  num_ctx 8", "name"),
        ("PARAMETER system hi", "SYSTEM"),
        ("RENDERER x", "0.12.0"),
        ("FROM ./missing.gguf", "no such file"),
        ("FROM ", "empty"),
    ],
)
def test_what_ollama_would_refuse_is_refused_with_its_line(line: str, says: str, tmp_path: Path) -> None:
    """The line of the Modelfile is in the error, and a hint beside it."""
    with pytest.raises(ModelfileError, match=says) as caught:
        create_request(read_modelfile(f"FROM a\n\n{line}\n"), folder=tmp_path, target=ServerVersion(0, 9, 3))
    assert caught.value.line == 3
    assert caught.value.hint


def test_a_from_that_exists_is_a_file(tmp_path: Path) -> None:
    """As Ollama does: a name that exists beside the Modelfile is a path, also without a suffix."""
    (tmp_path / "weights").touch()
    assert create_request(read_modelfile("FROM weights"), folder=tmp_path).files == ("weights",)
    assert create_request(read_modelfile("FROM weights")).from_ == "weights"
