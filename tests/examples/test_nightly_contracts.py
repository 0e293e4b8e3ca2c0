"""The nightly job for contracts: what it starts, on which files, and how it ends."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from ollama_kit.cli.main import with_files_of_patterns

NIGHTLY = Path(__file__).parents[2] / "examples" / "nightly"
FAKE = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
    print(json.dumps(sys.argv[1:]), file=calls)
print("said by", sys.argv[2])
sys.exit(int(os.environ.get("CODE_" + sys.argv[2], "0")))
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script; contract.cmd is its twin")


def run(folder: Path, **environment: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
    """Runs the script with a program called ollama-kit that only writes down what it is told."""
    programs, calls = folder / "bin", folder / "calls"
    programs.mkdir(exist_ok=True)
    calls.write_text("", encoding="utf-8")
    fake = programs / "ollama-kit"
    fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    fake.chmod(0o755)
    own = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder), "CALLS": str(calls), **environment}
    ended = subprocess.run([str(NIGHTLY / "contract.sh")], env=own, capture_output=True, encoding="utf-8")
    return ended, [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]


def filled(folder: Path, *names: str) -> Path:
    """The folder where contracts lie if nobody says otherwise, with empty files of these names."""
    inbox = folder / "contracts" / "in"
    inbox.mkdir(parents=True, exist_ok=True)
    for name in names:
        (inbox / name).parent.mkdir(parents=True, exist_ok=True)
        (inbox / name).touch()
    return inbox


@pytest.mark.process
@posix
def test_every_contract_is_extracted_and_summarized(tmp_path: Path) -> None:
    """Blanks, quotes and Chinese in names, folders below, endings in capitals; nothing that is no contract."""
    wanted = ("采购 合同 2026.docx", "A.PDF", 'client\'s "final".pdf', "供应商/年度/框架协议.md", "$HOME;x.txt")
    inbox = filled(tmp_path, *wanted, "~$采购 合同 2026.docx", ".hidden.pdf", "old.doc", "notes.xlsx")
    ended, calls = run(tmp_path)
    assert ended.returncode == 0
    assert [call[:2] for call in calls] == [["contract", "extract"], ["contract", "summarize"]]
    for call, out in zip(calls, ("facts", "summaries"), strict=True):
        assert call[call.index("--model") + 1] == "contract-zh"
        assert call[call.index("--out") + 1] == str(tmp_path / "contracts" / "out" / out)
        assert {one for one in call if one.startswith(str(inbox))} == {str(inbox / name) for name in wanted}
    assert ended.stdout == "said by extract\nsaid by summarize\n"


@pytest.mark.process
@posix
def test_model_and_folders_come_from_the_environment(tmp_path: Path) -> None:
    """What it wrote is not read as contracts, where it writes below the folder that it reads."""
    inbox = filled(tmp_path, "b/a.pdf", "b/out/facts/a.html")
    _, calls = run(tmp_path, MODEL="m", CONTRACTS=f"{inbox / 'b'}/", OUT=str(inbox / "b" / "out"))
    for call in calls:
        assert call[call.index("--model") + 1] == "m"
        assert [one for one in call if one.endswith((".pdf", ".html"))] == [str(inbox / "b" / "a.pdf")]


@pytest.mark.process
@posix
def test_without_contracts_it_says_so(tmp_path: Path) -> None:
    """Nothing is started, and that is no failure; a folder that is not there is one."""
    inbox = filled(tmp_path, "readme.doc")
    ended, calls = run(tmp_path)
    assert (ended.returncode, ended.stdout, calls) == (0, f"{inbox}: no contracts\n", [])
    ended, calls = run(tmp_path, CONTRACTS=str(tmp_path / "elsewhere"))
    assert (ended.returncode, ended.stderr, calls) == (2, f"{tmp_path}/elsewhere: no such folder\n", [])


@pytest.mark.process
@posix
@pytest.mark.parametrize(
    ("extract", "summarize", "code", "started"),
    [("0", "1", 1, 2), ("1", "0", 1, 2), ("1", "3", 3, 2), ("2", "0", 2, 1), ("3", "0", 3, 1), ("130", "0", 130, 1)],
)
def test_the_worst_exit_code_is_passed_on(
    tmp_path: Path, extract: str, summarize: str, code: int, started: int
) -> None:
    """One contract that cannot be read does not keep the others from their summary; a server that is away does."""
    filled(tmp_path, "a.pdf")
    ended, calls = run(tmp_path, CODE_extract=extract, CODE_summarize=summarize)
    assert (ended.returncode, len(calls)) == (code, started)


@pytest.mark.process
@posix
def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    """As the shell does: 127."""
    filled(tmp_path, "a.pdf")
    own = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    ended = subprocess.run([str(NIGHTLY / "contract.sh")], env=own, capture_output=True, encoding="utf-8")
    assert ended.returncode == 127
    assert "ollama-kit" in ended.stderr


def options(script: str) -> list[list[str]]:
    """What each start of `ollama-kit contract` in the script, or through its function, is told of options."""
    starts = re.findall(r"(?:each|ollama-kit contract) ((?:extract|summarize)\b[^\n)]*)", script)
    return [re.findall(r"^\w+|--[a-z]+|(?<=--format )\w+|facts|summaries", start) for start in starts]


def test_the_cmd_does_what_the_script_does() -> None:
    """The same starts with the same options, and the same defaults."""
    script = (NIGHTLY / "contract.sh").read_text(encoding="utf-8")
    twin = (NIGHTLY / "contract.cmd").read_text(encoding="utf-8")
    assert options(script) == options(twin)
    assert len(options(twin)) == 2
    defaults = dict(re.findall(r"if not defined (\w+) set \1=(\S+)", twin))
    assert {
        name: value.replace("%USERPROFILE%\\", "$HOME/").replace("\\", "/") for name, value in defaults.items()
    } == (dict(re.findall(r'"\$\{(\w+):=([^}]+)\}"', script)))
    kinds = re.search(r"in \(([a-z ]+)\)", twin)
    assert kinds
    assert kinds[1].split() == re.findall(r"-iname '\*\.(\w+)'", script)


def test_the_patterns_of_the_cmd_find_the_contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ollama-kit reads them on Windows: folders below too, but no file that Word holds open."""
    inbox = filled(tmp_path, "采购 合同.pdf", "供应商/框架.pdf", "~$采购 合同.pdf", "a.docx")
    twin = (NIGHTLY / "contract.cmd").read_text(encoding="utf-8")
    (pattern,) = re.findall(r'"%%CONTRACTS%%\\([^"]+)"', twin)
    monkeypatch.chdir(inbox)
    found = with_files_of_patterns([PureWindowsPath(pattern.replace("%%e", "pdf")).as_posix()])
    assert {Path(one).as_posix() for one in found} == {"采购 合同.pdf", "供应商/框架.pdf"}


@pytest.mark.parametrize("job", ["contract", "wechat"])
def test_the_units_start_the_script_that_is_there(job: str) -> None:
    """The service names it, the timer has its name, and both are whole."""
    units = {}
    for kind in ("service", "timer"):
        units[kind] = configparser.ConfigParser(interpolation=None)
        assert units[kind].read(NIGHTLY / f"ollama-kit-{job}.{kind}", encoding="utf-8")
    assert units["service"]["Service"]["ExecStart"] == f"%h/{'contracts' if job == 'contract' else job}/{job}.sh"
    assert units["service"]["Service"]["Type"] == "oneshot"
    assert os.access(NIGHTLY / f"{job}.sh", os.X_OK)
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d", units["timer"]["Timer"]["OnCalendar"])
    assert units["timer"]["Install"]["WantedBy"] == "timers.target"
