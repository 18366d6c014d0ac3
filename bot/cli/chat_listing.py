"""What `mnemogram chats` prints: every chat with what is kept of it."""

from collections import defaultdict
from dataclasses import dataclass

from bot.app.stores import Stores, open_stores
from bot.cli.known_chats import KnownChat, list_known
from bot.cli.output import count, iso, print_json, print_line, print_table, utc
from bot.settings import Settings
from memory.history.redis_history import load_snapshot, parse_snapshot
from memory.history.store import HistorySnapshot

_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    chat: KnownChat
    snapshot: HistorySnapshot
    last_at: float | None


async def list_chats(settings: Settings, *, as_json: bool) -> None:
    """Print the chats and topics of this bot, the one with the newest message first."""
    async with open_stores(settings) as stores:
        rows = await _rows(stores, await list_known(settings, stores))
    rows.sort(key=lambda row: -(row.last_at or 0))
    if as_json:
        print_json([_document(row) for row in rows])
    elif not rows:
        print_line("No chat yet: one is listed here when something of it is kept.")
    else:
        _print(rows)


async def _rows(stores: Stores, chats: list[KnownChat]) -> list[_Row]:
    """With the counts, many chats in a round trip."""
    by_partition: dict[int, list[KnownChat]] = defaultdict(list)
    for chat in chats:
        by_partition[chat.ref.partition].append(chat)
    rows: list[_Row] = []
    for group in by_partition.values():
        for start in range(0, len(group), _BATCH):
            batch = group[start : start + _BATCH]
            replies = await stores.redis.run_all([load_snapshot(chat.ref, limit=1) for chat in batch])
            rows += [
                await _row(stores, chat, parse_snapshot(reply))
                for chat, reply in zip(batch, replies, strict=True)
            ]
    return rows


async def _row(stores: Stores, chat: KnownChat, snapshot: HistorySnapshot) -> _Row:
    newest = snapshot.newest
    if not newest and snapshot.count:  # just after /new
        newest = await stores.history.page(chat.ref, limit=1, whole=True)
    times = [newest[0].sent_at if newest else 0, *(line.sent_at for line in snapshot.heard)]
    return _Row(chat=chat, snapshot=snapshot, last_at=max(times) or None)


def _document(row: _Row) -> dict[str, object]:
    return {
        "chat": str(row.chat.name),
        "chat_id": row.chat.name.chat_id,
        "thread_id": row.chat.name.thread_id,
        "title": row.chat.title,
        "context": row.chat.ref.context_id,
        "messages": row.snapshot.count,
        "in_conversation": row.snapshot.conversation_count,
        "heard": len(row.snapshot.heard),
        "kept_since": iso(row.snapshot.created_at),
        "last_message_at": iso(row.last_at),
    }


def _print(rows: list[_Row]) -> None:
    print_table(
        [
            ("chat", "right"),
            ("title", "left"),
            ("messages", "right"),
            ("in talk", "right"),
            ("heard", "right"),
            ("last message (UTC)", "left"),
        ],
        [
            (
                str(row.chat.name),
                row.chat.title,
                f"{row.snapshot.count:,}",
                f"{row.snapshot.conversation_count:,}",
                f"{len(row.snapshot.heard):,}",
                utc(row.last_at),
            )
            for row in rows
        ],
        wide=("title",),
    )
    print_line(
        f"{count(len(rows), 'chat or topic', 'chats and topics')}. `mnemogram history CHAT` reads one."
    )
