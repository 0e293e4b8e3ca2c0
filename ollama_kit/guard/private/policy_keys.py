"""What a policy may say of single kinds of private data: what is done with each, and where its values come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.errors import SpecError, nearest_names
from ollama_kit.guard.private.rulebook import KINDS, PERSONAL, RULES
from ollama_kit.specs.model import described
from ollama_kit.specs.source import Source

ACTIONS = ("redact", "flag", "block", "off")
PLACES = ("never", "text", "everywhere")
"""Where a hidden value may be put back: nowhere; in text; in text, HTML attributes and arguments of tools. In an
address, a link or an image it never is."""


@dataclass(frozen=True)
class PersonalKinds:
    """What `personal_kinds` says: pairs of a kind, or of one rule of it, and a word of ACTIONS."""

    words: tuple[tuple[str, str], ...] = ()

    def actions(self, secrets: str, personal: str) -> Mapping[str, str]:
        """Every rule and what is done with what it finds; a rule's own word counts before its kind's.

        >>> PersonalKinds((("name", "redact"), ("speaker", "off"))).actions("redact", "flag")["speaker"]
        'off'
        """
        own = dict(self.words)
        general = {kind: personal if kind in PERSONAL else secrets for kind in KINDS}
        return {rule: own.get(rule, own.get(kind, general[kind])) for rule, kind in RULES.items()}

    def by_kind(self, secrets: str, personal: str) -> Mapping[str, str]:
        """What is done with each kind, by name; and with each rule that differs from its kind."""
        actions = self.actions(secrets, personal)
        own = dict(self.words)
        kinds = {kind: own.get(kind, personal if kind in PERSONAL else secrets) for kind in sorted(KINDS)}
        return {**kinds, **{rule: word for rule, word in actions.items() if word != kinds[RULES[rule]]}}

    def softened(self) -> PersonalKinds:
        """The same with nothing that refuses a text."""
        return PersonalKinds(tuple((name, "flag" if word == "block" else word) for name, word in self.words))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{name}: {word}" for name, word in self.words) + "}"


@dataclass(frozen=True)
class RestoreRules:
    """What `restore` says: a word of PLACES for every kind, but for those with one of their own."""

    word: str = "text"
    kinds: tuple[tuple[str, str], ...] = ()

    def of(self, kind: str) -> str:
        """Where values of this kind come back."""
        return dict(self.kinds).get(kind, self.word)

    def __str__(self) -> str:
        own = "".join(f", {kind}: {word}" for kind, word in self.kinds)
        return f"{self.word}{own}"


def kinds_weakened(value: PersonalKinds | None, than: PersonalKinds | None) -> bool:
    """Whether a kind is off that is not off in the other."""
    known = set(than.words) if than else set()
    return any(word == "off" for _, word in (set(value.words) if value else set()) - known)


def restores_more(value: RestoreRules | None, than: RestoreRules | None) -> bool:
    """Whether values of some kind come back in more places."""
    mine, other = value or RestoreRules(), than or RestoreRules()
    return any(PLACES.index(mine.of(kind)) > PLACES.index(other.of(kind)) for kind in KINDS)


def parse_personal_kinds(value: Any, source: Source) -> PersonalKinds | None:
    """The value of `personal_kinds`, None for none. SpecError, with file and line, for what it cannot hold."""
    if value is None or value is False or value == {}:
        return None
    known = {*PERSONAL, *(rule for rule, kind in RULES.items() if kind in PERSONAL)}
    return PersonalKinds(_pairs("personal_kinds", value, source, known, ACTIONS))


def parse_restore(value: Any, source: Source) -> RestoreRules | None:
    """The value of `restore`: one word for all, or a mapping of kinds to words. None for the default."""
    if value is None or value == {}:
        return None
    if isinstance(value, Mapping):
        rules = RestoreRules(kinds=_pairs("restore", value, source, KINDS, PLACES))
    elif value in PLACES:
        rules = RestoreRules(word=value)
    else:
        said = f"restore must be {', '.join(PLACES[:-1])} or {PLACES[-1]}, or a mapping of kinds to one of these"
        raise SpecError(f"{said}, not {described(value)}", path=source.path, line=source.line("restore"))
    kinds = tuple((kind, word) for kind, word in rules.kinds if word != rules.word)
    return None if rules.word == "text" and not kinds else replace(rules, kinds=kinds)


def _pairs(
    key: str, value: Any, source: Source, known: frozenset[str] | set[str], words: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        said = f"{key} must be a mapping of kinds to {', '.join(words[:-1])} or {words[-1]}, not {described(value)}"
        raise SpecError(said, path=source.path, line=source.line(key))
    pairs = []
    for name, said in value.items():
        line = source.line(f"{key}.{name}")
        if name not in known:
            nearest = nearest_names(str(name), tuple(sorted(known)))
            meant = (
                f"; did you mean {nearest[0]!r}?" if nearest else f"; the kinds are {', '.join(sorted(KINDS & known))}"
            )
            raise SpecError(f"{key}: unknown kind {name!r}{meant}", path=source.path, line=line)
        word = "off" if said is False and "off" in words else said
        if word not in words:
            wrong = f"{key}.{name} must be {', '.join(words[:-1])} or {words[-1]}, not {described(said)}"
            raise SpecError(wrong, path=source.path, line=line)
        pairs.append((str(name), str(word)))
    return tuple(sorted(pairs))
