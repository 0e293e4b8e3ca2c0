"""How fast a model reads and writes on this server, measured with one short request."""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.server.server import Server

WORDS = "The quick brown fox jumps over the lazy dog. " * 20
WRITTEN_TOKENS = 24


@dataclass(frozen=True)
class Pace:
    """Tokens a second, of prompts read and of answers written."""

    reads: float
    writes: float

    def seconds(self, prompt_tokens: int, answer_tokens: int) -> float:
        """What one request takes.

        >>> Pace(reads=100, writes=10).seconds(200, 50)
        7.0
        """
        return prompt_tokens / self.reads + answer_tokens / self.writes


def measure_pace(server: Server, model: str, context_tokens: int) -> Pace:
    """The pace of a model that is loaded, or is loaded for this; num_ctx is that of the calls to come, so that it need
    not be loaded again. The words are ours, and none of the user's."""
    options = {"num_ctx": context_tokens, "num_predict": WRITTEN_TOKENS, "seed": 1}
    body = {"model": model, "prompt": WORDS, "raw": True, "options": options}
    with server.generate(body) as lines:
        last = {}
        for line in lines:
            last = line
    return Pace(
        reads=_rate(last.get("prompt_eval_count"), last.get("prompt_eval_duration")),
        writes=_rate(last.get("eval_count"), last.get("eval_duration")),
    )


def _rate(tokens: object, nanoseconds: object) -> float:
    """Tokens a second; a figure that the server left out (it was too small) counts as a very fast one."""
    if isinstance(tokens, int) and isinstance(nanoseconds, int) and tokens > 0 and nanoseconds > 0:
        return tokens / (nanoseconds / 1e9)
    return 1000.0
