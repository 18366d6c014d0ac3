"""Plans of compressions: when a conversation is compressed, and which messages a summary covers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory.characters import seam_before
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, render_message, sequence_of
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary
from memory.history.transcript import Excerpt, Line, quote, render_line
from memory.zones.clocks import ON_UTC, Clocks

T = TypeVar("T")

RETRY_AFTER_MESSAGES = 50
"""Messages after which summarising is tried again when it had been given up."""

_TRIGGER_MESSAGES = 400
_KEEP_MESSAGES = 4
_KEPT_SHARE = 3
"""Divisor of the trigger for the part that stays verbatim: a compression follows about two thirds of new messages."""
_SUMMARY_SHARE = 6
_SUMMARY_TOKENS = (128, 2_000)
_WINDOW_SHARE_OF_SUMMARY = 10
_REQUEST_TOKENS = 1_000
"""Tokens for the summary model's instructions and the schema of its answer."""
_SUMMARY_COPIES = 4
"""Multiple of a summary's size: the previous one as JSON, and the answer, whose JSON takes about twice its text."""
_PIECE_TOKENS = (64, 32_000)
_MESSAGE_OVERHEAD = 4
_LINE_OVERHEAD = 24
"""Tokens of the time and the speaker of a line."""
_CHARACTERS_OF_A_TOKEN = 4
_MOST_CHARACTERS_OF_A_TOKEN = 8
_BYTES_OF_A_TOKEN = 3
_LONGEST_EXCHANGE = 64
"""Messages after which an exchange without a visible end, as in a group that nobody answers, may be split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionLimits:
    """Limits at which a conversation is compressed (`trigger_…`) and of the part that stays verbatim (`keep_…`).

    The summary model reads `piece_tokens` and writes `summary_tokens` at once.
    """

    trigger_tokens: int
    trigger_messages: int
    keep_tokens: int
    keep_messages: int
    piece_tokens: int
    summary_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Lines that are summarised at once. The messages `covers` are complete with it and can be stored as covered.

    `covers` is empty if the piece ends within an exchange that is larger than a piece. `clocks` are for the dates.
    """

    lines: tuple[Line, ...]
    covers: tuple[Message, ...]
    clocks: Clocks = ON_UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionPlan:
    """Pieces in which the oldest messages are summarised, and the messages that stay verbatim."""

    pieces: tuple[Piece, ...]
    kept: tuple[Message, ...]


def limits_for(
    chat_window: int,
    summary_window: int,
    *,
    trigger: float,
    cap_tokens: int,
    trigger_messages: int = _TRIGGER_MESSAGES,
    keep_messages: int = _KEEP_MESSAGES,
) -> CompressionLimits:
    """Return the limits for models with these windows.

    A compression is triggered at the share `trigger` of the chat model's window, or at `cap_tokens` if that is less
    (0: no cap). A small window of the summary model makes pieces and summary small.
    """
    share = max(1, int(chat_window * trigger))
    trigger_tokens = min(share, cap_tokens) if cap_tokens else share
    least, most = _SUMMARY_TOKENS
    wanted = min(trigger_tokens // _SUMMARY_SHARE, summary_window // _WINDOW_SHARE_OF_SUMMARY)
    summary_tokens = max(least, min(most, wanted))
    room = summary_window - _REQUEST_TOKENS - _SUMMARY_COPIES * summary_tokens
    shortest, longest = _PIECE_TOKENS
    return CompressionLimits(
        trigger_tokens=trigger_tokens,
        trigger_messages=trigger_messages,
        keep_tokens=trigger_tokens // _KEPT_SHARE,
        keep_messages=keep_messages,
        piece_tokens=max(shortest, min(longest, room)),
        summary_tokens=summary_tokens,
    )


def is_due(
    snapshot: HistorySnapshot, pending: Sequence[Message], limits: CompressionLimits, *, loaded_limit: int
) -> bool:
    """Return True if the conversation is long enough to be compressed after a turn that adds `pending`.

    `loaded_limit` is the limit of messages in the snapshot: a full one does not show all of them.
    """
    failed_at = snapshot.summary_state.failed_at
    if failed_at is not None and snapshot.next_sequence + len(pending) < failed_at + RETRY_AFTER_MESSAGES:
        return False
    uncovered = [*snapshot.newest, *pending]
    is_full = len(snapshot.newest) >= loaded_limit
    return is_full or has_reached_trigger(uncovered, snapshot.ledger, snapshot.summary, limits)


def has_reached_trigger(
    uncovered: Sequence[Message],
    ledger: Iterable[LedgerTurn],
    summary: Summary | None,
    limits: CompressionLimits,
) -> bool:
    """Return True if the uncovered messages with their ledger and the summary reach a trigger."""
    if len(uncovered) >= limits.trigger_messages:
        return True
    tokens = summary.tokens if summary else 0
    for message in uncovered:
        tokens += message.tokens + _MESSAGE_OVERHEAD
    for turn in ledger:
        tokens += sum(map(_entry_tokens, turn.entries))
    return tokens >= limits.trigger_tokens


def plan_compression(
    messages: Sequence[Message], ledger: Sequence[LedgerTurn], *, limits: CompressionLimits
) -> CompressionPlan | None:
    """Plan which of the uncovered messages (oldest first, in sequence) are summarised, and in which pieces.

    The newest stay: at least `keep_messages`, and more within `keep_tokens` and a third of `trigger_messages`. A user's
    messages stay with their reply. Return None if nothing is old enough.
    """
    exchanges, entries = _exchanges(messages), _entries_by_sequence(ledger)
    covered = exchanges[: _first_kept(exchanges, entries, limits)]
    if not covered:
        return None
    kept = messages[sum(map(len, covered)) :]
    return CompressionPlan(pieces=tuple(_pieces(covered, entries, limits.piece_tokens)), kept=tuple(kept))


def pack(items: Iterable[T], room: int, size_of: Callable[[T], int]) -> list[list[T]]:
    """Return the items in order, in groups of up to `room`; a larger item has a group of its own."""
    groups: list[list[T]] = []
    left = 0
    for item in items:
        size = size_of(item)
        if not groups or size > left:
            groups.append([])
            left = room
        groups[-1].append(item)
        left -= size
    return groups


def split_text(text: str, parts: int) -> list[str]:
    """Split the text into about `parts` parts of similar length; no character is divided, and no part is empty."""
    length = max(1, -(-len(text) // parts))
    found: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + length, len(text))
        end = max(seam_before(text, end), start + 1) if end < len(text) else end
        found.append(text[start:end])
        start = end
    return found


def line_tokens(line: Line) -> int:
    """Estimate the tokens of a line of a transcript: exact counts of whole conversations would cost too much."""
    if not isinstance(line, Excerpt):
        return _LINE_OVERHEAD + len(render_line(line).encode()) // _BYTES_OF_A_TOKEN
    message, length = line.message, len(line.text)
    share = -(-message.tokens * length // max(1, len(render_message(message))))
    escapes = len(quote(line.text)) - len(line.text)
    return _LINE_OVERHEAD + max(share, length // _MOST_CHARACTERS_OF_A_TOKEN) + escapes


def _exchanges(messages: Sequence[Message]) -> list[list[Message]]:
    """Return the messages in groups that stay together: from a user's messages to the end of the reply."""
    found: list[list[Message]] = []
    before: Message | None = None
    for message in messages:
        if before is None or _begins_exchange(before, message, len(found[-1])):
            found.append([])
        found[-1].append(message)
        before = message
    return found


def _begins_exchange(before: Message, message: Message, length: int) -> bool:
    if message.role == "user" and before.role != "user":
        return True
    return length >= _LONGEST_EXCHANGE and message.role == before.role


def _first_kept(
    exchanges: Sequence[Sequence[Message]],
    entries: Mapping[int, Sequence[LedgerEntry]],
    limits: CompressionLimits,
) -> int:
    """Return the index of the first exchange that stays verbatim."""
    kept, tokens = 0, 0
    for at in range(len(exchanges) - 1, -1, -1):
        exchange = exchanges[at]
        tokens += sum(_exchange_tokens(exchange, entries))
        is_more = (
            tokens > limits.keep_tokens or (kept + len(exchange)) * _KEPT_SHARE > limits.trigger_messages
        )
        if kept >= limits.keep_messages and is_more:
            return at + 1
        kept += len(exchange)
    return 0


def _exchange_tokens(
    exchange: Sequence[Message], entries: Mapping[int, Sequence[LedgerEntry]]
) -> Iterator[int]:
    for message in exchange:
        yield message.tokens + _MESSAGE_OVERHEAD
        yield from map(_entry_tokens, entries.get(sequence_of(message), ()))


def _pieces(
    exchanges: Iterable[Sequence[Message]], entries: Mapping[int, Sequence[LedgerEntry]], room: int
) -> Iterator[Piece]:
    """Yield pieces that end with an exchange, unless one exchange is larger than a piece."""
    lines: list[Line] = []
    covers: list[Message] = []
    left = room
    for exchange in exchanges:
        added = [line for message in exchange for line in _lines_of(message, entries, room)]
        size = sum(map(line_tokens, added))
        if size > left and covers:
            yield Piece(lines=tuple(lines), covers=tuple(covers))
            lines, covers, left = [], [], room
        if size > room:
            *parts, added = pack(added, room, line_tokens)
            yield from (Piece(lines=tuple(part), covers=()) for part in parts)
            size = sum(map(line_tokens, added))
        lines += added
        covers += exchange
        left -= size
    yield Piece(lines=tuple(lines), covers=tuple(covers))


def _lines_of(message: Message, entries: Mapping[int, Sequence[LedgerEntry]], room: int) -> list[Line]:
    """Return the calls of the message, then the message, in parts if it is larger than a piece; [] if it is refused."""
    if message.is_refused:  # its calls may repeat it
        return []
    called: list[Line] = list(entries.get(sequence_of(message), ()))
    text = render_message(message)
    if not text.strip():
        return called
    whole = Excerpt(message=message, text=text)
    size = line_tokens(whole)
    if size <= room:
        return [*called, whole]
    parts = split_text(text, -(-size // _room_of_a_part(room)))
    excerpts = (
        Excerpt(message=message, text=piece, part=number, parts=len(parts))
        for number, piece in enumerate(parts, 1)
    )
    return [*called, *excerpts]


def _room_of_a_part(room: int) -> int:
    return max(1, (room - _LINE_OVERHEAD) * 4 // 5)  # parts of equal length differ in tokens


def _entries_by_sequence(ledger: Iterable[LedgerTurn]) -> dict[int, tuple[LedgerEntry, ...]]:
    """Return each turn's entries by the sequence of its last message, the reply."""
    return {turn.last_sequence: turn.entries for turn in ledger}


def _entry_tokens(entry: LedgerEntry) -> int:
    return _LINE_OVERHEAD + (len(entry.input) + len(entry.output)) // _CHARACTERS_OF_A_TOKEN
