"""Images made safe to send: their real type by content, bounded before they are decoded, shrunk, without metadata.

    image     the values: an image ready to send, and the bounds it is kept to
    header    what a file says of itself before anything is decoded: format, size, EXIF
    prepare   a file → an image; the only place that imports Pillow
    attached  the images of a conversation

Public names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.images.image import Image as Image, ImageLike as ImageLike, ImageRules as ImageRules
    from ollama_kit.guard.images.prepare import prepare_image as prepare_image
else:
    __getattr__, __dir__ = exports(__name__)
