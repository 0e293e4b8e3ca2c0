"""Which template a server runs: read off recorded answers to /api/show, and foretold from the two templates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server.facts import ModelFacts, read_show
from ollama_kit.tokens.chat_template.template import DEFAULT_TEMPLATE
from ollama_kit.tokens.template_choice import (
    go_abilities,
    jinja_abilities,
    template_in_force,
    template_to_be,
)

WIRE = Path(__file__).parent.parent / "data" / "wire"
OLD, NEW = ServerVersion(0, 24, 0), ServerVersion(0, 32, 15)
PLAIN_GO = "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
TOOLS_GO = "{{ if .Tools }}{{ .Tools }}{{ end }}" + PLAIN_GO
ROUND_TRIP_GO = TOOLS_GO + '{{ range .ToolCalls }}{{ .Function }}{{ end }}{{ if eq .Role "tool" }}{{ end }}'
THINKING_GO = "{{ range .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}{{ end }}"
JINJA = "{% for m in messages %}{{ m.content }}{% endfor %}"
TOOLS_JINJA = "{% if tools %}{{ tools | tojson }}{% endif %}" + JINJA
ROUND_TRIP_JINJA = TOOLS_JINJA + "{{ m.tool_calls }}<tool_response>"


def recorded_shows(version: str) -> dict[str, ModelFacts]:
    """Every recorded answer to /api/show that is one, by the model's name."""
    rows = map(json.loads, (WIRE / version / "calls.jsonl").read_text(encoding="utf-8").splitlines())
    asked = [row for row in rows if row["request"]["path"] == "/api/show" and row["status"] == 200]
    return {row["request"]["body"]["model"]: read_show("m", row["lines"][0]) for row in asked}


@pytest.mark.parametrize("version", ["0.9.3", "0.24.0", "0.32.15"])
def test_recorded_models_with_a_template_run_it(version: str) -> None:
    """SmolLM2 and a random Qwen3 got a TEMPLATE when they were made, and their own can do no more."""
    shows = recorded_shows(version)
    assert {"smol", "tiny"} <= set(shows)
    for facts in shows.values():
        choice = template_in_force(facts, ServerVersion.parse(version))
        if facts.renderer:
            continue
        assert (choice.runs, choice.template, choice.ignored) == ("go", facts.template, "")
        assert facts.modelfile_template.strip() == facts.template.strip()


@pytest.mark.parametrize("version", ["0.24.0", "0.32.15"])
def test_a_renderer_stands_in_the_modelfile_only(version: str) -> None:
    """RENDERER and PARSER are read from the Modelfile that /api/show prints: it has no field for them."""
    facts = recorded_shows(version)["smol-rq"]
    assert (facts.renderer, facts.parser) == ("qwen3-coder", "qwen3-coder")
    choice = template_in_force(facts, ServerVersion.parse(version))
    assert (choice.runs, choice.renderer, choice.template) == ("renderer", "qwen3-coder", "")


def shown(template: str, stated: str | None, **more: Any) -> ModelFacts:
    """The facts of a model that shows one template and states another, as Ollama prints a Modelfile."""
    modelfile = "# Modelfile\nFROM /blobs/sha256-1\n"
    if stated is not None:
        quoted = f'"""{stated}"""' if '"' in stated else f'"{stated}"'
        modelfile += f"TEMPLATE {quoted if chr(10) in stated else stated}\nPARAMETER num_ctx 2048\n"
    return read_show("m", {"template": template, "modelfile": modelfile, **more})


@pytest.mark.parametrize(
    ("template", "stated", "runs", "ignored"),
    [
        (PLAIN_GO, PLAIN_GO, "go", ""),
        (ROUND_TRIP_GO, ROUND_TRIP_GO, "go", ""),
        ("{{ .Prompt }} {{ .Response }}", "{{ .Prompt }} {{ .Response }}", "go", ""),
        (JINJA, PLAIN_GO, "jinja", PLAIN_GO),
        (JINJA, DEFAULT_TEMPLATE, "jinja", ""),
        (JINJA, None, "jinja", ""),
        (PLAIN_GO, None, "go", ""),
        (DEFAULT_TEMPLATE, DEFAULT_TEMPLATE, "unclear", ""),
        ("", None, "unclear", ""),
    ],
)
def test_what_is_shown_is_what_runs(template: str, stated: str | None, runs: str, ignored: str) -> None:
    """A template that differs from the Modelfile's is the weights' own; the Modelfile's is then passed over."""
    choice = template_in_force(shown(template, stated), NEW)
    assert (choice.runs, choice.ignored) == (runs, ignored)
    assert choice.is_native == (runs == "jinja")
    assert choice.template == ("" if runs == "unclear" else template)


def test_before_0_30_only_the_modelfile_counts() -> None:
    """Whatever the weights hold; and a model without TEMPLATE gets the bare prompt."""
    assert template_in_force(shown(JINJA, None), OLD).runs == "go"
    choice = template_in_force(shown(DEFAULT_TEMPLATE, DEFAULT_TEMPLATE), OLD)
    assert (choice.runs, choice.template) == ("go", DEFAULT_TEMPLATE)


def test_a_parser_makes_the_server_render() -> None:
    """With PARSER alone TEMPLATE runs, even an empty one."""
    facts = replace(shown(DEFAULT_TEMPLATE, DEFAULT_TEMPLATE), parser="qwen3.5")
    assert template_in_force(facts, NEW).runs == "go"


@pytest.mark.parametrize(
    ("template", "jinja", "version", "runs"),
    [
        (PLAIN_GO, TOOLS_JINJA, "0.32.12", "jinja"),
        (PLAIN_GO, TOOLS_JINJA, "0.24.0", "go"),
        (PLAIN_GO, JINJA, "0.32.12", "go"),
        (PLAIN_GO, "", "0.32.12", "go"),
        ("", JINJA, "0.32.12", "jinja"),
        ("", "", "0.32.12", "chatml"),
        ("", JINJA, "0.24.0", "go"),
        (TOOLS_GO, TOOLS_JINJA, "0.32.12", "go"),
        (TOOLS_GO, ROUND_TRIP_JINJA, "0.30.10", "go"),
        (TOOLS_GO, ROUND_TRIP_JINJA, "0.30.11", "jinja"),
        (ROUND_TRIP_GO, ROUND_TRIP_JINJA, "0.30.11", "go"),
        (ROUND_TRIP_GO, TOOLS_JINJA + "<think></think>", "0.30.11", "go"),
        (ROUND_TRIP_GO, ROUND_TRIP_JINJA + "<think></think>", "0.30.11", "jinja"),
        (THINKING_GO, TOOLS_JINJA, "0.32.12", "go"),
    ],
)
def test_the_more_able_template_wins(template: str, jinja: str, version: str, runs: str) -> None:
    """The server counts what each of the two can do; of two with tools, the one that writes results wins."""
    choice = template_to_be(version=ServerVersion.parse(version), template=template, jinja=jinja)
    assert choice.runs == runs
    assert choice.ignored == (template if runs == "jinja" else "")
    assert choice.because


def test_what_the_operator_or_the_model_says_comes_first() -> None:
    """OLLAMA_GO_TEMPLATE, RENDERER, PARSER and gpt-oss decide before any comparison."""

    def runs(**more: Any) -> str:
        return template_to_be(**{"version": NEW, "template": PLAIN_GO, "jinja": TOOLS_JINJA, **more}).runs

    assert runs() == "jinja"
    assert runs(go_template=True) == "go"
    assert runs(template=TOOLS_GO, go_template=False) == "jinja"
    assert runs(renderer="qwen3.5") == "renderer"
    assert runs(parser="qwen3.5") == "go"
    assert runs(template="<|start|>{{ .Prompt }}<|end|>", architecture="gptoss") == "go"


@pytest.mark.parametrize(
    ("template", "abilities"),
    [
        (PLAIN_GO, set()),
        (TOOLS_GO, {"tools"}),
        (THINKING_GO, {"thinking"}),
        ("{{ .Prefix }}{{ .Suffix }}", {"insert"}),
        ("{{ range .Messages }}{{ .Thinking }}{{ end }}", set()),
        ("{{ range .Other }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}", set()),
        ("{{ if }}", set()),
    ],
)
def test_abilities_of_a_go_template(template: str, abilities: set[str]) -> None:
    """Tools and suffixes by name; thinking where a range over the messages prints it between two texts."""
    assert go_abilities(template) == abilities


@pytest.mark.parametrize(
    ("name", "abilities"),
    [("tools_thinking", {"tools", "thinking"}), ("strict_alternation", set()), ("dated_headers", set())],
)
def test_abilities_of_a_jinja_template_are_those_the_server_shows(name: str, abilities: set[str]) -> None:
    """As recorded: what /api/show listed for the model with that template."""
    rows = map(json.loads, (WIRE / "0.32.15" / "rendered_jinja.jsonl").read_text(encoding="utf-8").splitlines())
    listed = next(row["capabilities"] for row in rows if row["template"] == name and row["case"] == "show")
    assert set(listed) - {"completion"} == abilities
    assert jinja_abilities((WIRE / "jinja" / f"{name}.jinja").read_text(encoding="utf-8")) == abilities
