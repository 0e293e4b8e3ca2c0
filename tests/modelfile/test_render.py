"""Rendering specs as Modelfiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.errors import ModelfileError, SpecError, SpecNotFound
from ollama_kit.modelfile import ServerVersion, StatedFacts, lint_modelfile, render_modelfile
from ollama_kit.specs.model import Message, ModelSpec

SPEC = ModelSpec(
    name="qwen3-27b-custom",
    base="qwen3.6:27b",
    context=8192,
    gqa=6,
    tokenizer="qwen",
    thinking=False,
    system="你是一个严谨的 Python 工程师。\n",
    parameters={"temperature": 0.7, "min_p": 0, "stop": ("<|im_end|>",)},
    messages=(Message("user", 'Say "hi".'),),
    path=Path("modelfiles/qwen3-27b-custom.yaml"),
    lines={"system": (Path("q.yaml"), 5), "messages.0.content": (Path("q.yaml"), 9), "modelfile": (Path("q.yaml"), 2)},
)
EXPECTED = '''\
# qwen3-27b-custom: written by ollama-kit from qwen3-27b-custom.yaml; change the spec, not this file
# gqa: 6
# tokenizer: qwen35
# thinking: false

FROM qwen3.6:27b
PARAMETER num_ctx 8192
PARAMETER temperature 0.7
PARAMETER min_p 0.0
PARAMETER stop """<|im_end|>"""
SYSTEM """你是一个严谨的 Python 工程师。
"""
MESSAGE user """Say "hi"."""
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder of the user's, with room for templates; the current folder."""
    (tmp_path / "ollama-kit.yaml").touch()
    folder = tmp_path / "templates" / "modelfile"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return folder


def test_the_whole_text_is_as_expected() -> None:
    """Facts of the model fill the comment lines, then one command a line."""
    assert render_modelfile(SPEC, facts=StatedFacts(gqa=6, tokenizer="qwen35")) == EXPECTED


def test_a_rendered_file_is_clean() -> None:
    """The linter has nothing to say about it."""
    assert lint_modelfile(render_modelfile(SPEC, ServerVersion(0, 9, 3)), target=ServerVersion(0, 9, 3)) == ()


def test_num_gqa_is_a_line_only_for_servers_that_had_it() -> None:
    """Before 0.1.35 the line is written, from then on the comment is all."""
    assert "\nPARAMETER num_gqa 6\n" in render_modelfile(SPEC, ServerVersion(0, 1, 34))
    for target in (ServerVersion(0, 1, 35), ServerVersion(0, 0, 0), None):
        text = render_modelfile(SPEC, target)
        assert "num_gqa" not in text
        assert "\n# gqa: 6\n" in text


def test_without_expectation_or_facts_the_comments_say_so() -> None:
    """`auto` and `any`, and no num_gqa line either."""
    text = render_modelfile(replace(SPEC, gqa=None, tokenizer=None), ServerVersion(0, 1, 30))
    assert "# gqa: auto\n# tokenizer: any\n" in text
    assert "num_gqa" not in text


def test_what_is_newer_than_the_target_is_left_out_and_said() -> None:
    """The comment names the thing and the version it came with."""
    spec = replace(SPEC, renderer="qwen3.5", parser="qwen3.5", quantize="q8_0")
    text = render_modelfile(spec, ServerVersion(0, 3, 0))
    assert "RENDERER" not in text
    assert "# left out: min_p (Ollama 0.3.1)\n" in text
    assert "# left out: renderer qwen3.5 (Ollama 0.12.0)\n" in text
    assert "# left out: quantize q8_0 (ollama create --quantize q8_0)\n" in text
    assert "\nRENDERER qwen3.5\nPARSER qwen3.5\n" in render_modelfile(spec, ServerVersion(0, 12, 0))


def test_what_was_removed_before_the_target_is_an_error() -> None:
    """A spec that sets num_gqa itself is told since when it is gone."""
    with pytest.raises(SpecError, match=r"num_gqa was removed in Ollama 0\.1\.35"):
        render_modelfile(replace(SPEC, parameters={"num_gqa": 8}), ServerVersion(0, 9, 3))


def test_the_shipped_templates_all_render() -> None:
    """qwen and adapter write the same commands as default, with other comments."""
    spec = replace(SPEC, base="./m.gguf", base_path=Path("m.gguf"), adapter=Path("my lora.gguf"), thinking=None)
    texts = [render_modelfile(replace(spec, modelfile_template=name)) for name in ("default", "qwen", "adapter")]
    commands = {"\n".join(line for line in text.splitlines() if not line.startswith("#")) for text in texts}
    assert len(commands) == 1
    assert "ADAPTER my lora.gguf\n" in texts[0]
    assert "needs renderer: qwen3.5" in texts[1]
    assert "fits only the base" in texts[2]


@pytest.mark.parametrize(
    ("changes", "says", "line"),
    [
        ({"system": "a\u3000b"}, r"system contains U\+3000", 5),
        ({"system": 'a"""\nb'}, "three double quotes", 5),
        ({"messages": (Message("user", "a\u200db"),)}, r"messages\.0\.content contains U\+200D", 9),
        ({"base": "a\u200bb"}, r"U\+200B", 0),
        ({"parameters": {"stop": ()}}, "empty list of stop", 0),
    ],
)
def test_text_that_a_modelfile_can_not_carry_names_the_specs_line(changes, says: str, line: int) -> None:  # type: ignore[no-untyped-def]
    """The error says what, where, and that `build` can do it."""
    with pytest.raises(ModelfileError, match=says) as caught:
        render_modelfile(replace(SPEC, **changes))
    assert caught.value.line == line
    assert "build" in caught.value.hint


@pytest.mark.parametrize("value", ["x\nSYSTEM evil", 'x"\nSYSTEM evil', '"""x"""\nSYSTEM evil', "# x\rSYSTEM evil"])
def test_a_value_can_not_become_a_command(value: str) -> None:
    """Line ends and quotes in names, paths and comments stay inside their value, or are refused."""
    for spec in (replace(SPEC, base=value), replace(SPEC, name=value), replace(SPEC, renderer=value)):
        try:
            text = render_modelfile(spec)
        except ModelfileError:
            continue
        assert [finding.message for finding in lint_modelfile(text) if finding.rule == "duplicate"] == []


def test_a_projects_template_comes_first_and_may_extend_ours(project: Path) -> None:
    """A template of the same name shadows the shipped one; others extend it by its name."""
    (project / "mine.jinja").write_text(
        '{% extends "modelfile/default.jinja" %}{% block stated %}{{ "ours" | comment }}\n{% endblock %}',
        encoding="utf-8",
    )
    assert render_modelfile(replace(SPEC, modelfile_template="mine")) == render_modelfile(SPEC).replace(
        "# thinking: false\n", "# thinking: false\n# ours\n"
    )
    (project / "default.jinja").write_text("FROM {{ base | plain }}\n", encoding="utf-8")
    assert render_modelfile(SPEC) == "FROM qwen3.6:27b\n"


@pytest.mark.parametrize(
    ("template", "says", "line"),
    [
        ("FROM a\n{{ nothing }}\n", "'nothing' is undefined", 2),
        ("FROM a\n\n{{ nothing | plain }}\n", "'nothing' is undefined", 3),
        ("FROM a\n{% if %}\n", "is not Jinja", 2),
        ("FROM a\n{{ 1 // 0 }}\n", "cannot be rendered", 2),
        ("FROM a\n{{ ''.__class__.__mro__ }}\n", "cannot be rendered", 2),
        ('{% extends "modelfile/none.jinja" %}', "does not exist: modelfile/none.jinja", 1),
        ('{% extends "../../x" %}', "does not exist", 1),
        ("FROM a\nSYSTEM {{ system }}\n", "line 3 of the result", 0),
        ("SYSTEM x\n", "no FROM line", 0),
    ],
)
def test_a_broken_template_names_its_file_and_line(project: Path, template: str, says: str, line: int) -> None:
    """Undefined names, syntax, failing code and results that are no Modelfile lead to the template."""
    path = project / "bad.jinja"
    path.write_text(template, encoding="utf-8")
    spec = replace(SPEC, modelfile_template="bad", system="one\ntwo two")
    with pytest.raises(SpecError, match=says) as caught:
        render_modelfile(spec)
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize("name", ["defalt", "../default", "", "a/b"])
def test_a_missing_template_lists_what_there_is(name: str) -> None:
    """The error names the spec's line and the templates that exist."""
    with pytest.raises(SpecNotFound) as caught:
        render_modelfile(replace(SPEC, modelfile_template=name))
    assert "adapter, default, qwen" in caught.value.hint
    assert (caught.value.path, caught.value.line) == (Path("q.yaml"), 2)
    assert caught.value.nearest == (("default",) if name.endswith(("defalt", "default")) else ())
