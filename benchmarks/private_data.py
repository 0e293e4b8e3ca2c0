"""Secrets and personal data beside detect-secrets and privyscope-zh-hans: recall, false alarms, and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.timing import in_turns
from ollama_kit.guard.private import KINDS, PERSONAL, SECRETS, Placeholders, redact_private_data
from ollama_kit.guard.private.redaction import detect
from tests.guard.private.corpus import Line, lines
from tests.guard.private.oracles import ORACLES, Spans, touches

OURS = "ollama-kit"
ROUNDS = 15
SIZES_BYTES = (4_000, 100_000)


def run() -> Iterable[str]:
    yield from _recall_and_alarms(lines())
    yield from _time(lines())


def _recall_and_alarms(labeled: Sequence[Line]) -> Iterable[str]:
    """A find counts where a span touches it; an alarm is a line without labels in which anything is found. Finds of
    kinds that another finder does not look for at all are in its row as zeros: the table says what each covers."""
    found = {name: oracle([line.text for line in labeled]) for name, oracle in ORACLES.items()}
    found = {OURS: [tuple((hit.start, hit.end) for hit in detect(line.text, KINDS)) for line in labeled], **found}
    totals = Counter(kind for line in labeled for kind, _, _ in line.finds)
    yield f"{'found of':<15}{'finds':>6}" + "".join(f"{name:>20}" for name in found)
    for kind in sorted(totals, key=lambda kind: (kind not in SECRETS, kind)):
        counts = [_hits(labeled, spans, kind) for spans in found.values()]
        yield f"{kind:<15}{totals[kind]:>6}" + "".join(f"{count:>20}" for count in counts)
    yield f"{'all':<15}{totals.total():>6}" + "".join(
        f"{_share(sum(_hits(labeled, spans, kind) for kind in totals), totals.total()):>20}" for spans in found.values()
    )
    for language in ("zh", "en"):
        clean = [at for at, line in enumerate(labeled) if line.language == language and not line.finds]
        alarms = [sum(bool(spans[at]) for at in clean) for spans in found.values()]
        title = f"alarms on {language}"
        yield f"{title:<15}{len(clean):>6}" + "".join(f"{_share(count, len(clean)):>20}" for count in alarms)


def _hits(labeled: Sequence[Line], spans: Sequence[Spans], kind: str) -> int:
    return sum(
        touches(theirs, start, end)
        for line, theirs in zip(labeled, spans, strict=True)
        for found, start, end in line.finds
        if found == kind
    )


def _share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.0f} %)"


def _time(labeled: Sequence[Line]) -> Iterable[str]:
    """The whole stage on the clean lines, repeated: what a text costs that holds next to nothing."""
    for language in ("zh", "en"):
        prose = "\n".join(line.text for line in labeled if line.language == language and not line.finds)
        for size_bytes in SIZES_BYTES:
            text = (prose * (size_bytes // len(prose) + 1)).encode()[:size_bytes].decode("utf-8", "ignore")
            seconds = in_turns({"stage": lambda text=text: _stage(text)}, ROUNDS, warm_up=2)["stage"]
            yield f"{language}, {size_bytes // 1000:>3} KB: {sorted(seconds)[ROUNDS // 2] * 1e3:.2f} ms"


def _stage(text: str) -> object:
    return redact_private_data(text, "document 0", Placeholders(), redact=SECRETS, flag=PERSONAL)
