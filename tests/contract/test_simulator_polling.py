"""getUpdates of the simulator: long polling, offsets, and what ends it."""

import asyncio
import time
from typing import Any

import pytest

from simulator.api.world import BEN, OLGA
from tests.contract.simulator_rig import Rig, simulator

pytestmark = pytest.mark.slow

WEBHOOK = "http://127.0.0.1:1/hook"


async def texts(sim: Rig, **parameters: Any) -> list[str]:
    return [update["message"]["text"] for update in await sim.result("getUpdates", **parameters)]


async def waiting_poll(sim: Rig) -> "asyncio.Task[dict[str, Any]]":
    """A long poll that the simulator has already begun."""
    poll = asyncio.create_task(sim.call("getUpdates", timeout=30))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not poll.done()
    return poll


async def test_updates_are_returned_until_a_higher_offset_confirms_them() -> None:
    async with simulator() as sim:
        for text in ("one", "two", "three"):
            await sim.say(OLGA, text)
        first = await sim.result("getUpdates", limit=2)
        again = await texts(sim, limit=2)
        rest = await texts(sim, offset=first[-1]["update_id"] + 1)
        assert await sim.pending() == 1
    assert [update["message"]["text"] for update in first] == again == ["one", "two"]
    assert rest == ["three"]


async def test_a_negative_offset_returns_the_newest_and_drops_the_others() -> None:
    async with simulator() as sim:
        for text in ("one", "two", "three"):
            await sim.say(OLGA, text)
        assert await texts(sim, offset=-1) == ["three"]
        assert await texts(sim) == ["three"]


async def test_a_long_poll_returns_with_the_next_update() -> None:
    async with simulator() as sim:
        poll = await waiting_poll(sim)
        await sim.say(OLGA, "hello")
        answer = await asyncio.wait_for(poll, 2)
    assert [update["message"]["text"] for update in answer["result"]] == ["hello"]


async def test_a_poll_without_updates_returns_empty_after_its_timeout() -> None:
    async with simulator() as sim:
        before = time.monotonic()
        assert await sim.result("getUpdates", timeout=1) == []
        assert 0.9 < time.monotonic() - before < 2


async def test_a_second_poll_ends_the_first_with_a_conflict() -> None:
    async with simulator() as sim:
        first = await waiting_poll(sim)
        second = await waiting_poll(sim)
        answer = await asyncio.wait_for(first, 2)
        await sim.say(OLGA, "hello")
        assert len((await asyncio.wait_for(second, 2))["result"]) == 1
    assert (answer["error_code"], answer["description"]) == (
        409,
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    )


async def test_setting_a_webhook_ends_a_poll_and_forbids_the_next() -> None:
    async with simulator() as sim:
        poll = await waiting_poll(sim)
        await sim.result("setWebhook", url=WEBHOOK)
        ended = (await asyncio.wait_for(poll, 2))["description"]
        refused = await sim.refusal("getUpdates")
        await sim.result("deleteWebhook")
        assert await sim.result("getUpdates") == []
    assert ended == "Conflict: terminated by setWebhook request"
    assert refused == (
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
    )


async def test_only_the_requested_kinds_are_queued_from_then_on() -> None:
    async with simulator() as sim:
        await sim.say(OLGA, "before")
        await sim.result("getUpdates", allowed_updates=["callback_query"])
        await sim.say(OLGA, "dropped")
        assert (await sim.result("getWebhookInfo"))["allowed_updates"] == ["callback_query"]
        assert await texts(sim, allowed_updates=[]) == ["before"]
        await sim.say(OLGA, "after")
        assert await texts(sim) == ["before", "after"]


async def test_updates_survive_the_change_between_polling_and_webhook() -> None:
    async with simulator() as sim:
        await sim.result("setWebhook", url=WEBHOOK)
        await sim.say(OLGA, "hello")
        await sim.result("deleteWebhook")
        assert await texts(sim) == ["hello"]


async def test_pending_updates_are_dropped_on_request() -> None:
    async with simulator() as sim:
        await sim.say(OLGA, "one")
        await sim.result("deleteWebhook", drop_pending_updates=True)
        assert await sim.pending() == 0
        await sim.say(OLGA, "two")
        await sim.result("setWebhook", url=WEBHOOK, drop_pending_updates=True)
        assert await sim.pending() == 0


async def test_messages_expire_after_a_day_and_presses_after_150_seconds() -> None:
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one", reply_markup=keyboard)
        await sim.say(OLGA, "hello")
        await sim.page("callbacks", chat_id=OLGA, from_id=OLGA, message_id=sent["message_id"], data="stop")
        assert len(await sim.result("getUpdates")) == 2
        sim.clock.ahead_s = 151
        assert await texts(sim) == ["hello"]
        sim.clock.ahead_s = 24 * 3600 + 1
        assert await texts(sim) == []


async def test_an_edit_arrives_as_an_edited_message() -> None:
    async with simulator() as sim:
        said = await sim.say(OLGA, "helo")
        await sim.page("edits", chat_id=OLGA, from_id=OLGA, message_id=said["message_id"], text="hello")
        _, edit = await sim.result("getUpdates")
    assert edit["edited_message"]["text"] == "hello"
    assert edit["edited_message"]["edit_date"] >= said["date"]


async def test_blocking_and_unblocking_send_one_update_each() -> None:
    async with simulator() as sim:
        for blocked in (True, True, False):
            await sim.page("blocks", chat_id=BEN, blocked=blocked)
        changes = [update["my_chat_member"] for update in await sim.result("getUpdates")]
    statuses = [(one["old_chat_member"]["status"], one["new_chat_member"]["status"]) for one in changes]
    assert statuses == [("member", "kicked"), ("kicked", "member")]
    assert {one["from"]["id"] for one in changes} == {BEN}


async def test_joining_a_group_sends_an_update_and_a_service_message() -> None:
    async with simulator() as sim:
        chat = await sim.page("chats", title="New", type="group", members=[BEN, OLGA])
        member, message = await sim.result("getUpdates")
    assert member["my_chat_member"]["old_chat_member"]["status"] == "left"
    assert message["message"]["new_chat_members"][0]["is_bot"] is True
    assert (message["message"]["from"]["id"], message["message"]["chat"]["id"]) == (BEN, chat["id"])


@pytest.mark.parametrize(
    ("parameters", "description"),
    [
        ({"url": "http://example.com/hook"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        ({"url": "ftp://127.0.0.1/hook"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        ({"url": "hook"}, "bad webhook: invalid webhook URL specified"),
        ({"url": WEBHOOK, "secret_token": "a b"}, "secret token contains unallowed characters"),
        ({"url": WEBHOOK, "secret_token": "ключ"}, "secret token contains unallowed characters"),
        ({"url": WEBHOOK, "secret_token": "a" * 257}, "secret token is too long"),
        ({"url": WEBHOOK, "allowed_updates": "["}, "can't parse allowed_updates JSON object"),
    ],
)
async def test_an_invalid_webhook_is_refused(parameters: dict[str, Any], description: str) -> None:
    async with simulator() as sim:
        assert await sim.refusal("setWebhook", **parameters) == f"Bad Request: {description}"
        assert (await sim.result("getWebhookInfo"))["url"] == ""


async def test_get_webhook_info_shows_the_webhook() -> None:
    async with simulator() as sim:
        await sim.result(
            "setWebhook",
            url="https://bot.example.com/hook",
            secret_token="s" * 256,
            max_connections=1000,
            allowed_updates=["message", "callback_query", "nonsense"],
        )
        info = await sim.result("getWebhookInfo")
    assert info == {
        "url": "https://bot.example.com/hook",
        "has_custom_certificate": False,
        "max_connections": 100,
        "pending_update_count": 0,
        "allowed_updates": ["callback_query", "message"],
    }
