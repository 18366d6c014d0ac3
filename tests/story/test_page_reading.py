"""People read their chat's memory on the page."""

import time

from bot.page.api import OF_A_VISITOR
from memory.artifacts.store import ContextArtifacts
from tests.documents import pdf_of
from tests.story.harness import BEN, OLGA, WEEKEND, StoryStores, make_ref, running_bot
from tests.story.page_visits import context_of, page_server, visiting


async def test_a_person_reads_what_was_said_newest_first_and_page_by_page(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        for number in range(3):
            await bot.ask(BEN, f"line {number}")
        async with visiting(bot, BEN) as page:
            contexts = await page.read("contexts")
            newest = await page.read(f"contexts/{context_of(BEN)}/messages", limit=4)
            before = newest["messages"][-1]["sequence"]
            rest = await page.read(f"contexts/{context_of(BEN)}/messages", before=before)
            after = await page.read(f"contexts/{context_of(BEN)}/messages", after=before, limit=2)

    (context,) = contexts["contexts"]
    assert contexts["current"] == context["id"] == context_of(BEN)
    assert contexts["me"] == {"id": BEN, "name": "Somebody", "language": "en", "is_operator": False}
    assert (contexts["bot"]["name"], contexts["bot"]["username"]) == ("Mnemogram", "mnemogram_bot")
    assert (context["kind"], context["messages"], context["may_forget"]) == ("private", 6, "all")
    assert [each["text"] for each in newest["messages"]] == [
        "echo: line 2",
        "line 2",
        "echo: line 1",
        "line 1",
    ]
    assert newest["has_more"]
    assert [each["text"] for each in rest["messages"]] == ["echo: line 0", "line 0"]
    assert not rest["has_more"]
    assert [each["text"] for each in after["messages"]] == ["line 2", "echo: line 1"]
    first, second = rest["messages"][1], rest["messages"][0]
    assert (first["role"], first["is_mine"], first["sender"]["id"]) == ("user", True, BEN)
    assert (second["role"], second["is_mine"], second["may_forget"]) == ("assistant", False, True)


async def test_a_search_finds_by_words_and_says_when_the_index_is_away(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "The code of the bike lock is 4711")
        await bot.ask(BEN, "My cat is called Muffin")
        await bot.wait_until_indexed()
        async with visiting(bot, BEN) as page:
            found = await page.read(f"contexts/{context_of(BEN)}/search", q="bike lock code", k=1)

    (hit,) = found["hits"]
    assert found["is_searchable"]
    assert "4711" in hit["message"]["text"]
    assert hit["score"] > 0


async def test_an_administrator_reads_the_group_of_the_link(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        async with visiting(bot, OLGA, group=WEEKEND) as page:
            contexts = await page.read("contexts")
            messages = await page.read(f"contexts/{context_of(WEEKEND)}/messages")

    assert [each["chat_id"] for each in contexts["contexts"]] == [OLGA, WEEKEND]
    assert contexts["current"] == context_of(WEEKEND)
    assert [each["is_mine"] for each in messages["messages"]] == [False, False]


async def test_an_answer_has_a_receipt_that_names_its_sources_and_why_they_were_found(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, openai_summary_model="", window_tokens=64) as bot:
        await bot.ask(BEN, "The code of the bike lock is 4711")
        for number in range(3):
            await bot.ask(BEN, f"something else entirely, number {number}, which fills the window with words")
        await bot.wait_until_indexed()
        await bot.ask(BEN, "What is the code of my bike lock?")
        await bot.wait_until_indexed()
        path = f"contexts/{context_of(BEN)}"
        async with visiting(bot, BEN) as page:
            shown = await page.read(f"{path}/messages", limit=1)
            receipt = (await page.read(f"{path}/receipts/{shown['messages'][0]['id']}"))["receipt"]
            sources = [each["message"]["id"] for each in receipt["recalled"]]
            await page.do(f"{path}/forget", {"message_ids": sources[:1]})
            after = (await page.read(f"{path}/receipts/{shown['messages'][0]['id']}"))["receipt"]
            none = await page.read(f"{path}/receipts/nothing")

    assert shown["messages"][0]["has_receipt"]
    best = receipt["recalled"][0]
    assert best["message"]["text"] == "The code of the bike lock is 4711"
    assert "words" in best["why"]["reasons"]
    assert {"code", "bike", "lock"} <= set(best["why"]["words"])
    assert receipt["prompt_tokens"] > 0
    assert [each["message"] for each in after["recalled"]].count(None) == 1
    assert none == {"receipt": None}


async def test_a_person_cannot_keep_the_store_busy_with_lists_of_contexts(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        page = server.visit(BEN)
        statuses = [(await page.ask("contexts")).status_code for _ in range(OF_A_VISITOR.burst)]
        other = await server.visit(OLGA).ask("contexts")

    assert set(statuses) == {200, 429}  # more would be too many requests of any kind
    assert other.status_code == 200


async def test_a_document_is_listed_with_its_name_and_its_message_and_goes_with_it(
    stores: StoryStores,
) -> None:
    pages = [f"Page {number} of the report. {'filler ' * 30}" for number in range(40)]
    path = f"contexts/{context_of(BEN)}"
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        sent = await bot.people.document(BEN, pdf_of(*pages), name="report.pdf", caption="Keep this")
        await bot.wait_until_finished(1)
        await bot.ask(BEN, "And this is something else")
        (document,) = (await page.read(f"{path}/artifacts"))["artifacts"]
        await page.do(f"{path}/forget", {"message_ids": [document["message"]["id"]]})
        after = await page.read(f"{path}/artifacts")

    assert sent["document"]["file_name"] == "report.pdf"
    assert (document["is_document"], document["name"]) == (True, "report.pdf")
    assert document["message"]["text"] == "Keep this"
    assert document["message"]["may_forget"]
    assert "40 pages" in document["message"]["note"]
    assert after == {"artifacts": []}


async def test_a_result_of_a_tool_is_no_document(stores: StoryStores) -> None:
    ref = make_ref(BEN)
    async with running_bot(stores) as bot, visiting(bot, BEN) as page:
        await bot.ask(BEN, "hello")
        store = ContextArtifacts(bot.redis, ref, epoch=lambda: 0, clock=time.time, ttl_s=600, keep_beyond=0)
        await store.keep("a long list", tool="list_files", key="call")
        (result,) = (await page.read(f"contexts/{context_of(BEN)}/artifacts"))["artifacts"]

    assert (result["tool"], result["is_document"]) == ("list_files", False)
    assert (result["name"], result["message"]) == (None, None)
