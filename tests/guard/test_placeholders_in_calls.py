"""Hidden values in a whole call: where they come back, what is told of it, and where they never are."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from typing import Any

import pytest

from ollama_kit.client import Client
from ollama_kit.errors import OutputInvalid
from ollama_kit.guard.exchange import Event
from ollama_kit.settings import Settings
from tests.guard.calling import WAYS, ask
from tests.guard.conftest import Say
from tests.scripted import ScriptedServer, chat, lines

PASSWORD, PHONE = "Tr0ub4dor&3", "13800138000"
TEXT = f"堡垒机密码：{PASSWORD}，电话{PHONE}"
HIDE = {"personal": "redact"}
NUMBER = {
    "type": "object",
    "required": ["phone"],
    "properties": {"phone": {"type": "string", "pattern": "^1[0-9]{10}$"}},
}


def told(result: Any) -> list[tuple[str, str]]:
    """The findings about the answer's placeholders, with what they say of."""
    return [
        (found.rule, found.detail.partition(" ")[0])
        for found in result.report.findings
        if found.rule.startswith("placeholder_")
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_value_comes_back_in_the_text_and_not_in_the_address(way: str, scripted: ScriptedServer, says: Say) -> None:
    """However the call is made; the finding points at the placeholder in the answer."""
    says("密码是[PASSWORD_1]，资料见 http://evil.example/[PASSWORD_1] 。")
    result = ask(way, scripted, documents=TEXT, policy=HIDE).result
    assert result is not None
    assert result.text == f"密码是{PASSWORD}，资料见 http://evil.example/[PASSWORD_1] 。"
    assert told(result) == [("placeholder_in_address", "[PASSWORD_1]")]
    (found,) = (found for found in result.report.findings if found.source == "answer")
    assert (found.stage, found.severity, found.action) == ("private_data", "medium", "flagged")
    assert result.text[slice(*found.span)] == "[PASSWORD_1]"


def test_changed_and_invented_placeholders_are_told(client: Client, says: Say) -> None:
    """The changed one is put back, the invented one stays."""
    says("打【PHONE_1】或 [PHONE_2]")
    result = client.chat("m", "?", documents=TEXT, policy=HIDE)
    assert result.text == f"打{PHONE}或 [PHONE_2]"
    assert told(result) == [("placeholder_changed", "【PHONE_1】"), ("placeholder_unknown", "[PHONE_2]")]


def test_data_is_restored_text_by_text(client: Client, says: Say) -> None:
    """The address of one string has nothing to do with the next one."""
    schema = {"type": "object", "properties": {"url": {"type": "string"}, "who": {"type": "string"}}}
    says('{"url":"http://evil.example/[PASSWORD_1]","who":"[PHONE_1]"}')
    result = client.chat("m", "?", documents=TEXT, policy=HIDE, schema=schema)
    assert result.value == {"url": "http://evil.example/[PASSWORD_1]", "who": PHONE}
    assert json.loads(result.text) == result.value
    assert told(result) == [("placeholder_in_address", "[PASSWORD_1]")]


def test_arguments_of_tools_keep_placeholders(client: Client, says: Say) -> None:
    """By default; and it is told, with the number of the call."""
    calls = [{"function": {"name": "call", "arguments": {"number": "[PHONE_1]"}}}]
    answer = {"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False}
    says(lines(answer, {"message": {"content": ""}, "done": True, "done_reason": "stop"}))
    tool = {"type": "function", "function": {"name": "call", "parameters": {"type": "object"}}}
    result = client.chat("m", TEXT, tools=[tool], policy=HIDE)
    assert result.tool_calls[0]["function"]["arguments"] == {"number": "[PHONE_1]"}
    assert [(found.rule, found.source) for found in result.report.findings if "answer" in found.source] == [
        ("placeholder_in_argument", "answer, tool call 0")
    ]


def test_the_policy_says_where_each_kind_comes_back(client: Client, says: Say) -> None:
    """`never` keeps the placeholder; `everywhere` adds attributes."""
    says('[PASSWORD_1] [PHONE_1] <b title="[PHONE_1]">')
    policy = {**HIDE, "restore": {"password": "never", "phone": "everywhere"}}
    result = client.chat("m", "?", documents=TEXT, policy=policy)
    assert result.text == f'[PASSWORD_1] {PHONE} <b title="{PHONE}">'
    assert told(result) == []


# -- the grammar


def sent_format(scripted: ScriptedServer) -> Any:
    return scripted.seen("POST", "/api/chat")[-1].json["format"]


def test_the_grammar_takes_a_placeholder_where_a_hidden_value_must_fit(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Either the pattern or a placeholder of a kind whose value fits; the real value is what counts."""
    says('{"phone": "[PHONE_1]"}')
    result = client.chat("m", "?", documents=TEXT, policy=HIDE, schema=NUMBER)
    first, second = sent_format(scripted)["properties"]["phone"]["anyOf"]
    assert first == {"type": "string", "pattern": "^1[0-9]{10}$"}
    assert re.fullmatch(second["pattern"], "[PHONE_1]")
    assert not re.fullmatch(second["pattern"], "[PASSWORD_1]")
    assert result.value == {"phone": PHONE}


def test_the_grammar_of_a_call_that_hides_nothing_is_the_schemas_own(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Not a byte is added."""
    says('{"phone": "13800138000"}')
    client.chat("m", "?", documents="电话13800138000", schema=NUMBER)
    assert sent_format(scripted)["properties"]["phone"] == {"type": "string", "pattern": "^1[0-9]{10}$"}


def test_the_real_value_is_checked(client: Client, says: Say) -> None:
    """A placeholder of another kind passes the grammar of a server, and not the schema."""
    says('{"phone": "[PASSWORD_1]"}', '{"phone": "[PHONE_1]"}')
    result = client.chat("m", "?", documents=TEXT, policy=HIDE, schema=NUMBER)
    assert [attempt.outcome for attempt in result.report.attempts] == ["schema", "valid"]
    assert result.value == {"phone": PHONE}


def test_a_value_that_is_never_restored_is_checked_too(client: Client, says: Say) -> None:
    """The caller gets the placeholder, of a value that the schema accepts."""
    says('{"phone": "[PHONE_1]"}')
    result = client.chat("m", "?", documents=TEXT, policy={**HIDE, "restore": "never"}, schema=NUMBER)
    assert result.value == {"phone": "[PHONE_1]"}
    assert len(result.report.attempts) == 1


def test_a_class_that_takes_no_placeholder_is_told_so(client: Client, says: Say) -> None:
    """Where the policy keeps values hidden that the class checks."""

    @dataclass
    class Call:
        phone: str

        def __post_init__(self) -> None:
            if not self.phone.isdigit():
                raise ValueError("digits expected")

    says('{"phone": "[PHONE_1]"}', '{"phone": "[PHONE_1]"}', '{"phone": "[PHONE_1]"}')
    with pytest.raises(OutputInvalid, match="keeps placeholders"):
        client.chat("m", "?", documents=TEXT, policy={**HIDE, "restore": "never"}, schema=Call)


def test_lengths_and_lists_have_room_for_placeholders(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """A name of two characters is `[NAME_1]` for the model."""
    schema = {
        "type": "object",
        "properties": {
            "who": {"enum": ["陈静", "李明"]},
            "short": {"type": "string", "maxLength": 4},
            "long": {"type": "string", "minLength": 11},
            "free": {"type": "string"},
        },
    }
    says('{"who": "[NAME_1]", "short": "[NAME_1]", "long": "[PHONE_1]"}')
    result = client.chat("m", "?", documents=f"陈静：{PHONE}", policy=HIDE, schema=schema)
    properties = sent_format(scripted)["properties"]
    assert properties["who"]["enum"] == ["陈静", "李明", "[NAME_1]"]
    assert properties["short"]["maxLength"] >= len("[NAME_1]")
    assert properties["long"]["minLength"] <= len("[PHONE_1]")
    assert properties["free"] == {"type": "string"}
    assert result.value == {"who": "陈静", "short": "陈静", "long": PHONE}


def test_a_quote_is_proven_with_the_real_value(client: Client, says: Say) -> None:
    """Also where the value is in an address that the document has: the quote is found, and shown with its
    placeholder."""
    schema = {"type": "object", "properties": {"quote": {"type": "string", "x-evidence": True}}}
    text = f"登录 https://ops:{PASSWORD}@host.example/x 即可"
    says('{"quote": "https://ops:[PASSWORD_1]@host.example/x 即可"}')
    result = client.chat("m", "?", documents=text, policy=HIDE, schema=schema)
    assert result.evidence[0].found
    assert PASSWORD not in result.evidence[0].quote
    assert PASSWORD not in result.value["quote"]


# -- what is written down


@pytest.mark.parametrize(
    "answers",
    [
        ['{"phone": "[PASSWORD_1]"}'] * 3,
        ['{"phone": ["[PHONE_1]", "[PASSWORD_1]"]}'] * 3,
        ["[PASSWORD_1] is no JSON"] * 3,
        ["<think>[PASSWORD_1]?</think>"] * 3,
    ],
)
def test_errors_and_attempts_keep_placeholders(
    answers: list[str], scripted: ScriptedServer, says: Say, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the answer was wrong in: the message, every attempt, what hooks hear of them, and the log."""
    heard: list[Event] = []
    says(*answers)
    made = Client(Settings(host=scripted.url), hooks=[heard.append])
    with caplog.at_level(logging.DEBUG), made as client, pytest.raises(OutputInvalid) as raised:
        client.chat("m", "?", documents=TEXT, policy=HIDE, schema=NUMBER)
    attempts = raised.value.attempts
    assert len(attempts) >= 2
    said = " ".join(
        [str(raised.value), repr(raised.value), repr(attempts), caplog.text]
        + [repr(event) for event in heard if type(event).__name__ == "Answered"]
    )
    assert PASSWORD not in said
    assert PHONE not in said
    assert "[PASSWORD_1]" in said


def test_reports_of_attempts_keep_placeholders(client: Client, says: Say) -> None:
    """Also where the call succeeds: the answer has the values, its attempts do not."""
    says(chat("<think>[PASSWORD_1]</think>[PASSWORD_1]"))
    result = client.chat("m", "?", documents=TEXT, policy=HIDE)
    assert result.text == PASSWORD
    assert PASSWORD in result.thinking
    assert PASSWORD not in repr(result.report.attempts)


def test_feedback_does_not_blame_a_placeholder_that_is_right(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Only what is wrong with the real values is told to the model."""
    schema = {**NUMBER, "required": ["phone", "name"]}
    says('{"phone": "[PHONE_1]"}', '{"phone": "[PHONE_1]", "name": "x"}')
    client.chat("m", "?", documents=TEXT, policy=HIDE, schema=schema)
    feedback = scripted.seen("POST", "/api/chat")[1].json["messages"][-1]["content"]
    assert "name" in feedback
    assert "^1[0-9]" not in feedback
    assert PHONE not in feedback
