"""Embedding on a scripted server: order, batches, what is too long, and what is sent of a text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit import AsyncClient, Client
from ollama_kit.client.embedding import BATCH, Embeddings
from ollama_kit.errors import (
    ContextOverflow,
    ModelMissing,
    ProtocolError,
    RemoteHostRefused,
    ServerRefused,
    UsageError,
)
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import byte_vocabulary
from tests.intensity import examples
from tests.scripted import Reply, ScriptedServer, SeenRequest, as_json, error, show, tags

WINDOW, ROOM = 64, 62  # the byte vocabulary has no end tokens of its own, and the server takes one off for each
TOO_LONG = "the input length exceeds the context length"
WORDPIECE = {
    "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.tokens": ["[CLS]", "[SEP]", "##a", "a"],
    "tokenizer.ggml.token_type": [3, 3, 1, 1],
}


def vector(text: str) -> list[float]:
    """What the scripted model makes of a text: its size, and its first and last characters."""
    return [float(len(text)), float(ord(text[0])), float(ord(text[-1]))]


def embedding(seen: SeenRequest) -> Reply:
    """Answers as the server does, one token a byte; refuses what is too long, as it was told to."""
    texts = seen.json["input"]
    assert seen.json["truncate"] is False
    sizes = [len(text.encode()) for text in texts]
    if max(sizes) > ROOM:
        return error(400, TOO_LONG)
    return as_json({"model": "m", "embeddings": [vector(text) for text in texts], "prompt_eval_count": sum(sizes)})


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest"))
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template="", parameters=f"num_ctx {WINDOW}"))
        server.always("POST", "/api/embed", embedding)
        yield server


@pytest.fixture
def client(scripted: ScriptedServer) -> Iterator[Client]:
    with Client(Settings(host=scripted.url)) as opened:
        yield opened


@pytest.fixture
def uncounted(scripted: ScriptedServer) -> Iterator[Client]:
    """A client whose model's tokens cannot be counted here."""
    scripted.always("POST", "/api/show", show("bert", info=WORDPIECE, template="", parameters=f"num_ctx {WINDOW}"))
    with Client(Settings(host=scripted.url)) as opened:
        yield opened


def bodies(server: ScriptedServer) -> list[Any]:
    return [seen.json for seen in server.seen("POST", "/api/embed")]


def test_each_text_has_its_vector_in_its_place(client: Client, scripted: ScriptedServer) -> None:
    """Over several requests of `batch` texts, the last one shorter."""
    texts = [f"{at} " + "x" * (at % 7) for at in range(23)]
    result = client.embed("m", texts, batch=5)
    assert [list(one) for one in result.vectors] == [vector(text) for text in texts]
    assert [len(body["input"]) for body in bodies(scripted)] == [5, 5, 5, 5, 3]
    assert [text for body in bodies(scripted) for text in body["input"]] == texts


def test_window_and_no_truncation_are_always_explicit(client: Client, scripted: ScriptedServer) -> None:
    """Left to itself the server cuts without a word."""
    client.embed("m", ["a"])
    assert bodies(scripted) == [{"model": "m", "input": ["a"], "options": {"num_ctx": WINDOW}, "truncate": False}]


def test_the_report_has_both_counts(client: Client) -> None:
    """Predicted and counted, with the window and where it comes from; it is plain data."""
    report = client.embed("m", ["abc", "你好"]).report
    assert (report.predicted_tokens, report.predicted_as, report.counted_tokens) == (9, "exact", 9)
    assert report.prediction_held
    assert (report.context_tokens, report.dropped, report.notes) == (WINDOW, {}, ())
    assert json.loads(json.dumps(report.as_dict()))["policy"] == "standard"


def test_a_single_text_is_one_text_and_no_texts_are_none(client: Client, scripted: ScriptedServer) -> None:
    """A string is not a list of its letters; for nothing nothing is asked."""
    assert client.embed("m", "abc").vectors == (tuple(vector("abc")),)
    assert client.embed("m", []).vectors == ()
    assert len(bodies(scripted)) == 1


@pytest.mark.parametrize("wrong", [["a", ""], ["a", " \n"], ["a", "\u200b"], ["a", 5], ["a", None]])
def test_an_empty_text_is_refused_with_its_number(client: Client, scripted: ScriptedServer, wrong: Any) -> None:
    """The server would answer 500 for the whole batch."""
    with pytest.raises(UsageError, match="text 1 is"):
        client.embed("m", wrong)
    assert not bodies(scripted)


@pytest.mark.parametrize("how", [{"batch": 0}, {"batch": True}, {"batch": 2.0}, {"too_long": "cut"}])
def test_wrong_words_are_refused_before_anything_is_asked(
    client: Client, scripted: ScriptedServer, how: dict[str, Any]
) -> None:
    """With what was expected."""
    with pytest.raises(UsageError, match="must be"):
        client.embed("m", ["a"], **how)
    assert not scripted.calls


def test_a_text_that_is_too_long_is_an_error_with_its_number(client: Client, scripted: ScriptedServer) -> None:
    """Before any text is sent; the last token that fits is used."""
    with pytest.raises(ContextOverflow, match=f"text 1 is {ROOM + 1} tokens, and {ROOM} fit") as caught:
        client.embed("m", ["a", "x" * (ROOM + 1)])
    assert (caught.value.needed_tokens, caught.value.available_tokens) == (ROOM + 1, ROOM)
    assert not bodies(scripted)
    assert client.embed("m", ["x" * ROOM]).report.counted_tokens == ROOM


def test_truncating_is_asked_for_and_said(client: Client, scripted: ScriptedServer) -> None:
    """Which text, and how much of it is not in its vector."""
    result = client.embed("m", ["short", "x" * 100], too_long="truncate")
    assert bodies(scripted)[0]["input"] == ["short", "x" * ROOM]
    assert result.report.dropped == {"texts": 1, "characters": 38, "tokens": 38}
    assert result.report.notes == ("text 1 was cut: 38 characters (38 tokens) at its end are not in its vector",)
    assert result.report.predicted_tokens == result.report.counted_tokens == 5 + ROOM


def test_a_cut_is_between_characters_as_a_reader_sees_them(client: Client, scripted: ScriptedServer) -> None:
    """A family of four is one character of 25 bytes, and is there or is not."""
    family = "👨‍👩‍👧‍👦"
    client.embed("m", [family * 9], too_long="truncate")
    assert bodies(scripted)[0]["input"] == [family * 2]


@settings(deadline=None, max_examples=examples(60))
@given(text=st.text(st.sampled_from("aé你👍🏽‍👨\u0301 。\n<|im_end|>"), min_size=1, max_size=400).filter(str.strip))
def test_what_is_cut_fits_and_is_a_beginning(text: str) -> None:
    """For any text: never over the room, never something else than its start."""
    from ollama_kit.client.embedding import fitted
    from ollama_kit.guard.profile import Profile
    from ollama_kit.modelfile.versions import ServerVersion
    from ollama_kit.server.facts import ModelFacts
    from ollama_kit.tokens.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_metadata(byte_vocabulary())
    profile = Profile(ModelFacts("m"), tokenizer, ServerVersion(0, 9, 3), WINDOW, "test", "http://x")
    try:
        piece = fitted(0, text, profile, "truncate")
    except ContextOverflow:
        assert len(text) > 2  # one visible character that is longer than the window
        return
    assert text.startswith(piece.text)
    assert piece.tokens == tokenizer.count(piece.text) <= ROOM
    assert piece.cut_characters == len(text) - len(piece.text)
    assert piece.tokens + piece.cut_tokens == tokenizer.count(text)


def test_the_work_of_cutting_goes_with_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of a million characters is counted whole once, and in small parts after that."""
    from ollama_kit.client import embedding as module

    asked: list[int] = []

    def fits(shorter: str) -> bool:
        asked.append(len(shorter))
        return len(shorter) <= 5000

    assert module._longest("x" * 1_000_000, fits) == 5000
    assert sum(asked) < 20 * 5000


def test_control_tokens_and_secrets_do_not_reach_the_model(client: Client, scripted: ScriptedServer) -> None:
    """By the policy's stages, with findings in spans of the caller's text; `off` sends what there is."""
    text = "hi <|im_end|>"
    result = client.embed("m", ["a", text])
    assert bodies(scripted)[0]["input"] == ["a", "hi <\u200b|im_end|>"]
    (found,) = result.report.findings
    assert (found.source, text[slice(*found.span)]) == ("text 1", "<|im_end|>")
    client.embed("m", [text], policy="off")
    assert bodies(scripted)[1]["input"] == [text]


def test_a_vector_does_not_depend_on_its_neighbors(client: Client, scripted: ScriptedServer) -> None:
    """A hidden value has the same placeholder whatever was hidden in the text before."""
    first, second = "key: sk-ant-api03-" + "aB3" * 12, "key: sk-ant-api03-" + "xY9" * 12
    scripted.always("POST", "/api/show", show(info=byte_vocabulary(), template="", parameters="num_ctx 512"))
    scripted.always("POST", "/api/embed", lambda seen: as_json({"embeddings": [vector(t) for t in seen.json["input"]]}))
    with Client(Settings(host=scripted.url)) as fresh:
        fresh.embed("m", [first, second])
        fresh.embed("m", [second])
    both, alone = bodies(scripted)
    assert "aB3" not in both["input"][0]
    assert both["input"][1] == alone["input"][0] != second


def test_where_tokens_can_not_be_counted_the_server_decides(uncounted: Client, scripted: ScriptedServer) -> None:
    """The bound of such a tokenizer would refuse nearly all; the error still names the text."""
    assert len(uncounted.embed("m", ["x" * ROOM, "b"]).vectors) == 2
    with pytest.raises(ContextOverflow, match="text 2 is more than"):
        uncounted.embed("m", ["a", "b", "x" * 100, "c"])
    report = uncounted.embed("m", ["a", "b"]).report
    assert report.predicted_as == "approximate"
    assert report.prediction_held


def test_where_tokens_can_not_be_counted_a_text_is_cut_until_it_is_taken(
    uncounted: Client, scripted: ScriptedServer
) -> None:
    """A quarter at a time, and said; the others in the batch keep their places."""
    result = uncounted.embed("m", ["a", "x" * 200, "c"], too_long="truncate")
    assert [one[0] for one in result.vectors] == [1.0, 47.0, 1.0]
    assert result.report.dropped == {"texts": 1, "characters": 153}
    assert "text 1 was cut: 153 characters at its end" in result.report.notes[0]
    assert result.report.counted_tokens == 49


def test_another_refusal_is_not_taken_for_a_long_text(client: Client, scripted: ScriptedServer) -> None:
    """It is told as it came, after one request."""
    scripted.always("POST", "/api/embed", error(500, "llama runner process has terminated"))
    with pytest.raises(ServerRefused, match="terminated"):
        client.embed("m", ["a", "b"], too_long="truncate")
    assert len(bodies(scripted)) == 1


@pytest.mark.parametrize(
    "embeddings",
    [None, [], [[1.0]], [[1.0], [2.0], [3.0]], [[1.0], "x"], [[1.0], [None]], [[1.0], [True]], [[1.0], []]],
)
def test_an_answer_that_is_not_one_vector_a_text_is_refused(
    client: Client, scripted: ScriptedServer, embeddings: Any
) -> None:
    """Never a vector too few, or one that holds something else than numbers."""
    scripted.always("POST", "/api/embed", as_json({"embeddings": embeddings}))
    with pytest.raises(ProtocolError, match="one vector for each of 2"):
        client.embed("m", ["a", "b"])


def test_numbers_that_are_none_and_lengths_that_differ_are_refused(client: Client, scripted: ScriptedServer) -> None:
    """NaN would make every distance NaN; two lengths are two models."""
    scripted.always("POST", "/api/embed", as_json({"embeddings": [[1.0, float("nan")]]}))
    with pytest.raises(ProtocolError):
        client.embed("m", ["a"])
    scripted.always("POST", "/api/embed", lambda seen: as_json({"embeddings": [[1.0] * len(seen.json["input"][0])]}))
    with pytest.raises(ProtocolError, match="vectors of 1 and 2 numbers"):
        client.embed("m", ["a", "bb"], batch=1)


def test_texts_stay_on_this_machine_unless_it_is_said(client: Client, scripted: ScriptedServer) -> None:
    """As in chat: neither another host, nor a model that the server forwards."""
    with Client(Settings(host="http://ollama.example.invalid")) as away, pytest.raises(RemoteHostRefused):
        away.embed("m", ["secret"])
    cloud = show(info=byte_vocabulary(), remote_host="https://ollama.com:443", remote_model="big")
    scripted.always("POST", "/api/show", cloud)
    with pytest.raises(RemoteHostRefused):
        client.embed("m", ["secret"])
    assert not bodies(scripted)


def test_a_missing_model_is_answered_with_what_there_is(client: Client, scripted: ScriptedServer) -> None:
    """As in chat."""
    scripted.always("POST", "/api/show", error(404, "model 'mm' not found"))
    with pytest.raises(ModelMissing) as caught:
        client.embed("mm", ["a"])
    assert caught.value.installed == ("m:latest",)


def test_the_awaited_client_sends_the_same(client: Client, scripted: ScriptedServer) -> None:
    """One flow, two drivers."""
    texts = [str(at) for at in range(BATCH + 3)] + ["x" * 99]

    async def embed() -> Embeddings:
        async with AsyncClient(Settings(host=scripted.url)) as awaited:
            return await awaited.embed("m", texts, too_long="truncate")

    blocking, awaited = client.embed("m", texts, too_long="truncate"), asyncio.run(embed())
    assert blocking.vectors == awaited.vectors
    assert bodies(scripted)[:2] == bodies(scripted)[2:]
