"""llm-guard's scanners as stages of a guard policy; the only place that imports llm_guard, and only when it is used.

    roster        which scanners there are, what each accepts and costs, and which are refused
    config        the `scanners:` part of a policy
    library       llm-guard on this machine: its modules, each imported by itself; what would work, for `doctor`
    local_models  a local model: its files, its labels, its window; a text in pieces that it can take
    outcome       what a scanner is asked, and what it answers
    matching      the scanners without a model, with the matching that llm-guard lacks
    learned       the scanners with a model
    delegated     the scanners whose own answer is used as it is: with spaCy, or another library's data
    execution     input and output stages; one scanner, made once per process, with its lock and limits

Public names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.scanners.config import (
        ScannerConfig as ScannerConfig,
        ScannerRule as ScannerRule,
        parse_scanners as parse_scanners,
    )
    from ollama_kit.guard.scanners.execution import Scanners as Scanners, load_scanners as load_scanners
    from ollama_kit.guard.scanners.library import ScannerStatus as ScannerStatus, scanner_status as scanner_status
else:
    __getattr__, __dir__ = exports(__name__)
