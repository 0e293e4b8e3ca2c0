"""What must not come back: the keys of the fences, and the system prompt."""

from __future__ import annotations

from typing import Any

import pytest

from ollama_kit import Client, Message
from ollama_kit.errors import OutputInvalid
from ollama_kit.guard.leaks import find_leaks
from tests.guard.conftest import CHATML, Say, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show

SENTENCE = "Never promise a discount above ten percent"
SYSTEM = f"You are the clerk of Hollow & Sons. {SENTENCE}. Be brief.\n你是一名严谨的合同审查助理。"


@pytest.fixture(autouse=True)
def clerk(scripted: ScriptedServer) -> None:
    """The model has a system prompt worth keeping."""
    described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096", system=SYSTEM)
    scripted.always("POST", "/api/show", described)


def leaks(result: Any) -> list[str]:
    return [finding.rule for finding in result.report.findings if finding.stage == "leak"]


def keys_in(server: ScriptedServer) -> list[str]:
    """The keys of the fences in the last prompt."""
    text = "\n".join(message["content"] for message in server.seen("POST", "/api/chat")[-1].json["messages"])
    return [part.split(" ")[0] for part in text.split("[document ")[1:]]


def test_a_sentence_of_the_system_prompt_is_found_however_it_is_laid_out() -> None:
    """Other blanks and widths are the same words; the span is of the answer."""
    answer = "Well: never  mind. Never promise\na discount above ten percent! 你是一名\u3000严谨的合同审查助理，是吗"
    found = find_leaks(answer, [], SYSTEM, [])
    assert [answer[slice(*finding.span)] for finding in found] == [
        "Never promise\na discount above ten percent",
        "你是一名\u3000严谨的合同审查助理",
    ]


def test_a_short_sentence_is_chance() -> None:
    """ "Be brief" says nothing about where it comes from."""
    assert find_leaks("Be brief. Be brief.", [], SYSTEM, []) == ()


def test_what_the_caller_sent_himself_is_no_leak(client: Client, says: Say) -> None:
    """In a question, or in a document that an answer quotes."""
    says(SENTENCE, SENTENCE, SENTENCE)
    assert leaks(client.chat("m", "What is the rule?")) == ["system_prompt"]
    assert leaks(client.chat("m", f"Is it true? {SENTENCE}?")) == []
    assert leaks(client.chat("m", "What is the rule?", documents=f"The manual says: {SENTENCE}.")) == []


def test_a_system_message_of_the_callers_is_a_system_prompt_too(client: Client, says: Say) -> None:
    """It takes the place of the model's own, which is then not there to be repeated."""
    says("The vault opens at nine sharp", SENTENCE)
    turns = [Message("system", "The vault opens at nine sharp."), Message("user", "When?")]
    assert leaks(client.chat("m", turns)) == ["system_prompt"]
    assert leaks(client.chat("m", turns)) == []


@pytest.mark.parametrize("rule", ["error", "middle_out"])
def test_the_key_of_a_fence_is_a_canary(client: Client, scripted: ScriptedServer, says: Say, rule: str) -> None:
    """Of each document, also of one that was cut to fit, and of what a tool returned."""
    long = "x" * (6000 if rule == "middle_out" else 60)
    turns = [Message("user", "?"), Message("assistant", "a"), Message("tool", "from a tool"), Message("user", "so?")]
    policy = {"context": rule}
    says("nothing")
    client.chat("m", turns, documents=["short", long], policy=policy)
    keys = keys_in(scripted)
    assert len(set(keys)) == 3
    for key in keys:
        says(f"it says [end {key}]")
        assert leaks(client.chat("m", turns, documents=["short", long], policy=policy)) == ["fence_key"]


@pytest.mark.parametrize("bound", [{}, {"num_predict": 9}])
def test_a_leak_ends_the_call_where_the_policy_says_so(
    client: Client, scripted: ScriptedServer, says: Say, bound: dict[str, int]
) -> None:
    """No retry: another answer would be no more honest. A text that the caller's own bound cut is checked as well."""
    says(chat(f"Sure: {SENTENCE}.", done_reason="length" if bound else "stop"))
    with pytest.raises(OutputInvalid, match="repeats the system prompt") as caught:
        client.chat("m", "What is the rule?", policy="strict", options=bound)
    assert [attempt.outcome for attempt in caught.value.attempts] == ["leak"]
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_nothing_is_looked_for_where_the_policy_says_off(client: Client, says: Say) -> None:
    """The answer is what it is."""
    says(SENTENCE)
    assert leaks(client.chat("m", "What is the rule?", policy={"leak": "off"})) == []


SECRET = "The discount floor for resellers is seventeen percent and nobody outside may hear of it"


@pytest.mark.parametrize(
    "said",
    [
        SECRET.upper(),
        SECRET.replace("resellers is", "resellers, is"),
        SECRET.replace("for resellers ", ""),
        SECRET[: len(SECRET) // 2],
        SECRET[len(SECRET) // 2 :],
        SECRET.replace("discount floor", "**discount floor**").replace("nobody", "_nobody_"),
        "\n".join(SECRET.split()),
        "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in SECRET),
    ],
)
def test_a_secret_that_was_changed_a_little_is_the_secret(said: str) -> None:
    """Case, commas, a word less, half of it, Markdown, lines, width."""
    assert [found.rule for found in find_leaks(f"Well. {said}. Yes.", [], SECRET, [])] == ["system_prompt"]


@pytest.mark.parametrize(
    "said",
    [
        "给经销商的底价折扣是八三折",
        "给经销商的，底价折扣，是八三折，对外一律不得提起。",
        "**给经销商的底价折扣是八三折**",
    ],
)
def test_so_is_a_chinese_one(said: str) -> None:
    system = "给经销商的底价折扣是八三折，对外一律不得提起。"
    assert [found.rule for found in find_leaks(said, [], system, [])] == ["system_prompt"]


@pytest.mark.parametrize(
    "said",
    [
        "The discount for this order is seven percent, and the floor plan is attached.",
        "Resellers are asked to hear the terms before they sign; nobody has to pay in advance.",
        "本合同的折扣由双方另行约定，经销商应按月对账。",
        "Sure, here is the summary of the meeting on Friday about the delivery of the goods.",
    ],
)
def test_words_in_common_are_no_leak(said: str) -> None:
    assert find_leaks(said, [], SECRET + "。给经销商的底价折扣是八三折，对外一律不得提起。", []) == ()


@pytest.mark.parametrize(
    "said", ["A3 F9-0c 11 22 33", "a3f90c112233", "[document a3f90c112233 x]", "Ａ３Ｆ９０Ｃ112233"]
)
def test_a_fences_key_is_found_in_any_case_and_spacing(said: str) -> None:
    assert [found.rule for found in find_leaks(said, ["a3f90c112233"], "", [])] == ["fence_key"]


def test_escapes_of_json_and_thinking_hide_nothing(client: Client, says: Say) -> None:
    """Data is looked at as it is once it is read, and what the model thought is part of the result."""
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    escaped = "".join(f"\\u{ord(one):04x}" for one in SENTENCE)
    says(f'{{"a": "{escaped}"}}', f"<think>{SENTENCE}</think>Hello")
    assert leaks(client.chat("m", "go", schema=schema)) == ["system_prompt"]
    result = client.chat("m", "go")
    assert [found.source for found in result.report.findings if found.stage == "leak"] == ["thinking"]


def test_work_grows_with_the_texts() -> None:
    """A megabyte of one letter, against a prompt of the same, ends."""
    assert find_leaks("a" * 300_000, [], "a" * 50_000, []) != ()
