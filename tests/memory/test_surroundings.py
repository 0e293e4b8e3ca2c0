"""What stands round a plan: the memory at hand, the spec that is written, the picture, the model that a name means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ModelMissing, ProtocolError, ServerUnreachable, SpecError, SpecNotFound, UsageError
from ollama_kit.memory.available import NVIDIA, ROCM, memory_at_hand
from ollama_kit.memory.loaded import compare
from ollama_kit.memory.picture import segments, svg
from ollama_kit.memory.plan import make_plan
from ollama_kit.memory.quantities import GIB, MIB, read_bytes
from ollama_kit.memory.qwen_table import cataloged
from ollama_kit.memory.setup import Setup
from ollama_kit.memory.sources import find_subject, of_show
from ollama_kit.memory.spec_file import set_context, with_context
from ollama_kit.server.facts import RunningModel
from ollama_kit.server.server import Server
from ollama_kit.specs.source import parse_yaml
from tests.intensity import examples
from tests.memory.measured import shapes
from tests.scripted import ScriptedServer, as_json, error

NOBODY = "http://127.0.0.1:9"


def asked(command: Sequence[str], said: dict[tuple[str, ...], str]) -> str:
    return said.get(tuple(command), "")


def test_the_settings_come_before_the_card(tmp_path: Path) -> None:
    """And are refused with their own name where they are no amount."""
    found = memory_at_hand("8GiB", local=True, ask=lambda _: "card, 999999")
    assert found is not None
    assert (found.size_bytes, found.is_card) == (8 * GIB, True)
    with pytest.raises(UsageError, match="'a lot'"):
        memory_at_hand("a lot", local=True)


def test_the_largest_card_is_taken() -> None:
    """What nvidia-smi prints, MiB without a unit; a card that does not tell is passed by."""
    text = "NVIDIA GeForce RTX 3060, 12288\nNVIDIA GeForce RTX 4090, 24564\nNVIDIA Thing, [N/A]\n"
    found = memory_at_hand(None, local=True, ask=lambda command: asked(command, {NVIDIA: text}))
    assert found is not None
    assert found.size_bytes == 24_564 * MIB
    assert found.source == "nvidia-smi: NVIDIA GeForce RTX 4090, the largest of 2"


def test_rocm_and_the_kernel_tell_too(tmp_path: Path) -> None:
    """rocm-smi's JSON; without it the file of the amdgpu driver."""
    told = '{"card0": {"VRAM Total Memory (B)": "17163091968", "VRAM Total Used Memory (B)": "1"}}'
    found = memory_at_hand(None, local=True, ask=lambda command: asked(command, {ROCM: told}))
    assert found is not None
    assert found.size_bytes == 17_163_091_968
    device = tmp_path / "class" / "drm" / "card1" / "device"
    device.mkdir(parents=True)
    (device / "mem_info_vram_total").write_text("8573157376\n", encoding="ascii")
    for broken in ("", "no json", "[1]", '{"card0": 3}'):
        found = memory_at_hand(None, local=True, ask=lambda _, text=broken: text, sysfs=tmp_path)  # type: ignore[misc]
        assert found is not None
        assert (found.size_bytes, found.source) == (8_573_157_376, "amdgpu: card1")


def test_without_a_card_it_is_ram_and_elsewhere_nobody_knows(tmp_path: Path) -> None:
    """A server on another machine has a memory that cannot be asked for from here."""
    found = memory_at_hand(None, local=True, ask=lambda _: "", sysfs=tmp_path)
    assert found is not None
    assert not found.is_card
    assert found.size_bytes > 100 * MIB
    assert memory_at_hand(None, local=False, ask=lambda _: "card, 999999") is None


@pytest.mark.parametrize("text", ["", "8", "8 apples", "-8GiB", "1e9GiB", "GiB", "99999999999TiB"])
def test_what_is_no_amount(text: str) -> None:
    """A number without a unit is bytes, and too few to be meant."""
    with pytest.raises(UsageError):
        read_bytes(text)


SPEC = """\
# 中文注释
spec: 1
from: qwen3:4b               # a model
context: 8192                # tokens; keep this comment
system: |
  context: 1
parameters: {temperature: 0.7}
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_context_changes_in_a_spec(tmp_path: Path, encoding: str, newline: str) -> None:
    """Comments, order, encoding and line ends stay; nothing is left beside the file."""
    path = tmp_path / "mine.yaml"
    before = SPEC.replace("\n", newline)
    path.write_bytes(before.encode(encoding))
    assert set_context(path, 12_032)
    assert path.read_bytes().decode(encoding) == before.replace("8192", "12032")
    assert not set_context(path, 12_032)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("spec: 1\nextends: a\n", "spec: 1\nextends: a\ncontext: 9\n"),
        ("spec: 1\nfrom: a", "spec: 1\nfrom: a\ncontext: 9\n"),
        ("context:   # none yet\nspec: 1\n", "context: 9   # none yet\nspec: 1\n"),
        ("'context': 0x10\nspec: 1\n", "'context': 9\nspec: 1\n"),
    ],
)
def test_a_context_is_put_in_where_there_is_none(text: str, after: str) -> None:
    """After `from`, else `extends`, else `spec`."""
    assert with_context(text, 9) == after
    assert parse_yaml(after, Path("x")).data["context"] == 9


def test_what_is_not_one_key_a_line_is_not_changed() -> None:
    """It would have to be written anew."""
    for text in ("{spec: 1, from: a}", "- 1\n", "vars: {}\n"):
        with pytest.raises(SpecError):
            with_context(text, 9)


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(256, 262_144), st.sampled_from([None, 2, 8, 16, 24, 48]), st.booleans())
def test_the_bar_is_as_wide_as_the_memory(context: int, gib: int | None, on_card: bool) -> None:
    """Each part that is there shows; what is free shows as free."""
    shape = cataloged("qwen3.6:27b")
    assert shape is not None
    plan = make_plan(shape, Setup(context, on_card=on_card))
    memory = None if gib is None else gib * GIB
    found = segments(plan, memory, 60)
    assert abs(sum(segment.width for segment in found) - 60) <= 4
    sizes = [part for part in plan.parts if (part.card_bytes if on_card else part.host_bytes)]
    assert [segment.name for segment in found if segment.name] == [part.name for part in sizes]
    drawn = ElementTree.fromstring(svg(plan, memory))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}text")) == 1 + len(sizes)


def show_reply(name: str, **changed: object) -> dict[str, object]:
    """A verbose reply of /api/show for a measured shape."""
    shape = shapes()[name]
    info = {
        "general.architecture": shape.architecture,
        "qwen3.block_count": len(shape.layers),
        "qwen3.context_length": shape.trained_context,
        "qwen3.embedding_length": shape.embedding,
        "qwen3.feed_forward_length": shape.ff,
        "qwen3.attention.head_count": shape.heads,
        "qwen3.attention.head_count_kv": shape.kv_heads,
        "qwen3.attention.key_length": shape.key_length,
        "qwen3.attention.value_length": shape.value_length,
        "tokenizer.ggml.tokens": ["a"],
    }
    tensors = [{"name": t.name, "type": t.type, "shape": list(t.shape)} for t in shape.tensors]
    return {"model_info": info, "tensors": tensors, "parameters": "num_ctx    16384\nnum_gpu    20", **changed}


def test_a_shown_model_is_planned_like_its_file() -> None:
    """The server's num_ctx and num_gpu are the plan's, where nothing else is asked for."""
    subject = of_show("mine", show_reply("qwen3-8b"))
    assert subject.shape.tensors == shapes()["qwen3-8b"].tensors
    setup = subject.setup(context=None, parallel=2)
    assert (setup.context, setup.gpu_layers, setup.parallel, setup.flash) == (16_384, 20, 2, True)
    assert make_plan(subject.shape, Setup(8192)).parts == make_plan(shapes()["qwen3-8b"], Setup(8192)).parts
    seeing = of_show("mine", show_reply("qwen3-8b", projector_info={"clip.has_vision_encoder": True}))
    assert any("projector" in note for note in seeing.shape.notes)
    with pytest.raises(ProtocolError, match="does not list the tensors"):
        of_show("mine", show_reply("qwen3-8b", tensors=None))
    assert of_show("qwen3:8b", show_reply("qwen3-8b", tensors=None)).shape.tensor_bytes > 0


def test_what_a_name_means() -> None:
    """A spec first, then the server's model, then the table; without a server the table is enough."""
    with Server.at(NOBODY, {}) as server:
        assert find_subject("qwen3.6:27b", server).shape.architecture == "qwen35"
        spec = find_subject("qwen3-27b-custom", server)
        assert (spec.context, spec.spec is not None) == (8192, True)
        with pytest.raises(ServerUnreachable):
            find_subject("llama3:8b", server)
        with pytest.raises(SpecNotFound):
            find_subject("nowhere/x.yaml", server)
    with ScriptedServer(version="0.33.0") as scripted, Server.at(scripted.url, {}) as server:
        scripted.on("POST", "/api/show", as_json(show_reply("qwen3-8b")), error(404, "model 'x' not found"))
        assert find_subject("mine", server).engine == "b10488"
        with pytest.raises(ModelMissing, match=r"qwen3\.6:27b"):
            find_subject("x", server)


def test_hybrids_get_one_slot_and_no_context_past_the_trained_one() -> None:
    """As Ollama gives them."""
    with Server.at(NOBODY, {}) as server:
        subject = find_subject("qwen3.6:27b", server)
    setup = subject.setup(parallel=4, context=10**6)
    assert (setup.parallel, setup.context) == (1, 262_144)


@pytest.mark.parametrize(("more", "agrees"), [(0, True), (40 * MIB, True), (2 * GIB, False)])
def test_a_loaded_model_is_compared_with_its_plan(more: int, agrees: bool) -> None:
    """/api/ps counts the buffers on the card; within 3 % or 64 MiB it agrees."""
    subject = of_show("mine", show_reply("qwen3-8b", parameters=""))
    plan = make_plan(subject.shape, Setup(8192, "q8_0", 2, batch=1024))
    size = plan.reported_bytes + more
    found = compare(RunningModel("mine", "d", size, size, 8192), subject)
    assert found.agrees is agrees
    if not more:
        assert found.plan.setup.kv_cache == "q8_0"
