"""Images made safe to send: their real type by content, bounded before they are decoded, shrunk, without metadata."""

from __future__ import annotations
