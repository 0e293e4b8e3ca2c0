"""Specs: what is inherited, overridden and rendered, and what every wrong one is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ollama_kit import resources
from ollama_kit.errors import OllamaKitError, SpecError, SpecNotFound, UsageError
from ollama_kit.specs import load_spec, spec_names
from ollama_kit.specs.model import KEYS
from tests.intensity import examples

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a spec into a project's folder, which is then the current one."""
    folder = tmp_path / "合同 项目" / "modelfiles"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder.parent)

    def write(text: str | bytes, name: str = "mine") -> Path:
        path = folder / f"{name}.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_every_shipped_spec_loads_and_names_its_sampling() -> None:
    """What ships must be usable as it is."""
    wanted = {
        *("qwen3-27b-custom", "qwen3.6-27b", "qwen3.6-27b-thinking", "qwen3.6-35b-a3b"),
        *("qwen3-4b", "wechat-zh", "contract-zh", "demo"),
    }
    assert wanted <= set(spec_names())
    for name in wanted:
        spec = load_spec(name)
        assert spec.context
        assert "temperature" in spec.parameters
    assert load_spec("qwen3-27b-custom").base == "qwen3.6:27b"


def test_a_project_s_spec_comes_before_the_shipped_one_and_may_refine_it(write: Write) -> None:
    """The nearest folder wins, and `extends` of the same name reaches the one below it."""
    write("spec: 1\nextends: qwen3-4b\ncontext: 4096\n", "qwen3-4b")
    spec = load_spec("qwen3-4b")
    assert (spec.base, spec.context) == ("qwen3:4b", 4096)


def test_inheritance_merges_parameters_and_null_takes_away(write: Write) -> None:
    """A child's parameters fill the parent's; a null drops what was inherited."""
    write("spec: 1\nfrom: a\nsystem: old\nparameters: {top_k: 5, seed: 1}\n", "base")
    write("spec: 1\nextends: base\nsystem: null\nparameters: {top_k: 7, seed: null}\n")
    spec = load_spec("mine")
    assert spec.system is None
    assert dict(spec.parameters) == {"top_k": 7}


def test_overrides_reach_keys_and_parameters(write: Write) -> None:
    """`--set` takes YAML, dotted for what has keys of its own."""
    write("spec: 1\nfrom: a\ncontext: 10\nparameters: {top_k: 5}\n")
    spec = load_spec("mine", {"context": "20", "parameters.stop": "[a, b]", "parameters.top_k": "6"})
    assert spec.all_parameters == {"num_ctx": 20, "top_k": 6, "stop": ("a", "b")}
    with pytest.raises(SpecError, match=r"--set:1: context must be a whole number"):
        load_spec("mine", {"context": "8k"})
    with pytest.raises(UsageError, match="only parameters and vars"):
        load_spec("mine", {"messages.0": "x"})


def test_jinja_runs_only_where_vars_says_so_and_never_in_the_chat_template(write: Write) -> None:
    """Braces in a prompt mean themselves; a Go template is never touched."""
    write('spec: 1\nfrom: a\nsystem: "{{ x }}"\n')
    assert load_spec("mine").system == "{{ x }}"
    write('spec: 1\nfrom: a\nvars: {x: 你}\nsystem: "{{ x }}好"\ntemplate: "{{ .Prompt }}"\n')
    spec = load_spec("mine")
    assert (spec.system, spec.template) == ("你好", "{{ .Prompt }}")


def test_a_value_may_come_from_the_environment(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """`!env` reads a variable that the user allows, and says which one is missing."""
    monkeypatch.setenv("OLLAMA_KIT_ENV_ALLOWED", "OTHER,BASE_MODEL")
    write("spec: 1\nfrom: !env BASE_MODEL\n")
    with pytest.raises(SpecError, match=r"mine\.yaml:2: the environment variable 'BASE_MODEL' is not set"):
        load_spec("mine")
    monkeypatch.setenv("BASE_MODEL", "qwen3:4b")
    assert load_spec("mine").base == "qwen3:4b"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_specs_are_read_in_the_encodings_that_editors_write(write: Write, encoding: str) -> None:
    """Notepad's UTF-16 and a Chinese Windows' GB18030 are as good as UTF-8."""
    write("spec: 1\nfrom: a\nsystem: 你是一个严谨的工程师\n".encode(encoding))
    assert load_spec("mine").system == "你是一个严谨的工程师"


def test_crlf_in_a_file_is_a_line_end(write: Write) -> None:
    """A spec saved on Windows says what it says elsewhere."""
    write("spec: 1\r\nfrom: a\r\nsystem: |\r\n  one\r\n  two\r\n")
    assert load_spec("mine").system == "one\ntwo\n"


WRONG = {
    "not YAML": ("spec: 1\nfrom: a\n  system: x: y\n", 3, "is not YAML"),
    "a tab": ("spec: 1\nvars:\n\tx: 1\n", 3, "is not YAML"),
    "context as text": ("spec: 1\nfrom: a\ncontext: 8k\n", 3, "write 8192"),
    "context as truth": ("spec: 1\nfrom: a\ncontext: yes\n", 3, "not true"),
    "context below 1": ("spec: 1\nfrom: a\ncontext: 0\n", 3, "above 0"),
    "stop as text": ("spec: 1\nfrom: a\nparameters:\n  stop: x\n", 4, "stop must be a list of texts"),
    "stop of numbers": ("spec: 1\nfrom: a\nparameters: {stop: [1]}\n", 3, "list of texts"),
    "a parameter that is a mapping": ("spec: 1\nfrom: a\nparameters: {top_k: {a: 1}}\n", 3, "must be a number"),
    "unknown key": ("spec: 1\nfrom: a\ncontxt: 9\n", 3, "did you mean `context`?"),
    "a parameter outside": ("spec: 1\nfrom: a\ntemperature: 1\n", 3, "parameters.temperature"),
    "somebody else's key": ("spec: 1\nmodel: a\n", 2, "write `from`"),
    "num_ctx as parameter": ("spec: 1\nfrom: a\nparameters: {num_ctx: 9}\n", 3, "set by the key `context`"),
    "num_gqa as parameter": ("spec: 1\nfrom: a\nparameters: {num_gqa: 8}\n", 3, "removed in Ollama 0.1.35"),
    "tokenizer as parameter": ("spec: 1\nfrom: a\nparameters: {tokenizer: q}\n", 3, "never a parameter"),
    "undefined variable": ("spec: 1\nfrom: a\nvars: {a: 1}\nsystem: |\n  x\n  {{ b }}\n", 6, "'b' is undefined"),
    "template error": ("spec: 1\nfrom: a\nvars: {a: 1}\nsystem: |\n  {% if %}\n", 5, "is not Jinja"),
    "an escape from the sandbox": ("spec: 1\nfrom: a\nvars: {a: 1}\nsystem: '{{ a.__class__.mro() }}'\n", 4, "system"),
    "division by zero": ("spec: 1\nfrom: a\nvars: {a: 1}\nsystem: '{{ a / 0 }}'\n", 4, "cannot be rendered"),
    "a newer version": ("spec: 2\nfrom: a\n", 1, "version 2; this ollama-kit reads version 1"),
    "no version": ("from: a\n", 1, "`spec: 1` is missing"),
    "a version that is none": ("spec: '1'\nfrom: a\n", 1, "spec must be 1"),
    "no from": ("spec: 1\n", 1, "`from` is missing"),
    "extends itself": ("spec: 1\nextends: mine\n", 2, "circular `extends`: mine → mine"),
    "extends nothing": ("spec: 1\nextends: qwen3-4\n", 2, "Did you mean qwen3-4b"),
    "a key twice": ("spec: 1\nfrom: a\nfrom: b\n", 3, "duplicate key 'from' (first on line 2)"),
    "an unknown tag": ("spec: 1\nfrom: !!python/name:os.system x\n", 2, "tag"),
    "empty": ("", 1, "is empty"),
    "a list": ("- a\n", 1, "mapping of keys to values"),
    "a wrong role": ("spec: 1\nfrom: a\nmessages:\n- {role: bot, content: x}\n", 4, "system, user or assistant"),
    "a message without content": ("spec: 1\nfrom: a\nmessages:\n- {role: user}\n", 4, "{role, content}"),
    "from a missing file": ("spec: 1\nfrom: ./no.gguf\n", 2, "from: no such file"),
    "adapter of a missing file": ("spec: 1\nfrom: a\nadapter: no.gguf\n", 3, "adapter: no such file"),
    "text that YAML takes for false": ("spec: 1\nfrom: a\nsystem: no\n", 3, "system must be text, not false"),
}


@pytest.mark.parametrize(("text", "line", "says"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_with_file_and_line(write: Write, text: str, line: int, says: str) -> None:
    """Each wrong spec ends in a SpecError, exit code 2, that names the file and the line."""
    path = write(text)
    with pytest.raises(SpecError) as caught:
        load_spec("mine")
    assert caught.value.exit_code == 2
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_a_loop_over_several_specs_shows_its_way_round(write: Write) -> None:
    """The chain is spelled out, so that one knows which link to cut."""
    write("spec: 1\nextends: b\n", "a")
    write("spec: 1\nextends: a\n", "b")
    with pytest.raises(SpecError, match="a → b → a"):
        load_spec("a")


def test_aliases_that_multiply_are_bounded(write: Write) -> None:
    """Ten lines of YAML can name a billion values; they are refused before they fill the memory."""
    rows = ["spec: 1", "vars:", "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    write("\n".join(rows))
    with pytest.raises(SpecError, match="contains more than"):
        load_spec("mine")


def test_bytes_that_are_no_text_and_large_files_are_refused(write: Write) -> None:
    """A binary file by mistake ends in a sentence, not in a traceback."""
    write(b"spec: 1\n\xff\xff\x00\x81")
    with pytest.raises(SpecError, match=r"mine\.yaml"):
        load_spec("mine")
    write(b"#" * (4 * 1024 * 1024 + 1))
    with pytest.raises(SpecError, match="at most"):
        load_spec("mine")


def test_an_unknown_name_is_answered_with_the_nearest(write: Write) -> None:
    """A typing error is met with what was meant."""
    with pytest.raises(SpecNotFound) as caught:
        load_spec("qwen3-27b-costum")
    assert caught.value.nearest[0] == "qwen3-27b-custom"


def test_the_editor_s_schema_knows_the_same_keys() -> None:
    """The JSON Schema that editors complete from and the loader cannot drift apart."""
    found = resources.find("templates", "schemas/spec.schema.json")
    assert found
    schema = json.loads(found.read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(KEYS)


scalars = st.one_of(st.integers(), st.booleans(), st.text(max_size=8), st.none(), st.floats(allow_nan=False))


@settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.one_of(st.sampled_from(sorted(KEYS)), st.text(max_size=6)), scalars, max_size=6))
def test_any_mapping_is_a_spec_or_an_error_of_ours(write: Write, data: dict[str, object]) -> None:
    """Whatever a file holds, nothing but an OllamaKitError comes out."""
    write(json.dumps({"spec": 1, "from": "a", **data}))
    said = "mine.yaml"
    try:
        load_spec("mine")
    except OllamaKitError as error:
        said = str(error)
    assert "mine.yaml" in said
