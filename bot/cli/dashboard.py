"""`dashboard`: prints a link that opens the operators' page once."""

import sys
import time
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed
from bot.cli.output import print_json, print_line
from bot.cli.session import AsJson, finish, load_quietly, open_redis_alone
from bot.times import iso

if TYPE_CHECKING:
    from bot.settings import Settings

_TIMEOUT_S = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 — these are replaced


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
