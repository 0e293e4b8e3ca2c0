"""A job obeys the guard of its model's spec, unless a policy is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.jobs.contract.job import ContractJob
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.wechat.job import WeChatJob
from tests.scripted import chat
from tests.wire.recorder import Wire, recording

PHONE = "13812345678"
CHAT = f"Anna Wu 2026-03-05 09:02\n请打我的电话 {PHONE} 确认发货。\n\nChen Bo 2026-03-05 09:10\n好的，下午联系。\n"
LEASE = f"租赁合同\n第一条 当事人\n甲方：江州示例有限公司，联系电话：{PHONE}。\n第二条 期限\n租期至2027年5月31日止。\n"
JOBS = {
    "wechat": (("wechat", "summarize"), CHAT, '{"topics": [], "todos": [], "questions": []}'),
    "contract extract": (("contract", "extract"), LEASE, "{}"),
    "contract summarize": (("contract", "summarize"), LEASE, "{}"),
}


def sent(wire: Wire, job: str, *more: str, model: str = "careful", guard: str = "strict") -> bytes:
    """The chat requests of a job whose model's spec says `guard`, in the order of their arrival."""
    command, text, answer = JOBS[job]
    said = f"guard: {guard}\n" if guard else ""
    wire.file("modelfiles/careful.yaml", f"spec: 1\nfrom: m\ncontext: 16384\n{said}")
    for name in ("careful", "m"):
        wire.install(name, window=16_384)
    wire.says(chat(answer))
    code = 0 if command[0] == "wechat" else 1  # an empty object does not answer the questions
    wire.run(*command, wire.file("text.txt", text), "--model", model, "--parallel", "1", *more, code=code)
    bodies = [seen.body for seen in wire.server.seen("POST", "/api/chat")]
    assert bodies
    assert any("确认发货".encode() in body or "租期至".encode() in body for body in bodies)
    return b"\n".join(bodies)


@pytest.mark.parametrize("job", JOBS)
def test_a_strict_spec_keeps_a_phone_number_out_of_every_request(job: str, tmp_path: Path) -> None:
    with recording(tmp_path) as wire:
        assert PHONE.encode() not in sent(wire, job)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("model", "guard", "policy", "hidden"),
    [
        ("careful", "", (), False),
        ("m", "strict", (), False),
        ("careful", "strict", ("--policy", "standard"), False),
        ("careful", "standard", ("--policy", "strict"), True),
        ("careful", "off", ("--policy", "off"), False),
    ],
)
def test_a_policy_that_is_named_comes_first_then_the_spec_then_standard(
    job: str, model: str, guard: str, policy: tuple[str, ...], hidden: bool, tmp_path: Path
) -> None:
    """`standard` where the spec says nothing, and for a model without a spec: numbers are what the jobs extract."""
    with recording(tmp_path) as wire:
        assert (PHONE.encode() not in sent(wire, job, *policy, model=model, guard=guard)) is hidden


@pytest.mark.parametrize("kind", [WeChatJob, ContractJob])
def test_in_python_too(kind: type[WeChatJob] | type[ContractJob], tmp_path: Path) -> None:
    """No policy is the spec's, with the rule for what does not fit that the job needs."""
    with recording(tmp_path) as wire:
        wire.file("modelfiles/careful.yaml", "spec: 1\nfrom: m\ncontext: 16384\nguard: strict\n")
        with wire.client() as client, Ledger(":memory:", "x") as ledger:
            policy = kind(client, "careful", ledger)._policy()
    assert (policy.personal, policy.leak) == ("redact", "error")
    assert policy.context == ("middle_out" if kind is WeChatJob else "error")
