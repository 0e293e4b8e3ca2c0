"""What the server counted, beside what was predicted: whether the model has seen the whole prompt.

Until 0.12.5 a server cuts a prompt that is longer than the window it loaded the model with, and says nothing; newer
ones can be made to do so by a proxy or by a template of their own. An exact prediction that the server undercuts is the
only trace.
"""

from __future__ import annotations

from ollama_kit.errors import PromptCut
from ollama_kit.guard.profile import Profile
from ollama_kit.modelfile.versions import ServerVersion, supports
from ollama_kit.records.report import CountKind

SLACK_TOKENS, SLACK_SHARE = 4, 0.01
"""How far a server may stay below an exact prediction: it has to differ by more than both."""

LEAVES_OUT_CACHED = ServerVersion(0, 30, 0)
"""The one version whose `prompt_eval_count` does not count what it had in its cache."""


def is_cut(predicted: int, kind: CountKind, counted: int | None, profile: Profile) -> bool:
    """Whether the server has evaluated less than was sent. A bound and an approximation prove nothing."""
    if kind != "exact" or counted is None or profile.version == LEAVES_OUT_CACHED:
        return False
    return predicted - counted > max(SLACK_TOKENS, predicted * SLACK_SHARE)


def prompt_cut(predicted: int, counted: int, profile: Profile) -> PromptCut:
    """The error for a prompt of which the server has evaluated a part only: both figures, the likely cause, the fix."""
    said = f"the prompt is {predicted:,} tokens, and the server evaluated {counted:,}: the answer is to a part of it"
    window = profile.context_tokens
    if supports(profile.version, "truncate"):
        return PromptCut(
            f"{said} (Ollama {profile.version} was told not to cut; it may have rendered with a template of its own)",
            predicted_tokens=predicted,
            counted_tokens=counted,
            hint=(
                "Compare `ollama-kit show` with the spec's template; see that no proxy rewrites requests.",
                "请用 `ollama-kit show` 对照规格文件中的模板，并确认中间没有改写请求的代理。",
            ),
        )
    return PromptCut(
        f"{said} (Ollama {profile.version} cuts without a word what exceeds the window it runs with; asked for: "
        f"{window:,})",
        predicted_tokens=predicted,
        counted_tokens=counted,
        hint=(
            (
                "Look for a smaller OLLAMA_CONTEXT_LENGTH on the server or another num_ctx of the loaded model "
                "(`ollama ps`), lower `context` in the spec to it, or update Ollama to 0.12.6 or later."
            ),
            (
                "请检查服务器上较小的 OLLAMA_CONTEXT_LENGTH，或已加载模型的 num_ctx（`ollama ps`）；"
                "请把规格文件里的 `context` 调到该值，或把 Ollama 升级到 0.12.6 以上。"
            ),
        ),
    )
