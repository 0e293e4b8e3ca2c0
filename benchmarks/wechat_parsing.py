"""Reading exported chats: MB/s beside the bare csv and json modules, and memory for a file of a gigabyte.

Seconds are those of the processor: what else the machine does is not counted. Target: 20 MB/s of CSV or JSON, or
within 2 × of the bare module; 1 GB in less than 300 MB.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.timing import median_ratio, metered_in_turns, verdict
from ollama_kit.jobs.wechat.readers.read_chat import read_messages

CHATS = Path(__file__).parents[1] / "tests" / "data" / "chat"
CHAT = "synthetic_zh_group_delivery"
PARSED_BYTES, LARGE_BYTES = 20_000_000, 1_000_000_000
ROUNDS = 5
LEAST_MB_S, MOST_TIMES, MOST_MB = 20, 2, 300
FILES = {
    "MemoTrace CSV": f"memotrace_v2/{CHAT}.csv",
    "chatlog CSV": f"chatlog/{CHAT}.csv",
    "chatlog JSON": f"chatlog/{CHAT}.json",
    "ChatLab JSONL": f"chatlab/{CHAT}.jsonl",
    "chatlog TXT": f"chatlog/{CHAT}.txt",
}
PEAK = (
    "import sys; from benchmarks.timing import peak_bytes;"
    "from ollama_kit.jobs.wechat.readers.read_chat import read_messages;"
    "n = sum(1 for _ in read_messages(sys.argv[1]));"
    "print(n, peak_bytes() >> 20)"
)


def repeated(name: str, path: Path, size: int) -> Path:
    """Writes the shipped chat of that format over and over until the file has `size` bytes."""
    whole = (CHATS / name).read_text(encoding="utf-8-sig")
    head, body, joint, tail = _parts(name, whole)
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write(head)
        for number in range(size // len(body.encode("utf-8")) + 1):
            out.write(joint * (number > 0) + body)
        out.write(tail)
    return path


def _parts(name: str, whole: str) -> tuple[str, str, str, str]:
    """What stands before the messages, the messages, what joins them to the next, what stands behind."""
    if name.endswith(".json"):
        return "[", whole.strip()[1:-1], ",", "]"
    if name.endswith(".txt"):
        return "", whole.rstrip("\n"), "\n\n", "\n"
    lines = whole.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines[1:], 1) if not name.endswith("l") or '"_type":"message"' in line)
    return "".join(lines[:first]), "".join(lines[first:]), "", ""


def read(path: Path) -> int:
    return sum(1 for _ in read_messages(path))


def bare_csv(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as stream:
        return sum(1 for _ in csv.reader(stream))


def bare_json(path: Path) -> int:
    with path.open(encoding="utf-8") as stream:
        return len(json.load(stream))


def bare_jsonl(path: Path) -> int:
    with path.open(encoding="utf-8") as stream:
        return sum(1 for line in stream if not line.startswith("#") and json.loads(line))


def processor_seconds(work: Callable[[Path], int], path: Path) -> float:
    """How long a work keeps the processor busy, once."""
    start = time.process_time()
    work(path)
    return time.process_time() - start


BARE: dict[str, Callable[[Path], int]] = {"CSV": bare_csv, "JSON": bare_json, "JSONL": bare_jsonl}


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        for title, name in FILES.items():
            path = repeated(name, Path(folder) / "chat", PARSED_BYTES)
            yield _speed(title, path)
        if sys.platform != "win32":
            for title in ("MemoTrace CSV", "chatlog JSON"):
                yield _peak(title, repeated(FILES[title], Path(folder) / "chat", LARGE_BYTES))


def _speed(title: str, path: Path) -> str:
    works = {"ours": partial(processor_seconds, read, path)}
    bare = BARE.get(title.rpartition(" ")[2])
    if bare is not None:
        works["bare"] = partial(processor_seconds, bare, path)
    seconds = metered_in_turns(works, ROUNDS)
    megabytes = path.stat().st_size / 1e6
    speed = megabytes / sorted(seconds["ours"])[ROUNDS // 2]
    line = f"{title}: {speed:.1f} MB/s, {read(path) / megabytes * speed / 1000:.0f} thousand messages/s"
    if bare is None:
        return line
    times = median_ratio(seconds["ours"], seconds["bare"])
    return f"{line}; {times:.1f} × of the bare module; {verdict(speed >= LEAST_MB_S or times <= MOST_TIMES)}"


def _peak(title: str, path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, encoding="utf-8", check=True)
    count, megabytes = map(int, done.stdout.split())
    return (
        f"{title} of {path.stat().st_size / 1e9:.2f} GB: {count:,} messages, {megabytes} MB at most;"
        f" {verdict(megabytes < MOST_MB)}"
    )
