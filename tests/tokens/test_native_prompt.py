"""Prompts that the engine renders: equal to recorded ones, to a running llama.cpp's, and bounded for hostile ones."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError, TemplateRefusal
from ollama_kit.tokens.chat_template.turns import RenderInput, assemble
from ollama_kit.tokens.native.engine_values import Budget
from ollama_kit.tokens.native.jinja_sandbox import JinjaTemplate
from ollama_kit.tokens.native.native_prompt import TWO_AT_THE_END, NativeTemplate
from ollama_kit.tokens.rendering import SAMPLES, TOOL
from ollama_kit.tokens.tokenizer import EndTokens, Tokenizer
from tests.intensity import examples
from tests.models.tiny import tiny_model
from tests.models.vocabularies import vocabulary
from tests.tokens.engine import Engine, engine
from tests.tokens.recorded import TEMPLATES, WIRE, Row, cases, jinja_rows, template, turns

CLOCK = datetime(2026, 12, 1, 2, 34, 5)
"""When the cases were recorded."""


def recorded_rendering(row: Row) -> str:
    """The prompt of a recorded case, rendered here: the model was of the family qwen3, whose thinking is cut out."""
    ends = EndTokens(cases()["bos_token"], cases()["eos_token"])
    conversation = RenderInput(
        assemble(turns(row.case), strip_thinking=True),
        tools=tuple(cases()["tools"]) if row.tools else (),
        think=row.think,
    )
    return NativeTemplate(template(row.template), ends).render(conversation, CLOCK)


@pytest.mark.parametrize("row", [row for row in jinja_rows() if row.rendered is not None], ids=lambda row: row.name)
def test_a_recorded_prompt_is_rendered_alike(row: Row) -> None:
    """The five templates, every case that a real 0.32.15 rendered: the same text, byte for byte."""
    assert recorded_rendering(row) == row.rendered


@pytest.mark.parametrize(
    "row", [row for row in jinja_rows() if row.error and not row.lacks_tools], ids=lambda row: row.name
)
def test_what_a_template_refused_is_refused_here(row: Row) -> None:
    """A 400 with a Jinja trace is found before the call, with the template's own words and line."""
    with pytest.raises(TemplateRefusal, match="must alternate") as refused:
        recorded_rendering(row)
    assert refused.value.line == 4
    assert refused.value.problem in row.error


def test_recorded_prompts_are_counted_alike() -> None:
    """Every recorded count is the rendered text's in the vocabulary of the model, Qwen's."""
    tokenizer = Tokenizer.from_metadata(vocabulary("qwen2"))
    counted = [(row.name, row.counted) for row in jinja_rows() if row.rendered is not None]
    here = [(row.name, tokenizer.count(recorded_rendering(row))) for row in jinja_rows() if row.rendered is not None]
    assert here == counted
    assert len(here) == 188


# -- against a running engine


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Engine]]:
    """A llama.cpp for each of the five templates, with the vocabulary of SmolLM2."""
    pytest.importorskip("xllamacpp")
    with ExitStack() as stack:
        yield {name: stack.enter_context(engine(tiny_model("tiny-smollm"), template(name))) for name in TEMPLATES}


WORDS = st.text(st.sampled_from("ab <|>im_end\n\t\r 　中文👩‍👧\u00a0\"'\\{}%É"), max_size=12) | st.sampled_from(
    [
        "",
        "<think>x</think>y",
        "</think>z",
        "<|im_end|>\n<|im_start|>system\n",
        "{{ x }}",
        "<tool_call>",
        "  lead",
        "é \n",
    ]
)
ARGUMENTS = st.dictionaries(
    st.text("abc城", min_size=1, max_size=3),
    st.one_of(st.integers(-9, 9), st.booleans(), WORDS, st.lists(WORDS, max_size=2), st.none(), st.just(1.5)),
    max_size=3,
)
CALLS = st.lists(st.builds(ToolCall, st.text("fgh_", min_size=1, max_size=4), ARGUMENTS), min_size=1, max_size=2)
TURNS = (
    st.lists(
        st.builds(Turn, st.sampled_from(["user", "user", "assistant", "system"]), WORDS)
        | st.builds(lambda said, calls: Turn("assistant", said, tool_calls=tuple(calls)), WORDS, CALLS)
        | st.builds(lambda said: Turn("tool", said, tool_name="f"), WORDS),
        min_size=1,
        max_size=6,
    )
    .map(tuple)
    .filter(lambda turns: turns[-1].role != "assistant" or turns[-1].content)
)
"""Conversations; none ends in an empty answer, which versions of the engine continue in different ways."""


def tool(names: list[str], words: list[str]) -> dict[str, Any]:
    """A function with these arguments, its keys in an order of its own."""
    described = {name: {"description": said, "type": "string"} for name, said in zip(names, words, strict=False)}
    parameters = {"properties": described, "required": names, "type": "object"}
    return {"function": {"parameters": parameters, "description": "".join(words), "name": "f"}, "type": "function"}


TOOLS = st.lists(
    st.builds(tool, st.lists(st.text("ab", min_size=1, max_size=2), unique=True), st.lists(WORDS)), max_size=2
)


def as_ollama_sends(conversation: RenderInput) -> dict[str, Any]:
    """What Ollama 0.32.15 posts to its engine (llm/llama_server.go): thinking left out, arguments as JSON text."""
    messages = []
    for turn in conversation.turns:
        message: dict[str, Any] = {"role": turn.role, "content": turn.content}
        if turn.tool_name:
            message["name"] = turn.tool_name
        if turn.tool_calls:
            message["tool_calls"] = [
                {
                    "type": "function",
                    "index": 0,
                    "function": {"name": call.name, "arguments": _arguments(call)},
                }
                for call in turn.tool_calls
            ]
        messages.append(message)
    tools = [{"type": "function", "function": _function(each["function"])} for each in conversation.tools]
    kwargs: dict[str, Any] = {"enable_thinking": bool(conversation.think)}
    if isinstance(conversation.think, str):
        kwargs["reasoning_effort"] = conversation.think
    return {"messages": messages, **({"tools": tools} if tools else {}), "chat_template_kwargs": kwargs}


def _arguments(call: ToolCall) -> str:
    """The arguments as Go writes them: in the order given, what is nested by its keys."""
    members = (f"{json.dumps(key)}:{json.dumps(value, sort_keys=True)}" for key, value in call.arguments.items())
    return "{" + ",".join(members) + "}"


def _function(given: Any) -> dict[str, Any]:
    """A function with its keys in the order of Ollama's structs; what is empty is left out."""
    properties = {
        name: {key: _by_keys(about[key]) for key in ("type", "items", "description", "enum") if about.get(key)}
        for name, about in given["parameters"]["properties"].items()
    }
    needed = _given("required", given["parameters"]["required"])
    parameters = {"type": "object", **needed, "properties": properties}
    return {"name": given["name"], **_given("description", given["description"]), "parameters": parameters}


def _by_keys(value: Any) -> Any:
    """A value that Go does not know the type of: its keys in order."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _given(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}


@given(st.sampled_from(TEMPLATES), TURNS, TOOLS, st.sampled_from([True, False, "low"]))
@settings(max_examples=examples(1000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_conversation_is_rendered_as_the_engine_does(
    engines: dict[str, Engine],
    tiny_tokenizer: Tokenizer,
    name: str,
    said: tuple[Turn, ...],
    tools: list[dict[str, Any]],
    think: bool | str,
) -> None:
    """Random conversations and the five templates: the text and its tokens are llama.cpp's, and so are refusals."""
    conversation = RenderInput(said, tools=tuple(tools), think=think)
    theirs = engines[name].rendered(as_ollama_sends(conversation))
    ends = tiny_tokenizer.end_tokens
    try:
        ours = NativeTemplate(template(name), ends).render(conversation, datetime.now())
    except TemplateBeyondSubset:
        raise
    except TemplateError:
        assert theirs is None
        return
    assert ours == theirs
    assert tiny_tokenizer.count(ours) == engines[name].tokens(ours)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_samples_come_out_alike(engines: dict[str, Engine], tiny_tokenizer: Tokenizer, name: str) -> None:
    """Each conversation by which a server is compared with us: the five templates agree with a running llama.cpp."""
    for feature, said in SAMPLES.items():
        asked = RenderInput(said, tools=(TOOL,) if feature == "tools" else (), think=True)
        theirs = engines[name].rendered(as_ollama_sends(asked))
        try:
            ours = NativeTemplate(template(name), tiny_tokenizer.end_tokens).render(asked, datetime.now())
        except TemplateRefusal:
            assert theirs is None, feature
            continue
        assert ours == theirs, feature


@pytest.fixture(scope="module")
def tiny_tokenizer() -> Tokenizer:
    return Tokenizer.from_metadata(vocabulary("smollm"))


# -- the language


def render(text: str, **values: Any) -> str:
    """A template alone, for one user turn."""
    budget = Budget(10_000, 300_000)
    messages = [{"role": "user", "content": "0"}]
    known = {
        "messages": messages,
        "add_generation_prompt": True,
        "enable_thinking": False,
        "date_string": "01 Dec 2026",
    }
    return JinjaTemplate.parse(text).render(
        {**known, "bos_token": "<|im_start|>", "eos_token": "<|im_end|>", **values}, CLOCK, budget
    )


EXPRESSIONS = json.loads((WIRE / "jinja" / "expressions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "theirs"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_every_expression_is_what_the_engine_makes_of_it(text: str, theirs: str | None) -> None:
    """The same text, or an error where it has one; what is not done alike is said to be beyond us, never guessed."""
    try:
        ours = render(text)
    except TemplateBeyondSubset:
        return
    except TemplateError:
        if text in ONLY_THEIRS:
            return
        assert theirs is None
        return
    assert ours == theirs or text in ONLY_OURS


ONLY_THEIRS = {"{{ '{}'.format(1) }}", "{{ dict(a=1) }}", "{{ + 3 }}", "{% set d = {} %}{% set d.x = 1 %}{{ d.x }}"}
"""Errors here: no template of a model was seen to use them."""
ONLY_OURS = {"{{ undefinedthing|tojson }}", "{% macro f(a) %}{{ a }}|{% endmacro %}{{ f() }}"}
"""Errors of the engine."""


def test_most_expressions_are_within_us() -> None:
    """Being beyond us is the exception: nine of ten expressions that the engine takes are rendered."""
    within = 0
    for text, theirs in EXPRESSIONS:
        try:
            within += theirs is not None and render(text) == theirs
        except TemplateError:
            continue
    assert within >= 0.9 * sum(theirs is not None for _, theirs in EXPRESSIONS)


HOSTILE = {
    "endless recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "two calls each": "{% macro f(n) %}{% if n < 60 %}{{ f(n + 1) }}{{ f(n + 1) }}{% endif %}{% endmacro %}{{ f(0) }}",
    "nested loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}"
    "{% endfor %}{% endfor %}",
    "a long range": "{% for a in range(10 ** 2) %}{% endfor %}{% for a in range(99999999999) %}x{% endfor %}",
    "doubling a text": "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}"
    "{% set n.s = n.s ~ n.s %}{% endfor %}",
    "adding a text": "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}"
    "{% set n.s = n.s + n.s %}{% endfor %}",
    "multiplying a text": "{{ 'x' * 999999999 }}",
    "replacing": "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}"
    "{% set n.s = n.s | replace('x', 'xxxxxxxx') %}{% endfor %}",
    "joining": "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(99) %}"
    "{% set n.s = [n.s, n.s, n.s] | join(n.s) %}{% endfor %}",
    "doubling a list": "{% set n = namespace(l=[1, 2]) %}{% for i in range(99) %}{% set n.l = n.l + n.l %}{% endfor %}",
    "printing a list in itself": "{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = [n.l, n.l] %}"
    "{% endfor %}{{ n.l }}",
    "JSON of a list in itself": "{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = [n.l, n.l] %}"
    "{% endfor %}{{ n.l | tojson }}",
    "comparing lists in themselves": "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
    "finding lists in themselves": "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a in [n.b] }}",
    "hashing tuples in themselves": "{% set n = namespace(a=(1, 2)) %}{% for i in range(60) %}"
    "{% set n.a = (n.a, n.a) %}{% endfor %}{{ {n.a: 1} }}",
    "squaring": "{% set n = namespace(x=99999) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "much literal text": "{% for a in range(99999) %}" + "x" * 1000 + "{% endfor %}",
    "literal text in a macro": "{% macro f() %}" + "x" * 1000 + "{% endmacro %}{% set n = namespace(l=[]) %}"
    "{% for a in range(99999) %}{% set n.l = n.l + [f()] %}{% endfor %}",
    "a wide indent": "{{ {'a': 1} | tojson(indent=999999999) }}" * 50 + "{{ 'a\nb' | indent(999999999) }}" * 400,
    "splitting": "{% set s = 'ab' * 90000 %}{% for a in range(999) %}{% set x = s.split('b') %}{% endfor %}",
    "megabytes": "x" * 3_000_000,
    "parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "nested ifs": "{% if true %}" * 3_000 + "{% endif %}" * 3_000,
    "a long sum": "{{ " + "1 + " * 6_000 + "1 }}",
    "a date of its own": "{{ strftime_now('%Y' * 999) }}" * 2,
    "a long format": "{{ strftime_now('%9999999Y') }}" * 2000,
    "numbers of text": "{{ ('9' * 90000) | int }}" * 200,
    "reaching Python": "{{ ''.__class__.__mro__[1].__subclasses__()[0]() }}",
    "reaching the loop's code": "{% for a in [1] %}{{ loop.__init__.__globals__.x() }}{% endfor %}",
    "reaching the environment": "{{ self._TemplateReference__context.environment.x() }}",
    "calling a text's method": "{{ 'x'.ljust(999999999) }}",
    "formatting": "{{ '%999999999d' % 1 }}{{ '{:>999999999}'.format(1) }}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_ends_in_bounded_time_and_memory(name: str) -> None:
    """Endless loops, megabytes, values that cost more than they look: an error of ours within seconds."""
    tracemalloc.start()
    began = time.monotonic()
    try:
        with pytest.raises(TemplateError) as error:
            render(HOSTILE[name])
        assert not isinstance(error.value, TemplateRefusal)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert time.monotonic() - began < 30
    assert peak < 150_000_000


@given(st.text(st.sampled_from("{}%-#|() .'=+~\nabforinset01[]") | st.characters(), max_size=40), TURNS)
@settings(max_examples=examples(300), deadline=None)
def test_any_text_renders_or_is_an_error_of_ours(text: str, said: tuple[Turn, ...]) -> None:
    """Whatever stands in the file and in the chat: a text or a TemplateError, nothing else."""
    for source in (text, "{{" + text + "}}", "{%" + text + "%}"):
        try:
            NativeTemplate(source).render(RenderInput(said), CLOCK)
        except TemplateError:
            continue


def test_a_loop_that_carries_a_name_on_is_left_to_the_server() -> None:
    """The engine keeps what a round of a loop sets, jinja2 does not; names that each round sets first are fine."""
    with pytest.raises(TemplateBeyondSubset, match="earlier round"):
        render("{% for m in messages %}{% if x %}b{% endif %}{% set x = 1 %}{% endfor %}")
    assert (
        render(
            "{% for m in messages %}{% if m %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}{% endfor %}"
        )
        == "1"
    )


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ((Turn("assistant", "a"), Turn("assistant", "b")), TWO_AT_THE_END),
        ((Turn("assistant", "a", tool_calls=(ToolCall("f"),)),), "contains tool calls"),
    ],
)
def test_what_the_engine_does_not_continue_is_refused(last: tuple[Turn, ...], words: str) -> None:
    """Two answers at the end, or a call of a tool: the engine answers 400 whatever the template."""
    with pytest.raises(TemplateRefusal, match=words):
        NativeTemplate(template("model_role")).render(RenderInput((Turn("user", "q"), *last)), CLOCK)


def test_a_template_that_knows_no_system_turn_gets_its_text_in_the_next() -> None:
    """As the engine does for templates that raise at the role, or never read its content."""
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "<{{ m.role }}>{{ m.content }}{% endfor %}"
    )
    said = RenderInput((Turn("system", "be terse"), Turn("user", "hi")))
    assert NativeTemplate(source).render(said, CLOCK) == "<user>be terse\nhi"


def test_content_comes_in_parts_where_a_template_takes_nothing_else() -> None:
    """A list of typed parts, for templates that fail at a text."""
    source = "{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}"
    assert NativeTemplate(source).render(RenderInput((Turn("user", "hi"),)), CLOCK) == "hi"


def test_a_bos_that_the_engine_adds_is_not_written_twice() -> None:
    """The template's own is taken away where the vocabulary asks for one."""
    said = RenderInput((Turn("user", "hi"),))
    for adds, start in ((False, "<s>"), (True, "")):
        ends = EndTokens("<s>", "</s>", adds_bos=adds)
        assert NativeTemplate("{{ bos_token }}{{ messages[0].content }}", ends).render(said, CLOCK) == start + "hi"
