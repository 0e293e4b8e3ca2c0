"""The README's table of stages is the pipeline's own list, its table of commands that of --help."""

from __future__ import annotations

import re

from ollama_kit.guard.options import Number, Option, Words
from ollama_kit.guard.pipeline import STAGES, Stage
from ollama_kit.guard.policy import Policy, load_policy
from ollama_kit.plugins import COMMANDS, JOBS, SHIPPED
from tests.written_pages import ROOT, held_block, read

README = ROOT / "README.md"


def test_the_table_of_stages_is_the_pipelines_list() -> None:
    """In its order, with every key of a policy, what it may hold, and what `standard` says in bold."""
    standard = load_policy("standard")
    rows = [f"| {stage.name} | {stage.direction} | {keys_of(stage, standard)} | {stage.summary} |" for stage in STAGES]
    held_block(README, "stages", ["| stage | on | in a policy | what it does |", "|---|---|---|---|", *rows])


def keys_of(stage: Stage, policy: Policy) -> str:
    """The keys of a stage with the words that each may hold, the policy's in bold."""
    return "<br>".join(f"`{key}`: {words_of(option, policy.setting(key))}" for key, option in stage.keys.items())


def words_of(option: Option, now: object) -> str:
    if isinstance(option, Words):
        return ", ".join(f"**{word}**" if word == now else word for word in option.words)
    if isinstance(option, Number):
        return "a number"
    assert now is None
    return option.said


def test_the_table_of_commands_names_each_that_ships() -> None:
    section = read(README).partition("\n## Commands\n")[2].partition("\n## ")[0]
    named = [name for cell in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in cell.split()]
    assert sorted(name.strip("`") for name in named) == sorted({**SHIPPED[COMMANDS], **SHIPPED[JOBS]})
