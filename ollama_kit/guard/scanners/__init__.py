"""llm-guard's scanners as stages of a guard policy; the only place that imports llm_guard, and only when it is asked.

catalogue   which scanners there are, what each takes and costs, and which are refused
rules       the `scanners:` part of a policy
library     llm_guard on this machine: whole, or the modules that need no torch
folders     a local model: its files, its labels, its window
windows     a text in pieces that a model can take
matching, secret_values
            the scanners without a model, with the matching that llm-guard lacks
learned     the scanners with one
loaded      one scanner, made once a process, with its lock
running     input and output stages
status      what would work here, for `doctor`
"""

from __future__ import annotations

from ollama_kit.guard.scanners.rules import ScannerConfig, ScannerRule, parse_scanners
from ollama_kit.guard.scanners.running import Scanners, load_scanners
from ollama_kit.guard.scanners.status import ScannerStatus, scanner_status

__all__ = [
    "ScannerConfig",
    "ScannerRule",
    "ScannerStatus",
    "Scanners",
    "load_scanners",
    "parse_scanners",
    "scanner_status",
]
