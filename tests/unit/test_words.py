"""The catalogue: six languages with the same sentences, all of them used and translated."""

import ast
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax import ast as ftl
from fluent.syntax.visitor import Visitor

from bot.features import CONTROLS
from bot.transport.controls import Audience
from bot.transport.texts import help_text
from bot.transport.words import LANGUAGES, menu_descriptions, read_catalogue, words_for

BOT = Path(__file__).parents[2] / "bot"
OTHERS = [language for language in LANGUAGES if language != "en"]
COUNTS = (0, 1, 2, 5, 21)
DAY = date(2026, 11, 21)
_FSI, _PDI = "\u2068", "\u2069"
_PLURALS = {"zero", "one", "two", "few", "many", "other"}


class _Variables(Visitor):
    """The variables of a pattern, and its counts. `has_words` is False for mere punctuation."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.counts: set[str] = set()
        self.has_words = False

    def visit_TextElement(self, node: ftl.TextElement) -> None:
        self.has_words |= any(map(str.isalpha, node.value))

    def visit_VariableReference(self, node: ftl.VariableReference) -> None:
        self.names.add(node.id.name)

    def visit_SelectExpression(self, node: ftl.SelectExpression) -> None:
        keys = {v.key.name for v in node.variants if isinstance(v.key, ftl.Identifier)}
        if isinstance(node.selector, ftl.VariableReference) and keys <= _PLURALS:
            self.counts.add(node.selector.id.name)
        self.generic_visit(node)

    def visit_FunctionReference(self, node: ftl.FunctionReference) -> None:
        self.counts |= {
            each.id.name for each in node.arguments.positional if isinstance(each, ftl.VariableReference)
        }
        self.generic_visit(node)


@cache
def _variables(language: str) -> dict[str, _Variables]:
    """Return the variables of every key of a language. Fail for invalid Fluent and for a repeated key."""
    found: dict[str, _Variables] = {}
    for entry in FluentParser().parse(read_catalogue(language)).body:
        assert not isinstance(entry, ftl.Junk), (language, entry.content)
        if isinstance(entry, ftl.Message):
            assert entry.id.name not in found, (language, entry.id.name)
            found[entry.id.name] = _Variables()
            found[entry.id.name].visit(entry)
    return found


def _said(language: str, key: str, count: int) -> str:
    """Return the sentence with `count` for every count, a day for every date, and a name for every other variable."""
    counts = set[str]().union(*(_variables(each)[key].counts for each in LANGUAGES))
    names = _variables("en")[key].names
    values = {name: count if name in counts else "Anna" for name in names}
    return words_for(language)(key, **(values | dict.fromkeys(names & {"since", "date"}, DAY)))


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_sentence_with_the_same_variables(language: str) -> None:
    english, other = _variables("en"), _variables(language)
    assert {key: sorted(v.names) for key, v in other.items()} == {
        key: sorted(v.names) for key, v in english.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_renders_with_any_count(language: str) -> None:
    for key in _variables("en"):
        for count in COUNTS:
            said = _said(language, key, count)
            assert said.strip(), (language, key)
            assert "{" not in said, (language, key, said)
            assert "Anna" in said or "Anna" not in _said("en", key, count), (language, key)


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_left_in_english(language: str) -> None:
    said = [key for key, found in _variables("en").items() if found.has_words]
    same = {key for key in said if _bare(_said(language, key, 5)) == _bare(_said("en", key, 5))}
    assert same <= {"usage-tokens"}


@pytest.mark.parametrize("language", ["ru", "fa"])
def test_a_sentence_in_another_script_contains_no_english_word(language: str) -> None:
    names = (
        r"/facts (?:on|off)(?: all)?|/forget me|mnemogram verify|/stats month|/timezone (?:off|Moscow|Tehran)"
        r"|OPENAI_API_KEY|Telegram|Markdown"
        r"|CSV|JSON|PDF|JPEG|PNG|WebP|GIF|BotFather|UTC|Anna|MB|all|/\w+|@\w+"
        r"|(?:result|conversations)\.json|ChatGPT|Claude|Desktop|zip"
    )
    for key in _variables("en"):
        left = re.sub(names, "", _said(language, key, 5))
        assert re.findall(r"[A-Za-z]{2,}", left) == [], (language, key)


def test_every_sentence_is_used_and_every_used_key_exists() -> None:
    literals, patterns, asked = _keys_in_code()
    keys = set(_variables("en"))
    unused = {key for key in keys - literals if not any(re.fullmatch(pattern, key) for pattern in patterns)}
    assert (unused, asked - keys) == (set(), set())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_menu_line_fits_telegrams_limit(language: str) -> None:
    for key in _variables("en"):
        if key.startswith("menu-"):
            assert 1 <= len(_said(language, key, 0)) <= 256


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menus_say_what_the_catalogue_says(language: str) -> None:
    keys = [key for key in _variables("en") if key.startswith("menu-")]
    assert keys
    assert {key: words_for(language)(key) for key in keys} == menu_descriptions(language)


def test_in_persian_left_to_right_text_is_isolated() -> None:
    for key in _variables("en"):
        outside, depth = "", 0
        for character in _said("fa", key, 5):
            depth += (character == _FSI) - (character == _PDI)
            assert depth in {0, 1, 2, 3}, key
            outside += character if depth == 0 else ""
        assert depth == 0, key
        assert re.findall(r"[/@]\w+|-\d+", outside) == [], key


@pytest.mark.parametrize(
    ("code", "language"),
    [("ru", "ru"), ("pt-br", "pt"), ("FA", "fa"), ("", "en"), ("xx", "en"), ("fil", "en"), ("de_AT", "en")],
)
def test_the_language_is_the_primary_subtag_or_else_english(code: str, language: str) -> None:
    assert words_for(code).language == language


def test_a_missing_key_or_variable_raises() -> None:
    with pytest.raises(LookupError):
        words_for("en")("no-such-key")
    with pytest.raises(LookupError):
        words_for("en")("unknown-command")


@pytest.mark.parametrize(
    ("language", "counted"),
    [
        ("en", ["0 messages", "1 message", "2 messages", "5 messages", "21 messages"]),
        ("ru", ["0 сообщений", "1 сообщение", "2 сообщения", "5 сообщений", "21 сообщение"]),
        ("de", ["0 Nachrichten", "1 Nachricht", "2 Nachrichten", "5 Nachrichten", "21 Nachrichten"]),
    ],
)
def test_counts_agree_with_their_nouns(language: str, counted: list[str]) -> None:
    assert [words_for(language)("count-messages", count=count) for count in COUNTS] == counted


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "21 November 2026"),
        ("de", "21. November 2026"),
        ("es", "21 de noviembre de 2026"),
        ("pt", "21 de novembro de 2026"),
        ("ru", "21 ноября 2026"),
        ("fa", "۳۰ آبان ۱۴۰۵"),
    ],
)
def test_a_date_is_written_in_the_readers_language(language: str, written: str) -> None:
    assert written in words_for(language)("memory-messages", count=2, since=DAY)


@pytest.mark.parametrize(
    ("day", "written"),
    [
        (date(2026, 3, 20), "۲۹ اسفند ۱۴۰۴"),
        (date(2026, 3, 21), "۱ فروردین ۱۴۰۵"),  # noqa: RUF001
        (date(2025, 3, 20), "۳۰ اسفند ۱۴۰۳"),
        (date(2026, 9, 22), "۳۱ شهریور ۱۴۰۵"),
        (date(2026, 9, 23), "۱ مهر ۱۴۰۵"),  # noqa: RUF001
        (date(2000, 1, 1), "۱۱ دی ۱۳۷۸"),  # noqa: RUF001
    ],
)
def test_a_persian_date_uses_the_calendar_of_iran(day: date, written: str) -> None:
    assert written in words_for("fa")("memory-messages", count=2, since=day)


def test_persian_numbers_have_persian_digits() -> None:
    assert _bare(words_for("fa")("usage-tokens", count=12_345)) == "۱۲٬۳۴۵ توکن"
    assert "۰٫۰۱۲۵" in words_for("fa")("usage-limit-money", money=0.0125)  # noqa: RUF001


def _keys_in_code() -> tuple[set[str], list[str], set[str]]:
    """Return every string of the code and the keys that it looks up by name. F-strings become patterns."""
    literals: set[str] = set()
    patterns: list[str] = []
    asked: set[str] = set()
    for node in _nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            literals.add(node.value)
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            patterns.append(
                "".join(re.escape(str(v.value)) if isinstance(v, ast.Constant) else ".+" for v in node.values)
            )
        elif isinstance(node, ast.Call) and _name(node.func) == "words" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                asked.add(first.value)
    return literals, [pattern for pattern in patterns if re.match(r"[a-z]+\\-", pattern)], asked


def _nodes() -> Iterator[ast.AST]:
    for path in sorted(BOT.rglob("*.py")):
        if "simulator" not in path.parts:
            yield from ast.walk(ast.parse(path.read_text("utf-8")))


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _bare(text: str) -> str:
    return re.sub(f"[{_FSI}{_PDI}]", "", text)


def test_the_help_lists_the_commands_for_their_readers_and_itself_last() -> None:
    names = ("start", "help", "new", "catchup", "memory", "reset", "stats")
    commands: Mapping[str, Audience] = {name: CONTROLS.commands[name] for name in names}

    group = help_text(words_for("en"), commands, is_group=True, is_operator=True)
    private = help_text(words_for("en"), commands, is_group=False, is_operator=False)

    assert group.split("\n")[2:] == [
        "/catchup — see what was said since you last wrote; or /catchup 2h, /catchup 10:00, /catchup 50",
        "/memory — see what I remember from this group or topic",
        "/help — show this text",
        "",
        "For administrators, who can also use /forget on other people's messages:",
        "/new — start a new conversation; I can still search the old ones",
        "/reset — erase everything I remember from this group or topic",
        "/reset all — do the same for all topics of the group",
        "",
        "If you edit a message, I remember the new text instead.",
        "",
        "For operators of this bot:",
        "/stats — see the number of chats, the queue and today's usage; /stats month: a month's usage",
        "/reset -1001234 — erase everything I remember from the chat with this ID",
    ]
    assert private.split("\n")[2:] == [
        "/new — start a new conversation; I can still search the old ones",
        "/memory — see what I remember from this chat",
        "/reset — erase everything I remember from this chat",
        "/help — show this text",
        "",
        "If you edit a message, I remember the new text instead.",
    ]
