"""A context as it was before its last turn, for a turn that answers that one's question again (pure)."""

from dataclasses import replace

from memory.history.message import Message
from memory.history.store import HistorySnapshot


def rewind(snapshot: HistorySnapshot, sequence: int) -> HistorySnapshot:
    """The snapshot without the messages from this sequence on, the newest ones, and without their turns of the ledger.

    Who had the chat before a transfer of that turn has it again. `next_sequence` stays: sequences are given once.
    """
    gone = sum(not is_before(message, sequence) for message in snapshot.newest)
    undone = [turn for turn in snapshot.ledger if turn.last_sequence >= sequence]
    handed_over = [each.agent for turn in undone for each in turn.entries if each.kind == "transfer"]
    return replace(
        snapshot,
        count=snapshot.count - gone,
        conversation_count=snapshot.conversation_count - gone,
        newest=tuple(message for message in snapshot.newest if is_before(message, sequence)),
        ledger=tuple(turn for turn in snapshot.ledger if turn.last_sequence < sequence),
        active_agent=handed_over[0] if handed_over else snapshot.active_agent,
    )


def is_before(message: Message, sequence: int | None) -> bool:
    """Whether the message stands before this sequence; None is after all of them."""
    return sequence is None or message.sequence is None or message.sequence < sequence
