"""Starting and ending a simulator on a port."""

import asyncio
import signal
import socket
import time
from contextlib import AsyncExitStack

import httpx
import pytest

from simulator.api.config import SimulatorConfig
from simulator.api.errors import InvalidToken
from simulator.server import PortInUse
from simulator.service import serve
from tests.contract.simulator_rig import Clock, Rig, next_event, served_simulator

pytestmark = pytest.mark.slow


async def test_a_used_port_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as refusal:
            async with serve(SimulatorConfig(), port=port):
                pass
    assert str(refusal.value) == f"Port {port} on 127.0.0.1 is in use by another program."


def test_a_malformed_token_is_refused() -> None:
    with pytest.raises(InvalidToken):
        SimulatorConfig(token="no-number")


async def test_closing_the_simulator_ends_polls_and_streams_at_once() -> None:
    async with AsyncExitStack() as serving:
        served = await serving.enter_async_context(serve(SimulatorConfig()))
        async with httpx.AsyncClient(base_url=served.url, trust_env=False) as http:
            sim = Rig(url=served.url, http=http, clock=Clock(), simulation=served.simulation)
            async with sim.events() as events:
                poll = asyncio.create_task(sim.call("getUpdates", timeout=50))
                polling = await next_event(events, "deliveries")
                before = time.monotonic()
                ending = asyncio.create_task(serving.aclose())
                assert [event async for event in events] == []
                assert (await poll)["result"] == []
                await ending
                assert time.monotonic() - before < 1.5
    assert polling["mode"] == "polling"
    left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("simulator")]
    assert left == []


async def test_signal_handlers_of_the_caller_stay() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with served_simulator():
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
