"""What a prompt's count says about itself: exact, bound or approximate, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server.facts import ModelFacts
from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.prompt import PromptCount, PromptFacts, PromptRequest, conversation_of, count_prompt
from ollama_kit.tokens.tokenizer import EndTokens

CHATML = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}\n{{ end }}<assistant>"
OLD, NEW = ServerVersion(0, 9, 3), ServerVersion(0, 33, 0)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


@dataclass(frozen=True)
class Words:
    """A tokenizer that counts words, and can say so or not."""

    exact: bool = True

    def count(self, text: str, *, add_bos: bool = True) -> int:
        return len(text.split()) + add_bos

    def upper_bound(self, text: str) -> int:
        return len(text.encode()) + 1


FACTS = PromptFacts(template=CHATML, version=OLD)


def count(facts: PromptFacts, *turns: Turn, limit: int | None = None, exact: bool = True, **more: Any) -> PromptCount:
    return count_prompt(Words(exact), facts, PromptRequest(turns, **more), limit_tokens=limit)


def test_a_prompt_is_counted_whole() -> None:
    """The rendered text is counted in one piece, with the default system text and example turns in it."""
    facts = replace(FACTS, system="be kind", examples=(Turn("user", "eg"),))
    counted = count(facts, Turn("user", "a b"))
    rendered = "<system>be kind\n<user>eg\n\na b\n<assistant>"
    assert counted == PromptCount(Words().count(rendered), "exact", rendered)


@pytest.mark.parametrize(("limit", "kind"), [(1000, "bound"), (5, "exact"), (None, "exact")])
def test_a_bound_is_enough_where_it_fits(limit: int | None, kind: str) -> None:
    """With room to spare the prompt is not tokenized; near the limit it is."""
    counted = count(FACTS, Turn("user", "a b c"), limit=limit)
    assert counted.kind == kind
    exact = count(FACTS, Turn("user", "a b c")).tokens
    assert (counted.tokens > exact) if kind == "bound" else (counted.tokens == exact)


@pytest.mark.parametrize(
    ("facts", "turn", "more", "because"),
    [
        (replace(FACTS, template="{{ frobnicate }}"), Turn("user", "a"), {}, "frobnicate"),
        (replace(FACTS, template="{{ if }}"), Turn("user", "a"), {}, "missing value"),
        (replace(FACTS, renderer="qwen3.5"), Turn("user", "a"), {}, "qwen3.5"),
        (replace(FACTS, template="", version=NEW), Turn("user", "a"), {}, "Jinja"),
        (replace(FACTS, template="{{ .Prompt }}", version=NEW), Turn("user", "a"), {}, "Jinja"),
        (FACTS, Turn("user", "a", images=1), {}, "image"),
        (replace(FACTS, version=NEW), Turn("user", "a"), {"tools": (TOOL,)}, "tools"),
        (replace(FACTS, version=None), Turn("user", "a", tool_calls=(ToolCall("f"),)), {}, "tools"),
        (replace(FACTS, version=None, can_think=True), Turn("user", "a"), {}, "thinks"),
        (replace(FACTS, template=CHATML + "{{ currentDate }}"), Turn("user", "a"), {}, "date"),
    ],
)
def test_what_is_not_known_is_approximate(facts: PromptFacts, turn: Turn, more: dict[str, Any], because: str) -> None:
    """Each doubt is named, and the figure leaves room for what was said."""
    counted = count(facts, turn, limit=10**6, **more)
    assert counted.kind == "approximate"
    assert because in counted.because
    assert counted.tokens >= 1


@pytest.mark.parametrize(("version", "kept"), [(OLD, "<bos>"), (NEW, "")])
def test_a_bos_that_the_server_adds_is_taken_from_the_template(version: ServerVersion, kept: str) -> None:
    """From 0.30 on, where the vocabulary asks for one; before, it is there twice."""
    facts = replace(FACTS, template="<bos>" + CHATML, version=version, ends=EndTokens("<bos>", adds_bos=True))
    assert count(facts, Turn("user", "a")).rendered == kept + "<user>a\n<assistant>"


def test_an_unknown_tokenizer_makes_every_count_approximate() -> None:
    """Where the tokenizer only bounds, the prompt is rendered all the same, and marked."""
    counted = count(FACTS, Turn("user", "a"), exact=False)
    assert (counted.kind, counted.rendered) == ("approximate", "<user>a\n<assistant>")
    assert "tokenizer" in counted.because


def test_tools_are_exact_on_the_versions_that_are_known() -> None:
    """0.9 and 0.10 write tools in one known way."""
    facts = replace(FACTS, template="{{ .Tools }}" + CHATML)
    assert count(facts, Turn("user", "a"), tools=(TOOL,)).kind == "exact"


def test_two_tool_turns_need_the_servers_version() -> None:
    """Old servers join them, new ones do not."""
    turns = (Turn("tool", "a"), Turn("tool", "b"))
    assert count(replace(FACTS, version=None), *turns).kind == "approximate"
    assert count(FACTS, *turns).rendered == "<tool>a\n\nb\n<assistant>"
    assert count(replace(FACTS, version=NEW), *turns).rendered == "<tool>a\n<tool>b\n<assistant>"


@pytest.mark.parametrize(("version", "think"), [(OLD, None), (NEW, True)])
def test_newer_servers_think_unasked(version: ServerVersion, think: bool | None) -> None:
    """From 0.12.4 on, a model that can think does, unless told not to."""
    facts = replace(FACTS, version=version, can_think=True)
    assert conversation_of(facts, PromptRequest((Turn("user", "a"),))).think is think
    assert conversation_of(facts, PromptRequest((Turn("user", "a"),), think=False)).think is False


@pytest.mark.parametrize(
    ("family", "name", "kept"), [("qwen3", "x", "b"), ("", "deepseek-r1", "b"), ("llama", "x", None)]
)
def test_earlier_thinking_is_stripped_for_the_models_ollama_does_it_for(
    family: str, name: str, kept: str | None
) -> None:
    """The family qwen3 and the model deepseek-r1; other answers stay as they are."""
    answer = "<think>a</think>b"
    turns = (Turn("user", "1"), Turn("assistant", answer), Turn("user", "2"))
    conversation = conversation_of(replace(FACTS, family=family, name=name), PromptRequest(turns))
    assert conversation.turns[1].content == (kept or answer)


def test_the_date_of_the_request_is_used() -> None:
    """With the server's date at hand, a prompt that holds it is exact."""
    facts = replace(FACTS, template="{{ currentDate }}" + CHATML)
    counted = count(facts, Turn("user", "a"), today=date(2026, 1, 2))
    assert counted.kind == "exact"
    assert counted.rendered == "2026-01-02<user>a\n<assistant>"


@given(
    st.text(max_size=60), st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=30)), max_size=4)
)
@settings(deadline=None)
def test_counting_never_raises(template: str, said: list[tuple[str, str]]) -> None:
    """Any template and chat gives a figure; an approximate one covers at least the words that were said."""
    turns = tuple(Turn(role, text) for role, text in said)
    counted = count(PromptFacts(template="{{" + template), *turns)
    if counted.rendered is None:
        assert counted.kind == "approximate"
        assert counted.tokens >= sum(Words().count(text, add_bos=False) for _, text in said)


def test_the_facts_of_a_model_are_those_the_server_shows() -> None:
    """Template, system text, example turns, architecture and the name without folder and tag come from /api/show."""
    shown = ModelFacts(
        "me/deepseek-r1:7b",
        architecture="qwen2",
        capabilities=frozenset({"thinking"}),
        template=CHATML,
        system="S",
        messages=(("user", "eg"),),
    )
    facts = PromptFacts.of(shown, OLD)
    assert facts == replace(
        FACTS, system="S", examples=(Turn("user", "eg"),), family="qwen2", name="deepseek-r1", can_think=True
    )
    assert facts.strips_thinking
