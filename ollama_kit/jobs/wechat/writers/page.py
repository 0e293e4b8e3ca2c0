"""Summaries as one HTML page that needs nothing else: no script, no picture, no font, no address from outside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from ollama_kit.errors import SpecError
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers.rendering import found, render
from ollama_kit.jobs.wechat.writers.view import view_of
from ollama_kit.jobs.wechat.writers.wording import wording

TEMPLATE = "jobs/wechat/summary.html.jinja"
STYLE = "jobs/wechat/summary.css"


def write_html(summaries: Sequence[Summary]) -> str:
    """One page with each summary beside the messages it rests on, in the order given.

    Its Content-Security-Policy lets nothing run or load but its own style sheet, which it names by hash: were a text
    of the chat ever taken for markup, it could still do nothing.
    """
    from markupsafe import Markup

    style = _style()
    digest = b64encode(sha256(style.encode()).digest()).decode("ascii")
    values = {
        "views": [view_of(summary) for summary in summaries],
        "words": wording(summaries[0].language if summaries else "en", None).words,
        "style": Markup(style),
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    }
    return render(TEMPLATE, values, escape)


def _style() -> str:
    """The style sheet with LF, as it is hashed; SpecError for one that would end its element or load something."""
    path = found(STYLE)
    text = "\n" + "\n".join(path.read_text(encoding="utf-8").splitlines()) + "\n"
    for line, content in enumerate(text.split("\n")):
        for refused in ("</", "<!--", "@import", "url("):
            if refused in content.lower():
                hint = "The page stands alone: write no tag and name no file or address in it."
                raise SpecError(f"a page's style sheet may not hold {refused}", path=path, line=line, hint=hint)
    return text
