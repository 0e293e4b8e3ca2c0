"""The job on the real server with a random model: valid, or a failure in the coverage, and never a made-up id."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.builder.build import build
from ollama_kit.client import Client
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.wechat.job import JOB, WeChatJob
from ollama_kit.jobs.wechat.readers.read_chat import read_messages
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec
from tests.realserver.process import RealServer

DATA = Path(__file__).parents[2] / "data" / "chat" / "chatlab"
SPEC = "spec: 1\nfrom: {base}\ncontext: 4096\n"
POLICY = "policy: 1\nextends: standard\nattempts: 2\nmax_tokens: 120\n"


@pytest.mark.parametrize("name", ["zh_group_injection", "en_mixed_group"])
def test_every_message_is_covered_or_listed(
    real_server: RealServer, tiny_smollm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What a model without sense writes is an answer by the schema, or a failure with its reason."""
    (tmp_path / "modelfiles").mkdir()
    (tmp_path / "modelfiles" / "dull.yaml").write_text(SPEC.format(base=tiny_smollm), encoding="utf-8")
    (tmp_path / "templates" / "policies").mkdir(parents=True)
    (tmp_path / "templates" / "policies" / "short.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    messages = list(read_messages(DATA / f"synthetic_{name}.jsonl"))
    with Server.at(real_server.url, {}) as server:
        build(load_spec("dull"), server)
    with Client(Settings(host=real_server.url)) as client, Ledger(tmp_path / "ledger.sqlite", JOB) as ledger:
        job = WeChatJob(client, "dull", ledger, policy="short")
        estimate = job.estimate(messages)
        (summary,) = job.summarize(messages)
    coverage = summary.coverage
    assert (estimate.messages, estimate.chunks) == (len(messages), coverage.chunks)
    assert estimate.seconds > 0
    lost = [key for failure in coverage.failures for key in failure.messages]
    assert coverage.covered + len(lost) == len(messages)
    assert all(failure.code == "output.invalid" for failure in coverage.failures)
    known = {message.id for message in messages}
    for item in (*summary.topics, *summary.todos, *summary.questions):
        assert set(item.messages) <= known
