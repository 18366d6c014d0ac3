"""The Typer app with every command of the console."""

from itertools import groupby
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bot.cli import (
    backup,
    chats,
    doctor,
    forget_person,
    history,
    init,
    links,
    queue,
    reindex,
    reset,
    service,
    trace,
    transfer,
    webhook,
)
from bot.cli.session import NEGATIVE_NUMBERS

SERVICE, CHATS, OPERATION = "Run", "Chats", "Operate"
_PLAIN = None
"""The `rich_markup_mode` of help without Rich, which takes 0.1 s to import."""


def build_console() -> typer.Typer:
    """Build the app without running it."""
    app = typer.Typer(
        cls=_InPanels,
        help="Mnemogram: a Telegram bot with a memory. Settings come from the environment or .env.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=_PLAIN,
    )
    app.callback()(_options)
    for command in (service.run, service.serve, service.work, service.simulate):
        app.command(rich_help_panel=SERVICE)(command)
    app.command(rich_help_panel=CHATS)(chats.chats)
    for command in (
        history.history,
        history.search,
        history.facts,
        history.mcp,
        reset.reset,
        transfer.export,
    ):
        app.command(rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(command)
    app.command("import", rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(transfer.import_)
    app.command("forget-person", rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(
        forget_person.forget_person
    )
    for command in (init.init, doctor.doctor, links.dashboard, links.invite, reindex.reindex):
        app.command(rich_help_panel=OPERATION)(command)
    for command in (backup.backup, backup.restore, forget_person.verify):
        app.command(rich_help_panel=OPERATION)(command)
    app.add_typer(_queue(), name="queue", rich_help_panel=OPERATION)
    app.command(rich_help_panel=OPERATION, context_settings=NEGATIVE_NUMBERS)(trace.trace)
    app.add_typer(_webhook(), name="webhook", rich_help_panel=OPERATION)
    return app


class _InPanels(TyperGroup):
    """The list of commands in plain text, under the names of their panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # typer does not export their types
        """Write the first paragraph of each command's help."""
        for panel, commands in groupby(self.commands.items(), key=lambda each: _panel_of(each[1])):
            with formatter.section(panel):
                formatter.write_dl(
                    [(name, (each.help or "").partition("\n\n")[0]) for name, each in commands]
                )


def _panel_of(command: object) -> str:
    return (isinstance(command, TyperCommand | TyperGroup) and command.rich_help_panel) or "Commands"


def _queue() -> typer.Typer:
    app = typer.Typer(invoke_without_command=True, rich_markup_mode=_PLAIN)
    app.callback()(queue.queue)
    for command in (queue.retry, queue.drop):
        app.command(context_settings=NEGATIVE_NUMBERS)(command)
    return app


def _webhook() -> typer.Typer:
    app = typer.Typer(
        help="Show, set or delete the bot's webhook at Telegram.",
        no_args_is_help=True,
        rich_markup_mode=_PLAIN,
    )
    app.command("set")(webhook.set_)
    for command in (webhook.info, webhook.delete):
        app.command()(command)
    return app


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"mnemogram {version('mnemogram')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Mnemogram."""
