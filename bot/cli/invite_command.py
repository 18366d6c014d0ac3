"""`invite`: lets people in whom the settings keep out, shows who was let in, and takes that back."""

from typing import Annotated

import typer

from bot.cli.failures import WRONG_USE, print_error
from bot.cli.options import AsJson
from bot.cli.session import end_with, load_quietly


def invite(
    guests: Annotated[bool, typer.Option("--guests", help="List who was let in by an invitation.")] = False,
    revoke: Annotated[
        int | None,
        typer.Option("--revoke", metavar="USER_ID", help="Let this person in no more; their memory stays."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a link that lets one person use the bot, once."""
    settings = load_quietly()
    if guests and revoke is not None:
        print_error("--guests and --revoke are two different things: give one of them")
        raise typer.Exit(WRONG_USE)
    from bot.cli import invite_views

    if guests:
        end_with(settings, invite_views.print_guests(settings, as_json=as_json))
    elif revoke is not None:
        end_with(settings, invite_views.revoke(settings, revoke, as_json=as_json))
    else:
        end_with(settings, invite_views.print_invitation(settings, as_json=as_json))
