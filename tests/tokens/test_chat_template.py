"""Chat templates: Go's text/template as Ollama runs it, checked against prompts that Ollama 0.9.3 wrote."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.tokens.chat_template import (
    ChatTemplate,
    RenderInput,
    TemplateBeyondSubset,
    TemplateError,
    ToolCall,
    Turn,
    assemble,
)

DATA = Path(__file__).parent.parent / "data" / "chat_templates"
VECTORS = [json.loads(line) for line in (DATA / "vectors.jsonl").read_text(encoding="utf-8").splitlines()]
USER = (Turn("user", "hi"),)


def render(template: str, *turns: Turn, **more: Any) -> str:
    return ChatTemplate.parse(template).render(RenderInput(turns or USER, **more))


def turn_of(message: dict[str, Any]) -> Turn:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return Turn(
        message["role"],
        message["content"],
        message.get("thinking", ""),
        tuple(ToolCall(call["name"], call["arguments"]) for call in calls),
    )


def render_vector(case: dict[str, Any]) -> str:
    source = case.get("template") or (DATA / case["template_file"]).read_text(encoding="utf-8")
    turns = assemble([turn_of(message) for message in case["messages"]])
    if "suffix" in case:
        turns = (Turn("user", case["prompt"]),)
    conversation = RenderInput(
        turns,
        tools=tuple(case.get("tools", ())),
        think=case.get("think"),
        suffix=case.get("suffix", ""),
        merge_tool_turns=True,
    )
    return ChatTemplate.parse(source).render(conversation)


def test_every_prompt_is_ollamas_or_said_to_be_beyond_the_subset() -> None:
    """No template of the vectors renders to another text than Ollama's, and few are beyond the subset."""
    beyond = 0
    for case in VECTORS:
        if "prompt_text" not in case:
            continue
        try:
            assert render_vector(case) == case["prompt_text"], case
        except TemplateBeyondSubset:
            assert "template_file" not in case, case
            beyond += 1
    assert beyond <= len(VECTORS) // 12


def test_what_ollama_refuses_is_refused() -> None:
    """Where Ollama answers with an error, rendering raises one."""
    for case in VECTORS:
        if "refused" in case:
            with pytest.raises(TemplateError):
                render_vector(case)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.gotmpl")), ids=lambda path: path.stem)
def test_the_popular_forms_render(path: Path) -> None:
    """Each popular form renders a chat of four turns with every turn's text in it, in order."""
    turns = (Turn("system", "Sys."), Turn("user", "One?"), Turn("assistant", "Two."), Turn("user", "Three?"))
    prompt = render(path.read_text(encoding="utf-8"), *turns)
    places = [prompt.index(text) for text in ("One?", "Two.", "Three?")]
    assert places == sorted(places)
    assert "Sys." in prompt


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a  {{- .Prompt -}}  b", "ahib"),
        ("a {{ .Prompt }} b{{ .Response }}", "a hi b"),
        ("x\n{{- /* gone */ -}}\n y{{ .Prompt }}", "xyhi"),
        ("{{ `raw\\n` }}{{ .Prompt }}", "raw\\nhi"),
        ('{{ "tab\\t\\u4e2d" }}{{ .Prompt }}', "tab\t中hi"),
        ("{{ 'a' }}{{ 0x10 }}{{ 010 }}{{ 1_000 }}{{ 1.5e3 }}{{ .Prompt }}", "971681000" + "1500hi"),
        ("{{ len .Prompt }}{{ .Prompt }}", "2hi"),
        ('{{ printf "%s-%d" .Prompt 3 }}{{ .Response }}', "hi-3"),
        ("{{ .Prompt | len | eq 2 }}{{ .Response }}", "true"),
        ("{{ if not (and .Prompt .Nothing) }}no{{ end }}{{ .Response }}", "no"),
        ("{{ with $x := .Prompt }}{{ $x }}{{ . }}{{ else }}none{{ end }}{{ .Response }}", "hihi"),
        ("{{ if eq .Prompt `ho` }}1{{ else if ne .Prompt `hi` }}2{{ else }}3{{ end }}{{ .Response }}", "3"),
        ("{{ .Nothing }}{{ .Response }}", "<no value>"),
        ("{{ range 3 }}{{ . }}{{ end }}{{ .Response }}", "012"),
        ("{{ slice .Prompt 1 }}{{ index (slice .Messages 0) 0 | len }}", None),
        ('{{ range $i, $m := .Messages }}{{ $i }}{{ $m.Role }}{{ $.System }}{{ end }}', "0user"),
        ("{{ range .Messages }}{{ break }}x{{ end }}done", "done"),
        ("{{ range .Tools }}x{{ else }}{{ len .Messages }}{{ end }}", "1"),
        ('{{ define "t" }}<{{ .Role }}>{{ end }}{{ range .Messages }}{{ template "t" . }}{{ end }}', "<user>"),
        ('{{ block "b" .Messages }}{{ len . }}{{ end }}', "1"),
        ("{{ html `<a>` }}{{ .Response }}", "&lt;a&gt;"),
        ("{{ print 1 2 `x` 3 nil }}{{ .Response }}", "1 2x3 <nil>"),
        ("{{ println .Prompt 1 }}{{ .Response }}", "hi 1\n"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}{{ .Response }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}{{ .Response }}", "1"),
        ("{{ .Prompt }", "unclosed"),
    ],
)  # fmt: skip
def test_the_language(template: str, expected: str | None) -> None:
    """Each construct gives what Go's text/template gives."""
    if expected is None or expected == "unclosed":
        with pytest.raises(TemplateError):
            render(template)
    else:
        assert render(template) == expected


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        ("a\n{{ if .Prompt }}", 2, "end"),
        ("{{ .Prompt", 1, "unclosed action"),
        ("\n\n{{ end }}", 3, "unexpected 'end'"),
        ("{{ $x }}", 1, "undefined variable"),
        ("{{ break }}", 1, "outside"),
        ("{{ /* c }}", 1, "unexpected"),
        ("{{/* c", 1, "unclosed comment"),
        ("{{ .Prompt | 3 }}", 1, "non executable"),
        ("{{ }}", 1, "missing value"),
        ('{{ "a }}', 1, "unterminated"),
        ('{{ template "x" }}', 1, "without a value"),
        ("{{ define `a` }}x{{ end }}{{ define `a` }}y{{ end }}", 1, "multiple definition"),
        ("{{ range $a, $b, $c := .Messages }}{{ end }}", 1, "too many declarations"),
        ("{{ (.Prompt }}", 1, "paren"),
        ("{{ 08 }}", 1, "bad number"),
    ],
)
def test_what_the_server_refuses_names_its_line(template: str, line: int, words: str) -> None:
    """A template that does not parse raises TemplateError with the line and what is wrong."""
    with pytest.raises(TemplateError, match=words) as caught:
        ChatTemplate.parse(template)
    assert caught.value.line == line
    assert not isinstance(caught.value, TemplateBeyondSubset)


@pytest.mark.parametrize(
    "template",
    [
        "{{ frobnicate .Prompt }}",
        "{{ 1i }}{{ .Prompt }}",
        "{{ printf `%5d` 3 }}{{ .Response }}",
        "{{ range .Messages }}{{ . }}{{ end }}",
        "{{ . }}{{ .Messages }}",
        "{{ js .Prompt }}{{ .Response }}",
        "{{ currentDate }}{{ .Messages }}",
        "{{ range .Messages }}{{ .Unheard }}{{ end }}",
    ],
)
def test_what_is_not_rendered_here_says_so(template: str) -> None:
    """What the server may know and we do not is beyond the subset, not guessed."""
    with pytest.raises(TemplateBeyondSubset):
        render(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ range 1000000000 }}{{ end }}{{ .Response }}",
        "{{ range 1000000000 }}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{{ end }}{{ .Response }}",
        "{{ $x := `a` }}{{ range 10000 }}{{ $x = print $x $x }}{{ end }}{{ .Response }}",
        '{{ define "t" }}{{ template "t" . }}{{ template "t" . }}{{ end }}{{ template "t" . }}{{ .Messages }}',
        "{{ if true }}" * 5000 + "{{ end }}" * 5000,
        "{{ " + "(" * 5000 + ".Prompt" + ")" * 5000 + " }}",
        "{{ if .A }}" + "{{ else if .B }}" * 5000 + "{{ end }}",
        "{{ range 99999 }}" * 9 + "{{ end }}" * 9 + "{{ .Response }}",
    ],
    ids=["steps", "output", "doubling", "recursion", "branches", "parentheses", "else-if", "nested ranges"],
)
def test_a_hostile_template_costs_little(template: str) -> None:
    """Endless work, endless output and deep nesting end in an error of ours."""
    with pytest.raises(TemplateBeyondSubset):
        render(template)


def test_neighbors_of_one_role_are_joined() -> None:
    """Consecutive turns of one role become one, joined by a blank line; so do all system texts."""
    template = "{{ .System }}|{{ range .Messages }}[{{ .Role }}:{{ .Content }}]{{ end }}"
    turns = [Turn(role, text) for role, text in (("system", "a"), ("user", ""), ("user", "b"), ("system", "c"))]
    assert render(template, *turns) == "a\n\nc|[system:a][user:\n\nb][system:c]"


@pytest.mark.parametrize(("merged", "expected"), [(True, "[a\n\nb]"), (False, "[a][b]")])
def test_tool_turns_are_joined_by_old_servers_only(merged: bool, expected: str) -> None:
    """Servers from 0.9.6 on keep neighboring tool turns apart."""
    template = "{{ range .Messages }}[{{ .Content }}]{{ end }}"
    assert render(template, Turn("tool", "a"), Turn("tool", "b"), merge_tool_turns=merged) == expected


def test_a_template_without_messages_runs_once_a_turn_and_is_cut_at_the_last_response() -> None:
    """The legacy path: whole for turns that are over, up to `.Response` for the last; its tail is dropped."""
    template = "{{ if .System }}S {{ .System }} {{ end }}U {{ .Prompt }} A {{ .Response }}<end>"
    turns = [Turn("system", "s"), Turn("user", "1"), Turn("assistant", "2"), Turn("user", "3")]
    assert render(template, *turns) == "S s U 1 A 2<end>U 3 A "


def test_a_trailing_assistant_turn_is_a_prefill() -> None:
    """What the assistant is to go on from stands at the end of the prompt."""
    assert render("{{ .Prompt }}={{ .Response }};", Turn("user", "q"), Turn("assistant", "a")) == "q=a"


def test_response_is_added_where_a_template_lacks_it() -> None:
    """A template with neither `.Messages` nor `.Response` gets the answer at its end."""
    assert render("{{ .Prompt }}!", Turn("user", "q"), Turn("assistant", "a"), Turn("user", "r")) == "q!ar!"


def test_response_before_an_else_fails_as_on_the_server() -> None:
    """Ollama's cut of such a template fails: no prompt is invented for it."""
    with pytest.raises(TemplateError, match="else"):
        render("{{ if .Prompt }}{{ .Response }}{{ else }}x{{ end }}")


def test_the_last_legacy_turn_has_no_functions_of_ollamas() -> None:
    """Ollama renders the last turn without its own functions: `json` in it is an error there, so also here."""
    with pytest.raises(TemplateError, match="json"):
        render("{{ json .Prompt }}{{ .Response }}")


def test_the_default_system_text_stands_in_unless_the_first_turn_is_one() -> None:
    """SYSTEM comes first, before the example turns; a system turn further down does not replace it."""
    example = Turn("user", "eg")
    with_it = assemble([Turn("user", "u"), Turn("system", "late")], system="S", examples=[example])
    assert [turn.content for turn in with_it] == ["S", "eg", "u", "late"]
    without = assemble([Turn("SYSTEM", "own")], system="S", examples=[example])
    assert [(turn.role, turn.content) for turn in without] == [("user", "eg"), ("system", "own")]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("<think>a</think>\n b", "b"),
        (" \n<think>\na</think>b</think>c", "b</think>c"),
        ("b <think>a</think>", "b <think>a</think>"),
        ("<think>a", ""),
        ("<thi", ""),
        ("  ", ""),
        (" plain", " plain"),
    ],
)
def test_thinking_is_stripped_from_earlier_answers(content: str, kept: str) -> None:
    """As filterThinkTags does, partial tags included; the answer after the last user turn is left alone."""
    turns = [Turn("user", "1"), Turn("assistant", content), Turn("user", "2"), Turn("assistant", content)]
    stripped = assemble(turns, strip_thinking=True)
    assert [turn.content for turn in stripped] == ["1", kept, "2", content]


@pytest.mark.parametrize(
    ("think", "expected"), [(None, "unset"), (False, "off"), (True, "on medium"), ("high", "on high")]
)
def test_think_reaches_the_template(think: bool | str | None, expected: str) -> None:
    """`.IsThinkSet`, `.Think` and `.ThinkLevel` follow the request."""
    template = "{{ if not .IsThinkSet }}unset{{ else if .Think }}on {{ .ThinkLevel }}{{ else }}off{{ end }}"
    assert render(template + "{{ range .Messages }}{{ end }}", think=think) == expected


def test_the_date_is_the_callers() -> None:
    """`currentDate` and `yesterdayDate` read the date that is passed in."""
    template = "{{ currentDate }} {{ yesterdayDate `x` }}{{ range .Messages }}{{ end }}"
    assert render(template, today=date(2026, 3, 1)) == "2026-03-01 2026-02-28"


def test_images_leave_a_mark_each() -> None:
    """`[img]` in the text is numbered first, further images stand in front; numbers run through the chat."""
    template = "{{ range .Messages }}{{ .Content }};{{ end }}"
    turns = [Turn("user", "see [img] ok", images=2), Turn("assistant", "a"), Turn("user", "b", images=1)]
    assert render(template, *turns) == "[img-1]see [img-0] ok;a;[img-2]b;"


def test_the_same_text_is_parsed_once() -> None:
    """Parsing is kept: the same text gives the same object."""
    assert ChatTemplate.parse("{{ .Prompt }} once") is ChatTemplate.parse("{{ .Prompt }} once")
