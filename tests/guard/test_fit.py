"""The prompt fits, whatever was asked: on a model with one token a byte, against brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit import Client, Document, Message
from ollama_kit.errors import ContextOverflow, OutputInvalid
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.fit import PromptCounter, TokenBudget, fit_context
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.sanitize import Draft
from ollama_kit.settings import Settings
from tests.guard.conftest import CHATML, Say, byte_vocabulary
from tests.intensity import examples, times
from tests.scripted import ScriptedServer, chat, show, tags

FENCE = Fence(b"0" * 16)
MEGABYTES = "合同条款 x\n" * times(340_000, ci=70_000)  # five in nightly, one else
RULES = ("error", "drop_oldest", "middle_out", "map_reduce")
TODO = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}


@pytest.fixture(scope="module")
def profile() -> Iterator[Profile]:
    """The byte model: 4,096 tokens of context."""
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest"))
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
        with Client(Settings(host=server.url)) as client:
            yield client.profile("m")


@dataclass
class Counted:
    """PromptCounter that notes how many characters it was given each time."""

    inner: PromptCounter
    lengths: list[int] = field(default_factory=list)

    @property
    def profile(self) -> Profile:
        return self.inner.profile

    def count(self, messages: Sequence[Message], limit: int | None = None) -> Any:
        self.lengths.append(sum(len(message.content) for message in messages))
        return self.inner.count(messages, limit)


turns = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        content=st.text("ab中👦\u200d👩\n。e\u0301", max_size=60),
        keep=st.booleans(),
    ),
    min_size=1,
    max_size=9,
)
documents = st.lists(st.builds(Document, st.text("ab中👦\u200d👩。\n", max_size=400), st.just("d")), max_size=3)
drafts = st.builds(
    lambda turns, documents, fence: Draft(tuple(turns), tuple(documents), fence),
    turns,
    documents,
    st.sampled_from([None, FENCE]),
)
rooms = st.builds(
    TokenBudget,
    answer_tokens=st.one_of(st.none(), st.integers(1, 500)),
    thinks=st.booleans(),
    may_retry=st.booleans(),
    max_context=st.one_of(st.none(), st.integers(64, 900)),
)


@given(drafts, rooms, st.integers(200, 1500), st.sampled_from(RULES))
@settings(deadline=None, max_examples=examples(250))
def test_what_is_sent_fits_and_holds_all_that_must_stay(
    profile: Profile, draft: Draft, room: TokenBudget, window: int, rule: str
) -> None:
    """For every rule: prompt and answer within the window, and no kept turn, system turn or question is lost."""
    counting = PromptCounter(replace(profile, context_tokens=window))
    exact = PromptCounter(counting.profile, exactly=True)
    refused = None
    try:
        fitted = fit_context(draft, room, counting, rule)
    except ContextOverflow as error:
        refused = error
    if refused is not None:
        assert refused.needed_tokens > refused.available_tokens == room.for_prompt(window)
        assert exact.count(draft.messages()).tokens > room.for_prompt(window)
        return
    tokens = exact.count(fitted.messages).tokens
    assert tokens <= fitted.predicted_tokens <= room.for_prompt(window) < window
    assert 0 < fitted.answer_tokens <= window - fitted.predicted_tokens
    if room.answer_tokens is not None:
        most = room.answer_tokens + room.thinking(window)
        assert fitted.answer_tokens == min(most, window - fitted.predicted_tokens)
    must = [turn for at, turn in enumerate(draft.turns) if turn.role == "system" or turn.keep or at == draft.question]
    kept = list(fitted.draft.turns)
    assert [turn for turn in kept if any(turn is one for one in must)] == must
    after = draft.turns[draft.question :] if draft.question is not None else ()
    assert tuple(kept[len(kept) - len(after) :]) == after
    assert len(fitted.draft.documents) == len(draft.documents)
    if rule != "middle_out":
        assert fitted.draft.documents == draft.documents
    if rule in ("error", "map_reduce"):
        assert fitted.draft == draft


def exchanges(draft: Draft) -> list[list[int]]:
    """The exchanges that may go, by their definition: a question, and what followed it."""
    groups: list[list[int]] = []
    for at, turn in enumerate(draft.turns[: draft.question]):
        if turn.role == "system" or turn.keep:
            continue
        if turn.role == "user" or not groups:
            groups.append([])
        groups[-1].append(at)
    return groups


@given(turns, st.integers(100, 700))
@settings(deadline=None, max_examples=examples(200))
def test_drop_oldest_drops_whole_exchanges_and_as_few_as_possible(
    profile: Profile, turns: list[Message], window: int
) -> None:
    """Compared with trying them all, one after the other."""
    draft, room = Draft(tuple(turns)), TokenBudget(answer_tokens=20)
    counting = PromptCounter(replace(profile, context_tokens=window), exactly=True)
    expected = None
    groups = exchanges(draft)
    for count in range(len(groups) + 1):
        gone = {at for group in groups[:count] for at in group}
        left = tuple(turn for at, turn in enumerate(turns) if at not in gone)
        if counting.count(left).tokens <= window - 20:
            expected = left
            break
    try:
        fitted = fit_context(draft, room, counting, "drop_oldest")
    except ContextOverflow:
        assert expected is None
        return
    assert fitted.draft.turns == expected
    if len(fitted.draft.turns) < len(turns):
        assert fitted.dropped["turns"] == len(turns) - len(fitted.draft.turns)
        assert fitted.dropped["tokens"] >= 0
        lost = sum(len(turn.content) for turn in turns) - sum(len(turn.content) for turn in fitted.draft.turns)
        assert fitted.dropped["characters"] == lost


@pytest.mark.parametrize(
    ("letter", "mark"), [("a", "[… {} characters left out …]"), ("中", "［……此处省略 {} 个字符……］")]
)
def test_middle_out_keeps_both_ends_and_says_how_much_is_gone(profile: Profile, letter: str, mark: str) -> None:
    """In the document's language; the longest document only; no character of the room is wasted."""
    text = f"HEAD {letter * 3000} TAIL"
    draft = Draft((Message("user", "Sum it up."),), (Document("short", "s"), Document(text, "long")))
    counting = PromptCounter(replace(profile, context_tokens=1500), exactly=True)
    fitted = fit_context(draft, TokenBudget(answer_tokens=100), counting, "middle_out")
    short, trimmed = fitted.draft.documents
    assert short.text == "short"
    gone = fitted.dropped["characters"]
    head, _, rest = trimmed.text.partition("\n")
    said, _, tail = rest.partition("\n")
    assert text == head + text[len(head) : len(head) + gone] + tail
    assert head.startswith("HEAD")
    assert tail.endswith("TAIL")
    assert said == mark.format(gone)
    assert 1400 - 8 <= fitted.predicted_tokens <= 1400
    assert fitted.dropped["tokens"] > 0


def test_max_context_is_the_plain_truncation_that_scripts_know(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """`drop_oldest` with `max_context`: the newest turns that fit so many tokens, and the system prompt."""
    says("ok")
    talk = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"{at}" * 100} for at in range(21)]
    result = client.chat("m", talk, policy={"context": "drop_oldest", "max_context": 1024})
    sent = scripted.seen("POST", "/api/chat")[0].json["messages"]
    assert result.report.predicted_tokens <= 1024
    assert sent[0] == {"role": "system", "content": "You are terse."}
    assert sent[1:] == talk[-len(sent) + 1 :]
    assert sent[1]["role"] == "user"
    assert result.report.dropped["turns"] == 21 - (len(sent) - 1)


def test_a_question_of_a_tool_keeps_call_and_result(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """What came after the last question belongs to it, and older exchanges go first."""
    says("ok")
    call = {"function": {"name": "read", "arguments": {"path": "a.txt"}}}
    talk = [
        Message("user", "old " * 600),
        Message("assistant", "old"),
        Message("user", "What does a.txt say?"),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "five " * 300, tool_name="read"),
    ]
    result = client.chat("m", talk, policy={"context": "drop_oldest"})
    sent = scripted.seen("POST", "/api/chat")[0].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert "five five" in sent[-1]["content"]
    assert sent[-1]["tool_name"] == "read"
    assert result.report.dropped["turns"] == 2


def test_room_is_held_back_for_answer_thinking_and_feedback(profile: Profile) -> None:
    """What is held back, in tokens of a window of 4,096."""
    assert TokenBudget().reserved(4096) == 512
    assert TokenBudget(thinks=True).reserved(4096) == 512 + 1024
    assert TokenBudget(thinks=True).reserved(16384) == 512 + 2048
    assert TokenBudget(may_retry=True).reserved(4096) == 512 + 256
    assert TokenBudget(answer_tokens=100, thinks=True).reserved(4096) == 100 + 1024
    assert TokenBudget(max_context=1000).for_prompt(4096) == 1000
    assert TokenBudget(max_context=9999).for_prompt(4096) == 4096 - 512


def test_the_prompt_of_a_retry_has_the_room_that_was_held_back(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """A prompt that only just fits can still be told what was wrong, and nothing of it is dropped for that."""
    bound = {"num_predict": 300}
    with pytest.raises(ContextOverflow) as caught:
        client.chat("m", "x" * 4096, schema=TODO, options=bound)
    longest = "x" * (4096 - (caught.value.needed_tokens - caught.value.available_tokens))
    says('{"task": 1}', '{"task": "a"}')
    assert client.chat("m", longest, schema=TODO, options=bound).value == {"task": "a"}
    assert scripted.seen("POST", "/api/chat")[1].json["messages"][1]["content"] == longest


def test_more_room_for_a_cut_answer_is_taken_from_what_is_free(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Up to the whole rest of the window; the prompt stays what it was, and the answer may still be corrected."""
    says(chat('{"task": "a', done_reason="length"), '{"task": 1}', '{"task": "a"}')
    result = client.chat("m", "x" * 800, schema=TODO, options={"num_predict": 1600})
    assert [attempt.outcome for attempt in result.report.attempts] == ["length", "schema", "valid"]
    first, second, third = (seen.json for seen in scripted.seen("POST", "/api/chat"))
    assert first["messages"] == second["messages"] == third["messages"][:-2]
    assert second["options"]["num_predict"] > 3000
    assert third["options"]["num_predict"] == 1600


def test_feedback_for_which_there_is_no_room_ends_in_the_answers_own_failure(client: Client, says: Say) -> None:
    """Not in a ContextOverflow: the prompt did fit. Every attempt is in the error."""
    says('{"task": ["' + "y" * 500 + '"]}')
    fitting = client_room(client)
    with pytest.raises(OutputInvalid, match="no room to say so") as caught:
        client.chat("m", "x" * fitting, schema=TODO, options={"num_predict": 300})
    assert [attempt.outcome for attempt in caught.value.attempts] == ["schema"]


def client_room(client: Client) -> int:
    """How many characters a question may have, with a schema and 300 tokens for the answer."""
    with pytest.raises(ContextOverflow) as caught:
        client.chat("m", "x" * 4096, schema=TODO, options={"num_predict": 300})
    return 4096 - (caught.value.needed_tokens - caught.value.available_tokens)


@pytest.mark.slow
def test_megabytes_are_refused_in_one_line(client: Client, scripted: ScriptedServer) -> None:
    """With both numbers; the server is not asked to chat."""
    with pytest.raises(ContextOverflow) as caught:
        client.chat("m", "Sum it up.", documents=MEGABYTES, policy={"context": "drop_oldest"})
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200
    assert caught.value.needed_tokens > len(MEGABYTES.encode())
    assert not scripted.seen("POST", "/api/chat")


@pytest.mark.slow
def test_megabytes_are_fitted_where_that_is_asked(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """The report says how much is gone."""
    says("ok")
    report = client.chat("m", "Sum it up.", documents=MEGABYTES, policy={"context": "middle_out"}).report
    assert report.predicted_tokens <= 4096
    assert len(MEGABYTES) - 4096 < report.dropped["characters"] < len(MEGABYTES)


@pytest.mark.slow
def test_the_work_of_fitting_goes_with_what_fits(profile: Profile) -> None:
    """Beyond one count of all there is, no more characters are counted for a document ten times as long."""
    spent = []
    for size in (100_000, 1_000_000):
        counted = Counted(PromptCounter(profile))
        draft = Draft((Message("user", "?"),), (Document("x" * size, "d"),))
        fit_context(draft, TokenBudget(), counted, "middle_out")  # type: ignore[arg-type]
        assert counted.lengths[0] >= size
        spent.append(sum(counted.lengths[1:]))
    assert spent[1] <= 1.2 * spent[0] < 40 * 4096
    many = Counted(PromptCounter(profile))
    turns = tuple(Message("user" if at % 2 == 0 else "assistant", "y" * 50) for at in range(20_001))
    fit_context(Draft(turns), TokenBudget(), many, "drop_oldest")  # type: ignore[arg-type]
    assert sum(many.lengths[1:]) < 40 * 4096
