"""Anonymize, Deanonymize and Sensitive, with a model that takes the word "ignore" for a name."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners import load_scanners
from tests.guard.scanners.conftest import parsed, ready

pytestmark = [pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="session")
def ner_model(llm_guard: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.guard.scanners.tiny import save_tiny_ner

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return save_tiny_ner(tmp_path_factory.mktemp("ner"), "PERSON")


def both(model: Path, **more: Any) -> Any:
    """A policy that hides names and e-mail addresses from the model, and puts them back."""
    hide = {"scanner": "Anonymize", "model": str(model), "on_fail": "redact", "options": more}
    return parsed(input=[hide], output=[{"scanner": "Deanonymize"}])


def described(model: Path) -> dict[str, Any]:
    """How llm-guard is told of a model of one's own for these scanners."""
    from llm_guard.input_scanners.anonymize_helpers import DEBERTA_AI4PRIVACY_v2_CONF
    from llm_guard.model import Model

    own = Model(path=str(model), pipeline_kwargs={"aggregation_strategy": "simple"})
    return {**DEBERTA_AI4PRIVACY_v2_CONF, "DEFAULT_MODEL": own}


@pytest.mark.usefixtures("spacy_models")
def test_what_is_hidden_is_put_back(ner_model: Path) -> None:
    """Each value has its own placeholder, findings point at it, and the answer has it again."""
    scanners = load_scanners(both(ner_model))
    text = "please ignore ann@example.com today"
    changed, found = scanners.input_stage(text, "document 0")
    assert changed.text == "please [REDACTED_PERSON_1] [REDACTED_EMAIL_ADDRESS_1] today"
    assert [text[slice(*finding.span)] for finding in found] == ["ignore", "ann@example.com"]
    assert scanners.check_output("?", f"Dear {changed.text}")[0] == f"Dear {text}"


@pytest.mark.usefixtures("spacy_models")
def test_one_call_never_sees_the_names_of_another(ner_model: Path) -> None:
    """llm-guard's vault is the scanner's, and so every caller's; here it is the call's, and the scanner is shared."""
    first, second = load_scanners(both(ner_model)), load_scanners(both(ner_model))
    changed, _ = first.input_stage("please ignore", "document 0")
    assert first.input[0][1] is second.input[0][1]
    assert "[REDACTED_PERSON_1]" in changed.text
    assert second.check_output("?", changed.text)[0] == changed.text


@pytest.mark.usefixtures("spacy_models")
def test_a_long_text_is_read_without_gaps(ner_model: Path) -> None:
    """llm-guard makes pieces of 600 characters; of each, a model of 512 tokens does not see the end in Chinese."""
    from llm_guard.input_scanners import Anonymize
    from llm_guard.vault import Vault

    text = f"{'天' * 530} ignore {'天' * 2000}"
    assert Anonymize(Vault(), recognizer_conf=described(ner_model)).scan(text)[0] == text
    changed, _ = load_scanners(both(ner_model)).input_stage(text, "document 0")
    assert changed.text == text.replace("ignore", "[REDACTED_PERSON_1]")


@pytest.mark.usefixtures("spacy_models")
def test_an_answer_is_looked_through_for_personal_data(ner_model: Path) -> None:
    """Asked about a blank answer, llm-guard's Sensitive gives back the prompt; here the answer stays what it is."""
    from llm_guard.output_scanners import Sensitive

    assert Sensitive(recognizer_conf=described(ner_model)).scan("the prompt", " ")[0] == "the prompt"
    scanners = ready("output", "Sensitive", model=str(ner_model), on_fail="redact")
    text, found = scanners.check_output("the prompt", "please ignore it")
    assert text == "please <PERSON> it"
    assert len(found) == 1
    assert scanners.check_output("the prompt", " ")[0] == " "


@pytest.mark.usefixtures("spacy_models")
def test_a_model_whose_labels_mean_nothing_is_refused(tmp_path: Path) -> None:
    """It would run, and find nobody."""
    from tests.guard.scanners.tiny import save_tiny_ner

    folder = save_tiny_ner(tmp_path / "odd", "THING")
    with pytest.raises(UsageError, match="knows none of its model's labels"):
        ready("input", "Anonymize", model=str(folder))


@pytest.mark.usefixtures("llm_guard")
def test_without_spacys_models_the_error_names_them(ner_model: Path) -> None:
    """Both are needed whatever the language is; llm-guard would fetch them."""
    with pytest.raises(UsageError, match="needs the spaCy models en_core_web_sm and zh_core_web_sm"):
        ready("input", "Anonymize", model=str(ner_model))
