"""The ollama package, imported so that the environment cannot make the import fail.

It opens a client while it is imported (0.6): with ALL_PROXY=socks5://… that raises ImportError, with OLLAMA_HOST=::1
ValueError, although our own client on it needs neither.
"""

from __future__ import annotations

import os
import threading
from types import ModuleType

READ_AT_IMPORT = ("OLLAMA_HOST", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")

_importing = threading.Lock()


def ollama_package() -> ModuleType:
    """The module `ollama`. Takes about 0.2 s the first time."""
    with _importing:
        hidden = {name: value for name, value in os.environ.items() if name.upper() in READ_AT_IMPORT}
        for name in hidden:
            del os.environ[name]
        try:
            import ollama
        finally:
            os.environ.update(hidden)
    return ollama
