"""Markdown against another reader, markdown-it, and the one view behind all writers for people.

Goldens are readable text: OLLAMA_KIT_UPDATE_GOLDENS=1 writes them anew, and the run then fails once, to be looked at.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from ollama_kit.jobs.contract.writers import write_markdown
from ollama_kit.jobs.contract.writers.glossary import TERMS
from ollama_kit.jobs.contract.writers.wording import WORDS
from tests.intensity import examples
from tests.jobs.contract.writers.dressed import NASTY, SPANS, Spans, dressed
from tests.jobs.contract.writers.reports import bare, english, pinned, sale

UPDATING = bool(os.environ.get("OLLAMA_KIT_UPDATE_GOLDENS"))  # read here: a test sees no setting of the user's
GOLDENS = Path(__file__).parents[3] / "data" / "contracts" / "reports"
MARKDOWN = MarkdownIt("commonmark").enable(["strikethrough", "table"])
REPORTS = {"sale": sale, "services": english}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_written_as_it_was_agreed(name: str) -> None:
    """Markdown is what the goldens show, byte for byte."""
    golden = GOLDENS / f"{name}.md"
    written = write_markdown(pinned(REPORTS[name]())).encode()
    if UPDATING:
        golden.parent.mkdir(exist_ok=True)
        old = golden.read_bytes() if golden.exists() else b""
        golden.write_bytes(written)
        assert old == written, f"{golden.name} was written anew: look at it"
    assert written.decode() == golden.read_bytes().decode()


def test_both_languages_have_the_same_words() -> None:
    """A label that one language lacks would fail in the middle of a night."""
    assert set(WORDS["zh"]) == set(WORDS["en"])
    for key, text in WORDS["zh"].items():
        assert sorted(re.findall(r"\{\w*\}", text)) == sorted(re.findall(r"\{\w*\}", WORDS["en"][key])), key
    assert all(zh and en for group in TERMS.values() for zh, en in group.values())


def test_facts_alone_show_their_proof() -> None:
    """In the contract's language; what is absent says what was searched."""
    text = write_markdown(sale())
    shown = ("设备采购合同", "北辰精工设备有限公司", "2026-04-20", "自双方盖章之日起生效", "CNY 1,200,000", "未找到")
    assert not [one for one in shown if one not in text]
    nothing = write_markdown(bare("Nothing here."))
    assert "absent (searched: " in nothing
    assert "no legal advice" in nothing


def test_what_is_not_proven_is_marked() -> None:
    """Answers and sentences without proof, with doubts, from orders; a question that failed; and why."""
    lines = write_markdown(sale()).splitlines()
    for words in ("三年", "8,000 元", "卖方可以随时涨价", "质保期可能一直不开始", ": 8 "):
        (line,) = [one for one in lines if words in one and "**[" in one]
        assert "**[未证实]**" in line
    assert any("合同里没有这句话" in one and "本合同有效期三年" in one for one in lines)
    assert any("引文里没有" in one and "8,000" in one for one in lines)
    assert any("三次回答都不是合规的 JSON" in one for one in lines)
    assert any("有条款没读" in one for one in lines)


def test_conflicts_and_differences_are_marked() -> None:
    """Both answers stand there, and what the model and the rules do not share is said in words."""
    text = write_markdown(sale())
    row = text[text.index("- **生效日期**") : text.index("- **终止日期**")]
    assert "**[相互矛盾]** **[规则与模型不一致]**" in row
    assert "2026-04-20" in row
    assert "2026年4月18日 [模型]" in row
    assert "*模型读到“2026年4月18日”，规则没有*" in row


def test_an_answer_that_both_have_stands_there_once() -> None:
    """With the rules' quote; the model's words only where they say something else."""
    text = write_markdown(sale())
    row = text[text.index("- **标题**") : text.index("- **合同类型**")]
    assert row.count("设备采购合同 ") == 1
    assert "规则与模型一致" in row
    assert text.count("CNY 1,200,000") == 1
    assert "模型的说法: 卖方晚交一天" in text


def test_a_users_own_questions_stand_apart() -> None:
    """They are not mixed with what the rules read, and what the schema says against the answers is there."""
    text = write_markdown(english())
    own = text[text.index("## What was asked") : text.index("## Risks")]
    assert "**notice_days**: 30 — “thirty (30) days”" in own
    assert "'insurance' is a required property" in own
    assert "**Insurance**: absent (the model read: 1. Fees; 2. Term)" in own
    assert "reachable: yes" in own


@settings(deadline=None, max_examples=examples(40))
@given(NASTY, SPANS)
def test_no_text_of_a_contract_or_a_model_changes_the_markdown(text: str, spans: Spans) -> None:
    """Whatever they write, there is no link, picture, code or tag, and no heading but ours."""
    tokens = MARKDOWN.parse(write_markdown(dressed(text, spans)))
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "softbreak", "strong_open", "strong_close", "em_open", "em_close", "text_special"}
    assert not {token.type for token in tokens} & {"html_block", "fence", "code_block", "blockquote_open", "hr"}
    assert sum(token.type == "heading_open" for token in tokens) == sum(
        token.type == "heading_open" for token in MARKDOWN.parse(write_markdown(dressed("中" if "中" in text else "x")))
    )
