"""Answers to questions: quotations of what the prompt holds, newest first, or that nothing fits.

A statement answers if it has most words of the question, and says them of the same person or thing.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import chain

from babel.dates import format_date

from simulator.offline_model.corrections import (
    corrected_by,
    may_correct,
    opens_correction,
    own_words,
    read_words,
    replaced,
    says_value,
    subjects,
    thing_of,
)
from simulator.offline_model.prompt import PASSAGE_LENGTH, SENTENCE_END, Prompt, Statement, is_mark
from simulator.offline_model.words import LONG, Language, fold, folded_words, language_of, unaccented

REBUILDING = (
    "I can't find that now: my index of older messages is being rebuilt. Please ask again in a few minutes."
)
_LISTED, _OLDER, _UNSURE = 10, 2, 2
"""The most statements of a list, behind the newest one, and of those that may not answer."""
_ENOUGH = 0.6
"""Share of a question's words that a statement must have more of, to be an answer."""
_NEAR = 2
"""Most words from "I" to what it does."""
_WORD = re.compile(r"[^\W_]+(?:[-\u2019'\u200c][^\W_]+)*")
_CAPITAL = re.compile(r"(?<=[\w,] )[^\W\d_]\w+")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_KINDS = {"age": "aged", "job": "works", "name": "named", "their_job": "is_job"}
"""Patterns of questions, each with that of the statements that answer it."""
_SMALL_TALK = ("hello", "fine", "bye")
"""Patterns that do not hold for a text that says something: "no, 98", "see you at 5", "hi, I'm Tom"."""
_COURTESIES = (
    "who=can wellbeing=fine_too bye=goodbye hello=greeting thanks=welcome fine=nod cancel=cancelling "
    "erase=forgetting order=cannot"
)
"""Patterns of lines that state nothing, each with the sentence that answers it."""


@dataclass(slots=True)
class _Question:
    """A question in words.

    `wanted` are its stems. `names` and `things` ("my bike", "Anna's bike") must be in an answer. `acts` are what "I"
    do. `means` has for each of these the stems of statements that fit.
    """

    language: Language
    words: frozenset[str]
    wanted: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    things: set[str] = field(default_factory=set[str])
    acts: set[str] = field(default_factory=set[str])
    means: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    is_mine: bool = False
    is_for_many: bool = False


def answer(
    question: str, prompt: Prompt, language: Language, *, hits: Sequence[Statement] | None = None
) -> str:
    """Return the newest statements that answer, as quotations; all that fit if it asks for all about something.

    With `hits` of a search, statements that may not answer are better than none: those with a rare word, else hits.
    """
    plain = without_opening(language.spelled(question.strip()), language)
    asking, about = language.fullmatch("asking", plain), language.search("about", plain)
    topic = next(filter(None, about.groups()), "") if about else ""
    everything = _by_time(prompt)
    if language.fullmatch("everything", plain) or (
        topic and not {*folded_words(topic)} - language.words("i") - language.words("my")
    ):
        return _list(_of_asker(everything, prompt, language), prompt, language)
    said = topic or (plain[asking.start("rest") :] if asking else plain)
    is_of_her = bool(language.words("they") & {*folded_words(said)})
    asked = _read(said, everything, language)
    asked = _again(asked, prompt, everything) if is_of_her else asked
    shares, found = _fitting(asked, plain, everything, prompt)
    if not found and language.words("led") & {*folded_words(said)[:1]}:  # "and the job?"
        asked = _again(asked, prompt, everything)
        shares, found = _fitting(asked, plain, everything, prompt)
    found = _with_corrections(found, everything, language)
    passages = [each.text for each in prompt.fresh if each.source == "document"]
    is_told_here = bool(found) and found[-1] in prompt.fresh and found[-1].source == "person"
    nearest, whole = best_sentence(question, passages, language), " ".join(passages)
    is_whole = len(passages) == 1 or (not found and not nearest and 0 < len(whole) <= PASSAGE_LENGTH)
    if is_whole and not is_told_here:
        return language.text("document", text=quote(whole, language))
    if topic or (len(found) > 1 and (asked.is_for_many or asked.wanted <= asked.names)):
        return _list(found, prompt, language)
    if found and found[-1].source == "document":
        passages = [each.text for each in everything if each.source == "document"]
        return best_sentence(question, passages, language)
    if found:
        return _quoted(found, prompt, asked)
    if nearest:
        return nearest
    doubtful = [] if hits is None else _doubtful(asked, shares, hits, everything)
    if doubtful:
        return _bulleted("unsure", [_told(each, prompt, language) for each in doubtful], language)
    return REBUILDING if prompt.is_incomplete else language.text("unknown")


def _fitting(
    asked: _Question, plain: str, everything: Sequence[Statement], prompt: Prompt
) -> tuple[dict[Statement, float], list[Statement]]:
    """Return each statement's share of the question, and those that answer it; first those that tell an age or job."""
    language, shares = asked.language, {each: _share(asked, each, prompt) for each in everything}
    found = [each for each, share in shares.items() if share > _ENOUGH]
    for kind, told in _KINDS.items():
        if wanted := language.search(kind, plain):
            of = asked.names | asked.things - language.stems(wanted[0])
            telling = [each for each in everything if language.search(told, language.spelled(each.text))]
            own = [each for each in telling if not of and _is_by_asker(each, prompt)]
            is_own = not asked.words & language.words("they")
            own = [each for each in own if is_own and "me" in subjects(each.text, language)]
            found = own or [each for each in telling if of and of <= language.stems(each.text)] or found
    return shares, found


def _again(asked: _Question, prompt: Prompt, everything: Sequence[Statement]) -> _Question:
    """Return the question about "her" or nobody as one about the person of the question before it."""
    if asked.names | asked.things or asked.is_mine:
        return asked
    earlier = _read(asked.language.spelled(prompt.before), everything, asked.language)
    asked.names, asked.things = earlier.names, earlier.things
    asked.wanted |= asked.names | asked.things
    asked.means |= {each: earlier.means.get(each, {each}) for each in asked.wanted - asked.means.keys()}
    return asked


def without_opening(text: str, language: Language) -> str:
    """Return the text without a greeting or a filler before what it says."""
    found = language.search("opening", text)
    return text[found.end() :] if found else text


def _of_asker(everything: Sequence[Statement], prompt: Prompt, language: Language) -> list[Statement]:
    """Return what the asker has said of himself, and the notes about it; without either, all that he has said."""
    said = [each for each in everything if _is_by_asker(each, prompt)]
    first = fold(prompt.speaker.split(" ")[0])
    notes = [
        each
        for each in everything
        if each.source == "note" and each.when
        if not first or first in folded_words(f"{each.speaker} {each.text}")
    ]
    known = language.stems("\n".join(each.text for each in notes))
    own = [
        each
        for each in said
        if says_own(each.text, language) or opens_correction(each.text, language)
        if not language.stems(each.text) <= known  # notes keep up with corrections
    ]
    return [*own, *notes] if notes or len(own) >= _UNSURE else said


def best_sentence(question: str, found: Sequence[str], language: Language) -> str:
    """Quote the sentence of a document that shares the most and rarest words with the question; "" without any.

    The quotation says that it is unsure if the sentence lacks most of these words.
    """
    wanted = language.stems(question)
    held = {each: [word for word in wanted if _meant(word, language.stems(each), language)] for each in found}
    counts = Counter(word for words in held.values() for word in words)
    if not counts:
        return ""
    counted = {each: bool(wanted & _counted(each, language)) for each in found}
    best = max(
        found, key=lambda each: (counted[each], sum(1 / counts[word] for word in held[each]), len(each))
    )
    text = language.text("document", text=quote(best, language))
    return (
        _bulleted("unsure", [text], language)
        if 2 * len(held[best]) < len(wanted) and not counted[best]
        else text
    )


def _counted(text: str, language: Language) -> frozenset[str]:
    """Return the stems of the words behind numbers: "21 working days"."""
    words = folded_words(text)
    near = (words[at + 1 : at + 1 + _NEAR] for at, word in enumerate(words) if word.isdecimal())
    return language.stems(" ".join(chain.from_iterable(near)))


def corrected(line: str, prompt: Prompt, language: Language) -> str:
    """Return the earlier statement that this line seems to correct, as a sentence; "" if there is none."""
    said = [each.text for each in _by_time(prompt) if each not in prompt.fresh and _is_by_asker(each, prompt)]
    earlier = replaced(line, said, language)
    return language.text("instead", text=quote(earlier, language)) if earlier else ""


def quote(text: str, language: Language) -> str:
    """Return the text on one line in the language's quotation marks: of a long one the sentences that fit."""
    line, (opening, closing) = " ".join(text.split()), language.text("marks")
    if len(line) > PASSAGE_LENGTH:
        start = line[: PASSAGE_LENGTH - 2]
        ends = [found.start() for found in SENTENCE_END.finditer(start)]
        line = f"{start[: ends[-1]]} …" if ends else f"{start.rpartition(' ')[0] or start}…"
    return f"{opening}{line}{closing}"


def _read(text: str, everything: Sequence[Statement], language: Language) -> _Question:
    text = language.plain(text)
    asked = _Question(language, frozenset(folded_words(text)))
    originals = _WORD.findall(text)
    parts = [folded_words(each) or [""] for each in originals]
    known, kinds = _names(everything, language), set[str]()
    for at, (original, (word, *ending)) in enumerate(zip(originals, parts, strict=True)):
        stem, before = language.stem(word), parts[at - 1] if at else [""]
        if language.is_small(word) or word.isdecimal():
            continue
        if word in language.words("kinds"):  # it only says which kind of answer is wanted
            kinds.add(stem)
            continue
        asked.wanted.add(stem)
        is_owned = before[0] in language.words("my") or (
            before[1:] == ["s"] and not language.is_small(before[0])
        )
        is_capital = bool(at) and original[0].isupper()  # of a name, in German of any noun
        is_named = stem in known or (is_capital and not language.has("articles"))
        is_near = {each[0] for each in parts[max(0, at - _NEAR) : at + _NEAR + 1]} & language.words("i")
        if ending == ["s"] or (not is_owned and is_named):
            asked.names.add(stem)
        elif is_owned:
            asked.things.add(stem)
        elif not is_capital and (language.fullmatch("first", word) or (is_near and not asked.acts)):
            asked.acts.add(stem)
    asked.things |= subjects(text, language) & asked.wanted - asked.names
    if asked.names and not any(each[1:] == ["s"] for each in parts):
        asked.wanted -= asked.things  # "my sister Anna": the name is enough
        asked.things = set()
    return _completed(asked, text, everything, kinds)


def _completed(asked: _Question, text: str, everything: Sequence[Statement], kinds: set[str]) -> _Question:
    """Return the question with what all of its words together tell: whose it is, and which stems would do."""
    language = asked.language
    asked.is_mine = bool((language.words("i") | language.words("my")) & asked.words)
    asked.is_for_many = language.search("many", text) is not None
    if asked.is_for_many and asked.things < asked.wanted:  # "which of my friends": anybody
        asked.wanted -= asked.things
        asked.is_mine, asked.things = bool(language.words("i") & asked.words), set()
    if asked.wanted <= language.stems(language.text("liking")):
        asked.wanted |= kinds
    skipped = (
        own_words(language) | language.words("they") | language.words("asks") | language.words("fillers")
    ) | language.words("does")
    asked.wanted = asked.wanted or {*asked.words - skipped}
    held = {stem for each in everything for stem in language.stems(f"{each.topic} {each.text}")}
    for each in asked.wanted | asked.names:
        asked.means[each] = {each, *_meant(each, held, language, is_name=each in asked.names)}
    return asked


def _meant(stem: str, held: Collection[str], language: Language, *, is_name: bool = False) -> set[str]:
    """Return the stems that this one means: its forms, those with one wrong letter, else in German its beginning."""
    same = {each for each in held if each == stem or (not is_name and language.is_form(stem, each))}
    whole = {each for each in same if len(each) >= len(stem) - 3}
    return whole or {each for each in held if _is_typo(stem, each, least=3 if is_name else 4)} or same


def _is_typo(one: str, other: str, *, least: int) -> bool:
    """Return True if a letter within is left out, added or swapped with the next, or wrong in a long word."""
    shortest = min(len(one), len(other))
    same = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    rest, end = one[same:], other[same:]
    is_swapped = rest[:2] == end[1::-1] and rest[2:] == end[2:]
    is_other = is_swapped or (shortest > LONG and rest[1:] == end[1:])
    is_inside = same and shortest >= least and rest and end
    return bool(is_inside) and (rest[1:] == end or rest == end[1:] or is_other)


def _names(everything: Sequence[Statement], language: Language) -> set[str]:
    """Return the stems of names: of speakers, and of words with a capital in a sentence; in German of people."""
    named = set(language.stems(" ".join(each.speaker for each in everything if each.source == "person")))
    for each in everything:
        capitals = " ".join(word for word in _CAPITAL.findall(each.text) if word[0].isupper())
        named |= subjects(each.text, language) if language.has("articles") else language.stems(capitals)
    return named - {"me"}


def _share(asked: _Question, statement: Statement, prompt: Prompt) -> float:
    """Return the share of the question's words that the statement says of its subject; -1 if it is of another."""
    language, is_by_asker = asked.language, _is_by_asker(statement, prompt)
    said = read_words(f"{statement.topic} {statement.text}".strip(), language)
    found = {each: [word for word in said if word.stem in means] for each, means in asked.means.items()}
    is_asked = asked.wanted | asked.things | {*map(language.stem, language.words("kinds"))}
    for each in asked.names:  # "Anna's brother" tells nothing of Anna
        found[each] = [word for word in found[each] if not word.owned or word.owned in is_asked]
    of_self = {each for each in asked.names if not found[each]}
    is_own = statement.source == "note" or says_own(statement.text, language_of(statement.text, language))
    is_of_things = all(
        any(asked.names or word.owner != "other" for word in found.get(each, ())) for each in asked.things
    )
    if (
        not of_self <= (language.stems(statement.speaker) if is_own else frozenset())
        or (asked.is_mine and not is_by_asker and not _names_asker(asked, statement, prompt))
        or not is_of_things
    ):
        return -1
    skipped, is_about_nobody = set[str](), not asked.names | asked.things
    if statement.source == "person" and of_self and not asked.things:
        skipped = {"", "named", "other"}
    elif is_about_nobody and (asked.words & language.words("we") or (is_by_asker and asked.is_mine)):
        skipped = {"other"}
    elif is_about_nobody and not asked.is_mine and asked.words & language.words("they"):
        skipped = {"me"}
    held = {each for each, words in found.items() if any(word.owner not in skipped for word in words)}
    if is_by_asker and is_about_nobody:
        # "wohne", "vivo": only the first person has this form. English is different.
        forms = asked.words if language.has("first") else frozenset[str]()
        done = {word.stem for word in said if word.owner == "me" or word.word in forms}
        held -= {each for each in asked.acts if not asked.means[each] & done}
    return len(held | of_self) / len(found) if found else 0


def _names_asker(asked: _Question, statement: Statement, prompt: Prompt) -> bool:
    """Return True if a statement by another, or a note, can be about the asker."""
    first = fold(prompt.speaker.split(" ")[0])
    is_own_words = not prompt.speaker and statement.text.startswith(f"{statement.speaker}: ")
    is_note = statement.source == "note" and (is_own_words or bool(asked.things))
    return is_note or statement.source == "document" or bool(first and first in folded_words(statement.text))


def says_own(text: str, language: Language) -> bool:
    """Return True if the text has a word of its writer: "I", "my"."""
    return bool(own_words(language) & {*folded_words(text)})


def _is_by_asker(statement: Statement, prompt: Prompt) -> bool:
    return statement.source == "person" and statement.speaker in ("", prompt.speaker)


def _by_time(prompt: Prompt) -> list[Statement]:
    """Return the statements, oldest first, each text once. Small talk and orders state nothing."""
    once = {fold(each.text): each for each in prompt.statements if each.text.strip()}
    stating = [
        each
        for each in once.values()
        if (each.source != "person" or not _is_order(each.text, each.topic)) and not is_mark(each.text)
    ]
    return sorted(stating, key=_moment)


@lru_cache(4_096)
def _is_order(text: str, topic: str) -> bool:
    language = language_of(text, language_of(topic) if topic else None)
    is_one_word = len(text.split()) == 1 and not topic
    is_deed = language.pattern("deed").match(unaccented(text)) or language.search("remind", text)
    return is_one_word or bool(is_deed or courtesy_of(text, language))


@lru_cache(4_096)
def courtesy_of(line: str, language: Language) -> str:
    """Return the sentence for a line that states nothing: small talk, an order, a question about this model; else "".

    Small talk says nothing else: no value, no "I".
    """
    plain = language.spelled(line.strip(" ,.!?¿¡؟"))
    bare = without_opening(plain, language)
    is_told = says_value(plain, language) or (bare != plain and says_own(plain, language))
    is_told = bool(is_told or language.search("named", plain))
    if any(language.search(each, plain) for each in ("keep", "standing")):
        return ""
    kinds = [
        pair.split("=")
        for pair in _COURTESIES.split()
        if not is_told or pair.split("=")[0] not in _SMALL_TALK
    ]
    fitting = (
        sentence
        for said in (bare, plain)
        for kind, sentence in kinds
        if language.fullmatch(kind, said) and not language.fullmatch("asking", said)
    )
    return next(fitting, "")


def _moment(statement: Statement) -> str:
    """Return the date and time; "~" is later than any, for the present conversation."""
    found = _DATE.search(statement.when)
    return statement.when[found.start() :][:16] if found else "~"


def _with_corrections(
    found: Sequence[Statement], everything: Sequence[Statement], language: Language
) -> list[Statement]:
    """Return the statements with those that correct them without their words. Notes must be newer than all of them."""
    chosen = {*found}
    for at, each in enumerate(everything):
        if chosen and _corrected_at(at, everything, language) in {old.text for old in chosen}:
            chosen.add(each)
    said = [each for each in everything if each in chosen and each.source != "note"]
    newest = _moment(said[-1])[:10] if said else ""
    known = _content(" ".join(f"{each.speaker} {each.text}" for each in said), language)
    notes = [
        each
        for each in everything
        if each in chosen and each.source == "note" and _moment(each)[:10] >= newest
        # A note of the same day is newer if it says something else: notes keep up with corrections.
        if _moment(each)[:10] > newest or not _content(each.text, language) <= known
    ]
    return [*said, *notes]


def _corrected_at(at: int, said: Sequence[Statement], language: Language) -> str:
    """Return the text that the statement at this place corrects: one of its speaker, or the one before it; else ""."""
    text, speaker = said[at].text, said[at].speaker
    thing, own = thing_of(text, language), [old.text for old in said[:at] if old.speaker == speaker]
    if thing and (same := [old for old in own if thing_of(old, language) == thing]):
        return same[-1]
    earlier = [old.text for old in said[:at] if old is said[at - 1] or old.speaker == speaker]
    return corrected_by(text, earlier, language) if may_correct(text, language) else ""


def _content(text: str, language: Language) -> frozenset[str]:
    """Return the stems and the numbers of a text."""
    return language.stems(text) | frozenset(re.findall(r"\d+", text))


def _doubtful(
    asked: _Question,
    shares: dict[Statement, float],
    hits: Sequence[Statement],
    everything: Sequence[Statement],
) -> list[Statement]:
    """Return statements that may answer, newest first: with a rare word of the question, else the best hit."""
    most = _LISTED if asked.is_for_many else _UNSURE
    if near := _with_corrections(_nearest(asked, shares)[:most], everything, asked.language):
        return near[::-1]
    fitting = [each for each in hits if not asked.things and shares.get(each, -1) >= 0]
    if asked.is_mine:
        fitting = [each for each in fitting if "me" in subjects(each.text, asked.language)]
    return fitting[: most if asked.is_for_many else 1]


def _nearest(asked: _Question, shares: dict[Statement, float]) -> list[Statement]:
    """Return the statements that share a rare word with the question, newest first."""
    language = asked.language
    common = language.stems(language.text("liking")) | {*map(language.stem, language.words("kinds"))}
    stems = {each: language.stems(f"{each.topic} {each.text}") for each in shares}
    most = max(2, len(stems) // 5)
    counts = Counter(word for each in stems.values() for word in asked.wanted if asked.means[word] & each)
    words = {*counts} - common
    words = {word for word in words - asked.names or words if counts[word] <= most}
    rare = set[str]().union(*(asked.means[word] for word in words))
    return [each for each, share in shares.items() if share > 0 and rare & stems[each]][::-1]


def _list(found: Sequence[Statement], prompt: Prompt, language: Language) -> str:
    everything = _by_time(prompt)
    old = {_corrected_at(at, everything, language) for at, each in enumerate(everything) if each in found}
    lines = [
        _before(each, language) if each.text in old else _told(each, prompt, language)
        for each in found[::-1][:_LISTED]
    ]
    return _bulleted("listed", lines, language) if lines else language.text("unknown")


def _bulleted(key: str, lines: Sequence[str], language: Language) -> str:
    return "\n".join([language.text(key), "", *(f"- {line.removesuffix('.')}" for line in lines)])


def _quoted(found: list[Statement], prompt: Prompt, asked: _Question) -> str:
    """Quote the newest statement, and behind it older ones about the same."""
    language, newest = asked.language, found[-1]
    topic = language.stems(newest.text) & asked.wanted - asked.names
    older = [
        each
        for each in found[-2::-1]
        if may_correct(newest.text, language) or topic & language.stems(each.text)
    ]
    return "\n".join([_told(newest, prompt, language), *(_before(each, language) for each in older[:_OLDER])])


def _before(statement: Statement, language: Language) -> str:
    return language.text("older", when=_when(statement, language), text=quote(statement.text, language))


def _told(statement: Statement, prompt: Prompt, language: Language) -> str:
    key = "told" if _is_by_asker(statement, prompt) else "said"
    key = key if statement.source == "person" else statement.source
    text, when = quote(statement.text, language), _when(statement, language)
    said = language.text(key, name=statement.speaker, when=when, text=text)
    told_since = statement.when.replace("since", language.text("since"))
    return f"{said.removesuffix('.')} ({told_since})." if key == "note" and statement.when else said


def _when(statement: Statement, language: Language) -> str:
    found = _DATE.match(statement.when)
    if found is None:
        return ""
    day = date(*map(int, found.groups()))
    return language.text("date", date=format_date(day, "long", locale=language.text("locale")))
