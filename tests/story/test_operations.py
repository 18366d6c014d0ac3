"""Operators look at the bot on the page; nobody else sees any of it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

import pytest

from bot.page.visitors import SESSIONS_AT_MOST, Dashboard
from bot.turn.forget_person import verify
from bot.turn.store import ATTEMPTS_AT_MOST
from memory import keys
from memory.redis.client import RedisClient
from memory.tombstones import load_secret
from tests.local_http import local_client
from tests.story.harness import BEN, DEADLINE_S, OLGA, Json, Story, StoryStores, make_ref, running_bot
from tests.story.page_visits import Visit, visiting

READS = (
    *("now", "series", "series?hours=720", "chats", "updates/1", "dead-letters"),
    *("costs", "invitations", "settings", "doctor", "people/7"),
)
WRITES = ("dead-letters/1/retry", "dead-letters/1/drop", "people/7/forget")
DEAD = 900_001
"""An update id of a dead letter, which the simulator does not use."""


async def bury(redis: RedisClient, update_id: int = DEAD, chat: int = BEN) -> None:
    """Leave a dead letter as a worker's death leaves it."""

    record = keys.partition_key(0, "update", update_id)
    fields = ("context", make_ref(chat).context_id, "state", "dead", "reason", "interrupted too often")
    await redis.call("HSET", record, *fields, "attempts", ATTEMPTS_AT_MOST, "finished_at", time.time() - 60)
    await redis.call("ZADD", keys.partition_key(0, "dead"), time.time() - 60, update_id)


@asynccontextmanager
async def dashboard(bot: Story, token: str) -> AsyncGenerator[Visit]:
    """Open the page by a link of `mnemogram dashboard`."""
    async with local_client(bot.http_url, timeout_s=DEADLINE_S) as http:
        answer = await http.post("/app/api/session", headers={"Authorization": f"dashboard {token}"})
        assert answer.status_code == 200, answer.text
        yield Visit(http=http, headers={"Authorization": f"session {answer.json()['session']}"})


async def is_open(bot: Story) -> bool:
    """Return True when the page's API answers."""
    async with visiting(bot, OLGA) as page:
        return (await page.ask("operations/settings")).status_code == 200


async def exchange(bot: Story, token: str) -> int:
    """Return the status of an exchange of a link's token."""
    async with local_client(bot.http_url, timeout_s=DEADLINE_S) as http:
        headers = {"Authorization": f"dashboard {token}"}
        return (await http.post("/app/api/session", headers=headers)).status_code


async def test_nobody_but_operators_reaches_any_of_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bury(bot.redis)
        async with visiting(bot, BEN) as page, local_client(bot.http_url) as http:
            of_ben = [(await page.ask(f"operations/{path}")).status_code for path in READS]
            of_ben += [(await page.send(f"operations/{path}")).status_code for path in WRITES]
            of_strangers = [(await http.get(f"/app/api/operations/{path}")).status_code for path in READS]
            of_strangers += [(await http.post(f"/app/api/operations/{path}")).status_code for path in WRITES]
        async with visiting(bot, OLGA) as page:
            letters = await page.read("operations/dead-letters")

    assert set(of_ben) == {403}
    assert set(of_strangers) == {401}
    assert [each["update_id"] for each in letters["dead_letters"]] == [DEAD], "nothing was dropped"


async def test_now_and_series_tell_what_happened(stores: StoryStores) -> None:
    turns = 5
    async with running_bot(stores, models="gpt-5.4-mini:1:2") as bot:
        for number in range(turns):
            await bot.ask(BEN, f"line {number}")
        await bot.ask(BEN, "/help")
        await bot.wait_until_finished(turns + 1)
        await bot.wait_until_idle()
        async with visiting(bot, OLGA) as page:
            now, series = await page.read("operations/now"), await page.read("operations/series")
        used = await bot.redis.call(
            "HGETALL", keys.global_key("{usage}:day", "all", 0, time.strftime("%Y-%m-%d", time.gmtime()))
        )

    assert now["waiting"] == {"contexts": 0, "updates": 0, "oldest_s": None}
    assert (now["dead_letters"], now["refusals_429"], now["messages_per_minute"] > 0) == (
        0,
        {"hour": 0, "day": 0},
        True,
    )
    assert [(store["name"], store["is_up"]) for store in now["stores"]] == [("redis", True), ("qdrant", True)]
    assert [store["is_embedded"] for store in now["stores"]] == [
        each is None for each in (bot.settings.redis_url, bot.settings.qdrant_url)
    ]
    (worker,) = now["workers"]
    assert (worker["version"], worker["seen_s"] < DEADLINE_S) == (now["version"], True)
    points = [point for point in series["points"] if point["messages"] or point["turns"]]
    assert sum(point["messages"] for point in points) == turns + 1
    assert sum(point["turns"] for point in points) == turns
    tokens = [model for point in points for model in point["models"].values()]
    assert {name for point in points for name in point["models"]} == {bot.settings.openai_model}
    assert sum(each["prompt_tokens"] for each in tokens) == int(used["prompt"]) > 0
    assert sum(each["completion_tokens"] for each in tokens) == int(used["completion"]) > 0
    assert sum(each["cost"] for each in tokens) == pytest.approx(int(used["micros"]) / 1_000_000)
    for stage in ("waiting", "answering", "delivering", "whole"):
        assert all(0 < point["stages"][stage]["p50"] <= point["stages"][stage]["p95"] for point in points)


async def test_chats_are_listed_by_use_and_an_update_is_traced(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(OLGA, "hello")
        for _ in range(3):
            await bot.ask(BEN, "a line of many words that takes tokens")
        await bot.wait_until_finished(4)
        found = await bot.redis.call("KEYS", keys.partition_key(0, "update", "*"))
        update_id = int(found[0].rpartition(":")[2])
        async with visiting(bot, OLGA) as page:
            chats = (await page.read("operations/chats"))["chats"]
            trace = await page.read(f"operations/updates/{update_id}")
            missing = await page.ask("operations/updates/123456789")
            wrong = await page.ask("operations/updates/one")

    assert [(chat["chat_id"], chat["messages"], chat["kind"]) for chat in chats] == [
        (BEN, 6, "private"),
        (OLGA, 2, "private"),
    ]
    assert chats[0]["tokens_today"] > chats[1]["tokens_today"] > 0
    last_at = datetime.fromisoformat(chats[0]["last_message_at"]).timestamp()
    assert last_at == pytest.approx(time.time(), abs=60)
    assert (trace["update_id"], trace["state"], trace["turn"]["recalled"]) == (update_id, "answered", 0)
    assert "a line of many words" not in str(trace)
    assert (missing.status_code, wrong.status_code) == (404, 400)


async def test_a_dead_letter_is_listed_retried_and_dropped(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True, is_started=False) as bot:
        bot.start(work=False)
        await bot.wait_until_down()
        await bot.wait_until_true(partial(is_open, bot))
        await bury(bot.redis, DEAD)
        await bury(bot.redis, DEAD + 1)
        async with visiting(bot, OLGA) as page:
            letters = (await page.read("operations/dead-letters"))["dead_letters"]
            retried = await page.do(f"operations/dead-letters/{DEAD}/retry")
            dropped = await page.do(f"operations/dead-letters/{DEAD + 1}/drop")
            again = await page.do(f"operations/dead-letters/{DEAD + 1}/drop")
            left = (await page.read("operations/dead-letters"))["dead_letters"]
            now = await page.read("operations/now")

    assert {(each["update_id"], each["reason"], each["attempts"]) for each in letters} == {
        (DEAD, "interrupted too often", 3),
        (DEAD + 1, "interrupted too often", 3),
    }
    assert (retried, dropped, again, left) == ({"done": True}, {"done": True}, {"done": False}, [])
    assert [(store["name"], store["is_up"]) for store in now["stores"]] == [("redis", True), ("qdrant", True)]
    assert (now["workers"], now["waiting"]["updates"]) == ([], 1), "the process only takes updates"


@pytest.mark.slow
async def test_the_doctor_of_the_page_checks_the_settings_in_effect(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        async with visiting(bot, OLGA) as page:
            page.http.timeout = 60
            checks = (await page.read("operations/doctor"))["checks"]

    states: Json = {check["name"]: check["state"] for check in checks}
    assert {"settings", "store", "partitions", "index", "model", "telegram"} <= states.keys()
    assert (states["store"], states["index"], states["partitions"]) == ("ok", "ok", "ok")
    assert bot.settings.token not in str(checks)


async def test_a_link_of_the_dashboard_opens_one_session(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        token = await Dashboard(bot.redis, clock=time.time).make_link()
        async with dashboard(bot, token) as page:
            me = (await page.read("contexts"))["me"]
            now = await page.ask("operations/now")
        statuses = await asyncio.gather(*(exchange(bot, each) for each in (token, "-", "forged", token[:-1])))
        stored = [await bot.keys_with(word) for word in (token, page.headers["Authorization"].split()[1])]
        async with local_client(bot.http_url) as http:
            forged = await http.get("/app/api/operations/now", headers={"Authorization": "session forged"})

    assert (me["id"], me["is_operator"], now.status_code) == (None, True, 200)
    assert statuses == [401, 401, 401, 401], "used and forged links open nothing"
    assert stored == [[], []], "only digests are stored"
    assert forged.status_code == 401


async def test_of_two_windows_that_open_one_link_one_gets_the_session(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        token = await Dashboard(bot.redis, clock=time.time).make_link()
        statuses = await asyncio.gather(*(exchange(bot, token) for _ in range(5)))

    assert sorted(statuses) == [200, 401, 401, 401, 401]


async def test_links_and_sessions_end_and_are_never_many(redis: RedisClient) -> None:
    now = time.time()
    clock = [now]
    links = Dashboard(redis, clock=lambda: clock[0])
    sessions = [await links.open_session(await links.make_link()) for _ in range(SESSIONS_AT_MOST + 1)]
    tokens = [str(session["session"]) for session in sessions if session]
    unused = await links.make_link()
    (link,) = await redis.call("KEYS", "*{access}:dashboard:*".replace("{", "\\{"))

    assert 0 < int(await redis.call("TTL", link)) <= keys.DASHBOARD_TTL_S
    await redis.call("DEL", link)  # as after a minute
    assert await links.open_session(unused) is None
    assert [await links.has_session(token) for token in tokens].count(True) == SESSIONS_AT_MOST
    assert 0 < int(await redis.call("TTL", keys.global_key("{access}:sessions"))) <= keys.SESSION_TTL_S
    clock[0] = now + keys.SESSION_TTL_S + 1
    assert not any([await links.has_session(token) for token in tokens])


async def test_an_operator_forgets_a_person_and_gets_the_signed_receipt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "my quokka")
        async with visiting(bot, OLGA) as page:
            before = await page.read(f"operations/people/{BEN}")
            wrong = [await page.ask(f"operations/people/{each}") for each in ("0", "-1001", "me")]
            await page.send(f"operations/people/{BEN}/forget")

            async def is_done() -> bool:
                return not await bot.redis.call("HLEN", keys.global_key("forgetting"))

            await bot.wait_until_true(is_done)
            after = await page.read(f"operations/people/{BEN}")

        assert [(each["messages"], before["is_running"]) for each in before["chats"]] == [(1, False)]
        assert [each.status_code for each in wrong] == [400, 400, 400]
        assert verify(await load_secret(bot.redis), after["receipt"]).is_true
        assert after["chats"] == []
        assert await bot.keys_with("quokka") == []
