"""People forget messages on the page, reset their memory, and get their data."""

import asyncio
import json

from bot.page.api import OF_A_VISITOR
from memory.transfer.file import check_file
from simulator.offline_model.prompt import text_of
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, StoryStores, running_bot
from tests.story.page_visits import Visit, context_of, page_server, visiting


async def messages_of(page: Visit, chat: int) -> list[str]:
    """Return the ids of a chat's messages, oldest first."""
    found = await page.read(f"contexts/{context_of(chat)}/messages", limit=200)
    return [message["id"] for message in reversed(found["messages"])]


async def test_what_a_person_forgets_on_the_page_is_gone_everywhere(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "The code of the bike lock is 4711")
        await bot.ask(BEN, "My cat is called Muffin")
        await bot.wait_until_indexed()
        async with visiting(bot, BEN) as page:
            ids = await messages_of(page, BEN)
            done = await page.do(f"contexts/{context_of(BEN)}/forget", {"message_ids": [*ids[:2], "nothing"]})
            found = await page.read(f"contexts/{context_of(BEN)}/search", q="bike lock 4711")

        assert await bot.keys_with("4711") == []
        assert [text for _, text in await bot.lines(BEN)] == [
            "My cat is called Muffin",
            "echo: My cat is called Muffin",
        ]
    receipt = done["receipt"]
    assert done["gone"] == ["nothing"]
    assert receipt["erased"]["messages"] == 2
    assert (receipt["vectors_erased"], receipt["vectors_left"], receipt["left"]) == (2, 0, {})
    assert receipt["is_proven"]
    assert receipt["text"].startswith("I checked: the text itself is gone.\nI've forgotten those messages.")
    assert all("4711" not in hit["message"]["text"] for hit in found["hits"])


async def test_of_two_windows_that_forget_the_same_message_one_gets_the_receipt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        for number in range(5):
            await bot.ask(BEN, f"line {number}")
        async with visiting(bot, BEN) as first, visiting(bot, BEN) as second:
            ids = await messages_of(first, BEN)
            for each in ids:
                answers = await asyncio.gather(
                    *[
                        page.do(f"contexts/{context_of(BEN)}/forget", {"message_ids": [each]})
                        for page in (first, second)
                    ]
                )
                outcomes = sorted((answer["receipt"] is not None, answer["gone"]) for answer in answers)
                assert outcomes == [(False, [each]), (True, [])]


async def test_a_member_forgets_their_own_messages_only(stores: StoryStores) -> None:
    async with running_bot(stores, group_memory_page="members") as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot good morning", chat=WEEKEND)
        path = f"contexts/{context_of(WEEKEND)}"
        async with visiting(bot, BEN, group=WEEKEND) as page:
            ids = await messages_of(page, WEEKEND)
            shown = await page.read(f"{path}/messages")
            refusals = [
                await page.send(f"{path}/forget", {"message_ids": [ids[0], each]}) for each in ids[1:]
            ]
            reset = await page.send(f"{path}/reset")
            export = await page.send(f"{path}/export")
            done = await page.do(f"{path}/forget", {"message_ids": ids[:1]})
        kept = await bot.lines(WEEKEND)

    assert [message["may_forget"] for message in shown["messages"]] == [False, False, False, True]
    assert [answer.status_code for answer in (*refusals, reset, export)] == [403] * 5
    assert done["receipt"]["erased"]["messages"] == 1
    assert [role for role, _ in kept] == ["assistant", "user", "assistant"]


async def test_a_reset_on_the_page_answers_with_the_receipt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "The code of the bike lock is 4711")
        async with visiting(bot, BEN) as page:
            done = await page.do(f"contexts/{context_of(BEN)}/reset")
            contexts = await page.read("contexts")

        assert await bot.keys_with("4711") == []
    assert done["receipt"]["erased"]["messages"] == 2
    assert done["receipt"]["is_proven"]
    assert contexts["contexts"][0]["messages"] == 0


async def test_a_persons_data_come_into_their_chat_as_a_file_that_can_be_imported(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "My cat is called Muffin")
        async with visiting(bot, BEN) as page:
            done = await page.do(f"contexts/{context_of(BEN)}/export")
            again = await page.send(f"contexts/{context_of(BEN)}/export")
        await bot.wait_until(lambda: any("document" in sent for sent in bot.shown_in(BEN)))
        document = next(sent["document"] for sent in bot.shown_in(BEN) if "document" in sent)
        content = (await bot.simulator.get(f"/api/files/{document['file_id']}")).text

    facts = check_file(iter(content.splitlines(keepends=True)))
    assert (facts.header.chat, facts.counts["message"]) == (str(BEN), 2)
    assert "Muffin" in content
    assert (done["sent"], done["file_name"]) == (True, document["file_name"])
    assert done["size"] == len(content)
    assert (again.status_code, again.json()["error"]) == (429, "too_many_requests")


async def test_a_third_export_at_a_time_waits_and_costs_its_person_nothing(stores: StoryStores) -> None:
    people = (OLGA, BEN, CHIARA)
    async with running_bot(stores) as bot, page_server(bot) as server:
        for person in people:
            await bot.ask(person, "hello")
        await bot.people.fault("hang", method="sendDocument", times=None, seconds=3, late=True)
        paths = {person: f"contexts/{context_of(person)}/export" for person in people}
        answers = await asyncio.gather(*[server.visit(person).send(paths[person]) for person in people])
        await bot.people.no_faults()
        (refused,) = [
            person for person, answer in zip(people, answers, strict=True) if answer.status_code == 503
        ]
        again = await server.visit(refused).send(paths[refused])

    assert sorted(answer.status_code for answer in answers) == [200, 200, 503]
    assert again.status_code == 200


async def test_a_person_whom_the_bot_may_not_write_to_is_told_so(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.page("blocks", {"chat_id": BEN, "blocked": True})
        async with visiting(bot, BEN) as page:
            answer = await page.send(f"contexts/{context_of(BEN)}/export")

    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    assert "press Start" in answer.json()["message"]


async def test_ids_that_are_none_are_refused(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        async with visiting(bot, BEN) as page:
            for ids in ([], "m1", [1], [""], ["x" * 65], ["x"] * 101, None, {"a": 1}):
                answer = await page.send(f"contexts/{context_of(BEN)}/forget", {"message_ids": ids})
                assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


async def test_an_id_that_no_store_takes_is_refused(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        answer = await server.http.post(
            f"/app/api/contexts/{context_of(BEN)}/forget",
            content=json.dumps({"message_ids": ["\ud800"]}),
            headers=dict(server.visit(BEN).headers),
        )

    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


async def test_a_person_cannot_keep_the_index_busy_with_erasures(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        path = f"contexts/{context_of(BEN)}"
        page, other = server.visit(BEN), server.visit(OLGA)
        statuses = [
            (await page.send(f"{path}/forget", {"message_ids": ["nothing"]})).status_code
            for _ in range(OF_A_VISITOR.burst)  # more would be too many requests of any kind
        ]
        theirs = await other.send(f"contexts/{context_of(OLGA)}/reset")

    assert set(statuses) == {200, 429}
    assert theirs.status_code == 200


async def test_a_running_turn_that_has_read_a_forgotten_message_begins_again_without_it(
    stores: StoryStores,
) -> None:
    """The model repeats its whole prompt, so an answer to the first prompt would have the message."""
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        if "repeat" not in last_user_text(request):
            return echo(request)
        return held(text(" | ".join(text_of(each) for each in request["messages"])), until=answer)

    async with running_bot(stores, script) as bot:
        await bot.ask(BEN, "The code of the bike lock is 4711")
        question = await bot.say(BEN, "Please repeat everything")
        await bot.wait_for_prompts(2)
        async with visiting(bot, BEN) as page:
            done = await page.do(
                f"contexts/{context_of(BEN)}/forget", {"message_ids": await messages_of(page, BEN)}
            )
            answer.set()
            reply = await bot.wait_for_reply(question)
        await bot.wait_until_idle()

        assert done["receipt"]["erased"]["messages"] == 2
        assert "4711" not in reply["text"]
        assert "Please repeat everything" in reply["text"]
        assert [role for role, _ in await bot.lines(BEN)] == ["user", "assistant"]
        assert await bot.keys_with("4711") == []
