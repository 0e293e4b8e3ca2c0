"""`Server`: one Ollama server, blocking. It only drives what is written once in `wire`, `flows` and `transport`;
`AsyncServer` is the other driver."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import OllamaKitError, ServerRefused
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server import blobs, flows, wire
from ollama_kit.server.connection import Connected, Connection, url_of
from ollama_kit.server.facts import InstalledModel, ModelFacts, RunningModel
from ollama_kit.server.gguf_header import check_gguf
from ollama_kit.server.wire import JSON, Call, Flow, T

if TYPE_CHECKING:
    import httpx
    import ollama


class Server(Connected):
    """One Ollama server. Every failure is one of our errors, the same for a plain call and a stream.

    Nothing is opened before the first call. Use it as a context manager, or `close()` it. It may be shared between
    threads. `transport` replaces the network (tests).
    """

    def __init__(self, connection: Connection, *, transport: httpx.BaseTransport | None = None) -> None:
        super().__init__(connection)
        self._transport = transport
        self._version: ServerVersion | None = None
        self._client: httpx.Client | None = None
        self._opening = Lock()

    # -- driving

    def send(self, call: Call) -> JSON:
        """The JSON that answers a call; of a stream its last line."""
        if call.stream:
            with self.stream(call) as lines:
                last: JSON = {}
                for line in lines:
                    last = line
            return last
        with self._opened(call) as response:
            return self._answer(call).whole(response.read())

    @contextmanager
    def stream(self, call: Call) -> Iterator[Iterator[JSON]]:
        """The lines of a streamed answer, as they come. Leaving the block closes the connection, which makes the
        server stop its work; reading to the end checks that the answer is whole."""
        with self._opened(call) as response, closing(self._lines(call, response)) as lines:
            yield lines

    def run(self, flow: Flow[T]) -> T:
        """What a flow returns, with each of its calls sent; a call that fails is raised inside it."""
        try:
            call = next(flow)
            while True:
                try:
                    reply = self.send(call)
                except OllamaKitError as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(reply)
        except StopIteration as stop:
            result: T = stop.value
            return result

    # -- asking

    def version(self) -> ServerVersion:
        """The server's version, asked once."""
        if self._version is None:
            self._version = self.run(flows.version(self.url))
        return self._version

    def models(self) -> tuple[InstalledModel, ...]:
        """What is installed, newest first."""
        return self.run(flows.models(self.url))

    def running(self) -> tuple[RunningModel, ...]:
        """What is loaded."""
        return self.run(flows.running(self.url))

    def show(self, name: str, *, verbose: bool = False, installed: Iterable[InstalledModel] = ()) -> ModelFacts:
        """The facts of a model; with `verbose` also its vocabulary and per-layer counts (megabytes). `installed`
        spares asking for the digest where `models()` was just called."""
        return self.run(flows.show(name, self.url, verbose=verbose, installed=installed))

    def embed(self, model: str, texts: list[str], *, options: Mapping[str, Any] | None = None) -> list[list[float]]:
        """One vector per text, in their order."""
        return self.run(flows.embed(model, texts, options, self.url))

    @contextmanager
    def chat(self, body: Mapping[str, Any]) -> Iterator[Iterator[JSON]]:
        """The lines of /api/chat with that body."""
        with self.stream(wire.chat({**body, "stream": True})) as lines:
            yield lines

    @contextmanager
    def generate(self, body: Mapping[str, Any]) -> Iterator[Iterator[JSON]]:
        """The lines of /api/generate with that body."""
        with self.stream(wire.generate({**body, "stream": True})) as lines:
            yield lines

    # -- changing

    def create(self, body: Mapping[str, Any], progress: blobs.Progress = blobs.quiet) -> None:
        """Creates a model from /api/create's body; returns only once the server has said `success`."""
        self._follow(wire.create(body), progress)

    def pull(self, name: str, progress: blobs.Progress = blobs.quiet) -> None:
        """Fetches a model from the registry; returns only once the server has said `success`."""
        self._follow(wire.pull(name), progress)

    def copy(self, source: str, destination: str) -> None:
        """Gives a model a second name; one that has it already loses it to this one."""
        self.send(wire.copy(source, destination))

    def delete(self, name: str) -> None:
        """Removes a model; ModelMissing if there is none."""
        self.send(wire.delete(name))

    def unload(self, model: str) -> None:
        """Frees the memory a model takes; nothing happens if it is not loaded."""
        self.send(wire.unload(model))

    def has_blob(self, digest: str) -> bool:
        """Whether the server has a blob (`sha256:<hex>`)."""
        return self.run(flows.has_blob(digest))

    def upload_blob(self, source: Path | bytes, progress: blobs.Progress = blobs.quiet, *, check: bool = True) -> str:
        """The digest of a file or of bytes that the server has afterwards; nothing is sent if it had them before.

        A file is first checked to be a whole GGUF (GGUFError), unless `check` is False.
        """
        if isinstance(source, bytes):
            digest = blobs.digest_of_bytes(source)
            content: wire.Content = blobs.BytesContent(source, progress)
        else:
            if check:
                check_gguf(source)
            digest = blobs.digest_of_file(source, progress=progress)
            content = blobs.file_content(source, progress)
        if not self.has_blob(digest):
            self.send(wire.blob(digest, content))
        return digest

    def client(self) -> ollama.Client:
        """The ollama package's own client on this connection, for what `Server` lacks: same proxies, keys and retries,
        and our errors instead of its own. Importing it takes 0.2 s."""
        self._http()
        client: ollama.Client = ollama_package().Client(
            host=self.url,
            trust_env=False,
            transport=self._own_transport,
            timeout=self.connection.timeouts.first("model"),
        )
        return client

    # -- closing

    def close(self) -> None:
        """Closes the connections; the next call opens new ones. Requests that run in other threads end at once, each
        with ServerUnreachable, whatever they wait for."""
        with self._opening:
            opened, self._client = self._client, None
        if opened is not None:
            opened.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- below

    def _http(self) -> httpx.Client:
        with self._opening:
            if self._client is None:
                import httpx

                from ollama_kit.server.transport import Transport

                self._own_transport = self._transport or Transport(self.connection)
                self._client = httpx.Client(transport=self._own_transport, trust_env=False)
            return self._client

    @contextmanager
    def _opened(self, call: Call) -> Iterator[httpx.Response]:
        client = self._http()
        try:
            response = client.send(self._request(call), stream=True)
        except ServerRefused as error:
            if error.status == 404 and call.model:
                raise self.run(flows.model_missing(call.model, self.url)) from error
            raise
        except RuntimeError as error:  # what httpx raises for a client that was closed just now
            if not client.is_closed:
                raise
            from ollama_kit.server.transport import closed

            raise closed(url_of(call, self.connection)) from error
        try:
            yield response
        finally:
            response.close()

    def _lines(self, call: Call, response: httpx.Response) -> Generator[JSON, None, None]:
        answer = self._answer(call)
        for data in response.iter_bytes():
            yield from answer.feed(data)
        yield from answer.close()

    def _follow(self, call: Call, progress: blobs.Progress) -> None:
        with self.stream(call) as lines:
            for line in lines:
                progress(*flows.progress_of(line))


READ_AT_IMPORT = ("OLLAMA_HOST", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")

_importing = threading.Lock()


def ollama_package() -> ModuleType:
    """The module `ollama`, imported so that the environment cannot make the import fail. Takes 0.2 s the first time.

    It opens a client while it is imported (0.6): with ALL_PROXY=socks5://… that raises ImportError, with
    OLLAMA_HOST=::1 ValueError, although our own client on it needs neither.
    """
    with _importing:
        hidden = {name: value for name, value in os.environ.items() if name.upper() in READ_AT_IMPORT}
        for name in hidden:
            del os.environ[name]
        try:
            import ollama
        finally:
            os.environ.update(hidden)
    return ollama
