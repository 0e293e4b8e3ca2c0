"""Ollama's chat templates (Go's text/template, the subset that models use), rendered without a server."""

from __future__ import annotations

from ollama_kit.tokens.chat_template.conversation import RenderInput, ToolCall, Turn, assemble
from ollama_kit.tokens.chat_template.errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.chat_template.markers import turn_markers
from ollama_kit.tokens.chat_template.template import ChatTemplate

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
