"""Every error ollama-kit raises, as one tree.

    OllamaKitError
    ├── UsageError                 a value given on the command line, in the environment or in settings is wrong
    ├── PlugInError                an installed plug-in that cannot be imported, or does what none may
    ├── SettingsError              a settings file is wrong: file, line
    ├── SpecError                  a model spec is wrong: file, line, what was expected
    │   └── SpecNotFound           no spec or template of that name; the nearest ones that exist
    ├── ModelfileError             a Modelfile is wrong, or text that its grammar cannot carry
    ├── ServerError
    │   ├── ServerUnreachable      nobody answered at the URL tried
    │   ├── ServerTimeout          somebody did, then was silent for too long
    │   ├── ServerRefused          an HTTP status or an error line; knows whether another try can help
    │   │   └── ModelMissing       the server lacks the model; what it has instead
    │   └── ProtocolError          an answer that is not Ollama's: HTML, half a stream, no version
    ├── GGUFError                  a weights file that is not one, or is cut short
    ├── ChatError                  an exported chat that cannot be read: file, line
    ├── DocumentError              a document that cannot be read, or not be read safely: file, page
    ├── BuildError                 a build that must not continue
    │   ├── ExpectationFailed      the model is not what the spec expects (GQA, tokenizer, context)
    │   └── BuildMismatch          the server does not hold what was sent
    ├── RemoteHostRefused          text would leave this machine, which the caller has not allowed
    ├── ContextOverflow            the prompt does not fit: tokens needed, tokens available
    ├── TurnsRefused               the model's chat template does not take the turns as they are
    ├── GuardBlocked               a guard stage refused the text: stage and reason
    ├── SchemaError                the JSON Schema of a call is not valid
    ├── AuditError                 the audit cannot be written or read
    └── OutputInvalid              no attempt gave a valid answer; carries each of them

`str(error)` says what happened, then what to do. `code` is stable across releases and languages; `hint` is in
Chinese where the locale is, else in English; `exit_code` is what the command line returns.
"""

from __future__ import annotations

import locale
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from ollama_kit.records.report import Attempt

Hint = str | tuple[str, str]
"""What to do next: one text, or (English, Chinese)."""


class OllamaKitError(Exception):
    """Root of the tree: `message` is what happened, `hint` what to do about it."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    default_hint: ClassVar[Hint] = ""

    def __init__(self, message: str, *, hint: Hint | None = None) -> None:
        super().__init__(message)
        self.message = message
        self._hint = self.default_hint if hint is None else hint

    @property
    def hint(self) -> str:
        """What to do next, in the user's language; empty if there is nothing to add."""
        return in_users_language(self._hint)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(OllamaKitError):
    """A flag, an environment variable or a setting holds a value that cannot be used."""

    code = "usage"
    exit_code = 2


class PlugInError(OllamaKitError):
    """What another distribution adds to ollama-kit cannot be used. `distribution` is its name."""

    code = "plugin"

    def __init__(self, message: str, *, distribution: str) -> None:
        self.distribution = distribution
        hint = (
            f"Upgrade or uninstall {distribution}; OLLAMA_KIT_PLUGINS=none switches every plug-in off.",
            f"请升级或卸载 {distribution}；设置 OLLAMA_KIT_PLUGINS=none 可停用全部插件。",
        )
        super().__init__(message, hint=hint)


class SourceError(OllamaKitError):
    """An error at a place in a file. `line` counts from 1; 0 where the place is the file as a whole."""

    exit_code = 2

    def __init__(self, message: str, *, path: Path | str = "", line: int = 0, hint: Hint | None = None) -> None:
        self.path, self.line, self.problem = path, line, message
        where = ":".join(str(part) for part in (path, line) if part)
        super().__init__(f"{where}: {message}" if where else message, hint=hint)


class SettingsError(SourceError):
    code = "settings"


class SpecError(SourceError):
    code = "spec"


class SpecNotFound(SpecError):
    code = "spec.not_found"

    def __init__(
        self,
        message: str,
        *,
        nearest: Sequence[str] = (),
        path: Path | str = "",
        line: int = 0,
        hint: Hint | None = None,
    ) -> None:
        self.nearest = tuple(nearest)
        super().__init__(message, path=path, line=line, hint=hint)


class ModelfileError(SourceError):
    code = "modelfile"


class ServerError(OllamaKitError):
    """Anything that went wrong between here and an Ollama server at `url`."""

    code = "server"
    exit_code = 3

    def __init__(self, message: str, *, url: str = "", hint: Hint | None = None) -> None:
        self.url = url
        super().__init__(message, hint=hint)


class ServerUnreachable(ServerError):
    code = "server.unreachable"
    default_hint = (
        "Start the server with `ollama serve` (or the Ollama app), or name another one with --host or OLLAMA_HOST.",
        "请先运行 `ollama serve`（或打开 Ollama 应用），或用 --host / OLLAMA_HOST 指定另一台服务器。",
    )


class ServerTimeout(ServerError):
    code = "server.timeout"
    default_hint = (
        "The model may still be loading, or the machine may be short of memory; look at the server's log.",
        "模型可能仍在加载，或机器内存不足；请查看服务器日志。",
    )


class ServerRefused(ServerError):
    """The server answered with an error. `status` is HTTP's (0 where the error came as a line inside a 200);
    `retryable` says whether the same request can succeed later (a busy server), never true for 4xx. `reason` is a
    stable word for what Ollama said ("grammar", "memory", "tools": server/error_texts.py), empty for other texts."""

    code = "server.refused"

    def __init__(
        self,
        message: str,
        *,
        url: str = "",
        status: int = 0,
        retryable: bool = False,
        reason: str = "",
        hint: Hint | None = None,
    ) -> None:
        self.status, self.retryable, self.reason = status, retryable, reason
        super().__init__(message, url=url, hint=hint)


class ModelMissing(ServerRefused):
    """The server has no model of that name. `installed` is what it has, `nearest` the likeliest meant."""

    code = "server.model_missing"

    def __init__(
        self,
        message: str,
        *,
        model: str,
        installed: Sequence[str] = (),
        nearest: Sequence[str] = (),
        url: str = "",
        hint: Hint | None = None,
    ) -> None:
        self.model, self.installed, self.nearest = model, tuple(installed), tuple(nearest)
        super().__init__(message, url=url, status=404, hint=hint)


class ProtocolError(ServerError):
    """What came back is not what Ollama says: HTML from a proxy, a stream without its end, a strange version."""

    code = "server.protocol"
    default_hint = (
        "Check that the URL is an Ollama server and that no proxy is in between.",
        "请确认该地址是 Ollama 服务器，且中间没有代理。",
    )


class GGUFError(SourceError):
    code = "gguf"


class ChatError(SourceError):
    """An exported chat is in an unknown format, or too much of it is broken."""

    code = "chat"


class DocumentError(SourceError):
    """A document is broken, locked, only a picture, or larger than the limits. `page` counts from 1; 0 where the
    place is the file as a whole. `locked`: another password may open it."""

    code = "document"

    def __init__(
        self, message: str, *, path: Path | str = "", page: int = 0, locked: bool = False, hint: Hint | None = None
    ) -> None:
        self.page, self.locked = page, locked
        super().__init__(f"page {page}: {message}" if page else message, path=path, hint=hint)


class BuildError(OllamaKitError):
    code = "build"


class ExpectationFailed(BuildError):
    code = "build.expectation"


class BuildMismatch(BuildError):
    code = "build.mismatch"


class RemoteHostRefused(OllamaKitError):
    """The text would go to another machine (a host that is not loopback, or a model the server forwards)."""

    code = "remote"
    exit_code = 2
    default_hint = (
        "To allow it, add --allow-remote.",
        "如果确实需要，请加上 --allow-remote。",
    )


class ContextOverflow(OllamaKitError):
    """The prompt needs `needed_tokens`, but only `available_tokens` of the context window are available. 0 for a figure
    that a server, which refused it, did not say."""

    code = "context.overflow"

    def __init__(self, message: str, *, needed_tokens: int, available_tokens: int, hint: Hint | None = None) -> None:
        self.needed_tokens, self.available_tokens = needed_tokens, available_tokens
        super().__init__(message, hint=hint)


class TurnsRefused(OllamaKitError):
    """The model's chat template raises at the conversation, so that the server would answer with an error. `turn` is
    the message at which it does, counted from 0; None where that is not known."""

    code = "turns"
    exit_code = 2
    default_hint = (
        "Put one system message at most, and first; then user and assistant in turn, beginning with the user.",
        "最多一条 system 消息且须在最前，其后 user 与 assistant 依次交替，并以 user 开头。",
    )

    def __init__(self, message: str, *, turn: int | None = None, hint: Hint | None = None) -> None:
        self._turn = turn
        super().__init__(message, hint=hint)

    @property
    def turn(self) -> int | None:
        return self._turn


class GuardBlocked(OllamaKitError):
    code = "guard.blocked"

    def __init__(self, message: str, *, stage: str, reason: str, hint: Hint | None = None) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(message, hint=hint)


class SchemaError(OllamaKitError):
    code = "schema"
    exit_code = 2


class AuditError(SourceError):
    """The audit's file cannot be used. A call that could not be recorded gives no answer."""

    code = "audit"


class OutputInvalid(OllamaKitError):
    """No attempt gave a valid answer. `attempts` holds each one, oldest first, with its reply and reason."""

    code = "output.invalid"

    def __init__(self, message: str, *, attempts: Sequence[Attempt], hint: Hint | None = None) -> None:
        self.attempts = tuple(attempts)
        super().__init__(message, hint=hint)


class PromptCut(OutputInvalid):
    """The server counted `counted_tokens` of a prompt that is exactly `predicted_tokens` long: it has cut it, and
    nothing that it answered is taken."""

    code = "output.prompt_cut"

    def __init__(
        self,
        message: str,
        *,
        predicted_tokens: int,
        counted_tokens: int,
        attempts: Sequence[Attempt] = (),
        hint: Hint | None = None,
    ) -> None:
        self.predicted_tokens, self.counted_tokens = predicted_tokens, counted_tokens
        super().__init__(message, attempts=attempts, hint=hint)


def in_users_language(text: Hint) -> str:
    """The English or the Chinese of a hint: OLLAMA_KIT_LANG first, then the locale."""
    if isinstance(text, str):
        return text
    english, chinese = text
    named = next(
        (value for name in ("OLLAMA_KIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), ""
    )
    language = named or locale.getlocale()[0] or ""
    return chinese if language.lower().startswith(("zh", "chinese")) else english


def nearest_names(wanted: str, known: Sequence[str]) -> tuple[str, ...]:
    """Up to three of `known` that look most like `wanted`, best first.

    >>> nearest_names("contxt", ["context", "system", "from"])
    ('context',)
    """
    import difflib

    folded = {name.casefold(): name for name in known}
    return tuple(folded[match] for match in difflib.get_close_matches(wanted.casefold(), list(folded), n=3, cutoff=0.6))
