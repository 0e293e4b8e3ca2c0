"""Finds text in a document that talks to the model instead of to its reader, and marks, cuts or refuses it.

folding     one spelling for look-alikes, full-width and traditional characters; offsets stay
sentences   where a sentence begins and ends
tables      the words, by concept and language, and how concepts stand together, with weights
literals    what a rule cannot match without, so that few rules are tried
readings    other ways to read a sentence: spaced out, leetspeak, pinyin, rot13, backwards, encoded
spellings   words mistyped, joined, parted, in dialect or in another language
speech      whose words a sentence holds: reported, quoted, told of, agreed
scoring     rules against one reading
screen      the stage
"""

from __future__ import annotations

from ollama_kit.guard.injection.screen import DEFAULT_THRESHOLD, STAGE, find_injection, screen_injection

__all__ = ["DEFAULT_THRESHOLD", "STAGE", "find_injection", "screen_injection"]
