"""What a caller hands to a guarded call, brought to one form."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.images.image import Image, ImageLike
from ollama_kit.specs.model import Think

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Message:
    """One turn. Control tokens in `content` are broken unless `trusted`; `keep` forbids to drop it. `images` are files
    by path or content, or prepared ones; never URLs. `tool_name` says which tool a turn of the role "tool" is from."""

    role: str
    content: str
    trusted: bool = False
    keep: bool = False
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    images: tuple[ImageLike, ...] = ()
    tool_name: str = ""

    @property
    def prepared_images(self) -> tuple[Image, ...]:
        """The images that are ready to be sent; all of them, once the request is made."""
        return tuple(image for image in self.images if isinstance(image, Image))


@dataclass(frozen=True)
class Document:
    """A text from outside: data, never instructions. `name` is shown to the model beside it."""

    text: str
    name: str = ""


MessageLike = Message | Mapping[str, Any]
DocumentLike = Document | str


@dataclass(frozen=True)
class Request:
    """One guarded call, as asked for. `answer_tokens` bounds the answer; None leaves it what the window has. `raw` is
    a prompt that the caller has rendered, control tokens and all; then there are no messages."""

    model: str
    messages: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    think: Think = False
    options: Mapping[str, Any] = field(default_factory=dict)
    answer_tokens: int | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    raw: str | None = None


def messages_from(messages: str | Sequence[MessageLike] | MessageLike) -> tuple[Message, ...]:
    """Turns, oldest first, from a prompt, a message or a list of them ({"role", "content"} or ollama's own type).

    >>> messages_from("hi")
    (Message(role='user', content='hi', trusted=False, keep=False, tool_calls=(), images=(), tool_name=''),)
    """
    if isinstance(messages, str):
        return (Message("user", messages),)
    if isinstance(messages, Message | Mapping):
        return (_message(messages, 0),)
    return tuple(_message(message, at) for at, message in enumerate(messages))


def in_turn(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The turns with neighbors of one role as one, by a blank line: what a Go template gets anyway, and what other
    renderers need. What tools answered stays apart, and so does an answer that calls a tool.

    >>> [turn.content for turn in in_turn((Message("user", "a"), Message("user", "b")))]
    ['a\\n\\nb']
    """
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        if before is None or before.role != message.role or message.role == "tool" or before.tool_calls:
            joined.append(message)
            continue
        content = "\n\n".join(text for text in (before.content, message.content) if text)
        joined[-1] = replace(
            before,
            content=content,
            trusted=before.trusted and message.trusted,
            keep=before.keep or message.keep,
            tool_calls=message.tool_calls,
            images=(*before.images, *message.images),
        )
    return tuple(joined)


def sent_message(message: Message) -> dict[str, Any]:
    """A turn as `/api/chat` takes it."""
    calls = {"tool_calls": [dict(call) for call in message.tool_calls]} if message.tool_calls else {}
    images = {"images": [encoded(image.data) for image in message.prepared_images]} if message.images else {}
    tool = {"tool_name": message.tool_name} if message.tool_name else {}
    return {"role": message.role, "content": message.content, **calls, **images, **tool}


def encoded(data: bytes) -> str:
    """Bytes as JSON carries them: base64."""
    return base64.b64encode(data).decode("ascii")


def documents_from(documents: Sequence[DocumentLike] | DocumentLike) -> tuple[Document, ...]:
    """Documents from texts or Documents. A name is cut to one line of at most 60 characters."""
    given = [documents] if isinstance(documents, str | Document) else documents
    made = [_document(item, at) for at, item in enumerate(given)]
    return tuple(Document(item.text, _one_line(item.name) or f"{at}") for at, item in enumerate(made, 1))


def _document(item: Any, at: int) -> Document:
    document = item if isinstance(item, Document) else Document(item)
    if not isinstance(document.text, str):
        raise UsageError(
            f"document {at}: text expected, not {type(document.text).__name__}",
            hint=("Read the file first, and give its text.", "请先读取文件，再传入其文本。"),
        )
    return document


def _message(message: Any, at: int) -> Message:
    read = message.get if isinstance(message, Mapping) else lambda key, default=None: getattr(message, key, default)
    role, content = read("role"), read("content")
    if role not in ROLES:
        raise UsageError(f"message {at}: role must be one of {', '.join(ROLES)}, not {role!r}")
    calls = tuple(map(_plain, read("tool_calls") or ()))
    if content is None and calls:
        content = ""
    if not isinstance(content, str):
        raise UsageError(f"message {at}: content must be text, not {type(content).__name__}")
    # An image of the ollama package's own keeps what it was made from in `value`.
    images = tuple(getattr(image, "value", image) for image in read("images") or ())
    for image in images:
        if not isinstance(image, ImageLike):
            raise UsageError(f"message {at}: an image must be a path or bytes, not {type(image).__name__}")
    trusted, keep, tool = bool(read("trusted") or False), bool(read("keep") or False), str(read("tool_name") or "")
    return Message(role, content, trusted, keep, calls, images, tool)


def _plain(call: Any) -> Any:
    """A call of a tool as plain data; the ollama package has a class for it."""
    return call if isinstance(call, Mapping) else call.model_dump(exclude_none=True)


def _one_line(name: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in name.replace("]", ")"))
    return " ".join(printable.split())[:60]
