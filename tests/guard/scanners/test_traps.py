"""What llm-guard does by itself, and what its scanners do here: each trap with both halves. No model is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.scanners import execution, load_scanners
from ollama_kit.guard.scanners.config import ScannerRule
from ollama_kit.guard.scanners.matching import with_boundaries
from ollama_kit.guard.scanners.outcome import PASSED, ScanOutcome, ScanRequest
from tests.guard.scanners.conftest import parsed, ready

pytestmark = pytest.mark.usefixtures("llm_guard")

AWS = "AKIAIOSFODNN7EXAMPLE"
OPENAI = "sk-" + "aB3dE6gH9j" * 2 + "T3BlbkFJ" + "aB3dE6gH9j" * 2
FAMILY = "👨‍👩‍👧‍👦"


def raw(scanner: str, side: str = "input", /, **options: Any) -> Any:
    """llm-guard's own scanner."""
    import llm_guard

    return getattr(getattr(llm_guard, f"{side}_scanners"), scanner)(**options)


def redacted(scanner: str, text: str, **options: Any) -> str:
    """What is left of a text that a scanner of ours redacts."""
    return ready("input", scanner, on_fail="redact", **options).input_stage(text, "document 0")[0].text


@pytest.mark.smoke
def test_two_scanners_of_one_class_both_count(llm_guard: ModuleType) -> None:
    """llm-guard keys results by class name, so that the second Regex clears what the first one found."""
    text = "code 1234"
    scanners = [raw("Regex", patterns=["1234"]), raw("Regex", patterns=["zebra"])]
    assert llm_guard.scan_prompt(scanners, text)[1] == {"Regex": True}

    rules = [
        {"name": name, "scanner": "Regex", "on_fail": "block", "options": {"patterns": [pattern]}}
        for name, pattern in (("codes", "1234"), ("zebras", "zebra"))
    ]
    with pytest.raises(GuardBlocked) as caught:
        load_scanners(parsed(input=rules)).input_stage(text, "document 0")
    assert caught.value.stage == "codes"
    assert "document 0" in caught.value.reason


def test_a_blank_text_is_judged_too(llm_guard: ModuleType) -> None:
    """A scanner that asks for something fails where there is nothing; llm-guard skips all on a blank text."""
    demanding = raw("Regex", "output", patterns=["DONE"], is_blocked=False)
    assert llm_guard.scan_output([demanding], "?", "  ") == ("  ", {}, {})

    scanners = ready("output", "Regex", patterns=["DONE"], is_blocked=False, on_fail="block")
    with pytest.raises(GuardBlocked, match="none of the patterns"):
        scanners.check_output("?", "  ")


def test_every_pattern_redacts() -> None:
    """llm-guard stops at the first pattern that hits, and the others' finds go on to the model."""
    text, patterns = "a1 b2 a1", ["a[0-9]", "b[0-9]"]
    assert raw("Regex", patterns=patterns).scan(text)[0] == "[REDACTED] b2 [REDACTED]"
    assert redacted("Regex", text, patterns=patterns) == "[REDACTED] [REDACTED] [REDACTED]"


def test_every_place_redacts_where_one_match_was_asked_for() -> None:
    """An answer's patterns are searched for once by llm-guard's default; the second number is let through."""
    assert raw("Regex", "output", patterns=["[0-9]{4}"]).scan("?", "1111 2222")[0] == "[REDACTED] 2222"
    scanners = ready("output", "Regex", on_fail="redact", patterns=["[0-9]{4}"])
    assert scanners.check_output("?", "1111 2222")[0] == "[REDACTED] [REDACTED]"


def test_a_word_ends_beside_chinese() -> None:
    """`\\b` finds no end between 号 and 1, in a pattern as in a banned word."""
    text, patterns = "房号1203室", [r"\b[0-9]{4}\b"]
    assert raw("Regex", patterns=patterns).scan(text)[1]
    assert redacted("Regex", text, patterns=patterns) == "房号[REDACTED]室"

    assert raw("BanSubstrings", substrings=["badger"], match_type="word").scan("一只badger在跑")[1]
    assert redacted("BanSubstrings", "一只badger在跑", substrings=["badger"], match_type="word") == "一只[REDACTED]在跑"
    assert redacted("BanSubstrings", "badgers", substrings=["badger"], match_type="word") == "badgers"


def test_only_a_boundary_is_rewritten() -> None:
    """An escaped backslash before a b, and a backspace in a class, stay what they are."""
    assert with_boundaries(r"\\b[\b]a") == r"\\b[\b]a"
    assert with_boundaries(r"\bcafé\b").count("?:") == 2
    assert redacted("Regex", "le café noir", patterns=[r"\bcafé\b"]) == "le [REDACTED] noir"


def test_a_pattern_has_a_time_limit() -> None:
    """A pattern that backtracks without end is stopped; llm-guard's search cannot be."""
    pattern = "(?:a|a)+$(?<=b)"
    program = (
        "from llm_guard.input_scanners import Regex; print('ready', flush=True); "
        f"Regex([{pattern!r}]).scan('a' * 60 + 'c')"
    )
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE) as theirs:
        assert theirs.stdout is not None
        assert theirs.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            theirs.wait(timeout=2)
        theirs.kill()

    scanners = ready("input", "Regex", patterns=[pattern], timeout_s=0.5)
    with pytest.raises(GuardBlocked, match=r"more than 0\.5 s"):
        scanners.input_stage("a" * 60 + "c", "document 0")


@pytest.mark.smoke
def test_every_occurrence_of_a_secret_goes() -> None:
    """llm-guard looks for the first one of each value; the second is sent to the model."""
    text = f"key {AWS}\nagain {AWS}\n"
    assert raw("Secrets").scan(text)[0].count(AWS) == 1
    assert redacted("Secrets", text) == "key ******\nagain ******\n"


def test_several_secrets_leave_the_rest_of_the_text_as_it_was() -> None:
    """llm-guard replaces by offsets that the replacement before has shifted: text is lost or doubled."""
    keys = [f"ghp_{f'{letter}1B2' * 9}" for letter in "abcdefgh"]
    text = "\n".join(f"line {at} {key} end" for at, key in enumerate(keys))
    clean = "\n".join(f"line {at} ****** end" for at in range(len(keys)))
    assert raw("Secrets").scan(text)[0] != clean
    assert redacted("Secrets", text) == clean


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"密钥{AWS}了", AWS),
        (f"令牌{OPENAI}请保密", OPENAI),
        ("key sk-proj-" + "aB3dE6" * 6, "sk-proj-" + "aB3dE6" * 6),
        ("key sk-ant-api03-" + "aB3dE6" * 8, "sk-ant-api03-" + "aB3dE6" * 8),
        ("密码：Tiger2024!x", "Tiger2024!x"),
    ],
)
def test_secrets_that_llm_guard_misses_are_found(text: str, secret: str) -> None:
    """Glued to Chinese, of newer forms, or behind a Chinese label."""
    assert secret in raw("Secrets").scan(text)[0]
    assert secret not in redacted("Secrets", text)


def test_a_digest_is_no_secret() -> None:
    """The SHA-256 of a file says nothing that must not be said; behind the name of a key it does."""
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    text = f'{{"sha256": "{digest}"}}'
    assert digest not in raw("Secrets").scan(text)[0]
    assert redacted("Secrets", text) == text
    assert digest not in redacted("Secrets", f'signing_key = "{digest}"')


def test_a_secret_is_never_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """llm-guard writes the whole prompt to a temporary file to look for secrets in it."""
    written: list[bytes] = []
    make = tempfile.NamedTemporaryFile

    def spied(*arguments: Any, **options: Any) -> Any:
        file = make(*arguments, **options)
        write = file.write

        def noted(data: bytes) -> int:
            written.append(data)
            return int(write(data))

        file.write = noted
        return file

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", spied)
    raw("Secrets").scan(f"key {AWS}")
    assert written == [f"key {AWS}".encode()]
    written.clear()
    assert redacted("Secrets", f"key {AWS}") == "key ******"
    assert written == []


LOCALE_PROGRAM = f"""
import locale, warnings
warnings.simplefilter("ignore")
from llm_guard.input_scanners import Secrets
from ollama_kit.guard.scanners import load_scanners, parse_scanners
from ollama_kit.specs.source import Source
from pathlib import Path
text = "项目的密钥在下面，请不要外传\\nkey {AWS}\\n"
rules = {{"input": [{{"scanner": "Secrets", "on_fail": "redact"}}]}}
ours = load_scanners(parse_scanners(rules, Source(Path("p"), {{}}))).input_stage(text, "d")[0].text
assert locale.getpreferredencoding(False).lower() not in ("utf-8", "utf8"), locale.getpreferredencoding(False)
print(f"{{'{AWS}' in Secrets().scan(text)[0]}} {{'{AWS}' in ours}}")
"""


def test_a_locale_that_is_not_utf8_hides_no_secret(tmp_path: Path) -> None:
    """llm-guard reads its file back in the locale's encoding: under GBK as under ASCII the Chinese stops it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    path = os.pathsep.join(sys.path)
    env = {**kept, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": path}
    program = tmp_path / "program.py"
    program.write_text(LOCALE_PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, encoding="utf-8", timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True False"


def test_threads_find_the_same_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """detect-secrets keeps its rules in settings of the process: a scan that ends takes them from one that began
    meanwhile, and its secret is missed."""
    from detect_secrets.core.secrets_collection import SecretsCollection

    scan_file, second_began = SecretsCollection.scan_file, threading.Event()
    text, left = f"key {AWS}", list[str]()
    first = threading.Thread(target=lambda: raw("Secrets").scan("nothing here"))
    second = threading.Thread(target=lambda: left.append(raw("Secrets").scan(text)[0]))

    def meeting(collection: Any, filename: str) -> None:
        if threading.current_thread() is first:
            second.start()
            assert second_began.wait(60)
        elif threading.current_thread() is second:
            second_began.set()
            first.join(60)
        scan_file(collection, filename)

    monkeypatch.setattr(SecretsCollection, "scan_file", meeting)
    first.start()
    first.join()
    second.join()
    assert left == [text]

    scanners = ready("input", "Secrets", on_fail="redact")
    threads = [
        threading.Thread(target=lambda: left.append(scanners.input_stage(text, "document 0")[0].text)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left[1:] == ["key ******"] * 8


def test_invisible_text_leaves_writing_alone_and_takes_what_hides() -> None:
    """llm-guard takes families apart and Persian too, and leaves the selectors that carry bytes."""
    persian, hidden = "می\u200cخواهم", "a" + "".join(chr(0xE0100 + at) for at in range(5))
    theirs = raw("InvisibleText")
    assert theirs.scan(FAMILY)[0] == "👨👩👧👦"
    assert theirs.scan(persian)[0] != persian
    assert theirs.scan(hidden)[0] == hidden
    assert theirs.scan("a\u3164b\x07")[0] == "a\u3164b\x07"

    assert redacted("InvisibleText", FAMILY + persian) == FAMILY + persian
    assert redacted("InvisibleText", hidden) == "a"
    assert redacted("InvisibleText", "a\u3164b\x07") == "ab"


def test_reading_time_counts_chinese_by_its_characters() -> None:
    """A page of Chinese has no blanks, and is one word to llm-guard; cutting an answer turns its lines into one."""
    page = "天气很好。" * 400
    assert raw("ReadingTime", "output", max_time=1).scan("?", page)[1]
    scanners = ready("output", "ReadingTime", on_fail="redact", max_time=1)
    text, (found,) = scanners.check_output("?", page)
    assert len(text) == 300
    assert found.span == (300, 2000)

    assert "\n" not in raw("ReadingTime", "output", max_time=0.01, truncate=True).scan("?", "a\nb\nc\nd")[0]
    assert ready("output", "ReadingTime", on_fail="redact", max_time=0.01).check_output("?", "a\nb\nc")[0] == "a\nb\n"


def test_json_and_fuzzy_names_are_what_the_refusals_say() -> None:
    """Why a policy may not name them: one rewrites what is no JSON, the other confuses names."""
    theirs = raw("JSON", "output")
    assert theirs.scan("?", 'Use {name} in {"a": 1}')[0] == 'Use {} in {"a": 1}'
    assert theirs.scan("?", '{"名": "值",}')[0] == '{"\\u540d": "\\u503c"}'

    import llm_guard.vault

    vault = llm_guard.vault.Vault([("[REDACTED_PERSON_1]", "张三"), ("[REDACTED_PERSON_10]", "李四")])
    fuzzy = raw("Deanonymize", "output", vault=vault, matching_strategy="fuzzy")
    assert "李四" not in fuzzy.scan("?", "[REDACTED_PERSON_10]")[0]


def test_names_are_put_back_exactly() -> None:
    """What is put in is never searched again, and the longest placeholder wins; before the other scanners look."""
    import llm_guard.vault

    pairs = [("PERSON_1", "PERSON_2"), ("PERSON_2", "王五"), ("PERSON_10", "badger")]
    theirs = raw("Deanonymize", "output", vault=llm_guard.vault.Vault(list(pairs)))
    assert theirs.scan("?", "PERSON_1 PERSON_10")[0] == "王五 王五0"

    rules = parsed(output=[{"scanner": "BanSubstrings", "options": {"substrings": ["badger"]}}])
    back = ScannerRule("back", "Deanonymize", "output")
    scanners = load_scanners(replace(rules, output=(*rules.output, back)))
    scanners.vault.extend(pairs)
    text, (found,) = scanners.check_output("?", "PERSON_1 PERSON_10")
    assert text == "PERSON_2 badger"
    assert found.span == (9, 18)


def test_nothing_is_written_to_the_terminal(capsys: pytest.CaptureFixture[str], llm_guard: ModuleType) -> None:
    """llm-guard logs to stdout, with what it found in the text."""
    import structlog

    structlog.reset_defaults()
    text = f"badger {AWS}"
    raw("BanSubstrings", substrings=["badger"]).scan(text)
    assert "badger" in capsys.readouterr().out

    rules = [{"scanner": "BanSubstrings", "options": {"substrings": ["badger"]}}, {"scanner": "Secrets"}]
    _, findings = load_scanners(parsed(input=rules)).input_stage(text, "document 0")
    assert len(findings) == 2
    assert capsys.readouterr() == ("", "")


def test_a_scanner_that_fails_blocks_the_text(llm_guard: ModuleType) -> None:
    """llm-guard lets the exception of a scanner out as it is; one handler too wide, and the text has passed."""

    class Broken:
        def scan(self, prompt: str) -> tuple[str, bool, float]:
            raise ZeroDivisionError(prompt)

    with pytest.raises(ZeroDivisionError):
        llm_guard.scan_prompt([Broken()], "private words")

    def broken(request: ScanRequest) -> ScanOutcome:
        return ScanOutcome(failed=bool(1 / (len(request.text) - len(request.text))))

    (rule,) = parsed(input=[{"name": "mine", "scanner": "Secrets", "on_fail": "flag"}]).input
    limits = execution.ScannerLimits(100, 5, lambda: 0.0)
    with pytest.raises(GuardBlocked, match="failed with ZeroDivisionError") as caught:
        execution.LoadedScanner(broken).ask(rule, "private words", "", [], limits)
    assert caught.value.stage == "mine"
    assert "private words" not in str(caught.value)


def test_a_scanner_in_use_is_waited_for_and_no_longer_than_its_time() -> None:
    """Two threads never use one scanner at once; one that hangs does not hold up the other for ever."""
    inside, most = [0], [0]
    lock = threading.Lock()

    def counting(request: ScanRequest) -> ScanOutcome:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        for _ in range(2000):
            pass
        with lock:
            inside[0] -= 1
        return PASSED

    (rule,) = parsed(input=[{"scanner": "Secrets"}]).input
    one, limits = execution.LoadedScanner(counting), execution.ScannerLimits(100, 30, lambda: 0.0)
    threads = [threading.Thread(target=lambda: one.ask(rule, "a", "", [], limits)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]

    with one.lock, pytest.raises(GuardBlocked, match="more than"):
        one.ask(rule, "a", "", [], execution.ScannerLimits(100, 0.01, lambda: 0.0))


def test_a_text_over_the_limit_is_refused_and_not_cut() -> None:
    """The part that was not looked at would be the part that matters."""
    scanners = ready("input", "Secrets", max_chars=10)
    assert scanners.input_stage("a" * 10, "document 0")[1] == ()
    with pytest.raises(GuardBlocked, match="11 characters"):
        scanners.input_stage("a" * 11, "document 0")


def test_what_can_not_be_redacted_is_not_called_redacted() -> None:
    """A text that lacks what it must have cannot be mended by taking something out."""
    scanners = ready("input", "Regex", patterns=["DONE"], is_blocked=False, on_fail="redact")
    with pytest.raises(GuardBlocked):
        scanners.input_stage("not yet", "document 0")


def test_overlapping_redactions_leave_nothing_behind() -> None:
    """Two scanners that find overlapping parts take out both, and each finding points into the text as given."""
    rules = [
        {"name": name, "scanner": "Regex", "on_fail": "redact", "options": {"patterns": [pattern]}}
        for name, pattern in (("left", "abc"), ("right", "bcd"))
    ]
    changed, findings = load_scanners(parsed(input=rules)).input_stage("xabcdy", "document 0")
    assert changed.text == "x[REDACTED]y"
    assert [found.span for found in findings] == [(1, 4), (2, 5)]
    assert changed.map.span(0, 12) == (0, 6)


def test_many_places_are_a_bounded_report() -> None:
    """All are redacted, and a hundred listed."""
    changed, findings = ready("input", "Regex", on_fail="redact", patterns=["a"]).input_stage("ab" * 1000, "document 0")
    assert changed.text == "[REDACTED]b" * 1000
    assert len(findings) == 101
    assert "900 more places" in findings[-1].detail
