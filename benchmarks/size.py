"""What `pip install ollama-kit` puts on the disk: the package and all it requires, without extras."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.timing import verdict

TARGET_BYTES = 60 * 10**6
SHOWN = 8
SOURCE = Path(__file__).resolve().parents[1]


def run() -> Iterable[str]:
    sizes, absent = required_sizes("ollama-kit")
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:SHOWN]:
        yield f"{name:<28}{size / 1e6:6.1f} MB"
    rest = len(sizes) - SHOWN
    if rest > 0:
        yield f"{f'{rest} more':<28}{sum(sorted(sizes.values())[:rest]) / 1e6:6.1f} MB"
    yield (
        f"{total / 1e6:.1f} MB in {len(sizes)} distributions, as shipped (without bytecode); "
        f"target {TARGET_BYTES / 1e6:.0f} MB: {verdict(total <= TARGET_BYTES)}"
    )
    if absent:
        yield f"required, but not installed here, so not in the sum: {', '.join(sorted(absent))}"


def required_sizes(root: str) -> tuple[dict[str, int], set[str]]:
    """Bytes of each distribution that `root` needs in this environment, itself included, and those not installed."""
    sizes: dict[str, int] = {}
    absent: set[str] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(root, frozenset())]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            absent.add(name)
            continue
        sizes[name] = shipped_bytes(installed)
        waiting += _requirements(installed, extras)
    return sizes, absent


def _requirements(installed: Distribution, extras: frozenset[str]) -> Iterable[tuple[str, frozenset[str]]]:
    """(name, extras) of what a distribution requires here, for those of its own extras that are asked for."""
    for line in installed.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def shipped_bytes(installed: Distribution) -> int:
    """The bytes a distribution brought: what its RECORD lists, bytecode apart. An editable install of this checkout
    lists nothing of its own; what its wheel would hold is counted instead."""
    paths = [Path(str(installed.locate_file(file))) for file in installed.files or ()]
    if any("__editable__" in path.name or path.suffix == ".pth" for path in paths) and (SOURCE / "ollama_kit").is_dir():
        folders = ("ollama_kit", "modelfiles", "templates")
        paths += [path for folder in folders for path in (SOURCE / folder).rglob("*")]
    return sum(path.stat().st_size for path in paths if path.suffix != ".pyc" and path.is_file())
