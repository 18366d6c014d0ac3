"""`export`, `import`: a chat's memory as a file, and back."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import AsJson, Chat, ChatName, parse_chat
from bot.cli.session import end_with, load_quietly


def export(
    chat: Chat,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Write here, not to the terminal.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write what is kept of a chat as lines of JSON: messages, summaries, records, artifacts, people, talk.

    The file is of one moment and ends with its own checksum. With --file, --json tells what was written.
    """
    if as_json and file is None:
        raise typer.BadParameter(
            "--json tells what was written into --file; without it the lines themselves are JSON"
        )
    settings = load_quietly()
    from bot.cli.exporting import export_chat

    end_with(settings, export_chat(settings, chat, file=file, as_json=as_json))


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What `mnemogram export` wrote.", exists=True, dir_okay=False),
    ],
    *,
    into: Annotated[
        ChatName | None,
        typer.Option(parser=parse_chat, metavar="CHAT", help="Another chat than the file's own."),
    ] = None,
    replaces: Annotated[
        bool, typer.Option("--replace", help="Erase first what is kept of that chat, as `reset` does.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put an exported file into a chat of which nothing is kept: whole, or not at all.

    Into another chat Telegram's message numbers and the overheard talk stay behind. Search entries are made anew by the
    workers.
    """
    settings = load_quietly()
    from bot.cli.importing import Wish, import_chat

    if replaces and sys.stdin.isatty() and not yes:
        chat = "the file's chat" if into is None else f"chat {into}"
        typer.confirm(f"Erase what is kept of {chat} first, for good?", abort=True, err=True)
    wish = Wish(file=file, into=into, replaces=replaces)
    end_with(settings, import_chat(settings, wish, as_json=as_json))
