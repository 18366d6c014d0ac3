"""Which sentences of a conversation are worth keeping, by their words: facts about people, and decisions."""

import re

from simulator.offline_model.words import NOT_A_TITLE, content_stems, fold, folded_words

_LONGEST = 240
_SENTENCE_END = re.compile(r"(?<=[.!?…])" + NOT_A_TITLE + r"\s+|\n+")
_ABOUT_PEOPLE = re.compile(
    r"\b(?:my|our|mine|remember|birthday|allerg\w+|mi|mis|nuestr[oa]s?|мо[йяеию]|моего|моей|наш\w*|запомни)\b"
    r"|\b(?:i|we)(?: m| am| are| ve| have| had| was| were)?(?: \w+ly)? ?(?:live|work|like|love|hate|prefer|want|need|play"
    r"|study|drive|own|speak|born|married|moved|bought|from|vegetarian|vegan|\d+ years)\b"
    r"|\bi (?:m|am|have|had|was|ve)\b|\b(?:vivo|trabajo|tengo|soy|me gusta|me llamo)\b"
    r"|\b(?:я|мне|меня) (?:живу|работаю|люблю|не люблю|нравится|зовут|родил\w+|есть|лет)\b"
)
_ABOUT_NAMED = re.compile(
    r"\b(?:lives?|works?|likes?|loves?|hates?|is|are|was|were|has|moved|called|named|vive|es|trabaja|живет|работает|зовут)\b"
)
_DECISION = re.compile(
    r"\b(?:(?:i|we) (?:ve |have )?(?:decided|agreed|chose|settled)|(?:we|i) will go with|let s go with"
    r"|it s decided|decision|decidimos|hemos decidido|решили|договорились)\b"
)
_DIGITS = re.compile(r"\d+")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; a very long one is cut."""
    found = (" ".join(part.split()) for part in _SENTENCE_END.split(text))
    return [part[:_LONGEST] for part in found if part]


def is_fact(sentence: str) -> bool:
    """Whether it states something that may be asked for later: it has a name or a number, or is a strong fact."""
    words = sentence.split()
    named = any(word[:1].isupper() and word not in ("I", "I'm") for word in words[1:])
    return is_strong_fact(sentence) or (
        len(content_stems(sentence)) >= 2 and (named or bool(_DIGITS.search(sentence)))
    )


def is_strong_fact(sentence: str) -> bool:
    """Whether it tells of the speaker and theirs, or says something of somebody by name."""
    folded = " ".join(folded_words(sentence))
    if len(content_stems(sentence)) < 1:
        return False
    begins_named = sentence[:1].isupper() and fold(sentence.split()[0]) in content_stems(sentence)
    return bool(_ABOUT_PEOPLE.search(folded) or (begins_named and _ABOUT_NAMED.search(folded)))


def is_decision(sentence: str) -> bool:
    """Whether it says that something was decided."""
    return bool(_DECISION.search(" ".join(folded_words(sentence))))


def shape_of(sentence: str) -> str:
    """The sentence without case, marks and the value of its numbers: those of a series have the same one."""
    return _DIGITS.sub("#", " ".join(folded_words(sentence)))
