"""The Bot API client with the simulator, and with servers that answer worse than Telegram."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    ThreadGone,
    TokenRefused,
)
from bot.transport.forms import ChatPlace
from bot.transport.rich_text import Entity, RichText
from bot.transport.telegram_api import ALLOWED_UPDATES, Button, SentPhoto, TelegramApi, open_telegram
from simulator.api.config import DEFAULT_TOKEN
from simulator.api.world import BEN, CHIARA, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import Rig, served_simulator
from tests.sent_files import make_picture, make_voice_note

HELLO = RichText(text="hello")


@asynccontextmanager
async def _api() -> AsyncGenerator[tuple[Rig, TelegramApi]]:
    async with served_simulator() as sim, open_telegram(token=DEFAULT_TOKEN, api_url=sim.url) as api:
        yield sim, api


@asynccontextmanager
async def _api_that_answers(raw: bytes) -> AsyncGenerator[TelegramApi]:
    """Open the client of a server that answers every request with these bytes and hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with open_telegram(token=DEFAULT_TOKEN, api_url=f"http://127.0.0.1:{port}") as api:
            yield api
    finally:
        server.close()


async def test_a_text_arrives_as_a_reply_with_entities_and_without_a_preview() -> None:
    async with _api() as (sim, api):
        asked = await sim.say(BEN, "hello?")
        rich = RichText(text="see this", entities=(Entity(type="bold", offset=4, length=4),))

        sent = await api.send_message(
            ChatPlace(chat_id=BEN, thread_id=None), rich, reply_to=asked["message_id"]
        )

        shown = (await sim.messages(BEN))[-1]
        assert (shown["message_id"], shown["text"]) == (sent, "see this")
        assert shown["entities"] == [{"type": "bold", "offset": 4, "length": 4}]
        assert shown["reply_to_message"]["message_id"] == asked["message_id"]
        assert shown["link_preview_options"]["is_disabled"] is True


async def test_a_message_is_edited_with_its_buttons_and_an_unchanged_edit_succeeds() -> None:
    stop = Button(text="Stop", data="stop:1:2")
    async with _api() as (sim, api):
        sent = await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO, buttons=[stop])
        for _ in range(2):
            await api.edit_message(BEN, sent, RichText(text="hello you"), buttons=[stop])
        (with_button,) = await sim.messages(BEN)
        await api.edit_message(BEN, sent, RichText(text="hello you"))
        (without,) = await sim.messages(BEN)

    keyboard = [[{"text": "Stop", "callback_data": "stop:1:2"}]]
    assert (with_button["text"], with_button["reply_markup"]["inline_keyboard"]) == ("hello you", keyboard)
    assert (without["text"], without.get("reply_markup")) == ("hello you", None)


async def test_a_message_is_deleted_and_a_missing_one_counts_as_deleted() -> None:
    async with _api() as (sim, api):
        sent = await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)
        for _ in range(2):
            await api.delete_message(BEN, sent)

        assert await sim.messages(BEN) == []


async def test_buttons_are_removed_and_missing_ones_count_as_removed() -> None:
    async with _api() as (sim, api):
        sent = await api.send_message(
            ChatPlace(chat_id=BEN, thread_id=None), HELLO, buttons=[Button(text="Stop", data="stop")]
        )
        for _ in range(2):
            await api.remove_buttons(BEN, sent)

        (shown,) = await sim.messages(BEN)
    assert (shown["text"], "reply_markup" in shown) == (HELLO.text, False)


async def test_a_missing_or_foreign_message_cannot_be_edited() -> None:
    async with _api() as (sim, api):
        theirs = await sim.say(BEN, "mine")

        for message_id in (99_999, theirs["message_id"]):
            with pytest.raises(MessageGone):
                await api.edit_message(BEN, message_id, HELLO)


async def test_a_missing_topic_has_its_own_error() -> None:
    async with _api() as (_, api):
        with pytest.raises(ThreadGone):
            await api.send_message(ChatPlace(chat_id=WORKSHOP, thread_id=999), HELLO)


async def test_a_voice_message_arrives_with_its_caption_and_anything_but_ogg_opus_is_refused() -> None:
    caption = RichText(text="hello")
    async with _api() as (sim, api):
        sent = await api.send_file(
            ChatPlace(chat_id=OLGA, thread_id=None),
            make_voice_note(3),
            kind="voice",
            name="answer.ogg",
            caption=caption,
        )

        (shown,) = [one for one in (await sim.world())["messages"] if "voice" in one]
        assert (shown["message_id"], shown["caption"]) == (sent, "hello")
        assert (shown["voice"]["duration"], shown["voice"]["mime_type"]) == (3, "audio/ogg")
        with pytest.raises(TelegramRefused, match="ogg opus"):
            await api.send_file(
                ChatPlace(chat_id=OLGA, thread_id=None), b"ID3", kind="voice", name="answer.ogg"
            )


async def test_a_photo_arrives_with_its_caption_and_its_file_id_is_known() -> None:
    quotation = Entity(type="expandable_blockquote", offset=0, length=3)
    caption = RichText(text="cat", entities=(quotation,))
    async with _api() as (sim, api):
        sent = await api.send_file(
            ChatPlace(chat_id=OLGA, thread_id=None),
            make_picture(30, 20),
            kind="photo",
            name="picture.png",
            caption=caption,
        )

        (shown,) = [one for one in (await sim.world())["messages"] if "photo" in one]
        path = await api.find_file(shown["photo"][-1]["file_id"])
    assert (shown["message_id"], shown["caption"]) == (sent, "cat")
    assert shown["caption_entities"] == [quotation.to_dict()]
    assert isinstance(sent, SentPhoto)
    assert sent.file_id == shown["photo"][-1]["file_id"]
    assert path


async def test_a_document_of_megabytes_arrives_whole() -> None:
    content = "漢".encode() * 1_000_000
    async with _api() as (sim, api):
        await api.send_file(ChatPlace(chat_id=OLGA, thread_id=None), content, name="answer.md")

        (shown,) = [one for one in (await sim.world())["messages"] if "document" in one]
        file = await sim.http.get(f"/api/files/{shown['document']['file_id']}")
    assert file.content == content


async def test_a_document_arrives_with_its_name_and_caption() -> None:
    content = "# Title\n\nÜber 🎉\n".encode()
    caption = RichText(text="the rest", entities=(Entity(type="italic", offset=0, length=3),))
    async with _api() as (sim, api):
        sent = await api.send_file(
            ChatPlace(chat_id=WORKSHOP, thread_id=2), content, name="answer.md", caption=caption
        )

        (shown,) = [one for one in (await sim.world())["messages"] if "document" in one]
        file = await sim.http.get(f"/api/files/{shown['document']['file_id']}")
    assert (shown["message_id"], shown["message_thread_id"]) == (sent, 2)
    assert shown["document"]["file_name"] == "answer.md"
    assert (shown["caption"], shown["caption_entities"][0]["type"]) == ("the rest", "italic")
    assert file.content == content


async def test_a_draft_is_shown_and_an_empty_one_is_accepted() -> None:
    async with _api() as (sim, api), sim.events() as events:
        await api.send_draft(ChatPlace(chat_id=BEN, thread_id=None), 7, RichText(text=""))
        await api.send_draft(
            ChatPlace(chat_id=BEN, thread_id=None),
            7,
            RichText(text="hel", entities=(Entity(type="bold", offset=0, length=3),)),
        )
        shown = [await anext(events), await anext(events)]

    assert [(one["draft_id"], one["text"]) for one in shown] == [(7, ""), (7, "hel")]


async def test_a_press_is_answered_and_an_expired_one_counts_as_answered() -> None:
    async with _api() as (sim, api):
        sent = await api.send_message(
            ChatPlace(chat_id=BEN, thread_id=None), HELLO, buttons=[Button(text="Stop", data="stop")]
        )
        press = await sim.page("callbacks", chat_id=BEN, from_id=BEN, message_id=sent, data="stop")

        async with sim.events() as events:
            await api.answer_callback(press["callback_query_id"], "Stopped.", is_alert=True)
            told = await anext(events)
        await api.answer_callback("12345", "nobody asks")

    assert (told["type"], told["text"], told["show_alert"]) == ("callback_answer", "Stopped.", True)


async def test_the_status_of_a_member_is_returned() -> None:
    async with _api() as (_, api):
        standing = [await api.member_status(WEEKEND_PLANS, user) for user in (OLGA, BEN, 4242)]

    assert standing[1:] == ["member", "member"]
    assert standing[0] in ("creator", "administrator")


async def test_commands_are_registered_for_their_scopes() -> None:
    async with _api() as (sim, api):
        await api.set_commands([("help", "Hilfe")], scope="all_group_chats", language="de")
        await api.set_commands([("stats", "numbers")], scope="chat", chat_id=OLGA)

        groups = await sim.result("getMyCommands", scope={"type": "all_group_chats"}, language_code="de")
        olga = await sim.result("getMyCommands", scope={"type": "chat", "chat_id": OLGA})
        nobody_else = await sim.result("getMyCommands")
    assert [one["command"] for one in groups + olga] == ["help", "stats"]
    assert nobody_else == []


async def test_an_answer_to_a_deleted_message_is_still_sent() -> None:
    async with _api() as (sim, api):
        await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO, reply_to=99_999)

        assert [shown["text"] for shown in await sim.messages(BEN)] == ["hello"]


async def test_a_text_arrives_in_its_topic() -> None:
    async with _api() as (sim, api):
        await api.send_message(ChatPlace(chat_id=WORKSHOP, thread_id=2), HELLO)

        assert (await sim.messages(WORKSHOP))[-1]["message_thread_id"] == 2


async def test_administrators_are_distinguished_from_members() -> None:
    async with _api() as (_, api):
        may = [await api.is_administrator(WEEKEND_PLANS, user) for user in (OLGA, BEN, WEEKEND_PLANS)]
        with pytest.raises(TelegramRefused):
            await api.is_administrator(OLGA, BEN)  # a private chat has none

    assert may == [True, False, True]


async def test_buttons_carry_a_link_or_the_address_of_a_mini_app() -> None:
    page = Button(text="Open", web_app="https://bot.example/app/?link=m1")
    link = Button(text="Look", url="https://t.me/mem_bot?start=m1")
    async with _api() as (sim, api):
        await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO, buttons=[page, link])
        (shown,) = await sim.messages(BEN)

    assert shown["reply_markup"]["inline_keyboard"] == [
        [
            {"text": "Open", "web_app": {"url": "https://bot.example/app/?link=m1"}},
            {"text": "Look", "url": "https://t.me/mem_bot?start=m1"},
        ]
    ]


async def test_buttons_with_different_row_numbers_stand_in_different_rows() -> None:
    buttons = [Button(text=f"{row}", data=f"{row}-{each}", row=row) for row in (0, 2) for each in (1, 2)]
    async with _api() as (sim, api):
        await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO, buttons=buttons)
        (shown,) = await sim.messages(BEN)

    keyboard = [[each["callback_data"] for each in row] for row in shown["reply_markup"]["inline_keyboard"]]
    assert keyboard == [["0-1", "0-2"], ["2-1", "2-2"]]


async def test_get_me_tells_whether_botfather_knows_the_memory_page() -> None:
    knows: list[bool] = []
    for field in (b"", b', "has_main_web_app": false', b', "has_main_web_app": true'):
        me = b'{"ok": true, "result": {"id": 4242, "is_bot": true, "first_name": "M"%s}}' % field
        raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(me), me)
        async with _api_that_answers(raw) as api:
            knows.append((await api.get_me()).has_main_web_app)

    assert knows == [False, False, True]


async def test_get_me_returns_the_bot_and_its_privacy_mode() -> None:
    async with (
        served_simulator(privacy_mode=False) as sim,
        open_telegram(token=DEFAULT_TOKEN, api_url=sim.url) as api,
    ):
        me = await api.get_me()

    assert (me.id, me.name, me.username) == (4242, "Mnemogram", "mnemogram_bot")
    assert me.can_read_all_group_messages


async def test_polled_updates_are_returned_as_telegram_sent_them() -> None:
    async with _api() as (sim, api):
        said = await sim.say(WEEKEND_PLANS, "/help@mnemogram_bot please", from_id=CHIARA)

        (update,) = await api.get_updates(offset=None)

        trace = (await sim.http.get(f"/api/updates/{update['update_id']}")).json()
        assert update == trace["update"]
        assert update["message"]["message_id"] == said["message_id"]


async def test_an_update_that_the_library_cannot_parse_is_polled() -> None:
    odd = b'{"ok":true,"result":[{"update_id":1,"message":{"message_id":"one","chat":7}}]}'
    async with _api_that_answers(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(odd), odd)) as api:
        (update,) = await api.get_updates(offset=None)

    assert update == {"update_id": 1, "message": {"message_id": "one", "chat": 7}}


async def test_an_offset_confirms_earlier_updates() -> None:
    async with _api() as (sim, api):
        for text in ("one", "two"):
            await sim.say(BEN, text)
        updates = await api.get_updates(offset=None)

        again = await api.get_updates(offset=updates[0]["update_id"] + 1)

        assert [update["message"]["text"] for update in again] == ["two"]


async def test_a_webhook_is_set_with_its_secret_and_the_used_kinds_of_updates() -> None:
    async with _api() as (sim, api):
        await api.webhook.set("http://127.0.0.1:1/telegram/webhook", secret="s3cret", max_connections=7)

        told = await sim.result("getWebhookInfo")
        info = await api.webhook.info()

        assert told["max_connections"] == 7
        assert sorted(told["allowed_updates"]) == sorted(ALLOWED_UPDATES)
        assert (info.url, info.last_error, info.last_error_at) == (told["url"], "", None)
        await api.webhook.delete()
        assert (await api.webhook.info()).url == ""


async def test_a_429_reports_its_waiting_time() -> None:
    async with _api() as (sim, api):
        await sim.page("faults", method="sendMessage", error="429", retry_after=9)

        with pytest.raises(TelegramUnavailable) as failed:
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)

    assert failed.value.retry_after == 9.0


async def test_a_500_counts_as_no_send() -> None:
    async with _api() as (sim, api):
        await sim.page("faults", method="sendMessage", error="500")

        with pytest.raises(TelegramUnavailable) as failed:
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)

    assert failed.value.retry_after is None


async def test_a_broken_connection_leaves_the_outcome_unknown() -> None:
    async with _api() as (sim, api):
        await sim.page("faults", method="sendMessage", error="cut")

        with pytest.raises(SendUnknown):
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)

        assert [shown["text"] for shown in await sim.messages(BEN)] == ["hello"]


async def test_an_unreachable_server_counts_as_no_send() -> None:
    async with open_telegram(token=DEFAULT_TOKEN, api_url="http://127.0.0.1:1") as api:
        with pytest.raises(TelegramUnavailable):
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", SendUnknown),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", SendUnknown),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{"ok":true,"result":{}}', SendUnknown),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{"ok":true,"result":true}', SendUnknown),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>", SendUnknown),
        (b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n", SendUnknown),
        (b'HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 13\r\n\r\n{"error":"x"}', SendUnknown),
        (b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n[]", SendUnknown),
        (b'HTTP/1.1 503 X\r\nContent-Length: 12\r\n\r\n{"ok":false}', TelegramUnavailable),
        (b'HTTP/1.1 429 X\r\nContent-Length: 12\r\n\r\n{"ok":false}', TelegramUnavailable),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 6\r\nLocation: /\r\n\r\n<html>", TelegramUnavailable),
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\n<html>", TelegramRefused),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", TelegramUnavailable),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", TelegramUnavailable),
        (b'HTTP/1.1 401 X\r\nContent-Length: 12\r\n\r\n{"ok":false}', TokenRefused),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{", SendUnknown),
        (b"garbage\r\n\r\n", SendUnknown),
        (b"", SendUnknown),
    ],
    ids=[
        "html",
        "an empty object",
        "an empty message",
        "no message",
        "bad gateway",
        "gateway timeout",
        "a gateway's JSON",
        "a gateway's list",
        "an outage of its own",
        "429 without a time",
        "a redirect",
        "a gateway that refuses",
        "no way to the Bot API",
        "a gateway that lets nobody pass",
        "a token that Telegram does not know",
        "half an answer",
        "no HTTP",
        "nothing",
    ],
)
async def test_a_response_unlike_telegrams_is_handled(body: bytes, failure: type[TelegramFailure]) -> None:
    async with _api_that_answers(body) as api:
        with pytest.raises(failure):
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)


async def test_a_proxy_without_a_connection_counts_as_no_send(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        async with open_telegram(token=DEFAULT_TOKEN, api_url="https://bot-api.invalid") as api:
            with pytest.raises(TelegramUnavailable):
                await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)

    assert asked[0].startswith(b"CONNECT ")


async def test_a_failing_gateway_is_no_refusal() -> None:
    async with _api_that_answers(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>") as api:
        for question in (api.get_me(), api.get_updates(offset=None), api.webhook.info()):
            with pytest.raises((TelegramUnavailable, SendUnknown)):
                await question


async def test_refusals_are_distinguished() -> None:
    async with _api() as (sim, api):
        await sim.page("blocks", chat_id=BEN, blocked=True)
        old = await sim.page("chats", title="Old", type="group", members=[OLGA], migrate_to_chat_id=WORKSHOP)

        with pytest.raises(ChatUnreachable):
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)
        with pytest.raises(ChatMigrated) as migrated:
            await api.send_message(ChatPlace(chat_id=old["id"], thread_id=None), HELLO)
        with pytest.raises(TelegramRefused, match="too long"):
            await api.send_message(ChatPlace(chat_id=OLGA, thread_id=None), RichText(text="x" * 4097))

    assert migrated.value.new_chat_id == WORKSHOP


async def test_no_error_contains_the_token() -> None:
    failures: list[str] = []
    for url in ("http://127.0.0.1:1", "http://nowhere.invalid:bad"):
        async with open_telegram(token="4242:my-own-secret", api_url=url) as api:
            try:
                await api.get_me()
            except TelegramFailure as failure:
                failures += [str(failure), repr(failure), repr(failure.__cause__), repr(failure.__context__)]
    async with served_simulator() as sim, open_telegram(token="4242:my-own-secret", api_url=sim.url) as api:
        with pytest.raises(TelegramRefused) as refused:
            await api.get_me()

    assert failures
    assert not any("my-own-secret" in text for text in [*failures, str(refused.value)])


@pytest.mark.parametrize("status", [200, 302, 404, 502])
async def test_a_page_that_contains_the_token_is_not_logged(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    page = f"<a href=/bot{DEFAULT_TOKEN}/sendMessage>".encode()
    raw = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(page), page)
    async with _api_that_answers(raw) as api:
        with caplog.at_level(logging.INFO), pytest.raises(TelegramFailure) as failed:
            await api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO)

    assert DEFAULT_TOKEN not in caplog.text + repr(failed.value) + repr(failed.value.__context__)


async def test_calls_cancelled_at_any_moment_keep_no_connection() -> None:
    """With two connections, a lost one at two moments would block everything."""
    async with (
        served_simulator() as sim,
        open_telegram(token=DEFAULT_TOKEN, api_url=sim.url, connections=2) as api,
    ):
        for steps in [*range(150)] * 2:
            call = asyncio.create_task(api.get_me(), name="cancelled")
            for _ in range(steps):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

        async with asyncio.timeout(5):
            assert (await api.get_me()).id == 4242


async def test_a_message_cancelled_before_its_send_is_never_sent() -> None:
    async with _api() as (sim, api):
        before = len(await sim.messages(BEN))
        for steps in range(3):
            call = asyncio.create_task(
                api.send_message(ChatPlace(chat_id=BEN, thread_id=None), HELLO), name="cancelled"
            )
            for _ in range(steps):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

        await api.get_me()
        assert len(await sim.messages(BEN)) == before
