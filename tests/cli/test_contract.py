"""`contract extract` and `contract summarize` as a lawyer's script runs them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_kit.tokens.store import forget_loaded
from tests.cli.conftest import Run
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.jobs.contract.scripted_model import Told
from tests.scripted import ScriptedServer, chat, lines, show

FOLDER = Path(__file__).parents[1] / "data" / "contracts" / "zh_synthetic"
SALE = str(FOLDER / "synthetic_zh_sale.txt")
LEASE = str(FOLDER / "synthetic_zh_lease_conflict.txt")
ANSWERS = {
    "end_date": [("2028年4月30日", ["至２０２８年４月３０日止"])],
    "amounts": [({"what": "押金", "amount": "人民币 29,600 元"}, ["押金为人民币两万元"])],
    "deal": [("租期两年。", ["租赁期限共 2 年"])],
}


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    """A server whose model `m` knows the lease, and makes up a deposit; 60,000 bytes of window."""
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 60000", context_length=100_000)
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/generate", lines({"response": "x", "done": True}))
        server.always("POST", "/api/chat", Told(ANSWERS))
        yield server


def test_the_facts_are_printed_in_the_contracts_language(run: Run) -> None:
    """By rules alone no server is asked."""
    told = run("contract", "extract", SALE, "--no-model")
    assert told.returncode == 0, told.stderr
    assert "北辰精工设备有限公司" in told.stdout


@pytest.mark.parametrize("how", [(), ("--no-model", "--model", "m")])
def test_a_model_or_none_must_be_said(run: Run, how: tuple[str, ...]) -> None:
    """Silence could mean either, and one of them sends text somewhere."""
    told = run("contract", "extract", SALE, *how)
    assert told.returncode == 2
    assert "--no-model" in told.stderr


def test_a_folder_gets_every_format(run: Run, project: Path) -> None:
    """One file a contract named after it, and one sheet and one table of all."""
    told = run("contract", "extract", SALE, LEASE, "--no-model", "--out", "结果")
    assert told.returncode == 0, told.stderr
    names = {path.name for path in (project / "结果").iterdir()}
    each = {
        f"{name}.facts.{end}"
        for name in ("synthetic_zh_sale.txt", "synthetic_zh_lease_conflict.txt")
        for end in ("json", "md", "html")
    }
    assert names == each | {"contracts.xlsx", "contracts.csv"}
    facts = json.loads((project / "结果" / "synthetic_zh_sale.txt.facts.json").read_text(encoding="utf-8"))
    assert facts["facts"]["effective_date"]["values"][0]["value"] == "2026-04-20"
    table = told.stdout.splitlines()
    assert table[0].split() == ["contract", "parties", "ends", "largest", "amount", "risks", "unproven", "state"]
    assert len(table) == 3


def test_without_the_package_for_sheets_the_rest_is_written(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain install: a note says what is missing; a sheet that is asked for by name is refused before any work."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    told = run("contract", "extract", SALE, "--no-model", "--out", "o")
    assert told.returncode == 0, told.stderr
    assert "ollama-kit[contract]" in told.stderr
    written = {path.name for path in (project / "o").iterdir()}
    assert written == {"contracts.csv", *(f"synthetic_zh_sale.txt.facts.{end}" for end in ("json", "md", "html"))}
    asked = run("contract", "extract", SALE, "--no-model", "--out", "p", "--format", "xlsx")
    assert (asked.returncode, asked.stdout) == (2, "")


def test_only_the_formats_that_are_asked_for(run: Run, project: Path) -> None:
    told = run("contract", "extract", SALE, "--no-model", "--out", "o", "--format", "csv")
    assert told.returncode == 0, told.stderr
    assert [path.name for path in (project / "o").iterdir()] == ["contracts.csv"]
    assert run("contract", "extract", SALE, "--no-model", "--format", "csv").returncode == 2


def test_json_has_every_contract_every_refusal_and_the_counts(run: Run, project: Path) -> None:
    """Exit code 1 where one could not be read; the others are there."""
    (project / "broken.pdf").write_bytes(b"not a PDF")
    told = run("contract", "extract", LEASE, "broken.pdf", "--no-model", "--json")
    assert told.returncode == 1
    result = json.loads(told.stdout)
    assert [one["document"] for one in result["contracts"]] == ["synthetic_zh_lease_conflict.txt"]
    assert "broken.pdf" in result["refused"][0]["message"]
    assert result["counts"] == {"contracts": 2, "complete": 1, "incomplete": 0, "refused": 1}
    assert "broken.pdf" in told.stderr


def test_a_narrow_console_shows_what_it_can(run: Run) -> None:
    """A Chinese Windows writes GBK."""
    told = run("contract", "extract", SALE, "--no-model", encoding="gbk")
    assert told.returncode == 0, told.stderr
    assert "设备采购合同" in told.stdout


def test_a_models_answers_stand_beside_the_rules(run: Run, model: ScriptedServer) -> None:
    """What is proven has its words; what is not is marked, in the exit code's report too."""
    told = run("contract", "extract", LEASE, "--model", "m", "--json", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 0, told.stderr
    (report,) = json.loads(told.stdout)["contracts"]
    questions = {question["name"]: question for question in report["answers"]["questions"]}
    assert questions["end_date"]["state"] == "found"
    assert questions["end_date"]["agreement"] == "agree"
    assert questions["amounts"]["state"] == "unproven"
    assert report["answers"]["host"] == model.url


def test_a_second_run_over_a_folder_asks_nothing(run: Run, model: ScriptedServer, project: Path) -> None:
    """The same bytes both times: the ledger in the folder has every answer."""
    command = ("contract", "extract", LEASE, SALE, "--model", "m", "--out", "结果")
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    files = [path for path in (project / "结果").iterdir() if ".sqlite" not in path.name]
    written = {path.name: path.read_bytes() for path in files}
    asked = len(model.seen("POST", "/api/chat"))
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    assert {path.name: path.read_bytes() for path in files} == written
    assert len(model.seen("POST", "/api/chat")) == asked


def test_a_page_in_plain_words(run: Run, model: ScriptedServer) -> None:
    """Each sentence with its words and where they stand."""
    told = run("contract", "summarize", LEASE, "--model", "m", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 0, told.stderr
    assert "租期两年。" in told.stdout
    assert "租赁期限共 2 年" in told.stdout


def test_a_question_without_a_valid_answer_is_exit_code_1(run: Run, model: ScriptedServer) -> None:
    """The rest is written; which one it was is said."""
    model.always("POST", "/api/chat", chat("no JSON"))
    told = run("contract", "extract", LEASE, "--model", "m", "--json", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 1
    assert json.loads(told.stdout)["counts"] == {"contracts": 1, "complete": 0, "incomplete": 1, "refused": 0}
    assert "synthetic_zh_lease_conflict.txt" in told.stderr


def test_a_users_own_schema_with_one_flag(run: Run, model: ScriptedServer, project: Path) -> None:
    """Its value is in the JSON as it describes it."""
    schema = {"properties": {"end_date": {"type": "string"}, "deal": {"type": "array", "items": {"type": "string"}}}}
    (project / "own.json").write_text(json.dumps(schema), encoding="utf-8")
    told = run(
        *("contract", "extract", LEASE, "--model", "m", "--schema", "own.json", "--json"),
        env={"OLLAMA_HOST": model.url},
    )
    assert told.returncode == 0, told.stderr
    (report,) = json.loads(told.stdout)["contracts"]
    assert report["answers"]["value"] == {"end_date": "2028年4月30日", "deal": ["租期两年。"]}


def test_an_estimate_sends_nothing_of_a_contract(run: Run, model: ScriptedServer) -> None:
    """Requests, tokens and minutes, at a speed measured with other words."""
    told = run("contract", "extract", LEASE, SALE, "--model", "m", "--estimate", env={"OLLAMA_HOST": model.url})
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("2 contracts in 14 requests, 0 of them done")
    assert model.seen("POST", "/api/chat") == []
    assert all("租" not in seen.body.decode() for seen in model.seen("POST", "/api/generate"))


def test_a_server_that_is_away_is_exit_code_3(run: Run) -> None:
    told = run("contract", "extract", LEASE, "--model", "m")
    assert told.returncode == 3
    assert "127.0.0.1:9" in told.stderr


# -- what a user is told, and when


def test_the_table_counts_what_is_not_proven(run: Run, model: ScriptedServer, project: Path) -> None:
    """ "done" says that the model answered, not that it is right; rules alone have nothing to prove."""
    rows = {}
    for command, *how in (("extract", "--model", "m"), ("summarize", "--model", "m"), ("extract", "--no-model")):
        told = run("contract", command, LEASE, *how, "--out", "o", env={"OLLAMA_HOST": model.url})
        rows[command, how[0]] = told.stdout.splitlines()[1].split()
    *before, unproven, state = rows["extract", "--model"]
    assert (unproven, state) == ("1", "done")
    assert rows["summarize", "--model"] == [*before, "0", "done"]
    assert rows["extract", "--no-model"] == [*before, "done"]


def test_two_files_of_one_name_are_told_apart(run: Run, project: Path) -> None:
    """By as much of the folder as it takes, also where one cannot be read."""
    for folder in ("甲", "乙"):
        (project / folder).mkdir()
        (project / folder / "合同.txt").write_text("合同\n押金500元", encoding="utf-8")
    (project / "丙").mkdir()
    (project / "丙" / "合同.txt").write_bytes(b"")
    names = [f"{folder}{os.sep}合同.txt" for folder in "甲乙丙"]
    told = run("contract", "extract", *names, SALE, "--no-model", "--out", "o")
    assert [line.split()[0] for line in told.stdout.splitlines()[1:]] == [
        *names[:2],
        "synthetic_zh_sale.txt",
        names[2],
    ]


def test_long_names_that_begin_alike_are_told_apart(run: Run, project: Path) -> None:
    """Cut to the width of a column they would be one."""
    names = [f"{'很长的合同名称' * 7}{end}.txt" for end in "甲乙"]
    for name in names:
        (project / name).write_text("合同\n押金500元", encoding="utf-8")
    told = run("contract", "extract", *names, "--no-model", "--out", "o")
    assert [line.split()[0] for line in told.stdout.splitlines()[1:]] == names


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--format", "md"), "--out"),
        (("--out", "file/sub"), "file"),
        (("--policy", "standart"), "'standard'"),
        (("--policy", "./none.yaml"), "none.yaml"),
        (("--estimate", "--policy", "nope"), "nope"),
    ],
)
@pytest.mark.parametrize("command", ["extract", "summarize"])
def test_wrong_flags_are_told_before_the_model_is_asked(
    run: Run, model: ScriptedServer, project: Path, command: str, flags: tuple[str, ...], told: str
) -> None:
    """With what is meant, or what to do; exit code 2."""
    (project / "file").write_text("x")
    got = run("contract", command, LEASE, "--model", "m", *flags, env={"OLLAMA_HOST": model.url})
    assert got.returncode == 2, got.stderr
    assert told in got.stderr
    assert "Traceback" not in got.stderr
    assert model.seen("POST", "/api/chat") == []


def test_a_folder_that_can_not_be_made_is_told_where_rules_alone_read(run: Run, project: Path) -> None:
    (project / "file").write_text("x")
    told = run("contract", "extract", LEASE, "--no-model", "--out", "file/sub")
    assert told.returncode == 2
    assert "file" in told.stderr
    assert "--out" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_broken_ledger_is_told_with_what_can_be_done(run: Run, project: Path) -> None:
    """No option is named that the command does not have."""
    (project / "o").mkdir()
    (project / "o" / ".ollama-kit-ledger.sqlite").write_text("garbage, no database at all" * 99)
    told = run("contract", "extract", LEASE, "--model", "m", "--out", "o")
    assert told.returncode == 2
    assert "--ledger" not in told.stderr
    assert "folder" in told.stderr


def test_an_estimate_of_a_file_that_can_not_be_read_is_exit_code_1(
    run: Run, model: ScriptedServer, project: Path
) -> None:
    """The others are counted."""
    command = ("contract", "extract", "none.txt", LEASE, "--model", "m", "--estimate")
    told = run(*command, env={"OLLAMA_HOST": model.url})
    assert told.returncode == 1
    assert told.stdout.startswith("1 contracts")
    assert "none.txt" in told.stderr


def test_an_estimate_says_where_its_speed_comes_from(run: Run, model: ScriptedServer, project: Path) -> None:
    """Measured just now, or known from what was done."""
    command = ("contract", "extract", LEASE, "--model", "m", "--out", "o")
    before = run(*command, "--estimate", env={"OLLAMA_HOST": model.url})
    assert "just measured" in before.stdout
    assert run(*command, env={"OLLAMA_HOST": model.url}).returncode == 0
    after = run(*command, "--estimate", env={"OLLAMA_HOST": model.url})
    assert "at the speed of the work done before" in after.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
@pytest.mark.parametrize("how", [("--no-model",), ("--model", "m")])
def test_a_file_name_that_is_no_unicode_is_read_and_shown_as_far_as_it_can_be(
    run: Run, model: ScriptedServer, project: Path, how: tuple[str, ...]
) -> None:
    """An archive from a Chinese Windows, unpacked on Linux, has such names."""
    name = os.fsdecode("合同".encode("gbk") + b"-a.txt")
    (project / name).write_text("合同\n押金500元", encoding="utf-8")
    for out in (("--out", "o"), ("--json",), ()):
        told = run("contract", "extract", name, *how, *out, env={"OLLAMA_HOST": model.url})
        assert told.returncode == 0, told.stderr
        assert "-a.txt" in told.stdout


# -- passwords

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"


@pytest.fixture
def locked(project: Path) -> Path:
    """A PDF that opens with the password `open sesame` only."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    path = project / "locked.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("open sesame", "owner"), invariant=True)
    canvas.drawString(72, 700, 'SERVICE AGREEMENT between Alpha Ltd. ("Client") and Beta Ltd. ("Provider").')
    canvas.save()
    return path


def test_a_password_from_a_file(run: Run, locked: Path, project: Path) -> None:
    """Its first line, without the line end that an editor of Windows writes."""
    (project / "password.txt").write_bytes("\ufeffopen sesame\r\n".encode())
    told = run("contract", "extract", locked.name, "--no-model", "--password-file", "password.txt")
    assert told.returncode == 0, told.stderr
    assert "SERVICE AGREEMENT" in told.stdout


def test_without_a_terminal_a_locked_file_is_refused_with_the_remedy(run: Run, locked: Path) -> None:
    told = run("contract", "extract", locked.name, "--no-model")
    assert told.returncode == 1
    assert "--password-file" in told.stderr


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_at_a_terminal_the_password_is_asked_for_and_not_shown(locked: Path, project: Path) -> None:
    """A wrong one is asked for again; what is typed is never echoed."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(project)
        os.execv(sys.executable, [sys.executable, "-m", "ollama_kit", "contract", "extract", locked.name, "--no-model"])
    shown = b""
    for asked, answer in enumerate((b"wrong\n", b"open sesame\n"), 1):
        while shown.count(b"Password of locked.pdf:") < asked:
            shown += os.read(terminal, 1024)
        os.write(terminal, answer)
    while b"SERVICE AGREEMENT" not in shown:
        shown += os.read(terminal, 4096)
    _, status = os.waitpid(child, 0) if _drained(terminal) else (0, 1)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"sesame" not in shown


def _drained(terminal: int) -> bool:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # Linux: the other side has closed
        pass
    return True
