"""What a search of a history leaves out, and what it tells beside a message that it found."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memory.history.message import Message, is_indexed
from memory.history.sessions import SESSION_GAP_S
from memory.recall.recall import RecallHit
from memory.recall.vector_index import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMessage:
    """A message that a search found, and its score: higher is likelier to be what was looked for.

    `before` and `after` are messages beside it in its session, oldest first: for the reader, not found themselves.
    """

    message: Message
    score: float
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()


def leave_out(where: Where, told: Collection[str], newest: Sequence[Message]) -> Where:
    """`where`, without the messages that are `told` (ids) already.

    `newest` are the newest messages of the history, oldest first. As far back as all of them are told the sequence
    alone leaves them out; only those before that are named one by one.
    """
    bound = where.before_sequence
    unnamed = set(told)
    for message in reversed(newest):
        if message.sequence is None or (message.id not in told and is_indexed(message)):
            break
        unnamed.discard(message.id)
        bound = message.sequence if bound is None else min(bound, message.sequence)
    return replace(where, before_sequence=bound, excluded=where.excluded | unnamed)


def with_neighbours(
    hits: Sequence[RecallHit], found: Mapping[str, Sequence[Message]], told: Collection[str], *, k: int
) -> list[RankedMessage]:
    """The first `k` hits that are still there, each with those beside it: no message twice, and none that is `told`.

    `found` has for each hit (its id) the messages around it, oldest first. What stands beside two hits is told
    with the better one.
    """
    present = [hit for hit in hits if _place(hit, found.get(hit.message_id, ())) is not None][:k]
    taken = {*told, *(hit.message_id for hit in present)}
    ranked: list[RankedMessage] = []
    for hit in present:
        around = found[hit.message_id]
        place = _place(hit, around) or 0
        before = _beside(around[place::-1], taken)[::-1]
        after = _beside(around[place:], taken)
        ranked.append(
            RankedMessage(message=around[place], score=hit.score, before=tuple(before), after=tuple(after))
        )
    return ranked


def _place(hit: RecallHit, around: Sequence[Message]) -> int | None:
    return next((place for place, message in enumerate(around) if message.id == hit.message_id), None)


def _beside(leading_away: Sequence[Message], taken: set[str]) -> list[Message]:
    """Those after the first that are not taken, which they are then; up to where a session would end."""
    beside: list[Message] = []
    last_sent_at = leading_away[0].sent_at
    for message in leading_away[1:]:
        # The store ends a slice with its session, but knows none of histories from before sessions were kept.
        if abs(message.sent_at - last_sent_at) >= SESSION_GAP_S:
            break
        last_sent_at = message.sent_at
        if message.id not in taken and is_indexed(message):
            taken.add(message.id)
            beside.append(message)
    return beside
