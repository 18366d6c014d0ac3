"""Which Bot API server the console talks to."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings

SIMULATOR_HOST = "127.0.0.1"


def has_own_bot_api(settings: "Settings") -> bool:
    """Whether TELEGRAM_API_URL names another Bot API server than Telegram's."""
    return settings.telegram_api_url != type(settings).model_fields["telegram_api_url"].default


def simulates(settings: "Settings") -> bool:
    """Whether `run` with these settings brings up the simulator."""
    return settings.is_simulated and not has_own_bot_api(settings)


def bot_api_url(settings: "Settings") -> str:
    """The Bot API server: the simulator of a running `mnemogram run` where that is what it serves."""
    if simulates(settings):
        return f"http://{SIMULATOR_HOST}:{settings.simulator_port}"
    return settings.telegram_api_url
