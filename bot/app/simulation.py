"""The simulator within the service. It is imported only when it is started."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from bot.addresses import reachable
from bot.app.build import build_access
from bot.errors import PortInUse
from bot.settings import Settings
from memory.embedded.data_dir import make_directory

OFFLINE_NOTICE = "Set OPENAI_API_KEY in .env. A stand-in answers until then."
"""A line of the chat page. A phone shows its first 40 characters until it is pressed."""

log = structlog.get_logger()


@asynccontextmanager
async def open_simulator(
    settings: Settings, *, at: tuple[str, int], page_url: str | None, keeps_chats: bool = False
) -> AsyncGenerator[str]:
    """Run the simulator until the block ends; yield its URL on this machine. Raises PortInUse.

    `at` is where it listens, host and port. `page_url` is the address of the memory page, the bot's main Mini App.
    With `keeps_chats` the chats of the last run are there again, from a folder of DATA_DIR.
    """
    from simulator.api.config import SimulatorConfig
    from simulator.server import PortInUse as SimulatorPortInUse
    from simulator.service import serve

    host, port = at
    config = SimulatorConfig(
        token=settings.token,
        operator_ids=build_access(settings).operator_ids,
        privacy_mode=False,  # so that /catchup and a mention find what people say to each other
        notice=OFFLINE_NOTICE if settings.is_offline else None,
        private_topics=True,
        mini_app_url=page_url,
        folder=_make_folder(settings) if keeps_chats else None,
    )
    try:
        async with serve(config, host=host, port=port) as served:
            yield reachable(served.url)
    except SimulatorPortInUse as error:
        raise PortInUse(f"the simulator: port {port} is in use by another program") from error


def _make_folder(settings: Settings) -> Path | None:
    try:
        return make_directory(settings.data_dir, "simulator")
    except OSError as error:
        log.warning("chats_not_kept", reason=str(error))
        return None


def simulated_username() -> str:
    """Return the username of the simulator's bot."""
    from simulator.api.config import SimulatorConfig

    return SimulatorConfig().bot_username
