"""The rules of the code that a machine can check: sizes, first lines, the settings' mirror, banned habits."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.settings import Settings

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
    """The lines of docstrings and of the strings that document a constant."""
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
    """The numbers of the lines that are code: no blanks, comments or docstrings."""
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

    assert named == [name.upper() for name in Settings.model_fields]
    for field in Settings.model_fields.values():
        assert field.description
        assert f"\n# {field.description}\n" in example


@pytest.mark.parametrize("path", [*FILES, *TESTS], ids=_name)
def test_nothing_is_mocked_and_nothing_sleeps_and_hopes(path: Path) -> None:
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


def test_scripts_name_their_keys_and_arguments() -> None:
    for path in (*ROOT.glob("bot/inbox/scripts/*.lua"), *ROOT.glob("memory/redis/scripts/*.lua")):
        head = path.read_text("utf-8").split("\n\n")[0]
        assert head.startswith("-- "), f"{_name(path)} does not say what it does"
