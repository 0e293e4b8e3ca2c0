"""The commands as a user runs them: what they print, where, and the exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ollama_kit.cli.main import with_files_of_patterns
from tests.cli.conftest import Run
from tests.scripted import ScriptedServer, error, html


def test_help_lists_every_command_and_bare_is_help(run: Run) -> None:
    """The first thing anybody types."""
    shown = run("--help")
    assert shown.returncode == 0
    for name in ("init", "list", "render", "lint", "build", "diff", "show", "count", "ask", "rm", "doctor", "demo"):
        assert re.search(rf"^  {name} ", shown.stdout, re.MULTILINE)


def test_a_mistyped_command_and_option_end_in_2(run: Run) -> None:
    """With the nearest right one."""
    wrong = run("biuld", "x")
    assert wrong.returncode == 2
    assert "Did you mean 'build'?" in wrong.stderr
    assert run("build", "--nmae", "x").returncode == 2


def test_render_prints_a_modelfile_for_the_version_asked(run: Run) -> None:
    """stdout is the Modelfile and nothing else; an old target gets num_gqa, a new one a comment."""
    new = run("render", "qwen3-27b-custom")
    assert new.returncode == 0
    assert "FROM qwen3.6:27b\n" in new.stdout
    assert "# gqa: 6\n" in new.stdout
    assert "num_gqa" not in new.stdout
    assert not new.stderr
    assert "PARAMETER num_gqa 6" in run("render", "qwen3-27b-custom", "--target", "0.1.34").stdout
    assert run("render", "qwen3-27b-custom", "--target", "soon").returncode == 2


def test_render_takes_overrides(run: Run) -> None:
    """`--set` reaches the text."""
    shown = run("render", "qwen3-27b-custom", "--set", "context=4096", "--set", "parameters.top_k=5")
    assert "PARAMETER num_ctx 4096" in shown.stdout
    assert "PARAMETER top_k 5" in shown.stdout
    assert run("render", "qwen3-27b-custom", "--set", "context").returncode == 2


def test_render_refuses_what_a_modelfile_can_not_carry(run: Run, project: Path) -> None:
    """Ollama's parser would drop the full-width blank; the message says so and names `build`."""
    (project / "modelfiles" / "wide.yaml").write_text("spec: 1\nfrom: a\nsystem: 甲　乙\n", encoding="utf-8")
    refused = run("render", "wide")
    assert refused.returncode == 2
    assert "U+3000" in refused.stderr
    assert not refused.stdout


def test_errors_name_the_file_and_the_line(run: Run, project: Path) -> None:
    """And with --json a program gets the code."""
    path = project / "modelfiles" / "bad.yaml"
    path.write_text("spec: 1\nfrom: a\ncontext: 8k\n", encoding="utf-8")
    refused = run("render", "bad")
    assert refused.returncode == 2
    assert f"{path}:3: context must be a whole number" in refused.stderr
    told = json.loads(run("build", "bad", "--json").stdout)["error"]
    assert (told["code"], told["line"]) == ("spec", 3)


def test_hints_speak_chinese_where_the_locale_does(run: Run) -> None:
    """A lawyer's assistant reads what to do in her own language."""
    shown = run("show", "x", env={"OLLAMA_KIT_LANG": "zh_CN"})
    assert shown.returncode == 3
    assert "请先运行" in shown.stderr


def test_no_server_is_one_sentence_with_the_url_and_exit_code_3(run: Run) -> None:
    """No traceback; the URL tried, and how to start one."""
    for arguments in (("build", "demo"), ("show", "x"), ("ask", "demo", "hi"), ("count", "demo"), ("diff", "demo")):
        ended = run(*arguments, stdin="x")
        assert ended.returncode == 3, arguments
        assert "http://127.0.0.1:9" in ended.stderr
        assert "ollama serve" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_list_works_without_a_server(run: Run) -> None:
    """The specs are there all the same."""
    shown = run("list")
    assert shown.returncode == 0
    assert "qwen3-27b-custom" in shown.stdout
    assert "127.0.0.1:9" in shown.stderr


def test_the_demo_without_any_ollama_says_what_to_install(run: Run) -> None:
    """And which command comes next."""
    ended = run("demo", env={"PATH": ""})
    assert ended.returncode == 3
    assert "Install Ollama" in ended.stderr
    assert "ollama-kit demo" in ended.stderr


def test_init_writes_a_project_that_loads_and_overwrites_nothing(run: Run, project: Path) -> None:
    """Twice is as good as once."""
    assert run("init", "新项目").returncode == 0
    spec = project / "新项目" / "modelfiles" / "my-assistant.yaml"
    assert spec.is_file()
    spec.write_text(spec.read_text(encoding="utf-8").replace("8192", "4096"), encoding="utf-8")
    again = run("init", "新项目")
    assert "kept" in again.stdout
    assert "4096" in spec.read_text(encoding="utf-8")
    assert run("render", str(spec)).returncode == 0


def test_lint_finds_and_exits_1(run: Run, project: Path) -> None:
    """Modelfiles and specs alike; --json for a program."""
    (project / "Modelfile").write_text("FROM qwen3:4b\nPARAMETER num_gqa 8\nRUN pip install x\n", encoding="utf-8")
    (project / "modelfiles" / "bad.yaml").write_text("spec: 1\nfrom: a\ncontxt: 9\n", encoding="utf-8")
    shown = run("lint", "Modelfile", "modelfiles/bad.yaml")
    assert shown.returncode == 1
    assert "Modelfile:2: error: " in shown.stdout
    assert "0.1.35" in shown.stdout
    assert "did you mean `context`?" in shown.stdout
    rules = [finding["rule"] for finding in json.loads(run("lint", "Modelfile", "--json").stdout)["findings"]]
    assert {"removed-parameter", "docker-command"} <= set(rules)
    (project / "Modelfile").write_text("FROM qwen3:4b\nPARAMETER num_ctx 4096\n", encoding="utf-8")
    assert run("lint", "Modelfile").returncode == 0
    assert run("lint", "missing").returncode == 1


def test_every_shipped_spec_lints_clean(run: Run) -> None:
    """What we ship passes our own linter."""
    from ollama_kit import resources

    shown = run("lint", str(resources.shipped_root() / "modelfiles"))
    assert shown.returncode == 0, shown.stdout
    assert "0 errors" in shown.stderr


def test_a_gbk_console_sees_chinese_and_loses_nothing_in_json(run: Run) -> None:
    """PYTHONIOENCODING=gbk: what GBK lacks is shown as ?, and JSON escapes it."""
    shown = run("render", "qwen3-27b-custom", encoding="gbk")
    assert "严谨" in shown.stdout
    with ScriptedServer(models=["笑😀:latest"]) as server:
        host = {"OLLAMA_HOST": server.url}
        server.always("POST", "/api/show", error(404, "model '笑😀' not found"))
        told = json.loads(run("show", "笑😀", "--json", env=host, encoding="gbk").stdout)
        assert told["error"]["model"] == "笑😀"


def test_a_dead_proxy_in_the_environment_is_not_used(run: Run) -> None:
    """It would carry the prompt away, and does not even exist."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:1")
    with ScriptedServer(models=["a:latest"]) as server:
        shown = run("list", env={"OLLAMA_HOST": server.url, "ALL_PROXY": "socks5://127.0.0.1:1", **proxies})
    assert shown.returncode == 0
    assert not shown.stderr


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (html("Sign in"), "HTML page titled 'Sign in'"),
        (error(403, "forbidden"), "403"),
        (error(500, "out of memory"), "out of memory"),
    ],
)
def test_what_a_server_answers_wrongly_is_said(run: Run, reply: object, says: str) -> None:
    """Exit code 3, and what came instead."""
    with ScriptedServer() as server:
        server.always("GET", "/api/tags", reply)  # type: ignore[arg-type]
        ended = run("build", "demo", env={"OLLAMA_HOST": server.url})
    assert ended.returncode == 3
    assert says in ended.stderr


def test_ask_reads_documents_in_any_encoding_and_refuses_binaries(run: Run, project: Path) -> None:
    """A GB18030 export is text; a picture is not."""
    (project / "图.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe\xff")
    ended = run("ask", "demo", "hi", "--document", "图.png")
    assert ended.returncode == 2
    assert "图.png is not text" in ended.stderr
    assert run("ask", "demo", "hi", "--document", "nothing.txt").returncode == 2


def test_doctor_tells_where_settings_come_from(run: Run, project: Path) -> None:
    """Each with its origin, and the server's absence with its remedy."""
    (project / "ollama-kit.yaml").write_text("first_token_timeout_s: 30\n", encoding="utf-8")
    shown = run("doctor")
    assert shown.returncode == 1
    assert f"30.0 ({project / 'ollama-kit.yaml'})" in shown.stdout
    assert "(OLLAMA_HOST)" in shown.stdout
    assert "ollama serve" in shown.stdout
    (project / "ollama-kit.yaml").write_text("hots: x\n", encoding="utf-8")
    wrong = run("doctor")
    assert wrong.returncode == 2
    assert "did you mean 'host'?" in wrong.stderr


def test_patterns_name_their_files_where_the_shell_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in cmd and PowerShell: in folders below too; what names no file, such as a question, stays as it is."""
    monkeypatch.chdir(tmp_path)
    for name in ("采购 合同.pdf", "below/b.pdf", "~$open.pdf", "notes.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    below = str(Path("below", "b.pdf"))
    given = ["ask", "[a]", "Who has to do what?", str(Path("**", "[!~]*.pdf")), "*.docx"]
    assert with_files_of_patterns(given) == ["ask", "[a]", "Who has to do what?", below, "采购 合同.pdf", "*.docx"]
