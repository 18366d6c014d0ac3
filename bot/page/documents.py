"""The JSON documents of the API: contexts, messages and receipts. Texts are raw; the page shows them as text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bot.page.access import PageContext
from bot.page.visitors import Visitor
from bot.transport.texts import UNUSED
from bot.turn.answer_receipt import AnswerReceipt
from memory.erasure import ErasureReceipt, LaterUse
from memory.history.fact import Fact
from memory.history.message import Message, text_origin
from memory.history.store import HistorySnapshot
from memory.recall.excerpts import Reason

Document = Mapping[str, Any]


def context_document(
    context: PageContext, snapshot: HistorySnapshot, *, chat_id: int, visitor: Visitor, lines: Sequence[str]
) -> Document:
    """Return a context. `chat_id` is the chat's present id, `lines` what the features say about it."""
    is_private, rights = context.is_private, context.rights
    return {
        "id": context.ref.context_id,
        "chat_id": chat_id,
        "thread_id": context.thread_id,
        "kind": "private" if is_private else "group",
        "title": context.title or (visitor.name if context.anchor_id == visitor.user_id else ""),
        "messages": snapshot.count,
        "since": snapshot.created_at,
        "lines": lines,
        "may_reset": rights.may_reset,
        "may_forget": "all" if rights.may_forget_all else "own",
        "may_export": rights.may_export,
    }


def message_fields(message: Message) -> dict[str, Any]:
    """Return the fields of a message that the page and the console show alike."""
    sender, quote = message.sender, message.quote
    return {
        "id": message.id,
        "sequence": message.sequence,
        "role": message.role,
        "sender": None if sender is None else {"id": sender.id, "name": sender.name},
        "text": message.text,
        "origin": text_origin(message),
        "note": message.note,
        "forwarded_from": message.forwarded_from,
        "imported_from": message.imported_from,
        "quote": None if quote is None else {"sender": quote.sender_name, "text": quote.shown},
        "is_stopped": message.is_stopped,
        "is_refused": message.is_refused,
    }


def message_document(
    message: Message, *, visitor: Visitor, context: PageContext, has_receipt: bool
) -> Document:
    """Return a message."""
    is_mine = is_written_by(message, visitor)
    return {
        **message_fields(message),
        "is_mine": is_mine,
        "sent_at": message.sent_at,
        "edited_at": message.edited_at,
        "has_receipt": has_receipt,
        "may_forget": is_mine or context.rights.may_forget_all,
    }


def why_document(reasons: Sequence[Reason], words: Sequence[str] = ()) -> Document:
    """Return why a message was found: the reasons, and the words of the question as the message has them."""
    return {"reasons": list(reasons), "words": list(words)}


def receipt_document(
    receipt: AnswerReceipt,
    messages: Mapping[str, Document],
    words: Mapping[str, Sequence[str]],
    facts: Mapping[str, Fact],
    *,
    excerpts: Mapping[str, str],
) -> Document:
    """Return the receipt of an answer.

    `messages` and `facts` have those that still exist, `words` those that each message shares with the question, and
    `excerpts` the parts of long messages that the prompt had, by id.
    """

    def known(ids: Sequence[str]) -> list[Document | None]:
        found = map(facts.get, ids)
        return [fact and {"subject": fact.subject, "statement": fact.statement} for fact in found]

    return {
        "message_id": receipt.message_id,
        "at": receipt.at,
        "agent": receipt.agent,
        "models": list(map(asdict, receipt.models)),
        "cost": None if receipt.micros is None else receipt.micros / 1_000_000,
        "prompt_tokens": receipt.prompt_tokens,
        "room": receipt.room,
        "recalled": [
            {
                "message": messages.get(each.message_id),
                "excerpt": excerpts.get(each.message_id),
                "why": why_document(each.reasons, words.get(each.message_id, ())),
                "left_out": each.left_out,
            }
            for each in receipt.recalled
        ],
        "standing": known(receipt.standing),
        "facts": known(receipt.facts),
        "window": {"messages": receipt.window_messages, "left_out": receipt.window_left_out},
        "summary": bool(receipt.summary_id),
        "tools": list(map(asdict, receipt.tools)),
        "left_out": list(map(asdict, receipt.left_out)),
    }


def is_written_by(message: Message, visitor: Visitor) -> bool:
    """Return True for a message that the visitor has sent."""
    is_person = message.role == "user" and message.sender is not None and visitor.user_id is not None
    return is_person and message.sender is not None and message.sender.id == visitor.user_id


def erasure_document(receipt: ErasureReceipt, text: str, used: LaterUse = UNUSED) -> Document:
    """Return the receipt of an erasure; `text` is the receipt for people, `used` tells what may repeat the messages."""
    return {
        "erased": _counts(receipt.erased.by_name()),
        "vectors_erased": receipt.vectors_erased,
        "left": _counts(receipt.left.by_name()),
        "vectors_left": receipt.vectors_left,
        "is_proven": receipt.is_proven,
        "used": {
            "answers": len(used.answers),
            **_counts({"summaries": used.summaries, "artifacts": used.artifacts}),
        },
        "text": text,
    }


def _counts(counts: Mapping[str, int]) -> Mapping[str, int]:
    return {name: number for name, number in counts.items() if number}
