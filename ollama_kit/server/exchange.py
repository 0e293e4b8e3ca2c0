"""A Call as httpx's request: the same for the blocking and the awaiting client."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ollama_kit.server import wire
from ollama_kit.server.connection import Connection
from ollama_kit.server.wire import Call

if TYPE_CHECKING:
    import httpx

BETWEEN_S = "ollama_kit.between_s"
"""Request extension: seconds of silence allowed once the answer has begun."""


def url_of(call: Call, connection: Connection) -> str:
    """Where a call goes, as messages name it."""
    return connection.host.url + call.path


def request(call: Call, connection: Connection) -> httpx.Request:
    """The request for a call, with its time limits; a blob's length is stated so that it need not be chunked."""
    import httpx

    headers = {"accept": "application/x-ndjson" if call.stream else "application/json"}
    content: bytes | wire.Content | None = None
    if call.content is not None:
        content = call.content
        headers |= {"content-type": "application/octet-stream", "content-length": str(call.content.size_bytes)}
    elif call.body is not None:
        content = call.sent
        headers["content-type"] = "application/json"
    timeouts = connection.timeouts
    most_s = math.inf if call.deadline is None else call.deadline.left_s
    between_s = min(timeouts.between(call.pace), most_s)
    limits = httpx.Timeout(
        connect=min(timeouts.connect_s, most_s),
        read=min(timeouts.first(call.pace), most_s),
        write=between_s,
        pool=min(timeouts.first_s, most_s),
    )
    # What a client's build_request would add (headers of its own, cookies), the transport would only take off again.
    return httpx.Request(
        call.method,
        url_of(call, connection),
        content=content,
        headers=headers,
        extensions={"timeout": limits.as_dict(), BETWEEN_S: between_s},
    )
