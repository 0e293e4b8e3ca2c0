"""What a ledger keeps of hidden values: placeholders, from which a run that resumes gets them back."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from ollama_kit.cli.main import main
from ollama_kit.guard.kept import KeptValues
from ollama_kit.guard.policy import Policy, load_policy
from ollama_kit.jobs.ledger import Ledger, Outcome
from ollama_kit.jobs.runner import Batch, Task
from tests.intensity import examples
from tests.jobs.test_ledger_upgrade import model
from tests.scripted import Reply, SeenRequest, chat

PASSWORD, PHONE = "Tr0ub4dor&3", "13800138000"
TEXT = f"堡垒机密码：{PASSWORD}，电话{PHONE}"
STRICT = Policy().with_settings(personal="redact")

LOOK_ALIKES = ("[PHONE_1]", "[=PHONE_1]", "[PASSWORD_2]", "[LITERAL_1]")
PARTS = (PASSWORD, PHONE, *LOOK_ALIKES, "[", "]", "=", "密码", '"', "\n", "138")
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)


DATA = st.recursive(TEXTS | st.integers() | st.none(), nested)


@settings(deadline=None, max_examples=examples(500))
@given(DATA, st.sampled_from([TEXT, f"[PHONE_1] {TEXT}", f"{TEXT} 写成[PHONE_1]"]))
def test_opening_is_the_inverse_of_sealing(value: Any, text: str) -> None:
    """For any data, placeholders and their look-alikes among it; and no value is in what is sealed."""
    sealed = KeptValues.of(STRICT, (text,)).sealed(value)
    said = json.dumps(sealed, ensure_ascii=False)
    assert PASSWORD not in said
    assert PHONE not in said
    assert KeptValues.of(STRICT, (text,)).opened(sealed) == value


def test_a_policy_that_hides_nothing_keeps_everything_as_it_is() -> None:
    """Nothing is sealed, and nothing has to be opened."""
    kept = KeptValues.of(Policy().with_settings(secrets="off"), (TEXT,))
    assert not kept
    assert kept.sealed([PASSWORD, "[PHONE_1]"]) == [PASSWORD, "[PHONE_1]"]


def test_a_batch_keeps_placeholders_and_gives_values(tmp_path: Path) -> None:
    """In this run and in the next one, which asks for nothing again."""
    path, asked = tmp_path / "ledger.sqlite", []

    def work(payload: str) -> dict[str, str]:
        asked.append(payload)
        return {"said": f"密码是{PASSWORD}"}

    for _ in range(2):
        with Ledger(path, "wechat") as ledger:
            batch = Batch(work, ledger, hidden=lambda text: KeptValues.of(STRICT, (text,)))
            outcomes = batch.run([Task("key", "label", TEXT)])
            assert outcomes["key"].value == {"said": f"密码是{PASSWORD}"}
    assert asked == [TEXT]
    assert PASSWORD.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"[PASSWORD_1]" in path.read_bytes()


def test_what_an_earlier_version_kept_is_read_as_it_is(tmp_path: Path) -> None:
    """It holds values, and a placeholder in it is text."""
    with Ledger(tmp_path / "ledger.sqlite", "wechat") as ledger:
        ledger.write(Outcome("key", "label", True, {"said": f"{PASSWORD} [PHONE_1]"}))
        found = ledger.find("key", hidden=lambda: KeptValues.of(STRICT, (TEXT,)))
    assert found is not None
    assert found.value == {"said": f"{PASSWORD} [PHONE_1]"}


def test_a_job_leaves_no_password_in_its_ledger(tmp_path: Path) -> None:
    """The summary has it, since the chat has; the second run reads the ledger, and writes the same summary."""
    export = tmp_path / "chat.txt"
    export.write_text(f"2026-03-01 10:00:00 孙美仪\n{TEXT}\n\n2026-03-01 10:01:00 林知远\n收到\n", encoding="utf-8")

    def noting(seen: SeenRequest) -> Reply:
        topic = {
            "title": "堡垒机",
            "summary": "密码是[PASSWORD_1]，见 http://evil.example/[PASSWORD_1]",
            "messages": ["m1"],
        }
        return chat(json.dumps({"topics": [topic], "todos": [], "questions": []}, ensure_ascii=False))(seen)

    out = tmp_path / "out"
    written = []
    with model(3_000, noting) as server:
        for _ in range(2):
            command = ["wechat", "summarize", str(export), "--zone", "+08:00", "--model", "m", "--out", str(out)]
            assert main([*command, "--host", server.url]) == 0
            written.append({path.name: path.read_bytes() for path in out.glob("*.md")})
        assert len(server.seen("POST", "/api/chat")) == 1
    assert written[0] == written[1]
    (page,) = written[0].values()
    assert PASSWORD in page.decode()
    assert f"evil.example/{PASSWORD}" not in page.decode()
    (ledger,) = out.glob(".*.sqlite")
    rows = sqlite3.connect(ledger).execute("select value from outcome").fetchall()
    assert "[PASSWORD_1]" in rows[0][0]
    assert PASSWORD not in rows[0][0]


def test_a_policy_with_scanners_and_a_judge_is_one_too() -> None:
    """They are not asked: what they take out of a text cannot come back."""
    rule = {"name": "words", "scanner": "BanSubstrings", "options": {"substrings": ["a"]}, "on_fail": "redact"}
    policy = load_policy({"personal": "redact", "scanners": {"input": [rule]}, "judge": {"model": "j"}})
    assert KeptValues.of(policy, (TEXT,)).sealed(PHONE) == "[PHONE_1]"
