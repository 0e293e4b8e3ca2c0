"""The style sheet of a page that needs nothing else: no script, no picture, no font, no address from outside."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from ollama_kit.errors import SpecError
from ollama_kit.templating import find_template, read_template


@dataclass(frozen=True, slots=True)
class Style:
    """A style sheet with LF. `policy` is the page's Content-Security-Policy, which lets nothing run or load but this
    style sheet, named by its hash: were a text from outside ever taken for markup, it could still do nothing."""

    text: str

    @property
    def policy(self) -> str:
        digest = b64encode(sha256(self.text.encode()).digest()).decode("ascii")
        return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def read_style(name: str) -> Style:
    """The style sheet of that name: the project's, the user's or the shipped one. SpecError for one that would end its
    element or load something."""
    path = find_template(name)
    text = "\n" + "\n".join(read_template(path).splitlines()) + "\n"
    for line, content in enumerate(text.split("\n")):
        for refused in ("</", "<!--", "@import", "url("):
            if refused in content.lower():
                hint = "The page stands alone: write no tag and name no file or address in it."
                raise SpecError(f"a page's style sheet may not hold {refused}", path=path, line=line, hint=hint)
    return Style(text)
