"""The Typer app with every command of the console."""

from typing import Annotated

import typer

from bot.cli import chats, doctor, history, invite, queue, reindex, reset, service, trace, transfer, webhook
from bot.cli.session import NEGATIVE_NUMBERS

SERVICE, CHATS, OPERATION = "Run", "Chats", "Operate"


def build_console() -> typer.Typer:
    """Build the app without running it."""
    app = typer.Typer(
        help="Mnemogram: a Telegram bot with a memory. Settings come from the environment or .env.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for command in (service.run, service.serve, service.work, service.simulate):
        app.command(rich_help_panel=SERVICE)(command)
    app.command(rich_help_panel=CHATS)(chats.chats)
    for command in (history.history, history.search, reset.reset, transfer.export):
        app.command(rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(command)
    app.command("import", rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(transfer.import_)
    for command in (doctor.doctor, invite.invite, reindex.reindex):
        app.command(rich_help_panel=OPERATION)(command)
    app.add_typer(_queue(), name="queue", rich_help_panel=OPERATION)
    app.command(rich_help_panel=OPERATION, context_settings=NEGATIVE_NUMBERS)(trace.trace)
    app.add_typer(_webhook(), name="webhook", rich_help_panel=OPERATION)
    return app


def _queue() -> typer.Typer:
    app = typer.Typer(invoke_without_command=True)
    app.callback()(queue.queue)
    for command in (queue.retry, queue.drop):
        app.command(context_settings=NEGATIVE_NUMBERS)(command)
    return app


def _webhook() -> typer.Typer:
    app = typer.Typer(help="Show, set or delete the bot's webhook at Telegram.", no_args_is_help=True)
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
