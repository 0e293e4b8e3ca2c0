"""Where each tensor goes: to the card, to the host, or nowhere.

Source: llama.cpp b10488 llama-model.cpp, and the measured rows of tests/data/memory, which this equals to the byte.
`token_embd.weight` stays on the host, where a tied model keeps it beside its copy on the card. Of a partial offload the
last layers go to the card, the output first. A prediction block is loaded only where speculation is on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.memory.setup import Setup
from ollama_kit.memory.shape import ModelShape
from ollama_kit.memory.tensors import Tensor

EMBEDDING = "token_embd.weight"


@dataclass(frozen=True)
class Place:
    """Bytes of weights in one place: of the experts of a mixture, of embedding and output, and of the layers' rest."""

    experts: int = 0
    ends: int = 0
    layers: int = 0

    @property
    def size_bytes(self) -> int:
        return self.experts + self.ends + self.layers


def first_layer_on_card(shape: ModelShape, setup: Setup) -> int:
    """The number of the first layer on the card; the number of layers where there is none."""
    count = len(shape.main_layers)
    if not setup.on_card:
        return count
    return 0 if setup.gpu_layers is None else min(max(count + 1 - setup.gpu_layers, 0), count)


def all_on_card(shape: ModelShape, setup: Setup) -> bool:
    """Whether every layer and the output are on the card."""
    return setup.on_card and (setup.gpu_layers is None or setup.gpu_layers > len(shape.main_layers))


def weights_of(shape: ModelShape, setup: Setup) -> tuple[Place, Place]:
    """The weights on the card, padded as its buffers are, and on the host."""
    start = first_layer_on_card(shape, setup)
    output_on_card = setup.on_card and setup.gpu_layers != 0
    loaded = len(shape.layers) if setup.draft_tokens else len(shape.main_layers)
    card, host = _Sum(), _Sum()
    for tensor in shape.tensors:
        if tensor.is_vision or (tensor.layer or 0) >= loaded:
            continue
        if tensor.name == EMBEDDING:
            host.add(tensor, tensor.size_bytes)
            if shape.is_tied and output_on_card:
                card.add(tensor, tensor.card_bytes)
            continue
        # What stands outside the layers goes with the output, but for rotary factors, which layers read.
        on_card = output_on_card if tensor.layer is None else start <= tensor.layer
        if on_card and not (tensor.layer is None and tensor.name.startswith("rope_") and start):
            card.add(tensor, tensor.card_bytes)
        else:
            host.add(tensor, tensor.size_bytes)
    return card.place(), host.place()


class _Sum:
    """A Place in the making."""

    def __init__(self) -> None:
        self.experts = self.ends = self.layers = 0

    def add(self, tensor: Tensor, size: int) -> None:
        if tensor.layer is None:
            self.ends += size
        elif tensor.is_expert:
            self.experts += size
        else:
            self.layers += size

    def place(self) -> Place:
        return Place(self.experts, self.ends, self.layers)
