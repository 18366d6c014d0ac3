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
from bot.transport.controls import DETAILS_BUTTON
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from memory.characters import one_line
from memory.erasure import ErasureReceipt, LaterUse
from memory.history.message import Message
from memory.history.store import HistorySnapshot, RecordCounts
from memory.history.summary import render_summary

_SHOWN = 40
"""Characters that are quoted of a refused message."""
_MARKUP = re.compile(r"[\\`*_~<>\[\]|$&#]")
"""Characters that could be rendered as Markdown."""
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
    words: Words, snapshot: HistorySnapshot, counts: RecordCounts, *, searchable: int | None, limit: str = ""
) -> str:
    """Return the answer to /memory. `searchable` counts the messages in the search index; None if it is away.

    `limit` says for how long messages are kept. The summary comes last, so that its text cannot change the lines
    above it.
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
    lines += [limit] if limit else []
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
    """Return the receipt of a reset without counts. It begins with what reading back has found.

    `of`: "chat", "topic", "all", or "other" for the chat `chat_id`.
    """
    if receipt.is_proven and not receipt.has_erased:
        return words("reset-nothing")
    sentences = [
        _verdict(words, receipt, doubt="reset-doubt"),
        words("reset-other", chat=str(chat_id)) if of == "other" else words(f"reset-{of}"),
        words("receipt-unclean") if receipt.unclean else "",
        words("receipt-not-copied") if receipt.not_copied else "",
    ]
    return "\n".join(filter(None, sentences))


def forgotten_text(words: Words, receipt: ErasureReceipt, *, key: str, used: LaterUse = UNUSED) -> str:
    """Return the receipt of a /forget without counts. After the first sentence comes the text of `key`.

    If answers have `used` the messages, it does not say that nothing is left.
    """
    sentences = [
        _verdict(
            words,
            receipt,
            doubt="forget-doubt",
            proven="receipt-proven-text" if used.answers else "receipt-proven",
        ),
        words(key),
        _used(words, used, is_several=key == "forgotten-several"),
        words("receipt-not-copied") if receipt.not_copied else "",
    ]
    return "\n".join(filter(None, sentences))


def fact_deleted_text(words: Words, receipt: ErasureReceipt) -> str:
    """Return the receipt of one deleted fact in one line, without counts."""
    return f"{_verdict(words, receipt, doubt='forget-doubt')} {words('fact-deleted')}"


def details_buttons(words: Words, receipt: ErasureReceipt, *, is_resumed: bool = False) -> list[Button]:
    """Return the button that shows the counts of what was erased; none if its 64 bytes of data have no room.

    They are only there, so that nothing is stored after an erasure. `is_resumed`: an interrupted attempt may have
    erased more than the receipt counts.
    """
    counts = [receipt.counts()[name] for name in _COUNTED.split()]
    data = f"{DETAILS_BUTTON}:" + ",".join(f"{each:x}" if each else "" for each in [*counts, is_resumed])
    return [Button(text=words("receipt-details"), data=data, row=1)] if len(data) <= 64 else []


def details_text(words: Words, counts: str) -> str:
    """Return the counts of this button, as its data has them."""
    *erased, is_resumed = (int(each or "0", 16) for each in counts.split(","))
    keys = [f"count-{each}" for each in _COUNTED_AS.split()]
    things = _counts(words, *zip(keys, erased, strict=True)) or "0"
    told = words("receipt-erased", things=things)
    return f"{told}\n{words('forget-interrupted')}" if is_resumed else told


_COUNTED = (
    "messages_erased facts_erased reminders_erased vectors_erased summaries_erased ledger_turns_erased "
    "artifacts_erased talk_erased quotes_erased updates_forgotten unsent_dropped"
)
_COUNTED_AS = "messages facts reminders vectors summaries tool-notes results talk quotes updates unsent"
"""Counts of a receipt that the catalogue has words for, and the ends of their keys."""


def _used(words: Words, used: LaterUse, *, is_several: bool) -> str:
    """Return the sentences about answers that used the messages; "" if none did."""
    if not used.answers:
        return ""
    told = words("forget-used-several" if is_several else "forget-used", count=len(used.answers))
    things = _counts(words, ("count-summaries", used.summaries), ("count-results", used.artifacts))
    return f"{told} {words('forget-rests', things=things)}" if things else told


def _verdict(words: Words, receipt: ErasureReceipt, *, doubt: str, proven: str = "receipt-proven") -> str:
    """Return what reading back has found: nothing, or what is left and what to do about it."""
    if receipt.is_proven:
        return words(proven)
    left = _counts(
        words,
        ("count-messages", receipt.messages_left),
        ("count-vectors", receipt.vectors_left or 0),
        ("count-other-things", receipt.others_left),
    )
    sentences = [words("receipt-still", things=left)] if left else []
    sentences.append(words("receipt-index-away" if receipt.vectors_left is None else doubt))
    return " ".join(sentences)
