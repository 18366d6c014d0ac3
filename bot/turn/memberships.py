"""What follows a change of the bot's own standing in a chat, and a group's becoming a supergroup."""

from dataclasses import asdict, dataclass

import structlog

from bot.errors import ChatMigrated, TelegramFailure
from bot.inbox.records import Claim
from bot.transport.ingest import WaitingUpdate
from bot.transport.words import Words, words_for
from bot.turn.journal import TurnJournal
from bot.turn.resetting import sum_receipts
from bot.turn.services import TurnServices
from bot.turn.turn_store import parse_erased
from memory.forgetting import ErasureReceipt
from memory.history.store import HistorySnapshot

log = structlog.get_logger()

_RESET_STEP = "reset"
"""Written by reset.lua: this context was erased by the update that is being worked on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipCall:
    """A change of our standing, with the context of the chat that it is about."""

    claim: Claim
    update: WaitingUpdate
    snapshot: HistorySnapshot
    journal: TurnJournal


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipReply:
    """What is said in the chat, "" for nothing. `epoch` is the context's, after an erasure."""

    text: str
    epoch: int


async def follow_membership(services: TurnServices, call: MembershipCall) -> MembershipReply:
    """Greet a group that we joined, note who blocked us, forget a group that we left if the settings say so.

    Interrupted, it may be repeated as a whole. Raises Fenced, Forgotten and the store's errors.
    """
    ref, message = call.claim.ref, call.update.message
    reply = MembershipReply(text="", epoch=call.snapshot.epoch)
    match call.update.admission.reason:
        case "joined":
            return MembershipReply(text=await _greeting(services, call), epoch=reply.epoch)
        case "promoted":
            return MembershipReply(text=await _promotion(services, call), epoch=reply.epoch)
        case "left":
            return await _leave(services, call)
        case "blocked":
            await services.reachability.mark(ref.partition, message.chat_id)
        case _:
            await services.reachability.clear(ref.partition, message.chat_id)
    return reply


async def follow_migration(services: TurnServices, call: MembershipCall) -> bool:
    """The group has another id, its memory stays. Whether this was the first that was told of it.

    Nothing is said in the chat. Raises Forgotten and the store's errors.
    """
    message = call.update.message
    new_chat_id = message.migrate_to_chat_id or message.chat_id
    is_first = await services.migrations.forget_telegram_ids(
        call.claim.ref, epoch=call.snapshot.epoch, new_chat_id=new_chat_id
    )
    if is_first:
        log.info("group_migrated", anchor=call.update.anchor_id, to=new_chat_id)
    return is_first


async def _greeting(services: TurnServices, call: MembershipCall) -> str:
    """What we can see here and how to change that, what is kept, how to address us."""
    words = words_for(call.update.message.language_code)
    told = [words("group-joined"), *await _sight(services, call, words)]
    told.append(words("group-addressing", bot=f"@{services.bot.username}"))
    return "\n\n".join(told)


async def _promotion(services: TurnServices, call: MembershipCall) -> str:
    """As an administrator we see what we did not see before; otherwise nothing has changed."""
    if await _reads_all(services):
        return ""
    words = words_for(call.update.message.language_code)
    return "\n\n".join([words("group-promoted"), *await _sight(services, call, words)])


async def _sight(services: TurnServices, call: MembershipCall, words: Words) -> list[str]:
    membership = call.update.membership
    is_administrator = membership is not None and membership.new_status == "administrator"
    if not is_administrator and not await _reads_all(services):
        return [words("group-sees-addressed", bot=f"@{services.bot.username}")]
    if services.groups.keeps_talk:
        return [words("group-sees-all"), words("group-keeps-talk", count=services.groups.talk_lines)]
    return [words("group-sees-all"), words("group-keeps-addressed")]


async def _reads_all(services: TurnServices) -> bool:
    """Whether the privacy mode is off, asked anew: it is changed elsewhere, and the bot added again after it."""
    try:
        return (await services.chats.get_me()).can_read_all_group_messages
    except TelegramFailure:
        return services.bot.can_read_all_group_messages


async def _leave(services: TurnServices, call: MembershipCall) -> MembershipReply:
    """The memory is kept until a reset, or erased with all topics where ERASE_ON_LEAVE says so."""
    kept = MembershipReply(text="", epoch=call.snapshot.epoch)
    if not services.groups.erases_on_leave or await _has_moved(services, call.update):
        return kept
    chat_id, own = call.update.message.chat_id, call.claim.ref
    receipts: list[ErasureReceipt] = []
    found = await call.journal.finished(_RESET_STEP)
    if found is None:
        others = [ref for ref in await services.chat_contexts(chat_id) if ref != own]
        receipts = [await services.resetting.reset(ref) for ref in others]
        erased = await services.resetting.reset_own(call.claim, call.update.update_id, others="")
    else:
        erased = parse_erased(found)
    receipt = sum_receipts([*receipts, await services.resetting.finish(own, erased)])
    log.info("erased_on_leave", chat=chat_id, is_proven=receipt.is_proven, **asdict(receipt))
    return MembershipReply(text="", epoch=erased.epoch)


async def _has_moved(services: TurnServices, update: WaitingUpdate) -> bool:
    """Whether the group was not left, but became a supergroup: that is learnt here if it was not known."""
    chat_id = update.message.chat_id
    if chat_id in await services.migrations.present_ids():
        return True
    try:
        await services.chats.is_administrator(chat_id, services.bot.id)
    except ChatMigrated as moved:
        await services.migrations.learn(chat_id, moved.new_chat_id)
        return True
    except TelegramFailure:
        pass  # we are out, as the update says
    return False
