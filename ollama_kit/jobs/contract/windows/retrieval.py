"""Which segments of a contract speak of a question: by the titles of their clauses, and by the words in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.contract.topics import TOPICS, Topic
from ollama_kit.jobs.contract.windows.segments import Segment
from ollama_kit.text.folding import fold
from ollama_kit.text.locate import pairs_of

HEAD = 1_500
"""Characters from the beginning in which a contract names itself, its parties and its date."""
TITLED = 6
"""What a title is worth; each different word in the text is worth one, up to MOST_WORDS."""
MOST_WORDS = 5


@dataclass(frozen=True)
class Index:
    """The segments of a contract with what each is worth to a topic.

    `floor` is what each is worth to any question: in a text without clauses nothing says that a part has nothing to do
    with it."""

    text: ContractText
    segments: tuple[Segment, ...]
    floor: int = 0

    def scores(self, questions: Iterable[Question]) -> tuple[int, ...]:
        """What each segment is worth to the questions together; 0 where it says nothing on them.

        Where one of them names neither topics nor words, every segment is worth something: all of it is read."""
        questions = list(questions)
        topics = [TOPICS[name] for name in dict.fromkeys(name for one in questions for name in one.topics)]
        words = [fold(word).lower() for one in questions for word in one.words]
        floor = self.floor or int(any(not one.topics and not one.words for one in questions))
        pattern = re.compile("|".join(map(re.escape, words))) if words else None
        return tuple(floor + self._score(segment, topics, pattern) for segment in self.segments)

    def _score(self, segment: Segment, topics: Sequence[Topic], words: re.Pattern[str] | None) -> int:
        score = 0
        for topic in topics:
            score += TITLED * topic.is_titled(segment.titles)
            score += self._words(topic.pattern(), segment)
            if topic.name in _AT_HEAD and segment.start < HEAD:
                score += TITLED
            if topic.name in _AT_END and segment.end == len(self.text.plain):
                score += TITLED
        if words is not None:
            score += TITLED * (words.search(segment.titles) is not None) + self._words(words, segment)
        return score

    def _words(self, pattern: re.Pattern[str], segment: Segment) -> int:
        found: set[str] = set()
        for match in pattern.finditer(self.text.lower, segment.start, segment.end):
            found.add(match[0])
            if len(found) == MOST_WORDS:
                break
        return len(found)

    def likest(self, question: Question, words: str) -> list[int]:
        """The places of the segments that may prove `words` as an answer to `question`, best first; those that have
        nothing to do with either are left out.

        Pairs of characters count by how few segments hold them: a name that stands everywhere tells none apart."""
        wanted = pairs_of(words)
        rare = {pair: 1 / count for pair in wanted if (count := self._counts[pair])}
        topics = self.scores([question])
        worth = {
            at: sum(rare[pair] for pair in wanted & pairs) + topics[at] / TITLED for at, pairs in enumerate(self._pairs)
        }
        return sorted((at for at in worth if worth[at]), key=lambda at: (-worth[at], at))

    @cached_property
    def _pairs(self) -> tuple[frozenset[str], ...]:
        return tuple(pairs_of(self.text.plain[segment.start : segment.end]) for segment in self.segments)

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(pair for pairs in self._pairs for pair in pairs)


_AT_HEAD = frozenset({"parties", "subject", "dates"})
_AT_END = frozenset({"signatures", "parties", "dates"})
