"""The machine-checked rules of the code: sizes, docstrings, settings, banned habits."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.features.settings import AllSettings
from bot.settings import Settings
from tests import house
from tests.house import Module

ROOT = Path(__file__).parent.parent
FILES = sorted(path for folder in ("bot", "memory", "simulator") for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

CODE_LINES_OF_A_FILE = 400
CODE_LINES_OF_A_FUNCTION = 49
METHODS_OF_A_CLASS = 15
PARAMETERS = 7

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _docstring_lines(tree: ast.AST) -> set[int]:
    """Return the lines of docstrings and of strings that document a constant."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _code_lines(source: str) -> set[int]:
    """Return the numbers of the code lines, without blanks, comments or docstrings."""
    skipped = {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines - _docstring_lines(ast.parse(source))


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_file_is_small_and_says_what_it_is_for(path: Path) -> None:
    source = path.read_text("utf-8")
    tree = ast.parse(source)

    code = _code_lines(source)

    first_line = (ast.get_docstring(tree) or "").split("\n")[0]
    assert first_line.endswith((".", "!", "?")), f"{_name(path)} does not begin with one sentence"
    assert len(code) <= CODE_LINES_OF_A_FILE
    for function in _functions(tree):
        length = len(code & set(range(function.lineno, (function.end_lineno or 0) + 1)))
        assert length <= CODE_LINES_OF_A_FUNCTION, f"{function.name} has {length} code lines"
        given = function.args
        count = len(
            [a for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg not in ("self", "cls")]
        )
        assert count <= PARAMETERS or function.name == "__init__", f"{function.name} has {count} parameters"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_class_has_few_methods(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            public = [child for child in node.body if isinstance(child, Function)]
            assert len(public) <= METHODS_OF_A_CLASS or node.name == "Settings", f"{node.name}: {len(public)}"


def test_every_setting_is_in_the_example_with_a_line_on_what_it_does() -> None:
    example = (ROOT / ".env.example").read_text("utf-8")

    named = re.findall(r"^# ([A-Z0-9_]+)=", example, re.MULTILINE)

    assert sorted(named) == sorted(name.upper() for name in AllSettings.model_fields)
    for field in AllSettings.model_fields.values():
        assert field.description
        assert f"\n# {field.description}\n" in example


@pytest.mark.parametrize("path", [*FILES, *TESTS], ids=_name)
def test_nothing_is_mocked_and_nothing_sleeps(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))

    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    } | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert not {name for name in imported if name.startswith("unittest.mock") or name == "mock"}
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert "time.sleep" not in calls or path.is_relative_to(ROOT / "memory" / "embedded")


def test_no_process_with_an_embedder_forks() -> None:
    """CTranslate2 has a thread, which a fork loses. Only the guardian forks, which loads no embedder."""
    forking = re.compile(r"\b(fork|forkpty|preexec_fn|multiprocessing|ProcessPoolExecutor)\b")
    found = {_name(path) for path in FILES if forking.search("\n".join(_code(path)))}
    assert found == {"memory/embedded/guardian.py"}


def _code(path: Path) -> list[str]:
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    return [lines[number - 1].partition("#")[0] for number in sorted(_code_lines(source))]


def test_scripts_name_their_keys_and_arguments() -> None:
    for path in (*ROOT.glob("bot/inbox/scripts/*.lua"), *ROOT.glob("memory/redis/scripts/*.lua")):
        head = path.read_text("utf-8").split("\n\n")[0]
        assert head.startswith("-- "), f"{_name(path)} does not say what it does"


# The house ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def found() -> list[Module]:
    return house.modules()


def test_the_product_stays_small(found: list[Module]) -> None:
    product = house.product(found)

    assert sum(module.code_lines for module in product) <= 46_040
    assert len(product) <= 339
    assert len(AllSettings.model_fields) <= 64
    assert len(Settings.model_fields) <= 45
    assert sum(line.strip() != "" and not line.strip().startswith("--") for line in _script_lines()) <= 2_000


def _script_lines() -> Iterator[str]:
    for folder in ("bot", "memory", "tests"):
        for path in (ROOT / folder).rglob("*.lua"):
            yield from path.read_text("utf-8").splitlines()


def test_docstrings_and_comments_are_plain(found: list[Module]) -> None:
    clauses, count = house.clauses(found)
    sentences = [
        f"{module.inner}:{line} {sentence}"
        for module in found
        for line, text in house.prose(module)
        for sentence in house.long_sentences(text)
    ]

    assert 1_000 * len(clauses) / count <= 12, "\n".join(clauses)
    assert len(sentences) <= 50, "\n".join(sentences)
    assert house.long_lines(found) == []


def test_tests_and_fault_lab_are_plain() -> None:
    found = house.modules(house.CHECKS)
    clauses, count = house.clauses(found)
    assert len(clauses) * 1000 / count <= 12, "\n".join(clauses)
    assert house.long_lines(found) == []


def test_files_and_classes_are_topics_with_names_of_their_own(found: list[Module]) -> None:
    assert len(small := house.small_modules_with_one_importer(found)) <= 5, "\n".join(small)
    assert len(gerunds := house.gerund_modules(found)) <= 8, gerunds
    assert len(twice := house.class_names_used_twice(house.product(found))) <= 6, twice


def test_documents_are_short_and_plain() -> None:
    documents = house.documents()
    sentences = [
        f"{path.name} {each}" for path in documents for each in house.long_sentences(path.read_text("utf-8"))
    ]

    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").split()) <= 2_500
    assert sum(house.words_outside_tables(path) for path in documents) <= 17_800
    assert len(sentences) <= 100, "\n".join(sentences)
