"""Which scanners would work on this machine, from where, and at what cost; for `doctor`. Loads none of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ollama_kit.errors import UsageError, in_users_language
from ollama_kit.guard.scanners.catalog import KINDS, LLM_GUARD, REFUSED, SPACY_MODELS, Kind
from ollama_kit.guard.scanners.folders import labels_of, read_folder, settled_labels
from ollama_kit.guard.scanners.library import INSTALL, Presence, presence, require
from ollama_kit.guard.scanners.rules import ScannerConfig, ScannerRule


@dataclass(frozen=True)
class ScannerStatus:
    """One scanner. `why` says what is missing, or what to know where it works; `source` where it comes from."""

    name: str
    works: bool
    why: str
    source: str
    cost: str


def scanner_status(config: ScannerConfig | None = None) -> tuple[ScannerStatus, ...]:
    """The scanners of a policy under its own names; without one, every scanner that llm-guard has."""
    here = presence()
    if config is not None:
        return tuple(_of_rule(rule, config.download, here) for rule in config.rules)
    known = [_of_kind(name, kind, here) for name, kind in KINDS.items()]
    refused = [ScannerStatus(name, False, f"not run: {why}", _source(here), "") for name, why in REFUSED.items()]
    return (*known, *refused)


def _of_rule(rule: ScannerRule, download: bool, here: Presence) -> ScannerStatus:
    source = rule.model if rule.model and not rule.hub else _source(here)
    try:
        require([rule])
        if rule.model and not rule.hub:
            labels = labels_of(read_folder(rule))
            if rule.kind.labels:
                settled_labels(rule, labels)
    except UsageError as problem:
        return ScannerStatus(rule.name, False, str(problem), source, rule.kind.cost)
    works, why = (True, "") if rule.model and not rule.hub else _data(rule.model or rule.kind.hub, rule.kind, download)
    return ScannerStatus(rule.name, works, why, source, rule.kind.cost)


def _of_kind(name: str, kind: Kind, here: Presence) -> ScannerStatus:
    missing = _missing(kind, here)
    works, why = (False, missing) if missing else _data(kind.hub, kind, False)
    return ScannerStatus(name, works, why, _source(here), kind.cost)


def _source(here: Presence) -> str:
    return f"llm-guard {here.version} in {here.folder}" if here.version else "llm-guard, not installed"


def _missing(kind: Kind, here: Presence) -> str:
    if not here.version:
        return f"llm-guard is not installed. {in_users_language(INSTALL)}"
    if not here.right:
        return f"llm-guard {here.version} is installed, and {LLM_GUARD} is needed"
    if kind.need in ("model", "spacy") and not here.torch:
        return f"torch is not installed. {in_users_language(INSTALL)}"
    if kind.need == "spacy" and not here.spacy_models:
        return f"the spaCy models {' and '.join(SPACY_MODELS)} are not installed"
    return ""


def _data(hub: str, kind: Kind, download: bool) -> tuple[bool, str]:
    """Whether what a scanner reads is here or may be fetched, and what to know about it."""
    if kind.need == "nothing":
        return True, "needs no model and no torch"
    if kind.need == "download":
        return download, "fetches its data when first used" if download else "needs `download: true`, or its data here"
    if _in_cache(hub):
        return True, f"{hub} is in the model hub's cache"
    if download:
        return True, f"fetches {hub} when first used"
    return False, f"needs a model folder with `model:`, or `download: true` for {hub}"


def _in_cache(hub: str) -> bool:
    """Whether the model hub's cache holds a model (huggingface_hub, constants.py, for where that is)."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    folder = cache / f"models--{hub.replace('/', '--')}" / "snapshots"
    return folder.is_dir() and any(folder.iterdir())
