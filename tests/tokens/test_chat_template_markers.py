"""Which pieces of a template mark a turn, and so may not be written by outsiders."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.tokens.chat_template import turn_markers

DATA = Path(__file__).parent.parent / "data" / "chat_templates"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chatml", {"<|im_start|>", "<|im_end|>"}),
        ("chatml_turns", {"<|im_start|>", "<|im_end|>"}),
        ("llama2", {"[INST]", "<<SYS>>", "<</SYS>>", "[/INST]", "</s>"}),
        ("llama3", {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}),
        ("gemma", {"<start_of_turn>", "<end_of_turn>"}),
        ("alpaca", {"### Instruction:", "### Response:"}),
        ("vicuna", {"USER:", "ASSISTANT:"}),
        ("phi3", {"<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|end|>"}),
        (
            "mistral_tools",
            {"[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[INST]", "[/INST]", "</s>", "[TOOL_CALLS]",
             "[TOOL_RESULTS]", "[/TOOL_RESULTS]"},
        ),
        (
            "command_r",
            {"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>",
             "<|END_OF_TURN_TOKEN|>"},
        ),
        ("deepseek", {"<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<think>", "</think>"}),
    ],
)  # fmt: skip
def test_the_popular_forms(name: str, expected: set[str]) -> None:
    """Each popular form gives exactly the marks of its turns: no role names, no prose."""
    assert set(turn_markers((DATA / f"{name}.gotmpl").read_text(encoding="utf-8"))) == expected


def test_tags_inside_prose_are_not_markers() -> None:
    """A tag in the middle of an instruction is prose; the same tag on a line of its own is structure."""
    found = turn_markers((DATA / "qwen3_tools.gotmpl").read_text(encoding="utf-8"))
    assert {"<|im_start|>", "<|im_end|>", "<tools>", "</tools>", "<tool_call>", "<tool_response>"} <= set(found)
    assert not {"<name>", "<object>", "system", "user", "assistant"} & set(found)


def test_a_sentence_that_ends_in_a_colon_is_no_label() -> None:
    """A label has four words at most."""
    assert turn_markers("Answer the question as well as you can, please: {{ .Prompt }}") == ()


def test_a_caption_of_a_list_is_no_label() -> None:
    """`Args:` before a range captions what follows; `User:` before the user's words marks a turn."""
    assert turn_markers("Args:{{ range .Tools }}{{ . }}{{ end }}User: {{ .Prompt }}") == ("User:",)


def test_headings_of_other_signs_count() -> None:
    """Some models use `@@` for what others use `###`."""
    assert turn_markers("@@ Instruction\n{{ .Prompt }}\n\n@@ Response\n") == ("@@ Instruction", "@@ Response")


def test_markers_printed_from_string_literals_count() -> None:
    """`{{ "<|x|>" }}` marks a turn as much as plain text does."""
    assert turn_markers('{{ "<|im_start|>" }}user{{ .Prompt }}{{ print "<|im_end|>" .Response }}') == (
        "<|im_start|>",
        "<|im_end|>",
    )


@pytest.mark.parametrize("broken", ["{{ frobnicate }}", "{{ if .Prompt }}", "{{ end }}"])
def test_a_template_that_can_not_be_parsed_still_gives_its_markers(broken: str) -> None:
    """The guard must not lose its markers because of a function that is not known here."""
    assert turn_markers(f"[INST] {{{{ .Prompt }}}} [/INST]{broken}") == ("[INST]", "[/INST]")


def test_a_template_without_marks_gives_none() -> None:
    """The default template marks nothing."""
    assert turn_markers("{{ .Prompt }}") == turn_markers("") == ()
