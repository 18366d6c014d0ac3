"""What the bot itself says in a chat where that takes more than a sentence of the catalogue (pure)."""

from datetime import UTC, datetime
from typing import Literal

from bot.errors import (
    DeadlinePassed,
    ModelBarred,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.transport.gating import HELP_BUTTON
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from memory.forgetting import ErasureReceipt
from memory.history.store import HistorySnapshot, Kept
from memory.history.summary import render_summary

_FAILURES: dict[type[TellUser], str] = {
    ModelUnavailable: "failure-model-unavailable",
    ModelQuotaExhausted: "failure-model-quota",
    ModelRefused: "failure-model-refused",
    ModelBarred: "failure-model-refused",
    PromptTooLong: "failure-prompt-too-long",
    ModelRepliedNothing: "failure-model-silent",
    DeadlinePassed: "failure-deadline",
}


def failure_text(words: Words, failure: TellUser) -> str:
    """The honest sentence for a failure; never the exception's own text."""
    return words(_FAILURES.get(type(failure), "failure-other"))


RESET_NOT_YOURS, RESET_EXPIRED, RESET_NOTHING = "reset-not-yours", "reset-expired", "reset-nothing"
"""Keys of the answers to a press of the /reset button, and of the receipt for an empty chat."""


def start_text(words: Words, *, is_group: bool, is_offline: bool) -> str:
    """Return the three lines of /start; a button with `start_button` belongs under them."""
    greeting = words("start-group" if is_group else "start-private")
    return f"{greeting}\n{words('start-offline' if is_offline else 'start-erasing')}"


def start_button(words: Words) -> Button:
    """Return the button that asks for the help text."""
    return Button(text=words("start-button"), data=HELP_BUTTON)


def reset_question(words: Words, *, scope: Literal["chat", "topic", "all"]) -> str:
    """Return the question that /reset asks before it erases anything."""
    return words("reset-asks", scope=scope)


def reset_button(words: Words, *, data: str) -> Button:
    """Return the button that confirms a /reset; the data begins with RESET_BUTTON."""
    return Button(text=words("reset-button"), data=data)


def help_text(words: Words, *, is_group: bool, is_operator: bool) -> str:
    """What /help says here and to this person."""
    help_here = words("help-group" if is_group else "help-private")
    return f"{help_here}\n\n{words('help-operator')}" if is_operator else help_here


def stopped_mark(words: Words) -> str:
    """What ends an answer that was stopped, as Markdown."""
    return f"\n\n_({words('stopped-mark')})_"


def memory_text(words: Words, snapshot: HistorySnapshot, kept: Kept, *, searchable: int | None) -> str:
    """What is kept of a chat; `searchable` is None where the index does not answer.

    The summary comes last: nothing that it quotes can change what stands above it.
    """
    if snapshot.created_at is None and not kept.total:
        return words("memory-nothing")
    lines = [
        _kept_since(words, snapshot),
        words(
            "memory-conversation",
            count=snapshot.conversation_count,
            searchable=words("memory-unsearchable") if searchable is None else str(searchable),
        ),
        words(
            "memory-beside",
            summaries=words("count-summaries", count=kept.summaries),
            ledger=words("count-ledger-turns", count=kept.ledger_turns),
            artifacts=words("count-artifacts", count=kept.artifacts),
        ),
    ]
    if kept.heard:
        lines.append(words("memory-heard", heard=words("count-heard", count=kept.heard)))
    if snapshot.active_agent:
        lines.append(words("memory-agent", agent=snapshot.active_agent))
    lines.append(words("memory-erasing"))
    if snapshot.summary is not None:
        lines += ["", words("memory-summary"), "", render_summary(snapshot.summary.text)]
    return "\n".join(lines)


def _kept_since(words: Words, snapshot: HistorySnapshot) -> str:
    messages = words("count-messages", count=snapshot.count)
    if snapshot.created_at is None:  # only talk that was not for us
        return words("memory-kept", messages=messages)
    begun = datetime.fromtimestamp(snapshot.created_at, UTC)
    return words("memory-kept-since", messages=messages, since=f"{begun:%Y-%m-%d %H:%M}")


def receipt_text(words: Words, receipt: ErasureReceipt, *, of: str, chat_id: int = 0) -> str:
    """The receipt of a reset, with what reading back found. `of`: "chat", "topic", "all", or "other" with its id."""
    done = words("reset-other", chat=str(chat_id)) if of == "other" else words(f"reset-{of}")
    return "\n".join(
        [
            done,
            "",
            _erased(words, receipt),
            _left(words, receipt),
            _proof(words, receipt, doubt="reset-doubt"),
        ]
    )


def forgotten_text(words: Words, receipt: ErasureReceipt, *, key: str, is_resumed: bool) -> str:
    """The receipt of a /forget, which begins with the sentence of this key. `is_resumed`: an interrupted try may have erased more than this one counts."""
    lines = [words(key), "", _erased(words, receipt)]
    if is_resumed:
        lines.append(words("forget-interrupted"))
    return "\n".join([*lines, _left(words, receipt), _proof(words, receipt, doubt="forget-doubt")])


def _erased(words: Words, receipt: ErasureReceipt) -> str:
    """Messages and search entries, and of the rest what there was."""
    beside = (
        ("count-summaries", receipt.summaries_erased),
        ("count-ledger-turns", receipt.ledger_turns_erased),
        ("count-artifacts", receipt.artifacts_erased),
        ("count-heard", receipt.heard_erased),
        ("count-quotes", receipt.quotes_erased),
        ("count-updates", receipt.updates_forgotten),
    )
    always = (("count-messages", receipt.messages_erased), ("count-vectors", receipt.vectors_erased))
    counted = [*always, *((key, count) for key, count in beside if count)]
    things = [words(key, count=count) for key, count in counted]
    return words("receipt-erased", things=words("list-separator").join(things))


def _left(words: Words, receipt: ErasureReceipt) -> str:
    vectors = receipt.vectors_left
    return words(
        "receipt-left",
        messages=receipt.messages_left,
        vectors=words("unknown-now") if vectors is None else str(vectors),
        others=receipt.others_left,
    )


def _proof(words: Words, receipt: ErasureReceipt, *, doubt: str) -> str:
    if receipt.is_proven:
        return words("receipt-proven")
    return words("receipt-index-away" if receipt.vectors_left is None else doubt)
