"""Questions that take one or more calls, written once: each yields Calls, is sent the replies, returns a value.

`Server.run` and `AsyncServer.run` drive them; a call that fails is raised inside the flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ollama_kit.errors import ModelMissing, ProtocolError, ServerError, ServerRefused
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server import facts, refusals, wire
from ollama_kit.server.wire import Flow


def version(url: str) -> Flow[ServerVersion]:
    """The server's version; ProtocolError if the answer has none."""
    reply = yield wire.version()
    text = reply.get("version")
    try:
        return ServerVersion.parse(text if isinstance(text, str) else repr(text))
    except ValueError as error:
        raise ProtocolError(f"{url} reports the version {text!r:.80}", url=url) from error


def models(url: str) -> Flow[tuple[facts.InstalledModel, ...]]:
    """What is installed, newest first."""
    reply = yield wire.tags()
    return facts.read_tags(reply, url=url)


def running(url: str) -> Flow[tuple[facts.RunningModel, ...]]:
    """What is loaded."""
    reply = yield wire.ps()
    return facts.read_ps(reply, url=url)


def show(
    name: str, url: str, *, verbose: bool, installed: Iterable[facts.InstalledModel] = ()
) -> Flow[facts.ModelFacts]:
    """The facts of one model; its digest comes from `installed`, or from asking where that is empty."""
    reply = yield wire.show(name, verbose=verbose)
    listed = tuple(installed) or (yield from models(url))
    return facts.read_show(name, reply, digest=digest_of(name, listed), url=url)


def has_blob(digest: str) -> Flow[bool]:
    """Whether the server has a blob (`sha256:<hex>`)."""
    try:
        yield wire.blob_exists(digest)
    except ServerRefused as error:
        if error.status == 404:
            return False
        raise
    return True


def model_missing(model: str, url: str) -> Flow[ModelMissing]:
    """The error for a model that the server does not have, with the names of those that it has, if it reports them."""
    try:
        installed = yield from models(url)
    except ServerError:
        installed = ()
    return refusals.model_missing(model, [listed.name for listed in installed], url=url)


def digest_of(name: str, installed: Iterable[facts.InstalledModel]) -> str:
    """The manifest digest of a model, "" where it is not listed. Names match as in `full_name`."""
    wanted = full_name(name)
    return next((model.digest for model in installed if full_name(model.name) == wanted), "")


def full_name(name: str) -> str:
    """A model's name as the server compares it (types/model/name.go): lower case, with its tag, no default host.

    >>> full_name("Registry.Ollama.ai/library/Qwen3"), full_name("me/m:Q4")
    ('qwen3:latest', 'me/m:q4')
    """
    short = name.strip().casefold()
    short = short.partition("://")[2] or short
    short = short.removeprefix("registry.ollama.ai/").removeprefix("library/")
    return short if ":" in short.rpartition("/")[2] else f"{short}:latest"


def embed(model: str, texts: Iterable[str], options: Mapping[str, Any] | None, url: str) -> Flow[list[list[float]]]:
    """One vector per text, in their order; ProtocolError where the count differs."""
    wanted = list(texts)
    if not wanted:
        return []
    reply = yield wire.embed(model, wanted, options=options)
    vectors = reply.get("embeddings")
    if not isinstance(vectors, list) or len(vectors) != len(wanted) or not all(isinstance(v, list) for v in vectors):
        raise ProtocolError(f"{url} answered /api/embed without one vector for each of {len(wanted)} texts", url=url)
    return vectors


def progress_of(line: wire.JSON) -> tuple[str, int, int]:
    """(what the server does, bytes done, total bytes) of a line of create or pull; 0 and 0 where it gives none."""
    status, done, total = line.get("status"), line.get("completed"), line.get("total")
    return (
        status if isinstance(status, str) else "",
        done if isinstance(done, int) else 0,
        total if isinstance(total, int) else 0,
    )
