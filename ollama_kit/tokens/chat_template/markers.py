"""Which literal pieces of a chat template mark a turn: texts that outsiders may not write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ollama_kit.tokens.chat_template.nodes import Action, Branch, Constant, Field, Node, Text, Variable
from ollama_kit.tokens.chat_template.template import ChatTemplate
from ollama_kit.tokens.chat_template.template_errors import TemplateError

_ROLES = ("system", "user", "assistant", "tool")
_TAG = (
    r"(?:<<[^<>\s]{1,40}>>|<\|[^<>|\n]{1,60}\|>|</?[^<>\s]{1,60}>|\[/?[A-Z][A-Z_ ]{1,30}\]|<\uff5c[^<>\n]{1,60}\uff5c>)"
)
_TAGS_AT_START = re.compile(rf"(?:{_TAG}[ \t]*)+")
_TAGS_AT_END = re.compile(rf"(?:[ \t]*{_TAG})+\Z")
_HEADING = re.compile(r"(?:#{1,6}|@{2,6}|={2,6})[ \t]*[^\s#@=][^\n]{0,40}")
_LABEL = re.compile(r"(?:[^\W_][\w.'-]*[ \t]?){1,4}[:：]\Z")
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_MIN_CHARS = 3


def turn_markers(template: str) -> tuple[str, ...]:
    """Each literal piece of the template that marks a turn, once, in the order of the template.

    The literal text of the template is taken in runs between the values it prints (a role printed inside a run is
    put in as each of system, user, assistant, tool, so that `<|{{ .Role }}|>` gives `<|user|>`). Of each line of a
    run, a piece counts as a marker if it is

    - a tag at the start or the end of the line: `<|im_start|>`, `[INST]`, `<<SYS>>`, `<tool_call>`; a tag in the
      middle of a sentence is prose about tags;
    - a whole line that is a heading: `### Response:`, `@@ Response`; or
    - a label of at most four words with a colon that ends a run: `ASSISTANT:`. Not so right before a `range`: what
      lists things is a caption.

    Plain words such as the `user` of ChatML never count, nor does anything under three characters. A template that
    cannot be parsed is read by its text outside `{{ }}`, so that its markers are still found.

    >>> turn_markers("{{ if .Prompt }}[INST] {{ .Prompt }} [/INST]{{ end }}{{ .Response }}</s>")
    ('[INST]', '[/INST]', '</s>')
    """
    try:
        trees = ChatTemplate.parse(template).trees()
        runs = [run for nodes in trees for run in _runs(nodes)]
    except TemplateError:
        runs = [(text, True) for text in _ACTION.split(template)]
    found = (piece for text, labeled in runs for piece in _pieces(text, labeled))
    return tuple(dict.fromkeys(piece for piece in found if len(piece) >= _MIN_CHARS and not piece.isalnum()))


def _runs(nodes: tuple[Node, ...]) -> Iterator[tuple[str, bool]]:
    """The runs of literal text in a list of nodes and below (one for each role where a role stands in it), and
    whether a label at the end of the run can mark a turn."""
    run: list[str | None] = []
    for node in nodes:
        if isinstance(node, Text):
            run.append(node.text)
        elif isinstance(node, Action) and (constants := _constants(node)):
            run.extend(constants)
        elif _is_role(node):
            run.append(None)
        else:
            captions = isinstance(node, Branch) and node.kind == "range"
            yield from ((text, not captions) for text in _with_roles(run))
            run = []
            if isinstance(node, Branch):
                yield from _runs(node.body)
                yield from _runs(node.orelse or ())
    yield from ((text, True) for text in _with_roles(run))


def _with_roles(run: list[str | None]) -> Iterator[str]:
    for role in _ROLES if None in run else ("",):
        yield "".join(role if piece is None else piece for piece in run)


def _constants(node: Action) -> list[str]:
    """The string literals that an action may print, such as `{{ "<|im_end|>" }}`."""
    if node.pipe.declares:
        return []
    operands = [operand for command in node.pipe.commands for operand in command.operands]
    values = [operand.value for operand in operands if isinstance(operand, Constant)]
    return [value for value in values if isinstance(value, str)]


def _is_role(node: Node) -> bool:
    if not isinstance(node, Action) or len(node.pipe.commands) != 1:
        return False
    operands = node.pipe.commands[0].operands
    first = operands[0]
    return len(operands) == 1 and isinstance(first, Field | Variable) and first.names[-1:] == ("Role",)


def _pieces(run: str, labeled: bool) -> Iterator[str]:
    lines = [line.strip() for line in run.rstrip().split("\n")]
    for number, line in enumerate(lines):
        if start := _TAGS_AT_START.match(line):
            yield from re.findall(_TAG, start.group())
        if end := _TAGS_AT_END.search(line):
            yield from re.findall(_TAG, end.group())
        rest = _TAGS_AT_END.sub("", _TAGS_AT_START.sub("", line, count=1)).strip()
        if _HEADING.fullmatch(rest) or (labeled and number == len(lines) - 1 and _LABEL.fullmatch(rest)):
            yield rest


def jinja_markers(template: str) -> tuple[str, ...]:
    """The same of a Jinja template: of its literal text, and of the texts that it puts into what it prints. Texts that
    it only compares with something are none. One that cannot be parsed is read by all its quoted texts.

    >>> jinja_markers("{% if m.role == '<x>' %}{{ '[INST] ' + m.content + ' [/INST]' }}{% endif %}")
    ('[INST]', '[/INST]')
    """
    found = (piece for text in _jinja_texts(template) for piece in _pieces(text, labeled=True))
    return tuple(dict.fromkeys(piece for piece in found if len(piece) >= _MIN_CHARS and not piece.isalnum()))


def _jinja_texts(template: str) -> Iterator[str]:
    from jinja2 import TemplateError as JinjaError, nodes
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    try:
        printing = list(environment.parse(template).find_all((nodes.Output, nodes.Assign, nodes.Call)))
    except (JinjaError, RecursionError):
        yield from re.findall(r"'([^']*)'", template)
        yield from re.findall(r'"([^"]*)"', template)
        yield from re.split(r"\{\{.*?\}\}|\{%.*?%\}", template, flags=re.DOTALL)
        return
    for node in printing:
        yield from _printed(node)


def _printed(node: Any) -> Iterator[str]:
    """The literal texts that an expression may print."""
    from jinja2 import nodes

    if isinstance(node, nodes.TemplateData):
        yield node.data
    elif isinstance(node, nodes.Const):
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, nodes.CondExpr):
        yield from _printed(node.expr1)
        yield from _printed(node.expr2)
    elif isinstance(node, nodes.Filter):
        yield from _printed(node.node)
    elif isinstance(node, nodes.Call):
        for argument in node.args:
            yield from _printed(argument)
    elif isinstance(node, nodes.Output | nodes.Assign | nodes.Add | nodes.Concat | nodes.Or | nodes.And):
        for child in node.iter_child_nodes():
            yield from _printed(child)
