"""Texts of the bot that consist of several sentences of the catalogue (pure)."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.errors import (
    DeadlinePassed,
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.transport.command_menus import Audience
from bot.transport.words import Words
from memory.characters import one_line
from memory.erasure import ErasureReceipt, LaterUse
from memory.history.message import Message
from memory.history.store import HistorySnapshot
from memory.history.summary import render_summary
from memory.keys import RecordCounts

_SHOWN = 40
"""Characters that are quoted of a refused message."""
_MARKUP = re.compile(r"[\\`*_~<>\[\]|$&#]")
"""Characters that could be rendered as Markdown."""
_PROVEN, _PROVEN_TEXT = "receipt-proven", "receipt-proven-text"
"""Keys for a proven erasure: nothing is left, or only answers that used the text."""
UNUSED = LaterUse()
_FAILURES: dict[type[TellUser], str] = {
    ModelUnavailable: "failure-model-unavailable",
    ModelQuotaExhausted: "failure-model-quota",
    ModelRefused: "failure-model-refused",
    ModelBarred: "failure-model-refused",
    ModelMissing: "failure-model-refused",
    ModelFiltered: "failure-model-filtered",
    PromptTooLong: "failure-prompt-too-long",
    ModelRepliedNothing: "failure-model-silent",
    DeadlinePassed: "failure-deadline",
}


def failure_text(words: Words, failure: TellUser, messages: Sequence[Message] = ()) -> str:
    """Return the sentence that explains a failure; never the exception's own text.

    `messages` are those of the question: a filter's refusal names them by their first words.
    """
    texts = [one_line(_MARKUP.sub("", message.text or message.note)) for message in messages]
    quoted = [words("quoted-words", text=_first_words(text)) for text in texts if text]
    if isinstance(failure, ModelFiltered) and quoted:
        return words("refused-messages", count=len(quoted), messages=words("list-separator").join(quoted))
    return words(_FAILURES.get(type(failure), "failure-other"))


def _first_words(text: str) -> str:
    beginning = one_line(text, _SHOWN)
    return text if beginning == text else f"{beginning.rpartition(' ')[0] or beginning}…"


def help_text(words: Words, commands: Mapping[str, Audience], *, is_group: bool, is_operator: bool) -> str:
    """Return the answer to /help; the commands of operators appear only for operators."""
    place = "group" if is_group else "private"

    def describe(*audiences: Audience) -> str:
        names = [name for name, audience in commands.items() if audience in audiences]
        names.sort(key="help".__eq__)  # the last one
        return "\n".join(words(f"help-{name}", place=place) for name in names)

    paragraphs = [words(f"help-{place}")]
    if is_group:
        paragraphs += [
            describe("members", "everybody"),
            f"{words('help-administrators')}\n{describe('owners')}",
        ]
    else:
        paragraphs.append(describe("everybody", "owners"))
    paragraphs.append(words("help-editing"))
    if is_operator:
        lines = [words("help-operators"), describe("operators"), words("help-operators-reset")]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def memory_text(
    words: Words, snapshot: HistorySnapshot, counts: RecordCounts, *, searchable: int | None
) -> str:
    """Return the answer to /memory. `searchable` counts the messages in the search index; None if it is away.

    The summary comes last, so that its text cannot change the lines above it.
    """
    if snapshot.created_at is None and not counts.total:
        return words("memory-nothing")
    lines = [_remembered(words, snapshot, searchable)]
    things = _counts(
        words,
        ("count-facts", counts.facts),
        ("count-reminders", counts.reminders),
        ("count-summaries", counts.summaries),
        ("count-tool-notes", counts.ledger_turns),
        ("count-results", counts.artifacts),
    )
    if things:
        lines.append(words("memory-also", things=things))
    if counts.talk:
        lines.append(words("memory-talk", things=words("count-talk", count=counts.talk)))
    if snapshot.choices.agent:
        lines.append(words("memory-agent", agent=snapshot.choices.agent))
    lines.append(words("memory-erasing"))
    if snapshot.summary is not None:
        lines += ["", words("memory-summary"), "", render_summary(snapshot.summary.text)]
    return "\n".join(lines)


def _remembered(words: Words, snapshot: HistorySnapshot, searchable: int | None) -> str:
    count = snapshot.count
    since = datetime.fromtimestamp(snapshot.created_at or 0, UTC).date()
    sentences = [words("memory-messages", count=count, since=since)]
    if 0 < snapshot.conversation_count < count:
        sentences.append(words("memory-conversation", count=snapshot.conversation_count))
    if count and searchable is None:
        sentences.append(words("memory-unsearchable"))
    elif count and searchable:
        is_all = searchable >= count
        key = "memory-searchable-all" if is_all else "memory-searchable"
        sentences.append(words(key, count=count if is_all else searchable))
    return " ".join(sentences)


def _counts(words: Words, *counts: tuple[str, int]) -> str:
    """Return a list such as "2 summaries, 1 quotation" without zeros; "" if all are zero."""
    return words("list-separator").join(words(key, count=count) for key, count in counts if count)


def receipt_text(words: Words, receipt: ErasureReceipt, *, of: str, chat_id: int = 0) -> str:
    """Return the receipt of a reset. `of`: "chat", "topic", "all", or "other" for the chat `chat_id`."""
    if receipt.is_proven and not receipt.has_erased:
        return words("reset-nothing")
    head = words("reset-other", chat=str(chat_id)) if of == "other" else words(f"reset-{of}")
    details = [
        _erased(words, receipt),
        _left(words, receipt),
        _proof(words, receipt, doubt="reset-doubt"),
        words("receipt-unclean") if receipt.unclean else "",
    ]
    return "\n".join([head, "", *filter(None, details)])


def forgotten_text(
    words: Words, receipt: ErasureReceipt, *, key: str, is_resumed: bool, used: LaterUse = UNUSED
) -> str:
    """Return the receipt of a /forget, which begins with the text of `key`.

    `is_resumed`: an interrupted attempt may have erased more than the receipt counts. If answers have `used` the
    messages, it does not say that nothing is left.
    """
    details = [
        _erased(words, receipt),
        words("forget-interrupted") if is_resumed else "",
        _left(words, receipt),
        _proof(words, receipt, doubt="forget-doubt", proven=_PROVEN_TEXT if used.answers else _PROVEN),
        _used(words, used, is_several=key == "forgotten-several"),
    ]
    return "\n".join([words(key), "", *filter(None, details)])


def fact_deleted_text(words: Words, receipt: ErasureReceipt, *, is_resumed: bool) -> str:
    """Return the receipt of one deleted fact in one line."""
    sentences = [
        words("fact-deleted"),
        _erased(words, receipt),
        words("forget-interrupted") if is_resumed else "",
        _proof(words, receipt, doubt="forget-doubt"),
    ]
    return " ".join(filter(None, sentences))


def _erased(words: Words, receipt: ErasureReceipt) -> str:
    """Return the counts that have words of their own; "" if none of them was erased."""
    erased = receipt.erased
    things = _counts(
        words,
        ("count-messages", erased.messages),
        ("count-facts", erased.facts),
        ("count-reminders", erased.reminders),
        ("count-vectors", receipt.vectors_erased),
        ("count-summaries", erased.summaries),
        ("count-tool-notes", erased.ledger_turns),
        ("count-results", erased.artifacts),
        ("count-talk", erased.talk),
        ("count-quotes", erased.quotes),
        ("count-updates", receipt.updates_forgotten),
        ("count-unsent", receipt.unsent_dropped),
    )
    return words("receipt-erased", things=things) if things else ""


def _left(words: Words, receipt: ErasureReceipt) -> str:
    return words(
        "receipt-left",
        messages=receipt.messages_left,
        vectors=words("unknown-now") if receipt.vectors_left is None else receipt.vectors_left,
        others=receipt.others_left,
    )


def _used(words: Words, used: LaterUse, *, is_several: bool) -> str:
    """Return the sentences about answers that used the messages; "" if none did."""
    if not used.answers:
        return ""
    told = words("forget-used-several" if is_several else "forget-used", count=len(used.answers))
    things = _counts(words, ("count-summaries", used.summaries), ("count-results", used.artifacts))
    return f"{told} {words('forget-rests', things=things)}" if things else told


def _proof(words: Words, receipt: ErasureReceipt, *, doubt: str, proven: str = _PROVEN) -> str:
    if receipt.is_proven:
        return words(proven)
    return words("receipt-index-away" if receipt.vectors_left is None else doubt)
