"""A guarded call at policy `standard` against a bare POST of the same body, on a server that answers at once."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from benchmarks.instant_server import serving
from benchmarks.material import MODEL, QUESTION, RECORD, group_chat, ollama_answers, plain_answers
from benchmarks.timing import in_ms, in_turns, median_above, metered_in_turns, seconds_of, verdict
from ollama_kit.client import Client
from ollama_kit.guard.conversation import messages_from
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.fit import PromptCounter
from ollama_kit.guard.flow import guarded_call
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import PolicyLike, load_policy
from ollama_kit.server.wire import encode
from ollama_kit.settings import Settings
from ollama_kit.structured.schema import load_schema
from tests.models.vocabularies import vocabulary

PEERS_PYTHON = "OLLAMA_KIT_PEERS"
"""Environment variable: the Python of an environment with instructor, ollama, outlines, to be measured beside."""

TARGETS_S = {4_000: 0.0015, 100_000: 0.040}
ROUNDS = {4_000: 300, 100_000: 60}
PIECES = 3
MANY_PIECES = 203
STAGE_ROUNDS = {4_000: 100, 100_000: 15}
STAGES: Mapping[str, Mapping[str, str]] = {
    "normalize": {"normalize": "on"},
    "private data": {"secrets": "redact", "personal": "flag"},
    "injection": {"injection": "flag"},
    "control tokens": {"control_tokens": "break"},
    "markup": {"markup": "disarm"},
}
"""What `standard` does to a document, a stage at a time."""
TEMPLATE = Path(__file__).parents[1] / "tests" / "data" / "chat_templates" / "chatml.gotmpl"


def run() -> Iterable[str]:
    with _measured_server(PIECES) as url:
        yield from _against_bare(url)
        yield from _beside_peers(url)
        yield from _by_stage(url)
    yield from _by_piece()


def _against_bare(url: str) -> Iterable[str]:
    """Guards without counting, and with, above the bare POST."""
    import httpx

    with ExitStack() as opened:
        client = opened.enter_context(Client(Settings(host=url)))
        exact = opened.enter_context(Client(Settings(host=url), counting="exact"))
        http = opened.enter_context(httpx.Client())
        for size_bytes, target_s in TARGETS_S.items():
            document = group_chat(size_bytes, "zh")
            body = _body_of(client, document)
            prompt, encode_bare = _rendered(client, document), client.profile(MODEL).tokenizer.encode
            works: dict[str, Callable[[], object]] = {
                "bare": partial(http.post, f"{url}/api/chat", json=body),
                "guarded": partial(_ask, client, document),
                "counted": partial(_ask, exact, document),
                "encode": partial(encode_bare, prompt),
            }
            seconds = in_turns(works, ROUNDS[size_bytes], warm_up=10)
            above_s = median_above(seconds["guarded"], seconds["bare"])
            what = f"{size_bytes // 1000} KB Chinese"
            yield f"{what:<16}bare POST {in_ms(seconds['bare'])}, guarded {in_ms(seconds['guarded'])}"
            yield (
                f"{what:<16}{above_s * 1e3:.2f} ms above the bare POST, the size proving the fit; "
                f"target {target_s * 1e3:g} ms: {verdict(above_s <= target_s)}"
            )
            counting_s = median_above(seconds["counted"], seconds["guarded"])
            ratio = counting_s / median(seconds["encode"])
            yield f"{what:<16}exact counting adds {counting_s * 1e3:.2f} ms, {ratio:.2f} x one bare encode"


def _beside_peers(url: str) -> Iterable[str]:
    """The structured call of other libraries, each above a bare POST in its own process."""
    python = os.environ.get(PEERS_PYTHON)
    if not python:
        yield f"no other library beside it: {PEERS_PYTHON} names no Python that has them"
        return
    import httpx

    document = group_chat(4_000, "zh")
    with serving(plain_answers()) as plain_url, Client(Settings(host=url)) as client, httpx.Client() as http:
        asked = {"url": plain_url, "model": MODEL, "prompt": f"{document}\n\n{QUESTION['zh']}"}
        with _peers(python, asked) as (named, meters):
            ours = {
                "our bare": partial(seconds_of, partial(http.post, f"{url}/api/chat", json=_body_of(client, document))),
                "guarded": partial(seconds_of, partial(_ask, client, document)),
            }
            seconds = metered_in_turns({**meters, **ours}, ROUNDS[4_000], warm_up=20)
    above_s = median_above(seconds["guarded"], seconds["our bare"])
    yield f"{'in turns:':<24}ollama-kit, guarded {above_s * 1e3:.2f} ms above a bare POST"
    for name, title in named.items():
        if name == "bare":
            continue
        theirs_s = median_above(seconds[name], seconds["bare"])
        judged = f"; target less than that: {verdict(above_s < theirs_s)}" if name == "instructor" else ""
        yield f"{'':<24}{title} {theirs_s * 1e3:.2f} ms{judged}"


@contextmanager
def _peers(python: str, asked: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], dict[str, Callable[[], float]]]]:
    """(names and versions, how to time one call of each) of the libraries that are there."""
    command = [python, str(Path(__file__).with_name("peers.py"))]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, encoding="utf-8"
    ) as process:
        told, heard = process.stdin, process.stdout
        assert told
        assert heard

        def say(line: str) -> str:
            print(line, file=told, flush=True)
            return heard.readline()

        named = json.loads(say(json.dumps(asked)))
        yield named, {name: (lambda name=name: float(say(name))) for name in named}  # type: ignore[misc]
        told.close()


def _by_stage(url: str) -> Iterable[str]:
    """Each stage alone, on the text as it comes, and all of them."""
    with Client(Settings(host=url)) as client:
        tokens = client.profile(MODEL).control_tokens
    fence = Fence(b"0" * 16)
    policies: dict[str, PolicyLike] = {name: {"extends": "off", **words} for name, words in STAGES.items()}
    stages = {
        name: Pipeline.of(load_policy(policy), tokens) for name, policy in {**policies, "all": "standard"}.items()
    }
    for size_bytes, rounds in STAGE_ROUNDS.items():
        for language in QUESTION:
            text = group_chat(size_bytes, language)
            works: dict[str, Callable[[], object]] = {
                name: partial(pipeline.clean, text, "document 0", "document") for name, pipeline in stages.items()
            }
            works["fence"] = partial(fence.markers, text, "1")
            seconds = in_turns(works, rounds, warm_up=3)
            figures = ", ".join(f"{name} {median(taken) * 1e3:.2f}" for name, taken in seconds.items())
            yield f"{size_bytes // 1000} KB {language}, ms: {figures}"


def _by_piece() -> Iterable[str]:
    """What each piece of a streamed answer costs: the same answer in few pieces and in many."""
    with _measured_server(PIECES) as few, _measured_server(MANY_PIECES) as many, ExitStack() as opened:
        clients = {url: opened.enter_context(Client(Settings(host=url))) for url in (few, many)}
        document = group_chat(1_000, "zh")
        works = {url: partial(_ask, client, document) for url, client in clients.items()}
        seconds = in_turns(works, ROUNDS[4_000] // 3, warm_up=5)
    each_s = median_above(seconds[many], seconds[few]) / (MANY_PIECES - PIECES)
    yield f"a piece of a streamed answer: {each_s * 1e6:.0f} microseconds"


@contextmanager
def _measured_server(pieces: int) -> Iterator[str]:
    """The instant server, with a tokenizer cache that is not the user's."""
    answers = ollama_answers(vocabulary("qwen2"), TEMPLATE.read_text(encoding="utf-8"), pieces)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        mock.patch.dict(os.environ, {"OLLAMA_KIT_CACHE": folder}),
        serving(answers) as url,
    ):
        yield url


def _ask(client: Client, document: str) -> object:
    return client.chat(MODEL, QUESTION["zh"], documents=document, schema=RECORD).value


def _body_of(client: Client, document: str) -> dict[str, Any]:
    """The body that the guarded call sends."""
    request = client._request(MODEL, QUESTION["zh"], document, {})
    policy, profile = client.policy_for(MODEL), client.profile(MODEL)
    steps = guarded_call(request, profile, policy, load_schema(RECORD), client._context)
    body: dict[str, Any] = json.loads(encode(next(steps).call.body or {}))
    steps.close()
    return body


def _rendered(client: Client, document: str) -> str:
    """The prompt as the tokenizer gets it."""
    sent = messages_from(_body_of(client, document)["messages"])
    return PromptCounter(client.profile(MODEL), exactly=True).count(sent).rendered or ""
