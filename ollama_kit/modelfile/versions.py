"""Versions of an Ollama server, as far as they decide what it understands."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSION = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?P<rest>[-+.][0-9A-Za-z.+-]*)?", re.ASCII)


@dataclass(frozen=True, order=True)
class ServerVersion:
    """major.minor.patch. A release candidate counts as its release: it has what the release has.

    0.0.0 is what a server built from source reports; it is taken to know everything.
    """

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> ServerVersion:
        """The version that a server reports, without its suffix. ValueError if it is not one.

        >>> str(ServerVersion.parse("0.33.0-rc1"))
        '0.33.0'
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"not a version of Ollama: {text[:80]!r} (expected something like 0.9.3)")
        return cls(int(match[1]), int(match[2]), int(match[3] or 0))

    @property
    def is_development(self) -> bool:
        return self == ServerVersion(0, 0, 0)

    def reaches(self, since: ServerVersion | None) -> bool:
        """Whether this server has what came with `since` (None: what was always there)."""
        return since is None or self.is_development or self >= since

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"
