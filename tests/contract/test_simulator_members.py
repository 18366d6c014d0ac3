"""Memberships, administrators, topics, and groups that become supergroups."""

from typing import Any

import pytest

from simulator.api.world import BEN, CHIARA, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import Rig, next_event, served_simulator, simulator

pytestmark = pytest.mark.slow

BOT_ID = 4242


def _changes(updates: list[dict[str, Any]], kind: str) -> list[tuple[int, str, str]]:
    """Return the changes of membership in updates of this kind."""
    found = [update[kind] for update in updates if kind in update]
    return [
        (
            one["new_chat_member"]["user"]["id"],
            one["old_chat_member"]["status"],
            one["new_chat_member"]["status"],
        )
        for one in found
    ]


def _services(updates: list[dict[str, Any]], field: str) -> list[Any]:
    return [update["message"][field] for update in updates if field in update.get("message", {})]


async def test_the_bot_is_added_promoted_demoted_and_removed() -> None:
    async with simulator() as sim:
        group = await sim.people.new_chat("Quiet", [OLGA, BEN], has_bot=False)
        refusal = await sim.refusal("sendMessage", chat_id=group, text="x")
        for action in ("add", "promote", "demote", "remove"):
            await sim.people.member(action, group, by=OLGA, user=BOT_ID)
        kicked = await sim.refusal("sendMessage", chat_id=group, text="x")
        updates = await sim.updates()
    assert _changes(updates, "my_chat_member") == [
        (BOT_ID, "left", "member"),
        (BOT_ID, "member", "administrator"),
        (BOT_ID, "administrator", "member"),
        (BOT_ID, "member", "kicked"),
    ]
    assert [members[0]["id"] for members in _services(updates, "new_chat_members")] == [BOT_ID]
    assert [member["id"] for member in _services(updates, "left_chat_member")] == [BOT_ID]
    assert refusal == "Forbidden: bot is not a member of the group chat"
    assert kicked == "Forbidden: bot was kicked from the group chat"


async def test_an_administrator_bot_gets_the_membership_updates_that_it_asked_for() -> None:
    async with simulator() as sim:
        await sim.people.member("leave", WEEKEND_PLANS, by=BEN)
        await sim.updates()
        await sim.people.member("promote", WEEKEND_PLANS, by=OLGA, user=BOT_ID)
        await sim.people.member("join", WEEKEND_PLANS, by=BEN)
        await sim.people.member("promote", WEEKEND_PLANS, by=OLGA, user=BEN)
        status = (await sim.result("getChatMember", chat_id=WEEKEND_PLANS, user_id=BEN))["status"]
        await sim.people.member("demote", WEEKEND_PLANS, by=OLGA, user=BEN)
        await sim.people.member("remove", WEEKEND_PLANS, by=OLGA, user=BEN)
        updates = await sim.updates()
    assert _changes(updates, "chat_member") == [
        (BEN, "left", "member"),
        (BEN, "member", "administrator"),
        (BEN, "administrator", "member"),
        (BEN, "member", "left"),
    ]
    assert [member["id"] for member in _services(updates, "left_chat_member")] == [BEN, BEN]
    assert status == "administrator"


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "members",
            {"from_id": BEN, "action": "promote", "user_id": BEN},
            "Only an administrator can do that.",
        ),
        ("members", {"from_id": OLGA, "action": "leave"}, "The group's creator stays."),
        ("members", {"from_id": OLGA, "action": "join"}, "That person is in this chat already."),
        ("members", {"from_id": OLGA, "action": "add", "user_id": 5}, "There is no such person."),
        (
            "members",
            {"from_id": OLGA, "action": "add", "user_id": BOT_ID},
            "The bot is in this chat already.",
        ),
        ("titles", {"from_id": BEN, "title": "Mine"}, "Only an administrator can do that."),
        ("titles", {"from_id": OLGA, "title": "Weekend plans"}, "That is the title already."),
        ("pins", {"from_id": OLGA, "message_id": 5}, "There is no such message in this chat."),
        ("topics", {"from_id": OLGA, "name": "x"}, "This chat has no topics."),
        ("topics", {"from_id": OLGA}, "A topic needs a name."),
        ("topics", {"from_id": OLGA, "message_thread_id": 7}, "There is no such topic in this chat."),
        ("upgrades", {"from_id": BEN}, "Only an administrator can do that."),
    ],
)
async def test_an_action_without_permission_is_refused(
    path: str, body: dict[str, Any], sentence: str
) -> None:
    async with simulator() as sim:
        answer = await sim.http.post(f"/api/{path}", json={"chat_id": WEEKEND_PLANS, **body})
        assert await sim.pending() == 0
    assert answer.json() == {"error": sentence}


async def test_a_bot_in_privacy_mode_sees_titles_and_pins_as_service_messages() -> None:
    async with simulator() as sim:
        said = await sim.say(WORKSHOP, "remember", from_id=BEN, message_thread_id=2)
        await sim.page("titles", chat_id=WEEKEND_PLANS, from_id=OLGA, title="Lake")
        await sim.page("pins", chat_id=WORKSHOP, from_id=OLGA, message_id=said["message_id"])
        titled, pinned = [update["message"] for update in await sim.updates()]
    assert (titled["new_chat_title"], titled["chat"]["title"]) == ("Lake", "Lake")
    assert (pinned["pinned_message"]["text"], pinned["message_thread_id"]) == ("remember", 2)


async def test_a_topic_is_created_renamed_and_deleted_without_an_update() -> None:
    async with served_simulator() as sim, sim.events() as events:
        thread = await sim.people.new_topic(WORKSHOP, "Plans", by=BEN)
        place = {"chat_id": WORKSHOP, "message_thread_id": thread}
        sent = await sim.result("sendMessage", **place, text="x")
        await sim.page("topics", **place, from_id=BEN, name="Old plans")
        before = await sim.updates()
        await sim.people.delete_topic(WORKSHOP, thread, by=OLGA)
        gone = [(await next_event(events, "delete"))["message_id"] for _ in range(3)]
        refusal = await sim.refusal("sendMessage", **place, text="x")
        refused_edit = await sim.refusal(
            "editMessageText", chat_id=WORKSHOP, message_id=sent["message_id"], text="y"
        )
        assert await sim.updates() == before
    assert [one["name"] for one in _services(before, "forum_topic_created")] == ["Plans"]
    assert [one["name"] for one in _services(before, "forum_topic_edited")] == ["Old plans"]
    assert before[0]["message"]["message_id"] == thread
    assert sent["message_id"] in gone
    assert refusal == "Bad Request: message thread not found"
    assert refused_edit == "Bad Request: message to edit not found"


async def test_private_chats_have_topics_if_the_simulator_allows_them() -> None:
    async with simulator(private_topics=True) as sim, simulator() as plain:
        thread = await sim.people.new_topic(OLGA, "Recipes", by=OLGA)
        said = await sim.say(OLGA, "soup", message_thread_id=thread)
        reply = await sim.say(OLGA, "and?", reply_to_message_id=said["message_id"])
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x", message_thread_id=thread)
        outside = await sim.say(OLGA, "elsewhere")
        flags = [(await one.result("getMe"))["has_topics_enabled"] for one in (sim, plain)]
        refused = await plain.http.post("/api/topics", json={"chat_id": OLGA, "from_id": OLGA, "name": "x"})
    assert [one["message_thread_id"] for one in (said, reply, sent)] == [thread] * 3
    assert said["is_topic_message"] is sent["is_topic_message"] is True
    assert "message_thread_id" not in outside
    assert flags == [True, False]
    assert refused.json() == {"error": "This chat has no topics."}


async def _upgraded(sim: Rig, order: str) -> tuple[int, list[tuple[int, int | None, int | None]]]:
    """Return the new id, and chat and migration ids of each message."""
    new = await sim.people.upgrade(WEEKEND_PLANS, by=OLGA, order=order)
    messages = [update["message"] for update in await sim.updates()]
    return new, [
        (one["chat"]["id"], one.get("migrate_to_chat_id"), one.get("migrate_from_chat_id"))
        for one in messages
    ]


async def test_a_group_becomes_a_supergroup_with_a_service_message_in_both_chats() -> None:
    async with simulator() as sim, simulator() as other:
        new, first = await _upgraded(sim, "old_first")
        _, second = await _upgraded(other, "new_first")
        refused = await sim.http.post(
            "/api/messages", json={"chat_id": WEEKEND_PLANS, "from_id": BEN, "text": "anyone?"}
        )
        answer = await sim.call("sendMessage", chat_id=WEEKEND_PLANS, text="x")
        sent = await sim.result("sendMessage", chat_id=new, text="x")
        said = await sim.say(new, "@mnemogram_bot hi", from_id=BEN)
        chats = {one["id"]: one for one in (await sim.world())["chats"]}
    assert first == [(WEEKEND_PLANS, new, None), (new, None, WEEKEND_PLANS)]
    assert second == first[::-1]
    assert answer["parameters"] == {"migrate_to_chat_id": new}
    assert answer["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert refused.json() == {"error": "This group was upgraded: write to the supergroup."}
    assert (sent["chat"]["type"], said["chat"]["title"]) == ("supergroup", "Weekend plans")
    assert (chats[WEEKEND_PLANS]["migrated_to"], chats[new]["members"]) == (new, [OLGA, BEN, CHIARA, BOT_ID])


async def test_a_supergroup_cannot_be_upgraded_again() -> None:
    async with simulator() as sim:
        answer = await sim.http.post("/api/upgrades", json={"chat_id": WORKSHOP, "from_id": OLGA})
    assert answer.json() == {"error": "That is a supergroup already."}
