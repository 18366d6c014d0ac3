"""Who may ask the page for what: every path, as everybody."""

from collections.abc import Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.page.api import API_PATH
from bot.transport.people import ADMINISTRATOR_S
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.page_visits import PageServer, Visit, context_of, page_server

READING = {"forger": 401, "stranger": 403, "member": 403, "administrator": 200, "operator": 403}
"""The memory of a group, with GROUP_MEMORY_PAGE=administrators."""
ACCESS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("GET", "contexts"): READING | {"operator": 200},  # without the group
    ("GET", "contexts/{id}/messages"): READING,
    ("GET", "contexts/{id}/search"): READING,
    ("GET", "contexts/{id}/summary"): READING,
    ("GET", "contexts/{id}/artifacts"): READING,
    ("GET", "contexts/{id}/receipts/{message_id}"): READING,
    ("GET", "contexts/{id}/facts"): READING,
    ("DELETE", "contexts/{id}/facts/{fact_id}"): READING,
    ("POST", "contexts/{id}/facts/{fact_id}"): READING,
    ("GET", "contexts/{id}/reminders"): READING,
    ("DELETE", "contexts/{id}/reminders/{reminder_id}"): READING,
    ("POST", "contexts/{id}/forget"): READING,
    ("POST", "contexts/{id}/export"): READING,
    ("POST", "contexts/{id}/reset"): READING,
}
"""The status that each visitor gets for each path of the API. A new path fails the test until it is decided."""
OPERATING = {"forger": 401, "stranger": 403, "member": 403, "administrator": 403, "operator": 200}
OPERATIONS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("GET", "operations/now"): OPERATING,
    ("GET", "operations/series"): OPERATING,
    ("GET", "operations/chats"): OPERATING,
    ("GET", "operations/costs"): OPERATING,
    ("GET", "operations/updates/{id}"): OPERATING | {"operator": 404},  # it does not exist
    ("GET", "operations/dead-letters"): OPERATING,
    ("POST", "operations/dead-letters/{id}/retry"): OPERATING,
    ("POST", "operations/dead-letters/{id}/drop"): OPERATING,
    ("GET", "operations/invitations"): OPERATING,
    ("GET", "operations/people/{id}"): OPERATING,
    ("POST", "operations/people/{id}/forget"): OPERATING,
    ("GET", "operations/settings"): OPERATING,
}
"""Like ACCESS, without the doctor, which takes seconds: test_operations.py asks for it."""
DOCTOR = ("GET", "operations/doctor")
CHANGES = ("export", "reset")


async def ask(page: Visit, method: str, path: str, *, chat: int) -> int:
    """Return the status of a request about this chat. Its message, fact and reminder do not exist."""
    is_operation = path.startswith("operations/")
    names = {"message_id": "m1", "fact_id": "f1", "reminder_id": "r1"}
    path = path.format(id=999_999 if is_operation else context_of(chat), **names)
    body: Mapping[str, Any] = {"message_ids": ["m1"], "statement": "Ben has a cat."}
    if method == "DELETE":
        answer = await page.delete(path)
    else:
        answer = await (page.send(path, body) if method == "POST" else page.ask(path, q="cat"))
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error", "message"}
    return answer.status_code


async def visitors(server: PageServer, bot: Story) -> Mapping[str, Visit]:
    """Return one visitor of each kind; all of them have the group's link. Chiara, the operator, has left the group."""
    await bot.people.member("leave", WEEKEND, by=CHIARA)
    stranger = await bot.page("people", {"first_name": "Eve"})
    return {
        "forger": server.visit(OLGA, group=WEEKEND, token="4242:another-bots-token"),
        "stranger": server.visit(stranger["id"], group=WEEKEND),
        "member": server.visit(BEN, group=WEEKEND),
        "operator": server.visit(CHIARA, group=WEEKEND),
        "administrator": server.visit(OLGA, group=WEEKEND),
    }


async def table_of(
    server: PageServer,
    bot: Story,
    *,
    of: Mapping[tuple[str, str], Mapping[str, int]] = ACCESS,
    chat: int = WEEKEND,
) -> dict[tuple[str, str], dict[str, int]]:
    """Ask for these paths as everybody. The reset of the administrator comes last."""
    people = await visitors(server, bot)
    paths = sorted(of, key=lambda each: each[1].endswith("reset"))
    return {
        (method, path): {who: await ask(page, method, path, chat=chat) for who, page in people.items()}
        for method, path in paths
    }


async def talk(bot: Story) -> None:
    """Let the group have a memory."""
    await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)


async def test_every_path_answers_everybody_as_decided(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        await talk(bot)
        paths = {
            (method, route.path.removeprefix(API_PATH))
            for route in server.api.routes
            for method in (route.methods or set()) - {"HEAD"}
        }
        assert paths == {*ACCESS, *OPERATIONS, DOCTOR}
        assert await table_of(server, bot) == ACCESS


async def test_operations_answer_nobody_but_operators(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        await talk(bot)
        assert await table_of(server, bot, of=OPERATIONS) == OPERATIONS


async def test_members_read_where_the_operator_allows_it_and_change_nothing(stores: StoryStores) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "group_memory_page": "members"}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await talk(bot)
        table = await table_of(server, bot)

    for (method, path), expected in ACCESS.items():
        is_change = path.endswith(CHANGES)
        assert table[method, path] == {**expected, "member": 403 if is_change else expected["administrator"]}


async def test_without_a_page_for_groups_nobody_sees_one(stores: StoryStores) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "group_memory_page": "off"}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await talk(bot)
        table = await table_of(server, bot)

    for (method, path), expected in ACCESS.items():
        assert table[method, path] == {**expected, "administrator": 403}


async def test_operators_read_the_chats_of_others_only_if_it_is_allowed_and_each_look_is_logged(
    stores: StoryStores,
) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "operators_read_chats": True}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await talk(bot)
        await bot.ask(BEN, "my secret is 4711")
        with capture_logs() as logs:
            table = await table_of(server, bot)
            private = await ask(server.visit(CHIARA), "GET", "contexts/{id}/messages", chat=BEN)
            others = await ask(server.visit(OLGA), "GET", "contexts/{id}/messages", chat=BEN)

    for (method, path), expected in ACCESS.items():
        is_export = path.endswith("export")
        assert table[method, path] == {**expected, "operator": 403 if is_export else 200}
    assert (private, others) == (200, 403)
    looks = [log for log in logs if log["event"] == "operator_reads_chat"]
    assert {(log["operator"], log["context"]) for log in looks} == {
        (CHIARA, context_of(WEEKEND)),
        (CHIARA, context_of(BEN)),
    }
    assert len(looks) == len(ACCESS)  # all paths but `contexts`, and the private chat
    assert "4711" not in str(logs)


@pytest.mark.parametrize("chat", [BEN, WEEKEND, -999, 424242])
async def test_a_foreign_context_and_an_unknown_one_look_the_same(stores: StoryStores, chat: int) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        await talk(bot)
        await bot.ask(BEN, "hello")
        page = server.visit(OLGA)
        answers = [
            await page.ask(f"contexts/{each}/messages")
            for each in (context_of(chat), "0" * 32, "nothing", "%00", "x" * 500)
        ]

    assert {(answer.status_code, answer.text) for answer in answers} == {
        (403, '{"error":"forbidden","message":"You may not see this memory."}')
    }


async def test_a_demoted_administrator_is_out_within_a_minute(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        await talk(bot)
        await bot.people.member("promote", WEEKEND, by=OLGA, user=BEN)
        page = server.visit(BEN, group=WEEKEND)
        before = await ask(page, "GET", "contexts/{id}/messages", chat=WEEKEND)
        await bot.people.member("demote", WEEKEND, by=OLGA, user=BEN)
        server.clock.ahead_s += ADMINISTRATOR_S
        after = await ask(page, "GET", "contexts/{id}/messages", chat=WEEKEND)
        contexts = await ask(page, "GET", "contexts", chat=WEEKEND)
        own = await ask(page, "GET", "contexts/{id}/messages", chat=BEN)

    assert (before, after, contexts, own) == (200, 403, 403, 200)


@pytest.mark.parametrize("setting", ["administrators", "members"])
async def test_while_telegram_does_not_answer_nobody_sees_a_group(stores: StoryStores, setting: str) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "group_memory_page": setting}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await talk(bot)
        statuses: list[int] = []
        for error in ("500", "400", "403"):
            for method in ("getChatAdministrators", "getChatMember"):
                await bot.page("faults", {"method": method, "error": error, "times": 5})
            page = server.visit(OLGA, group=WEEKEND)
            statuses.append(await ask(page, "GET", "contexts/{id}/messages", chat=WEEKEND))
            await bot.simulator.delete("/api/faults")

    assert statuses == [503, 403, 403]


async def test_a_group_without_the_bot_is_asked_about_once_a_minute(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        await talk(bot)
        await bot.people.block(WEEKEND)
        page = server.visit(OLGA, group=WEEKEND)
        statuses = [await ask(page, "GET", "contexts", chat=WEEKEND) for _ in range(5)]
        asked = await bot.people.calls("getChatAdministrators")

    assert (statuses, len(asked)) == ([403] * 5, 1)


async def test_an_old_link_of_a_supergroup_is_decided_by_its_present_administrators(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot, page_server(bot, operator_ids=frozenset({CHIARA})) as server:
        old = await bot.people.new_chat("Choir", [OLGA, BEN])
        await bot.ask(OLGA, "@mnemogram_bot hello", chat=old)
        new = await bot.people.upgrade(old, by=OLGA)
        await bot.ask(OLGA, "@mnemogram_bot hello again", chat=new)
        statuses = [
            await ask(server.visit(person, group=old), "GET", "contexts/{id}/messages", chat=old)
            for person in (OLGA, BEN)
        ]
        asked = await bot.people.calls("getChatAdministrators")

    assert statuses == [200, 403]
    assert [call["chat_id"] for call in asked] == [new, new]


async def test_a_page_that_was_open_for_an_hour_asks_to_be_opened_again(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        page = server.visit(BEN)
        server.clock.ahead_s += 3_602
        answer = await page.ask("contexts")

    assert (answer.status_code, answer.json()["error"]) == (401, "expired")


async def test_only_people_with_access_to_the_bot_have_a_page(stores: StoryStores) -> None:
    settings: dict[str, Any] = {"operator_ids": frozenset({CHIARA}), "allowed_user_ids": frozenset({BEN})}
    async with running_bot(stores) as bot, page_server(bot, **settings) as server:
        await talk(bot)
        statuses = {
            person: await ask(server.visit(person, group=WEEKEND), "GET", "contexts", chat=WEEKEND)
            for person in (OLGA, CHIARA)
        }
        allowed = await ask(server.visit(BEN), "GET", "contexts", chat=BEN)

    assert (statuses, allowed) == ({OLGA: 403, CHIARA: 200}, 200)


async def test_hostile_texts_come_back_as_they_were_written(stores: StoryStores) -> None:
    text = "<script>alert(1)</script> \u2066\u200f <img src=x onerror=alert(1)> ${x} {{x}} " + "🧠" * 20
    async with running_bot(stores) as bot, page_server(bot) as server:
        await bot.ask(BEN, text)
        answer = await server.visit(BEN).ask(f"contexts/{context_of(BEN)}/messages")

    assert answer.json()["messages"][-1]["text"] == text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
