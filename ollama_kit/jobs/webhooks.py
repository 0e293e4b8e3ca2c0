"""Sends a text to the webhook that the user named: a WeCom group robot, or whatever takes `{"text": …}`.

The address of a webhook is its password. No error, log line or exception in a chain shows more of it than the host.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ollama_kit.errors import (
    Hint,
    ProtocolError,
    ServerError,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
    UsageError,
)
from ollama_kit.server.host import is_loopback
from ollama_kit.text.characters import cut_before

if TYPE_CHECKING:
    import requests

WECOM_PATH = "/cgi-bin/webhook/send"
"""By the path and not by the host: a company's own WeCom has its own."""
WECOM_BYTES = 4096
"""UTF-8 bytes that one Markdown message of a robot may have. Source: WeCom developer documentation, 91770."""
WECOM_BUSY = 45009  # more than 20 messages a minute
ANSWER_BYTES = 4096
TIMEOUTS_S = (5.0, 30.0)
"""To connect, and for each wait for the answer."""

HOW_TO_WRITE_IT: Hint = (
    "Write the webhook as https://host/path; http:// is for this machine only.",
    "请写成 https://主机/路径；http:// 只能用于本机。",
)
CHECK_KEY: Hint = (
    "Check the webhook's address, and whether the robot still exists.",
    "请检查 webhook 地址，以及机器人是否仍然存在。",
)
CHECK_HOST: Hint = ("Check the webhook's host and the network.", "请检查 webhook 的主机名和网络。")
TRY_LATER: Hint = ("Try again in a minute.", "请一分钟后重试。")


@dataclass(frozen=True)
class Posted:
    """What was sent where: `host` as it may be shown, the last HTTP status, and how many messages it took."""

    host: str
    status: int
    parts: int


def post_markdown(
    url: str, text: str, *, timeouts_s: tuple[float, float] = TIMEOUTS_S, ca_file: Path | None = None
) -> Posted:
    """Posts Markdown to a webhook; for a WeCom robot in as many messages as its limit needs, in their order.

    No redirect is followed and no proxy, netrc or certificate file of the environment is used. UsageError for an
    address that is neither https nor on this machine, or a text without words; a ServerError that names the host
    where it fails, and how many messages had gone before.
    """
    target = _target(url)
    text = text.encode("utf-8", "replace").decode("utf-8")
    if not text.strip():
        raise UsageError("there is nothing to post: the text is empty")
    is_wecom = target.path.rstrip("/") == WECOM_PATH
    parts = split_markdown(text, WECOM_BYTES) if is_wecom else (text,)
    status = 0
    with _session(ca_file) as session, _unlogged(target.secrets):
        for number, part in enumerate(parts):
            sent = f" (after {number} of {len(parts)} messages)" if number else ""
            body = {"msgtype": "markdown", "markdown": {"content": part}} if is_wecom else {"text": part}
            status, answer = _post(session, target, body, timeouts_s, sent)
            if is_wecom:
                _check_wecom(target, status, answer, sent)
    return Posted(target.host, status, len(parts))


def split_markdown(text: str, limit_bytes: int) -> tuple[str, ...]:
    """`text` in pieces of at most `limit_bytes` bytes of UTF-8, none of them empty, cut between paragraphs; a longer
    paragraph between lines, and a longer line where a character ends. Only white space at the cuts is lost.

    >>> split_markdown("# a\\n\\nb\\n\\nc", 7)
    ('# a\\n\\nb', 'c')
    """
    pieces = _packed(text.strip("\n").split("\n\n"), "\n\n", limit_bytes)
    return tuple(piece for piece in pieces if piece.strip())


def _packed(parts: Sequence[str], joint: str, limit_bytes: int) -> Iterator[str]:
    """The parts joined as long as they fit; one that does not fit alone is cut by the next smaller border."""
    waiting = ""
    for part in parts:
        longer = f"{waiting}{joint}{part}" if waiting else part
        if _size(longer) <= limit_bytes:
            waiting = longer
            continue
        if waiting:
            yield waiting
        *whole, waiting = [part] if _size(part) <= limit_bytes else _cut(part, limit_bytes)
        yield from whole
    yield waiting


def _cut(part: str, limit_bytes: int) -> list[str]:
    """The pieces of one part that is too long."""
    if "\n" in part:
        return list(_packed(part.split("\n"), "\n", limit_bytes))
    pieces = []
    while _size(part) > limit_bytes:
        fits = len(part.encode("utf-8")[:limit_bytes].decode("utf-8", "ignore"))
        # Not between a backslash and what it escapes, nor inside an entity as the Markdown writer makes them.
        escape = re.search(r"(?:\\|&[a-z]{0,3})\Z", part[:fits])
        at = cut_before(part, escape.start() if escape and escape.start() else fits) or fits
        pieces.append(part[:at])
        part = part[at:]
    return [*pieces, part]


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


@dataclass(frozen=True)
class _Target:
    """A webhook. `host` may be shown; `secrets` are the parts of the address that may not."""

    url: str
    host: str
    path: str
    secrets: tuple[str, ...]


def _target(url: str) -> _Target:
    import requests

    problem = ""
    try:
        # What requests makes of the address is what it connects to: that is judged, and not how it was written.
        prepared = requests.Request("POST", url.strip()).prepare().url or ""
        split = urlsplit(prepared)
        name, port = split.hostname or "", split.port
    except (requests.RequestException, ValueError):
        problem = "the webhook's address cannot be read"
    # Raised out here, so that no exception that holds the address is kept as its context.
    if problem:
        raise UsageError(problem, hint=HOW_TO_WRITE_IT)
    if split.scheme not in ("http", "https") or not name:
        raise UsageError("the webhook URL must start with https://", hint=HOW_TO_WRITE_IT)
    host = (f"[{name}]" if ":" in name else name) + (f":{port}" if port else "")
    if split.scheme == "http" and not is_loopback(name):
        raise UsageError(f"the webhook at {host} would be sent the text without encryption", hint=HOW_TO_WRITE_IT)
    return _Target(prepared, host, split.path, _secrets(prepared))


def _secrets(url: str) -> tuple[str, ...]:
    """What of an address must not be shown, longest first: all behind the host, each piece of it, a password."""
    split = urlsplit(url)
    behind = url.partition("://")[2].partition("/")[2]
    pieces = [behind, *re.split(r"[/&=]", f"{split.path}&{split.query}"), split.username or "", split.password or ""]
    words = {word for piece in pieces for word in (piece, unquote(piece)) if len(word) >= 4}
    return tuple(sorted(words - {"webhook", "send", "cgi-bin"}, key=lambda word: (-len(word), word)))


def _without(secrets: Sequence[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "…")
    return text


@contextmanager
def _session(ca_file: Path | None) -> Iterator[requests.Session]:
    import requests

    with requests.Session() as session:
        session.trust_env = False
        if ca_file is not None:
            session.verify = str(ca_file)
        yield session


@contextmanager
def _unlogged(secrets: Sequence[str]) -> Iterator[None]:
    """Keeps the address out of what urllib3 logs at DEBUG: the whole path and query of every request."""

    def scrub(record: logging.LogRecord) -> bool:
        record.msg, record.args = _without(secrets, record.getMessage()), ()
        return True

    logger = logging.getLogger("urllib3.connectionpool")
    logger.addFilter(scrub)
    try:
        yield
    finally:
        logger.removeFilter(scrub)


def _post(
    session: requests.Session, target: _Target, body: Mapping[str, Any], timeouts_s: tuple[float, float], sent: str
) -> tuple[int, str]:
    """(status, beginning of the answer) of one request; a ServerError for any other status than 2xx."""
    import requests

    data = json.dumps(body, ensure_ascii=False).encode("utf-8")
    headers = {"Content-Type": "application/json; charset=utf-8"}
    fault: requests.RequestException
    try:
        with session.post(
            target.url, data=data, headers=headers, timeout=timeouts_s, allow_redirects=False, stream=True
        ) as answer:
            status = answer.status_code
            said = next(answer.iter_content(ANSWER_BYTES), b"").decode("utf-8", "replace")
    except requests.RequestException as problem:
        fault = problem
    else:
        if 200 <= status < 300:
            return status, said
        raise _refused(target, status, said, sent)
    # Out here, and not from the fault: its text holds the address, and a traceback shows causes and contexts.
    raise _translated(fault, target.host, sent)


def _translated(fault: requests.RequestException, host: str, sent: str) -> ServerError:
    import requests

    if isinstance(fault, requests.ConnectTimeout):
        return ServerUnreachable(f"{host}: connection timed out{sent}", url=host, hint=CHECK_HOST)
    if isinstance(fault, requests.Timeout) or "timed out" in str(fault):
        return ServerTimeout(f"{host} did not answer in time{sent}", url=host, hint=TRY_LATER)
    if isinstance(fault, requests.exceptions.SSLError):
        hint = ("For a certificate of your own authority name its file.", "如果证书由自建 CA 签发，请指定证书文件。")
        return ServerUnreachable(f"{host}: no secure connection{sent}", url=host, hint=hint)
    if isinstance(fault, requests.ConnectionError):
        return ServerUnreachable(f"{host} cannot be reached, or hung up{sent}", url=host, hint=CHECK_HOST)
    return ProtocolError(f"{host} gave an answer that cannot be read{sent}", url=host, hint=CHECK_HOST)


def _refused(target: _Target, status: int, said: str, sent: str) -> ServerError:
    host = target.host
    if 300 <= status < 400:
        message = f"{host} answered {status} and points elsewhere; redirects are not followed{sent}"
        return ProtocolError(message, url=host, hint=CHECK_KEY)
    reason = _without(target.secrets, " ".join(said.split()))[:200] or "no reason given"
    busy = status in (429, 503)
    return ServerRefused(
        f"{host} refused with {status}: {reason}{sent}",
        url=host,
        status=status,
        retryable=status == 503,
        hint=TRY_LATER if busy else CHECK_KEY,
    )


def _check_wecom(target: _Target, status: int, said: str, sent: str) -> None:
    """A robot says 200 whatever happened, and what happened in `errcode`."""
    host = target.host
    try:
        answer = json.loads(said)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or "errcode" not in answer:
        raise ProtocolError(f"{host} did not answer as a WeCom robot does{sent}", url=host, hint=CHECK_KEY)
    code = answer["errcode"]
    if code != 0:
        reason = _without(target.secrets, " ".join(str(answer.get("errmsg", "")).split()))[:200]
        busy = code == WECOM_BUSY
        message = f"{host} refused the message: {code} {reason}{sent}"
        hint = TRY_LATER if busy else CHECK_KEY
        raise ServerRefused(message, url=host, status=status, retryable=busy, hint=hint)
