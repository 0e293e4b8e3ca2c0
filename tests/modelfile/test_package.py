"""The package as a whole: its examples run, its names resolve, and it is light to import."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

import ollama_kit.modelfile as package

MODULES = sorted(module.name for module in iter_modules(package.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name: str) -> None:
    """Every doctest of the package gives what it shows."""
    assert doctest.testmod(import_module(f"ollama_kit.modelfile.{name}")).failed == 0


@pytest.mark.parametrize("name", package.__all__)
def test_every_public_name_resolves(name: str) -> None:
    """Lazy names lead to something that exists."""
    assert getattr(package, name) is not None
    assert name in dir(package)


@pytest.mark.process
def test_reading_and_linting_load_nothing_heavy() -> None:
    """Neither jinja2 nor anything of the network is imported before something is rendered."""
    code = (
        "import sys, ollama_kit.modelfile as m; m.lint_modelfile('FROM a'); m.render_modelfile; "
        "print([n for n in ('jinja2', 'httpx', 'pydantic', 'ollama', 'yaml') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
