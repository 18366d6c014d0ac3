"""The code of an operator: who may send it, for how long, and beside another program."""

import asyncio
import re

import pytest

from bot.cli import operator_code
from bot.cli.failures import CommandFailed
from bot.cli.operator_code import receive_operator
from bot.features.settings import load_settings
from bot.settings import Settings
from simulator.api.config import DEFAULT_TOKEN
from tests.contract.simulator_rig import Rig, eventually, served_simulator

ANNA, OTHER, GROUP = 1001, 1002, -2001


def settings_of(rig: Rig) -> Settings:
    return load_settings(telegram_bot_token=DEFAULT_TOKEN, telegram_api_url=rig.url)


async def shown_code(lines: list[str]) -> str:
    """Wait until a code is shown and awaited, and return it."""
    await eventually(lambda: len(lines) == 3)
    (code,) = re.findall(r"start=([0-9a-f]{8}) ", lines[0])
    return code


async def test_only_the_code_in_a_private_chat_counts() -> None:
    lines: list[str] = []
    async with served_simulator() as rig:
        waiting = asyncio.create_task(receive_operator(settings_of(rig), say=lines.append))
        code = await shown_code(lines)
        await rig.say(GROUP, f"/start {code}", from_id=OTHER)
        await rig.say(OTHER, f"is it {code}?")
        await rig.say(OTHER, f"/start {code[:-1]}")
        await rig.say(ANNA, code)

        person, name = await waiting

        assert (person, bool(name)) == (ANNA, True)
        assert await rig.pending() == 4


async def test_the_wait_for_a_code_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_code, "CODE_S", 0.1)
    async with served_simulator() as rig:
        with pytest.raises(CommandFailed, match="did not arrive in time"):
            await receive_operator(settings_of(rig), say=lambda _: None)


async def test_a_program_that_reads_the_updates_is_named() -> None:
    lines: list[str] = []
    async with served_simulator() as rig:
        waiting = asyncio.create_task(receive_operator(settings_of(rig), say=lines.append))
        await shown_code(lines)
        await eventually(lambda: rig.simulation.polling.is_active)
        other = asyncio.create_task(rig.call("getUpdates", timeout=3))

        with pytest.raises(CommandFailed, match="make sure that only one bot instance is running"):
            await waiting

        await rig.say(ANNA, "hello")
        await other


async def test_an_api_that_is_down_is_named() -> None:
    settings = load_settings(telegram_bot_token=DEFAULT_TOKEN, telegram_api_url="http://127.0.0.1:1")
    with pytest.raises(CommandFailed, match="does not answer"):
        await receive_operator(settings, say=lambda _: None)
