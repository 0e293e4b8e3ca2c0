"""What can be wrong with a chat template."""

from __future__ import annotations

from ollama_kit.errors import Hint, ModelfileError


class TemplateError(ModelfileError):
    """A template that the server refuses too, when the model is created or at the first call."""

    code = "modelfile.template"

    def __init__(self, message: str, *, line: int = 0, hint: Hint | None = None) -> None:
        super().__init__(message, path="TEMPLATE", line=line, hint=hint)


class TemplateBeyondSubset(TemplateError):
    """A template that the server may well take, but that holds something not rendered here.

    Its prompts can only be bounded: counted as approximate, never guessed.
    """

    code = "modelfile.template.beyond_subset"


class TemplateRefusal(TemplateError):
    """A template that raises by itself: it does not take the conversation as it is. The message is the template's."""

    code = "modelfile.template.refusal"
