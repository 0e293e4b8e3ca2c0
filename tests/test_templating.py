"""Templates of a project: whatever is wrong with one is told with its file and line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollama_kit import templating
from ollama_kit.documents.pages.page_templates import read_style
from ollama_kit.errors import SchemaError, SpecError
from ollama_kit.jobs.wechat.prompts import SCHEMA, chunk_schema
from ollama_kit.templating import render_prompt
from tests.jobs.wechat.test_chunking import chunks, message

Write = Callable[[str, bytes], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a template of the project, and forgets those that were read, as a new process would."""
    (tmp_path / "modelfiles").mkdir()
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        templating.template_text.cache_clear()
        return path

    yield write
    templating.template_text.cache_clear()


BROKEN = [
    (b"one\n{{ 1/0 }}", 2, "division by zero"),
    (b"\n\n{{ name + 1 }}", 3, "str"),
    (b"\n{{ missing }}", 2, "missing"),
    (b"\n{% for %}", 2, "Expected"),
    (b"{{ name.__class__ }}", 1, "unsafe"),
    (b"{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", 1, "recursion"),
    (b"one\n" + "请回答".encode("gbk"), 2, "UTF-8"),
]


@pytest.mark.parametrize(("content", "line", "why"), BROKEN)
def test_a_broken_prompt_is_an_error_with_its_file_and_line(write: Write, content: bytes, line: int, why: str) -> None:
    """Also what Python raises in the middle of it."""
    path = write("mine.jinja", content)
    with pytest.raises(SpecError, match=why) as caught:
        render_prompt("mine.jinja", {"name": "x"})
    assert (caught.value.path, caught.value.line) == (path, line)
    assert caught.value.hint


@pytest.mark.parametrize(("content", "line", "why"), BROKEN)
def test_a_broken_page_is_an_error_with_its_file_and_line(write: Write, content: bytes, line: int, why: str) -> None:
    """The reports' templates are a project's as well."""
    path = write("mine.jinja", content)
    with pytest.raises(SpecError, match=why) as caught:
        templating.render_page("mine.jinja", {"name": "x"}, str)
    assert (caught.value.path, caught.value.line) == (path, line)


def test_a_style_sheet_that_is_no_utf_8_is_an_error_with_its_line(write: Write) -> None:
    write("mine.css", b"a {}\n/* \xff */")
    with pytest.raises(SpecError, match=r"mine\.css:2"):
        read_style("mine.css")


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_prompt(write: Write) -> None:
    """Editors there write both."""
    write("mine.jinja", "\ufeff一\r\n{{ name }}\r\n".encode())
    assert render_prompt("mine.jinja", {"name": "x"}) == "一\nx"


@pytest.mark.parametrize("content", [b"{", b"[]", b"true", b'{"$defs": 1}', b'{"maxItems": "x"}'])
def test_a_broken_schema_of_a_chats_answer_is_an_error_with_its_file(write: Write, content: bytes) -> None:
    write(SCHEMA, content)
    with pytest.raises(SchemaError, match=Path(SCHEMA).name):
        chunk_schema(chunks([message(1, 0)], 2000)[0])


def test_what_a_page_prints_is_escaped_and_its_own_text_is_not(write: Write) -> None:
    """What a macro gives is markup already: it is not escaped twice."""
    write("mine.jinja", b"{% macro cell(text) %}<td>{{ text }}</td>{% endmacro %}<b>{{ name }}</b>{{ cell(name) }}\n")
    page = templating.render_page("mine.jinja", {"name": "a<b"}, lambda text: text.replace("<", "&lt;"))
    assert page == "<b>a&lt;b</b><td>a&lt;b</td>\n"


def test_included_templates_are_the_projects_and_read_anew_when_they_change(write: Write) -> None:
    """Only those of the folder: nothing above it, nothing beside it."""
    path = write("parts/whole.jinja", b"{% include 'parts/part.jinja' %}")
    write("parts/part.jinja", b"one")
    write("other/part.jinja", b"x")
    sandbox = templating.environment(folder="parts")
    assert sandbox.get_template("parts/whole.jinja").render() == "one"
    changed = write("parts/part.jinja", b"other")
    os.utime(changed, ns=(1, 1))
    assert sandbox.get_template("parts/whole.jinja").render() == "other"
    for name in ("other/part.jinja", "parts/../other/part.jinja", "parts/none.jinja"):
        with (
            pytest.raises(SpecError, match="names a template that does not exist") as caught,
            templating.failures_of(path),
        ):
            sandbox.get_template(name)
        assert caught.value.path == path


def test_a_failure_in_an_included_template_names_its_file(write: Write) -> None:
    """Not the one that includes it; so does a syntax error."""
    whole = write("parts/whole.jinja", b"{% include 'parts/part.jinja' %}")
    sandbox = templating.environment(folder="parts")
    for content in (b"one\n{{ 1 // 0 }}", b"\n{% for %}"):
        part = write("parts/part.jinja", content)
        sandbox.cache.clear()
        with pytest.raises(SpecError) as caught, templating.failures_of(whole):
            sandbox.get_template("parts/whole.jinja").render()
        assert (caught.value.path, caught.value.line) == (part, 2)


# -- templates end

ENDLESS = {
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a text doubled": "{% set n = namespace(s='x') %}{% for a in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
    "a text added to itself": "{% set n = namespace(s='x') %}{% for a in range(60) %}{% set n.s = n.s + n.s %}"
    "{% endfor %}",
    "a text times a number": "{{ 'x' * 10 ** 9 }}",
    "a list times a number": "{{ ([1] * 10 ** 9) | length }}",
    "a power": "{{ 9 ** (9 ** 9) }}",
    "padding": "{{ 'x' | center(10 ** 9) }}",
    "padding by a method": "{{ 'x'.ljust(1000000000) }}",
    "a width": "{{ '%999999999d' % 1 }}",
    "a width in a filter": "{{ '%999999999d' | format(1) }}",
    "a width in format": "{{ '{:>999999999}'.format(1) }}",
    "itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "words": "{{ lipsum(n=100000000) }}",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_template_that_would_not_end_is_an_error_with_its_file_and_line(write: Write, text: str) -> None:
    """Loops, and every way in which a text grows, are bounded."""
    path = write("mine.jinja", b"first line\n" + text.encode())
    with pytest.raises(SpecError) as caught:
        templating.render_page("mine.jinja", {}, str)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_a_loop_of_many_turns_is_a_loop(write: Write) -> None:
    write(
        "mine.jinja", b"{% for a in rows %}{{ loop.index if loop.last }}{% else %}none{% endfor %}{{ 'a' ~ 1 ~ none }}"
    )
    assert templating.render_page("mine.jinja", {"rows": range(20_000)}, str) == "20000a1None"
