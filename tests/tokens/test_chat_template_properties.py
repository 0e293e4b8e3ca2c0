"""Properties of chat templates that hold for any text."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings, strategies as st

from ollama_kit.tokens.chat_template import ChatTemplate, RenderInput, TemplateError, ToolCall, Turn, turn_markers
from tests.intensity import examples

PIECES = st.sampled_from(
    ["{{", "}}", "{{- ", " -}}", "if ", "range ", "with ", "end", "else ", "define ", "template ", "block ", "break",
     ".Messages", ".System", ".Prompt", ".Response", ".Tools", ".Role", ".Content", "$", "$x", ":=", "=", "|", "(", ")",
     '"', "`", "'", "/*", "*/", "eq ", "len ", "slice ", "index ", "json ", "printf ", "not ", "1", "-1", "nil", " ",
     "\n", "x", "中", "\x00", "\\", ",", "{{ end }}", "{{ .Response }}", "{{ range .Messages }}", "{{ if .System }}"]
)  # fmt: skip
TEMPLATES = st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.builds(ToolCall, st.text(max_size=4), st.dictionaries(st.text(max_size=3), JSON, max_size=2))
TURNS = st.builds(
    Turn,
    st.sampled_from(["system", "user", "assistant", "tool", "other"]),
    st.text(max_size=8),
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
)
CHATS = st.lists(TURNS, max_size=5).map(tuple)
TOOLS = st.lists(st.dictionaries(st.sampled_from(["type", "function", "items"]), JSON, max_size=3), max_size=2)


@given(TEMPLATES, CHATS, TOOLS)
@settings(deadline=None, max_examples=examples(400))
def test_nothing_but_our_own_error_comes_out(
    template: str, turns: tuple[Turn, ...], tools: list[dict[str, object]]
) -> None:
    """Any text as a template, with any chat and tools, renders or raises TemplateError."""
    with suppress(TemplateError):
        ChatTemplate.parse(template).render(RenderInput(turns, tools=tuple(tools)))


@given(st.text().filter(lambda text: "{{" not in text), st.text(max_size=20))
@settings(deadline=None)
def test_text_outside_actions_is_kept(text: str, said: str) -> None:
    """What is not an action comes out as it is, byte for byte."""
    template = text + "{{ .Prompt }}" if not text.endswith("{") else text + " {{ .Prompt }}"
    assert ChatTemplate.parse(template).render(RenderInput((Turn("user", said),))) == template.replace(
        "{{ .Prompt }}", said
    )


@given(st.text(alphabet=" \t\r\nab\x0b\u3000", max_size=8), st.text(alphabet=" \t\r\nab\x0b\u3000", max_size=8))
@settings(deadline=None)
def test_trim_marks_take_blanks_and_nothing_else(left: str, right: str) -> None:
    """`{{-` and `-}}` take the four ASCII blanks next to them; other white space stays."""
    rendered = ChatTemplate.parse(left + "{{- .Prompt -}}" + right).render(RenderInput((Turn("user", "|"),)))
    assert rendered == left.rstrip(" \t\r\n") + "|" + right.lstrip(" \t\r\n")


@given(TEMPLATES)
@settings(deadline=None, max_examples=examples(300))
def test_markers_are_pieces_of_the_template(template: str) -> None:
    """Whatever the text, markers come out; each is three characters or more and no plain word."""
    for marker in turn_markers(template):
        assert len(marker) >= 3
        assert not marker.isalnum()
