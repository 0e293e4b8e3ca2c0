"""Prints recall and false alarms of the injection stage by language, with counts and Wilson intervals, and its speed.

    python benchmarks/injection.py [--threshold 0.5] [--missed]

Reads the labeled lines of tests/data/injection and, where they exist, the shared data: the folder that
OLLAMA_KIT_SHARED_DATA names, else ../shared/data beside the repository. Lines are also counted by a half of their own,
drawn by a hash of the text: rules are written on the first half and measured on the second.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ollama_kit.guard.injection import DEFAULT_THRESHOLD, find_injection  # noqa: E402

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SENTENCE = re.compile(r"[^。！？；\n]+[。！？；]?")


@dataclass(frozen=True)
class Line:
    """One labeled line."""

    id: str
    text: str
    attack: bool
    language: str
    origin: str

    @property
    def half(self) -> str:
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        return ("written on", "measured on")[int(digest, 16) % 2]


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson's score interval)."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = share + z * z / (2 * count)
    width = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, (middle - width) / (1 + z * z / count)), min(1.0, (middle + width) / (1 + z * z / count))


def shared_data() -> Path | None:
    """The shared data, if this machine has it."""
    named = os.environ.get("OLLAMA_KIT_SHARED_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def labeled(folder: Path | None) -> Iterator[Line]:
    """Every labeled line there is, each text once."""
    paths = [("own", ROOT / "tests" / "data" / "injection" / "lines.jsonl")]
    if folder:
        paths += [(kind, folder / kind / "injection" / "injection.jsonl") for kind in ("own", "public")]
    seen: set[str] = set()
    for origin, path in paths:
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()):
            if row["text"] not in seen:
                seen.add(row["text"])
                yield Line(row["id"], row["text"], row["label"] == "attack", row["lang"], origin)


def everyday(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Harmless texts by kind, sentence by sentence: chats without their injected messages, contracts."""
    planted = {"D06", "D08", "D11", "D14"}
    chats = sorted((folder / "own" / "chat" / "chatlab").glob("*.json"))
    messages = [
        message.get("content") or ""
        for path in chats
        for at, message in enumerate(json.loads(path.read_text(encoding="utf-8"))["messages"], 1)
        if not ("injection" in path.name and f"D{at:02}" in planted)
    ]
    yield "chat messages", [message for message in messages if message]
    for name, pattern in (
        ("Chinese contracts", "own/contracts/zh_synthetic/*.txt"),
        ("English contracts", "public/contracts/en_*/*.*"),
    ):
        paths = [path for path in sorted(folder.glob(pattern)) if path.suffix in {".txt", ".md"}]
        texts = [path.read_text(encoding="utf-8") for path in paths if "injection" not in path.name]
        yield name, [sentence for text in texts for sentence in _SENTENCE.findall(text) if sentence.strip()]


def row(name: str, hits: int, count: int) -> None:
    low, high = wilson(hits, count)
    print(f"  {name:<44}{hits:>6} / {count:<6}{hits / count if count else 0:>8.2%}   [{low:.2%}, {high:.2%}]")


def shares(lines: list[Line], found: dict[str, bool]) -> None:
    """Recall and false alarms, by language and origin and half."""
    for title, attack in (("recall", True), ("false alarms", False)):
        print(f"{title} (95 % Wilson interval)")
        chosen = [line for line in lines if line.attack is attack]
        groups = [(f"all, {language}", [x for x in chosen if x.language == language]) for language in ("zh", "en")]
        groups += [
            (f"{origin}, {language}, {half}", group)
            for origin in ("own", "public")
            for language in ("zh", "en")
            for half in ("written on", "measured on")
            if (group := [x for x in chosen if (x.origin, x.language, x.half) == (origin, language, half)])
        ]
        for name, group in [("all", chosen), *groups]:
            row(name, sum(found[line.text] for line in group), len(group))


def speed(name: str, text: str, size_bytes: int = 100_000, rounds: int = 7) -> None:
    """Median processor time for 100 KB of UTF-8."""
    whole = (text * (size_bytes // max(1, len(text.encode())) + 1)).encode()[:size_bytes].decode("utf-8", "ignore")
    times = []
    for _ in range(rounds):
        began = time.process_time()
        find_injection(whole, "d")
        times.append(time.process_time() - began)
    print(f"  {name:<44}{statistics.median(times) * 1000:>8.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--threshold", type=float, default=DEFAULT_THRESHOLD)
    parser.add_argument("--missed", action="store_true", help="list the ids of what was missed or wrongly found")
    asked = parser.parse_args()
    folder = shared_data()
    lines = list(labeled(folder))
    found = {line.text: bool(find_injection(line.text, line.id, threshold=asked.threshold)) for line in lines}
    shares(lines, found)
    texts = dict(everyday(folder)) if folder else {}
    for name, sentences in texts.items():
        row(name, sum(bool(find_injection(x, "d", threshold=asked.threshold)) for x in sentences), len(sentences))
    print("100 KB of UTF-8, processor time")
    for name, sentences in texts.items():
        speed(name, "\n".join(sentences))
        chinese = [sentence for sentence in sentences if len(_CHINESE.findall(sentence)) > len(sentence) / 2]
        if chinese:
            speed(f"{name}, the Chinese of them", "\n".join(chinese))
    if asked.missed:
        print("wrong:", *(line.id for line in lines if found[line.text] != line.attack))


if __name__ == "__main__":
    main()
