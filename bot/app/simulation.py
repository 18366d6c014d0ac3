"""The simulator within the service. It is imported only when it is started."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.addresses import reachable
from bot.app.build import build_access
from bot.errors import PortInUse
from bot.settings import Settings
from bot.transport.words import words_for


@asynccontextmanager
async def open_simulator(
    settings: Settings, *, at: tuple[str, int], page_url: str | None
) -> AsyncGenerator[str]:
    """Run the simulator until the block ends; yield its URL on this machine. Raises PortInUse.

    `at` is where it listens, host and port. `page_url` is the address of the memory page, the bot's main Mini App.
    """
    from simulator.api.config import SimulatorConfig
    from simulator.service import PortInUse as SimulatorPortInUse
    from simulator.service import serve

    host, port = at
    config = SimulatorConfig(
        token=settings.token,
        operator_ids=build_access(settings).operator_ids,
        notice=words_for("en")("start-offline-operator") if settings.is_offline else None,
        private_topics=True,
        mini_app_url=page_url,
    )
    try:
        async with serve(config, host=host, port=port) as served:
            yield reachable(served.url)
    except SimulatorPortInUse as error:
        raise PortInUse(f"the simulator: port {port} is in use by another program") from error


def simulated_username() -> str:
    """Return the username of the simulator's bot."""
    from simulator.api.config import SimulatorConfig

    return SimulatorConfig().bot_username
