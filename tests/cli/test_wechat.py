"""`wechat summarize` as a script runs it every night."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_kit.tokens.store import forget_loaded
from tests.cli.conftest import Run
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.jobs.wechat.test_job import Knowing, gold, messages_of
from tests.scripted import ScriptedServer, chat, error, lines, show

CHAT = Path(__file__).parents[1] / "data" / "chat" / "chatlab" / "synthetic_zh_group_delivery.jsonl"


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    """A server whose model `m` knows the gold answers of the delivery group; 8,192 bytes of window."""
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 8192", context_length=100_000)
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/generate", lines({"response": "x", "done": True}))
        answers = gold("A_zh_group_delivery")
        server.always("POST", "/api/chat", Knowing(answers, messages_of("zh_group_delivery")))
        yield server


def test_a_chat_becomes_markdown_on_stdout(run: Run, model: ScriptedServer) -> None:
    """Topics, to-dos and questions, in the chat's language."""
    told = run("wechat", "summarize", str(CHAT), "--model", "m", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 0, told.stderr
    assert "待办" in told.stdout
    assert "支付回调" in told.stdout


def test_a_folder_gets_every_format_and_a_second_run_asks_nothing(
    run: Run, model: ScriptedServer, project: Path
) -> None:
    """The same bytes both times: the ledger in the folder has every chunk."""
    command = ("wechat", "summarize", str(CHAT), "--model", "m", "--out", "总结")
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    written = {path.name: path.read_bytes() for path in (project / "总结").iterdir() if path.suffix != ".sqlite"}
    kinds = {Path(name).suffix for name in written if not name.startswith(".")}
    assert kinds == {".md", ".json", ".html", ".ics", ".csv"}
    asked = len(model.seen("POST", "/api/chat"))
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    again = {path.name: path.read_bytes() for path in (project / "总结").iterdir() if path.suffix != ".sqlite"}
    assert {k: v for k, v in again.items() if not k.startswith(".")} == {
        k: v for k, v in written.items() if not k.startswith(".")
    }
    assert len(model.seen("POST", "/api/chat")) == asked


def test_an_estimate_sends_no_message(run: Run, model: ScriptedServer) -> None:
    """Chunks, tokens and minutes."""
    told = run("wechat", "summarize", str(CHAT), "--model", "m", "--estimate", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 0
    assert "50 messages" in told.stdout
    assert not model.seen("POST", "/api/chat")
    assert "支付" not in model.seen("POST", "/api/generate")[0].body.decode()


def test_what_could_not_be_covered_is_exit_code_1(run: Run, model: ScriptedServer) -> None:
    """With the reason on stderr, and in --json."""
    model.always("POST", "/api/chat", chat("不知道"))
    told = run("wechat", "summarize", str(CHAT), "--model", "m", "--json", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 1
    assert "not covered" in told.stderr
    coverage = json.loads(told.stdout)["chats"][0]["coverage"]
    assert (coverage["covered"], coverage["messages"]) == (0, 50)


def test_a_server_that_is_busy_for_good_is_exit_code_3(run: Run, model: ScriptedServer) -> None:
    """What was done stays in the ledger."""
    model.always("POST", "/api/chat", error(500, "out of memory"))
    told = run("wechat", "summarize", str(CHAT), "--model", "m", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 3
    assert "out of memory" in told.stderr


def test_a_selection_that_means_nothing_and_a_wrong_date_are_said(run: Run, model: ScriptedServer) -> None:
    """Exit code 2, before anything is asked of the server."""
    host = {"OLLAMA_HOST": model.url}
    nothing = run("wechat", "summarize", str(CHAT), "--model", "m", "--since", "2030-01-01", env=host)
    assert nothing.returncode == 2
    assert "no messages match --since/--until/--group/--with (50 were read)" in nothing.stderr
    wrong = run("wechat", "summarize", str(CHAT), "--model", "m", "--since", "someday", env=host)
    assert wrong.returncode == 2
    assert not model.seen("POST", "/api/chat")


def test_a_policy_that_there_is_none_of_is_told_before_the_model_is_asked(run: Run, model: ScriptedServer) -> None:
    """With the nearest name; exit code 2."""
    command = ("wechat", "summarize", str(CHAT), "--model", "m", "--policy", "standart")
    told = run(*command, env={"OLLAMA_HOST": model.url})
    assert told.returncode == 2
    assert "'standard'" in told.stderr
    assert model.seen("POST", "/api/chat") == []


def test_an_estimate_says_where_its_speed_comes_from(run: Run, model: ScriptedServer, project: Path) -> None:
    """Measured just now, or known from what was done."""
    command = ("wechat", "summarize", str(CHAT), "--model", "m", "--out", "o")
    assert "just measured" in run(*command, "--estimate", env={"OLLAMA_HOST": model.url}).stdout
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    after = run(*command, "--estimate", env={"OLLAMA_HOST": model.url})
    assert "at the speed of the work done before" in after.stdout


def test_a_policy_that_says_something_else_is_another_task(run: Run, model: ScriptedServer, project: Path) -> None:
    """What a stricter one refuses is not taken from the ledger."""
    policy = project / "templates" / "policies" / "mine.yaml"
    policy.parent.mkdir(parents=True)
    command = ("wechat", "summarize", str(CHAT), "--model", "m", "--out", "o", "--policy", "mine")
    asked = []
    for leak in ("flag", "flag", "off"):
        policy.write_text(f"policy: 1\nextends: standard\nleak: {leak}\n", encoding="utf-8")
        assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
        asked.append(len(model.seen("POST", "/api/chat")))
    assert asked[0] == asked[1] < asked[2]
