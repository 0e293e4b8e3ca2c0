"""A text on its way through the stages, which can always say where each character came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed, SpanMap

Stage = Callable[[str, str], "tuple[Changed, tuple[Finding, ...]]"]
"""Takes a text and the name of its source; returns the changed text and what was found, in spans of the text taken."""


@dataclass(frozen=True)
class Passage:
    """`text` as it is now; `maps`, first stage first, lead back to the text that the caller gave as `source`."""

    text: str
    source: str
    maps: tuple[SpanMap, ...] = ()
    findings: tuple[Finding, ...] = ()

    def through(self, stages: Iterable[Stage]) -> Passage:
        """This passage after all stages, in their order."""
        passage = self
        for stage in stages:
            changed, found = stage(passage.text, passage.source)
            located = tuple(map(passage.located, found))
            maps = passage.maps if changed.text is passage.text else (*passage.maps, changed.map)
            passage = Passage(changed.text, passage.source, maps, (*passage.findings, *located))
        return passage

    def located(self, finding: Finding) -> Finding:
        """A finding in this text, with its span in the caller's own."""
        return replace(finding, span=self.original(finding.span)) if self.maps else finding

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """The span in the caller's own text of a span in this one."""
        for back in reversed(self.maps):
            span = back.span(*span)
        return span
