"""E-mails (.eml): a reader of documents. The subject is the heading, and the plain text the paragraphs."""

from __future__ import annotations

import email
import email.policy

from ollama_kit.documents import DocumentFile, DocumentReader, Draft, DraftParagraph, Sure


def recognizes(file: DocumentFile) -> Sure | None:
    """By its name: an e-mail begins like any text."""
    return Sure.NAME if file.suffix == ".eml" else None


def reads(file: DocumentFile) -> tuple[Draft, int]:
    """The draft; an e-mail has no pages."""
    message = email.message_from_bytes(file.path.read_bytes(), policy=email.policy.default)
    draft = Draft([DraftParagraph(str(message["subject"] or ""), role="heading")])
    body = message.get_body(("plain",))
    for paragraph in (body.get_content() if body else "").split("\n\n"):
        draft.add(DraftParagraph(paragraph.strip()))
    return draft, 0


READER = DocumentReader(recognizes, reads)
