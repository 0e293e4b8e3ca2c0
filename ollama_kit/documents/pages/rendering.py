"""Renders a job's template: the project's, the user's or the shipped one, in a sandbox, everything printed escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ollama_kit.templating import failures_of, find_template, read_template

if TYPE_CHECKING:
    from jinja2 import Template


def render(name: str, values: Mapping[str, Any], escape: Callable[[str], str]) -> str:
    """The text of a template. `escape` is applied to every value printed that is not the template's own text, so that
    a template cannot forget it. SpecError with file and line where it fails."""
    path = find_template(name)
    with failures_of(path):
        return _compiled(read_template(path), escape).render(values)


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
