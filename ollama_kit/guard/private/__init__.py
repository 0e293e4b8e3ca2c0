"""Secrets and personal data in text: found by rules of our own, replaced by placeholders that give the values back.

    rulebook     every rule with its kind and severity, and the two sets that policies name
    placeholders what replaces a value, and the way back
    redaction    all finders, which one wins where they overlap, and the stage

The finders: `credentials` (vendors' tokens, key files, what follows "password:" or 密码：), `digits` (phones, cards, ID
numbers, passports), `addresses` (e-mail, IP, MAC), `names`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.private.placeholders import Placeholders as Placeholders, split_unfinished as split_unfinished
    from ollama_kit.guard.private.redaction import redact_private_data as redact_private_data
    from ollama_kit.guard.private.rulebook import KINDS as KINDS, PERSONAL as PERSONAL, SECRETS as SECRETS
else:
    __getattr__, __dir__ = exports(__name__)
