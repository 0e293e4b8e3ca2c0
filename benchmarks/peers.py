"""The same structured call through other libraries, in their own environment: a program that is told what to time.

    PYTHON benchmarks/peers.py        (the Python of an environment with some of them; nothing of ours is imported)

The first line of its input is JSON: the server's `url`, `model`, `prompt` and `schema`. It answers with the names of
those that are here, then with the seconds of one call for each name it is sent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Asked = Mapping[str, Any]


def bare(asked: Asked) -> Callable[[], object]:
    """What every one of them does at least: the request and the class made of its answer."""
    import httpx

    record = record_class()
    client = httpx.Client(base_url=asked["url"])
    body = {**_ollama_call(asked), "stream": False, "format": record.model_json_schema()}
    return lambda: record.model_validate_json(client.post("/api/chat", json=body).json()["message"]["content"])


def ollama(asked: Asked) -> Callable[[], object]:
    import ollama as package

    record = record_class()
    client, schema = package.Client(host=asked["url"]), record.model_json_schema()
    return lambda: record.model_validate_json(client.chat(**_ollama_call(asked), format=schema).message.content)


def outlines(asked: Asked) -> Callable[[], object]:
    import ollama as package
    import outlines as library

    record = record_class()
    generator = library.Generator(library.from_ollama(package.Client(host=asked["url"]), asked["model"]), record)
    return lambda: record.model_validate_json(generator(asked["prompt"]))


def instructor(asked: Asked) -> Callable[[], object]:
    import instructor as library

    record = record_class()
    client = library.from_provider(f"ollama/{asked['model']}", base_url=f"{asked['url']}/v1")
    return lambda: client.create(response_model=record, **_messages(asked))


PEERS = {"ollama": ollama, "outlines": outlines, "instructor": instructor}


def record_class() -> Any:
    """The class that `material.RECORD` describes."""
    import datetime
    from typing import Literal, Optional

    import pydantic

    people = (list[str], pydantic.Field(max_length=20))
    return pydantic.create_model(
        "Record",
        subject=(str, pydantic.Field(max_length=80)),
        place=(str, pydantic.Field(max_length=80)),
        date=(datetime.date, ...),
        priority=(Literal["low", "normal", "high"], ...),
        people=people,
        amount=(float, pydantic.Field(ge=0)),
        count=(int, pydantic.Field(ge=0, le=10_000)),
        done=(bool, ...),
        note=(Optional[str], ...),  # noqa: UP045 -- the peers' Python may be an older one
        link=(Optional[str], ...),  # noqa: UP045
    )


def _messages(asked: Asked) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": asked["prompt"]}]}


def _ollama_call(asked: Asked) -> dict[str, Any]:
    return {"model": asked["model"], **_messages(asked)}


def main() -> None:
    """Answers on standard output until the input ends; what libraries print goes elsewhere."""
    answers, sys.stdout = sys.stdout, sys.stderr
    asked = json.loads(sys.stdin.readline())
    os.environ["OLLAMA_HOST"] = asked["url"]
    calls = {"bare": bare(asked)}
    named = {"bare": "bare httpx"}
    for name, make in PEERS.items():
        try:
            calls[name], named[name] = make(asked), f"{name} {version(name)}"
        except (ImportError, PackageNotFoundError):
            continue
    print(json.dumps(named), file=answers, flush=True)
    for line in sys.stdin:
        call = calls[line.strip()]
        start = time.perf_counter()
        call()
        print(time.perf_counter() - start, file=answers, flush=True)


if __name__ == "__main__":
    main()
