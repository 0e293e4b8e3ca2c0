"""`python -m benchmarks [NAME…]`: runs the named benchmarks, or all that there are, one after another."""

from __future__ import annotations

import os
import pkgutil
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
    if unknown := [name for name in wanted if name not in there_are]:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(there_are)}", file=sys.stderr)
        return 2
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs{load}. Medians, in turns; (the middle half).")
    for name in wanted or there_are:
        print(f"\n{name}: {(there_are[name].__doc__ or '').partition(chr(10))[0]}", flush=True)
        for line in there_are[name].run():
            print(f"  {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
