"""What a caller hands to a guarded call, brought to one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.images.image import Image, ImageLike

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Message:
    """One turn. Control tokens in `content` are broken unless `trusted`; `keep` forbids to drop it. `images` are files
    by path or content, or prepared ones; never URLs."""

    role: str
    content: str
    trusted: bool = False
    keep: bool = False
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    images: tuple[ImageLike, ...] = ()

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
    a prompt that the caller has rendered himself, control tokens and all; then there are no messages."""

    model: str
    messages: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    think: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    answer_tokens: int | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    raw: str | None = None


def messages_from(messages: str | Sequence[MessageLike] | MessageLike) -> tuple[Message, ...]:
    """Turns, oldest first, from a prompt, a message or a list of them ({"role", "content"} or ollama's own type).

    >>> messages_from("hi")
    (Message(role='user', content='hi', trusted=False, keep=False, tool_calls=(), images=()),)
    """
    if isinstance(messages, str):
        return (Message("user", messages),)
    if isinstance(messages, Message | Mapping):
        return (_message(messages, 0),)
    return tuple(_message(message, at) for at, message in enumerate(messages))


def documents_from(documents: Sequence[DocumentLike] | DocumentLike) -> tuple[Document, ...]:
    """Documents from texts or Documents. A name is cut to one line of at most 60 characters."""
    given = [documents] if isinstance(documents, str | Document) else documents
    made = [item if isinstance(item, Document) else Document(item) for item in given]
    return tuple(Document(item.text, _one_line(item.name) or f"{at}") for at, item in enumerate(made, 1))


def language_of(text: str) -> str:
    """ "zh" if at least a tenth of the first letters are Chinese characters, else "en"."""
    letters = [character for character in text[:4000] if character.isalpha()]
    chinese = sum("\u3400" <= character <= "\u9fff" for character in letters)
    return "zh" if letters and chinese * 10 >= len(letters) else "en"


def _message(message: Any, at: int) -> Message:
    if isinstance(message, Message):
        return message
    read = message.get if isinstance(message, Mapping) else lambda key, default=None: getattr(message, key, default)
    role, content = read("role"), read("content")
    if role not in ROLES:
        raise UsageError(f"message {at}: role must be one of {', '.join(ROLES)}, not {role!r}")
    calls = tuple(read("tool_calls") or ())
    if content is None and calls:
        content = ""
    if not isinstance(content, str):
        raise UsageError(f"message {at}: content must be text, not {type(content).__name__}")
    # An image of the ollama package's own keeps what it was made from in `value`.
    images = tuple(getattr(image, "value", image) for image in read("images") or ())
    for image in images:
        if not isinstance(image, ImageLike):
            raise UsageError(f"message {at}: an image must be a path or bytes, not {type(image).__name__}")
    return Message(role, content, bool(read("trusted") or False), bool(read("keep") or False), calls, images)


def _one_line(name: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in name.replace("]", ")"))
    return " ".join(printable.split())[:60]
