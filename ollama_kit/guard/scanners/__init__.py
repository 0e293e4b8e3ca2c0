"""llm-guard's scanners as stages of a guard policy; the only place that imports llm_guard, and only when it is asked.

    catalog   which scanners there are, what each takes and costs, and which are refused
    rules       the `scanners:` part of a policy
    library     llm-guard on this machine: its modules, each imported by itself
    folders     a local model: its files, its labels, its window
    windows     a text in pieces that a model can take
    outcome     what a scanner is asked, and what it answers
    matching    the scanners without a model, with the matching that llm-guard lacks; secret_values: its secrets
    learned     the scanners with a model
    personal    the scanners with a model and spaCy; fetched: those that need another library's data
    loaded      one scanner, made once a process, with its lock and limits
    running     input and output stages
    status      what would work here, for `doctor`

Public names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.scanners.rules import (
        ScannerConfig as ScannerConfig,
        ScannerRule as ScannerRule,
        parse_scanners as parse_scanners,
    )
    from ollama_kit.guard.scanners.running import Scanners as Scanners, load_scanners as load_scanners
    from ollama_kit.guard.scanners.status import ScannerStatus as ScannerStatus, scanner_status as scanner_status
else:
    __getattr__, __dir__ = exports(__name__)
