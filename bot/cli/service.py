"""`run`, `serve`, `work`, `simulate`: the commands that run until they are stopped, and their early checks."""

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bot.cli.failures import WRONG_USE, print_error
from bot.cli.session import finish, load
from bot.cli.webhook import SIMULATOR_HOST, SIMULATOR_PORT, SimulatorHost, SimulatorPort, simulates
from bot.errors import SettingsInvalid

if TYPE_CHECKING:
    from bot.settings import Settings

_FIRST_SAFE_PORT = 1024
_PORTS_OF_PAGES = (80, 443)
"""Browsers refuse most other ports below the first safe one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An address at which a command will listen. `setting` names the port."""

    setting: str
    host: str
    port: int
    # A browser opens it.
    is_page: bool = False


def run(
    simulator_port: SimulatorPort = SIMULATOR_PORT, simulator_host: SimulatorHost = SIMULATOR_HOST
) -> None:
    """Run everything in one process. Without a token, also start the simulator and its chat page."""
    settings = load()
    if not simulates(settings):
        _start(settings, [_http(settings)], serve=True, work=True)
    page = Listener(setting="--simulator-port", host=simulator_host, port=simulator_port, is_page=True)
    _start(
        settings, [_http(settings), page], serve=True, work=True, simulator=(simulator_host, simulator_port)
    )


def serve() -> None:
    """Receive updates at the webhook. Processes that run `work` answer them."""
    settings = load()
    _require_token(settings, "serve")
    _start(settings, [_http(settings)], serve=True, work=False)


def work(
    health_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve /health and /metrics on this port too.")
    ] = None,
) -> None:
    """Answer the updates that `serve` received. Any number of these may run."""
    settings = load()
    _require_token(settings, "work")
    listeners: list[Listener] = []
    if health_port is not None:
        listeners = [Listener(setting="--health-port", host=settings.http_host, port=health_port)]
    _start(settings, listeners, serve=False, work=True, health_port=health_port)


def simulate(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the simulator.")] = SIMULATOR_PORT,
    simulator_host: SimulatorHost = SIMULATOR_HOST,
) -> None:
    """Run only the simulator: a local Bot API with a chat page."""
    settings = load()
    listener = Listener(setting="--port", host=simulator_host, port=port, is_page=True)
    _end_if_wrong([line] if (line := find_port_problem(listener)) else [])
    from bot.app.service import run_simulator

    finish(settings, run_simulator(settings, at=(listener.host, listener.port)))


def find_early_problems(settings: "Settings", *listeners: Listener, work: bool) -> list[str]:
    """Return a line for each problem with AGENTS_FILE, DATA_DIR and the ports.

    This check is fast: it runs before the heavy modules of a service are imported. Only a process with `work` counts
    the tokens of the agents' prompts, because that takes 45 MB.
    """
    problems = [*_agent_problems(settings, work=work), *_data_dir_problems(settings)]
    return problems + [line for line in map(find_port_problem, listeners) if line is not None]


def find_port_problem(listener: Listener) -> str | None:
    """Return the reason why this process cannot listen at this address, or None if it can."""
    import socket  # here, like all that `mnemogram --help` does not need

    host, port = listener.host, listener.port
    if listener.is_page and 0 < port < _FIRST_SAFE_PORT and port not in _PORTS_OF_PAGES:
        return (
            f"{listener.setting}: browsers open no page at port {port}; take one from {_FIRST_SAFE_PORT} on"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family):
            return None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"{listener.setting}: port {port} on {host} is in use by another program"
        if error.errno == errno.EACCES:
            return f"{listener.setting}: port {port} needs rights that this process does not have"
        # create_server appends the address to the system's message.
        setting = "--simulator-host" if listener.is_page else "HTTP_HOST"
        return f"{setting}: cannot listen on {host}: {(error.strerror or str(error)).partition(' (while')[0]}"


def _agent_problems(settings: "Settings", *, work: bool) -> list[str]:
    money = ("user_money_per_day", "chat_money_per_day", "money_per_month")
    causes = ("agents_file", "model_context_window", "models", *money)
    if not any(getattr(settings, name) for name in causes):
        return []  # the built-in agent fits every known model
    from bot.app.agents import find_room_problems, read_agents

    try:
        settings, spec = read_agents(settings)
        return find_room_problems(settings, spec) if work else []
    except SettingsInvalid as error:
        return error.problems


def _data_dir_problems(settings: "Settings") -> list[str]:
    from memory.embedded.data_dir import prepare_directory
    from memory.errors import EmbeddedStoreFailure

    try:
        for name, url in (("valkey", settings.redis_url), ("index", settings.qdrant_url)):
            if url is None:
                prepare_directory(settings.data_dir, name)
    except EmbeddedStoreFailure as error:
        return [str(error)]
    return []


def _start(
    settings: "Settings",
    listeners: list[Listener],
    *,
    serve: bool,
    work: bool,
    simulator: tuple[str, int] | None = None,
    health_port: int | None = None,
) -> NoReturn:
    _end_if_wrong(find_early_problems(settings, *listeners, work=work))
    from bot.app.service import run_service

    service = run_service(settings, serve=serve, work=work, simulator=simulator, health_port=health_port)
    finish(settings, service)


def _require_token(settings: "Settings", command: str) -> None:
    """Require a token, unless the Bot API server is the operator's own: the simulator's token works there."""
    if simulates(settings):
        needs = f"`mnemogram {command}` needs a bot's token from @BotFather"
        hint = "`mnemogram run` starts the simulator without one"
        _end_if_wrong([f"TELEGRAM_BOT_TOKEN: is not set, and {needs} ({hint})"])


def _http(settings: "Settings") -> Listener:
    return Listener(setting="HTTP_PORT", host=settings.http_host, port=settings.http_port)


def _end_if_wrong(problems: list[str]) -> None:
    for problem in problems:
        print_error(problem)
    if problems:
        raise typer.Exit(WRONG_USE)
