"""Stories of /model: a pressed button, other prompts and prices, administrators, and models that are gone."""

from pathlib import Path

import pytest

from bot.turn.answer_receipt import AnswerReceipt, load_receipts
from tests.scripted_replies import Failure, Reply, call, calls
from tests.scripted_script import ChatRequest, echo
from tests.story.agents import TeamScript, keep_path, write_agents
from tests.story.compressions import compress_at_once, talk, wait_until_compressed
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    BUGS,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.test_stop_buttons import answer_to
from tests.summarizing_model import SummarizingModel

DEFAULT, OTHER = "gpt-5.4-mini", "small:model_7b"
MODELS = f"{DEFAULT}:1:2,{OTHER}:10:20:6000"
GONE = english("model-missing", model=OTHER, other=DEFAULT)
WITHDRAWN = Reply(failure=Failure(status=404, message="no such model", code="model_not_found"))
TEAM = """
[agent]
name = "desk"
prompt = "You are the desk."
tools = []
delegates_to = ["clerk", "helper"]
transfers_to = ["support"]

[agents.clerk]
description = "Writes letters."
prompt = "You are the clerk."
model = "model-of-the-clerk"
tools = []

[agents.helper]
description = "Helps."
prompt = "You are the helper."
tools = []

[agents.support]
description = "Mends things."
prompt = "You are the support."
tools = []
"""


def asked_models(bot: Story) -> list[str]:
    return [request.body["model"] for request in bot.model.chat_requests]


async def last_receipt(bot: Story, chat: int) -> AnswerReceipt:
    await bot.wait_until_idle()
    answer = [each for each in (await bot.history(chat)).newest if each.role == "assistant"][-1]
    return (await load_receipts(bot.redis, make_ref(chat), [answer.id]))[answer.id]


def lacks_other(request: ChatRequest) -> Reply:
    """Echo as every model except the other one, which the endpoint does not have."""
    return WITHDRAWN if request["model"] == OTHER else echo(request)


async def press_other(bot: Story, person: int, *, chat: int | None = None, thread: int | None = None) -> str:
    """Ask for the list and press the button of the other model. Return the id of the press."""
    shown = await bot.wait_for_reply(await bot.say(person, "/model", chat=chat, thread=thread))
    return await bot.people.press(person, shown, buttons_of(shown)[1])


async def test_a_pressed_button_gives_the_next_prompt_the_other_model_with_its_window_and_price(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await bot.ask(BEN, "one")
        before = await last_receipt(bot, BEN)

        await answer_to(bot, await press_other(bot, BEN))
        await bot.ask(BEN, "two")
        after = await last_receipt(bot, BEN)

        assert asked_models(bot) == [DEFAULT, OTHER]
        for receipt, model, prices in ((before, DEFAULT, (1, 2)), (after, OTHER, (10, 20))):
            (spent,) = receipt.models
            assert spent.model == model
            assert receipt.micros == spent.prompt_tokens * prices[0] + spent.completion_tokens * prices[1]
        assert after.room == 4_500 < before.room
        assert bot.shown_in(BEN)[1]["text"].startswith(english("model-current", model=OTHER))
        named = await bot.ask(BEN, f"/model {DEFAULT.upper()}")
        assert named.startswith(english("model-current", model=DEFAULT))
        await bot.ask(BEN, "three")
        assert asked_models(bot)[-1] == DEFAULT


async def test_without_a_key_the_offline_model_is_named(stores: StoryStores) -> None:
    async with running_bot(stores, openai_base_url=None, openai_api_key=None) as bot:
        await bot.ask(BEN, "one")
        (spent,) = (await last_receipt(bot, BEN)).models

        assert await bot.ask(BEN, "/model") == english("model-current", model=spent.model)


async def test_a_choice_lasts_through_new_and_until_reset(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, BEN))
        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "one")
        await bot.reset(BEN)
        await bot.ask(BEN, "two")

        assert asked_models(bot) == [OTHER, DEFAULT]


async def test_a_reset_clears_a_choice_before_anything_was_said(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, BEN))
        await bot.reset(BEN)
        await bot.ask(BEN, "one")

        assert asked_models(bot) == [DEFAULT]


async def test_a_choice_stays_when_a_group_becomes_a_supergroup(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, OLGA, chat=WEEKEND))
        await bot.wait_until_idle()  # the edit of the buttons would become a message of the new chat
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=new)

        assert asked_models(bot) == [OTHER]


async def test_each_topic_has_its_own_model(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, OLGA, chat=WORKSHOP, thread=IDEAS))
        for thread in (IDEAS, BUGS, None):
            await bot.ask(BEN, "@mnemogram_bot hello", chat=WORKSHOP, thread=thread)

        assert asked_models(bot) == [OTHER, DEFAULT, DEFAULT]


async def test_sub_agents_follow_the_choice_except_those_with_a_model_of_their_own(
    stores: StoryStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_path(monkeypatch)
    script = TeamScript(
        {
            "desk: go": [
                calls(call("delegate_to_clerk", {"task": "a letter"}, call_id="d1")),
                calls(call("delegate_to_helper", {"task": "some help"}, call_id="d2")),
                "Done.",
            ],
            "clerk: a letter": ["Dear Ben"],
            "helper: some help": ["Here."],
        }
    )
    agents = write_agents(tmp_path, TEAM, "")
    async with running_bot(stores, script, models=MODELS, agents_file=agents) as bot:
        await answer_to(bot, await press_other(bot, BEN))
        assert await bot.ask(BEN, "go") == "Done."

        assert asked_models(bot) == [OTHER, "model-of-the-clerk", OTHER, OTHER, OTHER]


async def test_a_choice_outranks_the_main_agents_model(stores: StoryStores, tmp_path: Path) -> None:
    agents = write_agents(
        tmp_path, '[agent]\nprompt = "Help."\nmodel = "model-of-the-desk"\ntools = []\n', ""
    )
    async with running_bot(stores, echo, models=MODELS, agents_file=agents) as bot:
        await bot.ask(BEN, "one")
        for model in (DEFAULT, OTHER):
            await bot.ask(BEN, f"/model {model}")
            await bot.ask(BEN, "two")

        assert asked_models(bot) == ["model-of-the-desk", DEFAULT, OTHER]


async def test_a_chosen_model_that_does_not_see_gets_no_picture(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        for at, has_picture in enumerate((True, False)):
            sent = await bot.people.photo(BEN, "What is this?")
            await bot.wait_for_reply(sent)
            assert ("image_url" in str(bot.prompts()[at])) is has_picture
            await answer_to(bot, await press_other(bot, BEN))


async def test_a_choice_of_a_smaller_window_compresses_at_once_and_every_prompt_fits(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    compress_at_once(monkeypatch)
    model = SummarizingModel()
    async with running_bot(stores, model, models=MODELS, recall_k=0) as bot:
        await talk(bot, *[" ".join(["a"] * 1_000)] * 5)
        await wait_until_compressed(bot)
        assert model.summaries == 0

        await answer_to(bot, await press_other(bot, BEN))
        await bot.ask(BEN, "hello")
        assert (await last_receipt(bot, BEN)).prompt_tokens <= 4_500
        await wait_until_compressed(bot)

        assert model.summaries > 0
        assert (await bot.history(BEN)).summary is not None


async def test_without_summaries_a_choice_of_a_smaller_window_shortens_the_prompt_until_another_choice(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo, models=MODELS, recall_k=0, openai_summary_model="") as bot:
        await talk(bot, *[" ".join(["a"] * 1_000)] * 3)
        sizes: list[int] = []
        for model in (DEFAULT, OTHER, DEFAULT):
            await bot.ask(BEN, f"/model {model}")
            await bot.ask(BEN, "hello")
            sizes.append((await last_receipt(bot, BEN)).prompt_tokens)

        assert sizes[1] <= 4_500 < min(sizes[0], sizes[2])


async def test_only_administrators_choose_for_a_group_and_anybody_may_look(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        press = await press_other(bot, BEN, chat=WEEKEND)
        assert await answer_to(bot, press) == (english("administrators-only"), True)
        named = await bot.ask(CHIARA, f"/model {OTHER}", chat=WEEKEND)
        assert named == english("administrators-only")
        await answer_to(bot, await press_other(bot, OLGA, chat=WEEKEND))

        await bot.ask(BEN, "@mnemogram_bot one", chat=WEEKEND)
        await bot.ask(BEN, "in private")

        assert asked_models(bot) == [OTHER, DEFAULT]


async def test_without_models_one_sentence_names_the_model(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        shown = await bot.wait_for_reply(await bot.say(BEN, "/model"))
        assert (shown["text"], buttons_of(shown)) == (english("model-current", model=DEFAULT), [])
        assert await bot.ask(BEN, "/model x") == english("model-unknown", model="x")


async def test_a_withdrawn_model_is_replaced_by_the_default_with_one_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, lacks_other, models=MODELS) as bot:
        for person in (BEN, CHIARA):
            await answer_to(bot, await press_other(bot, person))
            assert await bot.ask(person, "one") == f"echo: one\n\n{GONE}"
            assert await bot.ask(person, "two") == "echo: two"

        # The breaker stays closed: the second chat asks the model too.
        assert asked_models(bot) == [OTHER, DEFAULT, DEFAULT] * 2
        assert (await bot.lines(BEN))[1] == ("assistant", "echo: one")


async def test_a_model_that_was_taken_out_of_models_is_replaced_by_the_default(stores: StoryStores) -> None:
    async with running_bot(stores, echo, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, BEN))
        await bot.wait_until_idle()
        await bot.stop()
        bot.settings = bot.settings.model_copy(update={"models": ()})
        bot.start()

        assert await bot.ask(BEN, "one") == f"echo: one\n\n{GONE}"
        assert await bot.ask(BEN, "two") == "echo: two"
        assert asked_models(bot) == [DEFAULT, DEFAULT]


async def test_a_transfer_before_the_model_was_withdrawn_is_resumed_with_the_default(
    stores: StoryStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_path(monkeypatch)
    team = TeamScript(
        {
            "desk: mend it": [calls(call("transfer_to_support", {"reason": "it broke"}, call_id="t1"))],
            "support: mend it": ["unused", "Mended."],
        }
    )

    def withdrawn_after_one(request: ChatRequest) -> Reply:
        is_second = request["messages"][-1]["role"] == "tool"
        return WITHDRAWN if is_second and request["model"] == OTHER else team(request)

    agents = write_agents(tmp_path, TEAM, "")
    async with running_bot(stores, withdrawn_after_one, models=MODELS, agents_file=agents) as bot:
        await answer_to(bot, await press_other(bot, BEN))

        assert await bot.ask(BEN, "mend it") == f"Mended.\n\n{GONE}"

        assert asked_models(bot) == [OTHER, OTHER, DEFAULT]
        receipt = await last_receipt(bot, BEN)
        assert [(each.name, each.outcome) for each in receipt.tools] == [("transfer_to_support", "replayed")]
        assert (await bot.history(BEN)).choices.agent == "support"


async def test_without_any_model_one_failure_is_said_and_the_choice_stays(stores: StoryStores) -> None:
    failing = True

    def lacks_all(request: ChatRequest) -> Reply:
        return WITHDRAWN if failing else echo(request)

    async with running_bot(stores, lacks_all, models=MODELS) as bot:
        await answer_to(bot, await press_other(bot, BEN))
        said = len(bot.said_in(BEN))
        assert await bot.ask(BEN, "one") == english("failure-model-refused")
        await bot.wait_until_idle()
        assert len(bot.said_in(BEN)) == said + 1
        assert asked_models(bot) == [OTHER, DEFAULT]

        failing = False
        assert await bot.ask(BEN, "two") == "echo: two"
        assert asked_models(bot)[-1] == OTHER
