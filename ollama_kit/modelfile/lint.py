"""Lints a Modelfile: what Ollama refuses, and what it accepts but does not do as intended.

One check is one function from the subject to its findings; CHECKS lists them all. The codes are in `lint_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ollama_kit.errors import ModelfileError, in_users_language
from ollama_kit.modelfile.lint_rules import RULES, Severity
from ollama_kit.modelfile.parameters import check_parameter, typed_value
from ollama_kit.modelfile.reader import Fault, decode, scan
from ollama_kit.modelfile.request import name_rule, path_exists
from ollama_kit.modelfile.syntax import (
    COMMANDS,
    RESERVED_NAMES,
    TEXT_COMMANDS,
    Command,
    Modelfile,
    kept,
    lost_characters,
)
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.specs.model import looks_like_path

_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT_AFTER = re.compile(r"[ \t]+#.*", re.DOTALL)
_SEMVER = re.compile(r"v?(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){0,2}(?:[-+][0-9A-Za-z.+-]+)?", re.ASCII)
_SHOWN_CHARACTERS = 5
_LAST_WINS = ("system", "template", "adapter", "renderer", "parser", "requires")
_MOST_OF_A_KIND = 20  # a text with more is a list of them; nobody reads more findings
_SHAPES = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b")),
    ("a Slack token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,250}\b")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,100}\b")),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("an API key", re.compile(r"\bsk-(?:[A-Za-z]{2,12}-){0,3}[A-Za-z0-9_-]{20,200}")),
    ("a JSON Web Token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}")),
    ("a URL with a password", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{3,100}@[^\s/]")),
    (
        "a password or key",
        re.compile(
            r"(?:\b(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|password|passwd)|密码|口令|密钥)"
            r"['\"]?\s{0,3}(?:[:=：]|是|为)\s{0,3}['\"]?(?=[^\s'\"]{0,100}[0-9])[A-Za-z0-9_\-/+=.!@#$%^&*]{8,200}",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True)
class LintFinding:
    """One thing to say about a line (from 1; 0 for the file as a whole). `rule` is stable; `fix` is what to do, in the
    user's language."""

    line: int
    rule: str
    severity: Severity
    message: str
    fix: str = ""
    path: str = ""


@dataclass(frozen=True)
class _Subject:
    modelfile: Modelfile
    faults: tuple[Fault, ...]
    text: str | None
    target: ServerVersion | None
    folder: Path | None

    def find(self, line: int, rule: str, message: str, severity: Severity | None = None) -> LintFinding:
        fix = in_users_language(RULES[rule].fix)
        return LintFinding(line, rule, severity or RULES[rule].severity, message, fix, self.modelfile.path)


def lint_modelfile(
    source: bytes | str | Modelfile,
    path: str = "",
    *,
    target: ServerVersion | None = None,
    folder: Path | None = None,
) -> tuple[LintFinding, ...]:
    """Everything worth saying about a Modelfile, sorted by line, for a server of that version (None: the newest).

    Paths in FROM and ADAPTER are looked for from `folder`, by default the folder of `path`; without either they are not
    looked for. A file that cannot be read at all gives one finding, `unreadable`.

    >>> [(f.line, f.rule) for f in lint_modelfile("FROM a\\nPARAMETER num_gqa 8\\nPARAMETER num_ctx 4096")]
    [(2, 'removed-parameter')]
    """
    if folder is None and path:
        folder = Path(path).parent
    if isinstance(source, Modelfile):
        subject = _Subject(source, (), None, target, folder)
    else:
        try:
            text, encoding = decode(source, path)
        except ModelfileError as error:
            return (LintFinding(error.line, "unreadable", "error", error.problem, error.hint, path),)
        found = scan(text)
        modelfile = Modelfile(found.commands, found.after, path, encoding, "\r\n" in text)
        subject = _Subject(modelfile, found.faults, text, target, folder)
    findings = [finding for check in CHECKS for finding in check(subject)]
    return tuple(sorted(findings, key=lambda finding: finding.line))


def _faults(subject: _Subject) -> Iterator[LintFinding]:
    """Each fault, but of a run of lines that are not commands (a text without its quotes) only the first."""
    starts = [command.line for command in subject.modelfile.commands]
    previous: Fault | None = None
    for fault in subject.faults:
        runs_on = (
            previous is not None
            and fault.rule == previous.rule == "unknown-command"
            and not any(previous.line < start < fault.line for start in starts)
        )
        if not runs_on:
            yield subject.find(fault.line, fault.rule, fault.message)
        previous = fault


def _from_is_there(subject: _Subject) -> Iterator[LintFinding]:
    if not any(subject.modelfile.named("from")):
        yield subject.find(0, "no-from", "no FROM line")


def _storage(subject: _Subject) -> Iterator[LintFinding]:
    encoding = subject.modelfile.encoding
    if encoding.startswith("utf-16"):
        yield subject.find(1, "encoding-utf16", f"stored as {encoding.upper()}; Ollama reads it, many editors do not")
    elif encoding == "utf-8-sig":
        yield subject.find(1, "encoding-bom", "starts with a byte order mark (BOM)")
    if subject.modelfile.has_crlf:
        yield subject.find(1, "line-ends-crlf", "has Windows line ends (CRLF)")


def _known_commands(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.commands:
        since = COMMANDS[command.name]
        if subject.target is not None and not subject.target.reaches(since):
            message = f"{command.name.upper()} came with Ollama {since}; the target is {subject.target}"
            yield subject.find(command.line, "newer-command", message)


def _parameters(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.named("parameter"):
        name = command.parameter or ""
        if not name:
            message = "two spaces after PARAMETER: Ollama reads an empty name"
            yield subject.find(command.line, name_rule(name), message)
        elif name in RESERVED_NAMES:
            meant = "FROM" if name == "model" else name.upper()
            yield subject.find(command.line, name_rule(name), f"PARAMETER {name} is read as {meant}")
        else:
            yield from _parameter(subject, command, name)


def _parameter(subject: _Subject, command: Command, name: str) -> Iterator[LintFinding]:
    value = kept(command.args)
    without = _COMMENT_AFTER.sub("", value)
    has_comment = command.quoting == "bare" and without not in (value, "")
    problems = check_parameter(name, value, subject.target)
    if has_comment and name == "stop":
        yield subject.find(command.line, "inline-comment", f"the # belongs to the stop text: {value[:60]!r}", "warning")
    for problem in problems:
        if problem.rule == "parameter-type" and has_comment and not check_parameter(name, without, subject.target):
            message = f"the comment is part of the value: {name} is {value[:60]!r}"
            yield subject.find(command.line, "inline-comment", message)
        else:
            yield subject.find(command.line, problem.rule, problem.message)
    if name == "temperature" and not problems:
        degree = typed_value(name, value)
        if isinstance(degree, float) and not 0 <= degree <= 2:
            message = f"temperature {degree} is outside the usual 0 to 2"
            yield subject.find(command.line, "temperature-range", message)


def _inline_comments(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.commands:
        is_word = command.name not in TEXT_COMMANDS | {"parameter", "template"}
        if is_word and command.quoting == "bare" and _COMMENT_AFTER.search(command.args):
            message = f"the comment is part of the value: {command.name.upper()} is {command.args[:60]!r}"
            yield subject.find(command.line, "inline-comment", message)


def _swallowed(subject: _Subject) -> Iterator[LintFinding]:
    """Values that continue past what looks like their end, because something follows the closing quotes."""
    for command in subject.modelfile.commands:
        quotes = {"triple": '"""', "double": '"', "bare": ""}[command.quoting]
        if not quotes:
            continue
        inside = command.args if quotes == '"""' else _LINE_END.split(command.args, maxsplit=1)[0]
        spans = _line_count(command.args) > 1 or quotes == '"""'
        at = inside.find(quotes)
        if spans and at >= 0 and inside[at + len(quotes) :].strip():
            line = command.line + _line_count(command.args[:at]) - 1
            message = f"text after {quotes}: the value of {command.name.upper()} continues from there"
            yield subject.find(line, "text-after-quotes", message, "warning")


def _paths(subject: _Subject) -> Iterator[LintFinding]:
    if subject.folder is None:
        return
    for command in subject.modelfile.commands:
        value = kept(command.args)
        is_path = looks_like_path(value) if command.name == "from" else command.name in ("adapter", "draft")
        if is_path and not path_exists(value, subject.folder):
            rule = "from-path-missing" if command.name == "from" else "adapter-path-missing"
            yield subject.find(command.line, rule, f"{command.name.upper()} {value[:120]}: no such file")


def _requires(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.named("requires"):
        if not _SEMVER.fullmatch(kept(command.args)):
            yield subject.find(command.line, "requires-version", f"REQUIRES {command.args[:60]!r} is not a version")


def _single_quotes(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.commands:
        args = command.args
        if command.quoting == "bare" and args.startswith("'") and (args.endswith("'") or command.name in TEXT_COMMANDS):
            message = f"single quotes do not quote: they are part of the value of {_title(command)}"
            yield subject.find(command.line, "single-quotes", message)


def _secrets(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.commands:
        if command.name in TEXT_COMMANDS | {"template"}:
            for offset, what in find_secrets(command.args):
                line = command.line + _line_count(command.args[:offset]) - 1
                yield subject.find(line, "secret", f"{command.name.upper()} contains what looks like {what}")


def find_secrets(text: str) -> tuple[tuple[int, str], ...]:
    """(offset, what it looks like) of each key or password in a text that anybody on a server can read, in order;
    never the secret itself.

    >>> find_secrets("key: AKIA" + "ABCDEFGHIJKLMNOP")
    ((5, 'an AWS access key'),)
    """
    found: dict[int, str] = {}
    covered: list[range] = []
    for what, shape in _SHAPES:
        for match in islice(shape.finditer(text), _MOST_OF_A_KIND):
            if not any(match.start() in span or span.start in range(*match.span()) for span in covered):
                found[match.start()] = what
                covered.append(range(*match.span()))
    return tuple(sorted(found.items()))


def _dropped(subject: _Subject) -> Iterator[LintFinding]:
    for line, names in _lost_by_line(subject).items():
        shown = ", ".join(names[:_SHOWN_CHARACTERS])
        more = f" and {len(names) - _SHOWN_CHARACTERS} more" if len(names) > _SHOWN_CHARACTERS else ""
        yield subject.find(line, "dropped-characters", f"Ollama drops {shown}{more}")


def _lost_by_line(subject: _Subject) -> dict[int, list[str]]:
    """Names with columns of dropped characters by line; those in comments do not matter. Columns are those of the
    file, or of the value where only a Modelfile's value is known."""
    by_line: dict[int, list[str]] = {}
    if subject.text is None:
        for command in subject.modelfile.commands:
            for lost in lost_characters(command.args):
                by_line.setdefault(command.line + lost.line - 1, []).append(f"{lost.name} (column {lost.column})")
        return by_line
    values = {
        line
        for command in subject.modelfile.commands
        for line in range(command.line, command.line + _line_count(command.args))
    }
    for lost in lost_characters(subject.text):
        if lost.line in values:
            by_line.setdefault(lost.line, []).append(f"{lost.name} (column {lost.column})")
    return by_line


def _duplicates(subject: _Subject) -> Iterator[LintFinding]:
    last: dict[str, int] = {}
    for command in reversed(subject.modelfile.commands):
        is_scalar = command.name == "parameter" and command.parameter not in ("stop", "")
        is_name = command.name == "from" and not looks_like_path(command.args)
        if is_scalar or is_name or command.name in _LAST_WINS:
            title = _title(command)
            if title in last:
                yield subject.find(command.line, "duplicate", f"{title} is set again on line {last[title]}")
            last.setdefault(title, command.line)


def _empty(subject: _Subject) -> Iterator[LintFinding]:
    for command in subject.modelfile.commands:
        if not kept(command.args) and not (command.name == "parameter" and command.parameter != "stop"):
            severity: Severity = "error" if command.name == "from" else "warning"
            yield subject.find(command.line, "empty-value", f"{_title(command)} is empty", severity)


def _window(subject: _Subject) -> Iterator[LintFinding]:
    if not any(command.parameter == "num_ctx" for command in subject.modelfile.named("parameter")):
        yield subject.find(0, "num-ctx-missing", "num_ctx is not set")


CHECKS = (
    _faults,
    _from_is_there,
    _storage,
    _known_commands,
    _parameters,
    _inline_comments,
    _swallowed,
    _paths,
    _requires,
    _single_quotes,
    _secrets,
    _dropped,
    _duplicates,
    _empty,
    _window,
)


def worst(findings: Iterable[LintFinding]) -> Severity | None:
    """The worst severity among them; None if there are none."""
    present = {finding.severity for finding in findings}
    order: tuple[Severity, ...] = ("error", "warning", "info")
    return next((severity for severity in order if severity in present), None)


def _title(command: Command) -> str:
    return f"PARAMETER {command.parameter}" if command.name == "parameter" else command.name.upper()


def _line_count(text: str) -> int:
    return len(_LINE_END.findall(text)) + 1
