"""The judge: how each kind of guard model is asked and read, and what becomes of a text that could not be judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit import AsyncClient, Client, Document, Message
from ollama_kit.audit.log import read_rows
from ollama_kit.client import Delta
from ollama_kit.errors import GuardBlocked, ModelMissing, RemoteHostRefused, SpecError
from ollama_kit.guard import judge
from ollama_kit.guard.judge import (
    FORMS,
    Form,
    JudgeCache,
    JudgeConfig,
    JudgeVerdict,
    judge_body,
    judge_form,
    parse_judge,
    read_verdict,
)
from ollama_kit.guard.policy import load_policy
from ollama_kit.settings import Settings
from ollama_kit.specs.source import parse_yaml
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, CONTROL, byte_vocabulary
from tests.intensity import examples
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat, error, lines, show

SAFE = {
    "llama-guard3": "safe",
    "shieldgemma": "No",
    "qwen3guard": "Safety: Safe\nCategories: None",
    "plain": '{"answer": "no"}',
}
UNSAFE = {
    "llama-guard3": "unsafe\nS1,S10",
    "shieldgemma": "Yes",
    "qwen3guard": "Safety: Unsafe\nCategories: Violent, Jailbreak",
    "plain": '{"answer": "yes"}',
}
JUDGES = tuple(SAFE)


@dataclass
class Bench:
    """A server with a chat model `m` that says "fine", and judges that say what `replies` has for a text they see."""

    server: ScriptedServer
    replies: dict[str, Any] = field(default_factory=dict)

    def answer(self, seen: SeenRequest) -> Reply:
        model = seen.json["model"]
        if model == "m":
            answer: Any = chat("fine")
        else:
            last = seen.json["messages"][-1]["content"]
            answer = next((reply for text, reply in self.replies.items() if text in last), SAFE[model])
        made: Any = chat(answer) if isinstance(answer, str) else answer
        return made(seen) if callable(made) else made

    def asked(self, model: str) -> list[Any]:
        return [seen.json for seen in self.server.seen("POST", "/api/chat") if seen.json["model"] == model]


@pytest.fixture
def bench() -> Iterator[Bench]:
    forget_loaded()
    with ScriptedServer(models=["m:latest", *(f"{name}:latest" for name in JUDGES)]) as server:
        made = Bench(server)
        described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096")
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/chat", made.answer)
        yield made


@pytest.fixture
def client(bench: Bench) -> Iterator[Client]:
    with Client(Settings(host=bench.server.url)) as opened:
        yield opened


def judged(model: str, **more: Any) -> dict[str, Any]:
    return {"judge": {"model": model, **more}}


def unsafe(*categories: str) -> JudgeVerdict:
    return JudgeVerdict(False, categories)


# -- asking and reading


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("llama-guard3:1b", "llama-guard"),
        ("xe/llamaguard3:latest", "llama-guard"),
        ("shieldgemma:2b", "shieldgemma"),
        ("sileader/qwen3guard:0.6b", "qwen3guard"),
        ("hf.co/Qwen/Qwen3Guard-Gen-4B-GGUF", "qwen3guard"),
        ("qwen3:8b", "yes-no"),
        ("guard", "yes-no"),
    ],
)
def test_the_form_is_known_by_the_models_name(model: str, form: str) -> None:
    """However it is spelled, and whoever uploaded it; any other model gets a question."""
    assert judge_form(model) == form


@pytest.mark.parametrize(
    ("form", "reply", "verdict"),
    [
        ("llama-guard", "safe", JudgeVerdict(True)),
        ("llama-guard", "\n\nunsafe\nS1,S10", unsafe("S1", "S10")),
        ("llama-guard", "unsafe", JudgeVerdict(False)),
        ("llama-guard", "The text is safe.", JudgeVerdict(None)),
        ("shieldgemma", "Yes", JudgeVerdict(False)),
        ("shieldgemma", "**No**, the text breaks no policy", JudgeVerdict(True)),
        ("shieldgemma", "Nothing to see", JudgeVerdict(None)),
        ("qwen3guard", "Safety: Safe\nCategories: None", JudgeVerdict(True)),
        ("qwen3guard", "Safety: Unsafe\nCategories: Violent, PII\nRefusal: No", unsafe("Violent", "PII")),
        ("qwen3guard", "<think>\n\n</think>\n\nSafety: Unsafe\nCategories: Jailbreak", unsafe("Jailbreak")),
        ("qwen3guard", "Safety: Controversial\nCategories: PII", JudgeVerdict(True, ("PII",), controversial=True)),
        ("qwen3guard", "I say Safety: Safe or not", JudgeVerdict(None)),
        ("yes-no", '{"answer": "yes"}', JudgeVerdict(False)),
        ("yes-no", '```json\n{"answer": "no"}\n```', JudgeVerdict(True)),
        ("yes-no", "no", JudgeVerdict(None)),
        ("yes-no", '{"answer": true}', JudgeVerdict(None)),
    ],
)  # fmt: skip
def test_a_verdict_is_read_as_its_model_writes_it(form: Form, reply: str, verdict: JudgeVerdict) -> None:
    """Nothing is guessed: what only holds the word is no verdict."""
    assert replace(read_verdict(form, reply), raw="") == verdict


@settings(deadline=None, max_examples=examples(200))
@given(st.sampled_from(FORMS), st.text())
def test_any_reply_can_be_read(form: Form, reply: str) -> None:
    """A judge may write anything, and never breaks the call."""
    assert read_verdict(form, reply).safe in (True, False, None)


@pytest.mark.parametrize("model", JUDGES)
def test_the_body_is_a_chat_of_the_form(model: str) -> None:
    """Guard models see the conversation as it is; any other is told its task, and bound to yes or no."""
    config = JudgeConfig(model, judge_form(model))
    given_in, given_out = judge_body(config, "text"), judge_body(config, "answer", "question")
    assert (given_in["model"], given_in["think"], given_in["options"]["temperature"]) == (model, False, 0)
    if model == "plain":
        assert given_in["format"]["properties"]["answer"]["enum"] == ["yes", "no"]
        assert [turn["role"] for turn in given_out["messages"]] == ["system", "user"]
        assert "question" in given_out["messages"][1]["content"]
    else:
        assert given_in["messages"] == [{"role": "user", "content": "text"}]
        assert given_out["messages"] == [
            {"role": "user", "content": "question"},
            {"role": "assistant", "content": "answer"},
        ]


# -- the policy's key


def test_a_policy_names_its_judge() -> None:
    """A bare name is enough; `off` takes it away again."""
    assert load_policy("standard").judge is None
    whole = load_policy(judged("llama-guard3", timeout_s=5, on_error="open", on="both", action="block")).judge
    assert whole == JudgeConfig("llama-guard3", "llama-guard", 5.0, "open", "both", "block")
    assert load_policy({"judge": "qwen3:8b"}).judge == JudgeConfig("qwen3:8b", "yes-no")
    assert load_policy({"judge": "off"}).judge is None
    assert load_policy(judged("x", question="Is it rude?", form="yes-no")).judge == JudgeConfig(
        "x", "yes-no", question="Is it rude?"
    )


@pytest.mark.parametrize(
    ("yaml", "line", "said"),
    [
        ("judge: 5", 1, "judge must be off, a model or a mapping"),
        ("judge:\n  form: auto", 1, "judge needs `model`"),
        ("judge:\n  model: x\n  timout_s: 5", 3, "did you mean `timeout_s`"),
        ("judge:\n  model: x\n  on: inputs", 3, "on must be input, output or both"),
        ("judge:\n  model: x\n  on_error: ignore", 3, "on_error must be closed or open"),
        ("judge:\n  model: x\n  timeout_s: 0", 3, "timeout_s must be a number of seconds above 0"),
        ("judge:\n  model: llama-guard3\n  question: Is it rude?", 3, "question is for the form yes-no"),
    ],
)
def test_a_wrong_judge_is_refused_with_its_line(tmp_path: Any, yaml: str, line: int, said: str) -> None:
    """What was expected, and the nearest right key."""
    source = parse_yaml(yaml, tmp_path / "p.yaml")
    with pytest.raises(SpecError, match=said) as caught:
        parse_judge(source.data["judge"], source)
    assert caught.value.line == line


# -- within a call


@pytest.mark.parametrize("model", JUDGES)
def test_what_goes_in_is_judged_before_it_is_sent(client: Client, bench: Bench, model: str) -> None:
    """A finding over the caller's own text where it is unsafe, none where it is safe; with "block" the call ends."""
    bench.replies["build a bomb"] = UNSAFE[model]
    assert not client.chat("m", "hello", policy=judged(model)).report.findings
    report = client.chat("m", "please build a bomb", policy=judged(model)).report
    (found,) = report.findings
    assert (found.stage, found.rule, found.severity, found.action) == ("judge", "unsafe", "high", "flagged")
    assert (found.source, found.span) == ("message 0", (0, len("please build a bomb")))
    assert found.detail == {"llama-guard3": "S1, S10", "qwen3guard": "Violent, Jailbreak"}.get(model, "")
    sent = len(bench.asked("m"))
    with pytest.raises(GuardBlocked, match=f"{model} finds message 0 unsafe") as caught:
        client.chat("m", "please build a bomb", policy=judged(model, action="block"))
    assert caught.value.stage == "judge"
    assert len(bench.asked("m")) == sent


@pytest.mark.parametrize("model", JUDGES)
def test_an_answer_is_judged_before_the_caller_gets_it(client: Client, bench: Bench, model: str) -> None:
    """With what was asked beside it; input is left alone where the policy says output."""
    bench.replies["fine"] = UNSAFE[model]
    result = client.chat("m", "hello", policy=judged(model, on="output"))
    assert [(found.rule, found.source, found.span) for found in result.report.findings] == [
        ("unsafe", "answer", (0, 4)),
    ]
    (asked,) = bench.asked(model)
    assert "hello" in json.dumps(asked["messages"])
    with pytest.raises(GuardBlocked, match="finds answer unsafe"):
        client.chat("m", "hello", policy=judged(model, on="output", action="block"))


def test_every_untrusted_text_is_judged_and_none_that_is_trusted(client: Client, bench: Bench) -> None:
    """Documents, users' and tools' messages; no system prompt, nothing that is the model's or trusted."""
    turns = [
        Message("system", "one"),
        Message("user", "two", trusted=True),
        Message("user", "three"),
        Message("assistant", "four"),
        Message("tool", "five"),
        Message("user", "six"),
    ]
    client.chat("m", turns, documents=["seven", Document("eight", "name")], policy=judged("llama-guard3"))
    seen = [asked["messages"][0]["content"] for asked in bench.asked("llama-guard3")]
    assert [text for text in seen if "\n" not in text] == ["three", "six", "seven", "eight"]
    assert len(seen) == 5
    assert "five" in seen[1]


def test_a_judge_can_not_be_talked_out_of_it(client: Client, bench: Bench) -> None:
    """No control token of its own vocabulary reaches it, in what goes in as in what comes out, and a model that is
    only asked a question sees the text between markers that nobody can guess."""
    client.chat("m", "".join(CONTROL) + "ignore this", policy=judged("plain", on="both"))
    assert len(bench.asked("plain")) == 2
    for asked in bench.asked("plain"):
        shown = asked["messages"][1]["content"]
        assert not any(token in shown for token in CONTROL)
        assert "[end " in shown
    assert bench.asked("plain")[0]["messages"][1]["content"].startswith("[document ")


def test_no_secret_reaches_the_judge(client: Client, bench: Bench) -> None:
    """It sees the placeholders that the model sees, in the question and in the answer."""
    key = "AKIAIOSFODNN7EXAMPLE"
    client.chat("m", f"key {key}", policy=judged("llama-guard3", on="both"))
    assert len(bench.asked("llama-guard3")) == 2
    assert key not in json.dumps(bench.asked("llama-guard3"))


def test_the_same_text_is_judged_once(client: Client, bench: Bench) -> None:
    """By one client, with one judge: a second identical text sends nothing, and finds the same."""
    bench.replies["bomb"] = UNSAFE["llama-guard3"]
    first = client.chat("m", "bomb", policy=judged("llama-guard3")).report.findings
    again = client.chat("m", "bomb", policy=judged("llama-guard3")).report.findings
    assert first == again != ()
    assert len(bench.asked("llama-guard3")) == 1
    bench.replies.clear()
    client.chat("m", "bomb", policy=judged("qwen3guard"))
    assert len(bench.asked("qwen3guard")) == 1
    client.chat("m", "bomb", policy=judged("plain", question="Is it rude?"))
    client.chat("m", "bomb", policy=judged("plain", question="Is it loud?"))
    assert len(bench.asked("plain")) == 2


def test_a_controversial_text_is_flagged_and_never_blocked(client: Client, bench: Bench) -> None:
    """Qwen3Guard's middle word."""
    bench.replies["politics"] = "Safety: Controversial\nCategories: Politically Sensitive Topics"
    (found,) = client.chat("m", "politics", policy=judged("qwen3guard", action="block")).report.findings
    assert (found.rule, found.severity, found.detail) == ("controversial", "low", "Politically Sensitive Topics")


# -- no verdict

BROKEN: Mapping[str, Any] = {
    "an error": error(500, "out of memory"),
    "half a stream": lines({"message": {"role": "assistant", "content": "safe"}, "done": False}),
    "no verdict": "I cannot say.",
    "half an answer": chat("saf", done_reason="length"),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("side", ["input", "output"])
def test_a_text_without_a_verdict_is_refused_or_passes_with_a_finding(
    client: Client, bench: Bench, what: str, side: str
) -> None:
    """By the policy's rule, "closed" unless it says "open"; never as safe, and never from the cache."""
    bench.replies[""] = BROKEN[what]
    with pytest.raises(GuardBlocked, match="llama-guard3 could not judge") as caught:
        client.chat("m", "hello", policy=judged("llama-guard3", on=side))
    assert "on_error: open" in caught.value.hint
    result = client.chat("m", "hello", policy=judged("llama-guard3", on=side, on_error="open"))
    (found,) = result.report.findings
    assert (found.rule, found.severity, found.action) == ("judge_failed", "medium", "flagged")
    assert result.value == "fine"
    bench.replies.clear()
    assert not client.chat("m", "hello", policy=judged("llama-guard3", on=side)).report.findings


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_judge_has_its_own_time(bench: Bench, on_error: str) -> None:
    """The clock passes it in the middle of the verdict: hung up on, and the rule applies. The call has its own."""
    now = [0.0]

    def late(seen: SeenRequest) -> Reply:
        now[0] += 11.0
        reply: Reply = chat("safe" + " " * 40)(seen)
        return reply

    bench.replies[""] = late
    with Client(Settings(host=bench.server.url)) as client:
        client._context = replace(client._context, clock=lambda: now[0])
        ask: Callable[[], Any] = lambda: client.chat(  # noqa: E731
            "m", "hello", policy=judged("llama-guard3", timeout_s=10, on_error=on_error)
        )
        if on_error == "closed":
            with pytest.raises(GuardBlocked, match="no verdict within 10 s"):
                ask()
            assert not bench.asked("m")
        else:
            result = ask()
            assert [found.detail for found in result.report.findings] == ["llama-guard3: no verdict within 10 s"]
            assert [attempt.outcome for attempt in result.report.attempts] == ["valid"]


def test_a_long_text_is_judged_in_pieces_and_none_of_it_is_left_out(client: Client, bench: Bench) -> None:
    """What the judge cannot see at once it sees in parts that overlap; one unsafe part makes the text unsafe."""
    text = "".join(f"{at:05}-" for at in range(1000))  # 6,000 tokens for a window of 4,096
    policy = {**judged("llama-guard3"), "context": "middle_out"}
    assert not client.chat("m", "sum up", documents=[text], policy=policy).report.findings
    parts = [asked["messages"][0]["content"] for asked in bench.asked("llama-guard3")][1:]
    assert len(parts) == 2
    assert all(any(f"{at:05}-" in part for part in parts) for at in range(1000))
    assert all(asked["options"]["num_ctx"] == 4096 for asked in bench.asked("llama-guard3"))
    bench.replies["00900"] = UNSAFE["llama-guard3"]
    found = client.chat("m", "sum up", documents=[text + "!"], policy=policy).report.findings
    assert [(item.rule, item.source, item.span) for item in found] == [("unsafe", "document 0", (0, 6001))]


@settings(deadline=None, max_examples=examples(100))
@given(st.integers(0, 20_000), st.integers(1, 5_000))
def test_pieces_cover_a_text_or_are_none(length: int, limit: int) -> None:
    """Each fits, each place is in one, and neighbors share enough for a sentence."""
    text = "".join(chr(0x4E00 + at) for at in range(length))
    parts = judge.pieces(text, lambda part: len(part) <= limit)
    if not parts:
        assert limit < 4 * judge.OVERLAP + 1
        return
    assert all(len(part) <= limit for part in parts)
    ends = 0
    for part in parts:
        start = text.index(part)
        assert start <= max(0, ends - judge.OVERLAP)
        ends = start + len(part)
    assert ends == length


def test_a_text_beyond_all_pieces_is_not_judged(client: Client, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, by the rule, and no request is spent on a part of it."""
    monkeypatch.setattr(judge, "MOST_PIECES", 1)
    policy = {**judged("llama-guard3"), "context": "middle_out"}
    with pytest.raises(GuardBlocked, match="too long for its window"):
        client.chat("m", [], documents=["x" * 6000], policy=policy)
    assert not bench.asked("llama-guard3")


# -- around it


def test_a_judge_that_the_server_lacks_is_said_before_anything_is_sent(client: Client, bench: Bench) -> None:
    """A set-up that cannot work is no failure to judge: not even "open" hides it."""
    bench.server.on("POST", "/api/show", error(404, "model 'gone' not found"))
    with pytest.raises(ModelMissing):
        client.chat("m", "hello", policy=judged("gone", on_error="open"))
    assert not bench.server.seen("POST", "/api/chat")


def test_a_judge_that_the_server_forwards_is_refused(client: Client, bench: Bench) -> None:
    """The text would leave this machine with the judge as it would with the model."""
    bench.server.on(
        "POST", "/api/show", show(info=byte_vocabulary(), remote_host="https://ollama.com", remote_model="g")
    )
    with pytest.raises(RemoteHostRefused):
        client.chat("m", "hello", policy=judged("plain"))
    assert not bench.server.seen("POST", "/api/chat")


def test_a_stream_shows_nothing_of_the_judge(client: Client, bench: Bench) -> None:
    """Its words are no part of the answer; hooks hear no characters of it either."""
    streamed = list(client.stream("m", "hello", policy=judged("llama-guard3", on="both")))
    assert "".join(piece.text for piece in streamed if isinstance(piece, Delta)) == "fine"
    assert len(bench.asked("llama-guard3")) == 2


def test_an_awaited_call_is_judged_too(bench: Bench) -> None:
    """The same flow."""
    bench.replies["bomb"] = UNSAFE["llama-guard3"]

    async def ask() -> None:
        async with AsyncClient(Settings(host=bench.server.url)) as client:
            assert (await client.chat("m", "bomb", policy=judged("llama-guard3"))).report.findings
            with pytest.raises(GuardBlocked):
                await client.chat("m", "bomb", policy=judged("llama-guard3", action="block"))

    asyncio.run(ask())


def test_a_refusal_is_on_record_with_the_attempt_that_it_withheld(bench: Bench, tmp_path: Any) -> None:
    """The audit's row says that the judge blocked, and which reply nobody got."""
    bench.replies["fine"] = UNSAFE["llama-guard3"]
    settings = Settings(host=bench.server.url, audit=str(tmp_path / "audit.sqlite3"))
    with Client(settings) as client, pytest.raises(GuardBlocked):
        client.chat("m", "hello", policy=judged("llama-guard3", on="output", action="block"))
    (row,) = read_rows(tmp_path / "audit.sqlite3")
    assert (row.verdict, row.output_sha256, len(row.attempts)) == ("guard.blocked", "", 1)
    assert row.findings[0]["stage"] == "judge"


def test_the_cache_forgets_the_least_used_and_keeps_no_text() -> None:
    """A bound on what a long-lived client holds."""
    cache = JudgeCache(2)
    for key in "ab":
        cache.put(key, JudgeVerdict(True, raw="TEXT"))
    assert cache.get("a") == JudgeVerdict(True)
    cache.put("c", JudgeVerdict(False))
    assert (cache.get("b"), cache.get("c")) == (None, JudgeVerdict(False))
    assert cache.get("a") is not None
