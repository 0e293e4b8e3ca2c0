"""`ask --image` as a user runs it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image as pillow

from tests.cli.conftest import Run
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show


@pytest.fixture
def seeing() -> Iterator[ScriptedServer]:
    """A server whose model `m` can see."""
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(info=byte_vocabulary(), template=CHATML, capabilities=["completion", "vision"])
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/chat", chat("green"))
        yield server


def test_images_go_with_the_question(run: Run, project: Path, seeing: ScriptedServer) -> None:
    """Answer on stdout; on stderr that it is untrusted, and with --report what was done to each image."""
    for name in ("照片.png", "b.bmp"):
        pillow.new("RGB", (3000, 10), (9, 99, 9)).save(project / name)
    host = {"OLLAMA_HOST": seeing.url}
    answered = run("ask", "m", "what color?", "--image", "照片.png", "--image", "b.bmp", "--report", env=host)
    assert (answered.returncode, answered.stdout) == (0, "green\n"), answered.stderr
    assert "downscaled in message 0 image 2, converted: 3000 × 10 to 1536 × 5 pixels" in answered.stderr
    assert "treat it as untrusted text" in answered.stderr
    (message,) = seeing.seen("POST", "/api/chat")[0].json["messages"]
    sizes = [pillow.open(io.BytesIO(base64.b64decode(image))).size for image in message["images"]]
    assert sizes == [(1536, 5), (1536, 5)]
    told = json.loads(run("ask", "m", "x", "--image", "b.bmp", "--json", env=host).stdout)
    assert told["report"]["findings"][0]["stage"] == "images"
    assert "treat it as untrusted text" in run("ask", "m", "x", "--image", "b.bmp", env=host).stderr


@pytest.mark.parametrize(
    ("image", "code", "said"),
    [
        ("https://example.com/a.png", 2, "https://example.com/a.png is a URL"),
        ("none.png", 2, "none.png cannot be read"),
        ("zip.png", 2, "zip.png is a ZIP archive"),
        ("large.png", 1, "large.png is 20,000 × 10,000 pixels"),
    ],
)
def test_a_wrong_image_ends_before_anything_is_asked(
    run: Run, project: Path, seeing: ScriptedServer, image: str, code: int, said: str
) -> None:
    """With the file, what it is, and the exit code of its kind."""
    from tests.guard.test_images import png

    (project / "zip.png").write_bytes(b"PK\x03\x04" + bytes(30))
    (project / "large.png").write_bytes(png(20_000, 10_000))
    ended = run("ask", "m", "x", "--image", image, env={"OLLAMA_HOST": seeing.url})
    assert ended.returncode == code
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not seeing.calls


def test_a_model_that_can_not_see_is_named(run: Run, project: Path) -> None:
    """Exit code 2, and nothing was sent."""
    pillow.new("RGB", (3, 3)).save(project / "a.png")
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML))
        ended = run("ask", "m", "x", "--image", "a.png", env={"OLLAMA_HOST": server.url})
        assert ended.returncode == 2
        assert "m cannot see images" in ended.stderr
        assert not server.seen("POST", "/api/chat")
