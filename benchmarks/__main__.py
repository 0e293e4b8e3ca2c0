"""`python -m benchmarks [NAME…]`: runs the named benchmarks, or all that there are, one after another, each in a
process of its own."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import benchmarks


def found() -> dict[str, ModuleType]:
    """The modules here that have a `run`, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    modules = {name: import_module(f"benchmarks.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def main(wanted: list[str]) -> int:
    """Prints each benchmark's title and lines; the exit code is 2 where a name is not one of theirs."""
    there_are = found()
    if wanted[:1] == ["--alone"] and wanted[1:2] and wanted[1] in there_are:
        _show(there_are[wanted[1]], wanted[1])
        return 0
    if unknown := [name for name in wanted if name not in there_are]:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(there_are)}", file=sys.stderr)
        return 2
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs{load}. Medians, in turns; (the middle half).")
    names = wanted or list(there_are)
    if len(names) == 1:
        _show(there_are[names[0]], names[0])
        return 0
    # Each in a process of its own, so that none has the caches and the memory of the one before.
    return max(subprocess.call([sys.executable, "-m", "benchmarks", "--alone", name]) for name in names)


def _show(benchmark: ModuleType, name: str) -> None:
    print(f"\n{name}: {(benchmark.__doc__ or '').partition(chr(10))[0]}", flush=True)
    for line in benchmark.run():
        print(f"  {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
