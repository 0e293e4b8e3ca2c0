"""docs/architecture.md shows the package as its imports say it is, and every page names only what is there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ollama_kit.plugins import SHIPPED
from tests.structure import FACADE, graph, imports_of, modules, package_edges
from tests.test_layers import ORDER
from tests.written_pages import PAGES, ROOT, files_named, held_block, is_part_of, read, samples

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "ollama_kit"
HOME = tuple(name for names in ORDER for name in names)
"""The layers, lowest first."""

NOT_OURS = frozenset(
    {
        *("ollama-kit.yaml", "chat.txt", "todos.schema.json", "entry_points.txt"),
        *("wechat.sh", ".cmd", ".timer"),  # named with their folder beside
    }
)
"""Files of a user that pages speak of."""


def by_height(names: Iterable[str]) -> list[str]:
    """Layers, highest first."""
    return sorted(names, key=HOME.index, reverse=True)


def imports() -> dict[str, frozenset[str]]:
    """By layer, highest first, the layers that it imports."""
    edges = package_edges()
    return {name: frozenset(low for high, low in edges if high == name) for name in by_height(HOME)}


def below(name: str, of: dict[str, frozenset[str]]) -> frozenset[str]:
    """Every layer that can be reached from one."""
    return frozenset().union(*(frozenset({low}) | below(low, of) for low in of[name]))


def arrows() -> Iterator[tuple[str, str]]:
    """The imports without those that a longer way implies (the transitive reduction): what a picture can hold."""
    of = imports()
    for high, lows in of.items():
        implied = frozenset().union(*(below(low, of) for low in lows))
        yield from ((high, low) for low in by_height(lows - implied))


def test_the_picture_is_what_the_imports_say() -> None:
    drawn = [f"  {high} --> {low}" for high, low in arrows()]
    held_block(PAGE, "arrows", ["```mermaid", "flowchart TD", *drawn, "```"])


def test_the_table_lists_every_import_of_a_layer() -> None:
    """What the picture leaves out is in the table; a layer that imports nothing of ours is there too."""
    rows = [f"| {name} | {', '.join(by_height(lows)) or '–'} |" for name, lows in imports().items()]
    held_block(PAGE, "imports", ["| layer | imports |", "|---|---|", *rows])


def test_the_order_on_the_page_is_that_of_the_test() -> None:
    held_block(PAGE, "order", ["```", *(", ".join(names) for names in reversed(ORDER)), "```"])


def test_every_layer_says_what_it_is() -> None:
    described = re.findall(r"^\| `(\w+?)(?:\.py|/)` \|", read(PAGE), re.MULTILINE)
    assert sorted(described) == sorted(HOME)


def test_the_life_of_a_prompt_follows_the_imports() -> None:
    """Each file of a station is reached from that of the client, through imports alone."""
    stations = re.findall(r"^\d+\. \*\*.*?(?=^\d+\. \*\*|^$)", read(PAGE), re.MULTILINE | re.DOTALL)
    assert 11 <= len(stations) <= 13
    files = [name for station in stations for name in files_named(station)]
    edges, found, todo = graph(), set[str](), ["ollama_kit.client.client"]
    facades = {f"ollama_kit.{module.name.removesuffix(f'.{FACADE}')}": module for module in modules()}
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += edges.get(name, ())
            if name in facades and facades[name].name.endswith(FACADE):
                todo += [one.name for one in imports_of(facades[name])]
    named = {f"ollama_kit.{name.removesuffix('.py').replace('/', '.')}" for name in files if name.endswith(".py")}
    assert len(named) > 25
    assert named - found == set()


# -- every page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_files_that_are_there(page: Path) -> None:
    """From the repository's root, from the package, or beside the page."""
    missing = [
        name
        for name in files_named(read(page))
        if name not in NOT_OURS and not any((folder / name).exists() for folder in (ROOT, PACKAGE, page.parent))
    ]
    assert not missing


@pytest.mark.parametrize(
    ("page", "sample"),
    [(page, sample) for page in PAGES for sample in samples(read(page))],
    ids=lambda value: value.stem if isinstance(value, Path) else value.file,
)
def test_a_sample_is_what_its_file_says(page: Path, sample: tuple[str, str]) -> None:
    file, text = sample
    assert is_part_of(text, read(ROOT / file)), f"{page.name}: the sample of {file} is not in it any more"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.stem)
def test_a_how_to_has_a_sample_and_names_its_files(page: Path) -> None:
    """Nothing in it is made up: what it shows is code that tests run."""
    text = read(page)
    assert samples(text)
    assert len(samples(text)) == len(re.findall(r"^ *```\w", text, re.MULTILINE))
    assert len(set(files_named(text))) >= 4
    assert len(text.splitlines()) <= 90


def test_each_decision_has_a_number_of_its_own() -> None:
    """One decision per page, without gaps."""
    numbers = [page.name[:3] for page in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == [f"{number:03}" for number in range(1, len(numbers) + 1)]
    for page in (ROOT / "docs" / "adr").glob("*.md"):
        assert re.match(r"# \d{3} [^\n]+\n\n", read(page)), page.name
        assert {"**Decision.**", "**Why.**"} <= set(re.findall(r"\*\*[A-Z]\w+\.\*\*", read(page))), page.name


DOTTED = re.compile(r"`(ollama_kit(?:\.\w+)+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_that_a_page_names_can_be_imported(page: Path) -> None:
    """But for the changelog's column of what has moved; groups of entry points are no modules."""
    text = re.sub(r"^ *\| `ollama_kit[^|]*\|", "|", read(page), flags=re.MULTILINE)
    for name in set(DOTTED.findall(text)) - SHIPPED.keys():
        package, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            getattr(importlib.import_module(package), last)


def test_targets_of_make_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", read(ROOT / "Makefile"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"\bmake ([a-z][a-z-]+)", _code_of(read(page)))}
    assert named - targets == set()


def _code_of(text: str) -> str:
    """The code of a page, in lines and in words."""
    return "\n".join(re.findall(r"`[^`\n]+`|^ *```.*?^ *```", text, re.MULTILINE | re.DOTALL))


FOREIGN = frozenset({"docs/gguf.md", "doc/lz4_Block_format.md"})
"""Documents of other projects that a source is given as."""
DOCUMENT = re.compile(r"(?<![\w/.-])(?:(?:docs?|tests|examples)/[\w./-]+\.md|[A-Z][A-Z_]+(?:\.\w+)?\.md)\b")
SAID_TO_SAY = re.compile(r"\b(?:as|in|see|by|from) (DESIGN|STYLE|ROADMAP|NOTES)\b")
WRITTEN = (".py", ".md", ".toml", ".yaml", ".jinja", "")


def test_no_text_refers_to_a_document_that_is_not_in_the_repository() -> None:
    """By its path, or as some "DESIGN" in capitals that is said to say something."""
    refers = []
    for path in _texts():
        text = path.read_text(encoding="utf-8")
        missing = {name for name in DOCUMENT.findall(text) if name not in FOREIGN and not (ROOT / name).exists()}
        refers += [f"{path.relative_to(ROOT)}: {name}" for name in sorted({*missing, *SAID_TO_SAY.findall(text)})]
    assert not refers


def _texts() -> Iterator[Path]:
    """What people wrote, without the data of tests and without this test, which names what it looks for."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in WRITTEN)
    for folder in ("ollama_kit", "tests", "benchmarks", "docs", "examples", "templates", "modelfiles"):
        for path in sorted((ROOT / folder).rglob("*")):
            written = path.suffix in WRITTEN[:-1] and path.relative_to(ROOT).parts[:2] != ("tests", "data")
            if written and path.is_file() and path != Path(__file__):
                yield path
