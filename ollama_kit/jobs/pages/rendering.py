"""Renders a job's template: the project's, the user's or the shipped one, in a sandbox, everything printed escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound

if TYPE_CHECKING:
    from jinja2 import Template


def found(name: str) -> Path:
    """Where a template stands; SpecNotFound where there is none of that name."""
    path = resources.find("templates", name)
    if path is None:
        raise SpecNotFound(f"there is no template {name}")
    return path


def render(name: str, values: Mapping[str, Any], escape: Callable[[str], str]) -> str:
    """The text of a template. `escape` is applied to every value printed that is not the template's own text, so that
    a template can not forget it. SpecError with file and line where it fails."""
    from jinja2 import TemplateError

    path = found(name)
    try:
        return _compiled(path.read_text(encoding="utf-8"), escape).render(values)
    except TemplateError as problem:
        line = getattr(problem, "lineno", None) or 1
        raise SpecError(f"can not be rendered: {problem}", path=path, line=line) from problem


@lru_cache(maxsize=16)
def _compiled(text: str, escape: Callable[[str], str]) -> Template:
    """A template, compiled once for all the pages of a batch."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment
    from markupsafe import Markup

    def printed(value: Any) -> Markup:
        # What a macro gives is markup already.
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=True,
        finalize=printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(text)
