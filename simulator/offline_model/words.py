"""Words of a message for the offline model: folding, light stems, and which words carry meaning."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
import unicodedata

NOT_A_TITLE = r"(?<!\b[DMS][rst]\.)(?<!\bMrs\.)(?<!\bProf\.)"
"""Behind a full stop in a pattern: the stop ends more than Dr., Mr., Ms., St., Mrs. or Prof."""
_WORD = re.compile(r"[^\W_]+")
_BREVE = "\u0306"  # kept: й and и are different letters, é and e are only spelt differently

# Longest first; written folded. A stem keeps at least three letters.
_LATIN_ENDINGS = ("ing", "ed", "es", "s", "e")
_CYRILLIC_ENDINGS = (
    *("иями", "ться"),
    *("ями", "ами", "его", "ого", "ему", "ому", "ыми", "ими", "ешь", "ишь", "ете", "ите"),
    *("ют", "ут", "ят", "ат", "ет", "ит", "ем", "им", "ый", "ий", "ой", "ая", "яя", "ое", "ее", "ые", "ие"),
    *("ов", "ев", "ей", "ам", "ям", "ах", "ях", "ом", "ею", "ою"),
    *("у", "ю", "а", "я", "ы", "и", "о", "е", "ь", "й"),
)

_ENGLISH_STOPS = """a an the this that these those there here it its he she they them him her his their we us our i
me my mine you your yours am is are was were be been being do does did done have has had having will would can could
should shall may might must not no yes and or but if so as at by for from in into of off on onto out over to up with
about what when where which who whom whose why how tell told say said talk mention mentioned remember recall know knew
known remind please just now then again ever also too very some any all one s t m re ve ll d"""
_SPANISH_STOPS = """el la los las un una unos unas lo le les se y o pero si no de del al a en con por para sin sobre que
quien quienes donde cuando como cual cuales cuanto cuantos yo tu mi mis tus su sus me te nos es son era fue ser estar
esta estan esto eso ha he has dije conte sabes recuerdas"""
_RUSSIAN_STOPS = """и а но или не ни да нет в во на с со к ко у о об обо от до за из по под при про для без над же ли бы
что кто где когда как какой какая какое какие какого какую почему зачем сколько чей я ты мы вы он она оно они мне меня мной тебе тебя
нам вас его ее их мой моя мое мои моей моего моему мою твой твоя твое твои свой это этот эта эти есть был была были быть
сказал сказала говорил говорила рассказал рассказала помнишь знаешь скажи расскажи"""
_STOPS = frozenset(f"{_ENGLISH_STOPS} {_SPANISH_STOPS} {_RUSSIAN_STOPS}".split())

# Words that say what kind of answer is wanted: a statement seldom repeats them.
_KINDS_ASKED = "name city town country place date day colour color number nombre ciudad имя город цвет"


def fold(text: str) -> str:
    """`text` without case and accents, so that "Él vive", "el vive" and "EL VIVE" are equal."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = (mark for mark in decomposed if mark == _BREVE or not unicodedata.combining(mark))
    return unicodedata.normalize("NFC", "".join(kept))


def folded_words(text: str) -> list[str]:
    """Every word of `text`, folded, in order; an apostrophe ends a word ("Anna's" gives "anna", "s")."""
    return _WORD.findall(fold(text))


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning; empty when there are only function words."""
    return frozenset(stem(word) for word in folded_words(text) if word not in _STOPS)


def function_words(text: str) -> frozenset[str]:
    """The function words of `text`: they decide between statements that say equally much ("I", "my")."""
    return frozenset(word for word in folded_words(text) if word in _STOPS)


def question_weights(question: str) -> dict[str, float]:
    """How much each stem of a question counts: a word such as "city" less than what is asked about."""
    kinds = {stem(word) for word in _KINDS_ASKED.split()}
    return {word: 0.3 if word in kinds else 1.0 for word in content_stems(question)}


def name_stems(text: str) -> frozenset[str]:
    """Stems of the capitalised words after the first: names, which an answer must contain."""
    words = _WORD.findall(text)[1:]
    return frozenset(stem(fold(word)) for word in words if word[0].isupper() and fold(word) not in _STOPS)


def stem(folded: str) -> str:
    """A folded word without its commonest endings: "lives", "living" and "live" are one, so are Анна and Анне."""
    endings = _CYRILLIC_ENDINGS if "а" <= folded[-1] <= "я" else _LATIN_ENDINGS
    for ending in endings:
        if folded.endswith(ending) and len(folded) - len(ending) >= 3:
            return folded[: -len(ending)]
    return folded
