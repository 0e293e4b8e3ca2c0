"""Temporary names of builds, and the removal of those that a killed build left behind.

A build creates under `ollama-kit-build/<model>:<machine>-<process>-<random>`. Whoever finds one whose process is gone
may delete it: another build that is still at work is never disturbed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterable

from ollama_kit.server.facts import InstalledModel
from ollama_kit.server.server import Server

NAMESPACE = "ollama-kit-build"
_TAG = re.compile(r"(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}")


def temporary_name(name: str) -> str:
    """A name for a build of `name` that nothing else has and that tells whose it is."""
    slug = re.sub(r"[^a-z0-9_-]+", "-", name.casefold()).strip("-_")[:60] or "model"
    return f"{NAMESPACE}/{slug}:{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


def leftovers(installed: Iterable[InstalledModel]) -> tuple[str, ...]:
    """The names of temporary models whose builds are no longer running. One made on another machine is left alone,
    for its process cannot be seen from here."""
    return tuple(model.name for model in installed if _is_leftover(model.name))


def remove_leftovers(server: Server, installed: Iterable[InstalledModel]) -> tuple[str, ...]:
    """Deletes what killed builds left on the server, and returns the names."""
    names = leftovers(installed)
    for name in names:
        server.delete(name)
    return names


def _is_leftover(name: str) -> bool:
    namespace, _, rest = name.partition("/")
    tag = _TAG.fullmatch(rest.rpartition(":")[2])
    if namespace != NAMESPACE or tag is None:
        return False
    return tag["machine"] == _machine() and not _alive(int(tag["process"]))


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _alive(process: int) -> bool:
    """Whether a process of this machine runs. Signal 0 asks without a signal; Windows has no such thing, and there
    os.kill would end the process, so that its own table is asked."""
    if process == os.getpid():
        return True
    if os.name == "nt":
        return _alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _alive_on_windows(process: int) -> bool:
    import ctypes

    query_limited_information, still_active = 0x1000, 259
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
    handle = kernel.OpenProcess(query_limited_information, False, process)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == still_active
