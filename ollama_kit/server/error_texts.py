"""What Ollama's error texts mean: a word that code can act on, and what a person can do.

Texts of 0.9.3 to 0.33: server/routes.go, sched.go, create.go, images.go, model_resolver.go, llm/server.go,
llm/llama_server.go, types/errtypes; those of llama-server come as JSON inside `error`, since Ollama passes its body on.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ollama_kit.errors import Hint


@dataclass(frozen=True)
class KnownError:
    """An error text. `reason` is stable across versions of Ollama: `ServerRefused.reason`."""

    pattern: str
    reason: str
    hint: Hint


KNOWN: tuple[KnownError, ...] = (
    KnownError(
        r"no space left on device|not enough space on the disk|disk quota exceeded",
        "disk",
        (
            "The server's disk is full. Free some space (`ollama rm`, OLLAMA_MODELS on a larger disk) and repeat.",
            "服务器磁盘已满。请清理空间（`ollama rm`，或把 OLLAMA_MODELS 放到更大的磁盘）后重试。",
        ),
    ),
    KnownError(
        r"digest mismatch",
        "digest",
        (
            "The file changed while it was being sent, or was damaged on the way. Send it again.",
            "文件在传输过程中被修改或损坏，请重新发送。",
        ),
    ),
    KnownError(
        r"exceed_context_size_error|exceeds the available context size|exceeds (?:the|maximum) context length"
        r"|longer than the context length|input .{0,80}is too large to process",
        "context",
        (
            "Shorten or split the text, let the policy's `context` drop something, or raise `context` in the spec.",
            "请缩短或拆分文本，在策略里设置 `context` 的裁剪规则，或在规格文件里调大 `context`。",
        ),
    ),
    KnownError(
        r"failed to parse grammar|JSON schema conversion failed|Unrecognized schema|invalid JSON schema in format"
        r"|failed to (?:load|create|initialize) grammar",
        "grammar",
        (
            "The server cannot compile this schema; `ollama-kit schema FILE` shows the part that it can.",
            "服务器无法编译该 schema；`ollama-kit schema FILE` 会显示可用的部分。",
        ),
    ),
    KnownError(
        r"invalid format:",
        "format",
        ("`format` takes a JSON Schema object.", "`format` 只接受 JSON Schema 对象。"),
    ),
    KnownError(
        r"does not support embeddings|\"--embeddings\"|`--embeddings`",
        "embeddings",
        (
            "Use a model made for embeddings: since Ollama 0.30 only those that state a pooling type can embed.",
            "请使用嵌入模型：Ollama 0.30 起，只有声明了 pooling 类型的模型才能生成向量。",
        ),
    ),
    KnownError(
        r"out of memory|out-of-memory|requires more system memory|cudaMalloc failed|unable to allocate",
        "memory",
        (
            "The model does not fit into memory at this context: lower `context`, or use a smaller quantization.",
            "在该上下文长度下内存不足：请调小 `context`，或换用更小的量化版本。",
        ),
    ),
    KnownError(
        r"does not support thinking|invalid think value|think must be a boolean|ChatRequest\.think",
        "thinking",
        (
            "Set `thinking: false` for this model, or a level that it knows (`ollama-kit show`).",
            "请为该模型设置 `thinking: false`，或使用它支持的级别（见 `ollama-kit show`）。",
        ),
    ),
    KnownError(
        r"does not support tools",
        "tools",
        (
            "This model cannot call tools; `ollama-kit show` lists what a model can do.",
            "该模型不能调用工具；`ollama-kit show` 会列出模型的能力。",
        ),
    ),
    KnownError(
        r"does not support (?:insert|chat|generate|completion)",
        "capability",
        (
            "This model is made for something else; `ollama-kit show` lists what it can do.",
            "该模型不支持此用法；`ollama-kit show` 会列出它的能力。",
        ),
    ),
    KnownError(
        r"does not support multimodal|image input is not supported|Multimodal data provided|missing data required for",
        "images",
        (
            "This model cannot see: use one with vision, or build with its projector file.",
            "该模型不能识别图片：请使用支持视觉的模型，或在构建时加入其 projector 文件。",
        ),
    ),
    KnownError(
        r"illegal base64 data|failed to decode image|unknown image format",
        "image_data",
        ("The image is damaged or of an unknown format.", "图片已损坏，或格式无法识别。"),
    ),
    KnownError(
        r"option \"\w+\" must be of type|Field '\w+': Value must be between",
        "option",
        (
            "A parameter of the model or of the call has a wrong value; `ollama-kit lint` names it.",
            "模型或调用的某个参数取值不对；`ollama-kit lint` 会指出。",
        ),
    ),
    KnownError(
        r"cannot unmarshal|invalid character .* looking for|invalid input type",
        "request",
        (
            "The server does not take a field of this request: it may be older than ollama-kit expects.",
            "服务器不接受请求中的某个字段：其版本可能过旧。",
        ),
    ),
    KnownError(
        r"server busy|maximum pending requests",
        "busy",
        (
            "Too many requests are queued at the server. Try again later, or raise OLLAMA_MAX_QUEUE there.",
            "服务器排队请求过多。请稍后再试，或在服务器上调大 OLLAMA_MAX_QUEUE。",
        ),
    ),
    KnownError(
        r"llama-quantize unavailable|llama-quantize binary not found",
        "installation",
        (
            "The server's installation is incomplete (llama-quantize is missing): install Ollama again.",
            "服务器的安装不完整（缺少 llama-quantize）：请重新安装 Ollama。",
        ),
    ),
    KnownError(
        r"failed to validate GGUF|unknown model architecture|unsupported model architecture"
        r"|may be incompatible with your version of Ollama",
        "architecture",
        (
            "The model's architecture is newer than this Ollama: update it, or pull the library's own build.",
            "模型架构比该 Ollama 更新：请升级 Ollama，或直接拉取模型库中的版本。",
        ),
    ),
    KnownError(
        r"unknown renderer|unknown parser",
        "renderer",
        (
            "This Ollama does not know the model's renderer or parser: update it, or build `--from` another base.",
            "该 Ollama 不认识模型的 renderer 或 parser：请升级，或用 `--from` 换一个基础模型。",
        ),
    ),
    KnownError(
        r"roles must alternate|assistant messages at the end of the list|Unable to generate parser for this template"
        r"|template error|error rendering|chat template",
        "template",
        (
            "The template refuses these turns, or is broken: one system turn first, then user and assistant in turn.",
            "模型的模板不接受这样的对话顺序，或模板本身有误：系统消息只能有一条并放在最前，之后用户与助手交替。",
        ),
    ),
    KnownError(
        r"llama-server chat error|(?:llama-server process|llama runner(?: process)?) has terminated"
        r"|model runner has unexpectedly stopped|an error was encountered while running the model",
        "runner",
        (
            "The program that runs the model crashed; its log says why. A smaller `context` or schema often helps.",
            "运行模型的进程崩溃，原因见服务器日志。减小 `context` 或简化 schema 往往有效。",
        ),
    ),
    KnownError(
        r"timed out waiting for (?:llama-server|llama runner)",
        "load_timeout",
        (
            "The model took too long to load. Raise OLLAMA_LOAD_TIMEOUT on the server, or use a smaller model.",
            "模型加载超时。请在服务器上调大 OLLAMA_LOAD_TIMEOUT，或换用更小的模型。",
        ),
    ),
    KnownError(
        r"ollama cloud is disabled|use either :local or :cloud",
        "cloud",
        (
            "This is a cloud model, which leaves the machine. Use a local one.",
            "这是云端模型，文本会离开本机。请使用本地模型。",
        ),
    ),
    KnownError(
        r"unauthorized|signin_url",
        "auth",
        (
            "The server requires authentication: set OLLAMA_API_KEY, or run `ollama signin` for cloud models.",
            "服务器需要身份验证：设置 OLLAMA_API_KEY，云端模型请运行 `ollama signin`。",
        ),
    ),
    KnownError(
        r"pull model manifest|file does not exist",
        "registry",
        (
            "The registry has no such model, or cannot be reached; check the name and the tag.",
            "模型库中没有该名称，或无法访问模型库；请检查名称与标签。",
        ),
    ),
    KnownError(
        r"unsupported quantization type|quantization is only supported",
        "quantize",
        (
            "Ollama quantizes F32, F16, BF16 to F16, Q8_0, Q4_K_S, Q4_K_M; else name llama-quantize's file in `from`.",
            "Ollama 只能把 F32、F16、BF16 量化为 F16、Q8_0、Q4_K_S 或 Q4_K_M；其他类型请先用 llama-quantize 生成文件。",
        ),
    ),
    KnownError(
        r"model .* not found|model is required",
        "missing",
        (
            "See what is installed with `ollama-kit list`, or fetch it with `ollama pull`.",
            "用 `ollama-kit list` 查看已安装的模型，或用 `ollama pull` 下载。",
        ),
    ),
    KnownError(
        r"invalid model name|(?:source|destination|model) \".*\" is invalid",
        "name",
        (
            "A name is [namespace/]model[:tag], of letters, digits, - _ and dots.",
            "名称格式为 [namespace/]model[:tag]，只能用字母、数字、- _ 和点。",
        ),
    ),
    KnownError(
        r"raw mode does not support|top_logprobs must be|file path must be relative|logprobs",
        "request",
        ("The server refuses this combination of fields.", "服务器不接受这种字段组合。"),
    ),
    KnownError(
        r"request canceled",
        "cancelled",
        ("The connection was closed before the answer came.", "在得到回答之前连接已关闭。"),
    ),
)
"""In the order in which they are tried: what is more particular comes first."""

_CONTEXT_NUMBERS = re.compile(r"request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)")


@dataclass(frozen=True)
class ErrorText:
    """An error as the server said it, in one line. `needed_tokens` and `available_tokens` where it is about the context
    and says them, else 0."""

    said: str
    needed_tokens: int = 0
    available_tokens: int = 0

    @property
    def known(self) -> KnownError | None:
        """What it means, None for a text of no kind known."""
        return next((one for one in KNOWN if re.search(one.pattern, self.said, re.IGNORECASE)), None)


def read_error(error: object) -> ErrorText | None:
    """The text of an `error` member, None where it holds none. llama-server's errors come as JSON in a string, which
    may come in a member of its own again; OpenAI's are objects.

    >>> read_error('{"error":{"code":400,"message":"Failed: bad"}}').said
    'Failed: bad'
    """
    numbers: dict[str, Any] = {}
    for _ in range(4):  # an error inside an error inside an error is not said by anybody
        if isinstance(error, str) and error.lstrip().startswith("{"):
            try:
                error = json.loads(error)
            except (ValueError, RecursionError):
                break
        if not isinstance(error, dict):
            break
        numbers |= error
        error = error.get("error", error.get("message"))
    if not isinstance(error, str) or not error.strip():
        return None
    said = " ".join(error.split())
    found = _CONTEXT_NUMBERS.search(said)
    needed, available = (found[1], found[2]) if found else (numbers.get("n_prompt_tokens"), numbers.get("n_ctx"))
    return ErrorText(said, _whole(needed), _whole(available))


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else 0
