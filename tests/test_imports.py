"""What starting costs is what it imports: neither the package nor --help may load what only some calls need."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys

import click
import pytest

import ollama_kit
from ollama_kit.cli.main import SUMMARIES, cli
from tests.structure import modules

HEAVY = (
    *("httpx", "ollama", "requests", "pydantic", "jinja2", "tokenizers", "transformers", "torch", "numpy"),
    *("rich", "yaml", "jsonschema", "huggingface_hub", "asyncio", "ssl"),
)
"""Packages of which each takes 10 to 500 ms to import."""

FACADES = tuple(
    f"ollama_kit.{module.name.rpartition('.')[0]}"
    for module in modules()
    if module.name.endswith(".__init__") and "exports(__name__)" in module.text
)
"""Packages that load their public names on first use."""

LOADED = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
HELP = f"from ollama_kit.cli.main import main; code = main(['--help']); {LOADED}; sys.exit(code)"
RENDER = "from ollama_kit.cli.main import main; code = main(['render', 'demo'])"


def loaded_by(program: str) -> set[str]:
    """The modules that are loaded when a program of its own is done."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def heavy(modules: set[str]) -> set[str]:
    return modules.intersection(HEAVY)


@pytest.mark.process
def test_importing_the_package_loads_nothing_heavy() -> None:
    """`import ollama_kit` loads the package alone: no module of it but the package itself, and nothing of others."""
    loaded = loaded_by(f"import ollama_kit; {LOADED}")
    assert not heavy(loaded)
    assert {name for name in loaded if name.partition(".")[0] == "ollama_kit"} == {"ollama_kit", "ollama_kit.lazy"}
    assert "click" not in loaded


@pytest.mark.process
def test_help_loads_click_and_no_command() -> None:
    """`ollama-kit --help` lists the commands without loading one of them."""
    loaded = loaded_by(HELP)
    assert not heavy(loaded)
    ours = {name for name in loaded if name.startswith("ollama_kit.")}
    assert ours == {
        "ollama_kit.cli",
        "ollama_kit.cli.main",
        "ollama_kit.errors",
        "ollama_kit.lazy",
        "ollama_kit.plugins",
    }


@pytest.mark.process
def test_rendering_loads_neither_a_connection_nor_a_tokenizer() -> None:
    """A command loads what it needs: `render` reads YAML and a template, and never gets ready to talk."""
    loaded = loaded_by(f"{RENDER}; {LOADED}; sys.exit(code)")
    assert "yaml" in loaded
    assert not loaded & {"httpx", "ollama", "requests", "tokenizers", "jsonschema", "pydantic", "rich"}


@pytest.mark.process
@pytest.mark.parametrize("module", ["client", "server", "tokens", "structured", "builder.build", "guard.flow"])
def test_a_layer_is_light_until_it_is_used(module: str) -> None:
    """Importing any layer loads none of the libraries that only a call of it needs."""
    assert not heavy(loaded_by(f"import ollama_kit.{module}; {LOADED}")) - {"ssl"}


@pytest.mark.parametrize("name", ollama_kit.__all__)
def test_every_public_name_resolves(name: str) -> None:
    """A name in `__all__` is what it says, from where it is defined."""
    assert getattr(ollama_kit, name).__name__ == name


@pytest.mark.parametrize("package", FACADES)
def test_every_public_name_of_a_package_resolves(package: str) -> None:
    """What a package lists is where it says."""
    facade = importlib.import_module(package)
    assert facade.__all__
    assert [name for name in facade.__all__ if not hasattr(facade, name)] == []


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    """A misspelt name fails as it does in any module."""
    with pytest.raises(AttributeError, match="Clinet"):
        ollama_kit.Clinet  # noqa: B018


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_list_of_commands_says_what_the_commands_say(name: str) -> None:
    """A command's line in --help is the first sentence of its own help."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    first = re.split(r"(?<=\.)\s", " ".join((command.help or "").split()))[0]
    assert SUMMARIES[name] == first
