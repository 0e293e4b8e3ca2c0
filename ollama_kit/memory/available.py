"""The memory at hand: what the settings say, else what the card's own tools say, else this machine's RAM."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ollama_kit.memory.quantities import MIB, read_bytes

Ask = Callable[[Sequence[str]], str]
"""Runs a program and returns what it printed; empty where it is not there or failed."""
TOOL_TIMEOUT_S = 10.0
NVIDIA = ("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
ROCM = ("rocm-smi", "--showmeminfo", "vram", "--json")


@dataclass(frozen=True)
class Memory:
    """How much there is, who says so, and whether it is a card's. Of several cards it is the largest one's: a model
    is put on one where it fits."""

    size_bytes: int
    source: str
    is_card: bool = True


def asked(command: Sequence[str]) -> str:
    """What a tool of the driver prints; empty where there is none."""
    found = shutil.which(command[0])
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, *command[1:]],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TOOL_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def memory_at_hand(setting: str | None, *, local: bool, ask: Ask = asked, sysfs: Path = Path("/sys")) -> Memory | None:
    """The memory a model may take, None where nobody can say: a server on another machine, and no setting.

    `setting` is the text of `--memory`, OLLAMA_KIT_MEMORY or the settings file; UsageError if it is not an amount.
    """
    if setting:
        return Memory(read_bytes(setting, "memory"), "the settings")
    if not local:
        return None
    return _nvidia(ask) or _rocm(ask) or _amdgpu(sysfs) or _ram()


def _nvidia(ask: Ask) -> Memory | None:
    cards = []
    for line in ask(NVIDIA).splitlines():
        name, _, total = line.rpartition(",")
        if total.strip().isdigit():
            cards.append((int(total) * MIB, name.strip()))
    return _largest(cards, "nvidia-smi")


def _rocm(ask: Ask) -> Memory | None:
    try:
        reported = json.loads(ask(ROCM) or "{}")
    except ValueError:
        return None
    cards = []
    for name, values in reported.items() if isinstance(reported, dict) else ():
        total = str(values.get("VRAM Total Memory (B)", "")) if isinstance(values, dict) else ""
        if total.isdigit():
            cards.append((int(total), str(name)))
    return _largest(cards, "rocm-smi")


def _amdgpu(sysfs: Path) -> Memory | None:
    """What the kernel's driver says where rocm-smi is not installed."""
    cards = []
    for path in sorted(sysfs.glob("class/drm/card[0-9]/device/mem_info_vram_total")):
        try:
            cards.append((int(path.read_text(encoding="ascii")), path.parent.parent.name))
        except (OSError, ValueError):
            continue
    return _largest(cards, "amdgpu")


def _largest(cards: Sequence[tuple[int, str]], tool: str) -> Memory | None:
    if not cards or max(cards)[0] <= 0:
        return None
    size, name = max(cards)
    others = f", the largest of {len(cards)}" if len(cards) > 1 else ""
    return Memory(size, f"{tool}: {name}{others}")


def _ram() -> Memory | None:
    size = _windows_ram() if sys.platform == "win32" else _posix_ram()
    return Memory(size, "this machine's RAM; no card was found", is_card=False) if size else None


def _posix_ram() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


def _windows_ram() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "t1", "f1", "t2", "f2", "f3")),
        )

    status = Status()
    status.length = ctypes.sizeof(Status)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 -- there on Windows only
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else 0
