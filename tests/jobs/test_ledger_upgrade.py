"""A batch that the version before left unfinished continues: only what its ledger does not hold is asked for.

The files of tests/data/ledgers were written by the commands of 76efa57, whose keys hold `repr(policy)`, against a
server that failed after two chunks of five, or five requests of fourteen:

    wechat summarize synthetic_zh_group_delivery.jsonl --zone +08:00 --model m --parallel 1 --out DIR     (3,000 tokens)
    contract extract purchase_contract.txt --policy strict --model m --parallel 1 --out DIR               (6,000 tokens)

A changed prompt, schema or question makes other tasks: then these files have had their time.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ollama_kit.cli.main import main
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private import redaction
from ollama_kit.jobs.ledger import Ledger, Outcome, former_task_key, task_key
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat, show

ROOT = Path(__file__).parents[2]
LEDGERS = ROOT / "tests" / "data" / "ledgers"
KEPT = ".ollama-kit-ledger.sqlite"
CHAT = ROOT / "tests" / "data" / "chat" / "chatlab" / "synthetic_zh_group_delivery.jsonl"
WECHAT = ("wechat", "summarize", str(CHAT), "--zone", "+08:00")
CONTRACT = ("contract", "extract", str(ROOT / "examples" / "contracts" / "purchase_contract.txt"), "--policy", "strict")


def noting(seen: SeenRequest) -> Reply:
    """One topic, which rests on the first message shown; what the model of the version before said too."""
    ids = re.findall(r"\[(m\d+)\]", seen.json["messages"][-1]["content"])
    topic = {"title": "读过的部分", "summary": f"{len(ids)} 条消息", "messages": ids[:1]}
    return chat(json.dumps({"topics": [topic], "todos": [], "questions": []}, ensure_ascii=False), piece=4000)(seen)


def empty(seen: SeenRequest) -> Reply:
    """No answer to any question."""
    return chat(json.dumps({name: [] for name in seen.json["format"]["properties"]}), piece=4000)(seen)


@contextmanager
def model(window: int, answer: Callable[[SeenRequest], Reply]) -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(
            info=byte_vocabulary(), template=CHATML, parameters=f"num_ctx {window}", context_length=100_000
        )
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/generate", show())
        server.always("POST", "/api/chat", answer)
        yield server


def asked(server: ScriptedServer, folder: Path, *command: str) -> list[str]:
    """Runs a command that writes into `folder`; what it asks of the model, in the order of arrival."""
    before = len(server.seen("POST", "/api/chat"))
    more = ("--model", "m", "--parallel", "1", "--out", str(folder), "--host", server.url)
    assert main([*command, *more]) == 0
    prompts = [seen.json["messages"] for seen in server.seen("POST", "/api/chat")[before:]]
    # The fence's key is another in each run.
    return [re.sub(r"[0-9a-f]{8,}", "KEY", json.dumps(one, ensure_ascii=False)) for one in prompts]


def written(folder: Path) -> dict[str, bytes]:
    """The files by name. What the guard found under a rule that has another name today keeps the name it had."""
    files = (path for path in folder.iterdir() if path.name != KEPT and path.suffix != ".xlsx")
    return {path.name: path.read_bytes().replace(b"labelled_name", b"labeled_name") for path in files}


@pytest.mark.parametrize(
    ("name", "window", "answer", "command", "total", "done"),
    [("wechat", 3_000, noting, WECHAT, 5, 2), ("contract", 6_000, empty, CONTRACT, 14, 5)],
)
def test_an_unfinished_batch_of_the_version_before_continues(
    name: str, window: int, answer: Callable[[SeenRequest], Reply], command: tuple[str, ...], total: int, done: int,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What is missing is asked for, and nothing else; the files are those of a batch from its beginning, by the kinds
    of private data that the guard looked for then: what it finds today was not noted of what was read before."""
    then = tuple(entry for entry in redaction.FINDERS if entry[0].__name__ != "find_postal_addresses")
    monkeypatch.setattr(redaction, "FINDERS", then)
    (tmp_path / "half").mkdir()
    shutil.copyfile(LEDGERS / f"{name}-0.1.0.sqlite", tmp_path / "half" / KEPT)
    with model(window, answer) as server:
        whole = asked(server, tmp_path / "whole", *command)
        missing = asked(server, tmp_path / "half", *command)
        assert asked(server, tmp_path / "half", *command) == []
    assert len(whole) == total
    assert missing == whole[done:]
    assert written(tmp_path / "half") == written(tmp_path / "whole")


def test_another_policy_does_not_take_what_was_done_under_the_former_one(tmp_path: Path) -> None:
    shutil.copyfile(LEDGERS / "wechat-0.1.0.sqlite", tmp_path / KEPT)
    with model(3_000, noting) as server:
        assert len(asked(server, tmp_path, *WECHAT, "--policy", "strict")) == 5
        assert len(asked(server, tmp_path, *WECHAT)) == 3


def test_what_was_kept_under_its_former_name_is_renamed() -> None:
    """Once; what is kept under the new name counts before it, and the work is counted once."""
    parts = ["digest", Policy(), "prompt"]
    key, former = task_key("wechat", parts), former_task_key("wechat", parts)
    assert former is not None
    assert former == task_key("wechat", ["digest", repr_of_then(), "prompt"])
    with Ledger(":memory:", "wechat") as ledger:
        ledger.write(Outcome(former, "a", True, {"n": 1}, 2.0, 100))
        assert ledger.find(key) is None
        assert ledger.find(key, former) == Outcome(key, "a", True, {"n": 1}, 2.0, 100)
        assert ledger.find(key) is not None
        assert ledger.find(former) is None
        assert ledger.speeds() == {"tokens": 100, "seconds": 2.0, "tasks": 1}
        ledger.write(Outcome(former, "a", True, {"n": 2}))
        assert ledger.find(key, former) == Outcome(key, "a", True, {"n": 1}, 2.0, 100)
    with Ledger(":memory:", "contract") as other:
        other.write(Outcome(former, "a", True, {"n": 1}))
        assert other.find(key, None) is None


def repr_of_then() -> str:
    return (
        "Policy(name='custom', normalise='on', secrets='redact', personal='flag', injection='flag', "
        "control_tokens='break', markup='disarm', fence='on', context='error', evidence='error', leak='flag', "
        "on_failure='error', injection_threshold=None, max_context=None, attempts=3, max_seconds=None, "
        "max_tokens=None, judge=None, scanners=None, image_side=1536, image_megapixels=50.0, image_megabytes=20.0)"
    )
