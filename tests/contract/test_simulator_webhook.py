"""Delivery from the simulator to a webhook: lanes, order, retries, and reports of failures."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from simulator.api.world import BEN, CHIARA, OLGA
from tests.contract.simulator_rig import (
    SECRET_HEADER,
    Post,
    Reply,
    Rig,
    Sink,
    eventually,
    listening_sink,
    simulator,
)

pytestmark = pytest.mark.slow


@asynccontextmanager
async def hooked(
    *, webhook: dict[str, Any] | None = None, **changes: Any
) -> AsyncGenerator[tuple[Rig, Sink]]:
    """A simulator with its webhook set to a recording sink."""
    async with listening_sink() as sink, simulator(**changes) as sim:
        await sim.result("setWebhook", url=sink.url, **(webhook or {}))
        yield sim, sink


async def drained(sim: Rig, *, left: int = 0) -> None:
    """Wait until only this many updates are left."""
    async with asyncio.timeout(5):
        while await sim.pending() > left:  # noqa: ASYNC110 - what is waited for has no event to wait on
            await asyncio.sleep(0.005)


async def test_an_update_is_posted_as_json_with_the_secret() -> None:
    async with hooked(webhook={"secret_token": "sesame-1"}) as (sim, sink):
        said = await sim.say(OLGA, "hello")
        await eventually(lambda: len(sink.posts) == 1)
        await drained(sim)
    (post,) = sink.posts
    assert post.headers[SECRET_HEADER] == "sesame-1"
    assert post.headers["content-type"] == "application/json"
    assert post.body.keys() == {"update_id", "message"}
    assert post.body["message"] == said


async def test_get_webhook_info_reports_each_delivery() -> None:
    told: list[tuple[int, int | None]] = []
    async with hooked() as (sim, sink):
        sim.simulation.queue.on_delivery = lambda update, delivery: told.append((update.id, delivery.status))
        sink.decide = lambda _: Reply(status=503 if len(sink.posts) == 1 else 200)
        await sim.say(OLGA, "hello")
        await drained(sim)
    number = sink.posts[0].body["update_id"]
    assert told == [(number, 503), (number, 200)]


async def test_without_a_secret_there_is_no_header() -> None:
    async with hooked() as (sim, sink):
        await sim.say(OLGA, "hello")
        await eventually(lambda: len(sink.posts) == 1)
    assert SECRET_HEADER not in sink.posts[0].headers


@pytest.mark.parametrize("status", [200, 204, 299])
async def test_any_2xx_is_success(status: int) -> None:
    async with hooked() as (sim, sink):
        sink.decide = lambda _: Reply(status=status)
        await sim.say(OLGA, "hello")
        await eventually(lambda: len(sink.posts) == 1)
        await drained(sim)
        assert "last_error_message" not in await sim.result("getWebhookInfo")
    assert len(sink.posts) == 1


async def test_one_chat_is_delivered_one_at_a_time_and_in_order() -> None:
    async with hooked() as (sim, sink):
        gate = asyncio.Event()
        sink.decide = lambda _: Reply(hold=gate)
        for number in range(5):
            await sim.say(OLGA, str(number))
        await eventually(lambda: sink.under_way == 1)
        assert sink.texts() == ["0"]
        gate.set()
        await drained(sim)
    assert (sink.texts(), sink.most_under_way) == (["0", "1", "2", "3", "4"], 1)


async def test_chats_are_delivered_concurrently_up_to_max_connections() -> None:
    async with hooked(webhook={"max_connections": 2}) as (sim, sink):
        gate = asyncio.Event()
        sink.decide = lambda _: Reply(hold=gate)
        for chat_id in (OLGA, BEN, CHIARA):
            await sim.say(chat_id, "hello")
        await eventually(lambda: sink.under_way == 2)
        gate.set()
        await drained(sim)
    assert (len(sink.posts), sink.most_under_way) == (3, 2)


async def test_a_pressed_button_overtakes_an_unanswered_message() -> None:
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with hooked() as (sim, sink):
        gate = asyncio.Event()
        sink.decide = lambda post: Reply(hold=gate if "message" in post.body else None)
        sent = await sim.result("sendMessage", chat_id=OLGA, text="working", reply_markup=keyboard)
        await sim.say(OLGA, "long question")
        await sim.say(OLGA, "/stop")
        await sim.page("callbacks", chat_id=OLGA, from_id=OLGA, message_id=sent["message_id"], data="stop")
        await eventually(lambda: len(sink.posts) == 2)
        kinds = [next(key for key in post.body if key != "update_id") for post in sink.posts]
        gate.set()
        await drained(sim)
    assert kinds == ["message", "callback_query"]


async def test_a_refused_update_is_retried_before_the_next_one_of_its_chat() -> None:
    async with hooked() as (sim, sink):
        sink.decide = lambda _: Reply(status=503 if len(sink.posts) < 4 else 200)
        await sim.say(OLGA, "one")
        await sim.say(OLGA, "two")
        await drained(sim)
        trace = (await sim.http.get(f"/api/updates/{sink.posts[0].body['update_id']}")).json()
        info = await sim.result("getWebhookInfo")
    assert sink.texts() == ["one", "one", "one", "one", "two"]
    assert [one["status"] for one in trace["deliveries"]] == [503, 503, 503, 200]
    assert trace["update"] == sink.posts[0].body
    assert info["last_error_message"] == "Wrong response from the webhook: 503 X"


async def test_the_first_retry_comes_at_once_and_the_delays_double() -> None:
    async with hooked(retry_scale=0.02) as (sim, sink):
        sink.decide = lambda _: Reply(status=500 if len(sink.posts) < 5 else 200)
        await sim.say(OLGA, "one")
        await drained(sim)
    gaps = [after.at - before.at for before, after in pairwise(sink.posts)]
    assert gaps[0] < 0.04
    assert [round(gap / 0.02) >= expected for gap, expected in zip(gaps[1:], (2, 4, 8), strict=True)] == [
        True
    ] * 3
    assert gaps[3] < 16 * 0.02 + 0.2


async def test_retry_after_is_waited_for() -> None:
    async with hooked(retry_scale=0.02) as (sim, sink):
        busy = Reply(status=503, headers={"retry-after": "10"})
        sink.decide = lambda _: busy if len(sink.posts) == 1 else Reply()
        await sim.say(OLGA, "one")
        await drained(sim)
    assert 0.19 < sink.posts[1].at - sink.posts[0].at < 0.5


async def test_a_refused_chat_does_not_delay_others() -> None:
    async with hooked(retry_scale=0.05) as (sim, sink):

        def refuse_olga(post: Post) -> Reply:
            return Reply(status=500 if post.body["message"]["chat"]["id"] == OLGA else 200)

        sink.decide = refuse_olga
        await sim.say(OLGA, "stuck")
        for number in range(3):
            await sim.say(BEN, str(number))
        await drained(sim, left=1)
    assert [text for text in sink.texts() if text != "stuck"] == ["0", "1", "2"]


async def test_a_webhook_that_does_not_answer_gets_the_update_again() -> None:
    async with hooked(webhook_timeout_s=0.05) as (sim, sink):
        never = asyncio.Event()
        sink.decide = lambda _: Reply(hold=never if len(sink.posts) == 1 else None)
        await sim.say(OLGA, "one")
        await drained(sim)
        info = await sim.result("getWebhookInfo")
    assert sink.texts() == ["one", "one"]
    assert info["last_error_message"] == "Read timeout expired"


async def test_a_broken_connection_and_a_closed_port_count_as_failures() -> None:
    async with hooked() as (sim, sink):
        sink.decide = lambda _: Reply(status=None if len(sink.posts) == 1 else 200)
        await sim.say(OLGA, "one")
        await drained(sim)
        closed = (await sim.result("getWebhookInfo"))["last_error_message"]
        await sim.result("setWebhook", url="http://127.0.0.1:1/hook")
        said = await sim.say(OLGA, "two")
        async with asyncio.timeout(5):
            while "last_error_message" not in (info := await sim.result("getWebhookInfo")):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)
        assert info["pending_update_count"] == 1
    assert said["text"] == "two"
    assert (closed, info["last_error_message"]) == ("Webhook connection closed", "Connection refused")


async def test_an_update_that_expires_before_its_next_retry_is_dropped() -> None:
    async with hooked() as (sim, sink):
        late = asyncio.Event()
        in_an_hour = Reply(status=503, headers={"retry-after": "3600"}, hold=late)
        sink.decide = lambda post: in_an_hour if post.text == "old" else Reply()
        await sim.say(OLGA, "old")
        await eventually(lambda: sink.under_way == 1)
        sim.clock.ahead_s = 23.5 * 3600
        await sim.say(OLGA, "new")
        late.set()
        await drained(sim)
    assert sink.texts() == ["old", "new"]


async def test_a_webhook_that_is_unreachable_for_23_hours_is_removed() -> None:
    async with hooked() as (sim, sink):
        sink.decide = lambda _: Reply(status=410)
        await sim.say(OLGA, "one")
        await eventually(lambda: len(sink.posts) >= 2)
        assert (await sim.result("getWebhookInfo"))["url"] == sink.url
        sim.clock.ahead_s = 23 * 3600 + 60
        await sim.say(BEN, "two")
        async with asyncio.timeout(5):
            while (await sim.result("getWebhookInfo"))["url"]:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)
        assert len(await sim.result("getUpdates")) == 2


async def test_a_new_webhook_is_tried_at_once() -> None:
    async with hooked(retry_scale=10) as (sim, sink):
        sink.decide = lambda _: Reply(status=500 if len(sink.posts) < 3 else 200)
        await sim.say(OLGA, "one")
        await eventually(lambda: len(sink.posts) == 2 and not sink.under_way)
        await sim.result("setWebhook", url=f"{sink.url}/new")
        await drained(sim)
    assert sink.texts() == ["one", "one", "one"]


async def test_closing_the_simulator_during_a_delivery_leaves_no_task() -> None:
    async with listening_sink() as sink:
        never = asyncio.Event()
        sink.decide = lambda _: Reply(hold=never)
        async with simulator() as sim:
            await sim.result("setWebhook", url=sink.url)
            await sim.say(OLGA, "one")
            await eventually(lambda: sink.under_way == 1)
        left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("simulator")]
    assert left == []
