"""Stories of odd model endpoints: each row runs through the whole bot, from message to reply."""

import json
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import nullcontext
from dataclasses import dataclass

import pytest
import pytest_asyncio
import stamina

from bot.inbox import worker
from bot.model_choices import ModelChoice
from memory import keys
from memory.embedded.supervisor import IndexEndpoint
from memory.reminders.redis_reminders import RedisReminders
from tests.contract.inbox_kit import end_blocking_reads_on_time
from tests.odd.endpoint import OddEndpoint, odd_endpoint
from tests.odd.row import OTHER, PHOTO, SWITCH, Play, Row
from tests.odd.table import ROWS
from tests.stores import real_redis
from tests.story.conftest import CLAIM_WAIT_MS
from tests.story.harness import Json, Story, StoryStores, make_ref, running_bot

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True, slots=True)
class Stage:
    """One bot for all rows, and its endpoint. Each row has a person, a chat and a model of its own."""

    bot: Story
    endpoint: OddEndpoint


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(redis_url: str, index_endpoint: IndexEndpoint) -> AsyncGenerator[Stage]:
    """Start the bot with the models of all rows, with the quick end that other stories have by a fixture."""
    models = [ModelChoice(name=row.model, window=row.window) for row in ROWS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "CLAIM_WAIT_MS", CLAIM_WAIT_MS)
        async with real_redis(redis_url) as redis, odd_endpoint() as endpoint:
            await end_blocking_reads_on_time(redis)
            stores = StoryStores(redis=redis, redis_url=redis_url, index=index_endpoint)
            async with running_bot(
                stores,
                is_pushed=True,
                is_started=False,
                openai_base_url=endpoint.base_url,
                openai_summary_model="",
            ) as bot:
                chosen = (*models, ModelChoice(name=OTHER))
                bot.settings = bot.settings.model_copy(update={"models": chosen})
                bot.start()
                await bot.wait_until_down()
                yield Stage(bot, endpoint)


@pytest.fixture(autouse=True)
def no_waits_between_tries(request: pytest.FixtureRequest) -> Generator[None]:
    """Remove the pauses between tries, except in rows about the pauses; their number stays."""
    callspec = getattr(request.node, "callspec", None)
    is_about_waits = callspec is not None and callspec.params["row"].waits_s > 0
    with nullcontext() if is_about_waits else stamina.set_testing(True, attempts=3):
        yield


async def test_each_row_has_a_name_and_a_model_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len({row.model for row in ROWS}) == len(ROWS)


def _case(row: Row) -> object:
    """Return the outcome of a row within its group. Rows of one case differ only in the endpoint's words."""
    group, colon, _ = row.name.partition(":")
    outcome = (row.expected, row.keeps, row.remembers, row.requests, row.reminders)
    return (group if colon else "", outcome, row.hides, bool(row.previews), len(row.refuses), row.sees)


_FIRST = {_case(row): row for row in reversed(ROWS)}
"""The first row of each case, which is not slow."""


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.name, marks=[] if _FIRST[_case(row)] is row else [pytest.mark.slow])
        for row in ROWS
    ],
)
async def test_odd(stage: Stage, row: Row) -> None:
    bot, play = stage.bot, stage.endpoint.begin(row)
    bot.events.clear()
    person = (await bot.page("people", {"first_name": "Dora"}))["id"]
    await _choose(bot, person, row.model)
    told: list[str] = []
    first: list[int] = []

    for ask in row.asks:
        if ask == SWITCH:
            await _choose(bot, person, OTHER)
            continue
        before = len(play.requests)
        answer = await _ask(stage, person, ask)
        if not ask.startswith("/"):
            told.append(answer)
            first.append(before)

    assert tuple(told) == row.expected
    kept = [text for role, text in await bot.lines(person) if role == "assistant"]
    assert not row.remembers or tuple(text.strip() for text in kept) == row.kept
    _check_requests(play, first)
    _check_secrets(stage, person, kept, [play.requests[at] for at in first[1:] if at < len(play.requests)])
    if row.reminders is not None:
        assert sorted(await _reminders(bot, person)) == sorted(row.reminders)


async def _choose(bot: Story, person: int, model: str) -> None:
    """Choose a model as /model does, which shows at most 30."""
    await bot.redis.call("HSET", keys.context_key(make_ref(person), "meta"), "model", model)


async def _ask(stage: Stage, person: int, text: str) -> str:
    """Send a text, a command or a photo. Return the reply after the turn has ended."""
    bot, previews = stage.bot, stage.endpoint.play and stage.endpoint.play.row.previews
    if text == "/new":
        await bot.wait_until_indexed()
    said = await (bot.people.photo(person, "What is this?") if text == PHOTO else bot.say(person, text))
    try:
        if previews and not stage.endpoint.shown.is_set():
            await bot.wait_until(lambda: any(previews in shown for shown in _shown_texts(bot, person)))
    finally:
        stage.endpoint.shown.set()
    reply = await bot.wait_for_reply(said)
    await bot.wait_until_idle()
    return reply["text"]


def _check_requests(play: Play, first: list[int]) -> None:
    """Check the number of requests of each question, the last request, and the wait before the second one."""
    ends = [*first[1:], len(play.requests)]
    counts = [end - at for at, end in zip(first, ends, strict=True)]
    wanted = play.row.requests
    assert len(counts) == len(wanted)
    assert [None if want is None else count for count, want in zip(counts, wanted, strict=True)] == list(
        wanted
    )
    assert [check.__name__ for check in play.row.sends if not check(play.requests[-1])] == []
    if play.row.waits_s:
        assert play.came_at[1] - play.came_at[0] >= play.row.waits_s


def _check_secrets(stage: Stage, person: int, kept: list[str], later: list[Json]) -> None:
    """Check that the chat, its drafts, the history and the prompts of later turns have no words to hide."""
    row = stage.endpoint.play.row if stage.endpoint.play else None
    places = "\n".join([*_shown_texts(stage.bot, person), *kept, *(json.dumps(b["messages"]) for b in later)])
    assert [secret for secret in (row.hides if row else ()) if secret in places] == []


def _shown_texts(bot: Story, person: int) -> list[str]:
    """Return all texts that the bot has shown in a chat: messages, edits and drafts."""
    texts: list[str] = []
    for event in bot.events:
        message: Json = event.get("message") or {}
        if event.get("chat_id") == person and "text" in event:
            texts.append(event["text"])
        elif message.get("chat", {}).get("id") == person and message["from"]["id"] != person:
            texts.append(message.get("text", ""))
    return texts


async def _reminders(bot: Story, person: int) -> tuple[str, ...]:
    found = await RedisReminders(bot.redis, clock=time.time).list(make_ref(person))
    return tuple(each.text for each in found)
