"""Writes what a job made: all of it rendered first, each file whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from ollama_kit.errors import UsageError, nearest_names
from ollama_kit.text.encodings import write_bytes


def chosen_formats(formats: Iterable[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    """The formats asked for, each once, in their order. UsageError, with the nearest one, for one that is not known;
    `what` is what cannot be written so: a summary."""
    wanted = tuple(dict.fromkeys(formats))
    for name in wanted:
        if name not in known:
            near = nearest_names(name, tuple(known))
            hint = (
                (f"Did you mean {near[0]}?", f"是否想写 {near[0]}？")
                if near
                else (f"There are {', '.join(known)}.", f"可选：{'、'.join(known)}。")
            )
            raise UsageError(f"{what} cannot be written as {name!r}", hint=hint)
    return wanted


def make_folder(folder: Path) -> Path:
    """The folder, which is made if need be; UsageError where it cannot be made or nothing can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):  # the only answer that all systems give: permissions alone do not tell
            pass
    except OSError as problem:
        raise _unwritable(folder, problem) from problem
    return folder


def write_all(folder: Path, contents: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    """Writes each content into `folder`, which is made if need be, under its name; returns the paths in that order.

    Each is written beside and then renamed, so that a file of that name is replaced whole. UsageError for what cannot
    be written."""
    make_folder(folder)
    paths = []
    for name, content in contents.items():
        path = folder / name
        try:
            write_bytes(path, content.encode("utf-8") if isinstance(content, str) else content)
        except OSError as problem:
            raise _unwritable(path, problem) from problem
        paths.append(path)
    return tuple(paths)


def _unwritable(path: Path, problem: OSError) -> UsageError:
    return UsageError(
        f"{path} cannot be written: {problem.strerror or problem}",
        hint=(
            "Name a folder that you may write into with --out, with room on its disk.",
            "请用 --out 指定有写入权限、且磁盘空间足够的文件夹。",
        ),
    )
