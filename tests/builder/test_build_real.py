"""Builds on the real server: what is created is what the spec says, and nothing else changes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ollama_kit.builder.build import BuildOptions, build, diff
from ollama_kit.builder.build_records import NAMESPACE, leftovers
from ollama_kit.errors import BuildError, ExpectationFailed, ModelfileError, ModelMissing, SpecError
from ollama_kit.modelfile import render_modelfile
from ollama_kit.server import flows
from ollama_kit.server.server import Server
from tests.builder.conftest import WriteSpec
from tests.builder.generated import generated_spec
from tests.intensity import times
from tests.realserver.process import RealServer

SPECS = times(200, ci=40)


def names(server: Server) -> set[str]:
    return {model.name for model in server.models()}


def test_a_second_build_changes_nothing_and_asks_three_things(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first creates, the second finds it current with the list of models and one look at the model."""
    spec = spec_of(
        "twice", **{"from": tiny_qwen}, context=512, system='你好　👨‍👩‍👧 "quoted"', parameters={"stop": ["a", "b"]}
    )
    first = build(spec, server)
    asked: list[str] = []
    send = Server.send
    monkeypatch.setattr(Server, "send", lambda self, call: asked.append(call.path) or send(self, call))
    second = build(spec, server)
    assert (first.status, second.status) == ("created", "current")
    assert first.digest == second.digest
    assert asked == ["/api/tags", "/api/show"]
    assert server.show("twice").system == spec.system
    assert not [name for name in names(server) if name.startswith(NAMESPACE)]


def test_without_a_build_record_the_model_itself_proves_that_it_is_current(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A lost cache costs one more question, never a rebuild."""
    spec = spec_of("no-record", **{"from": tiny_qwen}, context=512, system="x")
    build(spec, server)
    monkeypatch.setenv("OLLAMA_KIT_CACHE", str(tmp_path / "empty"))
    assert build(spec, server).status == "current"


def test_a_change_made_behind_our_back_is_found_and_mended(server: Server, spec_of: WriteSpec, tiny_qwen: str) -> None:
    """Somebody else's `ollama create` of the same name is a difference, not something to trust."""
    spec = spec_of("changed", **{"from": tiny_qwen}, context=512, system="ours", parameters={"top_k": 3})
    build(spec, server)
    server.create({"model": "changed", "from": tiny_qwen, "system": "theirs", "parameters": {"num_ctx": 99}})
    assert {item.key for item in diff(spec, server)} == {"system", "context", "parameters.top_k"}
    result = build(spec, server)
    assert result.status == "updated"
    assert diff(spec, server) == ()


def test_dry_run_reads_and_changes_nothing(server: Server, spec_of: WriteSpec, tiny_qwen: str) -> None:
    """It says what it would do."""
    before = names(server)
    result = build(spec_of("dry", **{"from": tiny_qwen}, context=512), server, BuildOptions(dry_run=True))
    assert result.status == "would create"
    assert names(server) == before


def test_another_name_and_force(server: Server, spec_of: WriteSpec, tiny_qwen: str) -> None:
    """`--name` builds beside the spec's own name; `--force` builds what is current."""
    spec = spec_of("named", **{"from": tiny_qwen}, context=512)
    assert build(spec, server, BuildOptions(name="team/other:v1")).name == "team/other:v1"
    again = build(spec, server, BuildOptions(name="team/other:v1", force=True))
    assert again.status == "updated"
    assert "named:latest" not in names(server)


def test_a_gguf_file_is_a_base(server: Server, spec_of: WriteSpec, tiny_gguf) -> None:  # type: ignore[no-untyped-def]
    """Uploaded once, built, and current the second time."""
    path = tiny_gguf("tiny-qwen2")
    spec = spec_of("from-file", **{"from": str(path)}, context=512, gqa=8, tokenizer="qwen")
    assert build(spec, server).status == "created"
    assert build(spec, server).status == "current"
    wrong = spec_of("from-file-wrong", **{"from": str(path)}, gqa=4)
    with pytest.raises(ExpectationFailed, match="GQA 4"):
        build(wrong, server)
    assert "from-file-wrong:latest" not in names(server)


def test_quantize_is_done_and_read_back(server: Server, spec_of: WriteSpec, tiny_f16: str) -> None:
    """The server quantizes F16 weights; what cannot be is refused by it, in its words."""
    spec = spec_of("small", **{"from": tiny_f16}, quantize="q8_0")
    result = build(spec, server)
    assert result.status == "created"
    assert server.show("small").quantization == "Q8_0"
    assert build(spec, server).status == "current"


def test_a_lora_adapter_is_uploaded_and_applied(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, tiny_lora: Path, tmp_path: Path
) -> None:
    """A GGUF adapter works; a safetensors one gets a sentence."""
    spec = spec_of("with-lora", **{"from": tiny_qwen}, adapter=str(tiny_lora), context=512)
    assert build(spec, server).status == "created"
    assert "ADAPTER" in server.show("with-lora").modelfile
    assert build(spec, server).status == "current"
    other = tmp_path / "lora.safetensors"
    other.write_bytes(b"x")
    with pytest.raises(BuildError, match="not a GGUF file"):
        build(spec_of("bad-lora", **{"from": tiny_qwen}, adapter=str(other)), server)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"gqa": 4}, r"mine\.yaml:\d: the spec expects GQA 4, and tiny-qwen2 has 8"),
        ({"tokenizer": "llama"}, r"expects the tokenizer llama, and tiny-qwen2 has qwen"),
        ({"context": 10_000_000}, r"a context of 10,000,000 tokens exceeds"),
        ({"thinking": True}, r"does not support thinking"),
    ],
)
def test_expectations_are_checked_before_anything_is_created(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, keys: dict[str, object], says: str
) -> None:
    """GQA, tokenizer, trained context and thinking are held against the base, with the spec's line."""
    before = names(server)
    with pytest.raises(ExpectationFailed, match=says):
        build(spec_of("mine", **{"from": tiny_qwen}, **keys), server)
    assert names(server) == before


def test_parameters_are_checked_here_because_the_server_does_not(
    server: Server, spec_of: WriteSpec, tiny_qwen: str
) -> None:
    """0.9.3 answers success to a parameter nobody knows, and to one of a wrong type; a build does not."""
    for parameters in ({"mirostat": 1}, {"temprature": 1}, {"top_k": "many"}, {"seed": 1.5}):
        with pytest.raises(SpecError, match=r"mine\.yaml:\d"):
            build(spec_of("mine", **{"from": tiny_qwen}, parameters=parameters), server)
    assert "mine:latest" not in names(server)


def test_a_base_that_is_nowhere_ends_in_a_sentence(server: Server, spec_of: WriteSpec) -> None:
    """The registry cannot be reached here: the message names the model, what is installed and what to do."""
    with pytest.raises(ModelMissing, match="could not be pulled") as caught:
        build(spec_of("orphan", **{"from": "127.0.0.1:9/nobody/nothing:latest"}), server)
    assert "ollama pull" in caught.value.hint


def test_a_killed_build_leaves_the_old_model_and_the_next_one_cleans_up(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, real_server: RealServer
) -> None:
    """SIGKILL between create and copy: the model is as it was; the temporary one is found and removed."""
    spec = spec_of("victim", **{"from": tiny_qwen}, context=512, system="old")
    build(spec, server)
    spec_of("victim", **{"from": tiny_qwen}, context=512, system="new")
    program = textwrap.dedent(
        f"""
        import os, signal
        from ollama_kit.builder.build import build
        from ollama_kit.server.server import Server
        from ollama_kit.specs import load_spec
        Server.copy = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
        build(load_spec("victim"), Server.at({real_server.url!r}))
        """
    )
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(root)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert server.show("victim").system == "old"
    left = leftovers(server.models())
    assert len(left) == 1
    from ollama_kit.specs import load_spec

    result = build(load_spec("victim"), server)
    assert result.removed_leftovers == left
    assert server.show("victim").system == "new"
    assert leftovers(server.models()) == ()


def test_generated_specs_come_back_as_they_were_written(
    server: Server, spec_of: WriteSpec, tiny_qwen: str, real_server: RealServer, tmp_path: Path
) -> None:
    """Random specs, 200 of them in nightly: built through the API and read back, all equal; and where a Modelfile can
    carry the text, `ollama create -f` on the rendered file gives the same manifest digest."""
    draw = random.Random(20260301)
    carried = 0
    for number in range(SPECS):
        spec = spec_of("generated", **{"from": tiny_qwen}, **generated_spec(draw))
        result = build(spec, server, BuildOptions(force=True))
        assert diff(spec, server) == (), number
        try:
            text = render_modelfile(spec, target=server.version())
        except ModelfileError:
            assert result.notes
            continue
        carried += 1
        (tmp_path / "Modelfile").write_text(text, encoding="utf-8", newline="\n")
        command = [str(real_server.binary), "create", "by-hand", "-f", "Modelfile"]
        subprocess.run(command, env=real_server.env, cwd=tmp_path, check=True, capture_output=True)
        assert flows.digest_of("by-hand", server.models()) == result.digest, text
    assert carried > SPECS // 2
