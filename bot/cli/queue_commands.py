"""`queue`, `queue retry`, `queue drop`, `trace`: what waits, what died, what became of an update."""

import typer

from bot.cli.options import AsJson, UpdateId
from bot.cli.session import end_with, load_quietly


def queue(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what waits, for how long and in which chats, and the dead letters."""
    if context.invoked_subcommand is not None:
        return
    settings = load_quietly()
    from bot.cli.queue_views import print_queue

    end_with(settings, print_queue(settings, as_json=as_json))


def retry(update_id: UpdateId) -> None:
    """Let a dead letter be tried again: it comes next in its chat."""
    settings = load_quietly()
    from bot.cli.queue_views import settle_dead_letter

    end_with(settings, settle_dead_letter(settings, update_id, verb="retry"))


def drop(update_id: UpdateId) -> None:
    """Give a dead letter up for good."""
    settings = load_quietly()
    from bot.cli.queue_views import settle_dead_letter

    end_with(settings, settle_dead_letter(settings, update_id, verb="drop"))


def trace(update_id: UpdateId, as_json: AsJson = False) -> None:
    """Tell what became of one update; never what it says."""
    settings = load_quietly()
    from bot.cli.trace_views import print_trace

    end_with(settings, print_trace(settings, update_id, as_json=as_json))
