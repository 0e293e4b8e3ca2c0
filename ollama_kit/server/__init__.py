"""One Ollama server: where it is, what it can do, what its models are, and every call to it.

The only package that imports httpx and ollama, and only when the first call is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.modelfile.versions import supports as supports
    from ollama_kit.server.async_server import AsyncServer as AsyncServer
    from ollama_kit.server.connection import (
        Connection as Connection,
        Retry as Retry,
        Timeouts as Timeouts,
        connect as connect,
    )
    from ollama_kit.server.facts import (
        InstalledModel as InstalledModel,
        ModelFacts as ModelFacts,
        RunningModel as RunningModel,
    )
    from ollama_kit.server.gguf_header import check_gguf as check_gguf
    from ollama_kit.server.host import Host as Host, require_local as require_local, resolve_host as resolve_host
    from ollama_kit.server.server import Server as Server
    from ollama_kit.server.wire import Call as Call
else:
    __getattr__, __dir__ = exports(__name__)
