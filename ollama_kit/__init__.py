"""ollama-kit: a local model described once, and every call to it built, bounded, guarded and checked.

    from ollama_kit import Client

    with Client() as client:
        result = client.chat("wechat-zh", "总结待办", documents=[chat], schema="todos.schema.json")

Names are loaded when they are first used: importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ollama_kit.client import (
        AsyncClient as AsyncClient,
        Client as Client,
        Delta as Delta,
        Embeddings as Embeddings,
        Partial as Partial,
        Restart as Restart,
    )
    from ollama_kit.errors import (
        AuditError as AuditError,
        BuildError as BuildError,
        BuildMismatch as BuildMismatch,
        ChatError as ChatError,
        ContextOverflow as ContextOverflow,
        DocumentError as DocumentError,
        ExpectationFailed as ExpectationFailed,
        GGUFError as GGUFError,
        GuardBlocked as GuardBlocked,
        ModelfileError as ModelfileError,
        ModelMissing as ModelMissing,
        OllamaKitError as OllamaKitError,
        OutputInvalid as OutputInvalid,
        PlugInError as PlugInError,
        PromptCut as PromptCut,
        ProtocolError as ProtocolError,
        RemoteHostRefused as RemoteHostRefused,
        SchemaError as SchemaError,
        ServerError as ServerError,
        ServerRefused as ServerRefused,
        ServerTimeout as ServerTimeout,
        ServerUnreachable as ServerUnreachable,
        SettingsError as SettingsError,
        SourceError as SourceError,
        SpecError as SpecError,
        SpecNotFound as SpecNotFound,
        TurnsRefused as TurnsRefused,
        UsageError as UsageError,
    )
    from ollama_kit.guard.conversation import Document as Document, Message as Message
    from ollama_kit.guard.exchange import Result as Result
    from ollama_kit.guard.images.image import ImageRules as ImageRules
    from ollama_kit.guard.images.prepare import prepare_image as prepare_image
    from ollama_kit.records.report import Report as Report
    from ollama_kit.settings import Settings as Settings, load_settings as load_settings
    from ollama_kit.specs import ModelSpec as ModelSpec, load_spec as load_spec
else:
    __getattr__, __dir__ = exports(__name__)
