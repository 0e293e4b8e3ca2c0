"""The figures in the README and in docs/memory.md are those that the commands above them print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ollama_kit.cli.main import cli
from tests.memory.rules import table

ROOT = Path(__file__).parents[2]


def test_published_advice_is_off_by_what_the_docs_say() -> None:
    """Each row of the table, computed anew."""
    text = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in text


@pytest.mark.slow
@pytest.mark.parametrize("model", ["qwen3.6:27b", "qwen3.6:35b-a3b"])
def test_the_readme_shows_what_the_command_prints(model: str) -> None:
    """8, 16 and 24 GiB, offline."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = f"ollama-kit plan {model} --context 8192 --memory 24GiB"
    assert command in text
    printed = CliRunner().invoke(cli, command.split()[1:], env={"OLLAMA_HOST": "127.0.0.1:9"})
    assert printed.exit_code == 0, printed.output
    shown = [
        re.split(r"\s{2,}", line) for line in printed.stdout.splitlines() if line.startswith(("8 G", "16 G", "24 G"))
    ]
    for card, _, *cells in shown:
        assert f"| {model} | {card} | {' | '.join(cells)} |" in text
    assert len(shown) == 3
    as_json = CliRunner().invoke(cli, [*command.split()[1:], "--json"], env={"OLLAMA_HOST": "127.0.0.1:9"})
    assert json.loads(as_json.stdout)["fits"] is True
