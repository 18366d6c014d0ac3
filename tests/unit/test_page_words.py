"""The page's catalogue: six languages with the same messages, and no sentence of the page outside of it."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from bot.media.reader import UNSURE
from bot.page.documents import Document
from bot.transport.contents import MEDIA_KINDS, SENT_SERVICES, note_on
from bot.transport.words import LANGUAGES
from bot.turn.media import LEFT_OUT, UNREADABLE_NOTE, UNREADABLE_NOTES
from memory.history.store import RecordCounts

PAGE = Path(__file__).parents[2] / "bot" / "page"
STATIC = PAGE / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
OTHERS = [language for language in LANGUAGES if language != "en"]
PLURALS = {language: {"one", "other"} for language in OTHERS} | {
    "en": {"one", "other"},
    "ru": {"one", "few", "other"},
}
"""Categories of plurals that a language tells apart. "other" stands for those that are left out."""
SAME_EVERYWHERE = {"ops-dead-letters"}
"""Messages of several words that some languages share with English."""
NAMES = r"/\w+(?: on)?|Telegram|mnemogram (?:dashboard|doctor|verify)|UTC|MODELS|\(doctor\)|\(p\d\d\)"
PROGRAMMERS = {
    "The request is not a JSON object.",
    "The request is too large.",
    "There is nothing at this address.",
    "This bot's memory page has no public address (PUBLIC_URL).",
    "A month is one of the last 13, such as 2026-11.",
}
"""Sentences of the API that the page never meets."""


@cache
def _catalogue(language: str) -> Document:
    """Return the messages of a language. Fail for a key that comes twice."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs), (language, [key for key, _ in pairs])
        return dict(pairs)

    text = (STATIC / "catalogue" / f"{language}.json").read_text("utf-8")
    return json.loads(text, object_pairs_hook=once)


def _texts(language: str, key: str) -> list[str]:
    message = _catalogue(language)[key]
    return [message] if isinstance(message, str) else list(message.values())


def _variables(language: str, key: str) -> set[str]:
    return {name for text in _texts(language, key) for name in re.findall(r"\{(\w+)\}", text)}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_message_with_the_same_variables(language: str) -> None:
    keys = {key for key in _catalogue(language) if " " not in key}
    assert keys == set(_catalogue("en"))
    assert {key: _variables(language, key) for key in keys} == {key: _variables("en", key) for key in keys}


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_have_the_plurals_of_their_language_and_kinds_have_a_rest(language: str) -> None:
    for key, message in _catalogue(language).items():
        if isinstance(message, str):
            assert "{count}" not in message, (language, key)
            continue
        kinds = set(message) - PLURALS[language]
        assert "other" in message, (language, key)
        if "one" in message:
            assert not kinds, (language, key)
            assert isinstance(_catalogue("en")[key], dict), key
        elif isinstance(_catalogue("en")[key], dict):
            assert set(message) == set(_catalogue("en")[key]), (language, key)


@pytest.mark.parametrize("language", OTHERS)
def test_no_message_is_left_in_english(language: str) -> None:
    same = {key for key in _catalogue("en") if _texts(language, key) == _texts("en", key)}
    bare = {key: re.sub(r"\{\w+\}", "", _texts("en", key)[0]) for key in same}
    assert {key for key, text in bare.items() if re.search(r"\w \w", text)} <= SAME_EVERYWHERE


@pytest.mark.parametrize("language", ["ru", "fa"])
def test_a_message_in_another_script_contains_no_english_word(language: str) -> None:
    for key in _catalogue(language):
        for text in _texts(language, key):
            left = re.sub(NAMES, "", re.sub(r"\{\w+\}", "", text))
            assert re.findall(r"[A-Za-z]{2,}", left) == [], (language, key)


def test_every_message_is_used_and_every_used_key_exists() -> None:
    literals, patterns = _keys_in_scripts()
    keys = set(_catalogue("en"))
    assert {key for key in keys - literals if not any(re.fullmatch(each, key) for each in patterns)} == set()
    asked = {
        key
        for path in SCRIPTS
        for key in re.findall(r'\b(?:words|pieces)\("([^"]+)"', path.read_text("utf-8"))
    }
    assert asked - keys == set()
    assert {f"records-{name}" for name in RecordCounts().by_name()} <= keys


@pytest.mark.parametrize("language", OTHERS)
def test_the_sentences_of_the_service_are_translated(language: str) -> None:
    folders = (PAGE, PAGE.parent / "app", PAGE.parent / "features")
    modules = [path for folder in folders for path in folder.rglob("*.py")]
    said = {each for path in modules for each in _errors(path)} - PROGRAMMERS
    assert {key for key in _catalogue(language) if " " in key} == said | {"It does not answer in time."}


def test_the_page_has_words_for_all_content_and_for_all_that_keeps_it_from_being_read() -> None:
    script = (STATIC / "notes.js").read_text("utf-8")
    kinds = {note_on({kind: {}}).partition(" 🎲")[0].partition(": ")[0] for kind in MEDIA_KINDS}
    problems = {*UNREADABLE_NOTES.values(), UNREADABLE_NOTE, LEFT_OUT, UNSURE}
    known = {*re.findall(r'^  "([^"]+)": "[\w-]+",$', script, re.MULTILINE)}
    assert {*kinds, *SENT_SERVICES.values(), *problems} - known == set()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_people_see_is_from_the_catalogue(path: Path) -> None:
    assert list(_visible_literals(path.read_text("utf-8"))) == []


def test_a_sentence_outside_of_the_catalogue_is_found() -> None:
    script = """
        el("p", { class: "soft card", title: "Not here" }, isUp ? "up" : words("away"), `${n} chats`);
        button({ onclick: go }, "Try again", icon("retry"));
        node.textContent = "Loading…";
        const rows = [{ name: "Messages", id: "messages" }];
        return `Update ${id} was dropped.`;
    """
    assert list(_visible_literals(script)) == [
        "Not here",
        "up",
        "${n} chats",
        "Try again",
        "Loading…",
        "Messages",
        "Update ${id} was dropped.",
    ]


# Scripts ---------------------------------------------------------------------------------------------------

CHILDREN = {
    **dict.fromkeys(("el", "svg"), 2),
    **dict.fromkeys(("button", "iconButton", "fill", "tile"), 1),
    **dict.fromkeys(
        ("name", "hint", "card", "section", "segments", "notify", "append", "replaceChildren"), 0
    ),
}
"""Calls that put texts into the page, and their first argument that does."""
READ = frozenset(
    "title text label placeholder alt name note sign empty action aria-label aria-valuetext".split()  # noqa: SIM905
)
"""Properties that people read or hear."""
_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<template>`)
    |(?P<regex>(?<=[(,=:?&|] )/(?![/*])(?:[^/\\\n\[]|\\.|\[[^\]]*\])+/\w*)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<comma>,)
    |(?P<rest>[^"`/()\[\]{},]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Bracket:
    """An open bracket: its character, the function before it, and the number of commas since."""

    kind: str
    callee: str
    argument: int = 0


def _visible_literals(code: str) -> Iterator[str]:
    """Yield the texts of a script that a person would read."""
    for text, before, brackets in _literals(code, 0, len(code), []):
        bare = _without_values(text)
        if re.search(r"[^\W\d_]", bare) and (_is_read(before, brackets) or _is_sentence(bare, before)):
            yield text


def _literals(
    code: str, at: int, end: int, around: list[_Bracket]
) -> Iterator[tuple[str, str, list[_Bracket]]]:
    """Yield the strings and templates between two offsets, each with the code before it and its open brackets."""
    brackets = list(around)
    while at < end:
        token = _TOKEN.match(code, at, end)
        assert token, code[at : at + 40]
        before, at = code[max(0, token.start() - 80) : token.start()].rstrip(), token.end()
        if token["string"]:
            yield token[0][1:-1], before, list(brackets)
        elif token["template"]:
            at = _end_of_template(code, at)
            yield code[token.end() : at - 1], before, list(brackets)
            for start, stop in _values(code, token.end(), at - 1):
                yield from _literals(code, start, stop, brackets)
        elif token["open"]:
            callee = re.search(r"(\w+)$", before) if token[0] == "(" else None
            brackets.append(_Bracket(token[0], callee[1] if callee else ""))
        elif token["close"] and brackets:
            brackets.pop()
        elif token["comma"] and brackets:
            brackets[-1].argument += 1


def _end_of_template(code: str, at: int) -> int:
    """Return the offset after the template whose text begins here."""
    while code[at] != "`":
        if code.startswith("${", at):
            at = _end_of_value(code, at + 2)
        else:
            at += 2 if code[at] == "\\" else 1
    return at + 1


def _end_of_value(code: str, at: int) -> int:
    depth = 1
    while depth:
        if code[at] == "`":
            at = _end_of_template(code, at + 1)
            continue
        depth += (code[at] == "{") - (code[at] == "}")
        at += 1
    return at


def _values(code: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    while at < end:
        if code.startswith("${", at):
            start, at = at + 2, _end_of_value(code, at + 2)
            yield start, at - 1
        else:
            at += 1


def _without_values(text: str) -> str:
    spans = list(_values(text, 0, len(text)))
    for start, stop in reversed(spans):
        text = text[: start - 2] + text[stop + 1 :]
    return text


def _is_read(before: str, brackets: list[_Bracket]) -> bool:
    """Return True for a child of a node, a property that people read, and a text that is set."""
    inner = brackets[-1] if brackets else _Bracket("", "")
    if before.endswith(("===", "!==")) or (
        inner.kind == "(" and inner.callee and inner.callee not in CHILDREN
    ):
        return False
    if re.search(r"(?:textContent|document\.title) = (?:[^;]*[?:] )?$", before + " "):
        return True
    property_name = re.search(r"[{,(?:]\s*\"?([\w-]+)\"?: (?:[^,{}]*[?:] )?$", before + " ")
    if inner.kind == "{":
        return bool(property_name and property_name[1] in READ)
    for bracket in reversed(brackets):
        if bracket.kind == "{":
            return False
        if bracket.kind == "(" and bracket.callee:
            return bracket.argument >= CHILDREN.get(bracket.callee, 99)
    return False


def _is_sentence(bare: str, before: str) -> bool:
    """Return True for words with a capital or a full stop, which no class, key or selector has."""
    is_header = re.search(r"(?:Authorization|Accept)\b[^,]*$", before)
    return not is_header and bool(
        re.fullmatch(r"[^<>={}\[\]]*[A-Z][a-z]+ [a-z][^<>={}\[\]]*|.*[a-z](?:\.|…)", bare)
    )


def _keys_in_scripts() -> tuple[set[str], list[str]]:
    """Return every string of the scripts; templates become patterns."""
    literals: set[str] = set()
    patterns: list[str] = []
    for path in SCRIPTS:
        for text, _, _ in _literals(code := path.read_text("utf-8"), 0, len(code), []):
            if "${" in text:
                spans = list(_values(text, 0, len(text)))
                edges = [0, *(edge for start, stop in spans for edge in (start - 2, stop + 1)), len(text)]
                parts = [text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True)]
                patterns.append(".*".join(map(re.escape, parts)))
            else:
                literals.add(text)
    return literals, [each for each in patterns if re.match(r"[a-z]+\\-", each)]


def _errors(path: Path) -> Iterator[str]:
    """Yield the whole sentences of the errors that a module raises."""
    tree = ast.parse(path.read_text("utf-8"))
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "PageError":
            sentence = node.args[1]
            if isinstance(sentence, ast.Constant):
                yield str(sentence.value)
            elif isinstance(sentence, ast.Name) and sentence.id in constants:
                yield str(constants[sentence.id])
