"""Finds text in a document that talks to the model instead of to its reader, and marks, cuts or refuses it.

lookalikes  one spelling for look-alikes, full-width and traditional characters; offsets stay
sentences   where a sentence begins and ends
layout      lines that do not belong where they are
tables      the words, by concept and language, and how concepts combine, with weights
readings    other ways to read a sentence: spaced out, leetspeak, pinyin, rot13, backwards
payloads    what a sentence carries in code: base64, hexadecimal, escapes
spellings   words mistyped, joined, split, in dialect or in another language
speech      whose words a sentence holds: reported, quoted, narrated, agreed
scoring     rules against one reading
screen      the stage
"""

from __future__ import annotations

from ollama_kit.guard.injection.screen import DEFAULT_THRESHOLD, STAGE, find_injection, screen_injection

__all__ = ["DEFAULT_THRESHOLD", "STAGE", "find_injection", "screen_injection"]
