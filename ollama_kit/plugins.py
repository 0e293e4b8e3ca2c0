"""What others add to ollama-kit, and what ships, through one door: the entry points of installed distributions.

    group                         an entry loads to        asked by
    ollama_kit.commands           a click command          cli/main.py
    ollama_kit.jobs               a click command too      cli/main.py: work that models do on people's files
    ollama_kit.stages             a Stage                  guard/pipeline.py
    ollama_kit.chat_readers       a ChatReader             jobs/wechat/readers/recognize.py
    ollama_kit.document_readers   a DocumentReader         documents/reading.py

Whoever asks calls `found` (names, and nothing is imported) or `loaded` (values, checked to be what the group takes).

- What ships is listed in SHIPPED, and pyproject.toml declares the same entries. They are read from here because the
  metadata of a checkout or an editable install is that of the day it was installed.
- A name that ships cannot be taken by another distribution, and of two others the first by name has it. A command and
  a job share their names.
- A plug-in that does not load is named on stderr, once, when its group is used, and left out. `ollama-kit doctor` lists
  all of them.
- OLLAMA_KIT_PLUGINS says whose entries count: `all` (as if it was not set), `none`, or names of distributions with
  commas between. What ships always counts.
- Only installed distributions count. One in the current folder does not, although `python -m` looks for modules there:
  a project folder that came from elsewhere must not bring code that runs.

importlib.metadata would answer the same, but importing it takes half as long as importing click, for each `--help`. It
is asked about what is not a folder only.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from ollama_kit.errors import OllamaKitError, PlugInError

T = TypeVar("T")

COMMANDS = "ollama_kit.commands"
JOBS = "ollama_kit.jobs"
STAGES = "ollama_kit.stages"
CHAT_READERS = "ollama_kit.chat_readers"
DOCUMENT_READERS = "ollama_kit.document_readers"

VARIABLE = "OLLAMA_KIT_PLUGINS"
OWN = "ollama-kit"

_STAGES = "ollama_kit.guard.pipeline:BY_NAME"
_CHATS = "ollama_kit.jobs.wechat.readers.formats"
_DOCUMENTS = "ollama_kit.documents.reading"

SHIPPED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        COMMANDS: {
            "init": "ollama_kit.cli.modelfiles:init_command",
            "list": "ollama_kit.cli.models:list_command",
            "render": "ollama_kit.cli.modelfiles:render_command",
            "lint": "ollama_kit.cli.modelfiles:lint_command",
            "build": "ollama_kit.cli.models:build_command",
            "diff": "ollama_kit.cli.models:diff_command",
            "show": "ollama_kit.cli.models:show_command",
            "plan": "ollama_kit.cli.plan:plan_command",
            "rm": "ollama_kit.cli.models:rm_command",
            "scan": "ollama_kit.cli.guarding:scan_command",
            "schema": "ollama_kit.cli.guarding:schema_command",
            "count": "ollama_kit.cli.ask:count_command",
            "ask": "ollama_kit.cli.ask:ask_command",
            "audit": "ollama_kit.cli.audit:audit_command",
            "doctor": "ollama_kit.cli.doctor:doctor_command",
            "demo": "ollama_kit.cli.demo:demo_command",
        },
        JOBS: {
            "wechat": "ollama_kit.cli.wechat:wechat_command",
            "contract": "ollama_kit.cli.contract:contract_command",
        },
        STAGES: {
            "normalize": f"{_STAGES}.normalize",
            "scanners": f"{_STAGES}.scanners",
            "private_data": f"{_STAGES}.private_data",
            "injection": f"{_STAGES}.injection",
            "control_tokens": f"{_STAGES}.control_tokens",
            "markup": f"{_STAGES}.markup",
            "fence": f"{_STAGES}.fence",
            "evidence": f"{_STAGES}.evidence",
            "answer_scanners": f"{_STAGES}.answer_scanners",
            "leak": f"{_STAGES}.leak",
            "judge": f"{_STAGES}.judge",
        },
        CHAT_READERS: {
            "memotrace-v2-csv": f"{_CHATS}:MEMOTRACE_V2_CSV",
            "wechatmsg-v1-csv": f"{_CHATS}:WECHATMSG_V1_CSV",
            "pywxdump-csv": f"{_CHATS}:PYWXDUMP_CSV",
            "chatlog-csv": f"{_CHATS}:CHATLOG_CSV",
            "weclone-csv": f"{_CHATS}:WECLONE_CSV",
            "json-empty": f"{_CHATS}:JSON_EMPTY",
            "pywxdump-json": f"{_CHATS}:PYWXDUMP_JSON",
            "chatlog-json": f"{_CHATS}:CHATLOG_JSON",
            "chatlab-jsonl": f"{_CHATS}:CHATLAB_JSONL",
            "chatlab-json": f"{_CHATS}:CHATLAB_JSON",
            "weflow-arkme-json": f"{_CHATS}:WEFLOW_ARKME_JSON",
            "weflow-json": f"{_CHATS}:WEFLOW_JSON",
            "echotrace-json": f"{_CHATS}:ECHOTRACE_JSON",
            "memotrace-v2-daily-txt": f"{_CHATS}:MEMOTRACE_V2_DAILY_TXT",
            "chatgpt-on-wechat-log": f"{_CHATS}:CHATGPT_ON_WECHAT_LOG",
            "memotrace-v2-txt": f"{_CHATS}:MEMOTRACE_V2_TXT",
            "wechatmsg-v1-txt": f"{_CHATS}:WECHATMSG_V1_TXT",
            "weflow-txt": f"{_CHATS}:WEFLOW_TXT",
            "chatlog-txt": f"{_CHATS}:CHATLOG_TXT",
            "paste": f"{_CHATS}:PASTE",
            "wechat-v3-db": f"{_CHATS}:WECHAT_V3_DB",
            "wechat-v4-db": f"{_CHATS}:WECHAT_V4_DB",
        },
        DOCUMENT_READERS: {
            "pdf": f"{_DOCUMENTS}:PDF",
            "docx": f"{_DOCUMENTS}:DOCX",
            "html": f"{_DOCUMENTS}:HTML",
            "md": f"{_DOCUMENTS}:MARKDOWN",
            "txt": f"{_DOCUMENTS}:TXT",
        },
    }
)
"""What ships, by group and name: the object that an entry stands for, as `module:attribute`. The order is that of
--help, and of formats that recognize a file equally well."""

_NAMESPACES = {JOBS: COMMANDS}
"""A group whose names are also names of another."""


class PlugIn(NamedTuple):
    """One entry point: what `name` means in `group`, and which distribution says so.

    `target` is `module:attribute`. `summary` is the distribution's, in one line; empty for what ships."""

    group: str
    name: str
    target: str
    distribution: str = OWN
    version: str = ""
    summary: str = ""

    @property
    def ships(self) -> bool:
        return self.distribution == OWN

    def __str__(self) -> str:
        return f"{self.group.rpartition('.')[2].removesuffix('s').replace('_', ' ')} {self.name!r} of {self.origin}"

    @property
    def origin(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}".strip()

    def load(self, kind: type[T]) -> T:
        """What the entry stands for. PlugInError where it cannot be imported, or is not a `kind`."""
        module, _, attributes = self.target.partition(":")
        try:
            with self.blamed():
                value: Any = import_module(module)
                for attribute in filter(None, attributes.split(".")):
                    value = getattr(value, attribute)
        except SystemExit as left:  # a script that was never meant to be imported
            raise self.error(f"importing {module} ends the program") from left
        if not isinstance(value, kind):
            raise self.error(f"{self.target} is a {type(value).__name__}, not a {kind.__name__}")
        return value

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Within it, an exception of another distribution's code becomes a PlugInError that names the plug-in. An error
        of ours passes, and so does a fault in what ships, which is not hidden."""
        try:
            yield
        except OllamaKitError:
            raise
        except Exception as problem:  # whatever a stranger's code raises
            if self.ships:
                raise
            raise self.error(f"{type(problem).__name__}: {' '.join(str(problem).split())}") from problem

    def error(self, problem: str) -> PlugInError:
        """The error that says what is wrong with it, and what to do."""
        return PlugInError(f"{self}: {problem}", distribution=self.distribution)


class LeftOut(NamedTuple):
    """A plug-in that does not count, and why; `switched_off` where that is what OLLAMA_KIT_PLUGINS says."""

    plug_in: PlugIn
    why: str
    switched_off: bool = False


def found(group: str) -> Mapping[str, PlugIn]:
    """The plug-ins of a group by name, what ships first. Nothing is imported."""
    return _sorted_out().found[group]


def left_out() -> tuple[LeftOut, ...]:
    """The installed plug-ins that do not count. What is wrong with the others shows when they are loaded."""
    return _sorted_out().left_out


def loaded(group: str, kind: type[T]) -> Mapping[PlugIn, T]:
    """All that work, in the order of `found`; each that does not is named on stderr, once a process."""
    for one in left_out():
        if one.plug_in.group == group and not one.switched_off:
            name_on_stderr(one.plug_in.error(one.why))
    values = {}
    for plug_in in found(group).values():
        try:
            values[plug_in] = plug_in.load(kind)
        except PlugInError as error:
            name_on_stderr(error)
    return values


_named: set[str] = set()


def name_on_stderr(error: PlugInError) -> None:
    """Says in one line that a plug-in is left out, and why; the second time it says nothing."""
    if error.message not in _named:
        _named.add(error.message)
        print(f"warning: left out: {error.message}", file=sys.stderr)


class _SortedOut(NamedTuple):
    found: Mapping[str, Mapping[str, PlugIn]]
    left_out: tuple[LeftOut, ...]


def _sorted_out() -> _SortedOut:
    return _sort_out(os.environ.get(VARIABLE, ""), tuple(sys.path))


@lru_cache(maxsize=8)
def _sort_out(wanted: str, folders: tuple[str, ...]) -> _SortedOut:
    """Who has which name: what ships, then the others by distribution and name."""
    counted = {
        group: {name: PlugIn(group, name, at) for name, at in shipped.items()} for group, shipped in SHIPPED.items()
    }
    taken = {(_NAMESPACES.get(group, group), name): OWN for group, names in counted.items() for name in names}
    out: list[LeftOut] = []
    chosen = {_normalized(name) for name in wanted.split(",")} - {""}
    for plug_in in sorted(_installed(folders), key=lambda one: (one.distribution, one.group, one.name)):
        place = _NAMESPACES.get(plug_in.group, plug_in.group), plug_in.name
        if chosen and "all" not in chosen and plug_in.distribution not in chosen:
            out.append(LeftOut(plug_in, f"switched off: {VARIABLE} is {wanted!r}", switched_off=True))
        elif plug_in.group not in counted:
            out.append(LeftOut(plug_in, f"there is no group {plug_in.group}, only {', '.join(counted)}"))
        elif place in taken:
            out.append(LeftOut(plug_in, f"the name is taken by {taken[place]}"))
        else:
            taken[place] = plug_in.distribution
            counted[plug_in.group][plug_in.name] = plug_in
    return _SortedOut({group: MappingProxyType(names) for group, names in counted.items()}, tuple(out))


def _normalized(name: str) -> str:
    """The name of a distribution in the form in which two are compared (packaging.python.org, name normalization).

    >>> _normalized("Ollama_Kit.Example")
    'ollama-kit-example'
    """
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _installed(search: tuple[str, ...]) -> Iterator[PlugIn]:
    """The entries of all groups of ours, whoever declares them. As for modules, the first on the path counts."""
    seen = {OWN}
    for name, metadata, entry_points in _distributions(search):
        if name in seen:
            continue
        seen.add(name)
        if "[ollama_kit." not in entry_points:
            continue
        about = dict(_headers(metadata))
        for group, entry, target in _entries(entry_points):
            yield PlugIn(group, entry, target, name, about.get("Version", ""), about.get("Summary", ""))


def _distributions(search: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """(normalized name, METADATA, entry_points.txt) of each distribution on the path; the METADATA is read only of
    those that name us."""
    try:
        here = os.path.realpath(".")
    except OSError:  # the current folder is gone
        here = ""
    for folder in search:
        if not folder or os.path.realpath(folder) == here:
            continue
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 (pathlib is not loaded for --help)
        except NotADirectoryError:
            yield from _zipped(folder)
            continue
        except OSError:
            continue
        for info in names:
            stem, _, ending = info.rpartition(".")
            if ending in ("dist-info", "egg-info"):
                path = os.path.join(folder, info)  # noqa: PTH118
                entry_points = _text(path, "entry_points.txt")
                metadata = ""
                if "[ollama_kit." in entry_points:
                    metadata = _text(path, "METADATA") or _text(path, "PKG-INFO")
                yield _normalized(stem.partition("-")[0]), metadata, entry_points


def _zipped(path: str) -> Iterator[tuple[str, str, str]]:
    """The same of a zip file on the path."""
    from importlib.metadata import distributions

    for one in distributions(path=[path]):
        yield _normalized(one.name or ""), one.read_text("METADATA") or "", one.read_text("entry_points.txt") or ""


def _text(*path: str) -> str:
    """The text of a file of an installed distribution; empty where there is none."""
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as stream:  # noqa: PTH118, PTH123
            return stream.read()
    except OSError:
        return ""


def _headers(metadata: str) -> Iterator[tuple[str, str]]:
    """(name, value) of each header of one line.

    >>> dict(_headers("Name: a\\nSummary: Reads it.\\n\\nSummary: of the text below"))
    {'Name': 'a', 'Summary': 'Reads it.'}
    """
    for line in metadata.splitlines():
        if not line:
            return
        name, _, value = line.partition(": ")
        yield name, value.strip()


def _entries(entry_points: str) -> Iterator[tuple[str, str, str]]:
    """(group, name, target) of each entry of a group of ours (packaging.python.org, entry points: the file format).

    >>> list(_entries("[console_scripts]\\nx = y:z\\n[ollama_kit.stages]\\n# mine\\nshout = loud.voice:SHOUT"))
    [('ollama_kit.stages', 'shout', 'loud.voice:SHOUT')]
    """
    group = ""
    for line in map(str.strip, entry_points.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group.startswith("ollama_kit.") and "=" in line and line[0] not in "#;":
            name, _, target = line.partition("=")
            yield group, name.strip(), target.partition("[")[0].strip()
