"""`context: map_reduce`: a text that does not fit is read in parts, and a hook puts the answers together."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ollama_kit import Client, Document, Result
from ollama_kit.errors import ContextOverflow, UsageError
from tests.guard.conftest import Say
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat

QUOTES = {
    "type": "object",
    "required": ["quote"],
    "properties": {"quote": {"type": "string", "x-evidence": True}},
}
LONG = "".join(f"第{number}条 甲方应在{number}日内付款。\n" for number in range(1, 400))
POLICY = {"context": "map_reduce"}


def quoting(seen: SeenRequest) -> Reply:
    """Quotes the first whole line of the part that it is shown."""
    shown = re.search(r"第\d+条 甲方应在\d+日内付款。", seen.json["messages"][-1]["content"])
    assert shown
    return chat(f'{{"quote": "{shown[0]}"}}', piece=400)(seen)


def test_every_character_is_in_exactly_one_part(client: Client, scripted: ScriptedServer) -> None:
    """The parts are the whole text, in order; every place is in the caller's own document."""
    scripted.always("POST", "/api/chat", quoting)

    def reduce(results: Sequence[Result]) -> list[str]:
        return [result.value["quote"] for result in results]

    result = client.chat("m", "引用一句", documents=Document(LONG), schema=QUOTES, policy=POLICY, reduce=reduce)
    sent = [seen.json["messages"][-1]["content"] for seen in scripted.seen("POST", "/api/chat")]
    parts = [re.search(r"\[document \w+ [^\]]*\]\n(.*)\n\[end", text, re.DOTALL) for text in sent]
    assert "".join(part[1] for part in parts if part) == LONG
    assert len(sent) == len(result.value) > 3
    assert result.report.notes[0] == f"read in {len(sent)} parts"
    for evidence in result.evidence:
        assert evidence.span is not None
        assert LONG[slice(*evidence.span)] == evidence.quote
    assert len({evidence.span for evidence in result.evidence}) == len(sent)


def test_what_fits_is_read_at_once(client: Client, scripted: ScriptedServer) -> None:
    """One request, and the hook is not asked."""
    scripted.always("POST", "/api/chat", quoting)
    result = client.chat("m", "引用", documents=LONG[:300], schema=QUOTES, policy=POLICY, reduce=lambda results: None)
    assert result.value["quote"].startswith("第1条")
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_without_a_hook_nothing_is_sent(client: Client, scripted: ScriptedServer) -> None:
    """The policy needs somebody who puts the parts together."""
    with pytest.raises(UsageError, match="no `reduce`"):
        client.chat("m", "x", documents=LONG, policy=POLICY)
    assert not scripted.seen("POST", "/api/chat")


def test_a_question_that_does_not_fit_is_not_cut(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """It is not the document that is too long."""
    for documents in ((), ("kurz",)):
        with pytest.raises(ContextOverflow):
            client.chat("m", LONG, documents=documents, policy=POLICY, reduce=lambda results: None)
    assert not scripted.seen("POST", "/api/chat")
