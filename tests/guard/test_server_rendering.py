"""Counting where the server renders in a way of its own: compared on small samples, bounded by what was measured, asked
for as a whole; never on servers that cannot, and never where a Go template runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ollama_kit import Client, Message
from ollama_kit.errors import ContextOverflow, TurnsRefused, UsageError
from ollama_kit.guard.conversation import in_turn
from ollama_kit.guard.fit import PromptCounter
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.server_rendering import ServerRendering
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server.facts import read_show
from ollama_kit.server.wire import JSON, Call
from ollama_kit.settings import Settings
from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.chat_template.template_errors import TemplateRefusal
from ollama_kit.tokens.chat_template.turns import RenderInput, assemble
from ollama_kit.tokens.native.native_prompt import NativeTemplate
from ollama_kit.tokens.prompt import PromptCount, said_tokens
from ollama_kit.tokens.rendering import forget_renderings
from ollama_kit.tokens.store import forget_loaded
from ollama_kit.tokens.tokenizer import Tokenizer
from tests.guard.calling import WAYS, ask
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.models.vocabularies import vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, as_json, chat, error, show
from tests.tokens.recorded import Row, capabilities, cases, jinja_rows, renderer_rows, template, turns

JINJA = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
TASK = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
REFUSED = error(400, '{"error":{"code":400,"message":"Jinja Exception: Conversation roles must alternate"}}')

BYTES = Tokenizer.from_metadata(byte_vocabulary())

Renders = Callable[[dict[str, Any]], str]


def engine_of(source: str) -> Renders:
    """What a server with that template renders."""

    def rendered(body: dict[str, Any]) -> str:
        said = tuple(_turn(message) for message in body["messages"])
        asked = RenderInput(assemble(said), tools=tuple(body.get("tools", ())), think=body["think"])
        return NativeTemplate(source, BYTES.end_tokens).render(asked, datetime.now())

    return rendered


def _turn(message: dict[str, Any]) -> Turn:
    calls = tuple(
        ToolCall(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())
    )
    return Turn(message["role"], message["content"], tool_calls=calls, tool_name=message.get("tool_name", ""))


@contextmanager
def served(
    shown: str = JINJA,
    *,
    version: str = "0.32.15",
    renders: Renders | None = None,
    answers: Any = "fine",
    **fields: Any,
) -> Iterator[ScriptedServer]:
    """A server that shows a template, renders as `renders` does (None: it answers instead), and says `answers`."""
    forget_loaded()
    forget_renderings()
    queue = [answers] if isinstance(answers, str) else list(answers)

    def answer(seen: SeenRequest) -> Reply:
        body = seen.json
        if body.get("_debug_render_only") and renders is not None:
            try:
                text = renders(body)
            except TemplateRefusal:
                return REFUSED
            return as_json({"model": "m", "message": {"role": "", "content": ""}, "done": False,
                            "_debug_info": {"rendered_template": text}})  # fmt: skip
        return chat(queue.pop(0) if len(queue) > 1 else queue[0])(seen)

    fields = {"parameters": "num_ctx 4096", "capabilities": ["completion", "tools"], **fields}
    with ScriptedServer(version=version, models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=shown, **fields))
        server.always("POST", "/api/chat", answer)
        yield server


def asked(server: ScriptedServer) -> list[dict[str, Any]]:
    """The bodies of the renderings that were asked for."""
    return [seen.json for seen in server.seen("POST", "/api/chat") if seen.json.get("_debug_render_only")]


def sent(server: ScriptedServer) -> list[dict[str, Any]]:
    """The bodies of the chats."""
    return [seen.json for seen in server.seen("POST", "/api/chat") if not seen.json.get("_debug_render_only")]


def test_a_native_template_is_compared_once_for_a_model() -> None:
    """One small question for each feature of a conversation, kept on disk: the next process asks nothing."""
    with served(renders=engine_of(JINJA)) as server:
        for round_trip in range(2):
            forget_renderings()
            with Client(Settings(host=server.url), counting="exact") as client:
                for _ in range(2):
                    report = client.chat("m", [Message("system", "s"), Message("user", "hello")]).report
            assert (report.predicted_as, report.predicted_tokens) == ("exact", 1 + 7 + 1 + 2 + 1 + 5 + 5 + 2 + 1 + 9)
            assert len(asked(server)) == 2, round_trip
        with Client(Settings(host=server.url)) as client:
            client.chat("m", [Message("user", "a"), Message("assistant", "b"), Message("user", "c")])
        assert len(asked(server)) == 3
    for body in asked(server):
        assert "hello" not in json.dumps(body)
        assert (body["stream"], body["truncate"], body["shift"]) == (False, False, False)
        assert body["options"] == {"num_ctx": 4096, "num_predict": 1}


def test_what_differs_is_left_to_the_server() -> None:
    """Where its rendering of a sample is another, the server's of the real conversation is counted; what does not
    differ is rendered here."""

    def renders(body: dict[str, Any]) -> str:
        late = any(message["role"] == "system" for message in body["messages"][1:])
        return engine_of(JINJA)(body) + ("<|im_end|>" * 5 if late else "")

    with served(renders=renders) as server, Client(Settings(host=server.url), counting="exact") as client:
        plain = client.chat("m", "hello").report
        odd = client.chat("m", [Message("user", "a"), Message("system", "b"), Message("user", "c")]).report
        again = client.chat("m", [Message("user", "aa"), Message("system", "b"), Message("user", "c")]).report
    assert [report.predicted_as for report in (plain, odd, again)] == ["exact"] * 3
    whole = [body for body in asked(server) if [turn["content"] for turn in body["messages"]][1:] == ["b", "c"]]
    assert len(whole) == 2
    tokens = Tokenizer.from_metadata(byte_vocabulary()).count(renders(whole[0]))
    assert (odd.predicted_tokens, again.predicted_tokens) == (tokens, tokens + 1)


@pytest.mark.parametrize(
    ("version", "shown"),
    [("0.32.15", CHATML), ("0.24.0", CHATML), ("0.11.4", "{{ frobnicate }}"), ("0.9.3", JINJA)],
)
def test_nothing_is_asked_where_a_go_template_runs_or_the_server_is_old(version: str, shown: str) -> None:
    """Every request is one of those that there were before."""
    with served(shown, version=version) as server, Client(Settings(host=server.url), counting="exact") as client:
        client.chat("m", [Message("system", "s"), Message("user", "hello")])
    assert not asked(server)
    assert len(sent(server)) == 1


def test_a_server_that_answers_instead_is_asked_once() -> None:
    """A proxy that drops the question costs one token, and the count says that it is an estimate."""
    with served(renders=None) as server, Client(Settings(host=server.url), counting="exact") as client:
        reports = [client.chat("m", "hello").report for _ in range(3)]
    assert {report.predicted_as for report in reports} == {"approximate"}
    assert len(asked(server)) == 1
    assert asked(server)[0]["options"]["num_predict"] == 1


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_calling_asks_alike(way: str) -> None:
    """Blocking and awaited, whole and streamed."""
    with served(renders=engine_of(JINJA)) as server:
        ended = ask(way, server, messages=[Message("system", "s"), Message("user", "hello")])
        assert ended.value == "fine"
        assert len(asked(server)) == 2


MODELFILE = "FROM /models/blobs/sha256-" + "a" * 64 + "\nTEMPLATE {{ .Prompt }}\nRENDERER qwen3.5\nPARSER qwen3.5\n"


def test_a_renderer_is_measured_once_for_a_shape_and_asked_where_that_is_not_enough() -> None:
    """With room to spare the bound of the shape suffices, and no word of the chat is sent twice; near the limit the
    whole is rendered by the server."""
    renders = engine_of(JINJA)
    with (
        served("{{ .Prompt }}", renders=renders, modelfile=MODELFILE) as server,
        Client(Settings(host=server.url)) as client,
    ):
        first = client.chat("m", "hello" * 20).report
        second = client.chat("m", "x" * 900).report
        assert [body["messages"][0]["content"] for body in asked(server)] == ["x"]
        near = client.chat("m", "y" * 3540).report
        with pytest.raises(ContextOverflow) as overflow:
            client.chat("m", "y" * 3600)
    assert [report.predicted_as for report in (first, second, near)] == ["bound", "bound", "exact"]
    assert second.predicted_tokens == first.predicted_tokens + 800
    assert near.predicted_tokens == 1 + 5 + 3540 + 2 + 1 + 9
    assert overflow.value.needed_tokens == near.predicted_tokens + 60
    assert first.predicted_tokens >= 1 + 5 + 100 + 2 + 1 + 9


def test_before_0_12_6_a_server_may_drop_turns_and_that_is_an_overflow() -> None:
    """It drops what does not fit before it renders: a rendering without one of our turns counts nothing."""

    def renders(body: dict[str, Any]) -> str:
        return engine_of(JINJA)({**body, "messages": body["messages"][-1:]})

    said = [Message("user", "first"), Message("assistant", "b"), Message("user", "last")]
    with served("{{ .Prompt }}", renders=renders, version="0.12.0", modelfile=MODELFILE) as server:
        with Client(Settings(host=server.url), counting="exact") as client, pytest.raises(ContextOverflow):
            client.chat("m", said)
        assert "truncate" not in asked(server)[-1]
    assert not sent(server)


STRICT = template("strict_alternation")


def test_neighbors_are_joined_where_the_server_does_not() -> None:
    """Two texts of the user are one turn, by a blank line, and system turns at the start are one."""
    said = [Message("system", "a"), Message("system", "b"), Message("user", "c"), Message("user", "d")]
    with served(STRICT, renders=engine_of(STRICT)) as server, Client(Settings(host=server.url)) as client:
        client.chat("m", said)
    assert [(turn["role"], turn["content"]) for turn in sent(server)[0]["messages"]] == [
        ("system", "a\n\nb"),
        ("user", "c\n\nd"),
    ]


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ([("user", "a"), ("assistant", "b"), ("system", "c"), ("user", "d")], "message 3 (system)"),
        ([("assistant", "a"), ("user", "b")], "message 1 (assistant)"),
        ([("user", "a"), ("assistant", "b"), ("tool", "c"), ("user", "d")], "message 3 (tool)"),
    ],
)
def test_what_cannot_be_joined_is_refused_before_the_call(said: list[tuple[str, str]], place: str) -> None:
    """With the message, the template's own words and what to do; the server is not asked to chat."""
    with (
        served(STRICT, renders=engine_of(STRICT)) as server,
        Client(Settings(host=server.url)) as client,
        pytest.raises(TurnsRefused, match="roles must alternate") as refused,
    ):
        client.chat("m", [Message(*turn) for turn in said])
    assert place in refused.value.message
    assert refused.value.turn == int(place.split()[1]) - 1
    assert refused.value.hint
    assert not sent(server)


def test_a_refusal_of_a_template_that_is_not_rendered_here_is_the_servers() -> None:
    """Asked for the rendering, it answers 400 with the template's words: an error of ours before the call."""
    beyond = STRICT + "{{ ''|center(2) }}"
    with served(beyond, renders=engine_of(STRICT)) as server, Client(Settings(host=server.url)) as client:
        with pytest.raises(TurnsRefused, match="roles must alternate"):
            client.chat("m", [Message("tool", "b"), Message("user", "c")])
        assert client.chat("m", "hello").report.predicted_as == "bound"
    assert len(sent(server)) == 1


@pytest.mark.parametrize("shown", [STRICT, CHATML, JINJA])
@pytest.mark.parametrize("version", ["0.9.3", "0.32.15"])
def test_a_retry_keeps_user_and_assistant_in_turn(shown: str, version: str) -> None:
    """The failed answer stands between, as the assistant's."""
    answers = ['{"tsk": 1}', "no", '{"task": "x"}']
    called = served(shown, version=version, renders=engine_of(shown), answers=answers)
    with called as server, Client(Settings(host=server.url)) as client:
        assert client.chat("m", "todo?", schema=TASK).value == {"task": "x"}
    first, second, third = ([turn["role"] for turn in body["messages"]] for body in sent(server))
    assert (first, second, third) == (["user"], *[["user", "assistant", "user"]] * 2)
    assert [body["messages"][1]["content"] for body in sent(server)[1:]] == ['{"tsk": 1}', "no"]


def test_a_failed_answer_stands_between_as_far_as_it_fits() -> None:
    """The beginning of one that is too long."""
    long = json.dumps({"tsk": " ".join(f"word{number}" for number in range(400))})
    called = served(JINJA, renders=engine_of(JINJA), answers=[long, '{"task": "x"}'])
    with called as server, Client(Settings(host=server.url)) as client:
        assert client.chat("m", "x" * 1500, schema=TASK, options={"num_predict": 300}).value == {"task": "x"}
    content = sent(server)[1]["messages"][1]["content"]
    assert content.endswith("…")
    assert 500 < len(content) < len(long)
    assert long.startswith(content[:-1])


ROLES = st.sampled_from(["user", "assistant", "system", "tool"])
messages = st.lists(st.tuples(ROLES, st.text("ab\n", max_size=3)).map(lambda turn: Message(*turn)), max_size=6)


@given(messages)
def test_joining_loses_no_text_and_leaves_no_neighbors(said: list[Message]) -> None:
    """Every text is still there, in order; only what tools answered may stand side by side."""
    joined = in_turn(said)
    assert all(one.role != other.role or one.role == "tool" for one, other in pairwise(joined))
    whole = "".join(message.content for message in joined)
    assert whole.replace("\n", "") == "".join(message.content for message in said).replace("\n", "")
    assert in_turn(joined) == joined


def test_tools_are_refused_for_a_model_that_cannot_use_them() -> None:
    """As the server would, but before the call."""
    with (
        served(JINJA, capabilities=["completion"]) as server,
        Client(Settings(host=server.url)) as client,
        pytest.raises(UsageError, match="does not support tools"),
    ):
        client.chat("m", "hello", tools=[TOOL])
    assert not server.seen("POST", "/api/chat")


def test_a_hostile_template_costs_the_count_alone() -> None:
    """What ends in no time here is asked of the server."""
    endless = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}" + JINJA
    with (
        served(endless, renders=engine_of(JINJA)) as server,
        Client(Settings(host=server.url), counting="exact") as client,
    ):
        assert client.chat("m", "hello").report.predicted_as == "exact"
    assert [len(body["messages"]) for body in asked(server)] == [1]


def test_markers_of_a_jinja_template_are_control_tokens() -> None:
    """What a Jinja template prints around a turn may be written by nobody else, as with a Go template."""
    with served(STRICT, renders=engine_of(STRICT)) as server, Client(Settings(host=server.url)) as client:
        client.chat("m", "a [/INST] b")
    assert "[/INST]" not in sent(server)[0]["messages"][0]["content"]


# -- recorded prompts


def recorded_profile(row: Row, tokenizer: Tokenizer, *, jinja: bool) -> Profile:
    """The model of a recorded row, on the server that it was recorded from."""
    shown = template(row.template) if jinja else "{{ .Prompt }}"
    modelfile = "FROM x\nTEMPLATE {{ .Prompt }}\n" + ("" if jinja else f"RENDERER {row.template.split()[0]}\n")
    reply = {"template": shown, "modelfile": modelfile, "capabilities": sorted(capabilities(row.template)),
             "model_info": {"general.architecture": "qwen3"}}  # fmt: skip
    facts = read_show("m", reply, digest=row.template)
    return Profile(facts, tokenizer, ServerVersion(0, 32, 15), 2048, "the model's num_ctx", "http://127.0.0.1:1")


def recorded_messages(row: Row) -> tuple[Message, ...]:
    return tuple(
        Message(turn.role, turn.content, tool_name=turn.tool_name, tool_calls=tuple(
            {"function": {"name": call.name, "arguments": call.arguments}} for call in turn.tool_calls))
        for turn in turns(row.case)
    )  # fmt: skip


def counted(row: Row, profile: Profile, answer: Callable[[Call], JSON]) -> PromptCount:
    """The count of a recorded case, its server's renderings given by `answer`."""
    server = ServerRendering(profile)
    tools = tuple(cases()["tools"]) if row.tools else ()
    counter = PromptCounter(profile, row.think, tools, exactly=True, server=server)  # type: ignore[arg-type]
    steps = server.answered(lambda: counter.count(recorded_messages(row)))
    reply: Any = None
    while True:
        try:
            reply = answer(steps.send(reply))
        except StopIteration as done:
            found: PromptCount = done.value
            return found


@pytest.fixture(scope="module")
def qwen() -> Tokenizer:
    return Tokenizer.from_metadata(vocabulary("qwen2"))


def test_recorded_renderers_are_counted_by_their_rendering(qwen: Tokenizer) -> None:
    """Every case of fourteen renderers: the count of the rendered text, exact and equal to the server's."""
    rows = [row for row in renderer_rows() if row.rendered is not None and row.counted]
    if not rows:
        pytest.skip("OLLAMA_KIT_WIRE_RENDERERS names no folder with rendered_renderers.jsonl")
    wrong = []
    for row in rows:
        reply = {"_debug_info": {"rendered_template": row.rendered}}
        found = counted(row, recorded_profile(row, qwen, jinja=False), lambda call, reply=reply: reply)  # type: ignore[misc]
        if (found.kind, found.tokens) != ("exact", row.counted):
            wrong.append((row.name, found.tokens, row.counted))
    assert wrong == []
    assert len(rows) == 739


def test_recorded_templates_are_counted_here_once_compared(qwen: Tokenizer) -> None:
    """The five templates against a server that renders the samples alike: no real conversation is sent for counting,
    and each count is the recorded one."""
    forget_renderings()
    whole = []
    for row in jinja_rows():
        if row.rendered is None:
            continue
        profile = recorded_profile(row, qwen, jinja=True)
        texts = {message.content for message in recorded_messages(row)} - {"", "sunny"}

        def answer(call: Call, profile: Profile = profile, row: Row = row, texts: set[str] = texts) -> JSON:
            body = dict(call.body or {})
            whole.extend(message["content"] for message in body["messages"] if message["content"] in texts)
            return {"_debug_info": {"rendered_template": rendered_by_qwen3(body, row, profile)}}

        found = counted(row, profile, answer)
        assert (row.name, found.kind, found.tokens) == (row.name, "exact", row.counted)
    assert whole == []


def rendered_by_qwen3(body: dict[str, Any], row: Row, profile: Profile) -> str:
    """The engine's rendering for a model of the family qwen3."""
    said = assemble(tuple(_turn(message) for message in body["messages"]), strip_thinking=True)
    asked_for = RenderInput(said, tools=tuple(body.get("tools", ())), think=body["think"])
    return NativeTemplate(template(row.template), profile.tokenizer.end_tokens).render(asked_for, datetime.now())


def test_tools_that_were_refused_are_refused_by_capability(qwen: Tokenizer) -> None:
    """The recorded rows "does not support tools": known from /api/show."""
    rows = [row for row in (*jinja_rows(), *renderer_rows()) if row.lacks_tools]
    assert len(rows) >= 40
    for row in rows:
        jinja = row in jinja_rows()
        assert not recorded_profile(row, qwen, jinja=jinja).can_call_tools
    for row in (row for row in jinja_rows() if row.tools and row.rendered):
        assert recorded_profile(row, qwen, jinja=True).can_call_tools


def test_a_shape_that_was_measured_bounds_every_other_of_its_kind(qwen: Tokenizer) -> None:
    """What a template writes around turns of some roles, measured on one recorded case, gives every other case of these
    roles within a tenth; an estimate by the template's text was up to thirty times as much."""
    rows = [
        row for row in (*jinja_rows(), *renderer_rows()) if row.rendered is not None and row.counted and not row.tools
    ]
    shapes: dict[Any, list[Row]] = {}
    for row in rows:
        if not any(turn.tool_calls or turn.role == "tool" for turn in turns(row.case)):
            shapes.setdefault((row.template, row.think, *(turn.role for turn in turns(row.case))), []).append(row)
    estimated = actual = 0
    for measured, *others in shapes.values():
        around = measured.counted - said_tokens(qwen, turns(measured.case))
        for row in others:
            estimate = said_tokens(qwen, turns(row.case)) + around
            assert estimate >= row.counted - 2, (row.name, measured.name)
            estimated, actual = estimated + estimate, actual + row.counted
    assert actual > 1000
    assert estimated <= 1.1 * actual
