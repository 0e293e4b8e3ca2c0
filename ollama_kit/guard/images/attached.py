"""The images of a conversation, prepared before anything is asked of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ollama_kit.errors import UsageError
from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.images.image import Image, ImageLike, ImageRules
from ollama_kit.guard.images.prepare import prepare_image, refuse_url
from ollama_kit.guard.profile import Profile
from ollama_kit.modelfile.versions import supports
from ollama_kit.records.report import Finding

CAUTION = "the answer describes an image: treat it as untrusted text"
"""The note of a call with images: a picture can put words into the answer. Fed back, it is a document."""


def prepare_images(messages: Sequence[Message], rules: ImageRules) -> tuple[Message, ...]:
    """The messages with every image prepared by the rules; one that is prepared already stays as it is. A URL is
    refused before any file is read."""
    for message in messages:
        for image in message.images:
            refuse_url(image)
    return tuple(
        replace(
            message,
            images=tuple(_prepared(image, rules, number_of(at, one)) for one, image in enumerate(message.images)),
        )
        if message.images
        else message
        for at, message in enumerate(messages)
    )


def require_sight(request: Request, profile: Profile) -> None:
    """UsageError if there are images, and the model cannot see, or the server is too old to say so: it would drop
    the images silently."""
    if profile.can_see or not has_images(request):
        return
    if not supports(profile.version, "capabilities"):
        raise UsageError(f"the server ({profile.version}) is too old to say whether {request.model} can see images")
    raise UsageError(
        f"{request.model} cannot see images",
        hint=(
            "Use a model with the capability `vision`; `ollama-kit show MODEL` lists what a model can do.",
            "请换用带 `vision` 能力的模型；`ollama-kit show MODEL` 会列出模型的能力。",
        ),
    )


def has_images(request: Request) -> bool:
    """Whether any message has an image."""
    return any(message.images for message in request.messages)


def findings_of(messages: Sequence[Message]) -> tuple[Finding, ...]:
    """What was done to the images, each under its place: "message 0 image 1"."""
    return tuple(
        found
        for at, message in enumerate(messages)
        for one, image in enumerate(message.prepared_images)
        for found in image.found_as(number_of(at, one))
    )


def number_of(message: int, image: int) -> str:
    """What reports and errors call an image: its message counts from 0, as everywhere; images count from 1."""
    return f"message {message} image {image + 1}"


def _prepared(image: ImageLike, rules: ImageRules, place: str) -> Image:
    if isinstance(image, Image):
        return image
    if isinstance(image, bytes):
        return prepare_image(image, rules, name=place)
    return prepare_image(image, rules)
