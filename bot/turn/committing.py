"""Ends a piece of work: its one commit with the rendered reply in the outbox, then the delivery of that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.inbox.records import Claim
from bot.observe import metrics
from bot.transport.ingest import WaitingUpdate
from bot.transport.words import words_for
from bot.turn.outbox import Destination, Part, dump_part
from bot.turn.replies import ReplyKey, plan_reply
from bot.turn.services import TurnServices
from bot.turn.turn_store import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is said to an update, in Markdown; nothing is sent for an empty text.

    `message_id` is the id in the history of what the text shows. Its parts replace the Telegram messages `edits`, and
    take `deletes` away.
    """

    update: WaitingUpdate
    text: str = ""
    message_id: str = ""
    edits: Sequence[int] = ()
    deletes: Sequence[int] = ()


async def commit_and_deliver(services: TurnServices, claim: Claim, commit: Commit, reply: Reply) -> None:
    """Raises Fenced, Forgotten and the store's errors; what was committed by then is delivered by who comes next."""
    await _commit_and_deliver(services, claim, commit, _plan(services, reply, epoch=commit.epoch))
    metrics.FINISHED.labels(commit.state).inc(len(commit.update_ids))


async def put_back(services: TurnServices, claim: Claim, reply: Reply, *, epoch: int) -> None:
    """Have the first message of an older answer, of `edits`, say again what it said: a preview may have written over it.

    It raises what `commit_and_deliver` does, and ends no update.
    """
    parts = _plan(services, reply, epoch=epoch)[:1]
    await _commit_and_deliver(services, claim, Commit(update_ids=[], epoch=epoch), parts)


async def _commit_and_deliver(
    services: TurnServices, claim: Claim, commit: Commit, parts: Sequence[Part]
) -> None:
    lines = [dump_part(part) for part in parts]
    with metrics.TURN_SECONDS.labels("commit").time():
        await services.store.commit(claim, replace(commit, parts=lines))
    with metrics.TURN_SECONDS.labels("deliver").time():
        await services.delivery.deliver(claim, lines)


def _plan(services: TurnServices, reply: Reply, *, epoch: int) -> list[Part]:
    key = ReplyKey(
        update_id=reply.update.update_id,
        epoch=epoch,
        message_id=reply.message_id,
        edits=tuple(reply.edits),
        deletes=tuple(reply.deletes),
    )
    return plan_reply(
        reply.text,
        destination_of(reply.update),
        key,
        words=words_for(reply.update.message.language_code),
        long_answers=services.limits.long_answers,
    )


def destination_of(update: WaitingUpdate) -> Destination:
    """Where a reply to the update goes; in a group it quotes the message, where there is one."""
    message = update.message
    is_quoting = message.chat_type != "private" and message.message_id != 0
    return Destination(
        chat_id=message.chat_id,
        thread_id=message.thread_id,
        reply_to=message.message_id if is_quoting else None,
    )
