"""The prompts of the jobs: Jinja templates that a project can override, rendered in a sandbox and not escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound

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
    from jinja2 import TemplateError

    path = find_template(name)
    try:
        return _compiled(template_text(path)).render(values).strip()
    except TemplateError as problem:
        line = getattr(problem, "lineno", None) or 1
        raise SpecError(f"can not be rendered: {problem}", path=path, line=line) from problem


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
    """The text of a template or schema; read once, for a batch asks for it with every task."""
    return path.read_text(encoding="utf-8")
