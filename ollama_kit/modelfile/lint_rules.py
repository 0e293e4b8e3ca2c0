"""The linter's rules as data: a stable code, how bad it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ollama_kit.errors import Hint

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Rule:
    """`error`: Ollama refuses the file or does something other than it says. `warning`: it probably does not do what
    was intended. `info`: worth knowing."""

    code: str
    severity: Severity
    fix: Hint


_ALL = (
    Rule("unreadable", "error", ""),
    Rule("unknown-command", "error", (
        (
            "The commands are FROM, PARAMETER, TEMPLATE, SYSTEM, ADAPTER, LICENSE, MESSAGE, RENDERER, "
            "PARSER, REQUIRES, DRAFT; text of several lines needs three double quotes on each side."
        ),
        (
            "可用指令：FROM、PARAMETER、TEMPLATE、SYSTEM、ADAPTER、LICENSE、MESSAGE、RENDERER、PARSER、"
            "REQUIRES、DRAFT；多行文本要用三个双引号括起来。"
        ),
    )),
    Rule("docker-command", "error", (
        (
            "A Modelfile is not a Dockerfile: nothing is run or copied. A LoRA is `ADAPTER ./lora.gguf`, "
            "weights are `FROM ./model.gguf`."
        ),
        (
            "Modelfile 不是 Dockerfile，不会运行或复制任何东西。LoRA 用 `ADAPTER ./lora.gguf`，权重用 `FROM "
            "./model.gguf`。"
        ),
    )),
    Rule("no-value", "error", (
        "Write the value, or its opening quotes, on the same line as the command.",
        "请把值（或开头的引号）写在指令的同一行。",
    )),
    Rule("parameter-name", "error", (
        "Write `PARAMETER name value`; a name has only letters, digits and underscores.",
        "写成 `PARAMETER 名称 值`；名称只能含字母、数字和下划线。",
    )),
    Rule("parameter-blanks", "error", (
        "Put exactly one space after PARAMETER; with two, Ollama reads an empty name.",
        "PARAMETER 后只能有一个空格；两个空格会让 Ollama 读到空的名称。",
    )),
    Rule("parameter-is-command", "error", (
        "Remove the word PARAMETER: Ollama takes this line for the command itself.",
        "请去掉 PARAMETER：Ollama 会把这一行当成该指令本身。",
    )),
    Rule("message-role", "error", (
        "Write `MESSAGE role text`; the role is system, user or assistant, in lower case.",
        "写成 `MESSAGE 角色 文本`；角色是小写的 system、user 或 assistant。",
    )),
    Rule("unclosed-quotes", "error", (
        "Close them at the end of a line. Ollama says only `unexpected EOF`.",
        "请在行尾关闭引号。Ollama 只会报 `unexpected EOF`。",
    )),
    Rule("text-after-quotes", "error", (
        ("Nothing may follow closing quotes on their line, not even a comment; put it on a line of its own."),
        "结束引号之后同一行不能再有内容（注释也不行）；请另起一行。",
    )),
    Rule("no-from", "error", (
        "Every Modelfile needs one FROM: a model's name or the path of a GGUF.",
        "每个 Modelfile 都需要一行 FROM：模型名或 GGUF 的路径。",
    )),
    Rule("from-path-missing", "error", (
        (
            "Correct the path (it is relative to the Modelfile's folder). Ollama takes a path that does not "
            "exist for a model's name and asks the registry for it."
        ),
        "请改正路径（相对于 Modelfile 所在的文件夹）。路径不存在时，Ollama 会把它当作模型名去注册表下载。",
    )),
    Rule("adapter-path-missing", "error", (
        "Correct the path; it is relative to the Modelfile's folder.",
        "请改正路径；它相对于 Modelfile 所在的文件夹。",
    )),
    Rule("unknown-parameter", "error", (
        "Remove the line or correct the name; names are case-sensitive.",
        "请删除这一行或改正名称；名称区分大小写。",
    )),
    Rule("parameter-tokenizer", "error", (
        (
            "Remove the line. The tokenizer is inside the GGUF and cannot be chosen; a spec of ollama-kit "
            "can check it (tokenizer: qwen)."
        ),
        "请删除这一行。分词器在 GGUF 内，不能另行指定；ollama-kit 的 spec 可以检查它（tokenizer: qwen）。",
    )),
    Rule("removed-parameter", "error", (
        "Remove the line; current servers do not know it.",
        "请删除这一行；当前的服务器已不支持该参数。",
    )),
    Rule("ignored-parameter", "warning", (
        "Remove the line; Ollama only warns that it is deprecated and drops it.",
        "请删除这一行；Ollama 只提示已弃用并忽略它。",
    )),
    Rule("newer-parameter", "error", (
        "Remove the line or update Ollama.",
        "请删除这一行或升级 Ollama。",
    )),
    Rule("newer-command", "error", (
        "Remove the line or update Ollama.",
        "请删除这一行或升级 Ollama。",
    )),
    Rule("parameter-type", "error", (
        "Write a value of that type.",
        "请写该类型的值。",
    )),
    Rule("inline-comment", "error", (
        "Put the comment on a line of its own: after a value, `#` is part of the value.",
        "请把注释单独放一行：值后面的 `#` 属于值的一部分。",
    )),
    Rule("requires-version", "error", (
        "Write a version such as 0.14.0.",
        "请写版本号，例如 0.14.0。",
    )),
    Rule("single-quotes", "warning", (
        "Use double quotes; single ones become part of the value.",
        "请用双引号；单引号会成为值的一部分。",
    )),
    Rule("secret", "warning", (
        (
            "Take it out: everybody who can reach the server can read this text (`ollama show`). If it was "
            "real, revoke it."
        ),
        "请移除：任何能访问服务器的人都能读到它（`ollama show`）。若是真实密钥，请立即作废。",
    )),
    Rule("dropped-characters", "warning", (
        (
            "`ollama create -f` drops them without a word; `ollama-kit build` sends the text through the API "
            "and keeps them."
        ),
        "`ollama create -f` 会悄悄丢掉这些字符；`ollama-kit build` 通过 API 发送，不会丢失。",
    )),
    Rule("duplicate", "warning", (
        "Only the last one counts; remove the others.",
        "只有最后一个生效；请删除其余的。",
    )),
    Rule("empty-value", "warning", (
        "Write a value or remove the line.",
        "请写上值，或删除这一行。",
    )),
    Rule("temperature-range", "warning", (
        "Usual values are 0 to 2: 0 for the likeliest answer each time, 0.7 for chat.",
        "常用范围是 0 到 2：0 表示每次取最可能的回答，聊天常用 0.7。",
    )),
    Rule("num-ctx-missing", "info", (
        (
            "Set num_ctx: otherwise the server's default decides (4096 on many), and what does not fit is "
            "cut silently."
        ),
        "请设置 num_ctx：否则由服务器默认值决定（常为 4096），放不下的内容会被悄悄截掉。",
    )),
    Rule("encoding-utf16", "info", (
        "Save it as UTF-8 without a BOM.",
        "请另存为无 BOM 的 UTF-8。",
    )),
    Rule("encoding-bom", "info", (
        "Save it as UTF-8 without a BOM.",
        "请另存为无 BOM 的 UTF-8。",
    )),
    Rule("line-ends-crlf", "info", (
        (
            "Save it with LF line ends: CR stays inside quoted text, and Ollama counts each line twice in "
            "its errors."
        ),
        "请用 LF 换行保存：CR 会留在引号内的文本里，Ollama 报错的行号也会加倍。",
    )),
)  # fmt: skip

RULES = MappingProxyType({rule.code: rule for rule in _ALL})
