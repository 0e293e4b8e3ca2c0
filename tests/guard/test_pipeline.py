"""One list of stages: what a policy turns on, how a stage is added, and that every kind of call runs the same ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ollama_kit import Client, plugins
from ollama_kit.audit.log import read_rows
from ollama_kit.errors import GuardBlocked, PlugInError, SpecError
from ollama_kit.guard.exchange import Event, Finished
from ollama_kit.guard.options import CALL_OPTIONS, Words
from ollama_kit.guard.passage import Passage
from ollama_kit.guard.pipeline import BEFORE, STAGES, Pipeline, Stage, StageContext, all_stages, stage_options
from ollama_kit.guard.policy import load_policy, policy_options
from ollama_kit.guard.scan import scan
from ollama_kit.records.report import Finding
from ollama_kit.settings import Settings
from tests.distributions import install
from tests.guard.conftest import byte_vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, as_json, chat, show, tags

PHONE = "call 13912345678 about it"


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A model `m` that answers and embeds, and a judge that finds the word "evil" unsafe."""
    with ScriptedServer(models=["m:latest", "llama-guard3:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest", "llama-guard3:latest"))
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template="", parameters="num_ctx 4096"))
        server.always("POST", "/api/chat", answer)
        server.always("POST", "/api/embed", lambda seen: as_json({"embeddings": [[1.0]] * len(seen.json["input"])}))
        yield server


def answer(seen: SeenRequest) -> Reply:
    if seen.json["model"] == "m":
        said = "fine"
    else:
        said = "unsafe\nS1" if "evil" in seen.json["messages"][-1]["content"] else "safe"
    made = chat(said)
    return made(seen) if callable(made) else made


def test_a_pipeline_can_be_printed() -> None:
    """In the order in which a text meets the stages, each with what the policy says about it."""
    lines = str(Pipeline.of(load_policy("standard"))).splitlines()
    order = [stage.name for stage in STAGES]
    names = [line.split()[0] for line in lines]
    assert names == [name for name in order if name in names]
    assert "normalize        input   argument, document, name, tool, turn, user" in lines[0]
    assert "secrets: redact, personal: flag" in lines[1]


def test_every_key_of_a_policy_is_a_stages_or_the_calls() -> None:
    """And no key belongs to two stages but `scanners`, which looks at both ends."""
    keys = [key for stage in STAGES for key in stage.keys]
    assert sorted(key for key in set(keys) if keys.count(key) > 1) == ["scanners"]
    assert set(policy_options()) == {*keys, *CALL_OPTIONS}
    assert not set(CALL_OPTIONS) & set(stage_options())


def test_what_ships_is_what_the_list_says() -> None:
    """Stages come through entry points: none is missing there, none is in another place."""
    assert all_stages() == STAGES
    assert set(BEFORE.values()) <= {stage.name for stage in STAGES}


def test_a_key_of_an_earlier_version_is_read_and_said() -> None:
    with pytest.warns(FutureWarning, match="`normalise` is spelled `normalize` now"):
        policy = load_policy({"normalise": "off"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert policy == load_policy({"normalize": "off"})


# -- each kind of call


def test_an_embedding_is_judged_reported_and_put_on_record(scripted: ScriptedServer, tmp_path: Path) -> None:
    """Before December 2026 a text to embed met neither judge nor scanners, hooks nor audit."""
    heard: list[Event] = []
    path = tmp_path / "audit.db"
    policy = {"judge": {"model": "llama-guard3"}}
    with Client(Settings(host=scripted.url, audit=str(path)), hooks=[heard.append]) as client:
        result = client.embed("m", ["good", "evil"], policy=policy)
    assert [finding.stage for finding in result.report.findings] == ["judge"]
    assert [event.verdict for event in heard if isinstance(event, Finished)] == ["valid"]
    assert [(row.model, row.verdict) for row in read_rows(path)] == [("m", "valid")]


def test_a_judge_that_blocks_lets_nothing_be_embedded(scripted: ScriptedServer) -> None:
    policy = {"judge": {"model": "llama-guard3", "action": "block"}}
    with Client(Settings(host=scripted.url)) as client, pytest.raises(GuardBlocked):
        client.embed("m", ["good", "evil"], policy=policy)
    assert not scripted.seen("POST", "/api/embed")


def test_scanners_that_are_not_there_stop_an_embedding_as_they_stop_a_chat(scripted: ScriptedServer) -> None:
    """Nothing is sent unscanned: the error is the same."""
    policy = {"scanners": {"input": [{"name": "t", "scanner": "Toxicity"}], "max_chars": 1}}
    said = []
    with Client(Settings(host=scripted.url)) as client:
        for call in (partial(client.embed, "m", ["long"]), partial(client.chat, "m", "long")):
            with pytest.raises(Exception) as caught:
                call(policy=policy)
            said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]
    assert not scripted.seen("POST", "/api/embed")


def test_every_kind_of_call_hides_the_same(scripted: ScriptedServer) -> None:
    """chat, generate, stream, embed and scan: one list, one verdict."""
    policy = {"personal": "redact"}
    with Client(Settings(host=scripted.url)) as client:
        client.chat("m", PHONE, policy=policy)
        client.embed("m", [PHONE], policy=policy)
        for _ in client.stream("m", PHONE, policy=policy):
            pass
    sent = [str(seen.json) for seen in scripted.requests if seen.path in ("/api/chat", "/api/embed")]
    assert len(sent) == 3
    assert all("[PHONE_1]" in body and "13912345678" not in body for body in sent)
    assert [finding.rule for finding in scan(PHONE, load_policy(policy)).findings] == ["mobile"]


# -- a stage of one's own

MODULE = """
from ollama_kit.guard.options import Words
from ollama_kit.guard.pipeline import Stage

def run(passage, context):
    {body}

STAGE = Stage("{name}", "input", run, {{"{key}": Words(("flag", "off"), "flag")}})
"""


def add_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, key: str, body: str = "return passage"
) -> None:
    """Installs a distribution with one stage, in a module of a name that no other test has."""
    module = f"stage_{tmp_path.name}"
    install(tmp_path, f"kit-{name}", {plugins.STAGES: {name: f"{module}:STAGE"}}, {module: MODULE.format(**locals())})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(plugins.VARIABLE, "all")
    monkeypatch.setattr(plugins, "_named", set())
    plugins._sort_out.cache_clear()


def test_adding_a_stage_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands where texts are still as they were written, and its key is one of every policy."""
    add_stage(tmp_path, monkeypatch, "shouting", "shouting")
    names = [stage.name for stage in all_stages()]
    assert names[names.index("control_tokens") - 1] == "shouting"
    assert "shouting" in policy_options()
    assert load_policy({"shouting": "off"}).shouting == "off"
    monkeypatch.setenv(plugins.VARIABLE, "none")
    with pytest.raises(SpecError, match="unknown stage or option 'shouting'"):
        load_policy({"shouting": "off"})


@pytest.mark.parametrize("key", ["secrets", "attempts"])
def test_a_key_that_another_has_is_not_taken(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_stage(tmp_path, monkeypatch, "grabbing", key)
    assert all_stages() == STAGES
    assert f"the key '{key}' belongs to another stage" in capsys.readouterr().err


def test_a_stage_that_fails_fails_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer
) -> None:
    """A guard that did not look is no guard: nothing is sent, and the error names the plug-in."""
    add_stage(tmp_path, monkeypatch, "failing", "failing", "raise KeyError('x')")
    with Client(Settings(host=scripted.url)) as client, pytest.raises(PlugInError, match=r"'failing' of kit-failing"):
        client.chat("m", "hello")
    assert not scripted.seen("POST", "/api/chat")


def test_a_stage_sees_the_texts_that_it_names_only() -> None:
    seen: list[str] = []

    def look(passage: Passage, context: StageContext) -> Passage:
        seen.append(passage.source)
        return passage.flag(Finding("looking", "seen", "low", "flagged", passage.source, (0, 1)))

    stage = Stage("looking", "input", look, {"looking": Words(("on",), "on")}, frozenset({"document"}))
    pipeline = replace(Pipeline.of(load_policy("off")), stages=(stage,))
    assert pipeline.clean("a", "document 1", "document").findings[0].rule == "seen"
    assert pipeline.clean("a", "message 1", "user").findings == ()
    assert seen == ["document 1"]
