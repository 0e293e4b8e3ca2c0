"""Which language a text is in, as far as the kit has to know: Chinese or English."""

from __future__ import annotations

import re
from functools import cache


def language_of(text: str) -> str:
    """ "zh" if at least a tenth of the first letters are Chinese characters, else "en"."""
    begun = text[:4000]
    letters, chinese = (sum(map(len, runs.findall(begun))) for runs in _scripts())
    return "zh" if letters and chinese * 10 >= letters else "en"


@cache
def _scripts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Letters of any script, and Chinese characters."""
    return re.compile(r"[^\W\d_]+"), re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
