"""Measures of the size and plainness of code and documents."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "memory", "simulator")
CHECKS = ("chaos", "tests")
CLAUSE_WORDS = frozenset(
    "what who whom whose which whether how where when of that over by such so".split()  # noqa: SIM905
)
"""First words of a free clause: a docstring begins with a verb or a noun."""
NOUNS_IN_ING = frozenset(
    [
        "testing",
        "settings",
        "logging",
        "tracing",
        "typing",
        "string",
        "ring",
        "embedding",
        "rendering",
        "polling",
        "splitting",
        "gating",
        "ranking",
        "indexing",
    ]
)
ONE_FILE_EACH = frozenset(["commands", "cli", "tools", "methods"])
"""Folders with one file a command or tool: a small module with one importer is right there."""
LONGEST_SENTENCE = 25
SMALL_MODULE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One file of the packages, parsed."""

    path: Path
    name: str
    text: str
    tree: ast.Module

    @property
    def inner(self) -> str:
        """Return the path from the root of the repository."""
        return str(self.path.relative_to(ROOT))

    @property
    def code_lines(self) -> int:
        """Return the number of lines without blanks, comments and docstrings."""
        prose = {
            line
            for node in _docstrings(self.tree)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        lines = enumerate(self.text.splitlines(), 1)
        return sum(
            bool(line.strip()) and line.strip()[0] != "#" and number not in prose for number, line in lines
        )


def modules(packages: tuple[str, ...] = PACKAGES) -> list[Module]:
    """Return every module of the packages."""
    found: list[Module] = []
    for path in sorted(path for package in packages for path in (ROOT / package).rglob("*.py")):
        text = path.read_text("utf-8")
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found.append(Module(path=path, name=name, text=text, tree=ast.parse(text)))
    return found


def product(found: list[Module]) -> list[Module]:
    """Return the modules of the product itself, without the simulator."""
    return [module for module in found if not module.name.startswith("simulator")]


def prose(module: Module) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring and each block of comments."""
    for node in _docstrings(module.tree):
        yield node.lineno, str(node.value.value) if isinstance(node.value, ast.Constant) else ""
    block: list[str] = []
    first = 0
    for number, line in enumerate([*module.text.splitlines(), ""], 1):
        if line.strip().startswith("#"):
            first = first or number
            block.append(line.strip().lstrip("# "))
        elif block:
            yield first, " ".join(block)
            block, first = [], 0


def clauses(found: list[Module]) -> tuple[list[str], int]:
    """Return the places of prose that begins with a clause word, and the number of all places."""
    places: list[str] = []
    count = 0
    for module in found:
        for line, text in prose(module):
            count += 1
            first = re.match(r"[\"'`(]*([A-Za-z]+)", text.strip())
            if first and first[1].lower() in CLAUSE_WORDS:
                places.append(f"{module.inner}:{line} {text.strip()[:80]}")
    return places, count


def long_sentences(text: str) -> Iterator[str]:
    """Yield the sentences with more than 25 words, without code blocks, tables and headings."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "<", "!")))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text):
        if len(re.findall(r"[A-Za-z][\w'-]*", sentence)) > LONGEST_SENTENCE:
            yield " ".join(sentence.split())


def small_modules_with_one_importer(found: list[Module]) -> list[str]:
    """Return the modules of at most 60 code lines that only one other module imports."""
    importers = _importers(found)
    return [
        f"{module.inner} <- {next(iter(importers[module.name]))}"
        for module in found
        if 0 < module.code_lines <= SMALL_MODULE
        and len(importers[module.name] - {module.name}) == 1
        and module.path.name != "__init__.py"
        and not ONE_FILE_EACH & set(module.path.parts)
    ]


def gerund_modules(found: list[Module]) -> list[str]:
    """Return the modules named by a gerund."""
    return [
        each.inner for each in found if each.path.stem.endswith("ing") and each.path.stem not in NOUNS_IN_ING
    ]


def class_names_used_twice(found: list[Module]) -> list[str]:
    """Return the public class names that two modules define."""
    names = Counter(
        node.name
        for module in found
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return [name for name, count in names.items() if count > 1]


def long_lines(found: list[Module]) -> list[str]:
    """Return the lines of more than 120 characters."""
    return [
        f"{module.inner}:{number}"
        for module in found
        for number, line in enumerate(module.text.splitlines(), 1)
        if len(line) > 120
    ]


def documents() -> list[Path]:
    """Return the documents that people read, without the list of changes."""
    found = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("[!.]*/README.md")}
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def words_outside_tables(path: Path) -> int:
    """Return the number of words of a document, without its tables."""
    lines = path.read_text("utf-8").splitlines()
    return sum(len(line.split()) for line in lines if not line.lstrip().startswith("|"))


def _docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node


def _importers(found: list[Module]) -> dict[str, set[str]]:
    names = {module.name for module in found}
    importers: dict[str, set[str]] = defaultdict(set)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    importers[full if full in names else str(node.module)].add(module.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name].add(module.name)
    return importers
