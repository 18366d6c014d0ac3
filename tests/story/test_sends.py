"""Stories of sending: streamed answers, long ones, and sends that Telegram refuses, delays or loses."""

import asyncio
import time
from dataclasses import replace

import pytest

from bot.transport.rates import SendRates
from bot.turn import screens
from bot.turn.store import TurnStore
from tests.scripted_replies import Reply, held, pieces, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    BOT,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Json,
    StoryStores,
    make_ref,
    running_bot,
)

pytestmark = pytest.mark.slow

AT_ME = "@mnemogram_bot "


@pytest.fixture
def quick_previews(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the pauses that are made for readers."""
    for name in ("DRAFT_EVERY_S", "MESSAGE_EVERY_S", "STOP_BUTTON_AFTER_S", "MESSAGE_AFTER_S"):
        monkeypatch.setattr(screens, name, 0.0)


def slowly(answer: str, *, delay_s: float = 0.06) -> Reply:
    """Return an answer whose words arrive one by one."""
    first, *others = answer.split()
    return replace(pieces(first, *(f" {word}" for word in others)), chunk_delay_s=delay_s)


def _buttons(message: Json) -> list[str]:
    rows = message.get("reply_markup", {"inline_keyboard": []})["inline_keyboard"]
    return [button["text"] for row in rows for button in row]


@pytest.mark.usefixtures("quick_previews")
async def test_a_private_answer_grows_and_arrives_whole(stores: StoryStores) -> None:
    whole = "one **two** three four five six seven eight nine ten eleven twelve"
    async with running_bot(stores, [slowly(whole)]) as bot:
        await bot.say(BEN, "count")
        await bot.wait_until(lambda: any("twelve" in message["text"] for message in bot.shown_in(BEN)))
        await bot.wait_until_idle()

        drafts = [draft for draft in bot.drafts_in(BEN) if draft]
        final = whole.replace("*", "")
        assert len(drafts) >= 2
        assert all(final.startswith(draft.strip()) for draft in drafts)
        assert [message["text"] for message in bot.shown_in(BEN)] == [final]
        sent = [event["message"].get("text") for event in bot.events if event["type"] == "message"]
        assert english("preview-writing") in sent  # with the Stop button, and gone by now
        assert await bot.lines(BEN) == [("user", "count"), ("assistant", whole)]


@pytest.mark.usefixtures("quick_previews")
async def test_a_groups_answer_grows_in_one_message_and_loses_its_button(stores: StoryStores) -> None:
    whole = "one two three four five six seven eight nine ten eleven twelve"
    async with running_bot(stores, [slowly(whole)]) as bot:
        asked = await bot.say(BEN, AT_ME + "count", chat=WEEKEND)
        await bot.wait_until(lambda: any(m["text"] == whole for m in bot.shown_in(WEEKEND)))
        await bot.wait_until_idle()

        (shown,) = bot.shown_in(WEEKEND)
        edits = [e for e in bot.events if e["type"] == "edit" and e["message"]["from"]["id"] == BOT]
        (first,) = [e for e in bot.events if e["type"] == "message" and e["message"]["from"]["id"] == BOT]
        assert _buttons(first["message"]) == [english("preview-stop")]
        assert len(edits) >= 2
        assert (shown["text"], _buttons(shown)) == (whole, [])
        assert shown["reply_to_message"]["message_id"] == asked["message_id"]


async def test_a_quick_answer_in_a_group_is_one_message_and_never_changes(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, AT_ME + "hello", chat=WEEKEND)
        await bot.wait_until_idle()

        assert not [event for event in bot.events if event["type"] == "edit"]
        assert len(bot.said_in(WEEKEND)) == 1
        assert bot.actions_in(WEEKEND) == []


@pytest.mark.usefixtures("quick_previews")
async def test_without_streaming_only_the_answer_is_shown(stores: StoryStores) -> None:
    async with running_bot(stores, [slowly("one two three four five six")], streaming=False) as bot:
        await bot.ask(BEN, "count")
        await bot.wait_until_idle()

        assert bot.drafts_in(BEN) == []
        assert bot.said_in(BEN) == ["one two three four five six"]


@pytest.mark.usefixtures("quick_previews")
async def test_a_hanging_preview_does_not_delay_the_answer(stores: StoryStores) -> None:
    async with running_bot(stores, [slowly("one two three four five six")]) as bot:
        await bot.people.fault("hang", method="sendMessageDraft", seconds=30, late=True)
        await bot.say(BEN, "count")

        await bot.wait_until(lambda: "one two three four five six" in bot.said_in(BEN))

        assert await bot.people.calls("sendMessageDraft") == []  # it has not been answered yet


async def test_a_chat_that_blocked_the_bot_gets_no_calls_until_it_writes_again(stores: StoryStores) -> None:
    go = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=go) if "first" in last_user_text(request) else echo(request)

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "first")
        await bot.wait_for_prompts(1)
        await bot.say(BEN, "/help")
        await bot.people.block(BEN)
        go.set()
        await bot.wait_until_finished(3)

        sends = await bot.people.calls("sendMessage")
        assert [call["status"] for call in sends if call["chat_id"] == BEN] == [403]
        records = await bot.records()
        assert [r["reason"] for r in records[:2]] == ["undeliverable_unreachable"] * 2
        await bot.people.block(BEN, is_blocked=False)
        assert await bot.ask(BEN, "hello again") == "echo: hello again"
        assert ("user", "first") in await bot.lines(BEN)


async def test_a_429_holds_only_its_chat(stores: StoryStores) -> None:
    async with running_bot(stores, worker_concurrency=1) as bot:
        await bot.people.fault("429", method="sendMessage", chat_id=BEN, retry_after=1, hold=True)
        held_back = await bot.say(BEN, "wait for it")
        await bot.wait_for_prompts(1)

        assert await bot.ask(CHIARA, "and me?") == "echo: and me?"
        assert bot.said_in(BEN) == []

        assert (await bot.wait_for_reply(held_back))["text"] == "echo: wait for it"
        refused, sent = [c for c in await bot.people.calls("sendMessage") if c["chat_id"] == BEN]
        assert (refused["status"], sent["status"]) == (429, 200)
        assert sent["at"] - refused["at"] >= 1
        assert await SendRates(stores.redis).held(BEN) == 0


async def test_an_answer_to_a_deleted_topic_goes_to_the_chat(stores: StoryStores) -> None:
    go = asyncio.Event()
    async with running_bot(stores, lambda request: held(echo(request), until=go)) as bot:
        await bot.say(OLGA, AT_ME + "hello", chat=WORKSHOP, thread=IDEAS)
        await bot.wait_for_prompts(1)
        await bot.people.delete_topic(WORKSHOP, IDEAS, by=OLGA)
        go.set()

        await bot.wait_until(lambda: bool(bot.said_in(WORKSHOP)))

        (message,) = bot.shown_in(WORKSHOP)
        assert "message_thread_id" not in message
        assert message["text"].startswith("echo:")


async def test_a_text_with_refused_formatting_arrives_as_plain_text(stores: StoryStores) -> None:
    async with running_bot(stores, [text("this is **bold**")]) as bot:
        await bot.people.fault("400", method="sendMessage", description="can't parse entities")

        message = await bot.wait_for_reply(await bot.say(BEN, "hello"))

        assert message["text"] == "this is bold"
        assert "entities" not in message


@pytest.mark.usefixtures("quick_previews")
async def test_an_answer_whose_preview_was_deleted_is_sent_as_a_new_message(stores: StoryStores) -> None:
    whole = "one two three four five six seven eight nine ten"
    async with running_bot(stores, [slowly(whole)]) as bot:
        await bot.people.fault(
            "400", times=None, method="editMessageText", description="message to edit not found"
        )
        await bot.say(BEN, AT_ME + "count", chat=WEEKEND)

        await bot.wait_until(lambda: whole in bot.said_in(WEEKEND))


@pytest.mark.usefixtures("quick_previews")
@pytest.mark.parametrize("chat", [BEN, WEEKEND])
async def test_an_orphaned_stop_button_is_removed_when_pressed(stores: StoryStores, chat: int) -> None:
    """The connection broke after the message was sent, so the bot has no id to remove the button by."""
    async with running_bot(stores, [slowly("one two three four five six")]) as bot:
        await bot.people.fault("cut", method="sendMessage")
        await bot.say(BEN, AT_ME + "count", chat=chat)
        await bot.wait_until_finished(1)
        lost, answer = bot.shown_in(chat)
        (button,) = lost["reply_markup"]["inline_keyboard"][0]

        await bot.people.press(BEN, lost, button["callback_data"])

        await bot.wait_until(lambda: not any(map(_buttons, bot.shown_in(chat))))
        assert [each["text"] for each in bot.callback_answers()] == [english("answer-written")]
        assert answer in bot.shown_in(chat)
        assert (lost["message_id"] in [each["message_id"] for each in bot.shown_in(chat)]) == (chat != BEN)


@pytest.mark.usefixtures("quick_previews")
@pytest.mark.parametrize("chat", [BEN, WEEKEND])
async def test_a_reset_from_outside_deletes_the_growing_answer(stores: StoryStores, chat: int) -> None:
    async with running_bot(stores, [slowly("one two three four five six", delay_s=0.15)]) as bot:
        await bot.say(BEN, AT_ME + "count", chat=chat)
        await bot.wait_until(lambda: bool(bot.shown_in(chat)))

        await TurnStore(stores.redis, clock=time.time).reset(make_ref(chat))

        await bot.wait_until_idle()
        await bot.wait_until(lambda: not bot.shown_in(chat))


async def test_a_long_answer_is_sent_as_its_beginning_and_a_document(stores: StoryStores) -> None:
    code = "```python\n" + "\n".join(f"print({number})" for number in range(900)) + "\n```"
    markdown = f"# Numbers\n\nHere they are:\n\n{code}\n"
    async with running_bot(stores, [text(markdown)], long_answers="document") as bot:
        await bot.say(BEN, "print many numbers")
        await bot.wait_until(lambda: any("document" in message for message in bot.shown_in(BEN)))
        await bot.wait_until_idle()

        beginning, file = bot.shown_in(BEN)
        assert beginning["text"].startswith("Numbers\n\nHere they are:")
        assert beginning["text"].endswith(english("rest-in-file", name="answer.md"))
        assert file["document"]["file_name"] == "answer.md"
        content = await bot.simulator.get(f"/api/files/{file['document']['file_id']}")
        assert content.text == markdown
        assert (await bot.lines(BEN))[-1] == ("assistant", markdown)


async def test_every_message_is_sent_without_a_link_preview(stores: StoryStores) -> None:
    async with running_bot(stores, [text("see https://example.com/a")]) as bot:
        message = await bot.wait_for_reply(await bot.say(BEN, "hello"))

        assert message["link_preview_options"] == {"is_disabled": True}
