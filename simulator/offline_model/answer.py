"""Answers to questions: quotations of what the prompt holds, or that nothing fits."""

import re
from collections.abc import Iterable
from dataclasses import replace

from simulator.offline_model.prompt import PASSAGE_LENGTH, Prompt, Statement
from simulator.offline_model.words import folded_words, function_words, stems

UNKNOWN = (
    "I do not know that. I am the offline stand-in for a language model: "
    "I only know what was said in this chat. With a key (OPENAI_API_KEY), a real model answers."
)
REBUILDING = (
    "I can't find that now: my index of older messages is being rebuilt. Please ask again in a few minutes."
)
_LISTED = 10
_PASSAGES = 3
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
    matches = _rank(about[1] if about else question, prompt)
    others = [each for each in matches if each.source != "own"]
    if not about and (not others or others[0] not in prompt.fresh):
        others = _from_document(question, prompt, is_only_way=not others) or others
    if about and len(others) > 1:
        more = [f"… and {len(others) - _LISTED} more."] if len(others) > _LISTED else []
        lines = (f"- {_quotation(each, prompt)}" for each in others[:_LISTED])
        return "\n".join(["This is what I found:", "", *lines, *more])
    if others:
        return f"{_quotation(others[0], prompt)}."
    if matches and not matches[0].text.startswith(UNKNOWN):
        return f"I only find something that I said myself: {quote(matches[0].text)}."
    return REBUILDING if prompt.is_incomplete else UNKNOWN


def quote(text: str) -> str:
    """Return the text on one line in quotation marks, cut if it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= PASSAGE_LENGTH else line[: PASSAGE_LENGTH - 1] + '…'}”"


def _rank(question: str, prompt: Prompt) -> list[Statement]:
    """Return the statements that fit, best first.

    Of equals a fresh one wins, then the one nearer in function words, then the newest.
    """
    wanted_stems, small = stems(question), function_words(question)
    names = stems(" ".join(word for word in question.split()[1:] if word[:1].isupper()))
    ranked: list[tuple[float, bool, int, int, Statement]] = []
    for position, each in enumerate(_once_each(prompt.statements)):
        subject = _subject(each)
        share = (
            len(wanted_stems & subject) / len(wanted_stems)
            if wanted_stems
            else float(bool(small & _FIRST_PERSON) and _is_personal(each))
        )
        if share > _ENOUGH and names <= subject:
            nearness = len(small & function_words(each.text))
            ranked.append((share, each in prompt.fresh, nearness, position, each))
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1], reverse=True)]


def _from_document(question: str, prompt: Prompt, *, is_only_way: bool) -> list[Statement]:
    """Return what the document that came with the question says: all of a short one, or a long one's best passages.

    A long one is read for a single word of the question only if nothing else answers.
    """
    passages = [each for each in prompt.fresh if each.source == "document"]
    if len(passages) > 1 and is_only_way:
        wanted = stems(question)
        shared = [len(wanted & stems(each.text)) for each in passages]
        best = max(shared)
        passages = [each for each, words in zip(passages, shared, strict=True) if words == best > 0][
            :_PASSAGES
        ]
    elif len(passages) != 1:
        return []
    return [replace(passages[0], text=" ".join(each.text for each in passages))] if passages else []


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
    # "3 days ago" would make another text of the same answer tomorrow.
    when = statement.when if statement.source == "note" else statement.when.partition(",")[0]
    return f"{who}: {quote(statement.text)}" + (f" ({when})" if when else "")
