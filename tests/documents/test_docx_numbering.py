"""DOCX: the numbers that Word shows before paragraphs, which the file does not hold as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.documents import read_document
from ollama_kit.documents.docx.list_numbers import numeral
from tests.documents.docxs import body, run
from tests.documents.test_pdf import texts
from tests.intensity import examples


def level(at: int, form: str, text: str, *, gap: str = "tab", more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:suff w:val="{gap}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def definition(key: int, *levels: str, more: str = "") -> str:
    return f'<w:abstractNum w:abstractNumId="{key}">{more}{"".join(levels)}</w:abstractNum>'


def number(key: int, of: int, more: str = "") -> str:
    return f'<w:num w:numId="{key}"><w:abstractNumId w:val="{of}"/>{more}</w:num>'


def item(text: str, key: int, at: int = 0, style: str = "") -> str:
    tied = f'<w:pStyle w:val="{style}"/>' if style else ""
    own = f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{key}"/></w:numPr>' if key >= 0 else ""
    return f"<w:p><w:pPr>{tied}{own}</w:pPr>{run(text) if text else ''}</w:p>"


def shown(path: Path, numbering: str, *items: str, styles: str = "") -> list[str]:
    return texts(read_document(body(path / "a.docx", *items, numbering=numbering, styles=styles)))


def test_chinese_clauses_on_three_levels(tmp_path: Path) -> None:
    """第一条, （一）, 1. as contracts have them; a level begins anew below the next one above."""
    clauses = definition(
        1,
        level(0, "chineseCountingThousand", "第%1条"),
        level(1, "chineseCounting", "（%2）", gap="nothing"),
        level(2, "decimal", "%3."),
    )
    found = shown(
        tmp_path,
        clauses + number(1, 1),
        *(item("标的", 1), item("设备", 1, 1), item("甲", 1, 2), item("乙", 1, 2), item("价款", 1, 1)),
        *(item("丙", 1, 2), item("交货", 1), item("时间", 1, 1)),
    )
    assert found == ["第一条 标的", "（一）设备", "1. 甲", "2. 乙", "（二）价款", "1. 丙", "第二条 交货", "（一）时间"]


def test_decimal_levels_and_letters(tmp_path: Path) -> None:
    """1.1 and 1.1.1 hold the numbers above; legal numbering turns Roman ones into digits."""
    levels = definition(
        1,
        level(0, "upperRoman", "Article %1"),
        level(1, "decimal", "%1.%2", more="<w:isLgl/>"),
        level(2, "lowerLetter", "(%3)"),
    )
    found = shown(
        tmp_path,
        levels + number(1, 1),
        *(item("Price", 1), item("Net", 1, 1), item("in euros", 1, 2), item("in cash", 1, 2), item("Tax", 1, 1)),
        *(item("Term", 1), item("Start", 1, 1)),
    )
    assert found == [
        "Article I Price",
        "1.1 Net",
        "(a) in euros",
        "(b) in cash",
        "1.2 Tax",
        "Article II Term",
        "2.1 Start",
    ]


def test_lists_of_one_definition_count_on_unless_they_begin_anew(tmp_path: Path) -> None:
    """Two lists of one definition share their count; a start of its own is used once."""
    plain = definition(1, level(0, "decimal", "%1."))
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    found = shown(
        tmp_path,
        plain + number(1, 1) + number(2, 1) + number(3, 1, anew),
        *(item("a", 1), item("b", 2), item("c", 3), item("d", 3), item("e", 0)),
    )
    assert found == ["1. a", "2. b", "5. c", "6. d", "e"]


def test_styles_number_paragraphs_too(tmp_path: Path) -> None:
    """A heading's style names the list; a style based on it inherits that; "no list" switches it off."""
    clauses = definition(1, level(0, "decimal", "§ %1", more='<w:pStyle w:val="Clause"/>'))
    look = (
        '<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="heading 9"/><w:pPr><w:numPr><w:numId w:val="1"/>'
        "</w:numPr></w:pPr></w:style>"
    )
    found = shown(tmp_path, clauses + number(1, 1), item("one", -1, style="Clause"), item("two", -1, style="Clause"),
                  item("none", 0, style="Clause"), styles=look)  # fmt: skip
    assert found == ["§ 1 one", "§ 2 two", "none"]


def test_bullets_are_bullets(tmp_path: Path) -> None:
    """The signs of symbol fonts, which are no characters, are shown as a bullet."""
    found = shown(tmp_path, definition(1, level(0, "bullet", "\uf0b7")) + number(1, 1), item("a", 1))
    assert found == ["• a"]


def test_a_level_that_never_restarts(tmp_path: Path) -> None:
    """lvlRestart 0: clauses count through all chapters."""
    levels = definition(
        1, level(0, "decimal", "Chapter %1"), level(1, "decimal", "%2.", more='<w:lvlRestart w:val="0"/>')
    )
    found = shown(tmp_path, levels + number(1, 1), item("A", 1), item("a", 1, 1), item("B", 1), item("b", 1, 1))
    assert found == ["Chapter 1 A", "1. a", "Chapter 2 B", "2. b"]


@pytest.mark.parametrize(
    ("value", "form", "written"),
    [
        (10, "chineseCounting", "十"),
        (20, "chineseCounting", "二十"),
        (105, "chineseCountingThousand", "一百零五"),
        (1010, "chineseCountingThousand", "一千零一十"),
        (12, "chineseLegalSimplified", "壹拾贰"),
        (10, "ideographDigital", "一〇"),
        (3, "ideographTraditional", "丙"),
        (2, "decimalEnclosedCircleChinese", "②"),
        (7, "decimalZero", "07"),
        (28, "upperLetter", "BB"),
        (14, "lowerRoman", "xiv"),
        (3, "decimalFullWidth", "３"),
        (22, "ordinal", "22nd"),
        (5, "something new", "5"),
        (5, "none", ""),
    ],
)
def test_forms_of_numbers(value: int, form: str, written: str) -> None:
    """One number in each form that contracts use."""
    assert numeral(value, form) == written


CHINESE = {one: at for at, one in enumerate("零一二三四五六七八九")}


@settings(deadline=None, max_examples=examples(200))
@given(st.integers(1, 9_999))
def test_chinese_numbers_can_be_read_back(value: int) -> None:
    """Counting back what was written gives the number."""
    total, digit = 0, 0
    for one in numeral(value, "chineseCounting"):
        if one in CHINESE:
            digit = CHINESE[one]
        else:
            total += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[one]
            digit = 0
    assert total + digit == value
