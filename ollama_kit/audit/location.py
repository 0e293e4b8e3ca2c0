"""Where the audit is, and whether there is one: what the settings say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ollama_kit import resources
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    from ollama_kit.audit.log import AuditLog

FILE_NAME = "audit.sqlite3"


def open_audit(settings: Settings) -> AuditLog | None:
    """The audit that the settings ask for, None where it is off. AuditError where it cannot be written."""
    path = audit_path(settings)
    if path is None:
        return None
    from ollama_kit.audit.log import AuditLog

    most = max(1, int(settings.audit_max_mb * 1024 * 1024))
    return AuditLog(path, settings.audit_texts, settings.audit_max_age_days, most)


def audit_path(settings: Settings) -> Path | None:
    """The file that calls are put on record in, None where the audit is off."""
    if settings.audit == "off":
        return None
    return default_path() if settings.audit == "on" else Path(settings.audit).expanduser()


def default_path() -> Path:
    """The file of `audit: on`, which names no file: in the user's own folder."""
    return resources.user_root() / FILE_NAME
