"""Tokenizers kept by digest: fetched once, shared between processes, never in the way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import ProtocolError, ServerUnreachable
from ollama_kit.tokens import load_tokenizer
from ollama_kit.tokens.store import KEPT_IN_MEMORY, cache_file, forget_loaded
from tests.models.vocabularies import vocabulary
from tests.tokens.texts import FIXED

DIGEST = "sha256:" + "ab" * 32


class Source:
    """Counts how often the metadata were asked for."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self.info, self.asked = info, 0

    def __call__(self) -> Mapping[str, Any]:
        self.asked += 1
        return self.info


def never() -> Mapping[str, Any]:
    """A source that must not be asked."""
    raise AssertionError("the server was asked although the tokenizer is kept")


@pytest.fixture(autouse=True)
def empty_memory() -> Iterator[None]:
    """Each test starts and ends with nothing kept in this process."""
    forget_loaded()
    yield
    forget_loaded()


@pytest.fixture
def source() -> Source:
    """The small vocabulary, with a key that no tokenizer needs."""
    return Source({**vocabulary("gemma"), "general.architecture": "gemma2", "tokenizer.chat_template": "secret text"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen2", "spm", "gemma"])
def test_what_comes_back_from_disk_encodes_the_same(name: str) -> None:
    """Ids, control tokens, bounds and families are those of the tokenizer that was built."""
    fresh = load_tokenizer(DIGEST, Source(vocabulary(name)))
    forget_loaded()
    kept = load_tokenizer(DIGEST, never)
    assert kept is not fresh
    assert [kept.encode(text) for text in FIXED] == [fresh.encode(text) for text in FIXED]
    assert (kept.control_tokens, kept.bound, kept.families, kept.bos_ids) == (
        fresh.control_tokens,
        fresh.bound,
        fresh.families,
        fresh.bos_ids,
    )


def test_one_process_builds_once(source: Source) -> None:
    """The second call gives the same object, without disk or server."""
    first = load_tokenizer(DIGEST, source)
    cache_file(DIGEST).unlink()
    assert load_tokenizer(DIGEST, never) is first
    assert source.asked == 1


def test_memory_is_bounded(source: Source) -> None:
    """The tokenizer used longest ago goes first."""
    oldest = load_tokenizer("0", source)
    for digest in range(1, KEPT_IN_MEMORY + 1):
        load_tokenizer(str(digest), source)
    assert load_tokenizer("0", never) is not oldest
    assert source.asked == KEPT_IN_MEMORY + 1


def test_digests_do_not_share_and_may_be_any_text(source: Source) -> None:
    """A digest never names a path of its own."""
    for digest in ("sha256:1", "sha256:2", "../../escape", "a/b", "CON", "长" * 300):
        load_tokenizer(digest, source)
        assert cache_file(digest).parent.name == "tokenizers"
        assert cache_file(digest).is_file()
    assert source.asked == 6


def damaged(content: bytes) -> dict[str, bytes]:
    """Ways in which a file can be wrong."""
    header, _, body = content.partition(b"\n")
    swapped = body.replace(b"<end_of_turn>", b"<and_of_turn>")
    return {
        "cut short": content[: len(content) // 2],
        "empty": b"",
        "one letter changed": header + b"\n" + swapped,
        "another format": content.replace(b"tokenizer 1 ", b"tokenizer 2 ", 1),
        "not text": bytes(range(256)) * 50,
        "not ours": json.dumps({"tokenizer.ggml.model": "gpt2"}).encode(),
    }


@pytest.mark.parametrize("how", list(damaged(b"")))
def test_a_damaged_file_is_rebuilt(how: str, source: Source) -> None:
    """Whatever happened to it: the server is asked once more, and the file is whole again."""
    load_tokenizer(DIGEST, source)
    whole = cache_file(DIGEST).read_bytes()
    assert damaged(whole)[how] != whole
    cache_file(DIGEST).write_bytes(damaged(whole)[how])
    forget_loaded()
    load_tokenizer(DIGEST, source)
    assert source.asked == 2
    assert cache_file(DIGEST).read_bytes() == whole


def test_a_cache_that_can_not_be_written_is_no_error(
    source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file stands where the folder should be: counting goes on."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("OLLAMA_KIT_CACHE", str(blocked))
    assert load_tokenizer(DIGEST, source).exact
    assert blocked.read_text(encoding="utf-8") == ""


def test_failures_of_the_source_go_through_and_leave_nothing(source: Source) -> None:
    """The caller sees the server's error; nothing is kept of it."""

    def dead() -> Mapping[str, Any]:
        raise ServerUnreachable("nobody at http://127.0.0.1:1", url="http://127.0.0.1:1")

    with pytest.raises(ServerUnreachable):
        load_tokenizer(DIGEST, dead)
    with pytest.raises(ProtocolError):
        load_tokenizer(DIGEST, dict)
    assert not cache_file(DIGEST).exists()
    assert load_tokenizer(DIGEST, source).exact


def test_only_what_cuts_text_is_kept(source: Source) -> None:
    """Nothing else of the model's metadata lands on disk, and no half file stays behind."""
    load_tokenizer(DIGEST, source)
    assert b"secret text" not in cache_file(DIGEST).read_bytes()
    assert list(cache_file(DIGEST).parent.iterdir()) == [cache_file(DIGEST)]


WORKER = """
import json, sys
from ollama_kit.tokens import load_tokenizer
info = json.load(open(sys.argv[1], encoding="utf-8"))
sys.stdin.readline()
counts = []
for round in range(10):
    from ollama_kit.tokens.store import cache_file, forget_loaded
    forget_loaded()
    if round % 3 == 0:
        cache_file("d").unlink(missing_ok=True)
    counts.append(load_tokenizer("d", lambda: info).count("hello <b> 中国\\n\\n"))
print(json.dumps(counts))
"""


@pytest.mark.process
def test_processes_may_load_write_and_remove_at_once(source: Source, tmp_path: Path) -> None:
    """Three at a time on one file: each always counts the same, and the file is whole at the end."""
    info = tmp_path / "info.json"
    info.write_text(json.dumps(source.info), encoding="utf-8")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(info)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for _ in range(3)
    ]
    expected = load_tokenizer("other", source).count("hello <b> 中国\n\n")
    done = [process.communicate("go\n") for process in started]
    assert [json.loads(out) for out, _ in done] == [[expected] * 10] * 3, done
    assert load_tokenizer("d", source).count("hello <b> 中国\n\n") == expected
    assert not list(cache_file("d").parent.glob("*.part"))
