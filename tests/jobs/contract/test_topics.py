"""The words that are looked for on each topic."""

from __future__ import annotations

import re

import pytest

from ollama_kit.jobs.contract.topics import PROVISIONS, TOPICS, searched_for, stems_of
from ollama_kit.jobs.contract.writers.report_json import facts_as_dict
from tests.jobs.contract.samples import facts_of


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_searched_is_plain_text_in_both_languages(topic: str) -> None:
    """Nothing of a pattern; … stands for any ending, and is left out of the stems."""
    words = searched_for(topic)
    assert any(re.search("[\u4e00-\u9fff]", word) for word in words)
    assert any(word.isascii() or word.endswith("…") for word in words)
    assert not [word for word in words if re.search(r"[|()\[\]?*\\]", word)]
    if topic in PROVISIONS:
        assert all(word == word.lower() and "…" not in word for word in stems_of(topic))


def test_an_absent_provision_says_what_was_searched() -> None:
    """A found one too."""
    provisions = facts_as_dict(facts_of("本合同期满自动续期一年。\n"))["provisions"]
    assert list(provisions) == list(PROVISIONS)
    assert (provisions["renewal"]["state"], len(provisions["renewal"]["items"])) == ("found", 1)
    assert (provisions["tax"]["state"], provisions["tax"]["items"]) == ("absent", [])
    assert all(provisions[topic]["searched"] == list(searched_for(topic)) for topic in PROVISIONS)
