"""Answers to questions: quotations of what the prompt holds, newest first, or that nothing fits."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache

from babel.dates import format_date

from simulator.offline_model.prompt import PASSAGE_LENGTH, SENTENCE_END, Prompt, Statement, is_mark
from simulator.offline_model.reminders import month_names, weekdays, with_digits
from simulator.offline_model.words import Language, fold, folded_words, language_of

REBUILDING = (
    "I can't find that now: my index of older messages is being rebuilt. Please ask again in a few minutes."
)
_LISTED, _OLDER, _UNSURE, _PASSAGES = 10, 2, 2, 3
"""The most statements of a list, behind the newest one, of those that may not answer, and of a document."""
_ENOUGH = 0.6
"""Share of a question's words that a statement must have more of, to be an answer."""
_DETAIL = 3
"""Most words that a corrected statement has beyond the correction."""
_NEAR = 2
"""Most words from "I" to what it says."""
_LEAST_PREFIX = 5
_WORD = re.compile(r"[^\W_]+(?:[-\u2019'\u200c][^\W_]+)*")
_CAPITAL = re.compile(r"(?<=[\w,] )[^\W\d_]\w+")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_KINDS = {"age": "aged", "job": "works"}
"""Patterns of questions, each with that of the statements that answer it."""
SMALL_TALK = ("fine", "bye")
"""Patterns that do not hold for a text with a value: "no, 98", "see you at 5"."""
_NO_STATEMENTS = ("hello", "bye", "wellbeing", "who", "thanks", "fine", "erase", "order", "cancel")


@dataclass(slots=True)
class _Question:
    """A question in words.

    `wanted` are its stems. `names` and `things` ("my bike", "Anna's bike") must be in an answer. `verb` is what "I" do.
    """

    language: Language
    words: frozenset[str]
    wanted: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    things: set[str] = field(default_factory=set[str])
    is_mine: bool = False
    verb: str = ""

    @property
    def is_of_other(self) -> bool:
        """True if a pronoun stands for somebody else ("where does she live?")."""
        return not self.names and not self.is_mine and bool(self.words & self.language.words("they"))

    @property
    def has_silent_subject(self) -> bool:
        """True if only the form of a verb may tell who is meant ("¿dónde vivo?")."""
        return self.language.has("silent") and not self.names and not self.things


def answer(question: str, prompt: Prompt, language: Language, *, may_doubt: bool = True) -> str:
    """Return the newest statements that answer, as quotations; all that fit if it asks for all about something.

    Without `may_doubt` statements that only share a rare word are no answer.
    """
    plain = language.pattern("opening").sub("", question.strip())
    asking = language.pattern("asking").fullmatch(plain)
    about = language.pattern("about").search(plain)
    topic = next(filter(None, about.groups()), "") if about else ""
    is_about_asker = topic and not {*folded_words(topic)} - language.words("i") - language.words("my")
    if is_about_asker or language.pattern("everything").fullmatch(plain):
        said = [each for each in _by_time(prompt) if _is_by_asker(each, prompt)]
        notes = [each for each in _by_time(prompt) if _is_note_of_asker(each, prompt)]
        known = language.stems("\n".join(each.text for each in notes))
        own = [
            each
            for each in said
            if _own_words(language) & {*folded_words(each.text)} or opens_correction(each.text, language)
            if not language.stems(each.text) <= known  # notes keep up with corrections
        ]
        return _list([*own, *notes] if notes or len(own) >= _UNSURE else said, prompt, language)
    asked = _read(topic or (asking["rest"] if asking else plain), prompt, language)
    shares = {each: _share(asked, each, prompt) for each in _by_time(prompt)}
    found = _with_corrections([each for each, share in shares.items() if share > _ENOUGH], asked, [*shares])
    if topic:
        return _list(found, prompt, language)
    for kind, told in _KINDS.items():
        if wanted := language.pattern(kind).search(plain):
            others = asked.names | asked.things - language.stems(wanted[0])
            telling = [each for each in shares if language.pattern(told).search(each.text)]
            told_of = [each for each in telling if _is_of_subject(others, asked, each, prompt)]
            found = _with_corrections(told_of, asked, [*shares]) or found
    passages = _from_document(asked, prompt, is_only_way=not found)
    if passages and not (found and found[-1] in prompt.fresh and found[-1].source == "person"):
        return language.text("document", text=quote(" ".join(each.text for each in passages), language))
    if len(found) > 1 and asked.wanted <= asked.names:
        return _list(found, prompt, language)
    if found:
        return _quoted(found, prompt, asked)
    if may_doubt and (near := _with_corrections(_nearest(asked, shares), asked, [*shares])[::-1]):
        return _doubtful([_told(each, prompt, language) for each in near], language)
    return REBUILDING if prompt.is_incomplete else language.text("unknown")


def _is_of_subject(others: set[str], asked: _Question, statement: Statement, prompt: Prompt) -> bool:
    """Return True if an age or a job in the statement is that of these others, or the asker's without any."""
    language = asked.language
    if others:
        return others <= language.stems(statement.text)
    words = {*folded_words(statement.text)}
    is_own = bool((language.words("i") | language.words("self")) & words)
    return _is_by_asker(statement, prompt) and is_own and not _is_of_relative(statement, asked)


def best_sentence(question: str, found: Sequence[str], language: Language) -> str:
    """Quote the sentence of a document that shares the most and rarest words with the question; "" without any.

    The quotation says that it is unsure if the sentence lacks most of these words.
    """
    wanted = language.stems(question)
    held = {each: [word for word in wanted if _count([word], language.stems(each))] for each in found}
    counts = Counter(word for words in held.values() for word in words)
    if not counts:
        return ""
    best = max(found, key=lambda each: (sum(1 / counts[word] for word in held[each]), len(each)))
    text = language.text("document", text=quote(best, language))
    return _doubtful([text], language) if 2 * len(held[best]) < len(wanted) else text


def _doubtful(lines: Sequence[str], language: Language) -> str:
    return "\n".join([language.text("unsure"), "", *_bullets(lines)])


def corrected(line: str, prompt: Prompt, language: Language) -> str:
    """Return the earlier statement that this line seems to correct, as a sentence; "" if there is none."""
    said = [each for each in _by_time(prompt) if each not in prompt.fresh and _is_by_asker(each, prompt)]
    if not opens_correction(line, language):
        return ""
    fitting = [each for each in said[::-1] if replaces(line, each.text, language, is_next=each is said[-1])]
    if not fitting or _says_more(fitting[0].text, line, language):
        return ""
    return language.text("instead", text=quote(fitting[0].text, language))


def _says_more(earlier: str, line: str, language: Language) -> bool:
    """Return True if the earlier statement has more than the detail that this line corrects."""
    clauses = re.split(rf"[,;] |[.!?] (?=\S)|(?<!\w)(?:{language.text('plus')})(?!\w)", earlier)
    bare = re.sub("|".join(value_patterns(language)), " ", earlier, flags=re.IGNORECASE)
    return len(clauses) > 1 or len(language.stems(bare) - language.stems(line)) > _DETAIL


def quote(text: str, language: Language) -> str:
    """Return the text on one line in the language's quotation marks: of a long one the sentences that fit."""
    line, (opening, closing) = " ".join(text.split()), language.text("marks")
    if len(line) > PASSAGE_LENGTH:
        start = line[: PASSAGE_LENGTH - 2]
        ends = [found.start() for found in SENTENCE_END.finditer(start)]
        line = f"{start[: ends[-1]]} …" if ends else f"{start.rpartition(' ')[0] or start}…"
    return f"{opening}{line}{closing}"


def _read(text: str, prompt: Prompt, language: Language) -> _Question:
    asked = _Question(language, frozenset(folded_words(text)))
    originals = _WORD.findall(text)
    parts = [folded_words(each) or [""] for each in originals]
    heads, known, kinds = [each[0] for each in parts], _names(prompt, language), set[str]()
    for at, (original, (word, *ending)) in enumerate(zip(originals, parts, strict=True)):
        stem, before = language.stem(word), parts[at - 1] if at else [""]
        asked.is_mine |= word in language.words("i") | language.words("my")
        if language.is_small(word) or word.isdecimal():
            continue
        if word in language.words("kinds"):  # it only says which kind of answer is wanted
            kinds.add(stem)
            continue
        asked.wanted.add(stem)
        is_owned = before[0] in language.words("my") or before[1:] == ["s"]
        is_proper = bool(at) and original[0].isupper() and before[0] not in language.words("articles")
        if ending == ["s"] or (not is_owned and (is_proper or stem in known)):
            asked.names.add(stem)
        elif is_owned:
            asked.things.add(stem)
        elif not asked.verb and _is_near(at, heads, language.words("i")):
            asked.verb = stem
    if asked.names and not any(each[1:] == ["s"] for each in parts):
        asked.wanted -= asked.things  # "my sister Anna": the name is enough
        asked.things = set()
    if asked.wanted <= language.stems(language.text("liking")):
        asked.wanted |= kinds
    return asked


def _names(prompt: Prompt, language: Language) -> set[str]:
    """Return the stems of names: of speakers, and of words with a capital inside a sentence, as German nouns have."""
    texts = [] if language.has("articles") else [each.text for each in prompt.statements]
    inside = [word for text in texts for word in _CAPITAL.findall(text) if word[0].isupper()]
    speakers = [each.speaker for each in prompt.statements if each.source == "person"]
    return set(language.stems(" ".join([*inside, *speakers])))


def _share(asked: _Question, statement: Statement, prompt: Prompt) -> float:
    """Return the share of the question's words that the statement has, 0 if it is about somebody or something else."""
    language, words = asked.language, [*_words(statement.text, asked.language)]
    if _is_of_relative(statement, asked):
        return 0.0
    stems = ["" if language.is_small(word) else language.stem(word) for word in words]
    places = {
        each: [at for at, stem in enumerate(stems) if _is_same(stem, each)]
        for each in asked.wanted | asked.names
    }
    is_own = statement.source == "person" and bool((language.words("i") | language.words("my")) & {*words})
    said_of_self = {each for each in asked.names if not places[each]}
    matched = {each for each, found in places.items() if found} | said_of_self
    is_about_speaker = is_own or statement.source == "note"
    if not said_of_self <= (language.stems(statement.speaker) if is_about_speaker else frozenset()):
        return 0.0
    if not asked.things <= matched or any(
        _is_of_another(at, words, asked) for found in places.values() for at in found
    ):
        return 0.0
    speaking = language.words("my" if asked.things else "i")
    if (
        said_of_self
        and is_own
        and not any(_is_near(at, words, speaking) for found in places.values() for at in found)
    ):
        return 0.0
    if asked.is_of_other and any(
        _is_near(at, words, language.words("i")) for found in places.values() for at in found
    ):
        return 0.0
    if asked.is_mine and not _is_of_asker(asked, statement, prompt, places.get(asked.verb, [])):
        return 0.0
    if asked.has_silent_subject and not any(
        words[at] in asked.words for found in places.values() for at in found
    ):
        return 0.0
    return len(matched) / len(places) if places else float(asked.is_mine and is_own)


@lru_cache(4_096)
def _words(text: str, language: Language) -> tuple[str, ...]:
    """Return the words of the statement; who moved to a place lives there."""
    return tuple(folded_words(language.pattern("moving").sub(language.text("living"), text)))


def _is_of_relative(statement: Statement, asked: _Question) -> bool:
    """Return True if the question is of the asker alone, and the statement of another person ("my sister is …")."""
    language = asked.language
    if asked.names or not asked.words & (language.words("self") | language.words("my")):
        return False
    if asked.things and language.pattern("owned").search(statement.text):
        return not language.words("my") & {*folded_words(statement.text)}
    other = language.pattern("relative").search(statement.text)
    if other is None or language.stems(other[0]) & asked.wanted:
        return False
    rest = f"{statement.text[: other.start()]} {statement.text[other.end() :]}"
    return not (language.words("self") | language.words("i") | language.words("my")) & {*folded_words(rest)}


def _is_of_asker(asked: _Question, statement: Statement, prompt: Prompt, verbs: Sequence[int]) -> bool:
    """Return True if the statement can be about the asker; `verbs` are the places of what the asker does."""
    words = [*_words(statement.text, asked.language)]
    if statement.source == "note" or not _is_by_asker(statement, prompt):
        first = fold(prompt.speaker.split(" ")[0])
        is_own_words = not prompt.speaker and statement.text.startswith(f"{statement.speaker}: ")
        is_note = statement.source == "note" and (is_own_words or bool(asked.things))
        return is_note or bool(first and first in words)
    # "wohne", "vivo": only the first person has this form. English is different.
    is_same_form = asked.language.has("forms") and any(words[at] in asked.words for at in verbs)
    return not verbs or is_same_form or any(_is_near(at, words, asked.language.words("i")) for at in verbs)


def _own_words(language: Language) -> frozenset[str]:
    return language.words("i") | language.words("my") | language.words("self")


def _is_by_asker(statement: Statement, prompt: Prompt) -> bool:
    return statement.source == "person" and statement.speaker in ("", prompt.speaker)


def _is_note_of_asker(statement: Statement, prompt: Prompt) -> bool:
    first, text = fold(prompt.speaker.split(" ")[0]), f"{statement.speaker} {statement.text}"
    return statement.source == "note" and bool(statement.when) and (not first or first in folded_words(text))


def _content(text: str, language: Language) -> frozenset[str]:
    """Return the stems and the numbers of a text."""
    return language.stems(text) | frozenset(re.findall(r"\d+", text))


def _is_near(at: int, words: Sequence[str], wanted: frozenset[str]) -> bool:
    return bool(wanted & {*words[max(0, at - _NEAR) : at + _NEAR + 1]})


def _is_of_another(at: int, words: Sequence[str], asked: _Question) -> bool:
    """Return True if the word here belongs to another: "her bike", "Tom's bike", or "Anna" in "Anna's bike"."""
    before, after = words[max(0, at - 2) : at], words[at + 1 : at + 3]
    stem = asked.language.stem
    is_owned = before[1:] == ["s"] and not asked.language.is_small(before[0])
    is_theirs = is_owned and stem(before[0]) not in asked.names | asked.things | asked.wanted
    is_owner = after[:1] == ["s"] and not asked.language.is_small(after[-1])
    owns_another = (
        is_owner and stem(after[-1]) not in asked.wanted and after[-1] not in asked.language.words("kinds")
    )
    is_of_other = bool(before) and before[-1] in asked.language.words("others") and not asked.names
    return is_theirs or owns_another or is_of_other


def _is_same(one: str, other: str) -> bool:
    """Return True for equal stems, and for long ones if one is the other with up to three more letters."""
    short, long = sorted((one, other), key=len)
    is_part = len(short) >= _LEAST_PREFIX and long.startswith(short) and len(long) - len(short) <= 3
    return bool(one) and (one == other or is_part)


def _by_time(prompt: Prompt) -> list[Statement]:
    """Return the statements, oldest first, each text once. Small talk and orders state nothing."""
    once = {fold(each.text): each for each in prompt.statements if each.text.strip()}
    stating = [
        each
        for each in once.values()
        if (each.source != "person" or not _is_order(each.text)) and not is_mark(each.text)
    ]
    return sorted(stating, key=_moment)


def _is_order(text: str) -> bool:
    language = language_of(text)
    kinds = [each for each in _NO_STATEMENTS if each not in SMALL_TALK or not says_value(text, language)]
    is_small_talk = any(language.pattern(each).fullmatch(text.strip()) for each in kinds)
    return is_small_talk or len(text.split()) == 1 or bool(language.pattern("remind").search(text))


def _moment(statement: Statement) -> str:
    """Return the date and time; "~" is later than any, for the present conversation."""
    found = _DATE.search(statement.when)
    return statement.when[found.start() :][:16] if found else "~"


@lru_cache(4_096)
def opens_correction(text: str, language: Language) -> bool:
    """Return True if the text begins or ends like a correction, or puts one word in the place of another."""
    corrects = any(language.pattern(each).search(text) for each in ("corrects", "exchange"))
    words = folded_words(text)
    return corrects or bool(language.words("changes") & {*words[:3], *words[-1:]})


def replaces(text: str, earlier: str, language: Language, *, is_next: bool = True) -> bool:
    """Return True if the text begins like a correction, and is about the same thing as the earlier one.

    The next text may also be about nothing but a value of the same kind ("no, on Tuesday"), or about "it". A text that
    tells of a change has two words of the earlier one ("Anna quit chemistry").
    """
    if not opens_correction(text, language):
        return _tells_change(text, language) and len(language.stems(text) & language.stems(earlier)) > 1
    if exchange := language.pattern("exchange").search(text):
        return language.stem(fold(exchange["old"])) in language.stems(earlier)
    patterns, topic = value_patterns(language), topic_of(text, language)
    has_kind = any(
        all(re.search(each, one, re.IGNORECASE) for one in (with_digits(text, language), earlier))
        for each in patterns
    )
    is_value = len(topic) <= 1 and (has_kind or language.pattern("is_it").search(text) is not None)
    return bool(topic & language.stems(earlier)) or (is_next and is_value)


@lru_cache(4_096)
def _tells_change(text: str, language: Language) -> bool:
    return bool((language.words("turns") | language.words("changes")) & {*folded_words(text)})


@lru_cache(4_096)
def topic_of(text: str, language: Language) -> frozenset[str]:
    """Return the stems of a correction without its value: a weekday, a number, a month."""
    bare = re.sub("|".join(value_patterns(language)), " ", with_digits(text, language), flags=re.IGNORECASE)
    bare = language.pattern("corrects").sub(" ", bare)
    return language.stems(bare) - language.stems(language.text("changes"))


def says_value(text: str, language: Language) -> bool:
    """Return True if the text has a weekday, a number or a month: "no, 98" is no small talk."""
    return any(re.search(each, text, re.IGNORECASE) for each in value_patterns(language))


@cache
def value_patterns(language: Language) -> tuple[str, str, str]:
    """Return the patterns of a weekday, of a number ("24th", "3pm"), and of a month."""
    days, months = "|".join(weekdays(language)), "|".join(month_names(language))
    return rf"\b(?:{days})\b", r"\d[\d:.]*(?:st|nd|rd|th|am|pm|h)?\b", rf"\b(?:{months})\b"


def _with_corrections(
    found: list[Statement], asked: _Question, everything: Sequence[Statement]
) -> list[Statement]:
    """Return the statements with those that correct them without their words. Notes must be newer than all of them."""
    at = {each: place for place, each in enumerate(everything)}
    places = sorted(at[each] for each in found)
    corrections = [
        each
        for place in places
        for each in everything[place + 1 :]
        if (is_next := each is everything[place + 1]) or each.speaker == everything[place].speaker
        if replaces(each.text, everything[place].text, asked.language, is_next=is_next)
    ]
    chosen = {*found, *corrections}
    said = [each for each in everything if each in chosen and each.source != "note"]
    newest = _moment(said[-1])[:10] if said else ""
    known = _content(" ".join(f"{each.speaker} {each.text}" for each in said), asked.language)
    notes = [
        each
        for each in everything
        if each in chosen and each.source == "note" and _moment(each)[:10] >= newest
        # A note of the same day is newer if it says something else: notes keep up with corrections.
        if _moment(each)[:10] > newest or not _content(each.text, asked.language) <= known
    ]
    return [*said, *notes]


def _nearest(asked: _Question, shares: dict[Statement, float]) -> list[Statement]:
    """Return the newest statements that share a rare word with the question."""
    language = asked.language
    common = (
        {asked.verb}
        | language.stems(language.text("liking"))
        | {*map(language.stem, language.words("kinds"))}
    )
    stems = {each: language.stems(each.text) for each in shares}
    most = max(2, len(stems) // 5)
    rare = {
        word for word in asked.wanted - common if 0 < sum(word in each for each in stems.values()) <= most
    }
    return [each for each, share in shares.items() if share and rare & stems[each]][::-1][:_UNSURE]


def _from_document(asked: _Question, prompt: Prompt, *, is_only_way: bool) -> list[Statement]:
    """Return what the document that came with the question says: all of a short one, or a long one's best passages.

    A long one is read for a single word of the question only if nothing else answers.
    """
    passages = [each for each in prompt.fresh if each.source == "document"]
    if len(passages) <= 1 or not is_only_way:
        return passages if len(passages) == 1 else []
    shared = [_count(asked.wanted, asked.language.stems(each.text)) for each in passages]
    best = max(shared)
    return [each for each, count in zip(passages, shared, strict=True) if count == best > 0][:_PASSAGES]


def _count(wanted: Collection[str], stems: Collection[str]) -> int:
    return sum(any(_is_same(stem, each) for stem in stems) for each in wanted)


def _list(found: list[Statement], prompt: Prompt, language: Language) -> str:
    lines = [_told(each, prompt, language) for each in found[::-1][:_LISTED]]
    return "\n".join([language.text("listed"), "", *_bullets(lines)]) if lines else language.text("unknown")


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"- {line.removesuffix('.')}" for line in lines]


def _quoted(found: list[Statement], prompt: Prompt, asked: _Question) -> str:
    """Quote the newest statement, and behind it older ones about the same."""
    language, newest = asked.language, found[-1]
    topic = language.stems(newest.text) & asked.wanted - asked.names
    older = [
        each
        for each in found[-2::-1]
        if opens_correction(newest.text, language)
        or replaces(newest.text, each.text, language)
        or topic & language.stems(each.text)
    ]
    before = [
        language.text("older", when=_when(each, language), text=quote(each.text, language))
        for each in older[:_OLDER]
    ]
    return "\n".join([_told(newest, prompt, language), *before])


def _told(statement: Statement, prompt: Prompt, language: Language) -> str:
    key = (
        statement.source
        if statement.source != "person"
        else "told"
        if _is_by_asker(statement, prompt)
        else "said"
    )
    text, when = quote(statement.text, language), _when(statement, language)
    said = language.text(key, name=statement.speaker, when=when, text=text)
    return (
        f"{said.removesuffix('.')} ({statement.when})."
        if statement.source == "note" and statement.when
        else said
    )


def _when(statement: Statement, language: Language) -> str:
    found = _DATE.match(statement.when)
    if found is None:
        return ""
    day = date(*map(int, found.groups()))
    return language.text("date", date=format_date(day, "long", locale=language.text("locale")))
