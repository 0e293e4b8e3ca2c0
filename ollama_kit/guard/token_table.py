"""Control tokens of the families that most people run, for where no model is at hand (`scan`). A call uses those of its
own model, from its vocabulary and its template.

Each family's are the special tokens of the tokenizer_config.json or tokenizer.json that its `source` names (read in
2026), less the reserved ones, and the marks of turns that its chat template writes as plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class FamilyTokens(NamedTuple):
    """The tokens of one family, and where they were read."""

    source: str
    tokens: tuple[str, ...]


_DEEPSEEK = "begin▁of▁sentence end▁of▁sentence ▁pad▁ User Assistant fim▁hole fim▁begin fim▁end tool▁sep"
_DEEPSEEK_TOOLS = ("tool▁calls", "tool▁call", "tool▁outputs", "tool▁output")

FAMILIES: Mapping[str, FamilyTokens] = {
    "qwen": FamilyTokens(
        "huggingface.co/Qwen/Qwen3.6-27B, tokenizer_config.json",
        (
            *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>"),
            *("<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>"),
            *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>"),
            *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"),
            *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"),
            *("<tts_pad>", "<tts_text_bos>", "<tts_text_eod>", "<tts_text_bos_single>"),
        ),
    ),
    "llama3": FamilyTokens(
        "huggingface.co/meta-llama/Llama-3.3-70B-Instruct, tokenizer_config.json",
        (
            *("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
            *("<|eom_id|>", "<|python_tag|>", "<|finetune_right_pad_id|>", "<|step_id|>", "<|image|>"),
        ),
    ),
    "llama4": FamilyTokens(
        "huggingface.co/meta-llama/Llama-4-Scout-17B-16E-Instruct, tokenizer_config.json",
        (
            *("<|header_start|>", "<|header_end|>", "<|eot|>", "<|eom|>", "<|step|>", "<|python_start|>"),
            *("<|python_end|>", "<|finetune_right_pad|>", "<|image_start|>", "<|image_end|>", "<|patch|>"),
            *("<|tile_x_separator|>", "<|tile_y_separator|>", "<|vision_reserved_special_token_1047|>"),
        ),
    ),
    "harmony": FamilyTokens(
        "github.com/openai/harmony (the format) and huggingface.co/openai/gpt-oss-20b, tokenizer_config.json",
        (
            *("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
            *("<|startoftext|>", "<|refusal|>", "<|endofprompt|>"),
        ),
    ),
    "gemma3": FamilyTokens(
        "huggingface.co/google/gemma-3-27b-it, tokenizer_config.json",
        (
            *("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<unk>", "<mask>"),
            *("<start_of_image>", "<end_of_image>", "<image_soft_token>"),
        ),
    ),
    "mistral": FamilyTokens(
        "github.com/mistralai/mistral-common, src/mistral_common/tokens/tokenizers/base.py (versions 7 to 13)",
        (
            *("<s>", "</s>", "<unk>", "<pad>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
            *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]"),
            *("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[MODEL_SETTINGS]", "[/MODEL_SETTINGS]", "[THINK]", "[/THINK]"),
            *("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[AUDIO]", "[BEGIN_AUDIO]"),
            *("[TRANSCRIBE]", "<<SYS>>", "<</SYS>>"),
        ),
    ),
    "deepseek": FamilyTokens(
        "huggingface.co/deepseek-ai/DeepSeek-V3.1, tokenizer.json",
        (
            *(f"<｜{name}｜>" for name in _DEEPSEEK.split()),
            *(f"<｜{name}▁{side}｜>" for name in _DEEPSEEK_TOOLS for side in ("begin", "end")),
            *("<|EOT|>", "<|User|>", "<|Assistant|>", "｜DSML｜", "<think>", "</think>"),
        ),
    ),
    "glm": FamilyTokens(
        "huggingface.co/zai-org/GLM-4.6, tokenizer_config.json",
        (
            *("[gMASK]", "[MASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>", "<|assistant|>"),
            *("<|observation|>", "<|endoftext|>", "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>"),
            *("<|end_of_video|>", "<|begin_of_audio|>", "<|end_of_audio|>", "<|begin_of_transcription|>"),
            *("<|end_of_transcription|>", "<|code_prefix|>", "<|code_middle|>", "<|code_suffix|>", "/nothink"),
            *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_call>", "</tool_call>"),
        ),
    ),
    "kimi": FamilyTokens(
        "huggingface.co/moonshotai/Kimi-K2-Instruct, tokenizer_config.json",
        (
            *("[BOS]", "[EOS]", "[UNK]", "[PAD]", "[EOT]", "[extra_id_0]", "<|im_end|>", "<|im_user|>"),
            *("<|im_assistant|>", "<|im_system|>", "<|im_middle|>", "<|start_header_id|>", "<|end_header_id|>"),
            *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>"),
            *("<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|media_begin|>", "<|media_content|>"),
            *("<|media_end|>", "<|media_pad|>"),
        ),
    ),
    "phi": FamilyTokens(
        "huggingface.co/microsoft/phi-4 and Phi-4-mini-instruct, tokenizer_config.json",
        (
            *("<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|im_sep|>", "<|tool|>", "<|/tool|>"),
            *("<|tool_call|>", "<|/tool_call|>", "<|tool_response|>", "<|dummy_85|>"),
        ),
    ),
}
"""By family."""

WELL_KNOWN: tuple[str, ...] = tuple(dict.fromkeys(token for family in FAMILIES.values() for token in family.tokens))
"""All of them, each once."""
