"""A model in a local folder: whether it is complete, what its labels mean, how much of a text it can see.

What lies past its window, a model does not see: `overlapping` and `disjoint` cut a text into pieces that fit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.config import ScannerRule

WINDOW_TOKENS = 512
WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.onnx")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_POSITIONS_SPENT = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet", "data2vec-text"})
"""Model types that spend two of their positions on padding (transformers 4.51, create_position_ids_from_input_ids)."""


def read_folder(rule: ScannerRule) -> dict[str, Any]:
    """The `config.json` of a rule's model folder. UsageError if the folder is not a complete model."""
    folder = Path(rule.model or "")
    if not folder.is_dir():
        raise UsageError(
            f"the model folder of {rule.name!r} does not exist: {folder}",
            hint=(
                (
                    "Give the folder that holds config.json, the tokenizer and the weights; a relative "
                    "path is resolved against the policy's folder."
                ),
                "请给出含 config.json、分词器与权重的文件夹；相对路径以策略文件所在文件夹为准。",
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
        raise UsageError(f"{path} is not a model configuration")
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
        if isinstance(said, int | float) and said > 0:  # 1e30 if it was never set
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
    case. UsageError if the scanner would misread them: a label that it does not know, it silently takes as the
    opposite of one that it does.

    >>> settled_labels(ScannerRule("pi", "PromptInjection", "input"), ("safe", "injection"))
    ('safe', 'INJECTION')
    """
    given = dict(rule.labels)
    unknown = sorted(set(given) - set(labels))
    if unknown:
        raise _misread(rule, labels, f"`labels` names {unknown[0]!r}, which the model does not have")
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


# A text in pieces that a model can take whole.


Span = tuple[int, int]

SPARE_TOKENS = 16  # a piece can take a few tokens more than the same characters did within the text
WORD_CHARS, SHARED_CHARS = 100, 24
_BREAKS = re.compile(r"[\n。！？；.!?;,，\s]")


def overlapping(text: str, tokenizer: Any, room: int) -> tuple[Span, ...]:
    """Spans that cover `text`, each of at most `room` tokens, each sharing about a quarter with the one before."""
    spans = list(_covering(text, tokenizer, room, max(1, room // 4)))
    return tuple(spans or [(0, len(text))])


def disjoint(text: str, tokenizer: Any, room: int) -> tuple[Span, ...]:
    """Spans of at most `room` tokens that join to `text`, cut where a sentence or a word ends, if possible."""
    spans, start = [], 0
    for _, end in _covering(text, tokenizer, room, 0):
        if end < len(text):
            last = max((found.end() for found in _BREAKS.finditer(text, start, end)), default=end)
            end = last if last > start + (end - start) // 2 else end
        while start < end:
            stop = end
            while stop - start > 1 and token_count(text[start:stop], tokenizer) > room:
                stop = start + (stop - start) // 2
            spans.append((start, stop))
            start = stop
    return (*spans, (start, len(text))) if start < len(text) else tuple(spans)


def token_count(text: str, tokenizer: Any) -> int:
    """The tokens of a text, without special ones."""
    return len(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])


def _covering(text: str, tokenizer: Any, room: int, overlap: int) -> Iterator[Span]:
    """Spans by the tokens of the whole text, each split again where it takes more tokens by itself."""
    places = _places(text, tokenizer)
    begun = 0
    for at, (start, end) in enumerate(places):
        if end - start > WORD_CHARS:
            yield from _by_tokens(text, places[begun:at], (places[begun][0], start), tokenizer, (room, overlap))
            yield from _in_pieces(start, end)
            begun = at + 1
    if begun < len(places) or not places:
        rest = (places[begun][0] if begun else 0, len(text))
        yield from _by_tokens(text, places[begun:], rest, tokenizer, (room, overlap))


def _by_tokens(text: str, places: list[Span], span: Span, tokenizer: Any, sizes: tuple[int, int]) -> Iterator[Span]:
    """`span` of the text, whose tokens are at `places`, in pieces; `sizes` are the room and the overlap in tokens."""
    room, overlap = sizes
    size = room - SPARE_TOKENS if room > 2 * SPARE_TOKENS else max(1, room)
    step, covered = max(1, size - overlap), span[0]
    for at in range(0, len(places), step):
        last = at + size >= len(places)
        end = span[1] if last else places[at + size - 1][1]
        yield from _fitting(text, (min(places[at][0], covered), end), tokenizer, room)
        covered = end
        if last:
            return


def _in_pieces(start: int, end: int) -> Iterator[Span]:
    """One endless word in pieces. WordPiece turns a word of more than 100 characters into a single unknown token, and
    the model then sees nothing of what it says; the pieces are words that it can see."""
    for at in range(start, end, WORD_CHARS - SHARED_CHARS):
        yield at, min(at + WORD_CHARS, end)
        if at + WORD_CHARS >= end:
            return


def _fitting(text: str, span: Span, tokenizer: Any, room: int) -> Iterator[Span]:
    """The span, or the parts of it that fit; parts share some characters, so that no word is only ever seen in two."""
    start, end = span
    if end - start <= 1 or token_count(text[start:end], tokenizer) <= room:
        yield span
        return
    middle, shared = (start + end) // 2, min(SHARED_CHARS, (end - start) // 8)
    yield from _fitting(text, (start, middle + shared), tokenizer, room)
    yield from _fitting(text, (middle, end), tokenizer, room)


def _places(text: str, tokenizer: Any) -> list[Span]:
    """The span of each token of the text; one per character if the tokenizer does not know."""
    if not getattr(tokenizer, "is_fast", False):
        return [(at, at + 1) for at in range(len(text))]
    encoded = tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False)
    return [(start, end) for start, end in encoded["offset_mapping"] if end > start]
