"""What `mnemogram history` and `mnemogram search` print of a chat."""

import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from uuid import uuid4

from bot.app.stores import Stores, open_stores
from bot.cli.failures import CommandFailed
from bot.cli.known_chats import KnownChat, find_known
from bot.cli.options import ChatName
from bot.cli.output import count, iso, print_json, print_line, print_table, utc
from bot.settings import Settings
from memory.chat_history import ChatHistory
from memory.history.message import Message, told_text
from memory.history.store import HistorySnapshot, newest_first
from memory.recall.history_search import ASSISTANT_NAMES, RankedMessage, find_people, on_days
from memory.recall.vector_index import Where
from memory.tokens import tokenizer_for

_NAMES_AT_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What `mnemogram search` looks for: at most `k` messages, of this person and of these days (UTC, inclusive)."""

    text: str
    k: int
    speaker: str | None = None
    after: date | None = None
    before: date | None = None


async def print_history(
    settings: Settings, name: ChatName, *, limit: int, whole: bool, as_json: bool
) -> None:
    """Print the newest `limit` messages (0: all) of the present conversation, or of the whole history."""
    async with open_stores(settings) as stores:
        chat, snapshot = await find_known(settings, stores, name)
        messages = await _newest(stores, chat, limit=limit, whole=whole)
    if as_json:
        shown = [message_document(message) for message in messages]
        print_json({**_chat_document(chat, snapshot), "whole": whole, "shown": shown})
        return
    print_line(_headline(chat, snapshot), style="bold")
    if messages:
        _print_messages(messages)
    _print_rest(len(messages), snapshot, whole=whole)


async def print_found(settings: Settings, name: ChatName, wanted: Wanted, *, as_json: bool) -> None:
    """Print the messages of a chat that are likeliest to be what is wanted, best first.

    Raises CommandFailed for a speaker of whom nothing is known.
    """
    async with open_stores(settings) as stores:
        chat, snapshot = await find_known(settings, stores, name)
        where = _of_speaker(wanted.speaker, snapshot.people)
        history = ChatHistory(
            ref=chat.ref,
            epoch=snapshot.epoch,
            store=stores.history,
            recall=stores.recall,
            tokenizer=tokenizer_for(settings.openai_model),
            clock=time.time,
            new_id=lambda: str(uuid4()),
        )
        where = on_days(where, after=wanted.after, before=wanted.before)
        found = await history.search(wanted.text, wanted.k, where=where, is_deliberate=True, is_floored=False)
    if as_json:
        hits = [{"score": round(hit.score, 4), **message_document(hit.message)} for hit in found]
        print_json({**_chat_document(chat, snapshot), "text": wanted.text, "found": hits})
    elif not found:
        print_line("Nothing was found. A message can be found a moment after its turn, once it is indexed.")
    else:
        _print_found(found)


def message_document(message: Message) -> dict[str, object]:
    """A message as JSON shows it."""
    sender, quote = message.sender, message.quote
    return {
        "id": message.id,
        "sequence": message.sequence,
        "role": message.role,
        "sender": {"id": sender.id, "name": sender.name} if sender else None,
        "sent_at": iso(message.sent_at),
        "text": message.text,
        "note": message.note,
        "forwarded_from": message.forwarded_from,
        "quote": {"sender": quote.sender_name, "text": quote.text} if quote else None,
        "tokens": message.tokens,
        "telegram_message_id": message.telegram_message_id,
        "is_stopped": message.is_stopped,
        "edited_at": iso(message.edited_at),
    }


def shown_text(message: Message) -> str:
    """The text with all that belongs to it, as the tables show it."""
    marks = [*(["stopped"] if message.is_stopped else []), *(["edited"] if message.edited_at else [])]
    quote = message.quote
    answers_to = f'(in reply to {quote.sender_name or "assistant"}: "{quote.text}")\n' if quote else ""
    told = answers_to + told_text(message)
    return f"{told} ({', '.join(marks)})" if marks else told


def _of_speaker(speaker: str | None, people: Mapping[int, str]) -> Where:
    if speaker is None:
        return Where()
    named = find_people(speaker, people)
    if named:
        return Where(sender_ids=named)
    if speaker.strip().casefold() in ASSISTANT_NAMES:
        return Where(roles=frozenset(["assistant"]))
    names = sorted(set(people.values()), key=str.casefold)
    more = f" and {len(names) - _NAMES_AT_MOST:,} more" if len(names) > _NAMES_AT_MOST else ""
    known = f"Known are {', '.join(names[:_NAMES_AT_MOST])}{more}." if names else "No names are known here."
    raise CommandFailed(f"Nobody called {speaker!r} has written in this chat. {known}")


async def _newest(stores: Stores, chat: KnownChat, *, limit: int, whole: bool) -> list[Message]:
    messages: list[Message] = []
    async with aclosing(newest_first(stores.history, chat.ref, whole=whole)) as newest:
        async for message in newest:
            messages.append(message)
            if len(messages) == limit:
                break
    return messages[::-1]


def _chat_document(chat: KnownChat, snapshot: HistorySnapshot) -> dict[str, object]:
    return {
        "chat": str(chat.name),
        "title": chat.title,
        "messages": snapshot.count,
        "in_conversation": snapshot.conversation_count,
        "heard": len(snapshot.heard),
    }


def _headline(chat: KnownChat, snapshot: HistorySnapshot) -> str:
    name = f"{chat.name} · {chat.title}" if chat.title else str(chat.name)
    heard = len(snapshot.heard)
    return (
        f"{name}: {count(snapshot.count, 'message')} kept, "
        f"{snapshot.conversation_count:,} in the present conversation"
        + (f"; beside it {count(heard, 'heard line')}, which --prompt shows" if heard else "")
    )


def _print_messages(messages: Sequence[Message]) -> None:
    print_table(
        [("time (UTC)", "left"), ("who", "left"), ("text", "left")],
        [(utc(message.sent_at), _who(message), shown_text(message)) for message in messages],
        wide=("text",),
    )


def _print_rest(shown: int, snapshot: HistorySnapshot, *, whole: bool) -> None:
    total = snapshot.count if whole else snapshot.conversation_count
    if shown < total:
        print_line(f"The newest {shown:,} of {total:,}; --limit 0 shows all.")
    if not whole and total < snapshot.count:
        print_line(f"{snapshot.count - total:,} of earlier conversations are not shown; --whole shows them.")


def _print_found(found: Sequence[RankedMessage]) -> None:
    print_table(
        [("score", "right"), ("time (UTC)", "left"), ("who", "left"), ("text", "left")],
        [
            (f"{hit.score:.2f}", utc(hit.message.sent_at), _who(hit.message), shown_text(hit.message))
            for hit in found
        ],
        wide=("text",),
    )


def _who(message: Message) -> str:
    name = message.sender.name if message.sender and message.sender.name else message.role
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


_LONGEST_NAME = 16
