"""The scanners of llm-guard 0.3.16 as data: what each accepts, needs and costs, and why some are refused.

Options, defaults and labels are those of llm_guard/input_scanners and llm_guard/output_scanners, release 0.3.16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

LLM_GUARD = "0.3.16"

Side = Literal["input", "output"]
Need = Literal["nothing", "model", "spacy", "download"]
Labels = Literal["", "one", "some", "entailment", "entailment_first", "listed"]
Reads = Literal["text", "pair", "whole", "disjoint"]

BOTH: tuple[Side, ...] = ("input", "output")
INPUT: tuple[Side, ...] = ("input",)
OUTPUT: tuple[Side, ...] = ("output",)


@dataclass(frozen=True)
class ScannerOption:
    """One option of a scanner: `kind` is "flag", "text", "number", "count", "texts", or a tuple of words."""

    kind: str | tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class ScannerKind:
    """One scanner. `labels` says how it reads a model's labels, `names` which ones it knows by name; `reads` how a
    text reaches the model: "text" in overlapping windows, "disjoint" in windows that are joined again, "pair" as
    windows of answer and prompt, "whole" as it is. `threshold` is the name of the argument, empty if there is none.
    `pipeline` is how llm-guard runs the model (the `pipeline_kwargs` of its own one)."""

    sides: tuple[Side, ...]
    need: Need
    cost: str
    options: Mapping[str, ScannerOption]
    redacts: bool = False
    severity: Literal["low", "medium", "high"] = "medium"
    threshold: str = ""
    labels: Labels = ""
    names: tuple[str, ...] = ()
    reads: Reads = "whole"
    hub: str = ""
    window_tokens: int = 512
    pipeline: Mapping[str, Any] = field(default_factory=dict)


_TEXTS = ScannerOption("texts", required=True)
_ALL_LABELS = {"top_k": None}
_ONNX = {"use_onnx": ScannerOption("flag")}


def _learned(sides: tuple[Side, ...], hub: str, **more: Any) -> ScannerKind:
    """A scanner with a model of its own; `options` of `more` come on top of those that all of them take."""
    options = {**_ONNX, **more.pop("options", {})}
    cost = "imports torch (4 to 9 s once, 400 MB), then one pass of the model for each 512 tokens" + more.pop(
        "note", ""
    )
    defaults = {"threshold": "threshold", "reads": "text", **more}
    return ScannerKind(sides, "model", cost, options, hub=hub, **defaults)


KINDS: Mapping[str, ScannerKind] = {
    "Regex": ScannerKind(
        BOTH,
        "nothing",
        "under 1 ms for 4 KB",
        {
            "patterns": _TEXTS,
            "is_blocked": ScannerOption("flag"),
            "match_type": ScannerOption(("search", "fullmatch", "all")),
        },
        redacts=True,
    ),
    "BanSubstrings": ScannerKind(
        BOTH,
        "nothing",
        "under 1 ms for 4 KB",
        {
            "substrings": _TEXTS,
            "match_type": ScannerOption(("str", "word")),
            "case_sensitive": ScannerOption("flag"),
            "contains_all": ScannerOption("flag"),
        },
        redacts=True,
    ),
    "Secrets": ScannerKind(
        INPUT,
        "nothing",
        "10 to 50 ms for 4 KB",
        {"redact_mode": ScannerOption(("all", "partial", "hash"))},
        redacts=True,
        severity="high",
    ),
    "InvisibleText": ScannerKind(INPUT, "nothing", "under 1 ms for 4 KB", {}, redacts=True),
    "NoRefusalLight": ScannerKind(OUTPUT, "nothing", "under 1 ms for 4 KB; knows English only", {}, severity="low"),
    "ReadingTime": ScannerKind(
        OUTPUT,
        "nothing",
        "under 1 ms for 4 KB",
        {"max_time": ScannerOption("number", required=True)},
        redacts=True,
        severity="low",
    ),
    "Deanonymize": ScannerKind(
        OUTPUT, "nothing", "under 1 ms for 4 KB", {"matching_strategy": ScannerOption(("exact",))}
    ),
    "PromptInjection": _learned(
        INPUT,
        "protectai/deberta-v3-base-prompt-injection-v2",
        note="; the public model knows English only, and takes plain Chinese for an attack",
        severity="high",
        labels="one",
        names=("INJECTION",),
    ),
    "Toxicity": _learned(
        BOTH,
        "unitary/unbiased-toxic-roberta",
        labels="some",
        names=(
            *("toxicity", "severe_toxicity", "obscene", "threat", "insult"),
            *("identity_attack", "sexual_explicit"),
        ),
        pipeline={**_ALL_LABELS, "function_to_apply": "sigmoid"},
    ),
    "Gibberish": _learned(
        BOTH,
        "madhurjindal/autonlp-Gibberish-Detector-492513457",
        severity="low",
        labels="one",
        names=("word salad", "noise", "mild gibberish"),
    ),
    "Language": _learned(
        BOTH,
        "papluca/xlm-roberta-base-language-detection",
        severity="low",
        labels="listed",
        names=("valid_languages",),
        options={"valid_languages": _TEXTS},
        pipeline=_ALL_LABELS,
    ),
    "BanTopics": _learned(
        BOTH,
        "MoritzLaurer/roberta-base-zeroshot-v2.0-c",
        labels="entailment",
        options={"topics": _TEXTS},
    ),
    "BanCode": _learned(
        BOTH, "vishnun/codenlbert-sm", severity="low", labels="one", names=("CODE",), window_tokens=128
    ),
    "Code": _learned(
        BOTH,
        "philomath-1209/programming-language-identification",
        severity="low",
        labels="listed",
        names=("languages",),
        options={"languages": _TEXTS, "is_blocked": ScannerOption("flag")},
        pipeline=_ALL_LABELS,
    ),
    "BanCompetitors": _learned(
        BOTH,
        "guishe/nuner-v1_orgs",
        severity="low",
        redacts=True,
        reads="disjoint",
        options={"competitors": _TEXTS},
        pipeline={"aggregation_strategy": "simple"},
    ),
    "NoRefusal": _learned(
        OUTPUT,
        "ProtectAI/distilroberta-base-rejection-v1",
        severity="low",
        labels="one",
        names=("REJECTION",),
        window_tokens=128,
    ),
    "Bias": _learned(OUTPUT, "valurank/distilroberta-bias", labels="one", names=("BIASED",)),
    "MaliciousURLs": _learned(
        OUTPUT,
        "DunnBC22/codebert-base-Malicious_URLs",
        severity="high",
        labels="some",
        names=("defacement", "phishing", "malware"),
        reads="whole",
        window_tokens=128,
        pipeline=_ALL_LABELS,
    ),
    "LanguageSame": _learned(
        OUTPUT, "papluca/xlm-roberta-base-language-detection", severity="low", reads="pair", pipeline=_ALL_LABELS
    ),
    "FactualConsistency": _learned(
        OUTPUT,
        "MoritzLaurer/deberta-v3-base-zeroshot-v2.0",
        threshold="minimum_score",
        labels="entailment_first",
        names=("entailment", "not_entailment"),
        reads="pair",
    ),
    "Relevance": _learned(OUTPUT, "BAAI/bge-base-en-v1.5", severity="low", reads="pair"),
    "Anonymize": ScannerKind(
        INPUT,
        "spacy",
        "imports torch and spaCy (9 s once, over 1 GB), then seconds for a long text",
        {
            "hidden_names": ScannerOption("texts"),
            "allowed_names": ScannerOption("texts"),
            "entity_types": ScannerOption("texts"),
            "language": ScannerOption(("en", "zh")),
        },
        redacts=True,
        threshold="threshold",
        hub="Isotonic/deberta-v3-base_finetuned_ai4privacy_v2",
    ),
    "Sensitive": ScannerKind(
        OUTPUT,
        "spacy",
        "imports torch and spaCy (9 s once, over 1 GB), then seconds for a long text",
        {"entity_types": ScannerOption("texts")},
        redacts=True,
        threshold="threshold",
        hub="Isotonic/deberta-v3-base_finetuned_ai4privacy_v2",
    ),
    "TokenLimit": ScannerKind(
        INPUT,
        "download",
        "a table of 1.7 MB fetched once; counts OpenAI's tokens, not the model's: `max_context` counts those",
        {"limit": ScannerOption("count"), "encoding_name": ScannerOption("text")},
        redacts=True,
        severity="low",
    ),
    "Sentiment": ScannerKind(
        BOTH, "download", "a lexicon fetched once; knows English only", {}, severity="low", threshold="threshold"
    ),
}

REFUSED: Mapping[str, str] = {
    "URLReachability": "it fetches every address that the model wrote, from inside your network",
    "JSON": "it rewrites text that is not JSON, checks no schema and is quadratic; give the call a `schema` instead",
}
"""Scanners that no policy may name, and why."""

SPACY_MODELS = ("en_core_web_sm", "zh_core_web_sm")
"""What Anonymize and Sensitive load, whatever the language of the text."""
