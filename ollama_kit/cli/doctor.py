"""`doctor`: checks the settings, the server, the specs, the policies and the extras, and suggests fixes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Literal

import click

from ollama_kit import __version__, plugins, resources
from ollama_kit.builder.build_records import leftovers
from ollama_kit.cli.output import echo, print_result, styled
from ollama_kit.cli.shared_options import json_option, server_options, settings_from
from ollama_kit.errors import OllamaKitError, PlugInError, in_users_language
from ollama_kit.guard.policy import load_policy, policy_names
from ollama_kit.guard.scanners.library import ScannerStatus, scanner_status
from ollama_kit.modelfile.versions import supports
from ollama_kit.server.connection import connect_with
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec, spec_names

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "error": ("no", "red")}


@click.command("doctor")
@server_options
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Check this machine's setup and suggest fixes. Exit code 1 if something is wrong."""
    checks = checkup(settings_from(host, allow_remote))
    if as_json:
        print_result({"checks": checks})
    else:
        for check in checks:
            mark, color = _MARKS[check.verdict]
            styled(f"{mark}  ", fg=color, nl=False)
            echo(f"{check.subject}: {check.found}")
            if check.fix:
                echo(f"    {check.fix}")
    ctx.exit(1 if any(check.verdict == "error" for check in checks) else 0)


Verdict = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Check:
    """One thing checked; `fix` is what to do about it, in the user's language."""

    subject: str
    verdict: Verdict
    found: str
    fix: str = ""


def checkup(settings: Settings) -> tuple[Check, ...]:
    """Every check, in the order in which one would repair."""
    return (
        *_this_machine(),
        *_settings(settings),
        *_server(settings),
        *_specs(),
        *_policies(),
        *_plug_ins(),
        *_extras(),
    )


def _this_machine() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("ollama-kit", "ok", f"{__version__} on Python {version}, templates from {resources.shipped_root()}")
    encoding = sys.stdout.encoding or "unknown"
    if encoding.lower().replace("-", "") not in ("utf8", "utf16"):
        fix = in_users_language(("Set PYTHONUTF8=1 to see every character.", "设置 PYTHONUTF8=1 可显示全部字符。"))
        yield Check("console", "warning", f"writes {encoding}; characters it lacks are shown as ?", fix)
    if outside := resources.distrusted_project():
        folder, why = outside
        fix = in_users_language(
            (
                f"Make the folder yours, and writable for nobody else: `chown` and `chmod go-w {folder}`.",
                f"请把该文件夹的所有者改为您，并取消他人的写权限：`chown` 与 `chmod go-w {folder}`。",
            )
        )
        yield Check("project", "warning", f"{folder} is not used as a project: {why}", fix)
    named = [name for name in PROXY_VARIABLES if os.environ.get(name)]
    if named:
        found = f"{', '.join(named)} set, but not used: prompts go to the server directly"
        yield Check("proxy", "ok", found)


def _settings(settings: Settings) -> Iterator[Check]:
    for item in fields(Settings):
        if item.name != "origins":
            value = getattr(settings, item.name)
            shown = "not set" if value is None else str(value)
            yield Check(f"setting {item.name}", "ok", f"{shown} ({settings.origins.get(item.name, 'default')})")


def _server(settings: Settings) -> Iterator[Check]:
    try:
        with Server(connect_with(settings)) as server:
            version = server.version()
            installed = server.models()
            loaded = tuple(_loaded(server))
    except OllamaKitError as error:
        found = shutil.which("ollama")
        where = f"ollama is at {found}" if found else "there is no ollama on PATH"
        yield Check("server", "error", f"{error.message} ({where})", error.hint)
        return
    local = "this machine" if server.host.is_loopback else "ANOTHER machine"
    yield Check("server", "ok", f"Ollama {version} at {server.url}, {local}, {len(installed)} models")
    if not supports(version, "create_fields"):
        fix = in_users_language(("Upgrade Ollama to 0.5.5 or later.", "请把 Ollama 升级到 0.5.5 或更高版本。"))
        yield Check("server version", "error", f"{version} is too old for `build`", fix)
    elif not supports(version, "truncate"):
        yield Check("server version", "ok", f"{version} truncates silently; every prompt is counted before it is sent")
    yield from loaded
    for name in leftovers(installed):
        fix = in_users_language(
            ("The next build or `ollama-kit rm` removes it.", "下次构建或 `ollama-kit rm` 会删除它。")
        )
        yield Check("leftover", "warning", f"{name}, from an interrupted build", fix)


def _loaded(server: Server) -> Iterator[Check]:
    """Each loaded model: the memory that the server reports, beside the plan."""
    from ollama_kit.memory.loaded import compare
    from ollama_kit.memory.quantities import shown
    from ollama_kit.memory.sources import of_model

    try:
        running = server.running()
    except OllamaKitError as error:
        yield Check("loaded models", "warning", error.message, error.hint)
        return
    for model in running:
        try:
            found = compare(model, of_model(model.name, server))
        except OllamaKitError as error:
            yield Check(f"loaded {model.name}", "ok", f"takes {shown(model.size_bytes)}; no plan: {error.message}")
            continue
        setup = found.plan.setup
        at = f"{setup.context:,} tokens, {setup.parallel} slots, {setup.kv_cache} cache"
        takes = "is reported to take" if found.is_estimate else "takes"
        said = f"{takes} {shown(found.reported_bytes)}; planned {shown(found.planned_bytes)} ({at})"
        fix = in_users_language(("`ollama-kit plan` shows the parts.", "用 `ollama-kit plan` 查看各部分。"))
        well = found.agrees or found.is_estimate
        yield Check(f"loaded {model.name}", "ok" if well else "warning", said, "" if well else fix)


def _specs() -> Iterator[Check]:
    good = 0
    for name in spec_names():
        try:
            load_spec(name)
            good += 1
        except OllamaKitError as error:
            yield Check(f"spec {name}", "error", error.message, error.hint)
    yield Check("specs", "ok", f"{good} load, from {', '.join(map(str, resources.search_path('modelfiles')))}")


def _policies() -> Iterator[Check]:
    """Each policy found, and the scanners that it names."""
    for name in policy_names():
        try:
            policy = load_policy(name)
        except OllamaKitError as error:
            yield Check(f"policy {name}", "error", error.message, error.hint)
            continue
        for scanner in scanner_status(policy.scanners) if policy.scanners else ():
            verdict: Verdict = "ok" if scanner.works else "error"
            yield Check(f"policy {name}, scanner {scanner.name}", verdict, _scanner(scanner))


def _plug_ins() -> Iterator[Check]:
    """What ships, in one line; then each entry of each other distribution: where it comes from, and what is wrong."""
    shipped = (f"{len(names)} {group.rpartition('.')[2].replace('_', ' ')}" for group, names in plugins.SHIPPED.items())
    yield Check("plug-ins", "ok", f"{', '.join(shipped)} ship; {_plug_ins_wanted()}")
    for group, kind in _plug_in_kinds().items():
        for plug_in in plugins.found(group).values():
            if not plug_in.ships:
                try:
                    plug_in.load(kind)
                    yield Check(f"plug-in {plug_in}", "ok", plug_in.target)
                except PlugInError as error:
                    yield Check(f"plug-in {plug_in}", "error", error.message.partition(": ")[2], error.hint)
    for out in plugins.left_out():
        hint = "" if out.switched_off else out.plug_in.error("").hint
        yield Check(f"plug-in {out.plug_in}", "ok" if out.switched_off else "warning", f"left out: {out.why}", hint)


def _plug_ins_wanted() -> str:
    wanted = os.environ.get(plugins.VARIABLE, "")
    return f"{plugins.VARIABLE} is {wanted!r}" if wanted else f"those of every distribution count ({plugins.VARIABLE})"


def _plug_in_kinds() -> dict[str, type]:
    """What an entry of each group has to load to."""
    from click import Command

    from ollama_kit.documents.reading import DocumentReader
    from ollama_kit.guard.pipeline import Stage
    from ollama_kit.jobs.wechat.readers.recognize import ChatReader

    return {
        plugins.COMMANDS: Command,
        plugins.JOBS: Command,
        plugins.STAGES: Stage,
        plugins.CHAT_READERS: ChatReader,
        plugins.DOCUMENT_READERS: DocumentReader,
    }


def _extras() -> Iterator[Check]:
    """The optional parts: whether they are installed, and what they would add."""
    statuses = scanner_status()
    working = [status for status in statuses if status.works]
    found = f"{len(working)} of {len(statuses)} scanners would work, from {statuses[0].source}"
    fix = "" if working else 'pip install "ollama-kit[llm-guard]"'
    yield Check("extra llm-guard", "ok", found, fix)
    for status in working:
        yield Check(f"scanner {status.name}", "ok", _scanner(status))
    for extra, module in (("images", "PIL"), ("wechat", "icalendar")):
        there = find_spec(module) is not None
        yield Check(
            f"extra {extra}", "ok", "installed" if there else f'not installed: pip install "ollama-kit[{extra}]"'
        )


def _scanner(status: ScannerStatus) -> str:
    return "; ".join(part for part in (status.source, status.cost, status.why) if part)
