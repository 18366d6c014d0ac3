"""Stories of pictures: drawn and edited once, within limits, shown with their prompts, remembered and forgotten."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.features.pictures.pictures import NO_PHOTO, NO_ROOM, PICTURE_TOKENS, UNUSABLE
from bot.turn.answer_receipt import load_receipts
from memory import keys
from memory.artifacts.store import LARGEST_FILE
from tests.scripted_pictures import Drawing
from tests.scripted_replies import Call, Failure, Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.sent_files import make_picture
from tests.story.harness import (
    BEN,
    OLGA,
    WEEKEND,
    Json,
    Story,
    StoryStores,
    make_ref,
    running_bot,
    take_the_context_away,
)
from tests.story.prompts import tool_results
from tests.story.test_inline import ask, choose

pytestmark = pytest.mark.slow

DRAWING: dict[str, Any] = {"openai_image_model": "draw-1:0.04"}
CAT = "a red cat on a roof"


def drawing(*made: Call, then: str = "Here it is.") -> Callable[[ChatRequest], Reply]:
    """Return a model that makes these calls for each question, and then answers."""

    def answer(request: ChatRequest) -> Reply:
        return text(then) if request["messages"][-1]["role"] == "tool" else calls(*made)

    return answer


def following(request: ChatRequest) -> Reply:
    """Call the tool that the question begins with, with the rest of it as the prompt."""
    if request["messages"][-1]["role"] == "tool":
        return text("Here it is.")
    tool, _, prompt = last_user_text(request).splitlines()[-1].partition(" ")
    return calls(call(tool, {"prompt": prompt}))


def tools_of(bot: Story) -> set[str]:
    return {tool["function"]["name"] for tool in bot.model.chat_requests[-1].body["tools"]}


async def picture_to(bot: Story, message: Json) -> Json:
    """Return the picture that the bot sends after its answer."""

    def found() -> list[Json]:
        shown = bot.shown_in(message["chat"]["id"])
        return [each for each in shown if "photo" in each and each["message_id"] > message["message_id"]]

    await bot.wait_until(lambda: bool(found()))
    await bot.wait_until_idle()
    return found()[0]


async def draw(bot: Story, prompt: str = CAT) -> Json:
    return await picture_to(bot, await bot.say(BEN, f"draw {prompt}"))


async def told(bot: Story, question: str) -> str:
    """Return the result of the tool that the question calls."""
    assert await bot.ask(BEN, question) == "Here it is."
    await bot.wait_until_idle()
    return tool_results(bot.prompts()[-1])[-1]


async def test_a_picture_is_drawn_once_and_shown_with_its_prompt(stores: StoryStores) -> None:
    made = call("draw", {"prompt": CAT, "size": "1536x1024"})
    async with running_bot(stores, drawing(made), **DRAWING) as bot:
        photo = await draw(bot)
        file = await bot.simulator.get(f"/api/files/{photo['photo'][-1]['file_id']}")

        assert (photo["caption"], photo["photo"][-1]["width"]) == (CAT, 320)
        assert photo["caption_entities"] == [
            {"type": "expandable_blockquote", "offset": 0, "length": len(CAT)}
        ]
        assert file.content == make_picture(320, 200)
        (request,) = bot.model.pictures
        assert request.options == {
            "model": "draw-1",
            "prompt": CAT,
            "n": 1,
            "size": "1536x1024",
            "response_format": "b64_json",
        }
        answer = (await bot.history(BEN)).newest[-1]
        assert (answer.text, answer.note) == ("Here it is.", f'a picture: "{CAT}"')
        index = keys.context_key(make_ref(BEN), "telegram")
        kept = await bot.redis.call("HGET", index, f"photos:{answer.id}")
        assert kept == photo["photo"][-1]["file_id"]
        assert await bot.redis.call("EXISTS", keys.context_key(make_ref(BEN), "files")) == 0


async def test_a_gpt_image_model_is_asked_for_small_jpegs(stores: StoryStores) -> None:
    async with running_bot(stores, following, openai_image_model="gpt-image-9") as bot:
        await draw(bot)
        (request,) = bot.model.pictures
        assert request.options["output_format"] == "jpeg"
        assert "response_format" not in request.options


async def test_without_a_model_there_are_no_tools(stores: StoryStores) -> None:
    async with running_bot(stores, following) as bot:
        await bot.ask(BEN, f"draw {CAT}")
        assert not {"draw", "edit"} & tools_of(bot)
        assert "There is no tool named 'draw'" in tool_results(bot.prompts()[-1])[-1]


async def test_a_long_prompt_is_cut_to_a_caption(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        photo = await draw(bot, "🐈" * 700)
        assert photo["caption"] == "🐈" * 512
        assert bot.model.pictures[0].prompt == "🐈" * 700


async def test_a_crash_after_the_payment_sends_the_kept_picture(stores: StoryStores) -> None:
    answer, asked = asyncio.Event(), 0

    def script(_: ChatRequest) -> Reply:
        nonlocal asked
        asked += 1
        if asked == 1:
            return calls(call("draw", {"prompt": CAT}))
        return held(text("done"), until=answer) if asked == 2 else text("done")

    async with running_bot(stores, script, lease_s=1, **DRAWING, pictures_per_day=1) as bot:
        question = await bot.say(BEN, "draw")
        await bot.wait_for_prompts(2)
        journal = keys.context_key(make_ref(BEN), "journal")
        assert await bot.redis.call("HDEL", journal, "tool:1:0") == 1  # as if the call had not returned
        await take_the_context_away(bot)

        await picture_to(bot, question)
        answer.set()
        await bot.wait_until_idle()

        assert len(bot.model.pictures) == 1
        assert len([each for each in bot.shown_in(BEN) if "photo" in each]) == 1
        assert await _cost(bot) == 40_000


async def test_a_crash_during_the_drawing_draws_again_in_the_same_place_of_the_day(
    stores: StoryStores,
) -> None:
    released = asyncio.Event()
    async with running_bot(stores, following, lease_s=1, **DRAWING, pictures_per_day=1) as bot:
        bot.model.drawing = Drawing(gate=released)
        question = await bot.say(BEN, f"draw {CAT}")
        await bot.wait_until(lambda: len(bot.model.pictures) == 1)
        bot.model.drawing = Drawing()
        await take_the_context_away(bot)

        await picture_to(bot, question)
        released.set()
        await bot.wait_until_idle()

        assert len([each for each in bot.shown_in(BEN) if "photo" in each]) == 1
        assert "is used up" in await told(bot, "draw another")


async def test_a_picture_with_an_unknown_outcome_is_sent_at_most_twice(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        await bot.people.fault("cut", method="sendPhoto", times=1)
        await draw(bot)
        assert len(await bot.people.calls("sendPhoto")) == 2
        assert len(bot.model.pictures) == 1


async def test_the_daily_number_of_a_person_ends_and_failures_do_not_count(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING, pictures_per_day=1) as bot:
        bot.model.drawing = Drawing(failure=Failure(status=500, message="down", kind="server_error"))
        assert "could not be made now" in await told(bot, "draw one")
        bot.model.drawing = Drawing()
        await draw(bot, "two")
        refusal = await told(bot, "draw three")

        assert refusal.startswith("The daily number of pictures of this person (1) is used up.")
        assert "00:00 UTC" in refusal
        assert [each.prompt for each in bot.model.pictures] == ["one", "two"]
        found = await bot.redis.call("KEYS", "mnemogram:{usage}:pictures:*")
        assert found
        assert 0 < int(await bot.redis.call("TTL", found[0])) <= keys.USAGE_TTL_S
        for _ in range(2):  # Olga is an operator
            await picture_to(bot, await bot.say(OLGA, "draw another"))


async def test_two_calls_of_one_action_share_the_daily_number(stores: StoryStores) -> None:
    made = [call("draw", {"prompt": name}) for name in ("one", "two", "three")]
    async with running_bot(stores, drawing(*made), **DRAWING, pictures_per_day=2) as bot:
        await bot.ask(BEN, "draw them all")
        await bot.wait_until_idle()
        assert len(bot.model.pictures) == 2
        assert len([each for each in bot.shown_in(BEN) if "photo" in each]) == 2


@pytest.mark.parametrize(
    "limit", [{"user_money_per_day": 0.06}, {"chat_money_per_day": 0.06}, {"money_per_month": 0.06}]
)
async def test_money_ends_pictures_before_they_are_paid(stores: StoryStores, limit: dict[str, float]) -> None:
    given: dict[str, Any] = {"models": "gpt-5.4-mini:0:0,gpt-5.4-nano:0:0", **limit}
    async with running_bot(stores, following, **DRAWING, **given) as bot:
        await draw(bot, "one")
        assert await told(bot, "draw two") == NO_ROOM
        assert len(bot.model.pictures) == 1
        assert await _cost(bot) == 40_000


async def test_tokens_of_a_picture_count_with_the_price_of_models(stores: StoryStores) -> None:
    given: dict[str, Any] = {"openai_image_model": "draw-1:9", "models": "gpt-5.4-mini:0:0,draw-1:1:10"}
    async with running_bot(stores, following, **given) as bot:
        await draw(bot, "one")
        bot.model.drawing = Drawing(tokens=None)
        await draw(bot, "two")
        newest = [each for each in (await bot.history(BEN)).newest if each.role == "assistant"]
        receipts = await load_receipts(bot.redis, make_ref(BEN), [each.id for each in newest])

        counted, uncounted = (
            next(used for used in receipts[each.id].models if used.model == "draw-1") for each in newest
        )
        assert (counted.prompt_tokens, counted.completion_tokens) == (20, 1_000)
        assert (uncounted.prompt_tokens, uncounted.completion_tokens) == (0, PICTURE_TOKENS)
        assert await _cost(bot) == 20 + 10 * 1_000 + 10 * PICTURE_TOKENS


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        (Drawing(failure=Failure(status=400, message="no", code="moderation_blocked")), "its rules for"),
        (
            Drawing(failure=Failure(status=400, message="no", code="content_policy_violation")),
            "its rules for",
        ),
        (Drawing(failure=Failure(status=401, message="key sk-story-not-a-secret")), "could not be made now"),
        (Drawing(url="http://127.0.0.1:1/a.png"), UNUSABLE),
        (Drawing(data=make_picture() + bytes(LARGEST_FILE)), UNUSABLE),
        (Drawing(data=b"GIF89a\x01\x00\x01\x00"), UNUSABLE),
        (Drawing(data=b"no picture"), UNUSABLE),
        (Drawing(body={"data": []}), UNUSABLE),
        (Drawing(body={"data": [{"b64_json": 5}], "usage": {"output_tokens": "many"}}), UNUSABLE),
    ],
    ids=["moderated", "policy", "key", "address", "large", "gif", "garbage", "nothing", "malformed"],
)
async def test_a_failure_is_a_result_for_the_model(
    stores: StoryStores, behaviour: Drawing, result: str
) -> None:
    async with running_bot(stores, following, **DRAWING, pictures_per_day=1) as bot:
        bot.model.drawing = behaviour
        found = await told(bot, f"draw {CAT}")
        assert result in found
        assert "sk-story" not in found
        assert await _cost(bot) == (40_000 if result == UNUSABLE else 0)  # such a picture is paid
        bot.model.drawing = Drawing()
        await draw(bot)  # the failed one did not count
        assert (await bot.history(BEN)).newest[1].note == ""


async def test_a_wrong_size_is_answered_with_the_right_ones(stores: StoryStores) -> None:
    made = call("draw", {"prompt": CAT, "size": "10x10"})
    async with running_bot(stores, drawing(made), **DRAWING) as bot:
        assert "'1024x1024', '1536x1024' or '1024x1536'" in await told(bot, "draw a tiny cat")
        assert bot.model.pictures == []


async def test_a_photo_of_a_person_is_edited_by_its_caption_or_by_a_reply(stores: StoryStores) -> None:
    one, two = make_picture(10, 10), make_picture(20, 20)
    async with running_bot(stores, following, **DRAWING) as bot:
        await picture_to(bot, await bot.people.photo(BEN, "edit make it blue", data=one))
        sent = await bot.people.photo(BEN, "look", data=two, chat=WEEKEND)
        reply = await bot.say(
            BEN, "@mnemogram_bot\nedit make it green", chat=WEEKEND, reply_to=sent["message_id"]
        )
        await picture_to(bot, reply)

        assert [(each.photo, each.prompt) for each in bot.model.pictures] == [
            (one, "make it blue"),
            (two, "make it green"),
        ]


async def test_an_edited_question_edits_the_same_photo_again_and_replaces_the_picture(
    stores: StoryStores,
) -> None:
    data = make_picture(20, 20)
    async with running_bot(stores, following, **DRAWING) as bot:
        sent = await bot.people.photo(BEN, "look", data=data)
        await bot.wait_until_idle()
        reply = await bot.say(BEN, "edit make it green", reply_to=sent["message_id"])
        first = await picture_to(bot, reply)
        await bot.people.edit(reply, "edit make it blue")
        await bot.wait_until(lambda: len(bot.model.pictures) == 2)
        await bot.wait_until_idle()

        assert [each.photo for each in bot.model.pictures] == [data, data]
        (second,) = [each for each in bot.shown_in(BEN) if "photo" in each]
        assert (second["caption"], second["message_id"] > first["message_id"]) == ("make it blue", True)
        index = await bot.redis.call("HVALS", keys.context_key(make_ref(BEN), "telegram"))
        assert first["photo"][-1]["file_id"] not in index


async def test_a_picture_of_the_bot_is_edited_by_a_reply_or_as_the_newest(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        bot.model.drawing = Drawing(data=make_picture(11, 11))
        first = await draw(bot)
        bot.model.drawing = Drawing(data=make_picture(22, 22))
        await draw(bot, "a dog")
        bot.model.drawing = Drawing(data=make_picture(33, 33))
        await picture_to(bot, await bot.say(BEN, "edit add a hat", reply_to=first["message_id"]))
        await picture_to(bot, await bot.say(BEN, "edit add a tree"))

        photos = [each.photo for each in bot.model.pictures if each.photo]
        assert photos == [make_picture(11, 11), make_picture(33, 33)]


async def test_without_a_photo_nothing_is_edited_or_paid(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        assert await told(bot, "edit add a hat") == NO_PHOTO
        assert bot.model.pictures == []


async def test_a_chat_that_takes_no_photos_gets_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        for method in ("sendPhoto", "sendDocument"):
            await bot.people.fault("400", method=method, times=9)
        await bot.ask(BEN, f"draw {CAT}")
        await bot.wait_until_idle()
        assert bot.said_in(BEN) == [
            "Here it is.",
            "I couldn't send the file picture.png. Ask me to make it again.",
        ]
        assert await told(bot, "edit add a hat") == NO_PHOTO


async def test_forget_as_a_reply_to_a_picture_erases_everything_about_it(stores: StoryStores) -> None:
    async with running_bot(stores, following, **DRAWING) as bot:
        photo = await draw(bot, "amaranth")
        await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=photo["message_id"]))
        question = (await bot.history(BEN)).newest[0]
        assert [each.role for each in (await bot.history(BEN)).newest] == ["user"]
        index = await bot.redis.call("HGETALL", keys.context_key(make_ref(BEN), "telegram"))
        assert sorted(index) == sorted([question.id, str(question.telegram_message_id)])
        assert await told(bot, "edit add a hat") == NO_PHOTO
        found = {key.rpartition(":")[2] for key in await bot.keys_with("amaranth")}
        assert found <= {"messages"}  # the person's own question


async def test_an_inline_question_draws_nothing(stores: StoryStores) -> None:
    async with running_bot(stores, drawing(call("draw", {"prompt": CAT})), inline=True, **DRAWING) as bot:
        await choose(bot, BEN, await ask(bot, BEN))
        await bot.wait_for_prompts(2)
        await bot.wait_until_idle()
        assert tool_results(bot.prompts()[-1]) == ["No picture can be made here."]
        assert bot.model.pictures == []


async def _cost(bot: Story) -> int:
    """Return what Ben's usage of today costs, in millionths."""
    (key,) = await bot.redis.call("KEYS", f"mnemogram:{{usage}}:day:user:{BEN}:*")
    return int(await bot.redis.call("HGET", key, "micros"))
