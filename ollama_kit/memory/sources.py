"""Finds the shape behind what a user names: a GGUF file, a spec, a model on the server, or one of the shipped table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import ModelMissing, ServerError, SpecNotFound
from ollama_kit.memory.gguf_shape import read_gguf, shape_of
from ollama_kit.memory.qwen_table import cataloged, cataloged_names
from ollama_kit.memory.setup import Engine, Setup, slots
from ollama_kit.memory.shape import TYPE_NUMBERS, ModelShape, Tensor
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server.facts import DEFAULT_CONTEXT_TOKENS

if TYPE_CHECKING:
    from ollama_kit.server.server import Server
    from ollama_kit.server.wire import JSON
    from ollama_kit.specs.model import ModelSpec


@dataclass(frozen=True)
class Subject:
    """What is planned: a shape, the spec that asked for it (None where there is none), and num_ctx, num_batch and
    num_gpu where the spec or the model says them (0 where nobody does)."""

    shape: ModelShape
    spec: ModelSpec | None = None
    context: int = 0
    batch: int = 0
    gpu_layers: int | None = None
    engine: Engine = "b10488"

    def setup(self, **chosen: Any) -> Setup:
        """The setup to plan: what was chosen, else what the spec or the model says, else Ollama's defaults."""
        given = {name: value for name, value in chosen.items() if value is not None}
        engine = given.setdefault("engine", self.engine)
        given.setdefault("flash", engine != "0.9")
        given.setdefault("batch", self.batch or None)
        given.setdefault("gpu_layers", self.gpu_layers)
        context = given.pop("context", None) or self.context or DEFAULT_CONTEXT_TOKENS
        given["parallel"] = slots(self.shape, given.get("parallel", 1))
        return Setup(min(context, self.shape.trained_context or context), **given)


def engine_of(version: ServerVersion) -> Engine:
    """The engine that a server of this version runs: llama-server from 0.30 on, Ollama's own runner before."""
    return "b10488" if version.reaches(ServerVersion(0, 30)) else "0.9"


def find_subject(name: str, server: Server) -> Subject:
    """What `name` refers to: the path of a GGUF, a spec, a model on the server, a model of the table; in that order.

    The server is asked only for a model by name, and its silence matters only where the table does not know the name.
    Raises SpecNotFound, GGUFError, ModelMissing or another ServerError.
    """
    from ollama_kit.specs import find_spec, load_spec, looks_like_path

    path = Path(name).expanduser()
    if path.suffix.lower() == ".gguf" or (looks_like_path(name) and path.suffix.lower() not in (".yaml", ".yml")):
        return Subject(read_gguf(path))
    try:
        find_spec(name)
    except SpecNotFound:
        if path.suffix.lower() in (".yaml", ".yml"):
            raise
        return of_model(name, server)
    return of_spec(load_spec(name), server)


def of_spec(spec: ModelSpec, server: Server) -> Subject:
    """What a spec builds on, at the context, batch and layers that it sets."""
    base = Subject(read_gguf(spec.base_path)) if spec.base_path else of_model(spec.base, server)
    batch, layers = spec.parameters.get("num_batch"), spec.parameters.get("num_gpu")
    return Subject(
        base.shape,
        spec,
        spec.context or base.context,
        batch if isinstance(batch, int) else base.batch,
        layers if isinstance(layers, int) and layers >= 0 else base.gpu_layers,
        base.engine,
    )


def of_model(name: str, server: Server) -> Subject:
    """A model on the server, else in the table."""
    from ollama_kit.server import wire

    try:
        reply = server.send(wire.show(name, verbose=True))
    except ServerError as error:
        shape = cataloged(name)
        if shape is not None:
            return Subject(shape)
        if isinstance(error, ModelMissing):
            known = ", ".join(cataloged_names())
            raise ModelMissing(
                error.message,
                model=error.model,
                installed=error.installed,
                nearest=error.nearest,
                url=error.url,
                hint=(
                    f"Name a GGUF file, a spec, or one of those known without a download: {known}.",
                    f"可以给出 GGUF 文件、规格，或无需下载即可规划的模型：{known}。",
                ),
            ) from error
        raise
    return replace(of_show(name, reply, server.url), engine=engine_of(server.version()))


def of_show(name: str, reply: JSON, url: str = "") -> Subject:
    """The shape in a verbose reply of /api/show; GGUFError where it lacks the tensors (servers before 0.5.8)."""
    from ollama_kit.server.facts import read_parameters

    info = reply.get("model_info")
    described = reply.get("tensors")
    tensors = [_tensor(item) for item in described] if isinstance(described, list) else []
    known = [tensor for tensor in tensors if tensor is not None]
    shape = shape_of(name, f"{name} on {url}", _plain(info), known) if known else None
    if shape is None:
        shape = cataloged(name)
    if shape is None:
        raise _without_tensors(name, url)
    if reply.get("projector_info") and not shape.vision_bytes:
        shape = replace(
            shape, notes=(*shape.notes, "its vision projector is not counted; pass its file with --projector")
        )
    text = reply.get("parameters")
    parameters = read_parameters(text if isinstance(text, str) else "")
    numbers = {key: value for key, value in parameters.items() if isinstance(value, int) and value >= 0}
    return Subject(shape, None, numbers.get("num_ctx", 0), numbers.get("num_batch", 0), numbers.get("num_gpu"))


def _plain(info: object) -> dict[str, Any]:
    """`model_info` without the vocabulary. Numbers come as JSON numbers; a float that is whole is one of them."""
    if not isinstance(info, dict):
        return {}
    return {key: value for key, value in info.items() if not key.startswith("tokenizer.") and value is not None}


def _tensor(item: object) -> Tensor | None:
    if not isinstance(item, dict):
        return None
    name, kind, shape = item.get("name"), item.get("type"), item.get("shape")
    if not isinstance(name, str) or not isinstance(kind, str) or not isinstance(shape, list):
        return None
    if kind.upper() not in TYPE_NUMBERS or not all(isinstance(size, int) and 0 <= size < 2**48 for size in shape):
        return None
    return Tensor(name, kind.upper(), tuple(shape))


def _without_tensors(name: str, url: str) -> ServerError:
    from ollama_kit.errors import ProtocolError

    return ProtocolError(
        f"{url} does not list the tensors of {name}",
        url=url,
        hint=("Upgrade Ollama, or plan the GGUF file itself.", "请升级 Ollama，或直接规划 GGUF 文件。"),
    )
