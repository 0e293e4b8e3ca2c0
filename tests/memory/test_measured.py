"""A plan against what a GPU really gave: every row of the measured table, recomputed from the shapes alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ollama_kit.memory.formulas import cache_of, compute_buffer
from ollama_kit.memory.quantities import MIB
from ollama_kit.memory.setup import Engine, Setup
from ollama_kit.memory.shape import Layer, ModelShape, Recurrent
from tests.memory.measured import ENGINES, Row, rows, shapes, sweep

LOG_BYTES = 0.01 * MIB
"""What a log line's two decimals of MiB may hide."""

EXACT: dict[str, Callable[[Row], int]] = {
    "weights": lambda row: row["weights_gpu_bytes"],
    "kv cache": lambda row: row["kv_bytes"],
    "recurrent state": lambda row: row["recurrent_bytes"],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_cache_and_state_are_exact(engine: Engine) -> None:
    """To the byte, in every row: full and partial offload, pooled slots, windows, hybrids, speculation."""
    wrong = []
    for row in rows(engine):
        for part, measured in EXACT.items():
            off = abs(row.plan.part(part).card_bytes - measured(row))
            if off > (LOG_BYTES if row.from_log else 0):
                wrong.append((str(row), part, off))
    assert not wrong


@pytest.mark.parametrize(("engine", "count"), [("b10488", 285), ("b11434", 412)])
def test_the_whole_table_is_there(engine: Engine, count: int) -> None:
    """No row was lost on the way here."""
    assert len(rows(engine)) == count


def test_the_total_of_ollamas_engine_is_within_16_mib() -> None:
    """Flash attention on and off, every row of b10488; in fact within 10."""
    assert not [str(row) for row in rows("b10488") if _off(row) > 16 * MIB]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_total_is_within_3_percent_or_64_mib(engine: Engine) -> None:
    """Partial offload too, though no formula was found for it."""
    wrong = [str(row) for row in rows(engine) if _off(row) > max(64 * MIB, 0.03 * row["total_gpu_delta_bytes"])]
    assert not wrong


def _off(row: Row) -> int:
    return abs(row.plan.card_bytes - row["total_gpu_delta_bytes"])


@pytest.mark.parametrize("name", list(shapes()))
def test_tensor_bytes_are_the_files(name: str) -> None:
    """The sum over types and shapes, for each model."""
    known = {row.model: row["tensor_bytes"] for engine in ENGINES for row in rows(engine)}
    assert shapes()[name].tensor_bytes == known[name]


@pytest.mark.parametrize(("engine", "limit_mib"), [("b10488", 16.1), ("b11434", 44.1)])
def test_the_compute_formula_holds_on_shapes_it_was_not_fitted_to(engine: Engine, limit_mib: float) -> None:
    """Half of the small models to 300 bytes; those that no real model resembles (a feed-forward narrower than the
    embedding) within the limit."""
    off = [abs(_planned(row, engine) - int(row["compute_gpu_bytes"])) for row in sweep(engine) if row["flash"] == "1"]
    assert len(off) == 164
    assert sum(bytes_off < 300 for bytes_off in off) >= 94
    assert max(off) <= limit_mib * MIB
    without = [
        abs(_planned(row, engine) - int(row["compute_gpu_bytes"])) for row in sweep(engine) if row["flash"] == "0"
    ]
    assert max(without) <= limit_mib * MIB


@pytest.mark.parametrize("engine", ENGINES)
def test_cache_and_state_of_the_small_models_are_exact(engine: Engine) -> None:
    """The same formulas on 82 other shapes, those among them whose quantized rows are padded."""
    for row in sweep(engine):
        shape, setup = _small(row), _setup(row, engine)
        cache = cache_of(shape.layers, shape, setup, int(row["n_ubatch"]))
        assert (cache.kv_bytes, cache.recurrent_bytes) == (int(row["kv_bytes"]), int(row["recurrent_bytes"])), row


def _planned(row: dict[str, str], engine: Engine) -> int:
    return compute_buffer(_small(row), _setup(row, engine), int(row["n_ubatch"])).card_bytes


def _setup(row: dict[str, str], engine: Engine) -> Setup:
    return Setup(int(row["n_ctx"]), row["kv_type"], flash=row["flash"] == "1", engine=engine)  # type: ignore[arg-type]


def _small(row: dict[str, str]) -> ModelShape:
    """The shape of a row of the sweep: 8 layers, of a hybrid every fourth with attention, of a windowed model every
    sixth without a window."""
    hybrid = row["arch"].startswith("qwen35")
    state = int(row["ssm_state_size"] or 0)
    inner = int(row["ssm_time_step_rank"] or 0) * state
    channels = inner + 2 * int(row["ssm_group_count"] or 0) * state
    convolution = (int(row["ssm_conv_kernel"] or 1) - 1) * channels
    window = int(row["sliding_window"] or 0)
    kv_heads = int(row["head_count_kv"])
    layers = tuple(
        Layer(
            0 if hybrid and at % 4 != 3 else kv_heads,
            windowed=bool(window) and at % 6 < 5,
            recurrent=hybrid and at % 4 != 3,
        )
        for at in range(8)
    )
    return ModelShape(
        name=row["shape"],
        origin="sweep",
        architecture=row["arch"],
        trained_context=0,
        embedding=int(row["embedding_length"]),
        heads=int(row["head_count"]),
        key_length=int(row["key_length"]),
        value_length=int(row["key_length"]),
        layers=layers,
        tensors=(),
        ff=int(row["feed_forward_length"] or 0),
        experts_used=int(row["expert_used_count"] or 0),
        expert_ff=int(row["expert_feed_forward_length"] or 0),
        window=window,
        recurrent=Recurrent(convolution, state * inner, channels),
        rope_sections=hybrid,
    )
