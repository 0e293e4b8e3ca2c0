"""Span maps lead from changed text back to the characters of the caller's own."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from ollama_kit.text.spans import Changed, Edit, SpanMap, apply
from tests.intensity import examples

letters = st.text(st.sampled_from("abcdefgh甲乙👩"), max_size=30)
news = st.text(st.sampled_from("XYZ\u200b"), max_size=4)


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> list[Edit]:
    """Sorted edits that do not overlap: insertions, deletions and replacements, side by side too."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8).filter(lambda cuts: len(cuts) % 2 == 0)))
    return [Edit(start, end, draw(news)) for start, end in zip(cuts[::2], cuts[1::2], strict=True)]


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(letters)
    return text, draw(edits_of(text))


def pieces(text: str, edits: list[Edit]) -> list[tuple[str, int | None]]:
    """Each character of the changed text with its place in `text`; None where it is new. The plain way to say it."""
    found: list[tuple[str, int | None]] = []
    at = 0
    for edit in edits:
        found += [(text[place], place) for place in range(at, edit.start)]
        found += [(character, None) for character in edit.new]
        at = edit.end
    return [*found, *((text[place], place) for place in range(at, len(text)))]


@given(edited())
@settings(deadline=None, max_examples=examples(500))
def test_every_unchanged_character_leads_to_itself(case: tuple[str, list[Edit]]) -> None:
    """What no edit touched is found at its own place, and the text is what the edits say."""
    text, edits = case
    changed, expected = apply(text, edits), pieces(text, edits)
    assert changed.text == "".join(character for character, _ in expected)
    for at, (_, place) in enumerate(expected):
        if place is not None:
            assert changed.map.original(at) == place
            assert changed.map.span(at, at + 1) == (place, place + 1)


@given(edited())
@settings(deadline=None, max_examples=examples(500))
def test_a_span_of_new_text_leads_to_what_it_replaced(case: tuple[str, list[Edit]]) -> None:
    """The whole of a replacement leads to the whole of what it replaced; nothing leads outside the text."""
    text, edits = case
    changed, grown = apply(text, edits), 0
    for edit in edits:
        start, end = edit.start + grown, edit.start + grown + len(edit.new)
        grown += len(edit.new) - (edit.end - edit.start)
        if edit.new:
            assert changed.map.span(start, end) == (edit.start, edit.end)
    for at in range(len(changed.text) + 1):
        assert 0 <= changed.map.original(at) <= len(text)
        assert 0 <= changed.map.original_end(at) <= len(text)


@given(edited())
@settings(deadline=None, max_examples=examples(300))
def test_later_places_never_lead_to_earlier_ones(case: tuple[str, list[Edit]]) -> None:
    """Both ways back are monotone, so that a span stays a span."""
    text, edits = case
    changed = apply(text, edits)
    for back in (changed.map.original, changed.map.original_end):
        places = [back(at) for at in range(len(changed.text) + 1)]
        assert places == sorted(places)


@given(st.data(), letters, st.integers(2, 4))
@settings(deadline=None, max_examples=examples(300))
def test_maps_of_stages_lead_back_one_after_the_other(data: st.DataObject, text: str, stages: int) -> None:
    """Through any number of stages, a character that none of them touched leads back to itself."""
    now: list[tuple[str, int | None]] = [(character, at) for at, character in enumerate(text)]
    done: list[Changed] = []
    for _ in range(stages):
        before = "".join(character for character, _ in now)
        edits = data.draw(edits_of(before))
        done.append(apply(before, edits))
        now = [(character, None if at is None else now[at][1]) for character, at in pieces(before, edits)]
    for at, (_, place) in enumerate(now):
        span = (at, at + 1)
        for changed in reversed(done):
            span = changed.map.span(*span)
        if place is not None:
            assert span == (place, place + 1)


@given(edited())
@settings(deadline=None, max_examples=examples(300))
def test_a_cut_is_a_place_inside_a_replacement(case: tuple[str, list[Edit]]) -> None:
    """`cuts` is true between two characters that came from one edit, and nowhere else."""
    text, edits = case
    changed, grown = apply(text, edits), 0
    inside = set()
    for edit in edits:
        start = edit.start + grown
        inside |= set(range(start + 1, start + len(edit.new)))
        grown += len(edit.new) - (edit.end - edit.start)
    assert {at for at in range(len(changed.text) + 1) if changed.map.cuts(at)} == inside


def test_what_was_taken_out_behind_a_span_is_not_part_of_it() -> None:
    """A finding in front of removed characters keeps its own end."""
    changed = apply("key\x00\x00 rest", [Edit(3, 5, "")])
    assert changed.map.span(0, 3) == (0, 3)
    assert changed.map.span(3, 8) == (5, 10)


def test_no_edits_are_the_identity() -> None:
    """Without edits, text and offsets stay as they are."""
    assert apply("abc", []) == Changed("abc", SpanMap())
    assert [SpanMap().original(at) for at in range(4)] == [0, 1, 2, 3]
