"""One client, many callers at once."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ollama_kit import AsyncClient, Client
from ollama_kit.settings import Settings
from tests.answers import Reply, SeenRequest, chat
from tests.scripted import ScriptedServer

CALLERS, CALLS = 8, 5
SCHEMA = {
    "type": "object",
    "required": ["who", "secret"],
    "properties": {"who": {"type": "integer"}, "secret": {"type": "string"}},
}


def answer(seen: SeenRequest) -> Reply:
    """Says who asked, and puts the placeholder of his secret in; every third time nonsense first."""
    if seen.json["options"]["seed"] % 3 == 0:
        return chat("no JSON")(seen)
    asked = seen.json["messages"][1]["content"]
    who = int(asked.split("caller ")[1].split(".")[0])
    return chat(json.dumps({"who": who, "secret": "[PASSWORD_1]"}), piece=3)(seen)


def question(who: int, call: int) -> tuple[str, dict[str, Any]]:
    return f"I am caller {who}. 密码：hidden-{who}-{call}!", {"schema": SCHEMA, "options": {"seed": who * 10 + call}}


def profiled(server: ScriptedServer) -> list[tuple[str, str]]:
    """What was asked to know the model."""
    return [call for call in server.calls if call[1] != "/api/chat"]


ONCE = [("GET", "/api/version"), ("GET", "/api/tags"), ("POST", "/api/show"), ("POST", "/api/show")]


def test_threads_share_a_client_and_each_gets_its_own_answer(scripted: ScriptedServer) -> None:
    """No answer, placeholder or attempt of one call in another; the model is asked about once."""
    scripted.always("POST", "/api/chat", answer)
    together = threading.Barrier(CALLERS)
    with Client(Settings(host=scripted.url)) as client:

        def work(who: int) -> list[Any]:
            together.wait(30)
            found = []
            for call in range(CALLS):
                asked, how = question(who, call)
                result = client.chat("m", asked, **how)
                assert all(attempt.seed in (who * 10 + call, who * 10 + call + 1) for attempt in result.report.attempts)
                found.append(result.value)
            return found

        with ThreadPoolExecutor(CALLERS) as pool:
            answers = list(pool.map(work, range(CALLERS)))
    for who, found in enumerate(answers):
        assert found == [{"who": who, "secret": f"hidden-{who}-{call}!"} for call in range(CALLS)]
    assert profiled(scripted) == ONCE


def test_tasks_share_an_awaited_client(scripted: ScriptedServer) -> None:
    """As threads share the other."""
    scripted.always("POST", "/api/chat", answer)

    async def work() -> list[Any]:
        async with AsyncClient(Settings(host=scripted.url)) as client:

            async def ask(who: int) -> Any:
                asked, how = question(who, 0)
                return (await client.chat("m", asked, **how)).value

            return await asyncio.gather(*map(ask, range(CALLERS)))

    assert asyncio.run(work()) == [{"who": who, "secret": f"hidden-{who}-0!"} for who in range(CALLERS)]
    assert profiled(scripted) == ONCE


def test_a_client_can_be_used_again_after_it_was_closed(scripted: ScriptedServer) -> None:
    """Closing ends the connections; the next call opens new ones."""
    scripted.always("POST", "/api/chat", chat("hi"))
    client = Client(Settings(host=scripted.url))
    assert client.chat("m", "x").value == "hi"
    client.close()
    client.close()
    assert client.chat("m", "x").value == "hi"
    client.close()
    assert scripted.connection_count == 2
