"""Puts what a turn answers into its history: the messages as they were read, or as they are told again."""

from collections.abc import Sequence
from dataclasses import replace

from bot.agent.context import AgentContext
from bot.transport.gating import strip_mention
from bot.transport.ingest import WaitingUpdate
from bot.transport.quotations import quote_of
from bot.turn.batch import plan_continuations
from bot.turn.question import Question
from bot.turn.reading import ReadMessage
from bot.turn.reanswering import LastTurn, retell, without_outdated_quotes
from bot.turn.services import TurnServices
from memory.history.message import Message, Sender, told_text


async def append_questions(
    services: TurnServices, question: Question, context: AgentContext, reads: Sequence[ReadMessage]
) -> None:
    """Append the batch's messages, of a turn that is answered again all of that one's, with the pictures that came."""
    edited = [_message(services, question, *each) for each in zip(question.batch.updates, reads, strict=True)]
    if question.again is None:
        continuations = plan_continuations(question.batch)
        asked = [replace(each, continues=how) for each, how in zip(edited, continuations, strict=True)]
        asked = without_outdated_quotes(asked, question.history.snapshot.newest)
    else:
        asked = _told_again(services, question, question.again, edited)
    appended = await question.history.append(question.claim.ref, asked, epoch=question.history.epoch)
    context.user_messages = tuple(appended)
    pictures = {
        update.message.message_id: read.images
        for update, read in zip(question.batch.updates, reads, strict=True)
        if read.images
    }
    context.images = {
        each.id: pictures[each.telegram_message_id]
        for each in appended
        if each.telegram_message_id is not None and each.telegram_message_id in pictures
    }


async def append_unread(services: TurnServices, question: Question, context: AgentContext) -> None:
    """Append the messages without what came with them, where a turn ended before that was read."""
    if not context.user_messages:
        reads = [
            ReadMessage(text=strip_mention(update.message, bot=services.bot), note=update.message.note)
            for update in question.batch.updates
        ]
        await append_questions(services, question, context, reads)


def _message(services: TurnServices, question: Question, update: WaitingUpdate, read: ReadMessage) -> Message:
    message = update.message
    sender_id = 0 if message.sender_id is None else message.sender_id
    now = Message(
        id=question.id_of(update.update_id),
        role="user",
        text=read.text,
        sent_at=float(message.date),
        tokens=0,
        sender=Sender(id=sender_id, name=message.sender_name),
        telegram_message_id=message.message_id,
        edited_at=None if message.edit_date is None else float(message.edit_date),
        note=read.note,
        forwarded_from=message.forwarded_from,
        quote=quote_of(message, services.bot.id),
    )
    return replace(now, tokens=services.tokenizer.count(told_text(now)))


def _told_again(
    services: TurnServices, question: Question, turn: LastTurn, edited: Sequence[Message]
) -> list[Message]:
    """The turn's messages under new ids: the old ones are deleted by the commit, with all that tells of them.

    What they answer to an edit does not change; a quotation that was forgotten since does not come back by it.
    """
    now = {
        each.telegram_message_id: replace(
            each, sent_at=before.sent_at, continues=before.continues, quote=before.quote
        )
        for each in edited
        if each.telegram_message_id is not None
        and (before := turn.find(each.telegram_message_id)) is not None
    }
    return [
        replace(each, id=question.id_of(question.newest_update, number), sequence=None)
        for number, each in enumerate(retell(turn, now))
    ]
