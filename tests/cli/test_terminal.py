"""What a model, a file or a name says reaches a terminal with everything that would steer it written out."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.text.visible import visible, visible_json, visible_line
from tests.cli.conftest import Run
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.intensity import examples
from tests.scripted import ScriptedServer, as_json, chat, show, tags

HOSTILE = "a\x1b]52;c;ZWNobyBoaQ==\x07b\x1b[2J\x9b31mc\u202egpj.exe\u2066d\rover\x85\x00"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OUR_STYLES = re.compile(r"\x1b\[[0-9;]*m")
FILE_NAME = "x\x1b[2J\u202ey.txt"


@pytest.fixture
def hostile() -> Iterator[ScriptedServer]:
    """A server whose model, template, licence and errors are hostile."""
    with ScriptedServer(models=["m:latest", "e\x1b[2J\u202e:latest"]) as server:
        described = show(
            info=byte_vocabulary(),
            template=CHATML,
            parameters="num_ctx 4096",
            license=HOSTILE,
            details={"family": HOSTILE, "quantization_level": HOSTILE, "parameter_size": HOSTILE},
        )
        server.always("GET", "/api/tags", tags("m:latest", "e\x1b[2J\u202e:latest"))
        server.always("GET", "/api/ps", as_json({"models": []}))
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/chat", chat(HOSTILE))
        yield server


COMMANDS = [
    ["list"],
    ["show", "m"],
    ["show", HOSTILE.replace("\0", "")],
    ["diff", "evil"],
    ["render", "evil"],
    ["lint", "modelfiles/evil.yaml"],
    ["lint", "modelfiles/broken.yaml"],
    ["build", "evil", "--dry-run"],
    ["plan", "evil"],
    ["ask", "m", "hello"],
    ["ask", "m", "hello", "--stream"],
    ["ask", "m", "hello", "--report"],
    ["ask", "m", "hello", "--json"],
    ["ask", "m", "hello", "--schema", "schema.json"],
    ["ask", "m", "hello", "--document", FILE_NAME, "--report"],
    ["ask", "m", "hello", "--document", "no\x1b[2J.txt"],
    ["scan", FILE_NAME],
    ["scan", FILE_NAME, "--json"],
    ["scan", FILE_NAME, "--lines"],
    ["count", FILE_NAME, "--model", "m"],
    ["schema", "schema.json"],
    ["contract", "extract", FILE_NAME, "--no-model"],
    ["contract", "extract", FILE_NAME, "--no-model", "--json"],
    ["contract", "extract", FILE_NAME, "--no-model", "--out", "out"],
    ["contract", "extract", FILE_NAME, "--model", "m"],
    ["contract", "summarize", FILE_NAME, "--model", "m"],
    ["wechat", "summarize", "chat\x1b[2J.txt", "--model", "m"],
    ["wechat", "summarize", "chat\x1b[2J.txt", "--model", "m", "--json"],
    ["audit"],
    ["audit", "--json"],
    ["doctor"],
    ["nosuch\x1b[2J"],
    ["ask", "--nosuch\x1b[2J"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).encode("unicode_escape").decode())
def test_no_command_prints_what_steers_a_terminal(
    words: list[str], project: Path, run: Run, hostile: ScriptedServer
) -> None:
    """Answers, documents, names, errors, tables and JSON."""
    spec = f"spec: 1\nfrom: m\ncontext: 2048\nsystem: {json.dumps(HOSTILE.replace(chr(0), ''))}\n"
    (project / "modelfiles" / "evil.yaml").write_text(spec, encoding="utf-8")
    (project / "modelfiles" / "broken.yaml").write_text('spec: 1\n"k\\e[2J": 1\n', encoding="utf-8")
    schema = {"type": "object", "properties": {"k\x1b[2J": {"pattern": "(?=\x1b)"}}, "required": ["k\x1b[2J"]}
    (project / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    text = f"采购合同\n甲方：{HOSTILE}公司\n乙方：乙公司\npassword: hunter2Xk9mQ4v\x1b[2J\n"
    (project / FILE_NAME).write_text(text.replace("\0", ""), encoding="utf-8")
    (project / "chat\x1b[2J.txt").write_text("张三\x1b[2J 2026-03-01 10:00\n明天开会\x1b[2J\n", encoding="utf-8")
    env = {"OLLAMA_HOST": hostile.url, "OLLAMA_KIT_AUDIT": str(project / "calls.sqlite3")}
    if words[0] == "audit":
        run("ask", "m", "hello", env=env)
        run("ask", "e\x1b[2J\u202e", "hello\nm forged", env=env)
    ended = run(*words, env=env)
    printed = OUR_STYLES.sub("", ended.stdout + ended.stderr)
    assert not STEERING.search(printed), ascii(printed[:400])
    assert ended.returncode in (0, 1, 2, 3)
    if "--json" in words and ended.returncode == 0:
        json.loads(ended.stdout)


def test_a_line_break_in_a_name_forges_no_line_of_the_audit(project: Path, run: Run, hostile: ScriptedServer) -> None:
    env = {"OLLAMA_HOST": hostile.url, "OLLAMA_KIT_AUDIT": str(project / "calls.sqlite3")}
    run("ask", "m\n2026-01-01 00:00:00  m  valid", "hello", env=env)
    run("ask", "m", "hello", env=env)
    listed = run("audit", env=env).stdout.splitlines()
    assert not any(line.startswith("2026-01-01 00:00:00  m  valid") for line in listed)


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
def test_a_pseudo_terminal_sees_none_of_it(project: Path, hostile: ScriptedServer) -> None:
    """As a person sees it: with styles, progress and the terminal's own line ends."""
    import pty

    pid, terminal = pty.fork()
    if not pid:
        os.chdir(project)
        os.environ |= {"OLLAMA_HOST": hostile.url, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])}
        os.execv(sys.executable, [sys.executable, "-m", "ollama_kit", "ask", "m", "hello", "--stream"])
    said = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    shown = OUR_STYLES.sub("", said.decode("utf-8").replace("\r\n", "\n"))
    assert "a\\x1b]52" in shown
    assert not STEERING.search(shown), ascii(shown[:400])


@settings(max_examples=examples(300))
@given(st.text())
def test_nothing_that_steers_is_left_and_nothing_else_is_changed(text: str) -> None:
    assert not STEERING.search(visible(text))
    assert not re.search("[\n\t]", visible_line(text))
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text
    if not STEERING.search(text):
        assert visible(text) == text


@pytest.mark.process
def test_one_place_prints() -> None:
    """Nothing but the module for output writes to a stream."""
    folder = Path(__file__).parents[2] / "ollama_kit"
    prints = re.compile(r"click\.s?echo|sys\.std(?:out|err)\.write|^\s*print\(", re.MULTILINE)
    found = {path for path in folder.rglob("*.py") if prints.search(path.read_text(encoding="utf-8"))}
    assert {path.relative_to(folder).as_posix() for path in found} == {"cli/output.py", "cli/main.py", "plugins.py"}
