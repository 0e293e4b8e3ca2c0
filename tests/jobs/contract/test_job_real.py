"""The job on the real server: what comes back is valid or a typed failure, and nothing is unmarked without evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.builder.build import build
from ollama_kit.client import Client
from ollama_kit.documents.reading import read_document
from ollama_kit.jobs.contract.answers import Answer, Sentence
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.job import JOB, ContractJob
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec
from tests.jobs.contract.samples import FOLDER
from tests.realserver.process import RealServer

SPEC = "spec: 1\nfrom: {base}\ncontext: 4096\n"
POLICY = "policy: 1\nextends: standard\nattempts: 1\nmax_tokens: {most}\n"


@contextmanager
def job_on(server: RealServer, base: str, folder: Path, most: int) -> Iterator[ContractJob]:
    """The job with `base` in a window of 4,096 tokens, answers of at most `most`."""
    (folder / "modelfiles").mkdir()
    (folder / "modelfiles" / "dull.yaml").write_text(SPEC.format(base=base), encoding="utf-8")
    (folder / "templates" / "policies").mkdir(parents=True)
    (folder / "templates" / "policies" / "short.yaml").write_text(POLICY.format(most=most), encoding="utf-8")
    with Server.at(server.url, {}) as opened:
        build(load_spec("dull"), opened)
    with Client(Settings(host=server.url)) as client, Ledger(folder / "ledger.sqlite", JOB) as ledger:
        yield ContractJob(client, "dull", ledger, policy="short")
        client.server.unload("dull")


def all_is_marked(report: ContractReport) -> None:
    """Each answer and sentence has evidence that stands in the document, or is not proven."""
    said: list[Answer | Sentence] = []
    if report.answers:
        said += [answer for question in report.answers.questions for answer in question.answers]
    if report.summary:
        said += report.summary.sentences
    for one in said:
        assert one.is_proven == (bool(one.evidence) and not one.doubts and not one.suspect)
        for evidence in one.evidence:
            assert report.document.text[evidence.start : evidence.end] == evidence.quote


def test_what_a_model_without_sense_says_is_valid_or_a_failure(
    real_server: RealServer, tiny_smollm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contract longer than the window is read in parts; each of our questions has an answer by its schema, or says
    why not, and what is not proven is marked."""
    monkeypatch.chdir(tmp_path)
    document = read_document(FOLDER / "synthetic_bilingual_nda.txt")
    with job_on(real_server, tiny_smollm, tmp_path, 24) as job:
        estimate = job.estimate([document])
        (report,) = job.extract([document])
        (page,) = job.summarize([document])
    assert report.answers is not None
    assert estimate.requests >= 7
    for question in report.answers.questions:
        assert not question.failure or question.failure.startswith("output.invalid")
        assert question.searched
    all_is_marked(report)
    all_is_marked(page)


def test_a_users_own_questions_in_chinese(
    real_server: RealServer, tiny_qwen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two questions of a schema with Qwen's tokenizer; under a grammar of ours a token of its large vocabulary takes
    long, so that more would."""
    monkeypatch.chdir(tmp_path)
    schema = {"properties": {"押金": {"type": "number"}, "费用": {"type": "array", "items": {"enum": ["水", "电"]}}}}
    (tmp_path / "own.schema.json").write_text(json.dumps(schema, ensure_ascii=False), encoding="utf-8")
    document = read_document(FOLDER / "synthetic_zh_lease_conflict.txt")
    with job_on(real_server, tiny_qwen, tmp_path, 40) as job:
        (report,) = replace(job, own=tmp_path / "own.schema.json").extract([document])
    assert report.answers is not None
    assert [question.name for question in report.answers.questions] == ["押金", "费用"]
    for question in report.answers.questions:
        assert not question.failure or question.failure.startswith("output.invalid")
    all_is_marked(report)
