"""The few words of a statement that answer a question: a place, a date, a number, a name, what something is."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
from collections.abc import Callable

from simulator.offline_model.words import NOT_A_TITLE, content_stems, fold

_CLAUSE_END = re.compile(
    r"[.,;:!?…\n]"
    + NOT_A_TITLE
    + r"|\s(?:and|but|with|since|because|for|where|which|who|when|while|until|after|before|now"
    r"|y|pero|con|desde|porque|и|но|с|со|потому|сейчас)\s.*|\s(?:now|ahora|сейчас)$",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|near|from|to|en|cerca de|в|во|на|из)\s+(?=(.+))", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:(?:on|at|in|since|until|by|el|в|во)\s+)?((?:next |this )?(?:(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|to)day|tomorrow|tonight|завтра|mañana)\b"
    r"(?: at [0-9:]+(?: ?[ap]m)?)?|[0-9]{1,2}(?::[0-9]{2})?(?: ?[ap]m\b)?(?: (?:de )?[^\W\d_]+)?(?: [0-9]{4})?"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: [0-9]{1,4})?))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\b[0-9][0-9.,]*(?:\s+[^\W\d_]+)?")
_COPULA = re.compile(
    r"\s(?:is called|is named|are called|is|are|was|were|=|es|son|era|se llama|зовут|это|[-–—])\s",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:named|called|name is|se llama|зовут)\s+(.+)", re.IGNORECASE)
_CAPITALISED = re.compile(r"(?<!^)\b[^\W\d_]+(?: [^\W\d_]+)*")
_POSSESSED = re.compile(r"\b(my|our|mi|моя|мой)\s+((?:[^\W\d_]+\s+){1,2}?)(?=([^\W\d_]+))", re.IGNORECASE)
_COLOUR = re.compile(
    r"\b(?:(?:light|dark|pale|bright)[ -])?(?:black|white|gr[ae]y|silver|gold(?:en)?|red|pink|orange|yellow|green"
    r"|turquoise|blue|purple|violet|brown|beige|negr[oa]|blanc[oa]|roj[oa]|amarill[oa]|verde|azul|rosa|gris"
    r"|(?:чёрн|черн|бел|красн|оранжев|ж[её]лт|зел[её]н|голуб|сер|розов|коричнев|фиолетов)(?:ый|ая|ое|ой|ые)"
    r"|син(?:ий|яя|ее|ие))\b",
    re.IGNORECASE,
)

_WHERE = re.compile(
    r"\b(?:where|which (?:city|town|country)|what (?:city|town|country)|donde|где|куда|откуда)\b"
)
_WHEN = re.compile(r"\b(?:when|what (?:day|date|time)|which day|cuando|когда)\b")
_HOW_MUCH = re.compile(r"\b(?:how (?:many|much|old|tall|long|far|big)|cuant[oa]s?|сколько)\b")
_WHICH_COLOUR = re.compile(
    r"\b(?:(?:what|which|whats)(?: s| is)? .*colou?r|(?:que|cual) .*color|како\w+ .*цвет)"
)
_NAME_OF = re.compile(r"\b(?:name|names|called|llama|зовут)\b")
_WHAT = re.compile(r"\b(?:what|which|who|whats|que|quien|cual|кто|какой|какая|какое|что)\b")
_YOURS = {"i": "you", "my": "your", "mine": "yours", "our": "your", "me": "you", "am": "are"}


def direct_answer(question: str, statement: str) -> str | None:
    """The part of `statement` that answers `question`, or None when no simple rule finds one."""
    asked = fold(question)
    rules: tuple[tuple[re.Pattern[str], Callable[[str, str], str | None]], ...] = (
        (_WHERE, _place),
        (_WHEN, _date),
        (_HOW_MUCH, _number),
        (_WHICH_COLOUR, _colour),
        (_NAME_OF, _name),
        (_WHAT, _identity),
    )
    for pattern, rule in rules:
        if pattern.search(asked):
            found = rule(question, statement)
            return _as_answer(found) if found else None
    return None


def _place(question: str, statement: str) -> str | None:
    known = content_stems(question)
    for match in _PLACE.finditer(statement):
        place = _clause(match[1])
        if content_stems(place) - known:
            return place
    return None


def _date(question: str, statement: str) -> str | None:
    match = _DATE.search(statement)
    return match[0] if match else None


def _number(question: str, statement: str) -> str | None:
    match = _NUMBER.search(statement)
    return match[0].rstrip(".,") if match else None


def _colour(question: str, statement: str) -> str | None:
    match = _COLOUR.search(statement)
    return match[0] if match else None


def _name(question: str, statement: str) -> str | None:
    named = _NAMED.search(statement)
    if named:
        return _clause(named[1])
    known = content_stems(question)
    for match in _CAPITALISED.finditer(statement):
        name = " ".join(_leading_names(match[0].split()))
        if content_stems(name) - known:
            return name
    return _identity(question, statement)


def _leading_names(words: list[str]) -> list[str]:
    start = next((at for at, word in enumerate(words) if word[0].isupper() and word != "I"), len(words))
    end = next((at for at in range(start, len(words)) if not words[at][0].isupper()), len(words))
    return words[start:end]


def _identity(question: str, statement: str) -> str | None:
    """The side of "A is B" that the question does not name; else whose "my sister Anna" it is."""
    known = content_stems(question)
    sides = _COPULA.split(statement, maxsplit=1)
    if len(sides) == 2:
        left, right = sides[0], _clause(sides[1])
        new = [side for side in (right, left) if content_stems(side) and not content_stems(side) & known]
        return new[0] if new else None
    for match in _POSSESSED.finditer(statement):
        if content_stems(match[3]) and content_stems(match[3]) <= known:
            return f"{match[1]} {match[2].strip()}"
    return None


def _clause(text: str) -> str:
    """`text` up to the end of its clause; "" when that is too long to be an answer."""
    clause = _CLAUSE_END.split(text.strip(), maxsplit=1)[0].strip(" “”\"'«»")
    return clause if len(clause.split()) <= 6 else ""


def _as_answer(found: str) -> str | None:
    words = [_YOURS.get(word.lower(), word) for word in found.split()]
    text = " ".join(words)
    return text[:1].upper() + text[1:] if text else None
