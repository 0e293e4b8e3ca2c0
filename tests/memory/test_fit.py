"""What fits: against trying every context and every number of layers."""

from __future__ import annotations

import pytest

from ollama_kit.memory.available import Memory
from ollama_kit.memory.fitting import Fitting, answer, cards, changes, smaller_quantization
from ollama_kit.memory.plan import Extras, make_plan
from ollama_kit.memory.quantities import GIB, MIB
from ollama_kit.memory.qwen_table import cataloged, cataloged_names
from ollama_kit.memory.setup import CACHE_TYPES, CacheType, Setup, automatic_batch
from ollama_kit.memory.shape import ModelShape
from tests.memory.measured import shapes

TABLE = {
    "qwen3.6:27b": "qwen3.6-27b",
    "qwen3.5:27b-q4_K_M": "qwen3.6-27b",
    "qwen3.6:35b": "qwen3.6-35b-a3b",
    "library/qwen3.6:35b-a3b": "qwen3.6-35b-a3b",
    "qwen3:30b-a3b": "qwen3-30b-a3b",
    "qwen3:32b": "qwen3-32b",
    "qwen3:14b": "qwen3-14b",
    "qwen3:8b": "qwen3-8b",
    "qwen3:8b-q8_0": "qwen3-8b-q8_0",
    "qwen3:4b": "qwen3-4b",
}


def known(name: str) -> ModelShape:
    shape = cataloged(name)
    assert shape is not None
    return shape


@pytest.mark.parametrize(("tag", "measured"), TABLE.items())
def test_the_table_has_the_measured_shapes(tag: str, measured: str) -> None:
    """Tensor by tensor, though it is made from a dozen dimensions."""
    ours, theirs = known(tag), shapes()[measured]
    assert set(ours.tensors) == set(theirs.tensors)
    for setup in (Setup(8192), Setup(65_536, "q8_0", batch=1024)):
        assert make_plan(ours, setup).parts == make_plan(theirs, setup).parts


def test_every_name_of_the_table_is_planned() -> None:
    """And a name that is not in it is None."""
    for name in cataloged_names():
        assert make_plan(known(name), Setup(4096)).card_bytes > 0
    assert cataloged("llama3:8b") is None
    assert known("qwen3.6:27b-q8_0").tensor_bytes > 1.5 * known("qwen3.6:27b").tensor_bytes


@pytest.mark.parametrize("cache", CACHE_TYPES)
@pytest.mark.parametrize(("name", "gib"), [("qwen3:8b", 8), ("qwen3:8b", 12), ("qwen3.6:27b", 24), ("qwen3:4b", 6)])
def test_the_longest_context_is_the_longest(name: str, gib: float, cache: CacheType) -> None:
    """By trying each, with the batch that Ollama would take at each."""
    shape, memory = known(name), int(gib * GIB)
    found = Fitting(shape, Setup(4096, cache)).longest_context(memory)
    assert found
    fitting = [
        context
        for context in range(256, shape.trained_context + 1, 256)
        if make_plan(shape, Setup(context, cache), memory).needed_bytes <= memory
    ]
    assert found == max(fitting)


def test_layers_that_fit_are_the_most() -> None:
    """One more would not fit, and what is not on the card is on the host."""
    fitting = Fitting(known("qwen3.6:27b"), Setup(8192))
    fit = fitting.at(8 * GIB)
    assert not fit.fits
    assert 0 < fit.layers < fit.layers_in_all == 65
    assert fitting.with_(gpu_layers=fit.layers).fits(8 * GIB)
    assert not fitting.with_(gpu_layers=fit.layers + 1).fits(8 * GIB)
    assert fit.contexts == {"f16": 0, "q8_0": 0, "q4_0": 0}
    assert fit.host_bytes > 8 * GIB


def test_more_memory_never_holds_less() -> None:
    """Contexts and layers grow with the card."""
    found = cards(Fitting(known("qwen3:14b"), Setup(8192)))
    assert [fit.memory_bytes // GIB for fit in found] == [6, 8, 12, 16, 24, 48, 80]
    for cache in CACHE_TYPES:
        longest = [fit.contexts[cache] for fit in found]
        assert longest == sorted(longest)
    assert [fit.layers for fit in found] == sorted(fit.layers for fit in found)


def test_slots_and_extras_cost_what_they_hold() -> None:
    """Four slots have four caches; a projector and a draft model stand beside."""
    shape = known("qwen3:8b")
    one, four = (make_plan(shape, Setup(4096, parallel=slots)) for slots in (1, 4))
    assert four.part("kv cache").card_bytes == 4 * one.part("kv cache").card_bytes
    beside = make_plan(shape, Setup(4096), None, Extras(projector_bytes=10 * MIB, draft_bytes=20 * MIB))
    assert beside.card_bytes - one.card_bytes == 30 * MIB
    assert beside.part("vision projector").card_bytes == 10 * MIB


@pytest.mark.parametrize(
    ("context", "gib", "batch"),
    [
        (4096, None, 512),
        (8192, None, 1024),
        (65_536, None, 2048),
        (65_536, 80, 2048),
        (8192, 24, 1024),
        (8192, 16, 512),
    ],
)
def test_ollamas_own_batch(context: int, gib: int | None, batch: int) -> None:
    """512; more for a long context, where the memory has room for it (ollama server/sched.go)."""
    memory = None if gib is None else gib * GIB
    assert automatic_batch(known("qwen3.6:27b"), Setup(context), memory) == batch


def test_the_changes_that_are_enough_come_first() -> None:
    """Then by what they save; each is what a plan with it says."""
    fitting = Fitting(known("qwen3.6:27b"), Setup(16_384, parallel=1))
    found = changes(fitting, 16 * GIB)
    assert [change.fits for change in found] == sorted((change.fits for change in found), reverse=True)
    what = {change.what: change for change in found}
    saved = fitting.plan(16 * GIB).needed_bytes - fitting.with_(kv_cache="q8_0").plan(16 * GIB).needed_bytes
    assert what["an 8-bit cache"].saves_bytes == saved
    assert "the next smaller quantization" in what
    smaller = smaller_quantization(fitting.shape)
    assert smaller is not None
    assert smaller.tensor_bytes < 0.85 * fitting.shape.tensor_bytes


def test_an_answer_for_ram_plans_without_a_card() -> None:
    """Weights, cache and buffers in RAM, once each, and nothing of CUDA."""
    found = answer(Fitting(known("qwen3:8b"), Setup(8192)), Memory(16 * GIB, "RAM", is_card=False))
    assert found.plan.card_bytes == 0
    assert found.plan.part("weights").host_bytes == found.plan.shape.tensor_bytes
    assert found.fits
    assert found.as_dict()["fit"]["layers"] == 0
    unknown = answer(Fitting(known("qwen3:8b"), Setup(8192)), None)
    assert unknown.fits
    assert unknown.longest_context == 0
    assert unknown.changes == ()
