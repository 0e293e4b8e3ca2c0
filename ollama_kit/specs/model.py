"""ModelSpec: what a developer says about a model, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

SPEC_VERSION = 1

Role = Literal["system", "user", "assistant"]
ParameterValue = int | float | bool | str | tuple[str, ...]


@dataclass(frozen=True)
class Message:
    """One example turn that the model starts every conversation with."""

    role: Role
    content: str


@dataclass(frozen=True)
class ModelSpec:
    """One model, described. Texts are final: inherited, overridden and rendered already.

    `base` is what the YAML calls `from`: a model name, or the path of a GGUF or safetensors folder (then
    `base_path` is set, resolved against the spec's own folder). `context` is num_ctx in tokens. `gqa` is the expected
    number of query heads per KV head, None for "auto"; `tokenizer` the expected family, None for any.
    `lines` maps a dotted key ("parameters.top_p") to (file, line) for errors found later.
    """

    name: str
    base: str
    base_path: Path | None = None
    context: int | None = None
    gqa: int | None = None
    tokenizer: str | None = None
    thinking: bool | None = None
    system: str | None = None
    template: str | None = None
    adapter: Path | None = None
    messages: tuple[Message, ...] = ()
    license: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterValue] = field(default_factory=lambda: MappingProxyType({}))
    renderer: str | None = None
    parser: str | None = None
    requires: str | None = None
    quantize: str | None = None
    keep_alive: str | int | None = None
    guard: str = "standard"
    modelfile_template: str = "default"
    path: Path | None = None
    lines: Mapping[str, tuple[Path, int]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )

    @property
    def all_parameters(self) -> dict[str, ParameterValue]:
        """`parameters` with `context` as num_ctx: what the Modelfile and the create request carry."""
        window = {} if self.context is None else {"num_ctx": self.context}
        return {**window, **self.parameters}
