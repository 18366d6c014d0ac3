"""`webhook set`, `webhook info`, `webhook delete`."""

import typer

from bot.cli.failures import WRONG_USE, print_error
from bot.cli.options import AsJson
from bot.cli.session import end_with, load_quietly


def set_() -> None:
    """Have Telegram push updates to WEBHOOK_URL; what waits there stays waiting."""
    settings = load_quietly()
    if settings.webhook_url is None:
        print_error("WEBHOOK_URL: is not set; give it the public https address at which we can be reached")
        raise typer.Exit(WRONG_USE)
    from bot.cli.webhook_views import set_webhook

    end_with(settings, set_webhook(settings, settings.webhook_url))


def info(as_json: AsJson = False) -> None:
    """Show the webhook that Telegram has, what waits there and its last error."""
    settings = load_quietly()
    from bot.cli.webhook_views import print_webhook

    end_with(settings, print_webhook(settings, as_json=as_json))


def delete() -> None:
    """Stop Telegram's pushing, so that updates can be polled; what waits there stays waiting."""
    settings = load_quietly()
    from bot.cli.webhook_views import delete_webhook

    end_with(settings, delete_webhook(settings))
