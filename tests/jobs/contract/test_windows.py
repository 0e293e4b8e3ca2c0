"""Segments, retrieval and windows: nothing is lost, nothing is too large, and every place leads back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.jobs.contract.extraction import read_structure
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.questions.questionnaire import load_questionnaire
from ollama_kit.jobs.contract.structure.back_matter import read_parts
from ollama_kit.jobs.contract.windows.packing import MOST_WINDOWS, Packer
from ollama_kit.jobs.contract.windows.retrieval import Index
from ollama_kit.jobs.contract.windows.segments import Segment, cut_long, pieces_of, segments_of
from tests.intensity import examples
from tests.jobs.contract.samples import FOLDER, NAMES as CONTRACTS, contract

CLAUSES = st.lists(
    st.tuples(
        st.sampled_from(["", "付款", "违约责任", "保密", "Termination"]),
        st.text("甲乙方应当在合同签订后支付款项。；，0123456789 \nabc", max_size=120),
    ),
    max_size=12,
)


def text_of(clauses: list[tuple[str, str]]) -> ContractText:
    numbered = (f"第{n}条 {title}\n{body}\n" for n, (title, body) in enumerate(clauses, 1))
    return contract("合同\n" + "".join(numbered))


def cut(text: ContractText) -> tuple[Segment, ...]:
    return segments_of(text, read_structure(text, read_parts(text)))


def packer(text: ContractText, limit: int) -> Packer:
    return Packer.of(text, cut(text), len, limit)


@given(CLAUSES)
def test_segments_are_the_text_without_gaps(clauses: list[tuple[str, str]]) -> None:
    """Every character is in exactly one segment, in order."""
    text = text_of(clauses)
    segments = cut(text)
    assert [segment.start for segment in segments] == [0, *(segment.end for segment in segments[:-1])]
    assert segments[-1].end == len(text.plain)


@pytest.mark.parametrize("name", CONTRACTS)
def test_segments_begin_where_clauses_do(name: str) -> None:
    """Of whole contracts too: each clause's number stands at the beginning of its segment."""
    text = contract((FOLDER / f"synthetic_{name}.txt").read_text(encoding="utf-8"))
    structure = read_structure(text, read_parts(text))
    begins = {segment.start for segment in segments_of(text, structure)}
    for clause in structure.outline.clauses:
        assert any(text.original(start) == clause.start for start in begins)


@given(CLAUSES, st.integers(16, 200), st.data())
@settings(max_examples=examples(60))
def test_windows_fit_and_lead_back(clauses: list[tuple[str, str]], limit: int, data: st.DataObject) -> None:
    """No window has more tokens than there may be; each piece is the contract's own text, once; and what is worth
    something is in a window or named as unread."""
    text = text_of(clauses)
    made = packer(text, limit)
    scores = data.draw(st.lists(st.integers(0, 9), min_size=len(made.segments), max_size=len(made.segments)))
    windows, left = made.windows(scores)
    covered: set[int] = set()
    for window in windows:
        assert window.tokens == len(window.text) <= limit
        for piece in window.pieces:
            shown = window.text[piece.at : piece.at + piece.length]
            assert shown == text.plain[piece.start : piece.start + piece.length]
            places = set(range(piece.start, piece.start + piece.length))
            assert not covered & places
            covered |= places
            assert window.plain_span(piece.at, piece.at + piece.length) == (piece.start, piece.start + piece.length)
    assert len(windows) <= MOST_WINDOWS + 1
    for at, (segment, score) in enumerate(zip(made.segments, scores, strict=True)):
        if score:
            inside = set(range(segment.start, segment.end)) <= covered
            assert inside != (at in left)


@given(st.text("甲乙。；\n a1", max_size=300), st.integers(1, 40))
def test_pieces_of_a_long_clause_are_all_of_it(plain: str, limit: int) -> None:
    pieces = list(pieces_of(plain, (0, len(plain)), len, limit))
    assert "".join(plain[start:end] for start, end in pieces) == plain
    assert all(end - start <= limit for start, end in pieces)


def test_a_contract_that_fits_is_read_whole() -> None:
    """What stands next to a clause may change its meaning, and no list of words is complete."""
    text = text_of([("付款", "支付款项。"), ("保密", "应当保密。")])
    for scores in ([0, 1, 0], [0, 0, 0]):
        windows, unread = packer(text, 10_000).windows(scores)
        assert [window.whole for window in windows] == [True]
        assert windows[0].text == text.plain
        assert unread == ()


def test_a_long_contract_that_says_nothing_on_a_question_is_not_asked() -> None:
    text = text_of([("付款", "支付款项。" * 40)])
    assert packer(text, 100).windows([0, 0]) == ((), ())


def test_a_subclause_brings_the_headings_above_it() -> None:
    """Under which heading it stands is part of what it says."""
    body = "双方应当履行本合同的约定。" * 30
    text = contract(f"合同\n第一条 标的\n{body}\n第二条 违约责任\n1. {body}\n2. 逾期付款的，每日支付违约金。\n")
    made = packer(text, 120)
    at = next(at for at, segment in enumerate(made.segments) if text.plain[segment.start :].startswith("2. 逾期"))
    (window,), _ = made.windows([int(one == at) for one in range(len(made.segments))])
    assert window.text.startswith("第二条 违约责任")
    assert "逾期付款" in window.text
    assert made.segments[at].label.startswith("第二条 违约责任 2.")


def test_what_there_is_no_room_for_is_named_and_worth_least() -> None:
    """Of a contract of any length a bounded number of windows is read for a question, the best clauses first."""
    text = text_of([("付款", "支付款项。" * 18)] * 40)
    made = packer(text, 100)
    scores = [0, *range(1, 41)]
    windows, unread = made.windows(scores)
    assert len(windows) <= MOST_WINDOWS + 1
    assert unread == tuple(range(1, len(unread) + 1))
    assert made.labels(unread)[:2] == ("第1条 付款", "第2条 付款")
    assert "第40条" in windows[-1].text


def test_a_clause_longer_than_all_windows_is_read_as_far_as_there_is_room() -> None:
    """Its pieces keep its name and its heading; of those that are worth the same the first ones are read."""
    text = text_of([("保密", "应当保密。"), ("付款", "支付款项。\n" * 400), ("违约责任", "无。")])
    made = packer(text, 100)
    pieces = [at for at, segment in enumerate(made.segments) if segment.label == "第2条 付款"]
    windows, left = made.windows([int(at in pieces) for at in range(len(made.segments))])
    assert len(pieces) > len(left) > 0
    assert windows[0].text.startswith("第2条 付款\n支付款项。")
    assert left == tuple(pieces[-len(left) :])
    assert made.labels(left) == ("第2条 付款",)
    assert {made.segments[at].titles for at in pieces} == {"付款"}
    assert all(made.segments[at].above == (pieces[0],) for at in pieces[1:])


def test_a_piece_from_the_middle_of_a_clause_brings_its_heading() -> None:
    text = text_of([("付款", "支付款项。\n" * 100 + "第三期在验收后付。\n" + "支付款项。\n" * 100)])
    made = packer(text, 100)
    at = next(at for at, one in enumerate(made.segments) if "第三期" in text.plain[one.start : one.end])
    (window,), _ = made.windows([int(one == at) for one in range(len(made.segments))])
    assert window.text.startswith("第1条 付款\n")
    assert "第三期在验收后付" in window.text


def test_parts_of_a_text_without_clauses_are_called_by_their_first_words() -> None:
    """Those that follow each other once, by the first of them."""
    text = contract("".join(f"第{n}段话说的是这件事。\n" for n in range(10, 60)))
    made = packer(text, 60)
    assert len(made.segments) > 4
    first, *_, last = made.segments
    assert first.label.startswith("第10段话")
    assert made.labels(range(len(made.segments))) == (first.label,)
    assert made.labels([0, len(made.segments) - 1]) == (first.label, last.label)


def test_the_passage_of_a_long_clause_is_its_likest_piece() -> None:
    """And not its first one, in which nothing but the heading may stand."""
    filler = "本条系关于房屋使用的一般说明，双方均应遵守。" * 20
    text = text_of([("押金与其他", f"{filler}乙方应支付押金8,888元。{filler}"), ("其他", "无。")])
    made = packer(text, 5_000)
    index = Index(text, cut_long(text.plain, made.segments, len, 100, 100))
    asked = next(one for one in load_questionnaire("zh").questions if one.name == "amounts")
    window = made.passage(index.segments, index.likest(asked, "押金：押金总额为8888元"), 150)
    assert "乙方应支付押金8,888元" in window.text
    assert window.text.startswith("第1条 押金与其他\n")
    assert window.tokens <= 150


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("penalty", "违约责任"),
        ("payments", "付款方式"),
        ("dispute_forum", "法律适用与争议解决"),
        ("warranty", "质量保证"),
        ("delivery", "交货"),
    ],
)
def test_the_right_clause_is_worth_most(question: str, title: str) -> None:
    """By the titles and the words of the clauses, for our own questions over a contract of ours."""
    text = contract((FOLDER / "synthetic_zh_sale.txt").read_text(encoding="utf-8"))
    asked = next(one for one in load_questionnaire("zh").questions if one.name == question)
    segments = cut(text)
    scores = Index(text, segments).scores([asked])
    clauses = [at for at, segment in enumerate(segments) if segment.titles]
    best = max(clauses, key=lambda at: scores[at])
    assert title in segments[best].titles


def test_a_question_without_topics_is_asked_of_everything() -> None:
    """Where nothing says in which clause to look, all of them are worth the same."""
    text = text_of([("付款", "支付。"), ("保密", "保密。")])
    asked = load_questionnaire("zh").questions[0]
    from dataclasses import replace

    scores = Index(text, cut(text)).scores([replace(asked, topics=(), words=())])
    assert set(scores) == {1}


def test_statements_are_proven_by_the_clauses_likest_to_them() -> None:
    """A rare word counts for more than the names that stand in every clause."""
    text = text_of(
        [("标的", "甲方向乙方采购服务器。"), ("付款", "甲方向乙方支付货款。"), ("质保", "甲方乙方约定质保两年。")]
    )
    asked = load_questionnaire("zh").questions[0]
    from dataclasses import replace

    segments = cut(text)
    ranked = Index(text, segments).likest(replace(asked, topics=(), words=()), "甲方向乙方采购了服务器")
    assert "服务器" in text.plain[segments[ranked[0]].start : segments[ranked[0]].end]
