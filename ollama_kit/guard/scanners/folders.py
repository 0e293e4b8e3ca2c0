"""A model in a local folder: whether it is whole, what its labels mean, how much of a text it can see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.rules import ScannerRule

WINDOW_TOKENS = 512
WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.onnx")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_POSITIONS_SPENT = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet", "data2vec-text"})
"""Model types that spend two of their positions on padding (transformers 4.51, create_position_ids_from_input_ids)."""


def read_folder(rule: ScannerRule) -> dict[str, Any]:
    """The `config.json` of a rule's model folder. UsageError if the folder is not a whole model."""
    folder = Path(rule.model or "")
    if not folder.is_dir():
        raise UsageError(
            f"{rule.name!r} has no model: there is no folder {folder}",
            hint=(
                (
                    "Give the folder that holds config.json, the tokenizer and the weights; a relative "
                    "one is meant from the policy's folder."
                ),
                "请给出含 config.json、分词器与权重的文件夹;相对路径以策略文件所在文件夹为准。",
            ),
        )
    missing = [what for what, globs in (("weights", WEIGHTS), ("tokenizer", TOKENIZERS)) if not _any(folder, globs)]
    if missing:
        raise UsageError(f"the model folder {folder} of {rule.name!r} has no {' and no '.join(missing)}")
    return _read(folder / "config.json", rule)


def _any(folder: Path, globs: tuple[str, ...]) -> bool:
    return any(next(folder.rglob(pattern), None) for pattern in globs)


def _read(path: Path, rule: ScannerRule) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"the model of {rule.name!r} has no readable {path.name}: {problem}") from problem
    if not isinstance(found, dict):
        raise UsageError(f"{path} is no model configuration")
    return found


def window_tokens(config: dict[str, Any], folder: Path, asked: int = WINDOW_TOKENS) -> int:
    """How many tokens, special ones included, the model of a folder sees at once; `asked` at most."""
    spent = 2 if config.get("model_type") in _POSITIONS_SPENT else 0
    limits = [asked]
    for key in ("max_position_embeddings", "n_positions"):
        if isinstance(config.get(key), int) and config[key] > 0:
            limits.append(config[key] - spent)
    tokenizer = folder / "tokenizer_config.json"
    if tokenizer.is_file():
        try:
            said = json.loads(tokenizer.read_text(encoding="utf-8")).get("model_max_length")
        except (OSError, ValueError, AttributeError):
            said = None
        if isinstance(said, int | float) and said > 0:  # 1e30 where it was never set
            limits.append(int(min(said, asked)))
    return min(limits)


def labels_of(config: dict[str, Any]) -> tuple[str, ...]:
    """A model's labels, in the order of its outputs; transformers' own names where it gives none."""
    named = config.get("id2label")
    if isinstance(named, dict) and named:
        return tuple(str(named[key]) for key in sorted(named, key=int))
    count = config.get("num_labels")
    return tuple(f"LABEL_{at}" for at in range(count if isinstance(count, int) else 2))


def settled_labels(rule: ScannerRule, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels under the names that the rule's scanner knows, through the rule's own `labels` and regardless of
    case. UsageError if the scanner would misread them: a label that it does not know, it silently takes for the
    opposite of one that it does.

    >>> settled_labels(ScannerRule("pi", "PromptInjection", "input"), ("safe", "injection"))
    ('safe', 'INJECTION')
    """
    given = dict(rule.labels)
    unknown = sorted(set(given) - set(labels))
    if unknown:
        raise _misread(rule, labels, f"`labels` names {unknown[0]!r}, which the model has not")
    known = {name.casefold(): name for name in rule.kind.names}
    named = tuple(given.get(label, label) for label in labels)
    settled = tuple(known.get(name.casefold(), name) for name in named)
    problem = _problem(rule, settled)
    if problem:
        raise _misread(rule, labels, problem)
    return settled


def _problem(rule: ScannerRule, labels: tuple[str, ...]) -> str:
    names, how = rule.kind.names, rule.kind.labels
    if how == "one":
        rest = {label for label in labels if label not in names}
        if len(rest) == len(set(labels)):
            return f"none of them is {' or '.join(names)}"
        return "" if len(rest) == 1 else f"exactly one of them must be the opposite of {' or '.join(names)}"
    if how == "some":
        return "" if set(names) & set(labels) else f"none of them is {', '.join(names)}"
    if how == "listed":
        missing = set(rule.option(names[0], ())) - set(labels)
        return f"{names[0]} names {min(missing)!r}, which is not among them" if missing else ""
    if how == "entailment":
        found = any(label.lower().startswith("entail") for label in labels)
        return "" if found else "none of them is entailment"
    if how == "entailment_first":
        return "" if labels[:1] == (names[0],) else "the first of them must be entailment"
    return ""


def _misread(rule: ScannerRule, labels: tuple[str, ...], problem: str) -> UsageError:
    example = f"labels: {{{labels[-1]}: {rule.kind.names[0] if rule.kind.names else 'entailment'}}}"
    return UsageError(
        f"{rule.scanner} ({rule.name!r}) would misread its model, whose labels are {', '.join(labels)}: {problem}",
        hint=(
            f"Say in the policy what they mean, such as `{example}`.",
            f"请在策略中说明各标签的含义，例如 `{example}`。",
        ),
    )
