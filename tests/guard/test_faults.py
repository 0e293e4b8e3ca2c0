"""Whatever a server does, a call ends in a right value or in the right error, in each of the four ways to make it,
and nothing is left open."""

from __future__ import annotations

import gc
import itertools
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import OutputInvalid, ProtocolError, ServerRefused
from tests.answers import as_json, closed
from tests.guard.calling import WAYS, Clock, Ended, ask
from tests.guard.conftest import Say
from tests.scripted import HANG, RESET, Reply, ScriptedServer, chat, chat_values, error, html, lines, text, trickle

TODO = {
    "type": "object",
    "required": ["task"],
    "additionalProperties": False,
    "properties": {"task": {"type": "string"}},
}
INVALID = "output.invalid"
GOOD = '{"task": "a"}'
BUSY = error(503, "server busy, please try again.  maximum pending requests exceeded")

way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No descriptor, no thread and no temporary file outlives a test; a socket that is left to the garbage collector
    is a warning, and so an error."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before, threads = descriptors(), set(threading.enumerate())
    gc.freeze()  # else every collection walks what the tests before have loaded: 0.3 s each instead of 0.01
    yield
    gc.collect()
    gc.unfreeze()
    assert descriptors() == before
    assert set(threading.enumerate()) <= threads
    assert list(folder.iterdir()) == []


def descriptors() -> int:
    """How many files and sockets this process has open; 0 where the system does not tell."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def begun(content: str = '{"ta') -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content}, "done": False}


def endless(pieces: Iterator[str]) -> Reply:
    """A reply that never ends: one line for each piece."""
    parts = (chunk for piece in pieces for chunk in lines(begun(piece)).parts)
    return replace(lines(), parts=parts)  # type: ignore[arg-type]


def chats(scripted: ScriptedServer) -> int:
    return len(scripted.seen("POST", "/api/chat"))


@way
def test_busy_twice_and_then_good_is_good(way: str, scripted: ScriptedServer, says: Say) -> None:
    """503 is the server's word for later; it is no attempt of the model's."""
    says(BUSY, BUSY, GOOD)
    ended = ask(way, scripted, schema=TODO)
    assert (ended.value, ended.outcomes) == ({"task": "a"}, ("valid",))


@way
def test_busy_for_ever_is_an_error(way: str, scripted: ScriptedServer, says: Say) -> None:
    """With the server's own words."""
    scripted.always("POST", "/api/chat", BUSY)
    ended = ask(way, scripted, schema=TODO)
    assert isinstance(ended.error, ServerRefused)
    assert "server busy" in str(ended.error)


@way
@pytest.mark.parametrize("lost", [Reply(parts=(RESET,), framing="raw", keep_alive=False), closed()])
def test_a_connection_lost_before_the_answer_is_made_anew(
    way: str, lost: Reply, scripted: ScriptedServer, says: Say
) -> None:
    """Nothing was said yet, so that nothing is said twice."""
    says(lost, GOOD)
    assert ask(way, scripted, schema=TODO).value == {"task": "a"}


@way
@pytest.mark.parametrize(
    "broken",
    [
        lines(begun()).then(RESET),
        lines(begun()),
        lines(begun(), {"message": {"role": "assistant", "content": 5}}),
        lines(begun()).then(b"<html><title>Bad gateway</title>"),
        lines(begun()).then(b'{"message": {"con'),
    ],
    ids=["reset", "no done", "wrong type", "a page", "half a line"],
)
def test_an_answer_that_breaks_off_is_a_failed_attempt(
    way: str, broken: Reply, scripted: ScriptedServer, says: Say
) -> None:
    """Another try can help; the half that came is never taken for an answer, and the report keeps it."""
    says(broken, GOOD)
    ended = ask(way, scripted, schema=TODO)
    assert (ended.value, ended.outcomes) == ({"task": "a"}, ("incomplete", "valid"))
    assert ended.result is not None
    assert ended.result.report.attempts[0].reply == '{"ta'
    says(broken, broken, broken)
    ended = ask(way, scripted, schema=TODO)
    assert isinstance(ended.error, OutputInvalid)
    assert ended.outcomes == ("incomplete",) * 3


@way
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (html(), ProtocolError),
        (as_json([1, 2]), ProtocolError),
        (text("OK"), ProtocolError),
        (text(""), ProtocolError),
        (as_json({"message": "hello", "done": True}), ProtocolError),
        (lines({"message": {"role": "assistant", "content": ["x"]}, "done": True}), ProtocolError),
        (lines({"done": "yes"}), ProtocolError),
        (lines({"error": "llama runner process has terminated"}), ServerRefused),
        (lines(begun(), {"error": "out of memory"}), ServerRefused),
        (error(500, "unexpected"), ServerRefused),
    ],
)
def test_what_is_no_answer_is_an_error_at_once(
    way: str, wrong: Reply, kind: type, scripted: ScriptedServer, says: Say
) -> None:
    """It is not the model that failed, and a second try would not help: the four ways raise the same."""
    says(wrong)
    ended = ask(way, scripted, schema=TODO)
    assert type(ended.error) is kind
    assert chats(scripted) == 1


@way
def test_half_json_with_length_is_an_error(way: str, scripted: ScriptedServer, says: Say) -> None:
    """It gets more room once and is never repaired."""
    cut = chat('{"task": "a', done_reason="length")
    says(cut, cut)
    ended = ask(way, scripted, schema=TODO, options={"num_predict": 40})
    assert (ended.code, ended.outcomes) == (INVALID, ("length", "length"))


@way
@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{GOOD}\n```",
        f"<think>well {{}}</think>\n{GOOD}",
        f"so…</think>{GOOD}",
        f"Here you are:\n{GOOD}\nThat is all.",
        f"\ufeff\n\n{GOOD}",
    ],
)
def test_what_stands_around_json_costs_no_second_request(
    way: str, reply: str, scripted: ScriptedServer, says: Say
) -> None:
    """Fences, thinking and sentences are read past."""
    says(reply)
    assert ask(way, scripted, schema=TODO).value == {"task": "a"}
    assert chats(scripted) == 1


@way
@pytest.mark.parametrize("nothing", ["", " \n\t ", "<think>hm</think>", "<think>never closed"])
def test_an_empty_answer_is_tried_again_and_then_an_error(
    way: str, nothing: str, scripted: ScriptedServer, says: Say
) -> None:
    """With a schema and without."""
    for schema in (None, TODO):
        says(nothing, nothing, nothing)
        ended = ask(way, scripted, schema=schema)
        assert (ended.code, ended.outcomes) == (INVALID, ("empty",) * 3)


@way
def test_ten_megabytes_of_blanks_end_in_an_error(way: str, scripted: ScriptedServer, says: Say) -> None:
    """In one line of the stream, in many, and between the lines."""
    blanks = " " * 10_000_000
    between = Reply(200, (b"\n" * 10_000_000,), framing="chunked")
    says(chat(blanks, piece=len(blanks)), endless(itertools.repeat(" " * 50)), between)
    ended = ask(way, scripted, schema=TODO)
    assert isinstance(ended.error, ProtocolError)  # the last one said nothing at all
    says(chat(blanks, piece=len(blanks)), chat('{"task":' + blanks, piece=4096), endless(itertools.repeat("\n")))
    ended = ask(way, scripted, schema=TODO)
    assert (ended.code, ended.outcomes) == (INVALID, ("runaway",) * 3)


def counting() -> Iterator[str]:
    yield "["
    yield from (f'"item {number * 7919 % 1000003}", ' for number in itertools.count())


def telling() -> Iterator[str]:
    return (f"word{number * 7919 % 1000003} " for number in itertools.count())


@way
@pytest.mark.parametrize("never", [counting, telling])
def test_a_reply_that_never_ends_is_left_when_more_came_than_was_asked_for(
    way: str, never: Any, scripted: ScriptedServer, says: Say
) -> None:
    """A server that forgets num_predict is not listened to for ever."""
    says(endless(never()), GOOD)
    ended = ask(way, scripted, schema=TODO, options={"num_predict": 100})
    assert (ended.value, ended.outcomes) == ({"task": "a"}, ("runaway", "valid"))
    assert scripted.seen("POST", "/api/chat")[0].hung_up.wait(10)


@way
def test_a_reply_that_never_ends_is_left_when_the_tokens_are_spent(
    way: str, scripted: ScriptedServer, says: Say
) -> None:
    """max_tokens bounds all attempts together."""
    says(endless(telling()), GOOD)
    ended = ask(way, scripted, schema=TODO, policy={"max_tokens": 50})
    assert (ended.code, ended.outcomes) == (INVALID, ("runaway",))
    assert scripted.seen("POST", "/api/chat")[0].json["options"]["num_predict"] == 50


@way
def test_a_reply_that_never_ends_is_left_when_the_time_is_up(way: str, scripted: ScriptedServer, says: Say) -> None:
    """max_seconds ends the call, and there is no further attempt."""
    says(endless(telling()))
    ended = ask(way, scripted, clock=Clock(step=1.0), schema=TODO, policy={"max_seconds": 40})
    assert (ended.code, ended.outcomes) == (INVALID, ("timeout",))
    assert scripted.seen("POST", "/api/chat")[0].hung_up.wait(10)


@way
def test_a_slow_trickle_is_read_to_its_end(way: str, scripted: ScriptedServer, says: Say) -> None:
    """One byte at a time, cut inside characters and lines."""
    says(trickle(lines(*chat_values('{"task": "订货车👨‍👩‍👧"}', piece=3))))
    assert ask(way, scripted, schema=TODO).value == {"task": "订货车👨‍👩‍👧"}


@way
@pytest.mark.parametrize("drop", [b"x", b"\n"], ids=["no line ends", "no line says anything"])
def test_a_trickle_without_an_answer_ends_with_the_time(
    way: str, drop: bytes, scripted: ScriptedServer, says: Say
) -> None:
    """No line ever comes, and it is never silent: time is looked at after each piece."""
    says(replace(lines(), parts=itertools.repeat(drop)))  # type: ignore[arg-type]
    ended = ask(way, scripted, clock=Clock(step=1.0), policy={"max_seconds": 30})
    assert (ended.code, ended.outcomes) == (INVALID, ("timeout",))


@way
@pytest.mark.parametrize("before", [(), (begun(),)], ids=["nothing", "a beginning"])
def test_silence_ends_with_the_time(way: str, before: Any, scripted: ScriptedServer, says: Say) -> None:
    """A server that says no more is not waited for longer than the call may take (a tenth of a second here)."""
    says(lines(*before).then(HANG))
    ended = ask(way, scripted, policy={"max_seconds": 0.1})
    assert (ended.code, ended.outcomes) == (INVALID, ("timeout",))


@way
def test_what_comes_after_the_end_is_no_part_of_the_answer(way: str, scripted: ScriptedServer, says: Say) -> None:
    """Not more text, and not a broken connection either."""
    says(lines(*chat_values("yes")).then(RESET))
    assert ask(way, scripted).value == "yes"
    says(lines(*chat_values("yes"), begun("and no"), begun(" " * 500)))
    assert ask(way, scripted).value == "yes"


@way
@pytest.mark.parametrize("depth", [200, 500, 900, 5000])
def test_json_nested_deep_is_an_error_of_ours(way: str, depth: int, scripted: ScriptedServer, says: Say) -> None:
    """A model that opens brackets for ever, and one that closes them all."""
    nested = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}}}
    closed = '{"a":' * depth + "{}" + "}" * depth
    says(*(chat(reply, piece=5) for reply in (closed, "[" * depth, closed)))
    ended: Ended = ask(way, scripted, schema=nested)
    assert ended.code in ("", INVALID)
