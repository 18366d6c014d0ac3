"""`queue`, `queue retry`, `queue drop`, `trace`: what waits, what died, what became of an update."""

from typing import Annotated

import typer

from bot.cli.options import AsJson
from bot.cli.session import end_with, load_quietly

DeadLetters = Annotated[
    list[int] | None, typer.Argument(metavar="UPDATE_ID...", help="The numbers that `mnemogram queue` shows.")
]
Every = Annotated[bool, typer.Option("--all", help="Every dead letter that there is.")]


def queue(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what waits, for how long and in which chats, and the dead letters."""
    if context.invoked_subcommand is not None:
        return
    settings = load_quietly()
    from bot.cli.queue_views import print_queue

    end_with(settings, print_queue(settings, as_json=as_json))


def retry(update_ids: DeadLetters = None, every: Every = False) -> None:
    """Let dead letters be tried again: each comes next in its chat."""
    wanted = _wanted(update_ids, every)
    settings = load_quietly()
    from bot.cli.queue_views import settle_dead_letters

    end_with(settings, settle_dead_letters(settings, wanted, verb="retry"))


def drop(update_ids: DeadLetters = None, every: Every = False) -> None:
    """Give dead letters up for good."""
    wanted = _wanted(update_ids, every)
    settings = load_quietly()
    from bot.cli.queue_views import settle_dead_letters

    end_with(settings, settle_dead_letters(settings, wanted, verb="drop"))


def trace(
    update_ids: Annotated[
        list[int], typer.Argument(metavar="UPDATE_ID...", help="The numbers that Telegram gave the updates.")
    ],
    as_json: AsJson = False,
) -> None:
    """Tell what became of an update, step by step, or of several in a table; never what they say."""
    settings = load_quietly()
    from bot.cli.trace_views import print_traces

    end_with(settings, print_traces(settings, update_ids, as_json=as_json))


def _wanted(update_ids: list[int] | None, every: bool) -> list[int] | None:
    """None for all dead letters that there are."""
    if bool(update_ids) is every:
        raise typer.BadParameter("give the numbers of dead letters, or --all")
    return update_ids or None
