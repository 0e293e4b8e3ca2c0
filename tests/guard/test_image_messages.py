"""Images in a guarded call: prepared before anything is asked, sent, counted, and said in the report."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as pillow

from ollama_kit import AsyncClient, Client, Message
from ollama_kit.errors import ContextOverflow, GuardBlocked, UsageError
from ollama_kit.guard.images.prepare import prepare_image
from ollama_kit.settings import Settings
from ollama_kit.tokens.prompt import IMAGE_TOKENS
from tests.guard.conftest import CHATML, Say, byte_vocabulary
from tests.scripted import ScriptedServer, show


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A JPEG of 2,000 pixels with a camera's name in it."""
    exif = pillow.Exif()
    exif[0x010F] = "camera"
    path = tmp_path / "photo.jpg"
    pillow.new("RGB", (2000, 1000), (9, 99, 9)).save(path, exif=exif)
    return path


@pytest.fixture
def seeing(scripted: ScriptedServer) -> Iterator[Client]:
    """A client whose model can see."""
    capabilities = ["completion", "vision"]
    described = show(
        info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096", capabilities=capabilities, system=""
    )
    scripted.always("POST", "/api/show", described)
    with Client(Settings(host=scripted.url)) as opened:
        yield opened


def sent(server: ScriptedServer, at: int = -1) -> Any:
    return server.seen("POST", "/api/chat")[at].json


def test_an_image_is_sent_as_base64_of_what_was_prepared(
    seeing: Client, scripted: ScriptedServer, says: Say, photo: Path
) -> None:
    """Shrunk, without metadata; the report says both under the image's place."""
    says("green")
    result = seeing.chat("m", Message("user", "what color?", images=(photo,)))
    message = sent(scripted)["messages"][-1]
    assert (message["role"], message["content"]) == ("user", "what color?")
    (data,) = message["images"]
    pixels = pillow.open(io.BytesIO(base64.b64decode(data, validate=True)))
    assert (pixels.format, pixels.size) == ("JPEG", (1536, 768))
    assert not pixels.getexif()
    found = {(found.stage, found.rule, found.source) for found in result.report.findings}
    assert found == {
        (stage, rule, "message 0 image 1") for stage, rule in (("images", "metadata"), ("images", "downscaled"))
    }


def test_the_answer_about_an_image_is_marked_as_untrusted(seeing: Client, says: Say, photo: Path) -> None:
    """A picture can put words into it; a call without images has no such note."""
    says("green", "hi")
    looked = seeing.chat("m", Message("user", "what color?", images=(photo,)))
    assert "the answer describes an image: treat it as untrusted text" in looked.report.notes
    assert not any("image" in note for note in seeing.chat("m", "hello").report.notes)


def test_an_image_is_counted_and_the_count_is_called_approximate(
    seeing: Client, scripted: ScriptedServer, says: Say, photo: Path
) -> None:
    """Each by what the server itself assumes; so many that they do not fit are never sent."""
    says("ok", "ok")
    none = seeing.chat("m", "hello").report.predicted_tokens
    report = seeing.chat("m", Message("user", "hello", images=(photo, photo))).report
    assert report.predicted_as == "approximate"
    assert none < report.predicted_tokens - 2 * IMAGE_TOKENS + 60
    with pytest.raises(ContextOverflow):
        seeing.chat("m", Message("user", "hello", images=(photo,) * 6))
    assert len(scripted.seen("POST", "/api/chat")) == 2


def test_paths_bytes_prepared_images_and_mappings_are_taken(
    seeing: Client, scripted: ScriptedServer, says: Say, photo: Path
) -> None:
    """Ollama's own message form too. What the caller has prepared by his own rules stays as it is."""
    import ollama

    from ollama_kit.guard.images.image import ImageRules

    own = prepare_image(photo, ImageRules(longest_side=20))
    forms: list[Any] = [
        *(Message("user", "x", images=(image,)) for image in (photo, str(photo), photo.read_bytes())),
        {"role": "user", "content": "x", "images": [str(photo)]},
        [ollama.Message(role="user", content="x", images=[ollama.Image(value=photo)])],
    ]
    says(*["ok"] * (len(forms) + 1))
    for form in forms:
        seeing.chat("m", form)
    assert len({body["images"][0] for at in range(len(forms)) for body in sent(scripted, at)["messages"]}) == 1
    seeing.chat("m", Message("user", "x", images=(own,)))
    assert base64.b64decode(sent(scripted)["messages"][0]["images"][0]) == own.data


def test_a_model_that_can_not_see_is_not_sent_an_image(client: Client, scripted: ScriptedServer, photo: Path) -> None:
    """The server would leave it out, or answer 400; we name the model."""
    with pytest.raises(UsageError, match="m cannot see images"):
        client.chat("m", Message("user", "x", images=(photo,)))
    assert not scripted.seen("POST", "/api/chat")


def test_a_server_that_does_not_tell_is_not_sent_one_either(says: Say, photo: Path) -> None:
    """Before 0.6.4 nobody knows whether the image would be looked at."""
    with ScriptedServer(version="0.6.3", models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, capabilities=[]))
        with Client(Settings(host=server.url)) as client, pytest.raises(UsageError, match="too old"):
            client.chat("m", Message("user", "x", images=(photo,)))
        assert not server.seen("POST", "/api/chat")


@pytest.mark.parametrize("wrong", ["https://example.com/a.png", b"%PDF-1.7", 5, "none.png"])
def test_a_wrong_image_is_refused_before_anything_is_asked(
    client: Client, scripted: ScriptedServer, photo: Path, wrong: Any
) -> None:
    """Blocking or awaited: the server hears nothing."""
    message = (
        Message("user", "x", images=(photo, wrong)) if wrong != 5 else {"role": "user", "content": "x", "images": [5]}
    )
    with pytest.raises(UsageError):
        client.chat("m", message)

    async def ask() -> None:
        async with AsyncClient(Settings(host=scripted.url)) as awaited:
            await awaited.chat("m", message)

    with pytest.raises(UsageError):
        asyncio.run(ask())
    assert not scripted.calls


def test_the_bounds_of_an_image_are_the_policys(
    seeing: Client, scripted: ScriptedServer, says: Say, photo: Path
) -> None:
    """Its side, its pixels and its bytes."""
    says("ok")
    seeing.chat("m", Message("user", "x", images=(photo,)), policy={"image_side": 100})
    pixels = pillow.open(io.BytesIO(base64.b64decode(sent(scripted)["messages"][0]["images"][0])))
    assert pixels.size == (100, 50)
    for policy in ({"image_megapixels": 1.9}, {"image_megabytes": 0.001}):
        with pytest.raises(GuardBlocked) as caught:
            seeing.chat("m", Message("user", "x", images=(photo,)), policy=policy)
        assert caught.value.stage == "images"
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_text_can_not_move_or_name_an_image(seeing: Client, scripted: ScriptedServer, says: Say, photo: Path) -> None:
    """`[img-7]` in a document would end the call, `[img]` would draw the picture into the text of an outsider."""
    says("ok")
    result = seeing.chat("m", Message("user", "see [img]", images=(photo,)), documents="a [img-7] b [img] c")
    content = sent(scripted)["messages"][0]["content"]
    assert "[img" not in content
    assert content.count("[\u200bimg") == 3
    assert sum(found.stage == "control_tokens" for found in result.report.findings) == 3


def test_a_retry_still_has_the_image(seeing: Client, scripted: ScriptedServer, says: Say, photo: Path) -> None:
    """What is said about a failed answer is added; the picture stays where it was."""
    says("no", '{"task": "a"}')
    schema = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}
    seeing.chat("m", Message("user", "x", images=(photo,)), schema=schema)
    first, second = sent(scripted, 0)["messages"], sent(scripted, 1)["messages"]
    assert first[0]["images"] == second[0]["images"]
    assert [turn["role"] for turn in second] == ["user", "assistant", "user"]
    assert not any("images" in turn for turn in second[1:])
