"""`reindex`: brings every message into the space of the embedding model that is set."""

from typing import Annotated

import typer

from bot.cli.options import AsJson
from bot.cli.session import end_with, load_quietly


def reindex(
    force: Annotated[
        bool,
        typer.Option("--force", help="Write every message anew, even if nothing was changed: for lost data."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring every message into the space of the present embedding model, and show how far it is.

    Workers do this by themselves after a change; this works beside them, or without any. Searches use the former
    space until the new one is whole. Stopped or killed, it goes on where it was.
    """
    settings = load_quietly()
    from bot.cli.reindexing import reindex_now

    end_with(settings, reindex_now(settings, is_forced=force, as_json=as_json))
