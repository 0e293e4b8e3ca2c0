"""The writers of a summary, each against a reader that is not ours: markdown-it, html.parser, csv, jsonschema.

Goldens are readable text: OLLAMA_KIT_UPDATE_GOLDENS=1 writes them anew, and the run then fails once, to be looked at.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from ollama_kit import resources
from ollama_kit.documents.pages.escaping import one_line, plain_text
from ollama_kit.errors import SpecError, UsageError
from ollama_kit.jobs.wechat import writers
from ollama_kit.jobs.wechat.summary import Coverage, Failure, Finding, Question, Refused, Summary, Todo, Topic
from ollama_kit.jobs.wechat.writers import page
from ollama_kit.jobs.wechat.writers.wording import WORDS
from tests.intensity import examples
from tests.jobs.wechat import summaries

UPDATING = bool(os.environ.get("OLLAMA_KIT_UPDATE_GOLDENS"))  # read here: a test sees no setting of the user's
GOLDENS = Path(__file__).parents[2] / "data" / "summaries"
SUMMARIES: dict[str, Callable[[], Summary]] = {
    "delivery": summaries.delivery,
    "english": summaries.english,
    "suspicious": summaries.suspicious,
}
MARKDOWN = MarkdownIt("commonmark").enable(["strikethrough", "table"])
FORMULAS = frozenset("=+-@\t\r＝＋－＠")
NASTY = st.text(alphabet="ab中1 \t\n\r\\`*_~[](){}<>#+-=.!|&;:$\"'/@%x0\u202e\u2028\x00\ud800", max_size=40)


def dressed(text: str) -> Summary:
    """A summary in which every text that a chat or a model gives is `text`."""
    message = replace(summaries.delivery().texts["m16"], id="m1", name=text, text=text)
    message = replace(message, quoted=replace(message.quoted, name=text, text=text))  # type: ignore[type-var]
    return Summary(
        chat=text,
        language="zh",
        first=message.time,
        last=message.time,
        topics=(Topic(text, text, ("m1",)),),
        todos=(
            Todo(text, text, text, date(2026, 3, 13), False, "low", ("m1",)),
            Todo(text, text, text, None, True, "high", ("m1",)),
        ),
        questions=(Question(text, text, False, ("m1",)), Question(text, text, True, ("m1",))),
        coverage=Coverage(2, 1, 2, (Failure(text, text, text, ("m2",)),)),
        model=text,
        host=text,
        findings=(Finding("m1", text, "high", "flagged", text),),
        refused=(Refused("todo", text, ("m1",), text),),
        texts={"m1": message},
    )


# -- goldens


@pytest.mark.parametrize("name", SUMMARIES)
@pytest.mark.parametrize("form", ["md", "json", "csv"])
def test_a_summary_is_written_as_it_was_agreed(name: str, form: str) -> None:
    """Markdown, JSON and CSV are what the goldens show, byte for byte."""
    write = {"md": writers.write_markdown, "json": writers.write_json, "csv": writers.write_csv}[form]
    golden = GOLDENS / f"{name}.{form}"
    written = write(SUMMARIES[name]()).encode()
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
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", WORDS["en"][key])), key


# -- JSON


@pytest.mark.parametrize("name", SUMMARIES)
def test_json_keeps_to_the_published_schema(name: str) -> None:
    """What programs read is what the schema promises, and every id that an item cites is among the messages."""
    written = json.loads(writers.write_json(SUMMARIES[name]()))
    validator().validate(written)
    cited = {key for kind in ("topics", "todos", "questions") for item in written[kind] for key in item["messages"]}
    assert cited <= set(written["messages"])


def test_the_schema_names_every_field_and_no_other() -> None:
    """A field that is missing, misspelt or new is a failure of the schema."""
    plain = summaries.suspicious().as_dict()
    for path in [(), ("coverage",), ("topics", 0), ("todos", 0), ("findings", 0), ("refused", 0), ("messages", "m1")]:
        for change in ("lost", "new"):
            changed = json.loads(json.dumps(plain))
            part = changed
            for step in path:
                part = part[step]
            if change == "lost":
                del part[next(iter(part))]
            else:
                part["new"] = 1
            assert not validator().is_valid(changed), (path, change)


def test_an_empty_chat_is_written_in_every_form() -> None:
    """No message, no item: each form says so, and the schema has room for it."""
    empty = Summary("", "en", None, None, (), (), (), Coverage(0, 0, 0), "m", "h")
    validator().validate(json.loads(writers.write_json(empty)))
    assert "None" in writers.write_markdown(empty)
    assert '<p class="none">None</p>' in writers.write_html([empty])
    assert "VTODO" not in writers.write_ics(empty)
    assert len(writers.write_csv(empty).splitlines()) == 1
    assert writers.write_html([])


def validator() -> Any:
    path = resources.find("templates", "schemas/wechat_summary.schema.json")
    assert path is not None
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker)


# -- Markdown


@settings(deadline=None, max_examples=examples(40))
@given(NASTY)
def test_no_text_of_a_chat_changes_the_markdown(text: str) -> None:
    """Whatever people are called and write, the document has the same elements in the same order."""
    tame = [token.type for token in MARKDOWN.parse(writers.write_markdown(dressed("中x" if one_line(text) else "")))]
    assert [token.type for token in MARKDOWN.parse(writers.write_markdown(dressed(text)))] == tame
    inline = [
        child.type for token in MARKDOWN.parse(writers.write_markdown(dressed(text))) for child in token.children or ()
    ]
    assert set(inline) <= {"text", "softbreak", "strong_open", "strong_close", "text_special"}


def test_markdown_says_what_was_not_read_and_why() -> None:
    """A part that failed stands in the coverage with its reason; nothing is left out silently."""
    text = writers.write_markdown(summaries.delivery())
    coverage = text.partition("## 覆盖")[2]
    assert "48 条消息，已读 41 条" in coverage
    assert "7 条" in coverage
    assert "output.invalid" in coverage


def test_what_is_open_comes_before_what_is_done_and_what_is_urgent_first() -> None:
    """To-dos stand by person, the person with the first deadline first, and what nobody was named for last."""
    headings = re.findall(r"^### (.*)$", writers.write_markdown(summaries.delivery()), re.MULTILINE)
    assert headings[:6] == ["周若彤-测试", "何嘉树", "孙美仪", "林知远", "未指定负责人", "已完成"]


# -- HTML


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text that is shown."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.style = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.words.append(data)


@settings(deadline=None, max_examples=examples(40))
@given(NASTY)
def test_no_text_of_a_chat_changes_the_page(text: str) -> None:
    """Whatever people write, the page has the same elements, all closed, and shows the words."""
    elements = Elements(writers.write_html([dressed(text)]))
    assert not elements.open
    if plain_text(text).strip():
        tame = Elements(writers.write_html([dressed("中x")]))
        assert [tag for tag, _ in elements.tags] == [tag for tag, _ in tame.tags]
        assert plain_text(text).strip() in elements.words


def test_the_page_stands_alone() -> None:
    """Nothing is loaded from anywhere: no script, no picture, no link but to the page itself, no style attribute."""
    elements = Elements(writers.write_html([make() for make in SUMMARIES.values()]))
    assert not {tag for tag, _ in elements.tags} & {"script", "link", "img", "iframe", "object", "form", "base"}
    for _, attributes in elements.tags:
        assert not {"style", "src", "action", "background"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {(attributes["href"] or "")[1:] for tag, attributes in elements.tags if tag == "a"}
    assert links <= set(ids)


def test_the_policy_allows_the_style_sheet_and_nothing_else() -> None:
    """The Content-Security-Policy names the hash of what stands between the style tags, and no other source."""
    elements = Elements(writers.write_html([summaries.english()]))
    policy = next(a["content"] or "" for t, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(elements.style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_a_style_sheet_that_would_load_something_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own style sheet keeps the page's promise too; the error names the line."""
    mine = tmp_path / "templates" / page.STYLE
    mine.parent.mkdir(parents=True)
    mine.write_text("body { margin: 0; }\nh1 { background: URL(http://example.com/x.png); }\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_KIT_HOME", str(tmp_path))
    with pytest.raises(SpecError) as caught:
        writers.write_html([summaries.english()])
    assert caught.value.line == 2


def test_a_template_of_the_users_own_is_escaped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template can be replaced, and what it prints is escaped without its doing."""
    mine = tmp_path / "templates" / "jobs/wechat/summary.md.jinja"
    mine.parent.mkdir(parents=True)
    mine.write_text("Mine: {{ view.chat }}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_KIT_HOME", str(tmp_path))
    assert writers.write_markdown(dressed("*a*")) == "Mine: \\*a\\*\n"
    mine.write_text("one\n{{ view.nothing }}", encoding="utf-8")
    with pytest.raises(SpecError):
        writers.write_markdown(dressed("a"))


# -- CSV


@settings(deadline=None, max_examples=examples(200))
@given(NASTY)
def test_no_cell_is_a_formula(text: str) -> None:
    """No cell of the table begins as a formula does."""
    rows = list(csv.reader(io.StringIO(writers.write_csv(dressed(text)).removeprefix("\ufeff"), newline="")))
    assert [len(row) for row in rows] == [9, 9, 9]
    assert not [cell for row in rows for cell in row if cell[:1] in FORMULAS]


def test_excel_is_told_that_the_table_is_utf_8() -> None:
    """The file begins with a byte-order mark and its lines end as Windows ends them."""
    data = writers.write_csv(summaries.delivery()).encode()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\n") == data.count(b"\r\n") == 7


# -- a calendar


def test_a_missing_package_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without icalendar the error says what to install."""
    monkeypatch.setitem(sys.modules, "icalendar", None)
    with pytest.raises(UsageError, match="icalendar"):
        writers.write_ics(summaries.english())
