"""Stories of a start without a working embedding endpoint: words find messages at once, meaning when it answers."""

import json
from typing import Any

import pytest

from memory.recall.space_follower import SpaceRegister
from tests.scripted_embeddings import Embeddings
from tests.story.harness import BEN, Story, StoryStores, running_bot
from tests.story.prompts import recalled

pytestmark = pytest.mark.slow

TOLD, BY_WORDS, BY_MEANING = (
    "my sister Anna lives in Lisbon",
    "where does my sister live?",
    "whose town has trams?",
)
SAME = {"trams": "lisbon", "town": "lives", "whose": "sister"}
OTHERS = (
    "our dog eats carrots",
    "the train was late again",
    "we baked bread",
    "paint dries slowly in the rain",
)


def answer(status: int, body: object) -> dict[str, Any]:
    def odd(_: object) -> tuple[int, object]:
        return status, body

    return {"odd": odd}


ODD: dict[str, dict[str, Any]] = {
    "dead": answer(503, "no upstream"),
    "slow": {"failure": "hang"},
    "error with the status 200": answer(200, {"error": {"message": "the model is loading"}}),
    "wrong key": answer(401, {"error": {"message": "Incorrect API key"}}),
    "no such route": answer(404, "404 page not found"),
    "garbage": answer(200, "<html>a proxy's page</html>"),
    "not a number": {"failure": "nan"},
    "no vectors": answer(200, {"object": "list", "data": []}),
}


async def serving(bot: Story) -> tuple[str, int] | None:
    """Return the model and the dimension of the space that is searched; None before the first."""
    record = await SpaceRegister(bot.redis, partitions=1, clock=lambda: 0.0).load()
    space = record.serving if record else None
    return (space.model, space.dimension) if space else None


async def talk(bot: Story) -> None:
    for line in (TOLD, *OTHERS):
        await bot.ask(BEN, line)


async def find(bot: Story, question: str) -> bool:
    """Forget the conversation, ask, and return True if the model got the old message."""
    await bot.ask(BEN, "/new")
    await bot.ask(BEN, question)
    return TOLD in str(recalled(bot.prompts()[-1]))


@pytest.mark.parametrize("model", ["unknown-to-us", "text-embedding-3-small"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_a_bot_starts_without_its_embedding_endpoint_and_uses_it_later(
    stores: StoryStores, odd: dict[str, Any], model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_bot(stores, is_started=False, openai_embedding_model=model) as bot:
        bot.model.embeddings = Embeddings(**odd)
        bot.start()
        await bot.wait_until_down()
        await talk(bot)

        async def is_found() -> bool:  # asked too often before, the question itself makes these words common
            return await serving(bot) is not None and await find(bot, BY_WORDS)

        await bot.wait_until_true(is_found)
        assert (await bot.health())[0] == 200
        assert capsys.readouterr().err.count("embedding_endpoint_waits") == 1

        bot.model.embeddings = Embeddings(dimension=64, same=SAME)

        async def is_meant() -> bool:
            return await serving(bot) == (model, 64) and await find(bot, BY_MEANING)

        await bot.wait_until_true(is_meant)


async def test_a_restart_without_the_endpoint_keeps_the_vectors(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        bot.model.embeddings = Embeddings(dimension=64, same=SAME)
        await talk(bot)
        await bot.wait_until_indexed()
        before = await serving(bot)
        await bot.stop()
        bot.model.embeddings = Embeddings(**answer(503, "no upstream"))
        bot.start()
        assert await find(bot, BY_WORDS)
        assert await serving(bot) == before

        bot.model.embeddings = Embeddings(dimension=64, same=SAME)
        await bot.wait_until_indexed()
        assert await find(bot, BY_MEANING)
        assert await serving(bot) == before


async def test_a_change_to_a_dead_endpoint_keeps_the_former_model_until_it_answers(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, openai_embedding_model="") as bot:
        await talk(bot)
        await bot.wait_until_indexed()
        before = await serving(bot)
        await bot.stop()
        bot.settings = bot.settings.model_copy(update={"openai_embedding_model": "new"})
        bot.model.embeddings = Embeddings(**answer(401, json.dumps({"error": "no"})))
        bot.start()
        await bot.ask(BEN, "the kettle leaks")
        await bot.wait_until_indexed()
        assert await serving(bot) == before
        assert await find(bot, BY_WORDS)

        bot.model.embeddings = Embeddings(dimension=32, same=SAME)

        async def is_meant() -> bool:
            return await serving(bot) == ("new", 32) and await find(bot, BY_MEANING)

        await bot.wait_until_true(is_meant)
