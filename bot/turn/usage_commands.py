"""What /usage and /stats say."""

from bot.turn.command_call import CommandCall
from bot.turn.limit_texts import usage_text, used_text, wait_text
from bot.turn.limits import UsageToday
from bot.turn.rights import is_operator
from bot.turn.services import TurnServices


async def tell_usage(services: TurnServices, call: CommandCall) -> str:
    """What the person and the chat used today, and the limits. Raises the store's errors."""
    used = await _used_today(services, call)
    return usage_text(
        call.words, services.guard.limits, user=used.user, chat=used.chat, resets_in_s=used.resets_in_s
    )


async def tell_statistics(services: TurnServices, call: CommandCall) -> str:
    """How much there is to do, and what everybody used today; for operators only. Raises the store's errors."""
    if not is_operator(services, call.update.message):
        return call.words("operators-only")
    known, used = await services.statistics(), await _used_today(services, call)
    return "\n".join(
        [
            call.words("stats-contexts", count=known.contexts),
            call.words("stats-queue", count=known.waiting, oldest=wait_text(call.words, known.oldest_s)),
            call.words("usage-title"),
            used_text(call.words, "all", used.everybody, services.guard.limits.prices),
        ]
    )


async def _used_today(services: TurnServices, call: CommandCall) -> UsageToday:
    message = call.update.message
    return await services.guard.used_today(
        user_id=message.sender_id or message.chat_id, chat_id=message.chat_id
    )
