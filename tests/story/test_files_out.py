"""Stories of files that tools return: the chat gets each once, and an honest sentence if one is gone."""

from pathlib import Path

import pytest

from memory import keys
from tests.scripted_replies import call, calls, text
from tests.sent_files import make_picture
from tests.story.agents import keep_path, write_agents
from tests.story.harness import BEN, Story, StoryStores, make_ref, running_bot
from tests.story.prompts import tool_results

AGENT = """
[agent]
prompt = "You keep the books."
tools = ["{tools}:books"]
"""
TOOLS = '''
from bot.agent.files import File


def books() -> list[object]:
    """The books as a table and a picture."""
    return [File.table("books.csv", [("title", "pages"), ("Emma", 474)]), File("plot.png", {picture!r})]
'''
SCRIPT = [calls(call("books")), text("Here are the books."), text("You are welcome.")]


@pytest.fixture(autouse=True)
def path_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_path(monkeypatch)


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    return write_agents(tmp_path, AGENT, TOOLS.replace("{picture!r}", repr(make_picture(320, 200))))


def _kinds(bot: Story) -> list[str]:
    """Return the kinds of the bot's messages in Ben's chat, in order."""
    kinds = ("document", "photo", "text")
    return [next(kind for kind in kinds if kind in each) for each in bot.shown_in(BEN)]


async def test_a_table_and_a_picture_arrive_once_after_the_answer(stores: StoryStores, agents: Path) -> None:
    async with running_bot(stores, SCRIPT, agents_file=agents) as bot:
        assert await bot.ask(BEN, "the books, please") == "Here are the books."
        await bot.wait_until_finished(1)
        answer, table, photo = bot.shown_in(BEN)
        content = await bot.simulator.get(f"/api/files/{table['document']['file_id']}")
        await bot.ask(BEN, "thanks")

        assert _kinds(bot) == ["text", "document", "photo", "text"]
        assert (table["document"]["file_name"], content.content) == (
            "books.csv",
            b"title,pages\r\nEmma,474\r\n",
        )
        assert photo["photo"][-1]["width"] == 320
        assert [line.split("(")[0] for line in tool_results(bot.prompts()[1])[0].splitlines()] == [
            "[The chat gets the file books.csv ",
            "[The chat gets the file plot.png ",
        ]
        assert await bot.redis.call("EXISTS", keys.context_key(make_ref(BEN), "files")) == 0
        # All three messages show the answer: a reply to any of them is about it.
        links = await bot.redis.call("HVALS", keys.context_key(make_ref(BEN), "telegram"))
        assert any(
            str(link).split() == [str(each["message_id"]) for each in (answer, table, photo)]
            for link in links
        )


async def test_a_file_that_telegram_cannot_take_for_a_moment_arrives_once(
    stores: StoryStores, agents: Path
) -> None:
    async with running_bot(stores, SCRIPT, agents_file=agents) as bot:
        await bot.people.fault("500", method="sendPhoto", times=1)
        await bot.say(BEN, "the books, please")
        await bot.wait_until_finished(1)

        assert _kinds(bot) == ["text", "document", "photo"]


async def test_a_file_that_has_expired_becomes_a_sentence(stores: StoryStores, agents: Path) -> None:
    async with running_bot(stores, SCRIPT, agents_file=agents) as bot:
        await bot.people.fault("500", method="sendDocument", times=1000)
        await bot.say(BEN, "the books, please")

        async def is_refused() -> bool:
            return bool(await bot.people.calls("sendDocument"))

        await bot.wait_until_true(is_refused)
        assert await bot.redis.call("DEL", keys.context_key(make_ref(BEN), "files")) == 1
        await bot.people.no_faults()
        await bot.wait_until_finished(1)

        assert bot.said_in(BEN)[-2:] == [
            "I couldn't send the file books.csv. Ask me to make it again.",
            "I couldn't send the file plot.png. Ask me to make it again.",
        ]


@pytest.mark.parametrize(("error", "description"), [("400", ""), ("403", "CHAT_SEND_DOCS_FORBIDDEN")])
async def test_a_chat_that_takes_no_files_gets_a_sentence(
    stores: StoryStores, agents: Path, error: str, description: str
) -> None:
    async with running_bot(stores, SCRIPT, agents_file=agents) as bot:
        await bot.people.fault(error, method="sendDocument", description=description, times=1000)
        await bot.say(BEN, "the books, please")
        await bot.wait_until_finished(1)

        assert _kinds(bot) == ["text", "text", "photo"]
        assert bot.said_in(BEN)[-2] == "I couldn't send the file books.csv. Ask me to make it again."
