"""llm-guard on this machine: whether it is installed, its scanner modules, and which scanners would work.

`import llm_guard` loads every scanner, with torch, transformers and spaCy. The modules are imported one by one
instead, under empty parent packages; those that need no model load in a fraction of a second, without torch too. They
are then taken out of `sys.modules` again, so that whoever imports llm_guard elsewhere gets it unchanged.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from ollama_kit.errors import Hint, UsageError, in_users_language
from ollama_kit.guard.scanners.config import ScannerConfig, ScannerRule
from ollama_kit.guard.scanners.local_models import labels_of, read_folder, settled_labels
from ollama_kit.guard.scanners.roster import KINDS, LLM_GUARD, REFUSED, SPACY_MODELS, ScannerKind, Side

PACKAGE = "llm_guard"
INSTALL: Hint = (
    (
        'Python 3.10 to 3.12: `pip install "ollama-kit[llm-guard]"`. On Linux first install the CPU build of PyTorch '
        "with the command that pytorch.org gives for Compute Platform: CPU; otherwise pip fetches 3 GB for CUDA."
    ),
    (
        'Python 3.10 至 3.12：`pip install "ollama-kit[llm-guard]"`。Linux 上请先按 pytorch.org 为 Compute '
        "Platform: CPU 给出的命令安装 CPU 版 PyTorch，否则 pip 会下载 3 GB 的 CUDA 版。"
    ),
)

_FILES = {"MaliciousURLs": "malicious_urls", "NoRefusalLight": "no_refusal"}
_importing = RLock()
_kept: dict[bool, dict[str, ModuleType]] = {False: {}, True: {}}


@dataclass(frozen=True)
class Presence:
    """What is installed: llm-guard's version and folder, both empty if it is not installed, and what else it needs."""

    version: str
    folder: str
    torch: bool
    spacy_models: bool

    @property
    def right(self) -> bool:
        """Whether it is the release that this adapter was written for."""
        return self.version == LLM_GUARD


def presence() -> Presence:
    """What is installed here, found without importing any of it."""
    from importlib.metadata import PackageNotFoundError, version

    spec = importlib.util.find_spec(PACKAGE)
    try:
        found = version("llm-guard") if spec else ""
    except PackageNotFoundError:
        found = "of an unknown version"
    folder = str(Path(spec.origin).parent) if spec and spec.origin else ""
    spacy_models = all(_is_there(name) for name in ("spacy", *SPACY_MODELS))
    return Presence(found, folder, _is_there("torch") and _is_there("transformers"), spacy_models)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def require(rules: Sequence[ScannerRule]) -> None:
    """Raises UsageError if something that `rules` need is not installed."""
    here = presence()
    named = ", ".join(sorted({rule.scanner for rule in rules}))
    if not here.version:
        raise UsageError(f"the policy names {named} of llm-guard, which is not installed", hint=INSTALL)
    if not here.right:
        raise UsageError(f"llm-guard {here.version} is installed, but {LLM_GUARD} is required", hint=INSTALL)
    for rule in rules:
        if rule.kind.need in ("model", "spacy") and not here.torch:
            raise UsageError(f"{rule.scanner} ({rule.name!r}) needs torch, which is not installed", hint=INSTALL)
        if rule.kind.need == "spacy" and not here.spacy_models:
            raise UsageError(
                f"{rule.scanner} ({rule.name!r}) needs the spaCy models {' and '.join(SPACY_MODELS)}",
                hint=(
                    (
                        "Both are needed for texts in either language; install them as spaCy's documentation says. "
                        "`personal: redact` needs neither."
                    ),
                    "无论何种语言都需要这两个模型，请按 spaCy 文档安装。`personal: redact` 无需它们。",
                ),
            )


def scanner_class(scanner: str, side: Side, *, light: bool) -> tuple[type[Any], ModuleType]:
    """llm-guard's class of a scanner and the module it is in, with silent logs. `light` puts a stand-in where its
    modules would load torch. Raises UsageError if something that it imports is missing."""
    file = _FILES.get(scanner) or re.sub(r"(?<!^)(?=[A-Z])", "_", scanner).lower()
    with _importing, _modules(light):
        try:
            module = importlib.import_module(f"{PACKAGE}.{side}_scanners.{file}")
        except (ImportError, OSError) as problem:  # OSError: a library that the system cannot load
            missing = getattr(problem, "name", None) or type(problem).__name__
            raise UsageError(f"llm-guard's {scanner} cannot be loaded: {missing} is missing", hint=INSTALL) from problem
        return getattr(module, scanner), module


def own_module(name: str) -> ModuleType:
    """A module of llm-guard's by its name in the package; loads torch."""
    with _importing, _modules(light=False):
        return importlib.import_module(f"{PACKAGE}.{name}")


@contextmanager
def _modules(light: bool) -> Iterator[None]:
    """llm-guard's own modules of an earlier import, and empty parents, in `sys.modules` for as long as it lasts."""
    kept = _kept[light] = _kept[light] or _parents(light)
    others = {name: sys.modules.pop(name) for name in _ours_in_sight()}
    sys.modules.update(kept)
    try:
        yield
    finally:
        kept.update({name: sys.modules.pop(name) for name in _ours_in_sight()})
        sys.modules.update(others)
        for module in kept.values():
            for name in {"LOGGER", "log"} & vars(module).keys():
                setattr(module, name, _Silence())


def _ours_in_sight() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == PACKAGE]


def _parents(light: bool) -> dict[str, ModuleType]:
    spec = importlib.util.find_spec(PACKAGE)
    roots = [Path(folder) for folder in (spec.submodule_search_locations or ()) if spec] if spec else []
    made = {}
    for name in ("", "input_scanners", "output_scanners"):
        package = ModuleType(f"{PACKAGE}.{name}".rstrip("."))
        package.__path__ = [str(root / name) for root in roots]
        made[package.__name__] = package
    if light:
        for name, content in (("model", {"Model": _StandIn}), ("transformers_helpers", _HELPERS)):
            module = ModuleType(f"{PACKAGE}.{name}")
            vars(module).update(content)
            made[module.__name__] = module
    return made


class _StandIn:
    """Takes the place of a model that is described when a module loads and never used."""

    def __init__(self, **description: Any) -> None:
        self.description = description


def _unused(*_: Any, **__: Any) -> Any:
    raise AssertionError("a scanner without a model asked for one")


_HELPERS = {"get_tokenizer_and_model_for_classification": _unused, "pipeline": _unused}


class _Silence:
    """A logger that drops everything: llm-guard's writes what it saw of a text to stdout."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def stay_offline() -> None:
    """Keeps the model hub's client off the network: without it a missing file costs 46 s of retries. Takes effect
    whether that client is loaded already or not, and lasts for the process."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ[name] = "1"
    loaded = (("huggingface_hub.constants", "HF_HUB_OFFLINE"), ("transformers.utils.hub", "_is_offline_mode"))
    for module, flag in loaded:
        if module in sys.modules:
            setattr(sys.modules[module], flag, True)


def quieten() -> None:
    """Lets the libraries under llm-guard say errors only; their warnings quote the text or name the device."""
    for name in ("transformers", "presidio-analyzer", "presidio-anonymizer", "detect_secrets", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)


# Which scanners would work here, from where, and at what cost; for `doctor`. Loads none of them.


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


def _of_kind(name: str, kind: ScannerKind, here: Presence) -> ScannerStatus:
    missing = _missing(kind, here)
    works, why = (False, missing) if missing else _data(kind.hub, kind, False)
    return ScannerStatus(name, works, why, _source(here), kind.cost)


def _source(here: Presence) -> str:
    return f"llm-guard {here.version} in {here.folder}" if here.version else "llm-guard, not installed"


def _missing(kind: ScannerKind, here: Presence) -> str:
    if not here.version:
        return f"llm-guard is not installed. {in_users_language(INSTALL)}"
    if not here.right:
        return f"llm-guard {here.version} is installed, but {LLM_GUARD} is required"
    if kind.need in ("model", "spacy") and not here.torch:
        return f"torch is not installed. {in_users_language(INSTALL)}"
    if kind.need == "spacy" and not here.spacy_models:
        return f"the spaCy models {' and '.join(SPACY_MODELS)} are not installed"
    return ""


def _data(hub: str, kind: ScannerKind, download: bool) -> tuple[bool, str]:
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
