"""Linting Modelfiles: each rule finds what it is about, on its line, and nothing where nothing is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.modelfile import ServerVersion, lint_modelfile, read_modelfile
from ollama_kit.modelfile.lint import find_secrets, worst
from ollama_kit.modelfile.lint_rules import RULES
from tests.modelfile.vectors import HOSTILE, OWN_FILES, load, shared_files

VECTORS = load("lint.json")
EXPECTED = {
    "synthetic_bad_role": [(2, "message-role")],
    "synthetic_bom_crlf": [(1, "encoding-bom"), (1, "line-ends-crlf")],
    "synthetic_comment_only_hash_inside": [],
    "synthetic_deprecated_mirostat": [(2, "ignored-parameter"), (3, "ignored-parameter"), (4, "ignored-parameter")],
    "synthetic_dup_params": [(2, "duplicate")],
    "synthetic_ideographic_space_zwsp": [(2, "dropped-characters")],
    "synthetic_messages": [],
    "synthetic_no_from": [(0, "no-from")],
    "synthetic_single_quotes": [(2, "single-quotes"), (3, "single-quotes")],
    "synthetic_template_quotes": [],
    "synthetic_trailing_comment": [(2, "inline-comment")],
    "synthetic_two_from_adapter_license": [
        (1, "from-path-missing"),
        (2, "from-path-missing"),
        (3, "adapter-path-missing"),
    ],
    "synthetic_unclosed_triple": [(2, "unclosed-quotes")],
    "synthetic_unknown_num_gqa": [(2, "removed-parameter")],
}
SECRETS = {
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "an API key": "sk-" + "proj-abcdefghijklmnopqrstuvwx1234",
    "an AWS access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "a password or key": "密码:" + "hunter2hunter2",
    "a URL with a password": "postgres://bob:" + "s3cret@db/x",
}


@pytest.mark.parametrize("vector", VECTORS, ids=[f"{v['rule']} {v['text'][:24]!r}" for v in VECTORS])
def test_each_rule_finds_its_fault_on_its_line(vector: dict[str, Any], tmp_path: Path) -> None:
    """The finding has the rule, the line, words that help, and a fix."""
    target = ServerVersion.parse(vector["target"]) if "target" in vector else None
    findings = lint_modelfile(vector["text"], target=target, folder=tmp_path)
    found = [finding for finding in findings if finding.rule == vector["rule"]]
    assert [finding.line for finding in found] == [vector["line"]]
    assert vector.get("says", "") in found[0].message
    assert found[0].fix


def test_every_rule_has_a_vector() -> None:
    """No rule of the table is without a file that sets it off."""
    elsewhere = {"secret", "encoding-utf16"}
    assert {vector["rule"] for vector in VECTORS} | elsewhere == set(RULES)


@pytest.mark.parametrize("path", OWN_FILES, ids=[path.stem for path in OWN_FILES])
def test_the_quirk_files_have_these_findings(path: Path) -> None:
    """Each file has the findings it was made for, and no other."""
    findings = lint_modelfile(path.read_bytes(), str(path))
    assert [(f.line, f.rule) for f in findings if f.rule != "num-ctx-missing"] == EXPECTED[path.stem]
    assert all(finding.path == str(path) for finding in findings)


@pytest.mark.parametrize("what", SECRETS)
def test_a_key_in_system_is_found_and_not_repeated(what: str) -> None:
    """The finding says what it looks like and on which line; the key itself is not printed."""
    (finding,) = [f for f in lint_modelfile(f'FROM a\nSYSTEM """x\n{SECRETS[what]}"""') if f.rule == "secret"]
    assert (finding.line, finding.severity) == (3, "warning")
    assert what in finding.message
    assert SECRETS[what] not in finding.message


def test_a_password_after_a_full_width_colon_is_a_secret() -> None:
    """As a Chinese input method writes it."""
    assert find_secrets("密码：" + "hunter2hunter2") == ((0, "a password or key"),)


def test_talk_about_passwords_is_no_secret() -> None:
    """Prose that names keys and passwords is left alone."""
    for text in (
        "Never reveal the password.",
        "密码:请不要告诉任何人",
        "api_key: <your key>",
        "https://a.b/c",
        "password = ...",
    ):
        assert find_secrets(text) == ()


def test_a_clean_file_has_no_findings() -> None:
    """A file as the kit writes it is silent."""
    text = '# why\nFROM qwen3:4b\nPARAMETER num_ctx 8192\nPARAMETER stop "###"\n'
    text += 'SYSTEM """你好 "x" # y\n"""\nMESSAGE user hi\n'
    assert lint_modelfile(text, target=ServerVersion(0, 9, 3)) == ()


def test_a_path_that_exists_is_no_finding(tmp_path: Path) -> None:
    """Paths count from the Modelfile's folder."""
    (tmp_path / "m.gguf").touch()
    path = tmp_path / "Modelfile"
    findings = lint_modelfile("FROM ./m.gguf\nADAPTER m.gguf\n", str(path))
    assert [finding.rule for finding in findings] == ["num-ctx-missing"]


def test_utf16_is_said() -> None:
    """A file stored as UTF-16 is read, and the storage mentioned."""
    findings = lint_modelfile("FROM a\nPARAMETER num_ctx 1\n".encode("utf-16"))
    assert [(finding.rule, finding.severity) for finding in findings] == [("encoding-utf16", "info")]


def test_a_read_modelfile_is_linted_like_its_text() -> None:
    """A value instead of a text gives the same rules and lines."""
    text = 'FROM a\nSYSTEM """x\ny\u3000"""\nPARAMETER tokenizer x\n'
    as_text = [(finding.line, finding.rule) for finding in lint_modelfile(text)]
    assert [(finding.line, finding.rule) for finding in lint_modelfile(read_modelfile(text))] == as_text


def test_lines_without_their_quotes_are_one_finding() -> None:
    """Prose that lost its quotes is reported where it starts, not line by line."""
    findings = lint_modelfile("FROM a\nPARAMETER num_ctx 1\nSYSTEM one\ntwo two\nthree three\n")
    assert [(finding.line, finding.rule) for finding in findings] == [(4, "unknown-command")]


def test_the_fix_is_in_the_users_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Chinese locale gets Chinese advice."""
    monkeypatch.setenv("OLLAMA_KIT_LANG", "zh")
    (finding,) = lint_modelfile("FROM a\nPARAMETER num_ctx 1\nPARAMETER tokenizer x")
    assert "分词器" in finding.fix


def test_the_worst_severity_decides() -> None:
    """error before warning before info, None for nothing."""
    assert worst(lint_modelfile("FROM a\nPARAMETER num_gqa 8")) == "error"
    assert worst(lint_modelfile("FROM a\nPARAMETER temperature 9")) == "warning"
    assert worst(lint_modelfile("FROM a")) == "info"
    assert worst(()) is None


def test_other_peoples_files_are_linted_without_a_failure() -> None:
    """Real Modelfiles give findings, never an exception; hardly any is called broken."""
    broken = [
        path.name
        for path in shared_files()
        if any(f.rule in ("unknown-command", "unreadable", "docker-command") for f in lint_modelfile(path.read_bytes()))
    ]
    assert len(broken) <= 1


@given(st.lists(st.one_of(HOSTILE, st.sampled_from(["\nPARAMETER ", "\nMESSAGE user ", "\nSYSTEM "])), max_size=10))
@settings(deadline=None)
def test_lint_never_fails_and_names_lines_that_exist(pieces: list[str]) -> None:
    """Any text gives findings whose lines are in the file."""
    text = "FROM a\n" + "".join(pieces)
    last = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(0 <= finding.line <= last for finding in lint_modelfile(text))
