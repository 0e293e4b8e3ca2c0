"""What is written down of a guarded call when it ends: the report, or the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ollama_kit.errors import OllamaKitError, OutputInvalid
from ollama_kit.guard.conversation import Request
from ollama_kit.guard.counts import prompt_cut
from ollama_kit.guard.exchange import Finished, Result
from ollama_kit.guard.fit import Fitted
from ollama_kit.guard.images.attached import CAUTION, has_images
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.verdict import Verdict
from ollama_kit.records.report import Attempt, Finding, Report
from ollama_kit.server.host import is_cloud_name
from ollama_kit.structured.schema import Schema


@dataclass(frozen=True)
class ReportBuilder:
    """The parts of a report that do not change from one attempt to the next."""

    request: Request
    profile: Profile
    policy: Policy
    schema: Schema | None

    def report(self, fitted: Fitted, attempts: Sequence[Attempt], notes: Sequence[str]) -> Report:
        """The report after the last of `attempts`, without findings, evidence and time."""
        last = attempts[-1]
        report = Report(
            model=self.request.model,
            host=self.profile.url,
            context_tokens=self.profile.context_tokens,
            context_from=self.profile.context_from,
            predicted_tokens=fitted.predicted_tokens,
            predicted_as=fitted.predicted_as,
            counted_tokens=last.prompt_tokens,
            answer_tokens=last.answer_tokens,
            policy=self.policy.name,
            policy_file=str(self.policy.origin or ""),
            dropped=fitted.dropped,
            attempts=tuple(attempts),
            notes=(*notes, *self._losses()),
        )
        if report.prediction_held is False:
            said = f"predicted {report.predicted_tokens} prompt tokens, the server counted {report.counted_tokens}"
            return replace(report, notes=(*report.notes, said))
        return report

    def finished(
        self,
        result: Result | None,
        error: OllamaKitError | None,
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
        seconds: float,
    ) -> Finished:
        """How the call ended, for the hooks."""
        return Finished(
            request=self.request,
            report=None if result is None else result.report,
            answer="" if result is None else result.text,
            error=error,
            digest=self.profile.facts.digest,
            host=self.profile.url,
            policy=self.policy.name,
            findings=tuple(findings),
            attempts=tuple(attempts),
            seconds=seconds,
        )

    def failure(self, verdict: Verdict, fitted: Fitted, attempts: Sequence[Attempt]) -> OutputInvalid:
        """The error for a call whose last attempt ended in `verdict`."""
        last = attempts[-1]
        if verdict.outcome == "prompt_cut" and last.prompt_tokens is not None:
            cut = prompt_cut(fitted.predicted_tokens, last.prompt_tokens, self.profile)
            cut.attempts = tuple(attempts)
            return cut
        tries = "1 attempt" if len(attempts) == 1 else f"{len(attempts)} attempts"
        missing = self._what_filled(verdict, fitted, last) if verdict.outcome == "length" else ""
        return OutputInvalid(f"no valid answer in {tries}; the last: {verdict.reason}{missing}", attempts=attempts)

    def _what_filled(self, verdict: Verdict, fitted: Fitted, last: Attempt) -> str:
        """What an answer that was cut off was spent on, by the server's own counts."""
        written = fitted.answer_tokens if last.answer_tokens is None else last.answer_tokens
        said = f" at {written:,} tokens"
        characters = len(verdict.thinking) + len(verdict.text)
        if verdict.thinking and characters:
            said += f", about {round(100 * len(verdict.thinking) / characters)} % of them thinking"
        window = self.profile.context_tokens
        if fitted.answer_tokens >= window - fitted.predicted_tokens:
            said += f", and the window has no more: {fitted.predicted_tokens:,} of {window:,} tokens are the prompt"
        return said

    def _losses(self) -> tuple[str, ...]:
        """That the server was given plain JSON mode, where its grammar can say nothing of the schema, or leaves the
        grammar out; and that a picture may have put words into the answer."""
        notes = (CAUTION,) if has_images(self.request) else ()
        if is_cloud_name(self.request.model) or self.profile.facts.is_remote:
            where = self.profile.facts.remote_host or "ollama.com"
            notes = (f"the server forwards prompts for {self.request.model} to {where}", *notes)
        if self.schema is not None and not self.request.think and self.profile.drops_format:
            version = self.profile.version
            notes = (
                f"Ollama {version} ignores `format` while thinking is off: the schema was checked here only",
                *notes,
            )
        if self.schema is None or self.schema.grammar != "json":
            return notes
        return ("the server's grammar cannot express the schema: plain JSON mode, checked afterwards", *notes)
