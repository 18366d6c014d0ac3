"""`mnemogram dashboard`: a link to the operators' page of this machine that works once."""

import socket
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from bot.app.stores import open_stores
from bot.features.settings import load_settings
from bot.page.api import PageApp
from bot.page.visitors import Dashboard
from tests.contract.console_rig import ConsoleRig, empty_stores, on_stores, settings_in
from tests.page_http import serve_page
from tests.stores import hold_open


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    data_dir: Path,
    port: int,
) -> ConsoleRig:
    """The console of a machine whose bot would listen everywhere."""
    settings_in(monkeypatch, tmp_path, data_dir, HTTP_PORT=str(port), HTTP_HOST="0.0.0.0")  # noqa: S104
    on_stores(empty_stores())
    return ConsoleRig(capsys)


@pytest.fixture
def page(port: int) -> Generator[None]:
    """Serve the page there."""
    page = PageApp()
    page.publish()
    with hold_open(serve_page(page, port=port)):
        yield


async def open_session(token: str) -> Mapping[str, object] | None:
    async with open_stores(load_settings()) as stores:
        return await Dashboard(stores.redis, clock=time.time).open_session(token)


@pytest.mark.usefixtures("page")
def test_the_link_leads_to_loopback_and_opens_one_session(console: ConsoleRig, port: int) -> None:
    document = console("dashboard", "--json").document

    address, _, token = document["url"].partition("#dashboard=")
    assert address == f"http://127.0.0.1:{port}/app/"
    assert document["expires_at"].endswith("Z")
    assert on_stores(open_session(token)) is not None
    assert on_stores(open_session(token)) is None


@pytest.mark.usefixtures("page")
def test_people_get_the_link_on_a_line_of_its_own(console: ConsoleRig, port: int) -> None:
    ran = console("dashboard")

    link, hint = ran.out.splitlines()
    assert (ran.status, ran.err) == (0, "")
    assert link.startswith(f"http://127.0.0.1:{port}/app/#dashboard=")
    assert hint == "Open it in a browser within 60 seconds. It works once."


def test_without_a_running_bot_there_is_no_link(console: ConsoleRig, port: int) -> None:
    ran = console("dashboard")

    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"HTTP_PORT: nothing answers at http://127.0.0.1:{port}/app/. "
        "Start `mnemogram run` or `serve` here first\n"
    )


def test_a_process_without_the_page_gives_no_link(console: ConsoleRig, port: int) -> None:
    with hold_open(serve_page(None, port=port)):
        ran = console("dashboard")

    assert (ran.status, ran.out) == (1, "")
    assert "has no page. `mnemogram run` and `serve` have it" in ran.err


def test_a_port_that_only_the_bot_knows_gives_no_link(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PORT", "0")

    ran = console("dashboard")

    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("HTTP_PORT: is 0")


@pytest.mark.usefixtures("page")
def test_without_the_store_there_is_no_link(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")

    ran = console("dashboard")

    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("REDIS_URL: ")
