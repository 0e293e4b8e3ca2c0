"""What happens to a call's texts and answers: the stages, the flow of one call, and its policy.

What others may use is named here: policies and how one is loaded, the pipeline and what a stage of one's own is made of
(docs/how-to/add-a-guard-stage.md), and what hooks are told. The other modules are free to change.

pipeline        the one list of stages, in order; Pipeline.of, the only way to a pipeline
policy          what a policy says, from presets, files and mappings; options: what a key may hold
passage         a text on its way through the stages
flow            one guarded call, a generator: sanitize, fit, send, read, check, retry
mapreduce       the same for what does not fit: in parts
exchange        what goes between the flow and those around it: calls, results, events for hooks
profile         what is known of a model: facts, tokenizer, window
private/        keys, passwords and personal data, and the placeholders that stand for them
injection/      orders to the model in documents
scanners/       llm-guard's, by name
images/         images in messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.guard.exchange import (
        Answered as Answered,
        Asked as Asked,
        Cleaned as Cleaned,
        Event as Event,
        Finished as Finished,
        Hook as Hook,
        Measured as Measured,
        Result as Result,
        Streamed as Streamed,
    )
    from ollama_kit.guard.options import Mapped as Mapped, Number as Number, Words as Words
    from ollama_kit.guard.passage import (
        ANSWER as ANSWER,
        INPUTS as INPUTS,
        MESSAGES as MESSAGES,
        OUTSIDE as OUTSIDE,
        Passage as Passage,
    )
    from ollama_kit.guard.pipeline import (
        STAGES as STAGES,
        Pipeline as Pipeline,
        Stage as Stage,
        StageContext as StageContext,
    )
    from ollama_kit.guard.policy import Policy as Policy, load_policy as load_policy, policy_names as policy_names
    from ollama_kit.records.report import Evidence as Evidence, Finding as Finding
else:
    __getattr__, __dir__ = exports(__name__)
