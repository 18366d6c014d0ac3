"""The Typer app: every command of the console under its name."""

from typing import Annotated

import typer

from bot.cli import (
    chat_commands,
    doctor_command,
    file_commands,
    invite_command,
    queue_commands,
    reindex_command,
    service_commands,
    webhook_commands,
)
from bot.cli.options import NEGATIVE_NUMBERS

SERVICE, CHATS, OPERATION = "Run", "Chats", "Operate"


def build_console() -> typer.Typer:
    """The app, wired and not yet run."""
    app = typer.Typer(
        help="Mnemogram: a Telegram bot whose agents remember. Settings come from the environment or .env.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for service in (
        service_commands.run,
        service_commands.serve,
        service_commands.work,
        service_commands.simulate,
    ):
        app.command(rich_help_panel=SERVICE)(service)
    app.command(rich_help_panel=CHATS)(chat_commands.chats)
    for command in (chat_commands.history, chat_commands.search, chat_commands.reset):
        app.command(rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(command)
    app.command(rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(file_commands.export)
    app.command("import", rich_help_panel=CHATS, context_settings=NEGATIVE_NUMBERS)(file_commands.import_)
    app.command(rich_help_panel=OPERATION)(doctor_command.doctor)
    app.command(rich_help_panel=OPERATION)(invite_command.invite)
    app.command(rich_help_panel=OPERATION)(reindex_command.reindex)
    app.add_typer(_queue(), name="queue", rich_help_panel=OPERATION)
    app.command(rich_help_panel=OPERATION, context_settings=NEGATIVE_NUMBERS)(queue_commands.trace)
    app.add_typer(_webhook(), name="webhook", rich_help_panel=OPERATION)
    return app


def _queue() -> typer.Typer:
    queue = typer.Typer(invoke_without_command=True)
    queue.callback()(queue_commands.queue)
    queue.command(context_settings=NEGATIVE_NUMBERS)(queue_commands.retry)
    queue.command(context_settings=NEGATIVE_NUMBERS)(queue_commands.drop)
    return queue


def _webhook() -> typer.Typer:
    webhook = typer.Typer(help="The webhook as Telegram knows it.", no_args_is_help=True)
    webhook.command("set")(webhook_commands.set_)
    webhook.command()(webhook_commands.info)
    webhook.command()(webhook_commands.delete)
    return webhook


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"mnemogram {version('mnemogram')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Mnemogram."""
