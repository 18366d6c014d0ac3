"""Analysis of a message for the index, and of a question for a search.

Signs of a text, such as "ends with a question mark", are stored by the index and weighed by the ranker.
"""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from operator import attrgetter

from memory.recall.lexicon.analysis import BOT, MessageAnalysis, QuestionAnalysis
from memory.recall.lexicon.dates import (
    SINCE,
    WEEKEND,
    YEARS,
    Meaning,
    date_words,
    find_dates,
    has_chinese_time,
    time_meanings,
)
from memory.recall.lexicon.languages import (
    SCRIPTS,
    UNSPACED_SCRIPTS,
    join_lines,
    load_pattern,
    load_words,
    normal,
    stop_words,
)
from memory.recall.lexicon.names import Mention, find_names
from memory.recall.lexicon.terms import (
    blank_phrases,
    is_bare,
    message_terms,
    message_vector,
    question_terms,
    tokenize,
)

QUESTION, ASKS, FIRST_PERSON, TIME, NAME = "question", "asks", "first_person", "time", "name"
"""Signs of a message.

QUESTION: it ends with a question mark. ASKS: it contains one, or a request. FIRST_PERSON: it is about the writer
("I", "our"). TIME: it names a time ("yesterday", "in May"). NAME: it has a capitalised word inside a sentence.
"""
WHEN, SMALL_TALK, BARE = "when", "small_talk", "bare"
"""Signs of a question.

WHEN: it asks for a time. SMALL_TALK: it needs no memory. BARE: it has search words only ("bike lock?"). NAME: it asks
for a name (where, who, which, called …). ASKS: it is a question, a request or search words, and no statement.
"""
OTHER, SELF, WE, YOU = "other", "self", "we", "you"
"""More kinds of words in words/question_words.toml: who, where, how many …, and words for "I", "we" and "you"."""
_QUESTION_MARKS = "?？؟"
_AFTER_A_QUESTION = " \t\n\r\"'”»)!！"
_QUESTION_ENDINGS = ("吗", "呢", "吗。", "呢。", "ですか", "ますか", "ですか。", "ますか。")
_LOWER = "a-zß-öø-ÿа-яёіїєґ"
_NAME_WITHIN = re.compile(rf"(?<=[{_LOWER},;'\"”] )[\"“«]?[A-ZÀ-ÖØ-ÞА-ЯЁІЇЄҐ]\w+")
_WORD_OR_DIGIT = re.compile("[a-z]+|[0-9]")
_TIME = re.compile("[YFZWM]|L[UmwSs]|[USsw]L|[NT][USs]|UA|P[ms]|Dm|mD")
_FIRST_WORDS = 3
_FEW = 3
_CONJUNCTION_WORDS = """
    and or & , / + y e o u und oder et ou en of och i a ve
    и или та або و یا और या 和 跟 与 及 或 と や και ή
"""
_CONJUNCTIONS = frozenset(_CONJUNCTION_WORDS.split())
"""Words between two names of equal rank."""


def analyse_message(text: str, people: Mapping[int, str]) -> MessageAnalysis:
    """Analyse a message of a chat with these people (sender id → display name) for the index.

    Any text is accepted: a blank one, or one of names alone, has an empty `masked` and no terms. Only the first
    READ_LIMIT characters are read. Takes about 0.3 ms for 25 words: analyse many in a thread.
    """
    whole = normal(text)
    masked = find_names(whole, people).masked
    words = tokenize(masked)
    return MessageAnalysis(
        masked=masked,
        terms=message_vector(message_terms(words), length=words.count),
        signs=message_signs(whole, words.likeliest),
    )


def analyse_question(
    text: str, people: Mapping[int, str], *, asker_id: int | None, now: float
) -> QuestionAnalysis:
    """Analyse a question for a search, asked by this participant (None: by an outsider) at this Unix time.

    Any text is accepted. "Who are you?" has no terms, because it consists of stop words. "I" and "my" name the asker.
    """
    whole = normal(text)
    names = find_names(whole, people)
    words = tokenize(names.masked)
    question_kinds = find_kinds(whole, words.likeliest, WHEN, NAME, OTHER)
    signs = question_kinds - {OTHER}
    author = find_author(whole, add_speakers(whole, names.mentions, words.likeliest, asker_id))
    # Most questions name no time. Only a text with a word of time, a digit or other letters can have a date.
    names_no_time = whole.isascii() and date_words().isdisjoint(_WORD_OR_DIGIT.findall(whole.lower()))
    dates = () if names_no_time else find_dates(whole, now=now)
    terms, content = question_terms(words)
    is_asking = is_memory_question(
        whole,
        words.likeliest,
        has_question_word=bool(question_kinds),
        has_content=bool(content),
        names_somebody=author not in (None, BOT),
    )
    if not dates and not is_asking and is_small_talk(names.masked):
        signs |= {SMALL_TALK}
    if is_bare(words):
        signs |= {BARE, ASKS}
    if _asks(whole) or _begins_with_question_word(whole, words.likeliest):
        signs |= {ASKS}
    return QuestionAnalysis(
        masked=names.masked, terms=terms, signs=signs, author=author, dates=dates, words=content
    )


def find_kinds(text: str, languages: Collection[str], *kinds: str) -> frozenset[str]:
    """Return those of these kinds (see words/question_words.toml) of which a text has words in one of the languages."""
    lower = text.lower()
    present: set[str] = set()
    for language in languages:
        for kind in kinds:
            pattern = _pattern(language, kind)
            if pattern and pattern.search(lower):
                present.add(kind)
    return frozenset(present)


@cache
def _pattern(language: str, kind: str) -> re.Pattern[str] | None:
    words = load_words("question_words")["patterns"].get(language, {}).get(kind)
    if words is None:
        return None
    words = join_lines(words)
    return re.compile(words if language in UNSPACED_SCRIPTS else rf"(?<![\w'])(?:{words})(?!\w)")


def add_speakers(
    text: str, mentions: Sequence[Mention], languages: Collection[str], asker_id: int | None
) -> tuple[Mention, ...]:
    """Return the mentions of a question in order, with the asker wherever it says "I" or "my", and BOT for "you".

    "Tell me when …", "can you …", "I wonder who …" and "we" mention nobody. A verb ending alone ("compré", "سگم")
    counts only if nobody else is mentioned.
    """
    if asker_id is None:
        return tuple(mentions)
    statement = blank_requests(text)
    speakers = [
        Mention(start=match.start(), end=match.end(), ids=frozenset([speaker]))
        for language in languages
        for kind, speaker in ((YOU, BOT), (SELF, asker_id))
        if (pattern := _pattern(language, kind))
        for match in pattern.finditer(statement)
    ]
    if not speakers and not mentions and has_self_ending(statement, languages):
        speakers = [Mention(start=0, end=1, ids=frozenset([asker_id]))]
    return tuple(sorted((*mentions, *speakers), key=attrgetter("start")))


def blank_requests(text: str) -> str:
    """Return a question in lower case, with "tell me", "can you" and the like replaced by spaces."""
    pattern = load_pattern("question_words", "not_about_speakers")
    return pattern.sub(lambda match: " " * len(match.group()), text.lower())


def find_author(text: str, mentions: Sequence[Mention]) -> int | None:
    """Return the person mentioned first, whose message answers a question.

    Return None if nobody is mentioned, if the first name fits several people, or if names are joined ("Anna and
    Bob").
    """
    if not mentions or len(mentions[0].ids) > 1:
        return None
    for one, other in pairwise(mentions):
        if one.ids != other.ids and text[one.end : other.start].strip().casefold() in _CONJUNCTIONS:
            return None
    return next(iter(mentions[0].ids))


def is_memory_question(
    text: str, languages: Collection[str], *, has_question_word: bool, has_content: bool, names_somebody: bool
) -> bool:
    """Return True if a normal text asks about the past and is no small talk.

    "Who is happy?", "where is Anna?" and "what did we agree on?" do. "Where?", "sorry, Anna!" and "I agree" do not.
    `has_content`: it has words that are no stop words. `names_somebody`: it mentions a participant, or the asker.
    """
    if has_question_word:
        return has_content or names_somebody
    is_about_people = names_somebody or _is_about_writer(blank_requests(text), languages)
    return has_content and is_about_people and any(mark in text for mark in _QUESTION_MARKS)


def _is_about_writer(text: str, languages: Collection[str]) -> bool:
    return bool(find_kinds(text, languages, SELF, WE)) or has_self_ending(text.lower(), languages)


def has_self_ending(text: str, languages: Collection[str]) -> bool:
    """Return True if a word in lower case means "I" or "my" by its ending: Spanish "compré", Persian "سگم"."""
    joined = text.replace("\u200c", "")
    others = _words_of("question_words", "no_self_endings")
    return any(
        match.group() not in others
        for language in languages
        if (pattern := _self_ending(language))
        for match in pattern.finditer(joined)
    )


@cache
def _self_ending(language: str) -> re.Pattern[str] | None:
    ending = load_words("question_words")["self_endings"].get(language)
    return re.compile(rf"(?<!\w)(?:{ending})(?!\w)") if ending else None


def is_small_talk(masked: str) -> bool:
    """Return True if a normal text without names has only polite phrases and stop words, or no letters and digits."""
    words = tokenize(load_pattern("small_talk", "phrases").sub(" ", masked.lower()))
    return all(
        kind == "emoji" or (kind in SCRIPTS and _is_courteous(kind, piece, words.languages[kind]))
        for kind, piece in words.pieces
    )


def _is_courteous(script: str, piece: str, languages: tuple[str, ...]) -> bool:
    if script in UNSPACED_SCRIPTS:
        phrases = load_pattern("small_talk", "unspaced")
        return phrases.sub("", blank_phrases(phrases.sub(" ", piece))).strip() == ""
    polite = _polite_words(languages)
    return piece in polite or all(part in polite for part in piece.split("'"))


@cache
def _polite_words(languages: tuple[str, ...]) -> frozenset[str]:
    return _words_of("small_talk", "words").union(*map(stop_words, languages))


@cache
def _words_of(name: str, key: str) -> frozenset[str]:
    return frozenset(load_words(name)[key].split())


def message_signs(text: str, languages: Collection[str]) -> frozenset[str]:
    """Return the signs of a normal text that is a message in these languages (Snowball's names, or scripts)."""
    meanings = time_meanings(text)
    signs = {
        ASKS: _asks(text),
        QUESTION: text.rstrip(_AFTER_A_QUESTION).endswith((*_QUESTION_MARKS, *_QUESTION_ENDINGS)),
        NAME: _NAME_WITHIN.search(text) is not None,
        TIME: _has_time(meanings) or has_chinese_time(text),
        FIRST_PERSON: _is_about_writer(text, languages),
    }
    return frozenset(sign for sign, holds in signs.items() if holds)


def _asks(text: str) -> bool:
    """Return True if a text has a question mark or begins with a request."""
    has_mark = any(mark in text for mark in _QUESTION_MARKS)
    return has_mark or load_pattern("question_words", "requests").search(text.lower()) is not None


def _begins_with_question_word(text: str, languages: Collection[str]) -> bool:
    """Return True if there is a question word among the first words: "so when …", not "the man who …"."""
    beginning = " ".join(text.split(maxsplit=_FIRST_WORDS)[:_FIRST_WORDS])
    return bool(find_kinds(beginning, languages, WHEN, NAME, OTHER))


def _has_time(meanings: list[Meaning]) -> bool:
    """Return True if the words of a text (see words/time_words.toml) say when something happens."""
    if _TIME.search("".join(kind for kind, _ in meanings)):
        return True
    few = any(
        kind == "I" and value == _FEW and after[0] == "U" for (kind, value), after in pairwise(meanings)
    )
    return few or any(
        meaning in (("U", WEEKEND), ("P", SINCE), ("A", 0)) or (meaning[0] == "D" and meaning[1] in YEARS)
        for meaning in meanings
    )
