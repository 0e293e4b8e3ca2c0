"""Reports stay readable whatever a document holds."""

from __future__ import annotations

from ollama_kit.records.report import Finding, Severity, capped


def finding(start: int, severity: Severity = "low", rule: str = "r") -> Finding:
    return Finding("s", rule, severity, "removed", "x", (start, start + 1), "d")


def test_few_findings_come_in_order_of_place() -> None:
    """Below the bound nothing is merged."""
    assert capped([finding(5), finding(1, rule="q")], most=2) == (finding(1, rule="q"), finding(5))


def test_the_last_one_stands_for_all_that_follow() -> None:
    """Its span reaches over the rest, its severity is the worst of theirs, and it says how many they are."""
    first, rest = capped([finding(0), finding(3), finding(9, "high"), finding(6)], most=2)
    assert first == finding(0)
    assert (rest.span, rest.severity, rest.detail) == ((3, 10), "high", "3 places")


def test_each_rule_is_bounded_by_itself() -> None:
    """A flood of one rule does not hide a single finding of another."""
    found = capped([*(finding(at) for at in range(500)), finding(900, "high", "rare")], most=10)
    assert len(found) == 11
    assert found[-1] == finding(900, "high", "rare")
