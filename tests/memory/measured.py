"""The table of measured GPU memory (tests/data/memory, README there), as shapes and rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from ollama_kit.memory.gguf_shape import shape_of
from ollama_kit.memory.plan import MemoryPlan, make_plan
from ollama_kit.memory.setup import CacheType, Engine, Setup
from ollama_kit.memory.shape import ModelShape, Tensor

DATA = Path(__file__).parent.parent / "data" / "memory"
ENGINES: tuple[Engine, ...] = ("b10488", "b11434")


@dataclass(frozen=True)
class Row:
    """One measured context: the columns of the table, and what `notes` says as `key=value`."""

    columns: Mapping[str, str]
    notes: Mapping[str, str]
    engine: Engine

    def __getitem__(self, name: str) -> int:
        return int(self.columns[name])

    @property
    def model(self) -> str:
        return self.columns["model"]

    @property
    def is_partial(self) -> bool:
        return "ngl" in self.notes

    @property
    def from_log(self) -> bool:
        """Whether its buffers are a server's log lines, which have two decimals of MiB."""
        return self.notes["src"] == "server"

    @property
    def setup(self) -> Setup:
        return Setup(
            context=self["n_ctx"],
            kv_cache=cast(CacheType, self.columns["kv_type"]),
            parallel=self["parallel"],
            batch=int(self.notes["n_ubatch"]),
            gpu_layers=int(self.notes["ngl"]) if self.is_partial else None,
            flash=self.notes["flash"] == "1",
            engine=self.engine,
            draft_tokens=2 if "speculative" in self.notes else 0,
            unified=self.notes["unified"] == "1",
            logits=int(self.notes["outputs"]),
        )

    @property
    def plan(self) -> MemoryPlan:
        return make_plan(shapes()[self.model], self.setup)

    def __str__(self) -> str:
        return f"{self.engine} {self.model} {self.columns['n_ctx']} {self.columns['kv_type']} {dict(self.notes)}"


@cache
def shapes() -> dict[str, ModelShape]:
    """Every model of shapes.json."""
    raw = json.loads((DATA / "shapes.json").read_text(encoding="utf-8"))
    return {
        name: shape_of(name, "shapes.json", model["metadata"], list(tensors_of(model))) for name, model in raw.items()
    }


def tensors_of(model: Mapping[str, Any]) -> Iterator[Tensor]:
    """The tensors of a model of shapes.json, one by one."""
    for described in model["tensors"]:
        for layer in described.get("layers") or [None]:
            name = described["name"].replace("{i}", str(layer))
            yield Tensor(name, described["type"], tuple(described["shape"]))


def rows(engine: Engine) -> list[Row]:
    """The measured contexts of an engine."""
    found = []
    for columns in _table(f"gpu_llamacpp_{engine}.tsv"):
        pairs = (pair.partition("=") for pair in columns["notes"].split(";"))
        found.append(Row(columns, {name: value for name, _, value in pairs}, engine))
    return found


def sweep(engine: Engine) -> list[dict[str, str]]:
    """The small models that vary one dimension at a time."""
    return _table(f"compute_sweep_{engine}.tsv")


def _table(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
