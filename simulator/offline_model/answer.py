"""Answers to questions: quotations of what the prompt holds, or that nothing fits."""

import re
from collections.abc import Iterable, Sequence

from simulator.offline_model.prompt import PASSAGE_LENGTH, Prompt, Statement
from simulator.offline_model.words import folded_words, function_words, stems

UNKNOWN = (
    "I do not know that. I am the offline stand-in for a language model: "
    "I only know what was said in this chat."
)
_LISTED = 10
_ENOUGH = 0.5
"""Share of a question's words that a statement must have more of."""
_ABOUT = re.compile(
    r"\b(?:tell|told|said|say|know|remember|mention(?:ed)?|talk(?:ed)?)\b.{0,30}?\babout\s+(.+)",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset(
    {"i", "my", "me", "mine", "yo", "mi", "mis", "я", "мой", "моя", "мое", "мне", "меня"}
)


def answer(question: str, prompt: Prompt) -> str:
    """Return the best statement as a quotation; all that fit if the question asks for all about something."""
    about = _ABOUT.search(question)
    matches = _rank(about[1] if about else question, prompt.statements)
    others = [each for each in matches if each.source != "own"]
    if not others:
        others = _short_document(prompt.statements)
    if about and len(others) > 1:
        more = [f"… and {len(others) - _LISTED} more."] if len(others) > _LISTED else []
        lines = (f"- {_quotation(each, prompt)}" for each in others[:_LISTED])
        return "\n".join(["This is what I found:", "", *lines, *more])
    if others:
        return f"{_quotation(others[0], prompt)}."
    if matches and not matches[0].text.startswith(UNKNOWN):
        return f"I only find something that I said myself: {quote(matches[0].text)}."
    return UNKNOWN


def quote(text: str) -> str:
    """Return the text on one line in quotation marks, cut if it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= PASSAGE_LENGTH else line[: PASSAGE_LENGTH - 1] + '…'}”"


def _rank(question: str, statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements that fit, best first. Of equals the one nearer in function words, then the newest."""
    wanted_stems, small = stems(question), function_words(question)
    names = stems(" ".join(word for word in question.split()[1:] if word[:1].isupper()))
    ranked: list[tuple[float, int, int, Statement]] = []
    for position, each in enumerate(_once_each(statements)):
        subject = _subject(each)
        share = (
            len(wanted_stems & subject) / len(wanted_stems)
            if wanted_stems
            else float(bool(small & _FIRST_PERSON) and _is_personal(each))
        )
        if share > _ENOUGH and names <= subject:
            ranked.append((share, len(small & function_words(each.text)), position, each))
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1], reverse=True)]


def _short_document(statements: Sequence[Statement]) -> list[Statement]:
    """Return the document that came with the question, if it is one passage."""
    before, last = statements[-2:-1], statements[-1:]
    is_part = any(each.source == "document" for each in before)
    return [each for each in last if each.source == "document" and not is_part]


def _once_each(statements: Iterable[Statement]) -> list[Statement]:
    """Return each text once, at its newest place, in the copy that has a time."""
    once: dict[tuple[str, ...], Statement] = {}
    for each in statements:
        words = tuple(folded_words(each.text))
        before = once.pop(words, each)
        once[words] = before if before.when and not each.when else each
    return list(once.values())


def _subject(statement: Statement) -> frozenset[str]:
    """Return what a statement is about: "my bike is red" by Ben is about Ben too."""
    return stems(f"{statement.speaker} {statement.text}" if _is_personal(statement) else statement.text)


def _is_personal(statement: Statement) -> bool:
    return bool(_FIRST_PERSON & set(folded_words(statement.text)))


def _quotation(statement: Statement, prompt: Prompt) -> str:
    named = f"{statement.speaker} said"
    by_name = "You told me" if statement.speaker in ("", prompt.speaker) else named
    who = {"document": "The document says", "note": "My notes say"}.get(statement.source, by_name)
    return f"{who}: {quote(statement.text)}" + (f" ({statement.when})" if statement.when else "")
