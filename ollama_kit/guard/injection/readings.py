"""Other ways to read a sentence: what an order looks like once its disguise is taken off.

Each disguise has a sign that is searched for once over the whole text; only a sentence that shows it is read again.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from ollama_kit.guard.injection import spellings
from ollama_kit.guard.injection.tables import word_lists
from ollama_kit.text.pattern_search import search_for

_CJK = "\u3400-\u9fff"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\U000e0001-\U000e01ef"
)
_BETWEEN = r" \u3000\u00a0_*.·•・|/\\~+^`#=\-"

_LEET = {"a": "4@", "e": "3", "i": "1!", "l": "1", "o": "0", "s": "5$", "t": "7", "g": "9", "b": "8"}


@dataclass(frozen=True)
class Disguise:
    """`sign` marks a sentence that may be disguised this way; `read` gives the plain sentence, still folded.
    `weight` is what the disguise itself adds to the score, where the plain sentence shows anything. A sign made of
    words has a `clue` that is found in the list of a text's different words wherever the sign is in the text; one that
    holds Chinese says so."""

    name: str
    sign: re.Pattern[str]
    read: Callable[[str], str]
    weight: float
    clue: re.Pattern[str] | None = None
    chinese: bool = False

    @staticmethod
    def by_words(name: str, words: Iterable[str], read: Callable[[str], str], weight: float) -> Disguise:
        """A disguise whose signs are `words` of Latin letters."""
        listed = tuple(words)
        return Disguise(name, search_for(listed), read, weight, search_for(map(_clue, listed)))


@cache
def readings() -> tuple[Disguise, ...]:
    """All of them. The signs have no gaps without bound, so that a search is linear; each begins with a set of
    characters and not with a repeat, which is found several times as fast."""
    single = f"[{_BETWEEN}{_INVISIBLE}](?:[a-z][{_BETWEEN}{_INVISIBLE}]{{1,3}}){{3,150}}[a-z](?![a-z])"
    gap = f"[{_BETWEEN}{_INVISIBLE}]{{1,3}}"
    split = f"[{_CJK}]{gap}[{_CJK}][{_CJK}{_BETWEEN}{_INVISIBLE}，]{{0,12}}?[{_CJK}]{gap}[{_CJK}]"
    mixed = [sign for sign in _pinyin_signs() if not sign.isascii()]
    return (
        Disguise("invisible", re.compile(rf"[{_INVISIBLE}][{_INVISIBLE}]*\w"), _visible, 0.1),
        Disguise("spaced", re.compile(single), _joined_letters, 0.3),
        Disguise("wide", re.compile("  [a-z]{1,14}  +[a-z]{1,14}  +[a-z]"), _narrow, 0.05),
        Disguise("spaced", re.compile(split), _joined_characters, 0.15, chinese=True),
        Disguise("leetspeak", re.compile("[013457@$!][a-z]"), _plain_letters, 0.3),
        Disguise("joined", spellings.JOINED, spellings.parted, 0.1),
        Disguise("hyphened", spellings.hyphened(), spellings.without_hyphens, 0.1),
        Disguise("by sound", spellings.unusual(), spellings.in_standard, 0.1, chinese=True),
        Disguise.by_words("pinyin", _sounded(), _hanzi, 0.25),
        Disguise("pinyin", search_for(mixed), _hanzi, 0.25, chinese=True),
        Disguise.by_words("rot13", _rotated(), _rot13, 0.4),
        Disguise.by_words("backwards", _reversed(), _backwards, 0.4),
        Disguise("backwards", search_for(word[::-1] for word in _words("strong_zh")), _backwards, 0.4, chinese=True),
    )


def _sounded() -> list[str]:
    return [sign for sign in _pinyin_signs() if sign.isascii()]


def _rotated() -> list[str]:
    return ["rot13", "rot-13", *(codecs.encode(word, "rot13") for word in _words("strong", "spoken"))]


def _reversed() -> list[str]:
    return [word[::-1] for word in _words("strong")]


@cache
def _any_clue() -> re.Pattern[str]:
    disguised = map(_clue, (*_sounded(), *_rotated(), *_reversed()))
    return search_for(disguised)


def readings_for(text: str, words: Set[str]) -> Iterator[Disguise]:
    """Those that `text` may need; `words` are its different Latin words."""
    chinese = _chinese().search(text) is not None
    telling = [word for word in words if _tells(word)]
    listed = f" {' '.join(telling)} "
    for reading in readings():
        clue = not reading.clue or (telling and reading.clue.search(listed))
        if clue and (chinese or not reading.chinese):
            yield reading
    if slips := spellings.misspellings().keys() & words:
        yield Disguise("misspelt", spellings.slip(slips), spellings.spelt, 0.1)
    if foreign := chinese and spellings.pairs("mixed").keys() & words:
        yield Disguise("mixed", spellings.foreign(foreign), spellings.in_one_language, 0.1, chinese=True)


@lru_cache(maxsize=1 << 16)
def _tells(word: str) -> bool:
    """Whether a word holds a clue; texts share most of their words."""
    return _any_clue().search(f" {word} ") is not None


def _clue(sign: str) -> str:
    """The first word of a sign, between spaces where it is not all of the sign.

    >>> _clue("hu lue"), _clue(" the "), _clue("hulue")
    (' hu ', ' the ', 'hulue')
    """
    first = _first_word().search(sign)
    if not first or first.group() == sign:
        return sign
    return f" {first.group()} "


def _words(*names: str) -> list[str]:
    return [word.replace("_", " ") for name in names for word in word_lists("readings")[name]]


def _visible(sentence: str) -> str:
    return _invisible().sub("", sentence)


def _joined_letters(sentence: str) -> str:
    """Single letters joined to words: by the wider gaps where there are any, else by the words that the rules know.

    >>> _joined_letters("i g n o r e  r u l e s").split()
    ['ignore', 'rules']
    """

    def join(run: re.Match[str]) -> str:
        parts = _wide_gaps().split(run.group())
        joined = [_separators().sub("", part) for part in parts]
        if max(map(len, joined)) > 1 and len(joined) > 1:
            return " ".join(joined)
        return _known_words().sub(r" \g<0> ", "".join(joined))

    return _repeated_spaces().sub(" ", _letter_run().sub(join, _visible(sentence)))


def _narrow(sentence: str) -> str:
    return _repeated_spaces().sub(" ", sentence)


def _joined_characters(sentence: str) -> str:
    return _between_characters().sub("", _visible(sentence))


def _plain_letters(sentence: str) -> str:
    if not _leet_words().search(sentence):
        return ""
    return _mixed_word().sub(lambda word: word.group().translate(_leet_table()), sentence)


def _hanzi(sentence: str) -> str:
    return _pinyin().sub(lambda sound: _pinyin_signs()[sound.group()], sentence)


def _rot13(sentence: str) -> str:
    return _hanzi(codecs.encode(sentence, "rot13"))


def _backwards(sentence: str) -> str:
    return sentence[::-1]


def _leet_sign(word: str) -> str:
    """Matches `word` with at least one letter written as a digit or a sign."""
    letters = "".join(f"[{letter}{re.escape(_LEET.get(letter, ''))}]" for letter in word)
    return f"(?<![a-z0-9])(?!{word}){letters}"


@cache
def _pinyin_signs() -> dict[str, str]:
    """Each way to write a word with at least one of its characters in pinyin, and the word."""
    signs: dict[str, str] = {}
    for entry in _words("sounds"):
        word, sounds = entry.split("=")
        each = [(character, *sound.split("|")) for character, sound in zip(word, sounds.split(","), strict=True)]
        for parts in product(*each):
            signs.update({gap.join(parts): word for gap in ("", " ", "'", "-")} if "".join(parts) != word else {})
    return signs


@cache
def _chinese() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]")


@cache
def _first_word() -> re.Pattern[str]:
    return re.compile("[a-z]+")


@cache
def _pinyin() -> re.Pattern[str]:
    return search_for(_pinyin_signs())


@cache
def _leet_words() -> re.Pattern[str]:
    return re.compile("|".join(map(_leet_sign, _words("strong"))))


def _word_list() -> Iterator[str]:
    for name in ("ignore", "earlier", "orders", "reveal", "inner", "above", "emit", "only", "mode"):
        yield from (word for word in word_lists("en")[name] if word.replace("?", "").isalpha())
    yield from _words("joining")


@cache
def _known_words() -> re.Pattern[str]:
    return re.compile("|".join(sorted(set(_word_list()), key=len, reverse=True)))


@cache
def _leet_table() -> dict[int, str]:
    return {ord(strange): letter for letter, others in reversed(_LEET.items()) for strange in others}


@cache
def _mixed_word() -> re.Pattern[str]:
    return re.compile(r"[a-z0-9@$!]{3,40}")


@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(f"[{_INVISIBLE}]+")


@cache
def _letter_run() -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:[a-z][{_BETWEEN}]{{1,4}}){{3,}}[a-z](?![a-z])")


@cache
def _repeated_spaces() -> re.Pattern[str]:
    return re.compile("  +")


@cache
def _separators() -> re.Pattern[str]:
    return re.compile(f"[{_BETWEEN}]+")


@cache
def _wide_gaps() -> re.Pattern[str]:
    return re.compile(f"[{_BETWEEN}]{{2,}}|[/|]")


@cache
def _between_characters() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{_CJK}，。：])[{_BETWEEN}]+(?=[{_CJK}，。：])")
