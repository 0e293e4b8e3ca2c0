"""The prompts of the jobs: Jinja templates that a project can override, rendered in a sandbox and not escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import OllamaKitError, SpecError, SpecNotFound

if TYPE_CHECKING:
    from jinja2 import Template


def find_template(name: str) -> Path:
    """The project's, the user's or the shipped template of that name; SpecNotFound where there is none."""
    path = resources.find("templates", name)
    if path is None:
        raise SpecNotFound(f"there is no template {name}")
    return path


def render_prompt(name: str, values: Mapping[str, Any]) -> str:
    """The prompt that a template makes of `values`; SpecError with its file and line where it fails."""
    path = find_template(name)
    with failures_of(path):
        return _compiled(template_text(path)).render(values).strip()


@contextmanager
def failures_of(path: Path) -> Iterator[None]:
    """Lets nothing out of a template's compiling or rendering but SpecError, with the template's file and line."""
    from jinja2 import TemplateSyntaxError

    try:
        yield
    except OllamaKitError:
        raise
    except Exception as problem:  # a template is a program of the project's: it can raise anything
        found = problem.lineno if isinstance(problem, TemplateSyntaxError) else _line_in_template(problem)
        what = str(problem) or type(problem).__name__
        raise SpecError(
            f"cannot be rendered: {what}",
            path=path,
            line=found,
            hint=(
                "Correct the template, or remove it: the shipped one is used then.",
                "请修改该模板，或将其删除：删除后使用自带的模板。",
            ),
        ) from problem


def _line_in_template(problem: BaseException) -> int:
    """The innermost line of the template that was being rendered."""
    traceback, line = problem.__traceback__, 1
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == "<template>":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


@cache
def _compiled(text: str) -> Template:
    """Compiling takes ten times as long as rendering, and a batch renders with every task."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)


@cache
def template_text(path: Path) -> str:
    """The text of a template; read once, for a batch asks for it with every task."""
    return read_template(path)


def read_template(path: Path) -> str:
    """The text of a template as it is now; SpecError, with its line, where it cannot be read or is no UTF-8."""
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
