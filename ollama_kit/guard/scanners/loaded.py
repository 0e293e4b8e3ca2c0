"""One scanner, made once a process and shared by every policy that asks for the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from ollama_kit.errors import GuardBlocked, OllamaKitError
from ollama_kit.guard.scanners.fetched import fetched
from ollama_kit.guard.scanners.learned import learned
from ollama_kit.guard.scanners.matching import checks
from ollama_kit.guard.scanners.outcome import Asked, Check, Deadline, Outcome, OutOfTime
from ollama_kit.guard.scanners.personal import personal
from ollama_kit.guard.scanners.rules import ScannerRule

_making = Lock()
_made: dict[tuple[ScannerRule, bool], Loaded] = {}


@dataclass(frozen=True)
class Limits:
    """How long a text a scanner is given, and how long it may take over one, waiting for others included."""

    max_chars: int
    timeout_s: float
    clock: Callable[[], float]


@dataclass(frozen=True)
class Loaded:
    """A scanner and its lock: neither llm-guard's scanners nor the models under them may be used twice at once."""

    check: Check
    lock: Lock = field(default_factory=Lock)

    def ask(self, rule: ScannerRule, text: str, prompt: str, vault: list[tuple[str, str]], limits: Limits) -> Outcome:
        """The scanner's answer. Whatever keeps it from giving one blocks the text: too long, too slow, an error."""
        longest = max(len(text), len(prompt) if rule.kind.reads == "pair" else 0)
        if longest > limits.max_chars:
            raise unanswered(rule, f"the text has {longest:,} characters, and it is given {limits.max_chars:,} at most")
        deadline = Deadline(limits.clock, limits.clock() + limits.timeout_s)
        late = f"it took more than {limits.timeout_s:g} s"
        if not self.lock.acquire(timeout=limits.timeout_s):
            raise unanswered(rule, late)
        try:
            return self.check(Asked(text, prompt, deadline, vault))
        except OllamaKitError:
            raise
        except (OutOfTime, TimeoutError) as problem:
            raise unanswered(rule, late) from problem
        except Exception as problem:  # a scanner that fails has not said that the text is clean
            raise unanswered(rule, f"it failed with {type(problem).__name__}") from problem
        finally:
            self.lock.release()


def unanswered(rule: ScannerRule, why: str) -> GuardBlocked:
    """The refusal of a text that a scanner could not judge."""
    reason = f"{rule.scanner} ({rule.name!r}) gave no verdict: {why}"
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=rule.name,
        reason=reason,
        hint=(
            (
                "A text that was not judged is not let through. Take the scanner out of the policy, or give it more "
                "room with `max_chars` and `timeout_s`."
            ),
            "未经判定的文本不会放行。可从策略中去掉该扫描器，或用 `max_chars`、`timeout_s` 放宽限制。",
        ),
    )


def load(rule: ScannerRule, download: bool) -> Loaded:
    """The scanner of a rule; the same one for every rule that differs in its name or in what is done, only."""
    redacting = rule.on_fail == "redact" and rule.kind.need in ("model", "spacy")
    same = (replace(rule, name=rule.scanner, on_fail="redact" if redacting else "flag"), download)
    with _making:
        if same not in _made:
            _made[same] = Loaded(_check(rule, download))
        return _made[same]


def _check(rule: ScannerRule, download: bool) -> Check:
    if rule.kind.need == "nothing":
        return checks()[rule.scanner](rule)
    if rule.kind.need == "model":
        return learned(rule)
    return personal(rule, download) if rule.kind.need == "spacy" else fetched(rule, download)
