"""Installed distributions add to ollama-kit, can be switched off, and never break what ships."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from ollama_kit import plugins
from ollama_kit.cli.main import cli, main
from ollama_kit.documents import DocumentReader, read_document
from ollama_kit.errors import ChatError, PlugInError
from ollama_kit.jobs.wechat import ChatReader, read_chat
from ollama_kit.plugins import CHAT_READERS, COMMANDS, DOCUMENT_READERS, JOBS, SHIPPED, STAGES, VARIABLE
from tests.distributions import Entries, install, pyproject

KINDS = {COMMANDS: click.Command, JOBS: click.Command, CHAT_READERS: ChatReader, DOCUMENT_READERS: DocumentReader}
SHIPPED_ENTRIES = [(group, name) for group, names in SHIPPED.items() for name in names if group in KINDS]

GREET = """
import click

@click.command("greet")
def greet():
    "Greet."
    click.echo("hello")
"""
READER = """
from ollama_kit.jobs.wechat import ChatReader, Group, Record

def reads(file, options):
    from datetime import datetime
    for number, line in enumerate(file.source.lines(), 1):
        {body}

READER = ChatReader(lambda file: {recognizes}, reads)
"""
RECORD = (
    'yield Record("", datetime(2026, 3, 9, tzinfo={zone}), "a", "a", False, "text", "x", None, '
    'Group("g", "g", False), 1)'
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, where every plug-in counts; what was imported from there is forgotten again."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv(VARIABLE, "all")
    monkeypatch.setattr(plugins, "_named", set())
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


Add = Callable[..., Path]


@pytest.fixture
def add(site: Path) -> Add:
    """Installs a distribution there. Metadata is read once a process, so that it has to be read anew."""

    def put(name: str, entries: Entries, modules: dict[str, str] | None = None, **about: str) -> Path:
        info = install(site, name, entries, modules, **about)
        plugins._sort_out.cache_clear()
        return info

    return put


def strangers(group: str) -> dict[str, str]:
    """The names that are not ours, with whose they are."""
    return {name: one.distribution for name, one in plugins.found(group).items() if not one.ships}


# -- what ships


def test_the_package_declares_what_ships() -> None:
    """pyproject.toml and the table say the same, in the same order, so that other programs see what we read."""
    declared = pyproject(Path(__file__).parents[1])["project"]["entry-points"]
    ships = {group: list(names.items()) for group, names in SHIPPED.items() if names}
    assert {group: list(names.items()) for group, names in declared.items()} == ships


@pytest.mark.parametrize(("group", "name"), SHIPPED_ENTRIES)
def test_what_ships_comes_through_the_same_door(group: str, name: str) -> None:
    """Each entry that ships is found, loaded and checked as a stranger's is."""
    plug_in = plugins.found(group)[name]
    assert plug_in.ships
    assert isinstance(plug_in.load(KINDS[group]), KINDS[group])


def test_metadata_of_our_own_is_not_asked(add: Add) -> None:
    """A checkout's metadata is that of the day it was installed: an entry that it names and that is gone does no
    harm."""
    add("Ollama_Kit", {COMMANDS: {"gone": "ollama_kit.gone:gone_command"}})
    assert "gone" not in plugins.found(COMMANDS)
    assert plugins.left_out() == ()


# -- who is found


def test_an_installed_distribution_adds_a_command(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    """It runs as those that ship do, and --help names its distribution."""
    add("kit-greet", {COMMANDS: {"greet": "greet_mod:greet"}}, {"greet_mod": GREET}, summary="Says hello.")
    assert main(["greet"]) == 0
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("hello\n")
    assert "greet   Says hello. (from kit-greet)" in shown


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("", {"one", "two"}),
        ("all", {"one", "two"}),
        ("none", set()),
        ("NONE", set()),
        ("kit_one", {"one"}),
        ("Kit.Two, other", {"two"}),
        ("other", set()),
    ],
)
def test_a_variable_says_whose_plug_ins_count(
    add: Add, monkeypatch: pytest.MonkeyPatch, wanted: str, left: set[str]
) -> None:
    """Names of distributions are compared as installers do; what ships counts always, and nobody is blamed."""
    for name in ("one", "two"):
        add(f"kit-{name}", {COMMANDS: {name: "greet_mod:greet"}})
    monkeypatch.setenv(VARIABLE, wanted)
    assert set(strangers(COMMANDS)) == left
    assert {one.plug_in.name for one in plugins.left_out() if one.switched_off} == {"one", "two"} - left
    assert set(SHIPPED[COMMANDS]) < {"one", *plugins.found(COMMANDS)}


def test_a_switched_off_command_is_unknown(
    add: Add, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if it was not installed; its module is not imported."""
    add("kit-greet", {COMMANDS: {"greet": "greet_mod:greet"}}, {"greet_mod": "raise SystemExit"})
    monkeypatch.setenv(VARIABLE, "none")
    assert main(["greet"]) == 2
    assert "No such command 'greet'" in capsys.readouterr().err
    assert "greet_mod" not in sys.modules


def test_a_project_folder_brings_no_code(site: Path, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What lies in the current folder is not installed, although `python -m` and an empty entry of the path look
    there."""
    add("kit-greet", {COMMANDS: {"greet": "greet_mod:greet"}})
    monkeypatch.chdir(site)
    monkeypatch.syspath_prepend("")
    plugins._sort_out.cache_clear()
    assert strangers(COMMANDS) == {}


def test_metadata_is_read_as_the_standard_library_reads_it(
    site: Path, add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comments, white space, extras, an egg-info, a zip file, a distribution that hides a later one of its name: what
    importlib.metadata finds, we find."""
    (add("kit-a", {}) / "entry_points.txt").write_text(
        "# who\n[console_scripts]\nx=y:z\n\n[ollama_kit.stages]\n  a =  m.a : A [extra]\nb=m.a:A.b\n",
        encoding="utf-8",
    )
    egg = site / "kit_egg.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Name: kit-egg\nVersion: 2\n", encoding="utf-8")
    (egg / "entry_points.txt").write_text("[ollama_kit.stages]\negg = m:E\n", encoding="utf-8")
    later = tmp_path / "later"
    install(later, "kit-a", {STAGES: {"hidden": "m:H"}})
    install(later, "kit-z", {STAGES: {"z": "m:Z"}})
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in (later / "kit_z-1.0.dist-info").iterdir():
            packed.write(file, f"kit_zip-1.0.dist-info/{file.name}")
    (later / "empty-1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(later), str(archive), str(tmp_path / "missing")])
    plugins._sort_out.cache_clear()
    found = {(one.name, one.target.replace(" ", "")) for one in plugins.found(STAGES).values() if not one.ships}
    seen = {"ollama-kit"}  # ours is not asked
    theirs = set()
    for one in importlib.metadata.distributions():
        if one.name not in seen:
            seen.add(one.name)
            named = one.entry_points.select(group=STAGES)
            theirs |= {(entry.name, entry.value.partition("[")[0].replace(" ", "")) for entry in named}
    assert found == theirs
    assert {name for name, _ in found} == {"a", "b", "egg", "z"}


@pytest.mark.process
def test_help_loads_neither_metadata_nor_a_plug_in(site: Path, add: Add) -> None:
    """importlib.metadata costs half as much as click, and a plug-in what it likes: --help pays for neither."""
    add("kit-greet", {COMMANDS: {"greet": "greet_mod:greet"}}, {"greet_mod": GREET})
    program = (
        "import sys, json; from ollama_kit.cli.main import main; main(['--help']); print(json.dumps([*sys.modules]))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), *sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, encoding="utf-8", check=True)
    assert "From kit-greet." in done.stdout
    assert not {"importlib.metadata", "email", "greet_mod"} & set(json.loads(done.stdout.splitlines()[-1]))


# -- what is left out, and by which name it is called

BROKEN = [
    ("no_such_module:x", "", "ModuleNotFoundError"),
    ("broken:gone", "", "AttributeError"),
    ("broken:x", "raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
    ("broken:x", "import sys; sys.exit(7)", "ends the program"),
    ("broken:x", "x = 7", "broken:x is a int, not a ChatReader"),
    ("broken", "", "is a module, not a ChatReader"),
]


@pytest.mark.parametrize(("target", "source", "problem"), BROKEN)
def test_a_broken_reader_is_named_once_and_left_out(
    add: Add, capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str, source: str, problem: str
) -> None:
    """One line on stderr when chats are read, however many; the chats are read all the same."""
    add("kit-broken", {CHAT_READERS: {"odd": target}}, {"broken": source})
    chat = tmp_path / "chat.txt"
    chat.write_text("林浩 2026-03-09 09:07\n好的。\n", encoding="utf-8")
    for _ in range(2):
        assert read_chat(chat).reports[0].format == "paste"
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("warning: left out: chat reader 'odd' of kit-broken 1.0: ")
    assert problem in said[0]


def test_a_broken_command_breaks_itself_alone(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    """--help shows it without a word; running it says whose it is and how to be rid of it."""
    add("kit-broken", {COMMANDS: {"odd": "broken:x"}}, {"broken": "raise RuntimeError('no')"})
    assert main(["--help"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["odd"]) == 1
    said = capsys.readouterr().err
    assert "error: command 'odd' of kit-broken 1.0: RuntimeError: no" in said
    assert "OLLAMA_KIT_PLUGINS=none" in said


def test_a_name_that_ships_cannot_be_taken(add: Add, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nor can a job take the name of a command. Of two strangers the first by distribution has it."""
    add("kit-b", {COMMANDS: {"scan": "m:x", "wechat": "m:x", "greet": "m:b"}, JOBS: {"lint": "m:x"}})
    add("kit-a", {COMMANDS: {"greet": "m:a"}, DOCUMENT_READERS: {"pdf": "m:x"}})
    assert strangers(COMMANDS) == {"greet": "kit-a"}
    assert strangers(JOBS) == strangers(DOCUMENT_READERS) == {}
    assert {str(one.plug_in): one.why for one in plugins.left_out()} == {
        "document reader 'pdf' of kit-a 1.0": "the name is taken by ollama-kit",
        "command 'greet' of kit-b 1.0": "the name is taken by kit-a",
        "command 'scan' of kit-b 1.0": "the name is taken by ollama-kit",
        "command 'wechat' of kit-b 1.0": "the name is taken by ollama-kit",
        "job 'lint' of kit-b 1.0": "the name is taken by ollama-kit",
    }
    document = tmp_path / "a.txt"
    document.write_text("甲方", encoding="utf-8")
    assert read_document(document).kind == "txt"
    assert "warning: left out: document reader 'pdf' of kit-a" in capsys.readouterr().err


def test_a_group_that_does_not_exist_is_named(add: Add) -> None:
    """A slip in the metadata does not pass in silence: doctor shows it."""
    add("kit-slip", {"ollama_kit.stage": {"a": "m:a"}})
    assert "there is no group ollama_kit.stage, only ollama_kit.commands," in plugins.left_out()[0].why


def test_doctor_lists_them_and_what_is_wrong(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its distribution and what to do; a broken one makes the exit code 1."""
    add("kit-greet", {COMMANDS: {"greet": "greet_mod:greet", "scan": "x:y"}}, {"greet_mod": GREET})
    add("kit-broken", {DOCUMENT_READERS: {"odd": "no_such_module:x"}})
    assert main(["doctor", "--json"]) == 1
    checks = {check["subject"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["plug-in command 'greet' of kit-greet 1.0"]["found"] == "greet_mod:greet"
    taken = checks["plug-in command 'scan' of kit-greet 1.0"]
    assert (taken["verdict"], taken["found"]) == ("warning", "left out: the name is taken by ollama-kit")
    broken = checks["plug-in document reader 'odd' of kit-broken 1.0"]
    assert broken["verdict"] == "error"
    assert broken["found"] == "ModuleNotFoundError: No module named 'no_such_module'"
    assert "uninstall kit-broken" in broken["fix"]


# -- readers that fail at their work


def test_a_reader_that_fails_at_recognizing_has_not_recognized(
    add: Add, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What ships reads the file; the plug-in is named."""
    add("kit-odd", {CHAT_READERS: {"odd": "odd:READER"}}, {"odd": READER.format(body="pass", recognizes="1 / 0")})
    chat = tmp_path / "chat.txt"
    chat.write_text("林浩 2026-03-09 09:07\n好的。\n", encoding="utf-8")
    assert len(read_chat(chat).messages) == 1
    assert "'odd' of kit-odd 1.0: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "problem"),
    [("raise KeyError('x')", "KeyError: 'x'"), (RECORD.format(zone="None"), "has no zone")],
)
def test_a_reader_that_fails_at_reading_is_blamed(add: Add, tmp_path: Path, body: str, problem: str) -> None:
    """No half of a chat, and no traceback of a stranger's: an error of ours with the plug-in's name."""
    add("kit-odd", {CHAT_READERS: {"odd": "odd:READER"}}, {"odd": READER.format(body=body, recognizes="0")})
    chat = tmp_path / "chat.txt"
    chat.write_text("anything\n", encoding="utf-8")
    with pytest.raises(PlugInError, match=problem) as caught:
        read_chat(chat)
    assert "chat reader 'odd' of kit-odd 1.0" in caught.value.message
    assert caught.value.distribution == "kit-odd"


def test_of_two_readers_that_are_equally_sure_what_ships_has_the_file(add: Add, tmp_path: Path) -> None:
    """Installing a plug-in does not change how a file is read that could be read before, unless it is surer."""
    body = RECORD.format(zone="options.zone")
    add("kit-odd", {CHAT_READERS: {"odd": "odd:READER"}}, {"odd": READER.format(body=body, recognizes="1")})
    chat = tmp_path / "chat.txt"
    chat.write_text("林浩 2026-03-09 09:07\n好的。\n", encoding="utf-8")
    assert read_chat(chat).reports[0].format == "paste"
    chat.write_text("no format that ships\n", encoding="utf-8")
    assert read_chat(chat).reports[0].format == "odd"


def test_what_can_be_read_names_the_plug_ins(add: Add, tmp_path: Path) -> None:
    """The hint of a chat that nobody knows lists their formats too."""
    add("kit-odd", {CHAT_READERS: {"odd-log": "odd:READER"}}, {"odd": READER.format(body="pass", recognizes="None")})
    chat = tmp_path / "chat.txt"
    chat.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ChatError) as caught:
        read_chat(chat)
    assert "odd-log" in caught.value.hint


def test_a_command_that_exists_twice_is_ours() -> None:
    """The group of click and the table agree on the names."""
    assert cli.list_commands(click.Context(cli)) == [*SHIPPED[COMMANDS], *SHIPPED[JOBS]]
