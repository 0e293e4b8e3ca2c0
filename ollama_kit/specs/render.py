"""Jinja in a spec's `system` and `messages`, where `vars` says there is some.

The sandbox keeps a template from reaching Python; undefined names are errors. `template`, which is Go, and every
text of a spec without `vars` are left as they are, so that `{{ … }}` in a prompt means itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import SpecError

if TYPE_CHECKING:
    from ollama_kit.specs.layers import Layered


def render_texts(layered: Layered) -> Layered:
    """The same layers with `system` and the contents of `messages` rendered. SpecError names the template's line."""
    variables = layered.data.get("vars")
    if not variables:
        return layered
    render = _renderer(layered, variables)
    data = dict(layered.data)
    if isinstance(data.get("system"), str):
        data["system"] = render("system", data["system"])
    if isinstance(data.get("messages"), list):
        data["messages"] = [
            {**item, "content": render(f"messages.{at}.content", item["content"])}
            if isinstance(item, dict) and isinstance(item.get("content"), str)
            else item
            for at, item in enumerate(data["messages"])
        ]
    return replace(layered, data=data)


def _renderer(layered: Layered, variables: dict[str, Any]) -> Callable[[str, str], str]:
    from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)

    def render(key: str, text: str) -> str:
        try:
            return environment.from_string(text).render(variables)
        except TemplateSyntaxError as problem:
            raise _at(layered, key, problem.lineno, f"is not Jinja: {problem.message}") from problem
        except UndefinedError as problem:
            known = ", ".join(variables)
            message = f"{problem.message}; `vars` has {known}"
            raise _at(layered, key, _line_of(problem), message) from problem
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, OverflowError) as problem:
            raise _at(layered, key, _line_of(problem), f"cannot be rendered: {problem}") from problem

    return render


def _line_of(problem: BaseException) -> int:
    """The line inside the template where it failed: Jinja rewrites tracebacks so that they point there."""
    line, step = 1, problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return line


def _at(layered: Layered, key: str, line_in_text: int, message: str) -> SpecError:
    """The error at its line in the file: a block text (`|`) begins one line below its key."""
    path, line = layered.where(key)
    multiline = "\n" in str(_value_at(layered.data, key))
    return SpecError(f"{key}: {message}", path=path, line=line + (line_in_text if multiline else 0))


def _value_at(data: Any, key: str) -> Any:
    for part in key.split("."):
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data
