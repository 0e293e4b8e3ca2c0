"""The images of a conversation, prepared before anything is asked of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ollama_kit.guard.conversation import Message
from ollama_kit.guard.images.image import Image, ImageLike, ImageRules
from ollama_kit.guard.images.prepare import prepare_image, refuse_url
from ollama_kit.guard.report import Finding


def prepare_images(messages: Sequence[Message], rules: ImageRules) -> tuple[Message, ...]:
    """The messages with every image prepared by the rules; one that the caller has prepared stays as it is. A URL is
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
