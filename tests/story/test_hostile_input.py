"""Stories of hostile input: it is answered, reported as unreadable, or ignored, and the chat goes on."""

from typing import Any

from tests.story.harness import OLGA, StoryStores, running_bot

MESSAGE: dict[str, Any] = {
    "message_id": 900,
    "date": 1_760_000_000,
    "chat": {"id": OLGA, "type": "private", "first_name": "Olga"},
    "from": {"id": OLGA, "first_name": "Olga", "is_bot": False},
    "text": "hello",
}


STRANGE: list[dict[str, Any]] = [
    {"from": {"id": OLGA, "first_name": "O\ud800", "language_code": "\ud800"}},
    {"chat": {"id": OLGA, "type": "private", "title": "\udfff"}},
    {"text": "hello \ud83d"},
    {"date": 10**30, "edit_date": -1},
]


async def test_messages_of_strange_shapes_are_answered(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True) as bot:
        await bot.ask(OLGA, "/help")
        for number, strange in enumerate(STRANGE, start=2):
            await bot.push({"message": MESSAGE | strange | {"message_id": 900 + number}})
            await bot.wait_until_finished(number)

        records = (await bot.records())[1:]
        assert [(record["state"], record["reason"]) for record in records] == [("answered", "")] * len(
            STRANGE
        )
