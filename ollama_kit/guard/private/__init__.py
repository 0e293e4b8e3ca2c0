"""Secrets and personal data in text: found by rules of our own, replaced by placeholders that give the values back.

    rules        kinds, severities and the two sets that policies name
    checksums    the arithmetic of ID numbers, cards and credit codes
    folding      full-width text seen as plain, every character in its place
    preceding    what stands before a number and says whose it is
    detect       all finders, and which one wins where they overlap
    placeholders what stands for a value, and the way back
    redaction    the stage

The finders: `keys` (vendors' tokens, key files), `labeled` (what follows "password:" or 密码：), `digits` (phones,
cards, ID numbers), `addresses` (e-mail, IP, MAC), `names`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.private.placeholders import Placeholders as Placeholders, split_unfinished as split_unfinished
    from ollama_kit.guard.private.redaction import redact_private_data as redact_private_data
    from ollama_kit.guard.private.rules import KINDS as KINDS, PERSONAL as PERSONAL, SECRETS as SECRETS
else:
    __getattr__, __dir__ = exports(__name__)
