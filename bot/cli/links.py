"""`invite` and `dashboard`: links that work once, for guests of the bot and to the operators' page."""

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import WRONG_USE, CommandFailed, print_error
from bot.cli.output import count, print_json, print_line, print_table, utc
from bot.cli.session import AsJson, finish, load_quietly, open_redis_alone
from bot.cli.webhook import open_bot_api, simulates
from bot.errors import TelegramFailure, TelegramRefused
from bot.times import iso

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.transport.people import Guests

_TIMEOUT_S = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 — these are replaced


def invite(
    guests: Annotated[bool, typer.Option("--guests", help="List the people who used an invitation.")] = False,
    revoke: Annotated[
        int | None,
        typer.Option("--revoke", metavar="USER_ID", help="End this guest's access; their memory stays."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a link with which one person gets access to the bot. It works once."""
    settings = load_quietly()
    if guests and revoke is not None:
        print_error("--guests and --revoke cannot be combined")
        raise typer.Exit(WRONG_USE)
    if guests:
        finish(settings, _print_guests(settings, as_json=as_json))
    elif revoke is not None:
        finish(settings, _revoke(settings, revoke, as_json=as_json))
    else:
        finish(settings, _print_invitation(settings, as_json=as_json))


async def _print_invitation(settings: "Settings", *, as_json: bool) -> None:
    """Make an invitation and print its link, which is shown only now. Raises CommandFailed without the bot's name."""
    from bot.app.build import build_access
    from memory.keys import INVITATION_TTL_S

    username = await _load_username(settings)
    async with _open_guests(settings) as guests:
        code = await guests.invite()
    url = f"https://t.me/{username}?start={code}"
    expires_at = time.time() + INVITATION_TTL_S
    is_needed = build_access(settings).is_closed
    if as_json:
        print_json({"url": url, "expires_at": iso(expires_at), "is_needed": is_needed})
        return
    sys.stdout.write(url + "\n")  # on one line, however narrow the terminal is
    print_line(f"It works for one person, once, until {utc(expires_at)} UTC. It is not shown again.")
    if simulates(settings):
        print_line("In the simulator, send the bot /start and the code after start= in the link.")
    if not is_needed:
        print_line("Nobody needs it now: the bot answers everybody. INVITED_ONLY=true changes that.")


async def _print_guests(settings: "Settings", *, as_json: bool) -> None:
    async with _open_guests(settings) as guests:
        present = await guests.list()
    if as_json:
        print_json([{"user_id": guest.user_id, "since": iso(guest.since)} for guest in present])
    elif not present:
        print_line("Nobody has used an invitation.")
    else:
        print_table(
            [">user id", "since (UTC)"], [(str(guest.user_id), utc(guest.since)) for guest in present]
        )
        print_line(
            f"{count(len(present), 'guest')}. `mnemogram invite --revoke USER_ID` ends the access of one."
        )


async def _revoke(settings: "Settings", user_id: int, *, as_json: bool) -> None:
    """End a guest's access. Raises CommandFailed if this person is not a guest."""
    from bot.app.build import build_access
    from bot.transport.people import GUEST_S

    async with _open_guests(settings) as guests:
        was_guest = await guests.revoke(user_id)
    if not was_guest:
        raise CommandFailed(f"{user_id} is not a guest; `mnemogram invite --guests` lists them")
    if as_json:
        print_json({"user_id": user_id, "revoked": True})
        return
    print_line(f"The access of {user_id} ends within {GUEST_S:.0f} seconds.")
    access = build_access(settings)
    if user_id in access.allowed_user_ids | access.operator_ids:
        print_line("But ALLOWED_USER_IDS or OPERATOR_IDS names this person, who can still use the bot.")


async def _load_username(settings: "Settings") -> str:
    if simulates(settings):
        from bot.app.simulation import simulated_username

        return simulated_username()
    try:
        async with open_bot_api(settings) as telegram:
            return (await telegram.get_me()).username
    except TelegramRefused as error:
        raise CommandFailed(f"no invitation was made: {error}") from error
    except TelegramFailure as error:
        raise CommandFailed(
            f"no invitation was made: the bot's name is unknown, because TELEGRAM_API_URL does not answer ({error})"
        ) from error


@asynccontextmanager
async def _open_guests(settings: "Settings") -> "AsyncGenerator[Guests]":
    """Open the guests in Redis."""
    from bot.transport.people import Guests

    async with open_redis_alone(settings) as redis:
        yield Guests(redis, clock=time.time)


def dashboard(as_json: AsJson = False) -> None:
    """Print a link that opens the operators' page on this machine, once, within a minute."""
    settings = load_quietly()
    finish(settings, _print_link(settings, as_json=as_json))


async def _print_link(settings: "Settings", *, as_json: bool) -> None:
    """Make a link. Raises CommandFailed if nothing serves the page, and the store's errors."""
    from bot.page.visitors import Dashboard
    from memory import keys

    page = page_on_this_machine(settings)
    await _check_served(page)
    async with open_redis_alone(settings) as redis:
        token = await Dashboard(redis, clock=time.time).make_link()
    url = f"{page}#dashboard={token}"
    if as_json:
        print_json({"url": url, "expires_at": iso(time.time() + keys.DASHBOARD_TTL_S)})
        return
    sys.stdout.write(url + "\n")  # on one line, however narrow the terminal is
    print_line(f"Open it in a browser within {keys.DASHBOARD_TTL_S} seconds. It works once.")


def page_on_this_machine(settings: "Settings") -> str:
    """Return the address of the page at HTTP_HOST and HTTP_PORT, by loopback if that is possible.

    Raises CommandFailed for a port that only the running process knows.
    """
    from bot.settings import PAGE_PATH

    if not settings.http_port:
        raise CommandFailed("HTTP_PORT: is 0 (any free port). Set a number, so that a link can lead there")
    host = _EVERYWHERE.get(settings.http_host, settings.http_host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.http_port}{PAGE_PATH}"


async def _check_served(page: str) -> None:
    import httpx

    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            is_served = (await client.get(page)).is_success
    except httpx.HTTPError:
        raise CommandFailed(
            f"HTTP_PORT: nothing answers at {page}. Start `mnemogram run` or `serve` here first"
        ) from None
    if not is_served:
        raise CommandFailed(
            f"HTTP_PORT: the program at {page} has no page. `mnemogram run` and `serve` have it"
        )
