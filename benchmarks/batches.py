"""A batch of guarded calls against the model's own time: how full it keeps the server's slots, one and four.

The model's time is pretended: the server answers after a fixed time, however many ask at once. Each task is 4 KB of a
Chinese contract with a schema. What a machine that is busy otherwise adds, it adds to the bare POSTs beside as well.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

from benchmarks.guarded_call import PIECES, TEMPLATE
from benchmarks.instant_server import serving
from benchmarks.material import MODEL, RECORD, ollama_answers
from benchmarks.timing import in_turns, median_above, verdict
from ollama_kit.client import Client
from ollama_kit.jobs.ledger import Ledger, task_key
from ollama_kit.jobs.runner import Batch, Task
from ollama_kit.settings import Settings
from tests.models.vocabularies import vocabulary

MODEL_S = 1.0
READING_S = 0.1
TASKS_A_SLOT = 3
ROUNDS = 3
SIZE_BYTES = 4_000
SLOTS = (1, 4)
TARGET = 0.03
QUESTION = "请按 schema 列出本合同的要素。"

_CLAUSES = (
    "第{n}条 乙方应于本合同签订后{m}日内向甲方交付全部货物，交货地点为甲方指定的苏州仓库。",
    "第{n}条 甲方应在验收合格后{m}个工作日内支付合同总价的百分之{m}，即人民币{n}万元整。",
    "第{n}条 任何一方逾期履行的，每逾期一日应按逾期金额的万分之五向守约方支付违约金。",
    "第{n}条 双方对因签订、履行本合同而知悉的商业秘密负有保密义务，保密期限为{m}年。",
    "第{n}条 因本合同引起的争议，双方应协商解决；协商不成的，提交甲方所在地人民法院诉讼解决。",
)


def run() -> Iterable[str]:
    with _pretending_server() as url, Client(Settings(host=url)) as client:
        _batch(client, 1, partial(_known, 1))
        for slots in SLOTS:
            count = TASKS_A_SLOT * slots
            works: dict[str, Callable[[], object]] = {
                "bare POSTs": partial(_post_all, url, count, slots),
                "guarded batch": partial(_batch, client, slots, partial(_known, count)),
                "read before": partial(_batch, client, slots, lambda count=count: list(_read(count))),  # type: ignore[misc]
                "read meanwhile": partial(_batch, client, slots, partial(_read, count)),
            }
            seconds = in_turns(works, ROUNDS, warm_up=0)
            yield from _told(slots, seconds)


def _told(slots: int, seconds: Mapping[str, list[float]]) -> Iterable[str]:
    own_s = TASKS_A_SLOT * MODEL_S
    above_s = median_above(seconds["guarded batch"], seconds["bare POSTs"])
    plural = "s" if slots > 1 else ""
    yield f"{slots} slot{plural}, {TASKS_A_SLOT * slots} tasks, {own_s:g} s of them the model's own:"
    for name, taken in seconds.items():
        yield f"  {name:<16}{median(taken):.3f} s, {median(taken) / own_s - 1:.2%} around the model's own"
    yield (
        f"  the batch above bare POSTs: {above_s / TASKS_A_SLOT * 1e3:.1f} ms a task, {above_s / own_s:.2%} of the"
        f" model's own; target {TARGET:.0%}: {verdict(above_s / own_s < TARGET)}"
    )
    saved_s = median_above(seconds["read before"], seconds["read meanwhile"])
    yield f"  with {READING_S * 1e3:.0f} ms of work to read each, reading while others run saves {saved_s:.2f} s"


def _known(count: int) -> list[Task]:
    return list(map(_task, range(count)))


def _read(count: int) -> Iterator[Task]:
    for number in range(count):
        ends = time.perf_counter() + READING_S
        while time.perf_counter() < ends:
            sum(range(100))
        yield _task(number)


def _task(number: int) -> Task:
    text = _contract(number)
    return Task(task_key("benchmark", [number]), f"contract {number}", text, len(text))


def _contract(number: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) * 3 < SIZE_BYTES:
        at = len(lines)
        lines.append(_CLAUSES[at % len(_CLAUSES)].format(n=at + 1, m=(number + at) % 28 + 2) + "\n")
    return "".join(lines)


def _batch(client: Client, slots: int, tasks: Callable[[], Iterable[Task]]) -> None:
    def work(text: str) -> Any:
        return client.chat(MODEL, QUESTION, documents=text, schema=RECORD).value

    with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/ledger.sqlite", "benchmark") as ledger:
        outcomes = Batch(work, ledger, slots).run(tasks())
    assert all(outcome.done for outcome in outcomes.values())


def _post_all(url: str, count: int, slots: int) -> None:
    """The same texts, as many at once, by nothing but httpx."""
    import httpx

    with httpx.Client() as http, ThreadPoolExecutor(slots) as pool:
        bodies = [{"model": MODEL, "messages": [{"role": "user", "content": _contract(n)}]} for n in range(count)]
        list(pool.map(lambda body: http.post(f"{url}/api/chat", json=body), bodies))


@contextmanager
def _pretending_server() -> Iterator[str]:
    answers = ollama_answers(vocabulary("qwen2"), TEMPLATE.read_text(encoding="utf-8"), PIECES)
    answers["POST /api/chat"] = replace(answers["POST /api/chat"], after_s=MODEL_S)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        mock.patch.dict(os.environ, {"OLLAMA_KIT_CACHE": folder}),
        serving(answers) as url,
    ):
        yield url
