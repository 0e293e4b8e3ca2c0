"""Where llm-guard or torch is not installed. Each program runs by itself, with the packages hidden from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from ollama_kit.guard.scanners.roster import KINDS

HIDE = """
import importlib.metadata, json, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
import importlib.util
found = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name.partition(".")[0] in HIDDEN else found(name, package)
importlib.util.find_spec = find_spec
from pathlib import Path
from ollama_kit.guard.scanners import load_scanners, parse_scanners, scanner_status
from ollama_kit.errors import UsageError
from ollama_kit.specs.source import Source
def config(**sides): return parse_scanners(sides, Source(Path("p.yaml"), {}))
"""
MODEL_FREE = [name for name, kind in KINDS.items() if kind.need == "nothing"]


def run(program: str, *hidden: str) -> Any:
    """What a program that cannot import `hidden` prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"HIDDEN = {set(hidden)!r}\n{HIDE}\n{program}"],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1", "OLLAMA_KIT_LANG": "en"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.process
def test_nothing_of_it_is_imported_by_reading_a_policy() -> None:
    """Parsing and asking what would work load neither llm-guard nor anything under it."""
    program = """
config(input=[{"scanner": "PromptInjection"}, {"scanner": "Secrets"}])
scanner_status()
names = {name.partition(".")[0] for name in sys.modules}
print(json.dumps(sorted(names & {"llm_guard", "torch", "transformers", "spacy", "structlog", "detect_secrets"})))
"""
    assert run(program) == []


@pytest.mark.process
@pytest.mark.parametrize("scanner", ["Secrets", "PromptInjection"])
def test_a_policy_that_names_it_is_an_error_that_says_how_to_install_it(scanner: str) -> None:
    """The error comes when the scanners are loaded, before any call, and names the extra, Python and CPU torch."""
    program = f"""
try:
    load_scanners(config(input=[{{"scanner": "{scanner}"}}]))
except UsageError as error:
    print(json.dumps(str(error)))
"""
    said = run(program, "llm_guard")
    assert f"{scanner} of llm-guard, which is not installed" in said
    assert 'pip install "ollama-kit[llm-guard]"' in said
    assert "3.12" in said
    assert "CPU build of PyTorch" in said


@pytest.mark.process
def test_without_it_every_scanner_is_reported_as_not_working() -> None:
    """`doctor` says so of each, and how to get it."""
    program = "print(json.dumps([[s.name, s.works, s.why] for s in scanner_status()]))"
    said = run(program, "llm_guard")
    assert len(said) == len(KINDS) + 2
    assert not [name for name, works, _ in said if works]
    assert all("not installed" in why or "not run" in why for _, _, why in said)


@pytest.mark.needs("llm-guard")
def test_scanners_without_a_model_run_without_torch() -> None:
    """Where llm-guard is there and torch is not, what needs no model works, and loads nothing heavy."""
    program = """
scanners = load_scanners(config(
    input=[{"scanner": "Regex", "on_fail": "redact", "options": {"patterns": ["[0-9]{4}"]}},
           {"scanner": "Secrets", "on_fail": "redact"}, {"scanner": "InvisibleText", "on_fail": "redact"},
           {"scanner": "BanSubstrings", "options": {"substrings": ["badger"]}}],
    output=[{"scanner": "NoRefusalLight"}, {"scanner": "ReadingTime", "options": {"max_time": 1}}]))
changed, findings = scanners.input_stage("门牌1203，AKIAIOSFODNN7EXAMPLE Badger a\\u200bb", "document 0")
_, more = scanners.check_output("?", "I'm sorry.")
heavy = [name for name in ("torch", "transformers", "spacy", "numpy", "llm_guard") if name in sys.modules]
print(json.dumps([changed.text, [f.stage for f in (*findings, *more)], heavy]))
"""
    text, stages, heavy = run(program, "torch", "transformers", "spacy", "presidio_analyzer")
    assert text == "门牌[REDACTED]，****** Badger ab"
    assert stages == ["Regex", "Secrets", "InvisibleText", "BanSubstrings", "NoRefusalLight"]
    assert heavy == []


@pytest.mark.needs("llm-guard")
def test_llm_guard_alone_can_not_be_imported_without_torch() -> None:
    """This is what the modules one by one are for."""
    program = """
try:
    import llm_guard
    print(json.dumps("imported"))
except ImportError as error:
    print(json.dumps(error.name))
"""
    assert run(program, "torch", "transformers") in ("torch", "transformers")


@pytest.mark.needs("llm-guard")
def test_a_learned_scanner_without_torch_is_an_error_that_says_so() -> None:
    """The model-free ones of the same policy do not hide it."""
    program = """
try:
    load_scanners(config(input=[{"scanner": "Secrets"}, {"name": "pi", "scanner": "PromptInjection"}]))
except UsageError as error:
    said = str(error)
works = {s.name: s.works for s in scanner_status()}
print(json.dumps([said, works]))
"""
    said, works = run(program, "torch", "transformers")
    assert "PromptInjection ('pi') needs torch" in said
    assert {name for name, yes in works.items() if yes} == set(MODEL_FREE)


@pytest.mark.needs("llm-guard")
def test_a_part_of_llm_guard_that_is_missing_is_named() -> None:
    """A broken installation is an error of ours with the name of what is missing, not an ImportError."""
    program = """
try:
    load_scanners(config(input=[{"scanner": "Secrets"}]))
except UsageError as error:
    print(json.dumps(str(error)))
"""
    assert "Secrets cannot be loaded: detect_secrets is missing" in run(program, "detect_secrets")
