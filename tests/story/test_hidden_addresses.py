"""Stories of what an app shows only on a tap: addresses under words and people under names reach the model."""

from typing import Any

from tests.scripted_replies import text
from tests.story.harness import BEN, BOT, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.prompts import overheard, prompt_texts

ARTICLE = "https://example.org/2026/06/a_long_read?from=chat"
WRITTEN = f"the article ({ARTICLE})"


def link(words: str, *, within: str, url: str = ARTICLE) -> dict[str, Any]:
    """Return the entity of a link under these words."""
    before = within[: within.index(words)]
    return {
        "type": "text_link",
        "offset": len(before.encode("utf-16-le")) // 2,
        "length": len(words.encode("utf-16-le")) // 2,
        "url": url,
    }


async def say_linked(bot: Story, line: str, *, chat: int = BEN, person: int = BEN, **where: Any) -> Any:
    entities = [link("the article", within=line)]
    return await bot.people.send(person, chat=chat, text=line, entities=entities, **where)


def asked(bot: Story) -> str:
    return prompt_texts(bot.prompts()[-1])[-1]


async def test_the_model_gets_the_address_of_a_text_a_caption_and_a_forward(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted.")) as bot:
        line = "😀🎉 please summarise the article today"
        sent = await say_linked(bot, line)
        await bot.wait_for_reply(sent)
        assert asked(bot) == f"😀🎉 please summarise {WRITTEN} today"

        (forwarded,) = await bot.people.forward(BEN, [sent])
        await bot.wait_for_reply(forwarded)
        assert asked(bot).endswith(f"please summarise {WRITTEN} today")

        caption = "this is in the article"
        await bot.wait_for_reply(
            await bot.people.photo(BEN, caption, entities=[link("the article", within=caption)])
        )
        assert f"this is in {WRITTEN}" in asked(bot)


async def test_a_quotation_and_its_selected_part_have_the_address(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        line = "look at the article, it is long"
        unheard = await say_linked(bot, line, chat=WEEKEND, person=CHIARA)
        question = await bot.say(
            BEN, "@mnemogram_bot sum it up", chat=WEEKEND, reply_to=unheard["message_id"]
        )
        await bot.wait_for_reply(question)
        assert f'[in reply to Chiara Rossi: "look at {WRITTEN}, it is long"]' in asked(bot)

        quote = {
            "text": "the article",
            "position": 8,
            "entities": [link("the article", within="the article")],
        }
        body = {key: question[key] for key in ("chat", "from", "date", "text", "entities")}
        await bot.push({"message": body | {"message_id": 990, "reply_to_message": unheard, "quote": quote}})
        await bot.wait_for_prompts(2)
        assert f'[in reply to Chiara Rossi: "{WRITTEN}"]' in asked(bot)


async def test_overheard_talk_has_the_address(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await say_linked(bot, "read the article", chat=WEEKEND, person=CHIARA)
        await bot.ask(OLGA, "@mnemogram_bot what shall we read?", chat=WEEKEND)

        (line,) = overheard(bot.prompts()[-1])
        assert f"read {WRITTEN}" in line


async def test_an_edit_that_only_changes_the_address_is_answered_again(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted.")) as bot:
        line = "open the article"
        sent = await say_linked(bot, line)
        await bot.wait_for_reply(sent)

        other = link("the article", within=line, url="https://example.net/other")
        edit = {"chat_id": BEN, "message_id": sent["message_id"], "from_id": BEN}
        await bot.people.post("edits", **edit, text=line, entities=[other])
        await bot.wait_for_prompts(2)

        assert asked(bot) == "open the article (https://example.net/other)"


async def test_people_under_names_are_named_and_the_bots_own_name_is_left_out(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        robot = {"id": BOT, "is_bot": True, "first_name": "Mnemogram"}
        boss = {"id": 77, "is_bot": False, "first_name": "Anna", "last_name": "Silva"}
        entities = [
            {"type": "text_mention", "offset": 0, "length": 4, "user": robot},
            {"type": "text_mention", "offset": 13, "length": 7, "user": boss},
        ]
        line = {"message_id": 990, "date": 1_800_000_000, "chat": {"id": WEEKEND, "type": "group"}}
        ben = {"from": {"id": BEN, "is_bot": False, "first_name": "Ben"}}
        await bot.push({"message": line | ben | {"text": "robo, who is my boss?", "entities": entities}})
        await bot.wait_for_prompts(2)

        assert asked(bot).endswith("] Ben: who is my boss (@Anna Silva)?")


async def test_a_mention_before_a_command_is_the_command(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)

        await bot.ask(BEN, "@mnemogram_bot /new", chat=WEEKEND)

        assert len(bot.prompts()) == 1
        assert [each["reason"] for each in await bot.records()][-1] == "command_new"
