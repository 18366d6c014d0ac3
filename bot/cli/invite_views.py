"""What `mnemogram invite` does and prints."""

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.app.build import build_access
from bot.app.simulation import simulated_username
from bot.app.stores import store_config
from bot.cli.bot_api import bot_api_url, simulates
from bot.cli.failures import CommandFailed
from bot.cli.output import count, iso, print_json, print_line, print_table, utc
from bot.errors import TelegramFailure, TelegramRefused
from bot.settings import Settings
from bot.transport.people import GUEST_S, Guests
from bot.transport.telegram_api import open_telegram
from memory import keys
from memory.redis.client import open_redis
from memory.stores import redis_place


async def print_invitation(settings: Settings, *, as_json: bool) -> None:
    """Make an invitation and print its link, which is told only now. Raises CommandFailed without the bot's name."""
    username = await _username(settings)
    async with _open_guests(settings) as guests:
        code = await guests.invite()
    url = f"https://t.me/{username}?start={code}"
    expires_at = time.time() + keys.INVITATION_TTL_S
    is_needed = build_access(settings).is_closed
    if as_json:
        print_json({"url": url, "expires_at": iso(expires_at), "is_needed": is_needed})
        return
    sys.stdout.write(url + "\n")  # whole, however narrow the terminal is
    print_line(f"It lets one person in, once, until {utc(expires_at)} UTC. It is not shown again.")
    if simulates(settings):
        print_line("This is the simulator: there, send the bot /start and what follows start= in the link.")
    if not is_needed:
        print_line("Nobody needs it now: the bot answers everybody. INVITED_ONLY=true changes that.")


async def print_guests(settings: Settings, *, as_json: bool) -> None:
    """Print who was let in by an invitation."""
    async with _open_guests(settings) as guests:
        known = await guests.list()
    if as_json:
        print_json([{"user_id": guest.user_id, "since": iso(guest.since)} for guest in known])
    elif not known:
        print_line("Nobody was let in by an invitation.")
    else:
        print_table(
            [("user id", "right"), ("since (UTC)", "left")],
            [(str(guest.user_id), utc(guest.since)) for guest in known],
            wide=[],
        )
        print_line(f"{count(len(known), 'guest')}. `mnemogram invite --revoke USER_ID` lets one in no more.")


async def revoke(settings: Settings, user_id: int, *, as_json: bool) -> None:
    """Let a guest in no more. Raises CommandFailed where this person is none."""
    async with _open_guests(settings) as guests:
        was_guest = await guests.revoke(user_id)
    if not was_guest:
        raise CommandFailed(f"{user_id} is no guest: `mnemogram invite --guests` lists them")
    if as_json:
        print_json({"user_id": user_id, "revoked": True})
        return
    print_line(f"{user_id} is let in no more, within {GUEST_S:.0f} seconds everywhere.")
    if user_id in settings.allowed_user_ids or user_id in build_access(settings).operator_ids:
        print_line("But ALLOWED_USER_IDS or OPERATOR_IDS names them: they may use the bot all the same.")


async def _username(settings: Settings) -> str:
    if simulates(settings):
        return simulated_username()
    try:
        async with open_telegram(
            token=settings.token, api_url=bot_api_url(settings), connections=2
        ) as telegram:
            return (await telegram.get_me()).username
    except TelegramRefused as error:
        raise CommandFailed(f"no invitation was made: {error}") from error
    except TelegramFailure as error:
        raise CommandFailed(
            f"no invitation was made: TELEGRAM_API_URL does not answer, so the bot's name is not known ({error})"
        ) from error


@asynccontextmanager
async def _open_guests(settings: Settings) -> AsyncGenerator[Guests]:
    """On Redis alone: neither the index nor a model has to be there."""
    async with AsyncExitStack() as stack:
        url = await redis_place(store_config(settings), stack)
        redis = await stack.enter_async_context(open_redis(url, max_connections=4))
        yield Guests(redis, clock=time.time)
