"""Stories of answers that are expensive to read: all other chats go on meanwhile."""

import asyncio
from time import process_time

import pytest

from tests.local_http import local_client
from tests.scripted_replies import pieces, text
from tests.story.harness import DEADLINE_S, OLGA, StoryStores, running_bot

_PIECE = 10_000
_HEALTHY_WITHIN_S = 1.0


@pytest.mark.parametrize("unit", [".", "1. ", "[", "~~~\n"])
@pytest.mark.parametrize("size", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_the_health_check_answers_while_a_hostile_answer_is_rendered(
    stores: StoryStores, unit: str, size: int
) -> None:
    written = (unit * size)[:size]
    answer = pieces(*(written[at : at + _PIECE] for at in range(0, size, _PIECE)))
    async with (
        running_bot(stores, [answer, text("and so on")], long_answers="document") as bot,
        local_client(timeout_s=DEADLINE_S) as client,
    ):
        await bot.ask(OLGA, "/help")
        waits: list[float] = []

        asking = asyncio.create_task(bot.ask(OLGA, "hello"), name="question")
        while not asking.done():
            begun = process_time()  # other work on the machine does not count
            assert (await client.get(f"{bot.http_url}/health/live")).status_code == 200
            waits.append(process_time() - begun)

        assert await asking
        assert max(waits) < _HEALTHY_WITHIN_S
