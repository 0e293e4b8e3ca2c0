"""The record of guarded calls: one row per call in a SQLite file, off unless the settings turn it on.

    audit: on                    or a path; OLLAMA_KIT_AUDIT
    audit_texts: false           the second switch: the texts too, as the caller gave them, before anything is hidden
    audit_max_age_days: 365      older rows go
    audit_max_mb: 512            the oldest rows beyond go

A call begins when its texts reach the guards: it then has a row however it ends. One that failed before (no such
model or server, an invalid schema or policy) sent nothing, and has no row. A row that cannot be written ends the
call in AuditError: no answer without a record.
"""
