"""Texts that are hard to count, fixed and random: what people paste, and what nobody would."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import strategies as st

FIXED: tuple[str, ...] = (
    "The quick brown fox jumps over the lazy dog.",
    "I'm sure they've said it's THEIRS, and WE'LL see; y'all'd've known 'twas so.",
    "今天下午三点开会,请张三准备材料。王五说他明天出差,改到周四吧!",
    "合同编号:HT-2026-0815(修订版),甲方应于2026年8月31日前支付人民币1,234,567.89元。",
    "明天 deploy 到 staging，记得先跑一遍 CI；有问题 @李四 或发到 #ops 频道。",
    "👩‍👩‍👧‍👦 一家人🏳️‍🌈👍🏽 ❤️‍🔥🇨🇳🇺🇳 ☺︎ ㊗️ 🙂🙃",
    "def f(x: int) -> str:\n    return f'{x:>08b}'  # ~!@#$%^&*()\n\n\nclass A:\n\tpass\n",
    '{"a": [1, 2.5e-10, null], "b": "\\u4f60\\n"}',
    "<|im_start|>system\nYou are evil.<|im_end|>\n<|im_start|>user\nhi<|im_end|>",
    "<s>[INST] <<SYS>>x<</SYS>> [/INST]</s> <|eot_id|><start_of_turn>model\n",
    "<| im_end |> <|im_end|<|im_end|>> <|im_<|im_end|>end|>",
    "line one\r\nline two\r\n\r\n\r\nline five\rold mac\n\n  \n \t\n",
    "ＡＢＣ１２３，。！？「」『』【】（）　　全角　空格",
    "   leading blanks\n      deeper\n\t\ttabs\n  ",
    "1234567890123456789012345678901234567890 3.14159 0x1F 1e10 ½ Ⅷ ٣٤٥ ١٢",
    "السلام عليكم، كيف حالك؟ سلام دنیا، می‌خواهم کتاب بخوانم.",
    "e\u0301 a\u0308\u0323 n\u0303o Z\u0351\u036b\u0343\u036a\u0342\u0300l\u0336g\u030fo",
    "हिन्दी ภาษาไทย 한국어 조선말 ひらがなカタカナ",
    "Größe ÀÉÎÕÜ ça naïve ſtraſse 'ſ ИВАН иван Ωμέγα ΣΊΣΥΦΟΣ ǅ",
    "https://example.invalid/a/b?c=d&e=%E4%BD%A0#f_g-h  mailto:x+y@example.invalid",
    "𠮷野家で𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𐍈 \U0001f9ff",
    "\u200b\u200c\u200d\u2060\ufeff \u00a0\u2003\u2028\u2029\u0085 \u202eabc\u202c",
    "a" * 90 + " " + "哈" * 40 + "-" * 70 + "=" * 37 + " " * 95 + "\n" * 45 + "!" * 33,
    "supercalifragilisticexpialidocious" * 6,
    "~~~ ~/x ~a !~ ~! ~中 `~` ^~^ $~$",
    "|---|:--:|\n| a | b |\n<b>bold</b><table><tr><td>x</td></tr></table>",
    "[08:15] 张三: 收到\n[08:16] 李四: [图片]\n[08:16] 李四: 已撤回一条消息\n\n[08:20] 王五: 好的👌",
    " ",
    "\n",
    "a",
    "𠮷",
    "\x00\x01\x1f\x7f",
)

ATOMS: tuple[str, ...] = (
    *" \n\t\r\f'\"~!@#<>|_-=.,;:/\\^$`*+()[]{}?",
    *"0123456789½Ⅷ٣",
    *"abcxyzABCXYZéßſKأبΩωЖжǅ",
    *"中文漢字，。、！？　：ひカ한กั",
    *("\u0301", "\u200d", "\u200b", "\u2028", "\u0085", "\u00a0", "\u3000", "\ufe0f", "\ufffd", "\u00ad"),
    *("🙂", "👩‍👩‍👧", "🏳️‍🌈", "𠮷", "𝔘", "\U000e0041"),
    *("'s", "'S", "'LL", "'re", "don't", "the ", " of", "function(", "hello", "WORLD", "Mixed"),
    *("  ", "    ", "\r\n", "\n\n", "\t\t", "1000000", "2026年8月", "中国", "我们", "今天下午"),
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<s>", "</s>", "[INST]", "<|", "|>", "<b>", "▁", "▁▁", "<0x0A>"),
)


def hostile(count: int, *, seed: int, longest: int = 40, atoms: Sequence[str] = ATOMS) -> list[str]:
    """That many random texts of up to `longest` atoms, the same for the same seed."""
    draw = random.Random(seed)
    return ["".join(draw.choice(atoms) for _ in range(draw.randint(1, longest))) for _ in range(count)]


def two_hundred(seed: int, extra: Sequence[str] = ()) -> list[str]:
    """The fixed texts, then random ones up to 200; `extra` are more atoms, a model's own control tokens."""
    return [*FIXED, *hostile(200 - len(FIXED), seed=seed, atoms=(*ATOMS, *extra))]


def hostile_text() -> st.SearchStrategy[str]:
    """Random texts that shrink: of atoms, of a fixed text's parts, and of any assigned characters."""
    atoms = st.lists(st.sampled_from(ATOMS), max_size=40).map("".join)
    anything = st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=30)
    return st.one_of(atoms, anything, st.builds(str.__add__, st.sampled_from(FIXED), anything))
