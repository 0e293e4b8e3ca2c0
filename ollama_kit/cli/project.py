"""`init`: a new project with an example that can be built at once."""

from __future__ import annotations

from pathlib import Path

import click

_SPEC = """\
# yaml-language-server: $schema=../templates/schemas/spec.schema.json
spec: 1
from: qwen3:4b               # a model on the server or in the registry, or the path of a GGUF
context: 8192                # tokens
gqa: auto                    # or the number you expect: checked against the model
tokenizer: qwen              # the family you expect: checked against the model
thinking: false
system: |
  你是一个严谨的助手，回答简短，不确定时直接说不知道。
parameters: {temperature: 0.7, top_p: 0.8, top_k: 20, min_p: 0}
guard: standard
"""

_SETTINGS = """\
# Settings of this project; a flag or an environment variable comes first. `ollama-kit doctor` shows what is in force.
# host: 127.0.0.1:11434
# allow_remote: false
"""


@click.command("init")
@click.argument("folder", default=".", type=click.Path(path_type=Path, file_okay=False))
def init_command(folder: Path) -> None:
    """Start a project in FOLDER: modelfiles/ with an example, templates/ with the spec's schema. Nothing that is there
    is overwritten."""
    from ollama_kit import resources
    from ollama_kit.text.encodings import write_text

    schema = (resources.shipped_root() / "templates" / "schemas" / "spec.schema.json").read_text(encoding="utf-8")
    files = {
        "ollama-kit.yaml": _SETTINGS,
        "modelfiles/my-assistant.yaml": _SPEC,
        "templates/schemas/spec.schema.json": schema,
    }
    for name, text in files.items():
        path = folder / name
        if path.exists():
            click.echo(f"kept     {path}")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
        click.echo(f"created  {path}")
    click.echo(f"Next: cd {folder} && ollama-kit build my-assistant", err=True)
