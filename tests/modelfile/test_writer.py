"""Writing Modelfiles: what is written is what is read back, or it is not written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ModelfileError
from ollama_kit.modelfile import Command, Modelfile, kept, read_modelfile, write_modelfile
from tests.intensity import examples
from tests.modelfile.vectors import OWN_FILES, modelfiles

FROM = Command("from", "a")
EASY = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cf", "Cn", "Co", "Zs", "Zl", "Zp")), max_size=20)


@given(modelfiles())
@settings(deadline=None, max_examples=examples(400))
def test_reading_what_was_written_gives_the_same_value(modelfile: Modelfile) -> None:
    """read(write(m)) == m, or a ModelfileError that says why m has no Modelfile form."""
    try:
        text = write_modelfile(modelfile)
    except ModelfileError:
        return
    assert read_modelfile(text) == modelfile
    assert all(kept(command.args) == command.args for command in modelfile.commands)


@given(st.lists(st.one_of(EASY, st.sampled_from([' "', '"', "\n", "\r\n", "\t", "'", '""'])), max_size=5).map("".join))
@settings(deadline=None)
def test_every_printable_text_without_three_quotes_at_a_line_end_is_written(text: str) -> None:
    """The writer refuses nothing that the grammar can carry."""
    refusable = '"""' in text
    try:
        write_modelfile(Modelfile((FROM, Command("system", text))))
    except ModelfileError:
        assert refusable


@pytest.mark.parametrize("path", OWN_FILES, ids=[path.stem for path in OWN_FILES])
def test_rewriting_a_file_changes_layout_only(path: Path) -> None:
    """A file that was read is written with the same commands and comments, or refused with its line."""
    try:
        read = read_modelfile(path.read_bytes())
        text = write_modelfile(read)
    except ModelfileError:
        return
    assert read_modelfile(text) == read
    assert write_modelfile(read_modelfile(text)) == text


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (Command("system", 'a"""\nb'), "three double quotes at the end of its line 1"),
        (Command("system", 'a\nb""" \t\r\nc'), "end of its line 2"),
        (Command("system", "你好\u3000世界"), r"U\+3000 IDEOGRAPHIC SPACE \(line 1, column 3"),
        (Command("system", "\ufeffx"), r"U\+FEFF"),
        (Command("message", "👨\u200d👩", role="user"), r"MESSAGE user contains U\+200D"),
        (Command("parameter", "1", parameter="system"), "read as the command SYSTEM"),
        (Command("parameter", "1", parameter="model"), "read as the command FROM"),
        (Command("parameter", "1", parameter=""), "cannot name"),
        (Command("parameter", "1", parameter="num_ctx 1\nSYSTEM"), "cannot name"),
        (Command("message", "x", role="tool"), "role"),
        (Command("message", "x"), "role"),
        (Command("run", "x"), "not a command"),
        (Command("license", "x", before=("SYSTEM x",)), "comment"),
        (Command("license", "x", before=("# a\nSYSTEM x",)), "comment"),
    ],
)
def test_what_the_grammar_can_not_carry_is_refused_by_name(command: Command, says: str) -> None:
    """The error names the command, the character or the place."""
    with pytest.raises(ModelfileError, match=says):
        write_modelfile(Modelfile((FROM, command)))


def test_a_refused_command_that_was_read_names_its_line() -> None:
    """The error leads to the file it came from."""
    with pytest.raises(ModelfileError, match="M:3: ") as caught:
        write_modelfile(read_modelfile("FROM a\n\nSYSTEM x\u3000y", "M"))
    assert caught.value.line == 3


def test_names_and_numbers_stand_bare_and_prose_in_quotes() -> None:
    """The form is the one a person would write, with the safe quotes around prose."""
    read = read_modelfile('from a\nparameter num_ctx 8\nparameter stop x\nmessage user hi\nsystem "b"')
    assert write_modelfile(read) == (
        'FROM a\nPARAMETER num_ctx 8\nPARAMETER stop """x"""\nMESSAGE user """hi"""\nSYSTEM """b"""\n'
    )
