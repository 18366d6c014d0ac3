"""The sentence about messages that a model's filter refused: it names them in the reader's language."""

from dataclasses import replace

import pytest

from bot.errors import ModelFiltered, ModelRefused
from bot.transport.texts import failure_text
from bot.transport.words import LANGUAGES, words_for
from tests.messages import make_message


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_message_is_named_by_its_first_words(language: str) -> None:
    words = words_for(language)
    long = "one two three four five six seven eight nine ten"
    messages = [make_message("m0", long), replace(make_message("m1", ""), note="a photo")]

    text = failure_text(words, ModelFiltered(), messages)

    assert "one two three four five six seven…" in text.replace("\u2068", "").replace("\u2069", "")
    assert "a photo" in text
    assert failure_text(words, ModelRefused(), messages) == words("failure-model-refused")
    assert failure_text(words, ModelFiltered(), messages[:1]) != text


def test_a_quoted_message_is_no_markup() -> None:
    text = failure_text(words_for("en"), ModelFiltered(), [make_message("m0", "**a** [b](c) `d`\n> e")])

    assert "“a b(c) d e”" in text


def test_a_message_without_words_is_refused_without_a_quotation() -> None:
    assert failure_text(words_for("en"), ModelFiltered(), [make_message("m0", "")]) == words_for("en")(
        "failure-model-filtered"
    )
