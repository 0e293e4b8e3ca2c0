"""Templates people have published: read where they are at hand, never copied."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ollama_kit.tokens.chat_template import ChatTemplate, RenderInput, TemplateBeyondSubset, Turn

SHARED = Path(os.environ.get("OLLAMA_KIT_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data")
FOLDER = SHARED / "public" / "modelfiles" / "real"
TEMPLATE = re.compile(r'^TEMPLATE[ \t]+(?:"""(.*?)"""|"(.*?)"[ \t]*$)', re.IGNORECASE | re.DOTALL | re.MULTILINE)


def published() -> list[str]:
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in sorted(FOLDER.iterdir()))
    return [first or second for text in texts for first, second in TEMPLATE.findall(text)]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the public Modelfiles are not beside this repository")
def test_published_templates_render_or_are_beyond_the_subset() -> None:
    """Each published TEMPLATE renders a chat with the user's words in it, or says that it cannot."""
    templates = published()
    assert len(templates) > 15
    beyond = 0
    for template in templates:
        try:
            prompt = ChatTemplate.parse(template).render(RenderInput((Turn("user", "Wie geht's?"),)))
        except TemplateBeyondSubset:
            beyond += 1
        else:
            assert "Wie geht's?" in prompt
    assert beyond * 5 < len(templates)
