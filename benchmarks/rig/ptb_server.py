"""python-telegram-bot's own webhook server with a handler that does nothing; its own process, run by ingest.py.

`python benchmarks/rig/ptb_server.py API_URL TOKEN PORT PATH SECRET`.
"""

import sys

from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters


async def do_nothing(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    """Handle an update in no time: only the webhook is measured."""


def main() -> None:
    """Serve until SIGTERM, as the documentation of `run_webhook` shows it."""
    api_url, token, port, path, secret = sys.argv[1:]
    application = Application.builder().token(token).base_url(f"{api_url}/bot").build()
    application.add_handler(MessageHandler(filters.ALL, do_nothing))
    application.run_webhook(
        listen="127.0.0.1",
        port=int(port),
        url_path=path,
        secret_token=secret,
        webhook_url=f"http://127.0.0.1:{port}{path}",
    )


if __name__ == "__main__":
    main()
