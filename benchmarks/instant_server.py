"""A server that answers at once, or after a time, with what it was told to: what is left to measure is the caller.

    with serving({"POST /api/chat": Canned((b"…",), stream=True)}) as url: …

It runs in a process of its own, and nothing it does depends on the request but its method and path.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Canned:
    """One answer: its lines, each in a chunk of its own where it is a `stream`, else one body; `after_s` seconds after
    it was asked for, however many ask at once."""

    lines: tuple[str, ...]
    stream: bool = False
    after_s: float = 0.0

    def encoded(self) -> bytes:
        """The whole of the HTTP answer, which is sent in one write."""
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        bodies = [line.encode() + b"\n" for line in self.lines]
        if not self.stream:
            body = b"".join(bodies)
            return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        chunks = [b"%x\r\n%b\r\n" % (len(body), body) for body in bodies]
        return b"".join((f"{head}Transfer-Encoding: chunked\r\n\r\n".encode(), *chunks, b"0\r\n\r\n"))


def as_json(value: object) -> Canned:
    """A JSON body."""
    return Canned((json.dumps(value),))


@contextmanager
def serving(answers: Mapping[str, Canned]) -> Iterator[str]:
    """The URL at which each "METHOD /path" of `answers` is answered, until the block is left."""
    command = [sys.executable, "-m", "benchmarks.instant_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({key: asdict(answer) for key, answer in answers.items()}) + "\n")
        process.stdin.flush()
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


async def serve(answers: Mapping[str, tuple[bytes, float]]) -> None:
    """Listens on a free port of loopback, which it prints."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                start, *fields = head.split("\r\n")
                length = next((int(field[15:]) for field in fields if field.startswith("content-length:")), 0)
                await reader.readexactly(length)
                answer, after_s = answers.get(start.rpartition(" ")[0], (_UNKNOWN, 0.0))
                if after_s:
                    await asyncio.sleep(after_s)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


_UNKNOWN = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    asyncio.run(serve({key.lower(): (Canned(**a).encoded(), a["after_s"]) for key, a in given.items()}))
