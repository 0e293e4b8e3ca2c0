"""What an answer means: an HTTP status and a body, or an error line in a stream, become one of our errors; all else is
checked before anybody reads it (`Answer`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ollama_kit.errors import Hint, ModelMissing, ProtocolError, ServerError, ServerRefused, nearest_names
from ollama_kit.server.wire import JSON, Call, Lines, check_types, decode, excerpt, is_end, is_html, unfinished

BUSY = 503

# (what Ollama's message says, what to do). Texts of 0.9.3 to 0.33: server/routes.go, server/sched.go, llm/server.go,
# server/create.go, server/images.go, types/errtypes.
HINTS: tuple[tuple[str, Hint], ...] = (
    (
        r"no space left on device|not enough space on the disk|disk quota exceeded",
        (
            "The server's disk is full. Free some space (`ollama rm`, OLLAMA_MODELS on a larger disk) and repeat.",
            "服务器磁盘已满。请清理空间（`ollama rm`，或把 OLLAMA_MODELS 放到更大的磁盘）后重试。",
        ),
    ),
    (
        r"digest mismatch",
        (
            "The file changed while it was being sent, or was damaged on the way. Send it again.",
            "文件在传输过程中被修改或损坏，请重新发送。",
        ),
    ),
    (
        r"requires more system memory|out of memory|cudaMalloc failed|unable to allocate",
        (
            "The model does not fit into memory at this context: lower `context`, or use a smaller quantization.",
            "在该上下文长度下内存不足：请调小 `context`，或换用更小的量化版本。",
        ),
    ),
    (
        r"does not support thinking",
        ("Set `thinking: false` for this model.", "请为该模型设置 `thinking: false`。"),
    ),
    (
        r"option \"\w+\" must be of type",
        (
            "A parameter of the model or of the call has the wrong type; `ollama-kit lint` names it.",
            "模型或调用的某个参数类型不对；`ollama-kit lint` 会指出。",
        ),
    ),
    (
        r"server busy|maximum pending requests",
        (
            "Too many requests are queued at the server. Try again later, or raise OLLAMA_MAX_QUEUE there.",
            "服务器排队请求过多。请稍后再试，或在服务器上调大 OLLAMA_MAX_QUEUE。",
        ),
    ),
    (
        r"pull model manifest|file does not exist",
        (
            "The registry has no such model, or cannot be reached; check the name and the tag.",
            "模型库中没有该名称，或无法访问模型库；请检查名称与标签。",
        ),
    ),
    (
        r"model .* not found",
        (
            "See what is installed with `ollama-kit list`, or fetch it with `ollama pull`.",
            "用 `ollama-kit list` 查看已安装的模型，或用 `ollama pull` 下载。",
        ),
    ),
    (
        r"invalid model name",
        (
            "A name is [namespace/]model[:tag], of letters, digits, - _ and dots.",
            "名称格式为 [namespace/]model[:tag]。",
        ),
    ),
)

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


def refusal(status: int, body: bytes, *, url: str, location: str = "") -> ServerError:
    """The error that an answer with a status of 300 and above is.

    ProtocolError where it is not Ollama's own: a redirect (never followed: it could take the text elsewhere), an
    HTML page, or a 404 that names no model. Else ServerRefused, retryable for 503 only.
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
    text = said if said is not None else (excerpt(body) if body.strip() else "no reason given")
    return ServerRefused(
        f"{url} refused with {status}: {text}",
        url=url,
        status=status,
        retryable=status == BUSY,
        hint=hint_for(text, status),
    )


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
    said = _text_of(line["error"]) or "no reason given"
    raise ServerRefused(f"{url} failed mid-response: {said}", url=url, status=0, hint=hint_for(said, 500))


def check_reply(call: Call, reply: JSON, *, url: str) -> JSON:
    """`reply` itself, if it is not an error, has the right types, and is complete where the call was not streamed."""
    check_line(reply, url=url)
    if call.ends == "done":
        check_types(reply, url=url)
    if not call.stream and not is_end(call, reply):
        raise unfinished(call, url)
    return reply


def error_text(body: bytes) -> str | None:
    """What an `{"error": …}` body says, None where the body is not one. OpenAI's nested form is read too.

    >>> error_text(b'{"error":"x"}'), error_text(b'{"error":{"message":"y"}}'), error_text(b"<html>")
    ('x', 'y', None)
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return _text_of(value.get("error")) if isinstance(value, dict) else None


def hint_for(text: str, status: int) -> Hint:
    """What to do about an error message of Ollama's; by its status where the text is not a known one."""
    for pattern, hint in HINTS:
        if re.search(pattern, text, re.IGNORECASE):
            return hint
    return BY_STATUS.get(status, "")


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


def _text_of(error: object) -> str | None:
    if isinstance(error, dict):
        error = error.get("message")
    return " ".join(error.split()) or None if isinstance(error, str) else None
