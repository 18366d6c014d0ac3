"""The simulator with python-telegram-bot's own client, which the bot uses."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    Message,
    MessageEntity,
    ReplyParameters,
)
from telegram.constants import ChatAction, ReactionEmoji
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)

from simulator.api.config import DEFAULT_TOKEN
from simulator.api.world import BEN, CHIARA, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import Rig, served_simulator
from tests.sent_files import make_picture, make_voice_note

pytestmark = pytest.mark.slow

STOP = InlineKeyboardMarkup([[InlineKeyboardButton("Stop", callback_data="stop")]])


@asynccontextmanager
async def simulated_bot() -> AsyncGenerator[tuple[Rig, Bot]]:
    async with served_simulator() as sim, Bot(DEFAULT_TOKEN, base_url=f"{sim.url}/bot") as bot:
        yield sim, bot


async def test_a_conversation_with_entities_replies_buttons_and_edits() -> None:
    async with simulated_bot() as (sim, bot):
        await sim.say(OLGA, "/start 😀 hello")
        (update,) = await bot.get_updates(timeout=5, allowed_updates=["message", "callback_query"])
        asked = update.message
        assert asked is not None
        assert asked.parse_entities() == {asked.entities[0]: "/start"}
        sent = await bot.send_message(
            OLGA,
            "😀 bold and code",
            entities=[MessageEntity("bold", 3, 4), MessageEntity("pre", 12, 4, language="python")],
            reply_parameters=ReplyParameters(asked.message_id),
            reply_markup=InlineKeyboardMarkup([[InlineKeyboardButton("Stop", callback_data="stop")]]),
        )
        assert list(sent.parse_entities().values()) == ["bold", "code"]
        assert sent.reply_to_message == asked
        await sim.page("callbacks", chat_id=OLGA, from_id=OLGA, message_id=sent.message_id, data="stop")
        (pressed,) = await bot.get_updates(offset=update.update_id + 1)
        query = pressed.callback_query
        assert query is not None
        assert (query.data, query.message) == ("stop", sent)
        assert await bot.answer_callback_query(query.id, text="Stopped")
        edited = await bot.edit_message_text("stopped", chat_id=OLGA, message_id=sent.message_id)
        assert not isinstance(edited, bool)
        assert (edited.text, edited.reply_markup) == ("stopped", None)
        assert await bot.send_message_draft(OLGA, 1, "writ")
        assert await bot.send_chat_action(OLGA, ChatAction.TYPING)
        assert await bot.set_message_reaction(OLGA, asked.message_id, ReactionEmoji.THUMBS_UP)
        assert await bot.delete_message(OLGA, sent.message_id)


async def test_responses_are_parsed_into_their_classes() -> None:
    async with simulated_bot() as (_, bot):
        assert (await bot.get_chat(WORKSHOP)).is_forum
        assert (await bot.get_chat_member(WEEKEND_PLANS, OLGA)).status == "creator"
        assert [admin.user.id for admin in await bot.get_chat_administrators(WEEKEND_PLANS)] == [OLGA]
        assert await bot.get_chat_member_count(WEEKEND_PLANS) == 4
        scope = BotCommandScopeChat(OLGA)
        assert await bot.set_my_commands([BotCommand("start", "Begin")], scope=scope)
        assert await bot.get_my_commands(scope=scope) == (BotCommand("start", "Begin"),)
        assert await bot.delete_my_commands(scope=scope)
        assert await bot.set_webhook("http://127.0.0.1:1/hook", secret_token="s", allowed_updates=["message"])
        assert (await bot.get_webhook_info()).url == "http://127.0.0.1:1/hook"
        assert await bot.delete_webhook()


async def test_a_removal_is_parsed_as_a_change_of_membership() -> None:
    async with simulated_bot() as (sim, bot):
        await sim.page("blocks", chat_id=BEN, blocked=True)
        (update,) = await bot.get_updates()
        change = update.my_chat_member
        assert change is not None
        assert (change.chat.id, change.new_chat_member.status) == (BEN, "kicked")


async def test_errors_are_mapped_to_their_classes() -> None:
    async with simulated_bot() as (sim, bot):
        await sim.page("blocks", chat_id=BEN, blocked=True)
        old = await sim.page("chats", title="Old", type="group", members=[OLGA], migrate_to_chat_id=WORKSHOP)
        with pytest.raises(BadRequest, match=r"^Chat not found$"):
            await bot.send_message(5, "x")
        with pytest.raises(BadRequest, match=r"^Message is too long$"):
            await bot.send_message(OLGA, "x" * 4097)
        with pytest.raises(BadRequest, match="ends after the end of the text"):
            await bot.send_message(OLGA, "x", entities=[MessageEntity("bold", 0, 9)])
        with pytest.raises(Forbidden, match="bot was blocked by the user"):
            await bot.send_message(BEN, "x")
        with pytest.raises(ChatMigrated) as migrated:
            await bot.send_message(old["id"], "x")
        assert migrated.value.new_chat_id == WORKSHOP
        await bot.set_webhook("http://127.0.0.1:1/hook")
        with pytest.raises(Conflict, match="webhook is active"):
            await bot.get_updates()


async def test_an_unchanged_edit_is_a_bad_request() -> None:
    async with simulated_bot() as (_, bot):
        sent = await bot.send_message(CHIARA, "same")
        with pytest.raises(BadRequest, match=r"^Message is not modified"):
            await bot.edit_message_text("same", chat_id=CHIARA, message_id=sent.message_id)


async def test_ordered_faults_become_the_librarys_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without it the client warns at every RetryAfter.
    monkeypatch.setenv("PTB_TIMEDELTA", "true")
    async with simulated_bot() as (sim, bot):
        await sim.page("faults", method="sendMessage", error="429", retry_after=3, times=1)
        with pytest.raises(RetryAfter) as flooded:
            await bot.send_message(OLGA, "x")
        assert flooded.value.retry_after == timedelta(seconds=3)
        await sim.page("faults", method="sendMessage", error="500", times=1)
        with pytest.raises(NetworkError, match="Internal Server Error"):
            await bot.send_message(OLGA, "x")
        await sim.page("faults", method="sendMessage", error="cut", times=1)
        with pytest.raises(NetworkError, match="disconnected"):
            await bot.send_message(OLGA, "cut")
        await sim.page("faults", method="sendMessage", error="timeout", times=1)
        with pytest.raises(TimedOut):
            await bot.send_message(OLGA, "silent", read_timeout=0.1)
        assert [one["text"] for one in await sim.messages(OLGA)] == ["cut"]


async def test_another_token_is_refused() -> None:
    async with served_simulator() as sim:
        bot = Bot("4242:another", base_url=f"{sim.url}/bot")
        with pytest.raises(InvalidToken):
            await bot.initialize()
        await bot.shutdown()


async def test_every_kind_of_message_is_parsed_into_its_class() -> None:
    async with simulated_bot() as (sim, bot):
        people = sim.people
        photo = await people.photo(OLGA, "look", data=make_picture(200, 100))
        await people.voice(OLGA, data=make_voice_note(3))
        await people.document(OLGA, b"# Plan", name="plan.md")
        await people.album(OLGA, "", "")
        for content in (
            {"sticker": "👍"},
            {"location": {"latitude": 1, "longitude": 2}},
            {"contact": {"phone_number": "+1", "first_name": "Ada"}},
            {"poll": {"question": "When?", "options": ["now"]}},
            {"dice": "🎲"},
        ):
            await sim.page("messages", chat_id=OLGA, from_id=OLGA, **content)
        for origin in ("user", "hidden_user", "chat", "channel"):
            await people.forward(OLGA, [photo], origin=origin)
        kinds = [update.message for update in await bot.get_updates()]
        messages = [message for message in kinds if message is not None]
    assert [type(effective_attachment(message)).__name__ for message in messages[:10]] == [
        *("PhotoSize", "Voice", "Document", "PhotoSize", "PhotoSize"),
        *("Sticker", "Location", "Contact", "Poll", "Dice"),
    ]
    assert [type(message.forward_origin).__name__ for message in messages[10:]] == [
        *("MessageOriginUser", "MessageOriginHiddenUser", "MessageOriginChat", "MessageOriginChannel")
    ]
    assert not [message.api_kwargs for message in messages if message.api_kwargs]


async def test_updates_of_all_kinds_are_parsed_without_unknown_fields() -> None:
    async with simulated_bot() as (sim, bot):
        await sim.updates()
        sent = await bot.send_message(OLGA, "one two", reply_markup=STOP)
        (asked,) = [{"chat": {"id": OLGA}, "message_id": sent.message_id}]
        await sim.say(OLGA, "why?", reply_to_message_id=sent.message_id, quote="two")
        await sim.people.react(OLGA, asked, "👍")
        await sim.people.press(OLGA, asked, "gone", any_data=True)
        await sim.people.member("promote", WEEKEND_PLANS, by=OLGA, user=bot.id)
        await sim.people.member("remove", WEEKEND_PLANS, by=OLGA, user=BEN)
        await sim.people.new_topic(WORKSHOP, "Plans", by=OLGA)
        await sim.page("titles", chat_id=WEEKEND_PLANS, from_id=OLGA, title="Lake")
        await sim.people.upgrade(WEEKEND_PLANS, by=OLGA)
        updates = await bot.get_updates()
    quoted = updates[0].message
    assert quoted is not None
    assert quoted.quote is not None
    assert (quoted.quote.text, quoted.quote.position) == ("two", 4)
    assert [update.callback_query.data for update in updates if update.callback_query] == ["gone"]
    assert {kind for update in updates for kind in update.to_dict() if kind != "update_id"} == {
        *("message", "message_reaction", "callback_query", "my_chat_member", "chat_member")
    }
    assert not [update.api_kwargs for update in updates if update.api_kwargs]


async def test_documents_are_sent_and_files_fetched() -> None:
    async with served_simulator() as sim:
        bot = Bot(DEFAULT_TOKEN, base_url=f"{sim.url}/bot", base_file_url=f"{sim.url}/file/bot")
        async with bot:
            sent = await bot.send_document(OLGA, b"# Plan", filename="Отчёт.md", caption="the rest")
            assert sent.document is not None
            assert (sent.document.file_name, sent.caption) == ("Отчёт.md", "the rest")
            fetched = await (await bot.get_file(sent.document.file_id)).download_as_bytearray()
            assert bytes(fetched) == b"# Plan"
            too_large = await sim.people.upload(bytes(20 * 1024 * 1024 + 1), name="a.bin")
            with pytest.raises(BadRequest, match=r"^File is too big$"):
                await bot.get_file(too_large)
            edited = await bot.edit_message_caption(OLGA, sent.message_id, caption="all of it")
            assert not isinstance(edited, bool)
            assert edited.caption == "all of it"


def effective_attachment(message: Message) -> object:
    """Return its attachment; for a photo the largest size."""
    attachment = message.effective_attachment
    return attachment[-1] if isinstance(attachment, tuple) else attachment
