"""Wrong settings that are found in a moment, before the heavy parts of a service are imported."""

import errno
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import SettingsInvalid

if TYPE_CHECKING:
    from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a command is going to listen; `setting` names the port."""

    setting: str
    host: str
    port: int


def find_early_problems(settings: "Settings", *listening: Listening) -> list[str]:
    """One line for each problem with AGENTS_FILE, DATA_DIR and the ports."""
    problems = [*_agent_problems(settings), *_data_dir_problems(settings)]
    return problems + [line for line in map(find_port_problem, listening) if line is not None]


def find_port_problem(listening: Listening) -> str | None:
    """Why we could not listen there now; None when we could."""
    host, port = listening.host, listening.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family):
            return None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"{listening.setting}: port {port} on {host} is in use by another program"
        if error.errno == errno.EACCES:
            return f"{listening.setting}: port {port} needs rights that this process does not have"
        # create_server adds the address to what the system said
        return f"HTTP_HOST: cannot listen on {host}: {(error.strerror or str(error)).partition(' (while')[0]}"


def _agent_problems(settings: "Settings") -> list[str]:
    if settings.agents_file is None and settings.model_context_window is None:
        return []  # the built-in agent fits every known model
    from bot.app.agents import find_room_problems, read_agents

    try:
        return find_room_problems(*read_agents(settings))
    except SettingsInvalid as error:
        return error.problems


def _data_dir_problems(settings: "Settings") -> list[str]:
    from memory.embedded.data_dir import prepare_directory
    from memory.embedded.errors import EmbeddedStoreFailure

    embedded = [
        name for name, url in (("valkey", settings.redis_url), ("index", settings.qdrant_url)) if url is None
    ]
    try:
        for name in embedded:
            prepare_directory(settings.data_dir, name)
    except EmbeddedStoreFailure as error:
        return [str(error)]
    return []
