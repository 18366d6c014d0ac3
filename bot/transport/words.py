"""The words that the bot says in a chat, in the reader's language: one Fluent catalogue, a file for each language."""

from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from typing import Any

from fluent.runtime import FluentBundle, FluentResource

LANGUAGES = ("en", "es", "ru", "de", "pt", "fa")
DEFAULT_LANGUAGE = "en"


class Words:
    """The sentences of the catalogue in one language."""

    def __init__(self, language: str, bundle: FluentBundle) -> None:
        self.language = language
        self._bundle = bundle

    def __call__(self, key: str, /, **variables: str | int | float) -> str:
        """The sentence of this key; raises KeyError for one that the catalogue does not have."""
        message = self._bundle.get_message(key)
        if message.value is None:
            raise KeyError(key)
        said, problems = self._bundle.format_pattern(message.value, variables)
        if problems:
            raise KeyError(f"{key}: {problems[0]}")
        return str(said)


@lru_cache
def words_for(language_code: str) -> Words:
    """The words of an IETF language tag as Telegram gives it ("pt-br"); English for one that we do not speak."""
    primary = language_code.partition("-")[0].lower()
    return _load(primary if primary in LANGUAGES else DEFAULT_LANGUAGE)


@lru_cache
def _load(language: str) -> Words:
    functions: dict[str, Callable[[Any], Any]] = {"LTR": _apart}
    bundle = FluentBundle([language], functions=functions, use_isolating=language == "fa")
    text = resources.files("bot.transport").joinpath("catalogue", f"{language}.ftl").read_text("utf-8")
    bundle.add_resource(FluentResource(text))
    return Words(language, bundle)


def _apart(text: str) -> str:
    """What stands in LTR(…): Fluent isolates the result of a function as it does a variable, but not a literal."""
    return text
