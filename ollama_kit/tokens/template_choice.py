"""Which template a server runs for a chat: a renderer built into it, the Go TEMPLATE of the Modelfile, or the Jinja
template inside the weights.

Read in server/images.go and server/routes.go of Ollama 0.30.0 to 0.33. Until 0.30 there is only TEMPLATE, and from 0.12
on a RENDERER. From 0.30 on a TEMPLATE is passed over where the Jinja template can do more (tools, thinking), without a
word of the server. What `/api/show` prints tells: its `template` is the text that runs, its `modelfile` still has the
TEMPLATE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.tokens.chat_template.nodes import Action, Branch, Chain, Field, Node, Operand, Pipe, Text
from ollama_kit.tokens.chat_template.template import DEFAULT_TEMPLATE, ChatTemplate
from ollama_kit.tokens.chat_template.template_errors import TemplateError

if TYPE_CHECKING:
    from ollama_kit.server.facts import ModelFacts

NATIVE_SINCE = ServerVersion(0, 30, 0)
"""From here on the Jinja template inside the weights can run."""
ROUND_TRIPS_SINCE = ServerVersion(0, 30, 11)
"""From here on, of two templates with tools, one that also writes their results is preferred."""

CHATML = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}"
    "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
"""What the engine renders for weights without a template (llama.cpp, common/chat.cpp)."""

Runs = Literal["renderer", "go", "jinja", "chatml", "unclear"]


@dataclass(frozen=True)
class TemplateChoice:
    """What renders a chat, and how that is known.

    `runs`: "renderer" (`renderer` is its name), "go" or "jinja" (`template` is the text), "chatml" (neither is there:
    `template` is the engine's own), or "unclear", where the server's answer fits "chatml" and "go" alike.
    `because` is half a sentence for messages. `ignored` is the TEMPLATE that the server passes over, "" if it does not.
    """

    runs: Runs
    template: str
    because: str
    renderer: str = ""
    ignored: str = ""

    @property
    def is_native(self) -> bool:
        """Whether the engine renders: turns of one role are not joined then, and a template may refuse a chat."""
        return self.runs in ("jinja", "chatml")


def template_in_force(facts: ModelFacts, version: ServerVersion | None) -> TemplateChoice:
    """What renders the chats of a model, by the server's own answer to `/api/show`. `version` None: unknown, and only
    what the answer itself says counts."""
    shown, stated = facts.template, facts.modelfile_template
    if facts.renderer:
        return TemplateChoice("renderer", "", f"the model has RENDERER {facts.renderer}", facts.renderer)
    if version is not None and not version.reaches(NATIVE_SINCE):
        return TemplateChoice("go", shown or DEFAULT_TEMPLATE, f"Ollama {version} runs the Modelfile's TEMPLATE only")
    if facts.parser:
        return TemplateChoice("go", shown or DEFAULT_TEMPLATE, f"the model has PARSER {facts.parser}")
    if _is_jinja(shown, facts.modelfile):
        ignored = "" if stated in ("", DEFAULT_TEMPLATE, shown) else stated
        because = "the server shows the Jinja template of the weights"
        if ignored:
            because += ", which can do more than the Modelfile's TEMPLATE"
        return TemplateChoice("jinja", shown, because, ignored=ignored)
    if shown in ("", DEFAULT_TEMPLATE):
        because = (
            f"the server shows {DEFAULT_TEMPLATE}, for weights without any template (it writes ChatML then) and for a "
            "TEMPLATE of that text alike"
        )
        return TemplateChoice("unclear", "", because)
    return TemplateChoice("go", shown, "the server shows the Modelfile's TEMPLATE")


def template_to_be(
    *,
    version: ServerVersion,
    template: str = "",
    jinja: str = "",
    renderer: str = "",
    parser: str = "",
    architecture: str = "",
    go_template: bool | None = None,
) -> TemplateChoice:
    """What will render the chats of a model that is not built yet. `template` is its TEMPLATE, `jinja` the template
    inside its weights, "" where there is none; `go_template` is OLLAMA_GO_TEMPLATE of the server, None where it is not
    set."""
    if renderer:
        return TemplateChoice("renderer", "", f"RENDERER {renderer} is set", renderer)
    if not version.reaches(NATIVE_SINCE):
        return TemplateChoice("go", template or DEFAULT_TEMPLATE, f"Ollama {version} runs TEMPLATE only")
    if parser:
        return TemplateChoice("go", template or DEFAULT_TEMPLATE, f"PARSER {parser} is set")
    if template and not jinja:
        return TemplateChoice("go", template, "the weights have no template of their own")
    if not jinja:
        return TemplateChoice("chatml", CHATML, "there is neither a TEMPLATE nor a template in the weights")
    if not template:
        return TemplateChoice("jinja", jinja, "there is no TEMPLATE, and the weights have one")
    if go_template:
        return TemplateChoice("go", template, "the server runs with OLLAMA_GO_TEMPLATE=1")
    if go_template is False:
        return TemplateChoice("jinja", jinja, "the server runs with OLLAMA_GO_TEMPLATE=0", ignored=template)
    if is_harmony(architecture, template):
        return TemplateChoice("go", template, "the server reads gpt-oss by its TEMPLATE")
    better = why_jinja_is_preferred(jinja, template, version)
    if better:
        return TemplateChoice("jinja", jinja, better, ignored=template)
    return TemplateChoice("go", template, "the template in the weights can do no more than TEMPLATE")


def is_harmony(architecture: str, template: str) -> bool:
    """Whether the server takes the model for a gpt-oss (server/routes.go, shouldUseHarmony)."""
    return architecture in ("gptoss", "gpt-oss") and "<|start|>" in template and "<|end|>" in template


def why_jinja_is_preferred(jinja: str, template: str, version: ServerVersion) -> str:
    """Why the template in the weights outvotes TEMPLATE, as half a sentence; empty where it does not
    (server/images.go, shouldPreferChatTemplate)."""
    inside, stated = jinja_abilities(jinja), go_abilities(template)
    if len(inside) > len(stated):
        if _go_round_trip(template) and not _jinja_round_trip(jinja):
            return ""
        more = " and ".join(sorted(inside - stated))
        return f"the Jinja template in the weights knows {more}, which TEMPLATE does not"
    same_with_tools = version.reaches(ROUND_TRIPS_SINCE) and inside == stated and "tools" in inside
    if same_with_tools and _jinja_round_trip(jinja) and not _go_round_trip(template):
        return "the Jinja template in the weights writes the results of tools, which TEMPLATE does not"
    return ""


def jinja_abilities(text: str) -> frozenset[str]:
    """What the server believes that a Jinja template can do: "tools", "thinking"."""
    found = set()
    if "tools" in text or "tool_call" in text:
        found.add("tools")
    splits = "content.split('</think>')" in text or 'content.split("</think>")' in text
    if ("<think>" in text and "</think>" in text) or (
        splits and "reasoning_content" not in text and "<SPECIAL_12>" not in text
    ):
        found.add("thinking")
    return frozenset(found)


def go_abilities(text: str) -> frozenset[str]:
    """What the server believes that a TEMPLATE can do: "tools", "insert", "thinking"; nothing where it cannot be
    parsed here."""
    try:
        template = ChatTemplate.parse(text)
    except TemplateError:
        return frozenset()
    found = {ability for name, ability in (("tools", "tools"), ("suffix", "insert")) if name in template.names}
    if all(_thinking_tags(template.parsed.root)):
        found.add("thinking")
    return frozenset(found)


def _is_jinja(shown: str, modelfile: str) -> bool:
    """Whether `/api/show` gives the weights' own template: it is not what its Modelfile prints as TEMPLATE. Where that
    prints none (a proxy may leave it out), by the look of it."""
    if "\nTEMPLATE " in f"\n{modelfile}":
        return bool(shown) and f"TEMPLATE {_quoted(shown)}" not in modelfile
    return "{%" in shown


def _quoted(text: str) -> str:
    """A text as the server prints it in a Modelfile (parser/parser.go)."""
    if "\n" in text or text.startswith(" ") or text.endswith(" "):
        return f'"""{text}"""' if '"' in text else f'"{text}"'
    return text


def _jinja_round_trip(text: str) -> bool:
    if "tool_calls" not in text and "assistant_tool_call" not in text:
        return False
    return any(
        piece in text
        for piece in (
            *("tool_response", "tool_results", "ipython", "message.role == 'tool'", 'message.role == "tool"'),
            *("role'] == 'tool'", 'role\'] == "tool"', "role\"] == 'tool'", 'role"] == "tool"'),
        )
    )


def _go_round_trip(text: str) -> bool:
    try:
        names = ChatTemplate.parse(text).names
    except TemplateError:
        return False
    if not {"tools", "toolcalls"} <= names:
        return False
    return 'eq .Role "tool"' in text or "tool_response" in text or "TOOL_RESULTS" in text


def _thinking_tags(nodes: tuple[Node, ...]) -> tuple[str, str]:
    """The texts around `.Thinking` where a range over the messages prints it (thinking/template.go, InferTags)."""
    tags = ("", "")
    for body, in_messages in _lists(nodes, False):
        if in_messages and any("Thinking" in names[:1] for node in body for names in _fields(node)):
            first, last = body[0], body[-1]
            tags = (
                first.text.strip() if isinstance(first, Text) else tags[0],
                last.text.strip() if isinstance(last, Text) else tags[1],
            )
    return tags


def _lists(nodes: tuple[Node, ...], in_messages: bool) -> Iterator[tuple[tuple[Node, ...], bool]]:
    """Every list of nodes in the order of the text, and whether the innermost range around it is over messages."""
    if nodes:
        yield nodes, in_messages
    for node in nodes:
        if isinstance(node, Branch):
            inside = in_messages
            if node.kind == "range":
                inside = any("Messages" in names[:1] for names in _operands(node.pipe))
            yield from _lists(node.body, inside)
            yield from _lists(node.orelse or (), inside)


def _fields(node: Node) -> Iterator[tuple[str, ...]]:
    """The fields that a node itself reads, not those of the lists below it."""
    if isinstance(node, Action | Branch):
        yield from _operands(node.pipe)


def _operands(operand: Pipe | Operand) -> Iterator[tuple[str, ...]]:
    if isinstance(operand, Field):
        yield operand.names
    elif isinstance(operand, Pipe):
        for command in operand.commands:
            for inner in command.operands:
                yield from _operands(inner)
    elif isinstance(operand, Chain):
        yield from _operands(operand.operand)
