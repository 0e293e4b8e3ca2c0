"""What a job's templates give: a Markdown text, and the style sheet of a page that needs nothing else: no script, no
picture, no font, no address from outside."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ollama_kit.documents.pages.escaping import escape_markdown
from ollama_kit.errors import SpecError
from ollama_kit.templating import find_template, read_template, render_page


def render_markdown(template: str, values: Mapping[str, Any]) -> str:
    """The text of a template in which every value is shown as it is; never more than one empty line at once."""
    return re.sub(r"\n{3,}", "\n\n", render_page(template, values, escape_markdown)).strip() + "\n"


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """A style sheet with LF. `policy` is the page's Content-Security-Policy, which lets nothing run or load but this
    style sheet, named by its hash: were a text from outside ever taken for markup, it could still do nothing."""

    text: str

    @property
    def policy(self) -> str:
        digest = b64encode(sha256(self.text.encode()).digest()).decode("ascii")
        return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def read_style(name: str) -> StyleSheet:
    """The style sheet of that name: the project's, the user's or the shipped one. SpecError for one that would end its
    element or load something."""
    path = find_template(name)
    text = "\n" + "\n".join(read_template(path).splitlines()) + "\n"
    for line, content in enumerate(text.split("\n")):
        for refused in ("</", "<!--", "@import", "url("):
            if refused in content.lower():
                hint = "The page must be self-contained: no tags, files or addresses in the style sheet."
                raise SpecError(f"a page's style sheet must not contain {refused}", path=path, line=line, hint=hint)
    return StyleSheet(text)
