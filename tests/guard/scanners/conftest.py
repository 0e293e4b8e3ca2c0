"""Tests that use llm-guard, or say that they need it, run where it is installed: tests/needs.py."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ollama_kit.guard.scanners import ScannerConfig, Scanners, load_scanners, parse_scanners
from ollama_kit.specs.source import Source


@pytest.fixture(scope="session")
def llm_guard() -> ModuleType:
    """llm-guard as it comes, whole. Its libraries warn when they are imported; ours is not to mend that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import llm_guard
        import llm_guard.input_scanners
        import llm_guard.output_scanners
    return llm_guard


@pytest.fixture(scope="session")
def tiny_models(llm_guard: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Gives the folder of a tiny model with the labels asked for; the first is that of texts with "ignore"."""
    from tests.guard.scanners.tiny import save_tiny

    def make(*labels: str, **more: Any) -> Path:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return save_tiny(tmp_path_factory.mktemp("model"), labels, **more)

    return make


@pytest.fixture(scope="session")
def injection_model(tiny_models: Callable[..., Path]) -> Path:
    return tiny_models("INJECTION", "SAFE")


def parsed(**scanners: Any) -> ScannerConfig:
    """The configuration of a policy's `scanners:`, with the file that errors name."""
    return parse_scanners(scanners, Source(Path("policy.yaml"), {}))


def ready(side: str, scanner: str, **rule: Any) -> Scanners:
    """One scanner, loaded. What is not a key of a rule is an option of the scanner."""
    keys = {name: rule.pop(name) for name in ("name", "model", "threshold", "on_fail", "labels") if name in rule}
    config = {name: rule.pop(name) for name in ("download", "timeout_s", "max_chars") if name in rule}
    return load_scanners(parsed(**{side: [{"scanner": scanner, "options": rule, **keys}]}, **config))


@pytest.fixture
def spacy_models(llm_guard: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages by the names that Anonymize asks for, each of an empty pipeline."""
    for language in ("en", "zh"):
        name = f"{language}_core_web_sm"
        (tmp_path / name).mkdir()
        program = f"import spacy\n\ndef load(**overrides):\n    return spacy.blank({language!r})\n"
        (tmp_path / name / "__init__.py").write_text(program, encoding="utf-8")
        (tmp_path / f"{name}-3.8.0.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.8.0\n"
        (tmp_path / f"{name}-3.8.0.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for language in ("en", "zh"):
        sys.modules.pop(f"{language}_core_web_sm", None)
