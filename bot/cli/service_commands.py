"""`run`, `serve`, `work`, `simulate`: the commands that run until they are told to stop."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.bot_api import SIMULATOR_HOST, has_own_bot_api, simulates
from bot.cli.early_problems import Listening, find_early_problems, find_port_problem
from bot.cli.failures import WRONG_USE, print_error
from bot.cli.session import end_with, load

if TYPE_CHECKING:
    from bot.settings import Settings


def run() -> None:
    """Run everything in one process; without a token, with the simulator and its chat page."""
    settings = load()
    is_simulation = simulates(settings)
    listening = [_http(settings), *([_simulator(settings.simulator_port)] if is_simulation else [])]
    _end_if_wrong(find_early_problems(settings, *listening))
    from bot.app.service import run_service

    end_with(settings, run_service(settings, serve=True, work=True, simulate=is_simulation))


def serve() -> None:
    """Take in what Telegram pushes to the webhook; the answers come from `work`."""
    settings = load()
    _end_if_wrong([*_token_problems(settings, "serve"), *find_early_problems(settings, _http(settings))])
    from bot.app.service import run_service

    end_with(settings, run_service(settings, serve=True, work=False, simulate=False))


def work(
    health_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve /health and /metrics on this port too.")
    ] = None,
) -> None:
    """Answer what `serve` has taken in; any number of these may run."""
    settings = load()
    listening = (
        []
        if health_port is None
        else [Listening(setting="--health-port", host=settings.http_host, port=health_port)]
    )
    _end_if_wrong([*_token_problems(settings, "work"), *find_early_problems(settings, *listening)])
    from bot.app.service import run_service

    end_with(settings, run_service(settings, serve=False, work=True, simulate=False, health_port=health_port))


def simulate(
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Where to listen.", show_default="SIMULATOR_PORT"),
    ] = None,
) -> None:
    """Run the simulator alone: a local Bot API with a chat page."""
    settings = load()
    listening = Listening(
        setting="SIMULATOR_PORT" if port is None else "--port",
        host=SIMULATOR_HOST,
        port=settings.simulator_port if port is None else port,
    )
    _end_if_wrong([line] if (line := find_port_problem(listening)) else [])
    from bot.app.service import run_simulator

    end_with(settings, run_simulator(settings, port=listening.port))


def _http(settings: "Settings") -> Listening:
    return Listening(setting="HTTP_PORT", host=settings.http_host, port=settings.http_port)


def _simulator(port: int) -> Listening:
    return Listening(setting="SIMULATOR_PORT", host=SIMULATOR_HOST, port=port)


def _token_problems(settings: "Settings", command: str) -> list[str]:
    """A server of one's own (the simulator, say) is served with the simulator's token."""
    if not settings.is_simulated or has_own_bot_api(settings):
        return []
    return [
        f"TELEGRAM_BOT_TOKEN: is not set, and `mnemogram {command}` needs the token of a bot, from @BotFather "
        "(`mnemogram run` starts the simulator without one)"
    ]


def _end_if_wrong(problems: list[str]) -> None:
    for problem in problems:
        print_error(problem)
    if problems:
        raise typer.Exit(WRONG_USE)
