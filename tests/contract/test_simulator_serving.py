"""Starting and ending a simulator on a port."""

import asyncio
import signal
import socket
import time

import pytest

from simulator.api.config import SimulatorConfig
from simulator.api.errors import InvalidToken, PortInUse
from simulator.service import serve
from tests.contract.simulator_rig import next_event, served_simulator


async def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as refusal:
            await serve(SimulatorConfig(), host="127.0.0.1", port=port)
    assert str(refusal.value) == f"Port {port} on 127.0.0.1 is in use by another program."


def test_a_malformed_token_is_refused() -> None:
    with pytest.raises(InvalidToken):
        SimulatorConfig(token="no-number")


async def test_cancelling_ends_polls_and_streams_at_once_and_leaves_nothing() -> None:
    async with served_simulator() as sim, sim.events() as events:
        poll = asyncio.create_task(sim.call("getUpdates", timeout=50))
        polling = await next_event(events, "deliveries")
        serving = next(task for task in asyncio.all_tasks() if task.get_name() == "serving-simulator")
        before = time.monotonic()
        serving.cancel()
        assert [event async for event in events] == []
        assert (await poll)["result"] == []
        await asyncio.gather(serving, return_exceptions=True)
        assert time.monotonic() - before < 1.5
    assert polling["mode"] == "polling"
    left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("simulator")]
    assert left == []


async def test_signals_stay_the_callers() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with served_simulator():
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
