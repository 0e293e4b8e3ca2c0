"""Ollama's chat templates (Go's text/template, the subset that models use), rendered without a server."""

from __future__ import annotations

from ollama_kit.tokens.chat_template.markers import turn_markers
from ollama_kit.tokens.chat_template.template import ChatTemplate
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.chat_template.turns import RenderInput, ToolCall, Turn, assemble

__all__ = [
    "ChatTemplate",
    "RenderInput",
    "TemplateBeyondSubset",
    "TemplateError",
    "ToolCall",
    "Turn",
    "assemble",
    "turn_markers",
]
