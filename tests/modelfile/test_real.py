"""The real `ollama create` as the judge of our reader, writer and rendering."""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollama_kit.errors import ModelfileError
from ollama_kit.modelfile import (
    Command,
    CreateRequest,
    Modelfile,
    ServerVersion,
    create_request,
    create_request_from_spec,
    kept,
    read_modelfile,
    render_modelfile,
    write_modelfile,
)
from ollama_kit.specs.model import Message, ModelSpec
from tests.modelfile.vectors import load
from tests.realserver import api

if TYPE_CHECKING:
    from tests.realserver.process import RealServer

pytestmark = pytest.mark.real

TARGET = ServerVersion(0, 9, 3)
HOSTILE = load("hostile.json")
SPECS: tuple[dict[str, Any], ...] = (
    {},
    {"system": ' "Hi" \n\t你好😀\r\n'},
    {"system": '""', "context": 4096},
    {"parameters": {"temperature": 0.123456789, "top_p": 1, "seed": 2**60, "use_mmap": True}},
    {"parameters": {"stop": ("a ", '"', "\n"), "min_p": 0}},
    {"messages": (Message("user", " q: r\n"), Message("assistant", '"a"')), "license": ("MIT\n", "two")},
    {"template": '{{ if .System }}{{ .System }}\n{{ end }}"{{ .Prompt }}" '},
)


def hostile_modelfiles(base: str, ending: str, count: int) -> list[str]:
    """Small hostile Modelfiles, the same ones every time."""
    chance = random.Random(20)
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(chance.randint(1, 2)):
            quotes = chance.choice(["", '"', '"""', '"""'])
            inside = "".join(chance.choice(HOSTILE["pieces"]) for _ in range(chance.randint(0, 4)))
            end = chance.choice(["\n", "\n", "\r\n", "\r", " \n", "\u3000\n"])
            parts.append(chance.choice(HOSTILE["starts"]) + quotes + inside + chance.choice([quotes] * 3 + [""]) + end)
        parts.insert(0 if chance.random() < 0.7 else len(parts), f"FROM {base}\n")
        texts.append("".join(parts).replace("\n", ending))
    return texts


def create(server: RealServer, name: str, text: str, folder: Path) -> str | None:
    """None if `ollama create -f` made the model, else what it said."""
    path = folder / "Modelfile"
    path.write_bytes(text.encode("utf-8"))
    done = subprocess.run(
        [str(server.binary), "create", name, "-f", str(path)],
        env=dict(server.env),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )
    return None if done.returncode == 0 else done.stderr or "failed"


def asked(text: str) -> CreateRequest | ModelfileError:
    """What the text asks a server of that version for, or why it is refused."""
    try:
        return create_request(read_modelfile(text), target=TARGET)
    except ModelfileError as error:
        return error


def show(server: RealServer, name: str) -> dict[str, Any]:
    """What the server has under that name."""
    shown: dict[str, Any] = api.call(server.url, "POST", "/api/show", {"model": name})
    return shown


def digest(server: RealServer, name: str) -> str:
    """The digest of a model's manifest."""
    tags = api.call(server.url, "GET", "/api/tags")
    return next(str(model["digest"]) for model in tags["models"] if model["name"] == f"{name}:latest")


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_the_reader_takes_and_refuses_what_ollama_does(
    real_server: RealServer, tiny_smollm: str, tmp_path: Path, ending: str
) -> None:
    """On hostile files both agree on accept or refuse, and on every text of those that were accepted."""
    accepted = 0
    for text in hostile_modelfiles(tiny_smollm, ending, 40):
        theirs = create(real_server, "read", text, tmp_path)
        ours = asked(text)
        assert (theirs is None) == isinstance(ours, CreateRequest), (text, theirs, ours)
        if isinstance(ours, ModelfileError):
            continue
        accepted += 1
        shown = show(real_server, "read")
        assert shown.get("system", "") == kept(ours.system or ""), text
        messages = [(message["role"], message.get("content", "")) for message in shown.get("messages") or []]
        assert messages == [(message.role, kept(message.content)) for message in ours.messages], text
    assert 5 <= accepted <= 35


def test_what_the_writer_writes_is_what_ollama_stores(
    real_server: RealServer, tiny_smollm: str, tmp_path: Path
) -> None:
    """Texts with quotes, blanks and line ends at both ends come back unchanged from the server."""
    for text in HOSTILE["carried"]:
        written = write_modelfile(Modelfile((Command("from", tiny_smollm), Command("system", text))))
        assert create(real_server, "written", written, tmp_path) is None, text
        assert show(real_server, "written")["system"] == text


def test_what_the_writer_refuses_ollama_would_change(real_server: RealServer, tiny_smollm: str, tmp_path: Path) -> None:
    """The refused texts, written all the same, are refused by Ollama or come back different."""
    for text in HOSTILE["not_carried"]:
        with pytest.raises(ModelfileError):
            write_modelfile(Modelfile((Command("from", tiny_smollm), Command("system", text))))
        raw = f'FROM {tiny_smollm}\nSYSTEM """{text}"""\n'
        if create(real_server, "refused", raw, tmp_path) is None:
            assert show(real_server, "refused")["system"] != text


@pytest.mark.parametrize("changes", SPECS, ids=range(len(SPECS)))
def test_a_rendered_file_and_the_request_make_the_same_model(
    real_server: RealServer, tiny_smollm: str, tmp_path: Path, changes: dict[str, Any]
) -> None:
    """`ollama create -f` on the rendered text gives the manifest digest that /api/create gives on the request."""
    spec = replace(ModelSpec(name="same", base=tiny_smollm), **changes)
    assert create(real_server, "by-file", render_modelfile(spec, TARGET), tmp_path) is None
    body = create_request_from_spec(spec, TARGET).body("by-api")
    api.call(real_server.url, "POST", "/api/create", {**body, "stream": False})
    assert digest(real_server, "by-file") == digest(real_server, "by-api")
