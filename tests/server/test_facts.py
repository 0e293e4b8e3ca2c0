"""What a server says about its models, read into values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import RemoteHostRefused
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server import ModelFacts, Server, require_local, resolve_host, supports
from ollama_kit.server.facts import go_unquote, gqa, read_parameters
from ollama_kit.server.flows import full_name
from ollama_kit.server.refusals import nearest_models
from tests import scripted as say
from tests.intensity import examples
from tests.scripted import ScriptedServer

PARAMETERS = r"""num_ctx                        1.048576e+06
stop                           "<|im_end|>"
temperature                    0.7
stop                           "a\"b\\n\n\tц 中 \u2028\U0001f600"
min_p                          0
use_mmap                       false
seed                           42
made_up                        1.5
other                          "x y"
top_p                          1e-05"""


def test_parameters_are_typed() -> None:
    """Integers that Go printed as floats are integers, `stop` is a tuple in order, texts are unquoted."""
    read = read_parameters(PARAMETERS)
    assert read == {
        "num_ctx": 1048576,
        "stop": ("<|im_end|>", 'a"b\\n\n\tц 中 \u2028😀'),
        "temperature": 0.7,
        "min_p": 0.0,
        "use_mmap": False,
        "seed": 42,
        "made_up": 1.5,
        "other": "x y",
        "top_p": 1e-05,
    }
    assert isinstance(read["num_ctx"], int)
    assert isinstance(read["min_p"], float)
    assert read_parameters("") == {}
    assert read_parameters('stop "one"') == {"stop": ("one",)}


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        (r'"\a\b\f\n\r\t\v\\\"\'"', "\a\b\f\n\r\t\v\\\"'"),
        (r'"\x00\x7f"', "\x00\x7f"),
        (r'"\xe4\xb8\xad"', "中"),
        (r'"\xff"', "\ufffd"),
        (r'"\u4e2d\U0001F600"', "中😀"),
        (r'"\101"', "A"),
        (r'"\\n"', "\\n"),
        ("`raw \\n`", "raw \\n"),
        ("plain", "plain"),
        ('"', '"'),
        ('""', ""),
    ],
)
def test_go_quotes(quoted: str, text: str) -> None:
    """Each escape that strconv.Quote writes is undone."""
    assert go_unquote(quoted) == text


@settings(deadline=None, max_examples=examples(200))
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_unquoting_undoes_quoting(text: str) -> None:
    """Texts quoted as Go does it (ASCII escapes, \\u and \\U for what it does not print) come back."""
    simple = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}

    def quote(character: str) -> str:
        if character in simple:
            return simple[character]
        if character.isprintable():
            return character
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    assert go_unquote('"' + "".join(map(quote, text)) + '"') == text


@pytest.mark.parametrize(
    ("query", "key_value", "groups"),
    [
        (9, 3, 3),
        (24, (0, 0, 0, 4) * 16, 6),
        ((0, 0, 32), (0, 0, 8), 4),
        (32, 32, 1),
        (32, (8, 4), None),
        (9, 2, None),
        (None, 4, None),
        (8, None, None),
        (8, 0, None),
        (8, (0, 0), None),
    ],
)
def test_query_heads_per_kv_head(query: Any, key_value: Any, groups: int | None) -> None:
    """Layers without attention do not count; layers that differ, or no figure at all, give None."""
    assert gqa(query, key_value) == groups


def test_show_is_read_with_its_digest(scripted: ScriptedServer) -> None:
    """The fields of /api/show, and the digest that only /api/tags has, the tag left out or not."""
    scripted.always("GET", "/api/tags", say.tags("qwen:latest", digest="e" * 64))
    scripted.always(
        "POST",
        "/api/show",
        say.show(
            "qwen35",
            context_length=262144,
            head_count=24,
            head_count_kv=[0, 0, 0, 4],
            parameters='num_ctx 8192\nstop "x"',
            messages=[{"role": "user", "content": "hi"}],
            capabilities=["completion", "thinking"],
            system="你好",
            renderer="qwen3.5",
        ),
    )
    with Server.at(scripted.url, {}) as server:
        facts = server.show("Qwen", verbose=True)
    assert scripted.seen("POST", "/api/show")[0].json == {"model": "Qwen", "verbose": True}
    assert (facts.digest, facts.base_blob) == ("e" * 64, "a" * 64)
    assert (facts.architecture, facts.gqa, facts.context_length) == ("qwen35", 6, 262144)
    assert facts.head_count_kv == (0, 0, 0, 4)
    assert facts.parameters == {"num_ctx": 8192, "stop": ("x",)}
    assert facts.messages == (("user", "hi"),)
    assert facts.capabilities == {"completion", "thinking"}
    assert (facts.system, facts.renderer, facts.tokenizer_pre) == ("你好", "qwen3.5", "smollm")
    assert facts.info("attention.head_count") == 24
    assert not facts.is_remote
    hash(facts.capabilities)
    with pytest.raises(TypeError):
        facts.parameters["x"] = 1  # type: ignore[index]


def test_show_without_arrays_or_details(scripted: ScriptedServer) -> None:
    """A plain show has null for arrays, and an odd server leaves fields out: unknown, not wrong."""
    scripted.on("POST", "/api/show", say.show(head_count_kv=None), say.as_json({}))
    with Server.at(scripted.url, {}) as server:
        assert server.show("m").gqa is None
        bare = server.show("m")
    assert (bare.architecture, bare.context_length, bare.gqa, bare.digest) == ("", None, None, "")


@pytest.mark.parametrize(
    ("host", "fields", "words"),
    [
        ("192.168.1.7", {}, "192.168.1.7"),
        ("https://ollama.com", {}, "ollama.com"),
        ("127.0.0.1", {"remote_host": "https://ollama.com:443"}, "forwards prompts for big to https://ollama.com"),
        ("127.0.0.1", {"remote_model": "big"}, "forwards"),
    ],
)
def test_text_leaves_this_machine_only_if_allowed(host: str, fields: dict[str, str], words: str) -> None:
    """Another host, or a model that the server forwards, needs --allow-remote."""
    facts = ModelFacts("big", **fields)  # type: ignore[arg-type]
    where = resolve_host(host, {})
    with pytest.raises(RemoteHostRefused, match=words) as caught:
        require_local(where, facts)
    assert "--allow-remote" in caught.value.hint
    require_local(where, facts, allow_remote=True)


def test_local_text_needs_no_leave() -> None:
    """A model of this machine's own server is no question."""
    require_local(resolve_host("localhost", {}), ModelFacts("m"))
    require_local(resolve_host("::1", {}), None)


@pytest.mark.parametrize(
    ("version", "feature", "has"),
    [
        ("0.12.6", "truncate", True),
        ("0.12.5", "truncate", False),
        ("0.5.4", "create_fields", False),
        ("0.0.0", "requires", True),
    ],
)
def test_features_by_version(version: str, feature: Any, has: bool) -> None:
    """A feature is there from its release on; a server built from source has all."""
    assert supports(ServerVersion.parse(version), feature) is has


def test_names_are_compared_as_ollama_does() -> None:
    """Tag, case and the default registry do not make another model; a namespace does."""
    assert len({full_name(name) for name in ("m", "M:latest", "library/m", "registry.ollama.ai/library/m:LATEST")}) == 1
    assert full_name("me/m") != full_name("m")
    assert full_name("localhost:5000/me/m") == "localhost:5000/me/m:latest"


def test_the_nearest_model_is_first_the_same_one_with_another_tag() -> None:
    """`qwen3:8b` means `qwen3:4b` rather than `qwen2:8b`."""
    assert nearest_models("qwen3:8b", ["qwen2:8b", "qwen3:4b"])[0] == "qwen3:4b"
    assert nearest_models("zzz", ["qwen3:4b"]) == ()


def test_the_version_is_asked_once(scripted: ScriptedServer) -> None:
    """A client remembers the server's version."""
    with Server.at(scripted.url, {}) as server:
        assert server.version() == server.version() == ServerVersion(0, 9, 3)
    assert scripted.calls == [("GET", "/api/version")]
