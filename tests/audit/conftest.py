"""The guard tests' scripted model."""

from __future__ import annotations

from tests.guard.conftest import says, scripted

__all__ = ["says", "scripted"]
