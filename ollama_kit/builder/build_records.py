"""What builds leave behind: records of finished ones, and on the server the temporary names of those that were killed.

A record remembers what was built from what, so that building a current model again asks the server only two things. It
is a claim, never a proof: it is believed only while the server's digests are the ones it names.

A build creates under `ollama-kit-build/<model>:<machine>-<process>-<random>`. Whoever finds one whose process is gone
may delete it: another build that is still running is never disturbed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.server.facts import InstalledModel
from ollama_kit.server.server import Server
from ollama_kit.text.encodings import write_text
from ollama_kit.text.private_files import make_own_folder

NAMESPACE = "ollama-kit-build"
_TAG = re.compile(r"(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}")


@dataclass(frozen=True)
class BuildRecord:
    """What was built from what: `request` is the sha256 of the create request; `base` and `model` are digests as the
    server lists them."""

    request: str
    base: str
    model: str


def request_digest(body: dict[str, Any]) -> str:
    """The sha256 of what a build sends."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def find_build_record(url: str, name: str) -> BuildRecord | None:
    """The record of the last build of `name` on the server at `url`, None if there is no readable one."""
    try:
        fields = json.loads(_path(url, name).read_text(encoding="utf-8"))
        return BuildRecord(**{key: str(value) for key, value in fields.items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def keep_build_record(url: str, name: str, record: BuildRecord) -> None:
    """Writes a record; a build does not fail because it cannot be written."""
    path = _path(url, name)
    try:
        make_own_folder(path.parent)
        write_text(path, json.dumps(asdict(record)))
    except OSError:
        return


def _path(url: str, name: str) -> Path:
    key = hashlib.sha256(f"{url}\n{name}".encode()).hexdigest()[:24]
    return resources.cache_root() / "builds" / f"{key}.json"


def temporary_name(name: str) -> str:
    """A unique name for a build of `name` that says which process made it."""
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
    """Whether a process of this machine runs. Signal 0 checks without sending one; Windows has no such thing, and
    os.kill would end the process there, so Windows is asked for the process."""
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
