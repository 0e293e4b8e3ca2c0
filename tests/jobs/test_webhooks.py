"""What is posted to a webhook, and what never shows its address. Against a server of the tests' own."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import (
    OllamaKitError,
    ProtocolError,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
    UsageError,
)
from ollama_kit.jobs.webhooks import WECOM_BYTES, WECOM_PATH, post_markdown, split_markdown
from tests.intensity import examples
from tests.scripted import Reply, ScriptedServer, as_json, closed, html, raw, silent, text

KEY = "693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa"
HOOK = "/services/T0001/abcdefSECRET"
OK = as_json({"errcode": 0, "errmsg": "ok"})


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def robot(server: ScriptedServer) -> str:
    return f"{server.url}{WECOM_PATH}?key={KEY}"


def test_a_robot_gets_markdown(server: ScriptedServer) -> None:
    """The body is what WeCom's documentation says, in UTF-8, and the key is in the query and nowhere else."""
    server.on("POST", WECOM_PATH, OK)
    posted = post_markdown(robot(server), "# 群\n\n- 交报告")
    assert (posted.host, posted.status, posted.parts) == (f"127.0.0.1:{server.port}", 200, 1)
    (seen,) = server.seen("POST", WECOM_PATH)
    assert seen.json == {"msgtype": "markdown", "markdown": {"content": "# 群\n\n- 交报告"}}
    assert seen.target.endswith(f"?key={KEY}")
    assert seen.headers["content-type"] == "application/json; charset=utf-8"
    assert KEY not in repr(posted)


def test_any_other_webhook_gets_a_text(server: ScriptedServer) -> None:
    """`{"text": …}` in one piece, however long; any 2xx is well."""
    server.on("POST", HOOK, text("", 204))
    long = "第一段\n\n" * 2000
    assert post_markdown(server.url + HOOK, long).status == 204
    assert server.seen("POST", HOOK)[0].json == {"text": long}


def test_a_long_text_goes_in_parts_in_their_order(server: ScriptedServer) -> None:
    """Each message keeps to WeCom's limit, and together they say everything."""
    server.always("POST", WECOM_PATH, OK)
    paragraphs = [f"第 {number} 段：" + "内容" * 150 for number in range(20)]
    posted = post_markdown(robot(server), "\n\n".join(paragraphs))
    contents = [seen.json["markdown"]["content"] for seen in server.seen("POST", WECOM_PATH)]
    assert posted.parts == len(contents) > 1
    assert max(len(content.encode()) for content in contents) <= WECOM_BYTES
    assert "\n\n".join(contents).split("\n\n") == paragraphs


@settings(deadline=None, max_examples=examples(200))
@given(st.text(alphabet="ab中😀 \n\\&lt;#", max_size=120), st.integers(8, 40))
def test_splitting_loses_nothing_but_white_space(written: str, limit: int) -> None:
    """Every piece fits, none is empty, and the words are all there in order."""
    pieces = split_markdown(written, limit)
    assert all(piece.strip() and len(piece.encode()) <= limit for piece in pieces)
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", written)


def test_a_line_is_not_cut_inside_an_escape_or_a_character() -> None:
    """A backslash stays with what it escapes, an entity and a family of emoji stay whole."""
    for unit in ("\\*", "&lt;", "👨‍👩‍👧"):
        for piece in split_markdown(unit * 40, 31):
            assert piece.replace(unit, "") == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook/abcdefSECRET",
        "http://127.0.0.1.example.com/abcdefSECRET",
        "http://example.com\\@127.0.0.1/abcdefSECRET",
        "http://127.0.0.1@example.com/abcdefSECRET",
        "ftp://127.0.0.1/abcdefSECRET",
        "file:///abcdefSECRET",
        "https:///abcdefSECRET",
        "127.0.0.1/abcdefSECRET",
        "http://127.0.0.1:port/abcdefSECRET",
        "",
    ],
)
def test_only_https_or_this_machine(url: str) -> None:
    """Anything else is refused before a name is looked up, and the error does not repeat the address."""
    with pytest.raises(UsageError) as caught:
        post_markdown(url, "text")
    assert_no_secret(caught.value)


def test_an_empty_text_is_not_posted(server: ScriptedServer) -> None:
    """A robot would refuse it, and a webhook would show an empty line."""
    with pytest.raises(UsageError, match="nothing to post"):
        post_markdown(robot(server), " \n")
    assert server.calls == []


def echoing(status: int) -> Reply:
    return text(f"no such hook: {WECOM_PATH}?key={KEY} (key {KEY})", status)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (echoing(404), ServerRefused),
        (echoing(500), ServerRefused),
        (echoing(503), ServerRefused),
        (Reply(302, (), (("Location", "http://127.0.0.1:1/elsewhere"),)), ProtocolError),
        (as_json({"errcode": 93000, "errmsg": f"invalid webhook url {KEY}"}), ServerRefused),
        (as_json({"errcode": 45009, "errmsg": "api freq out of limit"}), ServerRefused),
        (as_json(["ok"]), ProtocolError),
        (html(), ProtocolError),
        (closed(), ServerUnreachable),
        (raw(b"SMTP ready\r\n"), ServerUnreachable),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), ProtocolError),
    ],
)
def test_each_failure_is_an_error_of_ours_without_the_key(
    server: ScriptedServer, answer: Reply, kind: type[OllamaKitError], caplog: pytest.LogCaptureFixture
) -> None:
    """The host is named; the key is in no message, no hint, no chained exception, no traceback and no log line."""
    server.on("POST", WECOM_PATH, answer)
    with caplog.at_level(logging.DEBUG), pytest.raises(kind) as caught:
        post_markdown(robot(server), "text")
    assert f"127.0.0.1:{server.port}" in caught.value.message
    assert_no_secret(caught.value)
    assert KEY not in caplog.text
    assert len(server.calls) == 1


def test_a_webhook_that_repeats_its_address_does_not_show_it(server: ScriptedServer) -> None:
    """Where the key is in the path, as with most webhooks, no piece of the path is repeated."""
    server.on("POST", HOOK, text(f"unknown: {HOOK}, abcdefSECRET", 404))
    with pytest.raises(ServerRefused, match="refused with 404: unknown") as caught:
        post_markdown(server.url + HOOK, "text")
    assert_no_secret(caught.value)


def assert_no_secret(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error)) + repr(vars(error))
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in shown
    assert "abcdefSECRET" not in shown


def test_what_is_logged_has_no_address(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """urllib3 logs the path and the query of every request at DEBUG; here it does not, and later it does again."""
    server.always("POST", WECOM_PATH, OK)
    with caplog.at_level(logging.DEBUG):
        post_markdown(robot(server), "text")
    assert "POST" in caplog.text
    assert KEY not in caplog.text
    assert logging.getLogger("urllib3.connectionpool").filters == []


def test_only_what_may_succeed_later_is_worth_another_try(server: ScriptedServer) -> None:
    """Too many messages a minute, or a server that is busy; never an address that is wrong."""
    busy, wrong = as_json({"errcode": 45009, "errmsg": "x"}), as_json({"errcode": 93000, "errmsg": "x"})
    for answer, retryable in ((busy, True), (wrong, False), (text("x", 503), True), (text("x", 404), False)):
        server.on("POST", WECOM_PATH, answer)
        with pytest.raises(ServerRefused) as caught:
            post_markdown(robot(server), "text")
        assert caught.value.retryable is retryable


def test_a_failure_in_the_middle_says_what_had_gone(server: ScriptedServer) -> None:
    """The reader of the group has the first messages; whoever posts again must know."""
    server.on("POST", WECOM_PATH, OK, text("down", 500))
    with pytest.raises(ServerRefused, match="after 1 of 3 messages"):
        post_markdown(robot(server), "\n\n".join(["字" * 1300] * 3))
    assert len(server.calls) == 2


def test_nobody_there(server: ScriptedServer) -> None:
    """A port that nobody listens on, and a server that never answers, are told apart."""
    server.on("POST", HOOK, silent())
    with pytest.raises(ServerTimeout) as caught:
        post_markdown(server.url + HOOK, "text", timeouts_s=(5, 0.2))
    assert_no_secret(caught.value)
    with pytest.raises(ServerUnreachable) as unreachable:
        post_markdown(f"http://127.0.0.1:1{HOOK}", "text")
    assert_no_secret(unreachable.value)


def test_no_proxy_and_no_password_of_the_environment(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """A proxy would read the text; a netrc would send a password that nobody named."""
    netrc = f"{tmp_path}/netrc"
    with open(netrc, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", netrc)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.on("POST", HOOK, text("ok"))
    assert post_markdown(server.url + HOOK, "text").status == 200
    assert "authorization" not in server.seen("POST", HOOK)[0].headers
