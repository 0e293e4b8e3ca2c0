"""A folder from a stranger: what its files may say, and that no command opened in it sends, runs or weakens anything
without a word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from ollama_kit import resources
from ollama_kit.cli.main import cli
from ollama_kit.errors import SettingsError, SpecError
from ollama_kit.guard.policy import load_policy, shipped_policy_names
from ollama_kit.server.connection import connect_with
from ollama_kit.settings import PERSONAL, Settings, load_settings
from ollama_kit.specs import load_spec
from tests.cli.conftest import Run
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show, tags

KEY = "sk-user-key-0123456789"
SECRET = "SECRET-VALUE-7788"
POLICY = "policy: 1\nextends: off\n"


@pytest.fixture
def stranger() -> Iterator[ScriptedServer]:
    """The server that a hostile project names. It answers everything, and keeps what it is sent."""
    with ScriptedServer(models=["m:latest"]) as server:
        ready(server)
        yield server


@pytest.fixture
def own() -> Iterator[ScriptedServer]:
    """The user's own server."""
    with ScriptedServer(models=["m:latest"]) as server:
        ready(server)
        yield server


def ready(server: ScriptedServer) -> None:
    server.always("GET", "/api/tags", tags("m:latest"))
    server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
    server.always("POST", "/api/chat", chat("fine"))


def home() -> Path:
    folder = Path(os.environ["OLLAMA_KIT_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# -- settings


@pytest.mark.parametrize("name", sorted(PERSONAL))
def test_what_a_project_may_not_set_is_refused_with_its_place(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File and line, and where it belongs; also names that are no setting yet."""
    (project / "ollama-kit.yaml").write_text(f"memory: 8GiB\n{name}: x\n", encoding="utf-8")
    monkeypatch.chdir(project)
    with pytest.raises(SettingsError, match=f"{name!r} is not a project's to set") as caught:
        load_settings()
    assert (caught.value.path, caught.value.line) == (project / "ollama-kit.yaml", 2)
    assert str(home() / "ollama-kit.yaml") in caught.value.hint


def test_a_project_may_set_what_is_about_models(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "ollama-kit.yaml").write_text("memory: 8GiB\nbetween_tokens_timeout_s: 9\n", encoding="utf-8")
    monkeypatch.chdir(project / "modelfiles")
    assert (load_settings().memory, load_settings().between_tokens_timeout_s) == ("8GiB", 9.0)


def test_the_users_own_file_may_set_all_of_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home() / "ollama-kit.yaml").write_text("host: http://192.0.2.7:1\nallow_remote: true\n", encoding="utf-8")
    monkeypatch.chdir(project)
    assert (load_settings().host, load_settings().allow_remote) == ("http://192.0.2.7:1", True)


def test_the_key_goes_to_a_host_that_the_user_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    assert "Authorization" not in connect_with(Settings()).headers
    assert connect_with(Settings(host="127.0.0.1:9")).headers["Authorization"] == f"Bearer {KEY}"
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert connect_with(Settings()).headers["Authorization"] == f"Bearer {KEY}"


# -- where the walk to the project ends


def test_the_walk_ends_with_a_repositorys_root(tmp_path: Path) -> None:
    (tmp_path / "modelfiles").mkdir()
    inner = tmp_path / "repo" / "src"
    inner.mkdir(parents=True)
    assert resources.project_root(inner) == tmp_path
    (tmp_path / "repo" / ".git").mkdir()
    assert resources.project_root(inner) is None
    (tmp_path / "repo" / "modelfiles").mkdir()
    assert resources.project_root(inner) == tmp_path / "repo"


def test_the_walk_ends_before_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "modelfiles").mkdir()
    (tmp_path / "work").mkdir()
    assert resources.project_root(tmp_path / "work") is None
    assert resources.project_root(tmp_path) == tmp_path


@pytest.mark.skipif(os.name != "posix", reason="the owner and the mode of a folder are POSIX's")
def test_a_folder_that_everybody_may_write_to_is_no_project(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what lies above it; doctor says so."""
    inner = project / "inner"
    inner.mkdir()
    assert resources.project_root(inner) == project
    project.chmod(0o777)
    assert resources.project_root(inner) is None
    assert "is not used as a project: everybody may write to it" in run("doctor").stdout


@pytest.mark.skipif(os.name != "posix", reason="the owner of a folder is POSIX's")
def test_another_owners_folder_is_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: project.stat().st_uid + 1)
    assert resources.project_root(project) is None


# -- specs and policies


def test_a_projects_spec_reads_no_variable_unless_the_user_allows_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the environment or the user's own settings; the user's own specs may read any."""
    monkeypatch.setenv("AWS_SECRET", SECRET)
    monkeypatch.chdir(project)
    text = "spec: 1\nfrom: m\ncontext: 2048\nsystem: !env AWS_SECRET\n"
    (project / "modelfiles" / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="may not read the environment variable 'AWS_SECRET'") as caught:
        load_spec("mine")
    assert caught.value.line == 4
    assert SECRET not in str(caught.value)
    (home() / "ollama-kit.yaml").write_text("env_allowed: [OTHER, AWS_SECRET]\n", encoding="utf-8")
    assert load_spec("mine").system == SECRET
    (home() / "ollama-kit.yaml").unlink()
    (home() / "modelfiles").mkdir()
    (home() / "modelfiles" / "own.yaml").write_text(text, encoding="utf-8")
    assert load_spec("own").system == SECRET


@pytest.mark.parametrize("name", shipped_policy_names())
def test_a_shipped_policy_keeps_its_name(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project / "templates" / "policies"
    folder.mkdir(parents=True)
    (folder / f"{name}.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(project)
    with pytest.raises(SpecError, match="is the name of a shipped policy") as caught:
        load_policy(name)
    assert caught.value.path == folder / f"{name}.yaml"


@pytest.mark.parametrize("spelled", ["off", "mine"])
def test_a_guard_that_a_project_weakens_is_said_and_the_jobs_refuse_it(
    spelled: str, project: Path, run: Run, own: ScriptedServer
) -> None:
    """One line on stderr for `ask`; the jobs want to hear it with --policy."""
    (project / "modelfiles" / "mine.yaml").write_text(f"spec: 1\nfrom: m\ncontext: 2048\nguard: {spelled}\n", "utf-8")
    (project / "templates" / "policies").mkdir(parents=True)
    (project / "templates" / "policies" / "mine.yaml").write_text(POLICY, encoding="utf-8")
    (project / "contract.txt").write_text("Contract", encoding="utf-8")
    own.always("GET", "/api/tags", tags("mine:latest", "m:latest"))
    env = {"OLLAMA_HOST": own.url}
    asked = run("ask", "mine", "hello", env=env)
    assert asked.returncode == 0
    assert asked.stderr.count("guards less than standard") == 1
    assert "injection: off" in asked.stderr
    before = len(own.requests)
    refused = run("contract", "extract", "contract.txt", "--model", "mine", env=env)
    assert refused.returncode == 2
    assert "--policy" in refused.stderr
    assert not any(seen.path == "/api/chat" for seen in own.requests[before:])


def test_a_stronger_guard_is_nobodys_business(project: Path, run: Run, own: ScriptedServer) -> None:
    (project / "modelfiles" / "mine.yaml").write_text("spec: 1\nfrom: m\ncontext: 2048\nguard: strict\n", "utf-8")
    own.always("GET", "/api/tags", tags("mine:latest", "m:latest"))
    assert "guards less" not in run("ask", "mine", "hello", env={"OLLAMA_HOST": own.url}).stderr


@pytest.mark.parametrize(
    ("words", "weaker"),
    [
        ({"secrets": "block"}, ()),
        ({"secrets": "flag"}, ("secrets: flag",)),
        ({"injection": "cut"}, ()),
        ({"injection_threshold": 0.99}, ("injection_threshold: 0.99",)),
        ({"fence": "off", "markup": "off"}, ("markup: off", "fence: off")),
    ],
)
def test_what_weaker_means(words: dict[str, Any], weaker: tuple[str, ...]) -> None:
    assert load_policy(words).weaker_than(load_policy("standard")) == weaker


def test_reports_name_the_file_of_the_policy(project: Path, run: Run, own: ScriptedServer) -> None:
    folder = project / "templates" / "policies"
    folder.mkdir(parents=True)
    (folder / "house.yaml").write_text("policy: 1\nextends: strict\n", encoding="utf-8")
    report = run("ask", "m", "hello", "--policy", "house", "--report", env={"OLLAMA_HOST": own.url}).stderr
    assert f"from {folder / 'house.yaml'}" in report
    (project / "text.txt").write_text("hello", encoding="utf-8")
    assert str(folder / "house.yaml") in run("scan", "text.txt", "--policy", "house", "--json").stdout


# -- every command


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


ARGUMENTS: dict[tuple[str, ...], list[list[str]]] = {
    ("init",): [["new"]],
    ("list",): [[]],
    ("render",): [["evil"]],
    ("lint",): [["modelfiles/evil.yaml"]],
    ("build",): [["evil"]],
    ("diff",): [["evil"]],
    ("show",): [["m"]],
    ("plan",): [["evil"]],
    ("rm",): [["evil"]],
    ("scan",): [["text.txt", "--policy", "strict"]],
    ("schema",): [["schema.json"]],
    ("count",): [["text.txt", "--model", "m"], ["m", "text.txt"]],
    ("ask",): [["evil", "hello", "--document", "text.txt", "--policy", "strict"]],
    ("audit",): [[]],
    ("doctor",): [[]],
    ("demo",): [[]],
    ("wechat", "summarize"): [["chat.txt", "--model", "evil"]],
    ("contract", "extract"): [["text.txt", "--model", "evil"], ["text.txt", "--no-model"]],
    ("contract", "summarize"): [["text.txt", "--model", "evil"]],
}
HOSTILE = {
    "settings": "host: {url}\nallow_remote: true\naudit: calls.sqlite3\naudit_texts: true\n",
    "none": "",
}


def test_every_command_is_walked() -> None:
    assert set(commands()) == set(ARGUMENTS)


@pytest.mark.parametrize("settings", HOSTILE)
@pytest.mark.parametrize("command", ARGUMENTS, ids=" ".join)
def test_a_hostile_folder_sends_nothing_and_weakens_nothing_without_a_word(
    command: tuple[str, ...], settings: str, project: Path, run: Run, stranger: ScriptedServer
) -> None:
    """Its settings name a server, its spec reads the user's variables and turns the guard off, its policy has a shipped
    name: the stranger's server hears nothing, nothing is kept, and no text leaves unguarded in silence."""
    if settings == "settings":
        (project / "ollama-kit.yaml").write_text(HOSTILE[settings].format(url=stranger.url), encoding="utf-8")
    evil = "spec: 1\nfrom: m\ncontext: 2048\nguard: off\nsystem: !env USER_SECRET\n"
    (project / "modelfiles" / "evil.yaml").write_text(evil, encoding="utf-8")
    (project / "templates" / "policies").mkdir(parents=True)
    (project / "templates" / "policies" / "strict.yaml").write_text(POLICY, encoding="utf-8")
    (project / "text.txt").write_text("password: hunter2Xk9mQ4v", encoding="utf-8")
    (project / "chat.txt").write_text("张三 2026-03-01 10:00\n开会\n", encoding="utf-8")
    (project / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
    before = {path for path in project.rglob("*") if path.is_file()}
    for arguments in ARGUMENTS[command]:
        ended = run(
            *command,
            *arguments,
            env={"OLLAMA_API_KEY": KEY, "USER_SECRET": SECRET, "OLLAMA_HOST": "127.0.0.1:9"},
        )
        assert SECRET not in ended.stdout + ended.stderr
        assert KEY not in ended.stdout + ended.stderr
    assert not stranger.requests
    made = {path for path in project.rglob("*") if path.is_file()} - before
    assert all(path.is_relative_to(project / "new") for path in made)


def test_a_template_of_the_projects_is_said_and_in_the_report(project: Path, run: Run, own: ScriptedServer) -> None:
    """Prompts, schemas and pages of the jobs may be overridden, and not in silence."""
    shipped = resources.shipped_root() / "templates" / "jobs" / "contract" / "report.md.jinja"
    mine = project / "templates" / "jobs" / "contract" / "report.md.jinja"
    mine.parent.mkdir(parents=True)
    mine.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    (project / "contract.txt").write_text("采购合同\n甲方：甲公司\n乙方：乙公司\n", encoding="utf-8")
    assert f'"{mine}"' in run("contract", "extract", "contract.txt", "--no-model", "--json").stdout
    (project / "modelfiles" / "mine.yaml").write_text("spec: 1\nfrom: m\ncontext: 4096\n", "utf-8")
    own.always("GET", "/api/tags", tags("mine:latest", "m:latest"))
    words = ("contract", "extract", "contract.txt", "--model", "mine", "--estimate")
    assert f"{mine} is used in place of the shipped file" in run(*words, env={"OLLAMA_HOST": own.url}).stderr
