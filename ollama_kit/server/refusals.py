"""What an answer means: an HTTP status and a body, or an error line in a stream, become one of our errors; all else is
checked before anybody reads it (`Answer`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ollama_kit.errors import (
    ContextOverflow,
    Hint,
    ModelMissing,
    OllamaKitError,
    ProtocolError,
    ServerRefused,
    nearest_names,
)
from ollama_kit.server.error_texts import ErrorText, read_error
from ollama_kit.server.wire import JSON, Call, Lines, check_types, decode, excerpt, is_end, is_html, unfinished

BUSY = 503

BY_STATUS: dict[int, Hint] = {
    401: (
        "The server requires authentication: set OLLAMA_API_KEY, or run `ollama signin` for cloud models.",
        "服务器需要身份验证：设置 OLLAMA_API_KEY，云端模型请运行 `ollama signin`。",
    ),
    403: (
        "The server or a proxy rejects this origin: check the URL, and OLLAMA_ORIGINS on the server.",
        "服务器或代理拒绝了该来源：请检查地址，以及服务器上的 OLLAMA_ORIGINS。",
    ),
    404: (
        "This may be another program, an older Ollama without this call, or a missing path prefix.",
        "该地址可能是其他程序、没有此接口的旧版 Ollama，或缺少路径前缀。",
    ),
    500: ("See the server's log for details.", "详情请查看服务器日志。"),
    503: ("The server is busy or starting; try again later.", "服务器繁忙或正在启动，请稍后再试。"),
}


def refusal(status: int, body: bytes, *, url: str, location: str = "") -> OllamaKitError:
    """The error that an answer with a status of 300 and above is.

    ProtocolError where it is not Ollama's own: a redirect (never followed: it could take the text elsewhere), an
    HTML page, or a 404 that names no model. ContextOverflow where the prompt is too long for the server. Else
    ServerRefused, retryable for 503 only.
    """
    if 300 <= status < 400:
        return ProtocolError(
            f"{url} answered {status} and points to {location or 'nowhere'}; redirects are not followed",
            url=url,
            hint=("Use the final address as the host.", "请直接使用最终地址。"),
        )
    said = error_text(body)
    if said is None and status != BUSY and (is_html(body) or (status == 404 and body.strip())):
        return ProtocolError(f"{url} answered {status} with {excerpt(body)}", url=url, hint=BY_STATUS.get(status))
    text = said or ErrorText(excerpt(body) if body.strip() else "no reason given")
    return _as_error(text, f"{url} refused with {status}", status, url)


class Answer:
    """The answer to one call, checked as its bytes arrive: an error in it is raised, and a field of a wrong type or an
    early end is a ProtocolError."""

    def __init__(self, call: Call, *, url: str) -> None:
        self._call, self._url = call, url
        self._lines = Lines(call, url=url)

    def whole(self, body: bytes) -> JSON:
        """The JSON of an answer that was not streamed."""
        return check_reply(self._call, decode(body, url=self._url), url=self._url)

    def feed(self, data: bytes) -> Iterator[JSON]:
        """The lines of a stream that `data` completes; then ServerTimeout if the call's deadline has passed."""
        for line in self._lines.feed(data):
            yield check_reply(self._call, line, url=self._url)
        self._call.check_time(self._url)

    def close(self) -> Iterator[JSON]:
        """What is left after the last line end of a stream."""
        for line in self._lines.close():
            yield check_reply(self._call, line, url=self._url)


def check_line(line: JSON, *, url: str) -> JSON:
    """`line` itself, unless it is the error with which Ollama ends a stream whose 200 is already out."""
    if "error" not in line:
        return line
    said = read_error(line["error"]) or ErrorText("no reason given")
    raise _as_error(said, f"{url} failed mid-response", 0, url)


def _as_error(text: ErrorText, what: str, status: int, url: str) -> OllamaKitError:
    known = text.known
    hint = known.hint if known else BY_STATUS.get(status or 500, "")
    if known and known.reason == "context":
        return ContextOverflow(
            f"{what}: {text.said}",
            needed_tokens=text.needed_tokens,
            available_tokens=text.available_tokens,
            hint=hint,
        )
    return ServerRefused(
        f"{what}: {text.said}",
        url=url,
        status=status,
        retryable=status == BUSY,
        reason=known.reason if known else "",
        hint=hint,
    )


def check_reply(call: Call, reply: JSON, *, url: str) -> JSON:
    """`reply` itself, if it is not an error, has the right types, and is complete where the call was not streamed."""
    check_line(reply, url=url)
    if call.ends == "done":
        check_types(reply, url=url)
    if not call.stream and not is_end(call, reply):
        raise unfinished(call, url)
    return reply


def error_text(body: bytes) -> ErrorText | None:
    """What an `{"error": …}` body says, None where the body is not one. OpenAI's nested form is read too.

    >>> error_text(b'{"error":{"message":"y"}}').said, error_text(b"<html>")
    ('y', None)
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read_error(value.get("error")) if isinstance(value, dict) else None


def model_missing(model: str, installed: Sequence[str], *, url: str) -> ModelMissing:
    """The error for a name that the server does not have, with what it has."""
    nearest = nearest_models(model, installed)
    if nearest:
        hint: Hint = (
            f"Did you mean {nearest[0]}? Installed: {_some(installed)}.",
            f"是否想用 {nearest[0]}？已安装：{_some(installed)}。",
        )
    elif installed:
        hint = (
            f"Installed: {_some(installed)}. Fetch it with `ollama pull {model}`.",
            f"已安装：{_some(installed)}。可用 `ollama pull {model}` 下载。",
        )
    else:
        hint = (
            f"The server has no models yet. Fetch it with `ollama pull {model}`.",
            f"服务器上还没有模型。可用 `ollama pull {model}` 下载。",
        )
    return ModelMissing(
        f"{url} has no model {model!r}", model=model, installed=installed, nearest=nearest, url=url, hint=hint
    )


def nearest_models(wanted: str, installed: Sequence[str]) -> tuple[str, ...]:
    """Up to three of `installed` most like `wanted`; the same model under another tag comes first.

    >>> nearest_models("qwen3:8b", ["llama3:latest", "qwen3:4b"])
    ('qwen3:4b',)
    """
    family = wanted.partition(":")[0].casefold()
    same = [name for name in installed if name.partition(":")[0].casefold() == family]
    return tuple(dict.fromkeys((*same, *nearest_names(wanted, installed))))[:3]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
