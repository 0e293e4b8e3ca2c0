"""The scanners with a model: built from a local folder, their labels settled, their texts cut to what it can see."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.config import ScannerRule
from ollama_kit.guard.scanners.library import own_module, quieten, scanner_class
from ollama_kit.guard.scanners.local_models import (
    disjoint,
    labels_of,
    overlapping,
    read_folder,
    settled_labels,
    token_count,
    window_tokens,
)
from ollama_kit.guard.scanners.outcome import PASSED, Check, ScanOutcome, ScanRequest, Span, difference, joined
from ollama_kit.text.spans import Edit

PROBE = "This sentence asks nothing of anybody."
TEMPLATE_TOKENS = 16  # "This example is …." around a topic, and the special tokens of a pair
_PIPELINES = ("_pipeline", "_classifier", "_ner_pipeline")


class NoFigure(ValueError):
    """A model answered with something that is not a number, which llm-guard reads as "nothing found"."""


def learned(rule: ScannerRule) -> Check:
    """The check of a rule whose scanner has a model. UsageError if the model cannot be used as it is."""
    config = {} if rule.hub else read_folder(rule)
    labels = settled_labels(rule, labels_of(config)) if rule.kind.labels and not rule.hub else ()
    quieten()
    found, _ = scanner_class(rule.scanner, rule.side, light=False)
    arguments = _arguments(rule)
    window = rule.kind.window_tokens
    with explained(rule):
        if rule.model is not None:
            window = window_tokens(config, Path(rule.model), window) if config else window
            arguments["model"] = _model(rule, window, _renamed(config, labels))
        model = _Model.of(found(**arguments), rule, window)
        if rule.hub and rule.kind.labels:
            settled_labels(rule, model.labels)
        model.scan(PROBE, PROBE)
    return _CHECKS[rule.kind.reads](model)


@contextmanager
def explained(rule: ScannerRule) -> Iterator[None]:
    """Turns whatever stops a model from being made into an error that says which one; none is used incomplete."""
    try:
        yield
    except UsageError:
        raise
    except Exception as problem:
        named = rule.model or rule.kind.hub
        raise UsageError(
            f"{rule.scanner} ({rule.name!r}) cannot use the model {named}: {type(problem).__name__}: {problem}",
            hint=(
                "Name the folder of a complete model with `model:`, or let the policy fetch one with `download: true`.",
                "请用 `model:` 指定完整的模型文件夹，或在策略中写 `download: true` 以允许下载。",
            ),
        ) from problem


def _arguments(rule: ScannerRule) -> dict[str, Any]:
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in rule.options}
    if rule.threshold is not None:
        arguments[rule.kind.threshold] = rule.threshold
    if rule.kind.redacts:
        arguments["redact"] = rule.on_fail == "redact"
    return arguments


def _model(rule: ScannerRule, window: int, renamed: dict[str, Any]) -> Any:
    """llm-guard's description of the rule's own model, run as it runs the one that it would take by default."""
    limits = {} if rule.kind.reads == "disjoint" else {"max_length": window, "truncation": True}
    types = {} if rule.kind.reads == "disjoint" else {"return_token_type_ids": False}
    onnx = {"onnx_path": rule.model} if rule.option("use_onnx") else {}
    return own_module("model").Model(
        path=rule.model, kwargs=renamed, pipeline_kwargs={**limits, **types, **rule.kind.pipeline}, **onnx
    )


def _renamed(config: Mapping[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
    if not labels or labels == labels_of(dict(config)):
        return {}
    return {"id2label": dict(enumerate(labels)), "label2id": {label: at for at, label in enumerate(labels)}}


@dataclass(frozen=True)
class _Figures:
    """A pipeline whose every score is a number: compared with a threshold, one that is not counts as below it."""

    pipeline: Any

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        answer = self.pipeline(*arguments, **options)
        if not all(math.isfinite(score) for score in _scores(answer)):
            raise NoFigure("the model's scores are not numbers")
        return answer


def _scores(answer: Any) -> Iterator[float]:
    if isinstance(answer, dict):
        yield from (float(answer[key]) for key in ("score",) if key in answer)
        yield from (float(score) for score in answer.get("scores", ()))
    elif isinstance(answer, list | tuple):
        for part in answer:
            yield from _scores(part)


@dataclass(frozen=True)
class _Model:
    """llm-guard's scanner with its model, and what that sees at once: `room` tokens, special ones not counted."""

    rule: ScannerRule
    made: Any
    tokenizer: Any
    labels: tuple[str, ...]
    room: int

    @staticmethod
    def of(made: Any, rule: ScannerRule, window: int) -> _Model:
        inner = getattr(made, "_scanner", made)
        held = next((name for name in _PIPELINES if hasattr(inner, name)), "")
        owner = getattr(inner, held) if held else inner
        tokenizer = owner.tokenizer if held else inner._tokenizer
        model = owner.model if held else inner._model
        if held:
            setattr(inner, held, _Figures(owner))
        room = window - int(tokenizer.num_special_tokens_to_add())
        room -= max((token_count(topic, tokenizer) + TEMPLATE_TOKENS for topic in rule.option("topics", ())), default=0)
        if room < 1:
            raise UsageError(f"the model of {rule.name!r} sees {window} tokens, too few for any text")
        return _Model(rule, made, tokenizer, labels_of(model.config.to_dict()), room)

    def scan(self, text: str, prompt: str) -> tuple[str, bool, float]:
        """llm-guard's own answer about a text that fits: the text after it, whether it passed, the risk."""
        if self.rule.side == "input":
            after, passed, risk = self.made.scan(text)
        else:
            after, passed, risk = self.made.scan(prompt, text)
        if not math.isfinite(risk):
            raise NoFigure("the model's score is not a number")
        return after, bool(passed), float(risk)


def _unread(request: ScanRequest, *, pair: bool = False) -> ScanOutcome | None:
    """The outcome of a blank text. llm-guard lets it pass unseen; in a pair it even gives back the other text."""
    if not request.text.strip():
        return ScanOutcome(failed=False, unread="the text is blank")
    if pair and not request.prompt.strip():
        return ScanOutcome(failed=False, unread="there is no prompt to compare with")
    return None


def _by_windows(model: _Model) -> Check:
    """Each window by itself; the worst counts. A prompt is part of no verdict on the answer."""

    def check(request: ScanRequest) -> ScanOutcome:
        if unread := _unread(request):
            return unread
        failed: list[Span] = []
        worst = -1.0
        for start, end in overlapping(request.text, model.tokenizer, model.room):
            request.deadline.left()
            if not request.text[start:end].strip():
                continue
            _, passed, risk = model.scan(request.text[start:end], "")
            worst = max(worst, risk)
            if not passed:
                failed.append((start, end))
        return _judged(failed, worst)

    return check


def _judged(failed: list[Span], worst: float) -> ScanOutcome:
    if not failed:
        return ScanOutcome(failed=False, risk=worst)
    return ScanOutcome(True, f"risk {worst:.1f}", joined(failed), risk=worst)


def _by_parts(model: _Model) -> Check:
    """Windows that join to the text, so that each can be redacted by itself."""

    def check(request: ScanRequest) -> ScanOutcome:
        if unread := _unread(request):
            return unread
        failed: list[Span] = []
        edits: list[Edit] = []
        worst = -1.0
        for start, end in disjoint(request.text, model.tokenizer, model.room):
            request.deadline.left()
            after, passed, risk = model.scan(request.text[start:end], "")
            worst = max(worst, risk)
            if not passed:
                changes = difference(request.text[start:end], after)
                edits += [Edit(start + edit.start, start + edit.end, edit.new) for edit in changes]
                failed += [(start + edit.start, start + edit.end) for edit in changes] or [(start, end)]
        judged = _judged(failed, worst)
        return ScanOutcome(judged.failed, judged.detail, judged.spans, tuple(edits), judged.risk)

    return check


def _by_pairs(model: _Model) -> Check:
    """Each window of the answer with each of the prompt: one is as good as the best of its pairs, the answer as good
    as the worst of its windows. Both share what the model sees at once."""
    room = (model.room - 1) // 2

    def check(request: ScanRequest) -> ScanOutcome:
        if unread := _unread(request, pair=True):
            return unread
        failed: list[Span] = []
        worst = -1.0
        prompts = [request.prompt[a:b] for a, b in overlapping(request.prompt, model.tokenizer, room)]
        for start, end in overlapping(request.text, model.tokenizer, room):
            best = 1.0
            for prompt in prompts:
                request.deadline.left()
                _, passed, risk = model.scan(request.text[start:end], prompt)
                best = min(best, risk)
                if passed:
                    break
            else:
                failed.append((start, end))
            worst = max(worst, best)
        return _judged(failed, worst)

    return check


def _as_whole(model: _Model) -> Check:
    """The text as it is, where the scanner itself takes it apart."""

    def check(request: ScanRequest) -> ScanOutcome:
        if unread := _unread(request):
            return unread
        request.deadline.left()
        _, passed, risk = model.scan(request.text, request.prompt)
        return PASSED if passed else _judged([(0, len(request.text))], risk)

    return check


_CHECKS: Mapping[str, Callable[[_Model], Check]] = {
    "text": _by_windows,
    "disjoint": _by_parts,
    "pair": _by_pairs,
    "whole": _as_whole,
}
