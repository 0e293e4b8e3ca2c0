"""Vectors of texts: counted, never cut in silence, sent in batches that keep their order. Written once as a flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ollama_kit.errors import (
    ContextOverflow,
    OllamaKitError,
    ProtocolError,
    ServerError,
    ServerRefused,
    UsageError,
)
from ollama_kit.guard.budget import CallBudget
from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.counts import is_cut, prompt_cut
from ollama_kit.guard.exchange import CallContext, Cleaned, Finished, ModelCall, announce
from ollama_kit.guard.judge import Judge
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.profile import Profile
from ollama_kit.records.report import CountKind, Finding, Report
from ollama_kit.server import flows, wire
from ollama_kit.server.wire import JSON, Call, Flow
from ollama_kit.text.characters import cut_before

BATCH = 32
TooLong = Literal["error", "truncate"]


@dataclass(frozen=True)
class Embeddings:
    """One vector per text, in the order of the texts, all of one length. The report's `dropped` says how many "texts"
    were cut and by how many "characters" and "tokens"; a note says it of each."""

    vectors: tuple[tuple[float, ...], ...]
    report: Report


@dataclass(frozen=True)
class EmbedRequest:
    """What is to be embedded, and how. `batch`: texts per request."""

    model: str
    texts: tuple[str, ...]
    batch: int = BATCH
    too_long: TooLong = "error"

    @classmethod
    def of(cls, model: str, texts: Sequence[str] | str, batch: int, too_long: TooLong) -> EmbedRequest:
        """The request for these texts; UsageError where they are none."""
        given = (texts,) if isinstance(texts, str) else tuple(texts)
        for at, text in enumerate(given):
            if not isinstance(text, str):
                raise UsageError(f"text {at} is not text, but {type(text).__name__}")
        if not isinstance(batch, int) or isinstance(batch, bool) or batch < 1:
            raise UsageError(f"batch must be a whole number of texts above 0, not {batch!r}")
        if too_long not in ("error", "truncate"):
            raise UsageError(f"too_long must be error or truncate, not {too_long!r}")
        return cls(model, given, batch, too_long)


@dataclass(frozen=True)
class EmbedInput:
    """A text as it is sent. `tokens` is the server's count of it (an upper bound where the tokenizer is not exact);
    `cut_tokens` and `cut_characters` are what was taken off its end."""

    number: int
    text: str
    tokens: int
    cut_characters: int = 0
    cut_tokens: int = 0


Embedding = Generator[ModelCall | Call, Any, Embeddings]


def embed_texts(
    request: EmbedRequest, profile: Profile, policy: Policy, context: CallContext, judge: Judge | None = None
) -> Embedding:
    """The vectors of a request. The texts are untrusted: each goes through the policy's stages for messages, alone, so
    that its vector does not depend on its neighbors; it then has to fit the model's context, and is judged where the
    policy says so. However it ends, the hooks (and with them the audit) are told at last.

    ContextOverflow, naming the text, where one does not fit and may not be cut; UsageError for an empty one.
    """
    call = _Embedding(request, profile, policy, context, judge)
    try:
        done = yield from call.run()
    except OllamaKitError as error:
        call.finish(None, error)
        raise
    except BaseException:  # the driver has left, or a stage broke
        call.finish(None, None)
        raise
    call.finish(done.report, None)
    return done


class _Embedding:
    """One embedding on its way."""

    def __init__(
        self, request: EmbedRequest, profile: Profile, policy: Policy, context: CallContext, judge: Judge | None
    ) -> None:
        self.request, self.profile, self.policy, self.context = request, profile, policy, context
        self.started = context.clock()
        budget = CallBudget(policy, context.clock, self.started)
        self.pipeline = Pipeline.of(policy, profile, fence=context.fence, judge=judge, call=context, budget=budget)
        self.findings: list[Finding] = []

    def run(self) -> Embedding:
        passages = []
        for number, text in enumerate(self.request.texts):
            passage = self.pipeline.fresh().clean(text, f"text {number}", "user")
            self.findings += passage.findings
            passages.append(passage)
        announce(Cleaned(tuple(self.findings)), self.context.hooks)
        inputs = [
            fitted(number, passage.text, self.profile, self.request.too_long) for number, passage in enumerate(passages)
        ]
        self.findings += yield from self.pipeline.consult(passages)
        vectors: list[tuple[float, ...]] = []
        sent: list[EmbedInput] = []
        counted: list[int | None] = []
        for start in range(0, len(inputs), self.request.batch):
            try:
                got = yield from _batch(inputs[start : start + self.request.batch], self.request, self.profile)
            except ServerRefused as error:
                if error.reason != "embeddings":
                    raise
                raise (yield from _naming_models_that_can(error, self.profile)) from error
            vectors += got.vectors
            sent += got.pieces
            counted.append(got.counted_tokens)
        _check_lengths(vectors, self.profile)
        _check_counts(sent, counted, self.profile)
        report = _report(self.request.model, self.profile, self.policy, sent, counted)
        return Embeddings(
            tuple(vectors), replace(report, findings=tuple(self.findings), seconds=self.context.clock() - self.started)
        )

    def finish(self, report: Report | None, error: OllamaKitError | None) -> None:
        """Tells how it ended."""
        texts = tuple(Message("user", text) for text in self.request.texts)
        announce(
            Finished(
                request=Request(self.request.model, texts),
                report=report,
                answer="",
                error=error,
                digest=self.profile.facts.digest,
                host=self.profile.url,
                policy=self.policy.name,
                findings=tuple(self.findings),
                seconds=self.context.clock() - self.started,
            ),
            self.context.hooks,
        )


def room(profile: Profile) -> int:
    """The tokens that a text may have. The server takes one off the window for each end token that the model's
    tokenizer does not put there itself (server/routes.go, EmbedHandler, 0.33; 0.9.3 takes off none)."""
    tokenizer = profile.tokenizer
    return profile.context_tokens - (not tokenizer.bos_ids) - (not tokenizer.eos_ids)


def fitted(number: int, text: str, profile: Profile, too_long: TooLong) -> EmbedInput:
    """A text that fits, cut where that is allowed. Where the model's tokens cannot be counted here, the bound may
    be far too high: then the server decides, which is told to refuse and not to cut."""
    tokenizer, available = profile.tokenizer, room(profile)
    if not text.strip():
        raise UsageError(f"text {number} is empty, or nothing is left of it: it has no vector")
    tokens = tokenizer.count(text)
    if tokens <= available or not tokenizer.exact:
        return EmbedInput(number, text, tokens)
    if too_long == "error":
        raise _overflow(number, tokens, profile)
    kept = text[: _longest(text, lambda shorter: tokenizer.count(shorter) <= available)]
    if not kept.strip():
        raise _overflow(number, tokens, profile)
    left = tokenizer.count(kept)
    return EmbedInput(number, kept, left, len(text) - len(kept), tokens - left)


def _longest(text: str, fits: Callable[[str], bool]) -> int:
    """Where to cut so that what stays fits: between visible characters, at a sentence's end if one is close. Looks
    from below, doubling, so that the work goes with what fits."""
    low, step = 0, 64
    while low + step < len(text) and fits(text[: low + step]):
        low += step
        step *= 2
    high = min(len(text), low + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    at = cut_before(text, low)
    while at > 0 and not fits(text[:at]):  # fewer characters can be more tokens, by a few
        at = cut_before(text, at - 1)
    return at


@dataclass(frozen=True)
class _Got:
    vectors: list[tuple[float, ...]]
    pieces: list[EmbedInput]
    counted_tokens: int | None


def _batch(pieces: Sequence[EmbedInput], request: EmbedRequest, profile: Profile) -> Flow[_Got]:
    """The vectors of one request; text by text where the server finds one too long, to know which."""
    try:
        reply = yield _call(pieces, request.model, profile)
    except ContextOverflow as error:
        if len(pieces) > 1:
            parts = []
            for piece in pieces:
                parts.append((yield from _batch([piece], request, profile)))
            return _joined(parts)
        shorter = _shortened(pieces[0]) if request.too_long == "truncate" else None
        if shorter is None:
            raise _overflow(pieces[0].number, 0, profile) from error
        return (yield from _batch([shorter], request, profile))
    counted = reply.get("prompt_eval_count")
    return _Got(_vectors(reply, len(pieces), profile.url), list(pieces), counted if isinstance(counted, int) else None)


def _joined(parts: Sequence[_Got]) -> _Got:
    return _Got(
        [vector for part in parts for vector in part.vectors],
        [piece for part in parts for piece in part.pieces],
        _total([part.counted_tokens for part in parts]),
    )


def _shortened(piece: EmbedInput) -> EmbedInput | None:
    """The piece without its last quarter; None where nothing would be left."""
    at = cut_before(piece.text, len(piece.text) * 3 // 4)
    if not piece.text[:at].strip():
        return None
    gone = len(piece.text) - at
    return replace(piece, text=piece.text[:at], cut_characters=piece.cut_characters + gone)


def _call(pieces: Sequence[EmbedInput], model: str, profile: Profile) -> wire.Call:
    spec = profile.spec
    call = wire.embed(model, [piece.text for piece in pieces], options={"num_ctx": profile.context_tokens})
    more: dict[str, Any] = {"truncate": False}
    if spec is not None and spec.keep_alive is not None:
        more["keep_alive"] = spec.keep_alive
    return replace(call, body={**(call.body or {}), **more})


def _vectors(reply: JSON, wanted: int, url: str) -> list[tuple[float, ...]]:
    vectors = reply.get("embeddings")
    if not isinstance(vectors, list) or len(vectors) != wanted or not all(map(_is_vector, vectors)):
        raise ProtocolError(f"{url} answered /api/embed without one vector for each of {wanted} texts", url=url)
    return [tuple(float(number) for number in vector) for vector in vectors]


def _is_vector(vector: object) -> bool:
    return isinstance(vector, list) and bool(vector) and all(map(_is_finite, vector))


def _is_finite(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)


def _check_lengths(vectors: Sequence[tuple[float, ...]], profile: Profile) -> None:
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        said = f"{profile.url} answered /api/embed with vectors of {' and '.join(map(str, lengths))} numbers"
        raise ProtocolError(said, url=profile.url)


ASKED_ABOUT = 40
"""Models that are asked about, at most, to name one that can embed."""


def _naming_models_that_can(error: ServerRefused, profile: Profile) -> Flow[ServerRefused]:
    """The same error with the server's models that can embed in its hint, by what `show` says of each."""
    able = []
    for model in (yield from flows.models(profile.url))[:ASKED_ABOUT]:
        try:
            facts = yield from flows.show(model.name, profile.url, verbose=False)
        except ServerError:
            continue
        if "embedding" in facts.capabilities:
            able.append(model.name)
    if not able:
        return error
    named = ", ".join(able)
    return ServerRefused(
        error.message,
        url=error.url,
        status=error.status,
        reason=error.reason,
        hint=(f"On this server these can: {named}.", f"该服务器上可用的模型：{named}。"),
    )


def _check_counts(pieces: Sequence[EmbedInput], counted: Sequence[int | None], profile: Profile) -> None:
    """PromptCut where the server has evaluated less than was sent."""
    predicted, total = sum(piece.tokens for piece in pieces), _total(counted)
    if total is not None and is_cut(predicted, _kind(profile), total, profile):
        raise prompt_cut(predicted, total, profile)


def _report(
    model: str, profile: Profile, policy: Policy, pieces: Sequence[EmbedInput], counted: Sequence[int | None]
) -> Report:
    kind = _kind(profile)
    cut = [piece for piece in pieces if piece.cut_characters]
    dropped = {"texts": len(cut), "characters": sum(piece.cut_characters for piece in cut)}
    if kind != "approximate":
        dropped["tokens"] = sum(piece.cut_tokens for piece in cut)
    report = Report(
        model=model,
        host=profile.url,
        context_tokens=profile.context_tokens,
        context_from=profile.context_from,
        predicted_tokens=sum(piece.tokens for piece in pieces),
        predicted_as=kind,
        counted_tokens=_total(counted),
        answer_tokens=0,
        policy=policy.name,
        policy_file=str(policy.origin or ""),
        dropped=dropped if cut else {},
        notes=tuple(map(_said, cut)),
    )
    if report.prediction_held is False:
        said = f"predicted {report.predicted_tokens} tokens, the server counted {report.counted_tokens}"
        return replace(report, notes=(*report.notes, said))
    return report


def _kind(profile: Profile) -> CountKind:
    """What the predicted figure is to the server's: where the tokenizer adds BOS or EOS, 0.9.3 leaves them out of its
    own (ran), and newer servers do not."""
    if not profile.tokenizer.exact:
        return "approximate"
    return "bound" if profile.tokenizer.bos_ids or profile.tokenizer.eos_ids else "exact"


def _said(piece: EmbedInput) -> str:
    tokens = f" ({piece.cut_tokens:,} tokens)" if piece.cut_tokens else ""
    return f"text {piece.number} was cut: {piece.cut_characters:,} characters{tokens} at its end are not in its vector"


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _overflow(number: int, tokens: int, profile: Profile) -> ContextOverflow:
    """The error for a text that is too long; `tokens` 0 where only the server knows how many it has."""
    available = room(profile)
    long = (
        f"is {tokens:,} tokens, and {available:,} fit"
        if tokens
        else f"is more than the about {available:,} tokens that fit"
    )
    window = f"{profile.context_tokens:,} of context ({profile.context_from})"
    return ContextOverflow(
        f"text {number} {long}: {window}",
        needed_tokens=tokens or available + 1,
        available_tokens=available,
        hint=(
            'Split it, or let `too_long="truncate"` cut its end.',
            '请拆分该文本，或用 `too_long="truncate"` 截去末尾。',
        ),
    )
