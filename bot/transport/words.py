"""Texts of the bot in the reader's language: a Fluent catalogue with one file for each language."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from importlib import resources
from typing import Any

from fluent.runtime import FluentBundle, FluentResource

LANGUAGES = ("en", "es", "ru", "de", "pt", "fa")
DEFAULT_LANGUAGE = "en"

_MENU_LINE = re.compile(r"^(menu-\S+) = (.+)$", re.MULTILINE)
_LOCALES = {"en": "en-GB"}
"""Locales that differ from the language: in en-GB a date reads "21 November 2026"."""
_PERSIAN_DIGITS = str.maketrans("0123456789,.", "۰۱۲۳۴۵۶۷۸۹٬٫")  # noqa: RUF001
_PERSIAN_MONTHS = (
    *("فروردین", "اردیبهشت", "خرداد", "تیر", "مرداد", "شهریور"),
    *("مهر", "آبان", "آذر", "دی", "بهمن", "اسفند"),
)


class Words:
    """The texts of the catalogue in one language."""

    def __init__(self, language: str, bundle: FluentBundle) -> None:
        self.language = language
        self._bundle = bundle

    def __call__(self, key: str, /, **variables: str | float | date) -> str:
        """Return the text of this key. Raises KeyError if the catalogue lacks the key or a variable is missing."""
        message = self._bundle.get_message(key)
        if message.value is None:
            raise KeyError(key)
        text, problems = self._bundle.format_pattern(message.value, variables)
        if problems:
            raise KeyError(f"{key}: {problems[0]}")
        return str(text)


@lru_cache
def words_for(language_code: str) -> Words:
    """Return the texts for an IETF language tag such as "pt-br"; English if there is no catalogue for it."""
    primary = language_code.partition("-")[0].lower()
    return _load(primary if primary in LANGUAGES else DEFAULT_LANGUAGE)


@lru_cache
def menu_descriptions(language: str) -> Mapping[str, str]:
    """Return the description of each command in the menus of one of LANGUAGES, by its key.

    Every process with a webhook shows them in all languages, and the data of a locale take 1 MB. So these lines of a
    catalogue are plain text, read without Fluent.
    """
    return dict(_MENU_LINE.findall(read_catalogue(language)))


@lru_cache
def _load(language: str) -> Words:
    functions: dict[str, Callable[[Any], Any]] = {"LTR": str, "DIGITS": _persian_digits, "JALALI": _jalali}
    locale = _LOCALES.get(language, language)
    bundle = FluentBundle([locale], functions=functions, use_isolating=language == "fa")
    bundle.add_resource(FluentResource(read_catalogue(language)))
    return Words(language, bundle)


def read_catalogue(language: str) -> str:
    """Return the texts of the transport, and those of the features beside their code."""
    folders = [
        resources.files("bot.transport").joinpath("catalogue"),
        *(each.joinpath("texts") for each in resources.files("bot.features").iterdir()),
    ]
    files = [folder.joinpath(f"{language}.ftl") for folder in folders]
    return "\n".join(file.read_text("utf-8") for file in files if file.is_file())


def _persian_digits(value: str | float) -> str:
    """Return a number as Persian readers write it, with up to six decimals; a text stays as it is."""
    if isinstance(value, str):
        return value
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return text.translate(_PERSIAN_DIGITS)


def _jalali(day: date) -> str:
    """Return a date in the Solar Hijri calendar of Iran, by its 33-year cycle (exact for 1178 to 1633)."""
    cycles, days = divmod(day.toordinal() + 356_032, 12_053)
    fours, days = divmod(days, 1_461)
    year = -1_595 + 33 * cycles + 4 * fours
    if days > 365:
        years, days = divmod(days - 1, 365)
        year += years
    month, days = divmod(days, 31) if days < 186 else divmod(days - 6, 30)
    return f"{days + 1} {_PERSIAN_MONTHS[month]} {year}".translate(_PERSIAN_DIGITS)
