"""Jinja, once: templates that a project can override, rendered in a sandbox, every failure with its file and line.

The sandbox keeps a template from reaching Python, an undefined name is an error everywhere, and the trailing newline is
kept. What differs is a parameter of `environment`: whether what is printed is escaped, whether a line with only a
block vanishes, and where included templates are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import Hint, OllamaKitError, SpecError, SpecNotFound

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

SUFFIX = ".jinja"
Escape = Callable[[str], str]

REPLACEABLE: Hint = (
    "Correct the template, or remove it: the shipped one is used then.",
    "请修改该模板，或将其删除：删除后使用自带的模板。",
)


def render_prompt(name: str, values: Mapping[str, Any]) -> str:
    """The prompt that a template makes of `values`, not escaped; SpecError with its file and line where it fails."""
    path = find_template(name)
    with failures_of(path):
        return _compiled(template_text(path), None).render(values).strip()


def render_page(name: str, values: Mapping[str, Any], escape: Escape) -> str:
    """The page that a template makes of `values`. `escape` is applied to every value printed that is not the template's
    own text, so that a template cannot forget it. SpecError with file and line where it fails."""
    path = find_template(name)
    with failures_of(path):
        return _compiled(read_template(path), escape).render(values)


def find_template(name: str) -> Path:
    """The project's, the user's or the shipped template of that name; SpecNotFound where there is none."""
    path = resources.find("templates", name)
    if path is None:
        raise SpecNotFound(f"no template named {name}")
    return path


@cache
def template_text(path: Path) -> str:
    """The text of a template; read once, for a batch asks for it with every task."""
    return read_template(path)


def read_template(path: Path) -> str:
    """The text of a template as it is now; SpecError, with its line, where it cannot be read or is not UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as problem:
        raise SpecError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        hint = ("Save the template as UTF-8.", "请将该模板另存为 UTF-8。")
        raise SpecError("is not text in UTF-8", path=path, line=line, hint=hint) from problem


def environment(*, escape: Escape | None = None, trim: bool = True, folder: str = "") -> SandboxedEnvironment:
    """A sandbox in which an undefined name is an error.

    With `escape`, what a template prints goes through it, except what a macro gives. `trim`: a line with only a
    block leaves nothing behind. `folder` (below `templates/`): where `get_template`, `include` and `extends` find their
    files, the project's first; without one there is nothing to include.
    """
    from jinja2 import FunctionLoader, StrictUndefined

    from ollama_kit.bounded_jinja import BoundedSandbox

    return BoundedSandbox(
        undefined=StrictUndefined,
        autoescape=escape is not None,
        finalize=None if escape is None else _finalizer(escape),
        trim_blocks=trim,
        lstrip_blocks=trim,
        keep_trailing_newline=True,
        loader=FunctionLoader(lambda name: _load(name, folder)) if folder else None,
    )


@dataclass(frozen=True)
class Failure:
    """Why a template failed, in words for an error message. `path` is its file, None if it was compiled from text;
    `line` is the innermost line of the template that was being rendered, 1 where that is not known."""

    message: str
    path: Path | None
    line: int
    undefined: bool = False


def failure_of(problem: Exception) -> Failure:
    """What happened, and where: Jinja rewrites tracebacks so that they point into the template."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError, UndefinedError

    if isinstance(problem, TemplateSyntaxError):
        path = Path(problem.filename) if problem.filename else None
        return Failure(f"is not Jinja: {problem.message}", path, problem.lineno)
    path, line, step = None, 1, problem.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name == "<template>" or name.endswith(SUFFIX):
            path, line = (Path(name) if name.endswith(SUFFIX) else None), step.tb_lineno
        step = step.tb_next
    if isinstance(problem, TemplateNotFound):
        return Failure(f"names a template that does not exist: {problem.name}", path, line)
    what = str(problem) or type(problem).__name__
    return Failure(f"cannot be rendered: {what}", path, line, undefined=isinstance(problem, UndefinedError))


@contextmanager
def failures_as(error: Callable[[Failure], OllamaKitError]) -> Iterator[None]:
    """Lets nothing out of a template's compiling or rendering but our own errors: `error` makes one of any other."""
    from ollama_kit.bounded_jinja import bounded

    try:
        with bounded():
            yield
    except OllamaKitError:
        raise
    except Exception as problem:  # a template is a program of the project's: it can raise anything
        raise error(failure_of(problem)) from problem


@contextmanager
def failures_of(path: Path, *, hint: Hint = REPLACEABLE) -> Iterator[None]:
    """Lets nothing out of a template's compiling or rendering but SpecError, with the template's file and line."""
    with failures_as(lambda found: SpecError(found.message, path=found.path or path, line=found.line, hint=hint)):
        yield


@lru_cache(maxsize=64)
def _compiled(text: str, escape: Escape | None) -> Template:
    """Compiling takes ten times as long as rendering, and a batch renders with every task."""
    return environment(escape=escape).from_string(text)


def _finalizer(escape: Escape) -> Callable[[Any], Any]:
    from markupsafe import Markup

    def printed(value: Any) -> Markup:
        # What a macro gives is markup already.
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    return printed


def _load(name: str, folder: str) -> tuple[str, str, Callable[[], bool]] | None:
    """Text, file, and whether both are still the same: the compiled template is kept as long as they are."""
    path = resources.find("templates", name) if name.startswith(f"{folder}/") and ".." not in name else None
    if path is None:
        return None
    changed = path.stat().st_mtime_ns

    def is_current() -> bool:
        return resources.find("templates", name) == path and path.stat().st_mtime_ns == changed

    return read_template(path), str(path), is_current
