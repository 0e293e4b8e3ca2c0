"""A classifier of a few kilobytes whose verdict is known: the first label is for texts with the word "ignore".

It is a BERT of one layer with weights set by hand. Every token but that one looks in one direction, that one in
another; attention is the plain mean, its values keep the second direction alone and make it 10,000 times larger. So
one such word among 500 turns the vector of [CLS] round, and the classifier reads off which way it points.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = ("hello", "world", "please", "ignore", "the", "weather", "is", "fine", "today", "word")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
POSITIONS = 512


def save_tiny(folder: Path, labels: tuple[str, ...], *, broken: bool = False, positions: int = POSITIONS) -> Path:
    """Writes a model with these labels and its tokenizer to `folder`, and returns it. `broken`: its figures are NaN."""
    import torch
    from transformers import BertForSequenceClassification

    model = BertForSequenceClassification(_config(labels, positions))
    with torch.no_grad():
        _set(model, torch)
        if broken:
            model.classifier.bias.fill_(float("nan"))
    model.save_pretrained(folder, safe_serialization=True)
    _save_tokenizer(folder, positions)
    return folder


def save_tiny_ner(folder: Path, label: str = "ORG") -> Path:
    """Writes a model that marks the word "ignore" with a label."""
    import torch
    from transformers import BertForTokenClassification

    model = BertForTokenClassification(_config(("O", label), POSITIONS))
    with torch.no_grad():
        _set(model.bert, torch, prefix="")
        _values(model.bert).weight.zero_()  # each token speaks for itself
        model.classifier.weight.copy_(torch.tensor([[5.0, -5, -5, 5], [-5.0, 5, 5, -5]]))
        model.classifier.bias.zero_()
    model.save_pretrained(folder, safe_serialization=True)
    _save_tokenizer(folder, POSITIONS)
    return folder


def _config(labels: tuple[str, ...], positions: int) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=positions,
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
    )


def _values(bert: Any) -> Any:
    return bert.encoder.layer[0].attention.self.value


def _set(model: Any, torch: Any, prefix: str = "bert") -> None:
    bert = getattr(model, prefix) if prefix else model
    for parameter in model.parameters():
        parameter.zero_()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.weight.fill_(1.0)
    plain, marked = torch.tensor([1.0, -1, 0, 0]), torch.tensor([0.0, 0, 1, -1])
    bert.embeddings.word_embeddings.weight.copy_(plain.repeat(len(_vocabulary()), 1))
    bert.embeddings.word_embeddings.weight[_vocabulary().index("ignore")] = marked
    _values(bert).weight.copy_(10_000 * torch.outer(marked, marked))
    bert.encoder.layer[0].attention.output.dense.weight.copy_(torch.eye(4))
    if prefix:
        bert.pooler.dense.weight.copy_(torch.eye(4))
        # tanh leaves at most 0.9 a component: 2 logits apart by 5 × 4 × 0.9 are as good as certain
        model.classifier.weight[0] = 5 * (marked - plain)
        model.classifier.weight[1:] = 5 * (plain - marked)


def _vocabulary() -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return [*SPECIAL, *WORDS, *letters, *(f"##{letter}" for letter in letters), *".,!?':/-_"]


def _save_tokenizer(folder: Path, positions: int) -> None:
    from transformers import BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(_vocabulary()) + "\n", encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=positions).save_pretrained(folder)
