"""The `scanners:` part of a policy, checked before anything of llm-guard is touched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ollama_kit.errors import Hint, SpecError, nearest_names
from ollama_kit.guard.scanners.roster import KINDS, REFUSED, ScannerKind, ScannerOption, Side
from ollama_kit.specs.model import described, looks_like_path
from ollama_kit.specs.source import Source

OnFail = Literal["flag", "redact", "block"]
FrozenMapping = tuple[tuple[str, Any], ...]
"""A mapping as sorted pairs, lists in it as tuples: what a frozen value can hold and a cache can look up."""

RULE_KEYS = ("name", "scanner", "model", "threshold", "on_fail", "labels", "options")
CONFIG_KEYS = ("input", "output", "download", "timeout_s", "max_chars")
KEY = "scanners"


@dataclass(frozen=True)
class ScannerRule:
    """One scanner of a policy, under the policy's own `name` for it. `model` is an absolute path, or a name on the
    model hub where `hub` is set; None is the model that llm-guard itself would take. `labels` gives a model's labels
    the names that the scanner knows."""

    name: str
    scanner: str
    side: Side
    on_fail: OnFail = "flag"
    model: str | None = None
    threshold: float | None = None
    labels: FrozenMapping = ()
    options: FrozenMapping = ()

    @property
    def kind(self) -> ScannerKind:
        return KINDS[self.scanner]

    @property
    def hub(self) -> bool:
        """Whether the model is a name on the hub and not a folder."""
        return self.model is None or not Path(self.model).is_absolute()

    def option(self, name: str, default: Any = None) -> Any:
        return dict(self.options).get(name, default)


@dataclass(frozen=True)
class ScannerConfig:
    """The scanners of a policy, in the order in which they run. `timeout_s` bounds each of them on one text,
    `max_chars` how long a text any of them is given; over either the call is refused."""

    input: tuple[ScannerRule, ...] = ()
    output: tuple[ScannerRule, ...] = ()
    download: bool = False
    timeout_s: float = 60.0
    max_chars: int = 400_000

    @property
    def rules(self) -> tuple[ScannerRule, ...]:
        return (*self.input, *self.output)

    def flagging(self) -> ScannerConfig:
        """The same with every rule that would block only flagging."""

        def softened(rules: tuple[ScannerRule, ...]) -> tuple[ScannerRule, ...]:
            return tuple(replace(rule, on_fail="flag") if rule.on_fail == "block" else rule for rule in rules)

        return replace(self, input=softened(self.input), output=softened(self.output))


def parse_scanners(value: Any, where: Source) -> ScannerConfig:
    """What a policy's `scanners:` key says. SpecError, with the file and line of `where`, if it is wrong. Relative
    model folders are resolved against the policy's own folder. Nothing of llm-guard is loaded."""
    return _Parser(where).config(value)


@dataclass(frozen=True)
class _Parser:
    where: Source

    def config(self, value: Any) -> ScannerConfig:
        if value is None:
            return ScannerConfig()
        self._known(value, CONFIG_KEYS, KEY, "a mapping with input and output")
        sides = {side: self._side(value.get(side), side) for side in ("input", "output")}
        self._distinct([*sides["input"], *sides["output"]])
        if any(rule.scanner == "Deanonymize" for rule in sides["output"]) and not any(
            rule.scanner == "Anonymize" and rule.on_fail == "redact" for rule in sides["input"]
        ):
            raise self.fail(
                "Deanonymize needs an input scanner Anonymize with `on_fail: redact`, whose placeholders it restores",
                KEY,
            )
        plain = ScannerConfig(**sides)  # type: ignore[arg-type]
        download = value.get("download", False)
        if not isinstance(download, bool):
            raise self.fail(f"download must be true or false, not {described(download)}", f"{KEY}.download")
        timeout = self._number(value.get("timeout_s", plain.timeout_s), f"{KEY}.timeout_s")
        size = self._count(value.get("max_chars", plain.max_chars), f"{KEY}.max_chars")
        return replace(plain, download=download, timeout_s=timeout, max_chars=size)

    def _side(self, rules: Any, side: Side) -> tuple[ScannerRule, ...]:
        if rules is None:
            return ()
        if not isinstance(rules, list):
            raise self.fail(f"{side} must be a list of scanners, not {described(rules)}", f"{KEY}.{side}")
        return tuple(self._rule(rule, side, f"{KEY}.{side}.{at}") for at, rule in enumerate(rules))

    def _rule(self, data: Any, side: Side, at: str) -> ScannerRule:
        self._known(data, RULE_KEYS, at, "a mapping with `scanner`")
        scanner = self._scanner(data.get("scanner"), side, at)
        kind = KINDS[scanner]
        name = data.get("name", scanner)
        if not isinstance(name, str) or not name.strip():
            raise self.fail(f"name must be text, not {described(name)}", f"{at}.name")
        return ScannerRule(
            name=name,
            scanner=scanner,
            side=side,
            on_fail=self._on_fail(data.get("on_fail", "flag"), kind, scanner, f"{at}.on_fail"),
            model=self._model(data.get("model"), kind, scanner, f"{at}.model"),
            threshold=self._threshold(data.get("threshold"), kind, scanner, f"{at}.threshold"),
            labels=self._labels(data.get("labels"), kind, scanner, f"{at}.labels"),
            options=self._options(data.get("options", {}), kind, scanner, f"{at}.options"),
        )

    def _scanner(self, scanner: Any, side: Side, at: str) -> str:
        known = [name for name, kind in KINDS.items() if side in kind.sides]
        if scanner in REFUSED:
            raise self.fail(f"{scanner} is not run: {REFUSED[scanner]}", f"{at}.scanner")
        if scanner in known:
            return str(scanner)
        if scanner in KINDS:
            raise self.fail(f"{scanner} is not an {side} scanner; move it to the other list", f"{at}.scanner")
        if not isinstance(scanner, str):
            raise self.fail(
                f"`scanner` must be the name of a scanner of llm-guard, not {described(scanner)}", f"{at}.scanner"
            )
        raise self.fail(f"unknown {side} scanner {scanner!r}{_nearest(scanner, known)}", f"{at}.scanner")

    def _on_fail(self, word: Any, kind: ScannerKind, scanner: str, at: str) -> OnFail:
        words = ("flag", "redact", "block") if kind.redacts else ("flag", "block")
        if word == "redact" and not kind.redacts:
            raise self.fail(f"{scanner} judges a text as a whole and cannot redact; use flag or block", at)
        if word not in words:
            raise self.fail(f"on_fail must be {', '.join(words[:-1])} or {words[-1]}, not {described(word)}", at)
        return word  # type: ignore[no-any-return]

    def _model(self, model: Any, kind: ScannerKind, scanner: str, at: str) -> str | None:
        if model is None:
            return None
        if kind.need not in ("model", "spacy"):
            raise self.fail(f"scanner {scanner} does not accept `model`", at)
        if not isinstance(model, str) or not model.strip():
            raise self.fail(f"model must be a folder or a name on the model hub, not {described(model)}", at)
        folder = self.where.path.parent / Path(model).expanduser()
        return str(folder.resolve()) if looks_like_path(model) or folder.is_dir() else model

    def _threshold(self, value: Any, kind: ScannerKind, scanner: str, at: str) -> float | None:
        if value is None:
            return None
        if not kind.threshold:
            raise self.fail(f"scanner {scanner} does not accept `threshold`", at)
        # At 0 llm-guard divides by zero and at 1 nothing can exceed it; Sentiment's scale goes from -1 to 1.
        least = -1.0 if scanner == "Sentiment" else 0.0
        if not _is_number(value) or not least < value < 1 or value == 0:
            raise self.fail(f"threshold must be between {least:g} and 1, not {described(value)}", at)
        return float(value)

    def _labels(self, value: Any, kind: ScannerKind, scanner: str, at: str) -> FrozenMapping:
        if value is None:
            return ()
        if not kind.labels:
            raise self.fail(f"scanner {scanner} does not accept `labels`", at)
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
            raise self.fail("labels maps a model's labels to names, such as {LABEL_1: INJECTION}", at)
        return tuple(sorted((str(label), name) for label, name in value.items()))

    def _options(self, value: Any, kind: ScannerKind, scanner: str, at: str) -> FrozenMapping:
        self._known(value, tuple(kind.options), at, f"a mapping of {scanner}'s options")
        missing = [name for name, option in kind.options.items() if option.required and name not in value]
        if missing:
            raise self.fail(f"{scanner} needs `{missing[0]}`", at)
        checked = {name: self._option(kind.options[name], value[name], f"{at}.{name}") for name in value}
        if scanner == "Regex":
            self._patterns(checked["patterns"], f"{at}.patterns")
        return tuple(sorted(checked.items()))

    def _option(self, option: ScannerOption, value: Any, at: str) -> Any:
        name = at.rpartition(".")[2]
        if isinstance(option.kind, tuple):
            if value not in option.kind:
                raise self.fail(f"{name} must be {' or '.join(option.kind)}, not {described(value)}", at)
            return value
        if option.kind == "number":
            return self._number(value, at)
        if option.kind == "count":
            return self._count(value, at)
        if option.kind == "texts":
            right = isinstance(value, list) and value and all(isinstance(item, str) and item for item in value)
            if not right:
                raise self.fail(f"{name} must be a list of texts, none empty, not {described(value)}", at)
            return tuple(value)
        right = isinstance(value, bool) if option.kind == "flag" else isinstance(value, str) and bool(value)
        if not right:
            raise self.fail(f"{name} must be {'true or false' if option.kind == 'flag' else 'text'}", at)
        return value

    def _patterns(self, patterns: tuple[str, ...], at: str) -> None:
        for number, pattern in enumerate(patterns):
            try:
                found = re.compile(pattern).match("")
            except (re.error, RecursionError) as problem:
                raise self.fail(
                    f"{pattern!r} is not a valid regular expression: {problem}", f"{at}.{number}"
                ) from problem
            if found:
                raise self.fail(f"{pattern!r} matches the empty text, and so every text", f"{at}.{number}")

    def _number(self, value: Any, at: str) -> float:
        if not _is_number(value) or not 0 < value < float("inf"):
            raise self.fail(f"{at.rpartition('.')[2]} must be a number above 0, not {described(value)}", at)
        return float(value)

    def _count(self, value: Any, at: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.fail(f"{at.rpartition('.')[2]} must be a whole number above 0, not {described(value)}", at)
        return value

    def _known(self, value: Any, keys: tuple[str, ...], at: str, expected: str) -> None:
        if not isinstance(value, Mapping):
            raise self.fail(f"{at.rpartition('.')[2]} must be {expected}, not {described(value)}", at)
        for key in value:
            if key not in keys:
                raise self.fail(f"unknown key {key!r}{_nearest(str(key), keys)}", f"{at}.{key}")

    def _distinct(self, rules: list[ScannerRule]) -> None:
        """Reports and errors name a scanner by its own name alone."""
        seen: set[str] = set()
        for rule in rules:
            if rule.name in seen:
                raise self.fail(f"duplicate scanner name {rule.name!r}; give each its own `name`", KEY)
            seen.add(rule.name)

    def fail(self, message: str, at: str, hint: Hint | None = None) -> SpecError:
        return SpecError(message, path=self.where.path, line=self.where.line(at), hint=hint)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    nearest = nearest_names(name, known)
    if nearest:
        return f"; did you mean `{nearest[0]}`?"
    return f"; known are {', '.join(known)}" if known else "; none is accepted here"
