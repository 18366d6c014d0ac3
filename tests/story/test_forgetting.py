"""Stories of /reset: what it erases, who may use it, and its proof."""

import asyncio
from itertools import count

import pytest

from bot.turn.erasure import Eraser
from memory import keys
from memory.embedded.supervisor import IndexEndpoint
from memory.erasure import ErasureReceipt
from memory.errors import StoreUnavailable
from memory.history.store import Erasure
from memory.keys import ContextRef
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
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
from tests.story.index_points import points_with

CANARY = "quokka"
PROOF = "I checked: nothing is left."


async def _canaries(bot: Story, index: IndexEndpoint) -> list[str]:
    """Return every place with the canary word."""
    return [*await bot.keys_with(CANARY), *await points_with(index, CANARY)]


async def test_a_reset_erases_everything_and_proves_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"my secret is {CANARY}")
        await bot.ask(BEN, f"I said {CANARY}")
        await bot.wait_until_indexed()
        assert await bot.keys_with(CANARY) != []

        receipt = await bot.reset(BEN)

        assert receipt == (
            f"{PROOF}\nI've erased everything I remembered from this chat.\n\n"
            "Erased: 4 messages, 4 search entries."
        )
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert await _canaries(bot, stores.index) == []
        assert await points_with(stores.index, make_ref(BEN).context_id) == []
        assert await bot.ask(BEN, "/memory") == english("memory-nothing")


async def test_after_a_reset_the_model_gets_no_earlier_message(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"my secret is {CANARY}")
        await bot.wait_until_indexed()
        await bot.reset(BEN)

        await bot.ask(BEN, "what is my secret")

        assert CANARY not in str(bot.prompts()[-1])


async def test_a_reset_without_permission_is_refused_and_changes_nothing(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)
        await bot.wait_until_indexed()
        before = await bot.history(WEEKEND)

        assert await bot.ask(BEN, "/reset", chat=WEEKEND) == english("administrators-only")
        assert await bot.ask(BEN, "/reset all", chat=WEEKEND) == english("administrators-only")
        assert await bot.ask(BEN, f"/reset {WEEKEND}", chat=WEEKEND) == english("operators-only")
        assert await bot.ask(BEN, f"/reset {WEEKEND}") == english("operators-only")

        assert await bot.history(WEEKEND) == before
        assert await points_with(stores.index, make_ref(WEEKEND).context_id) != []


async def test_a_reset_is_refused_while_telegram_does_not_confirm_the_administrators(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, operator_ids="9999") as bot:
        await bot.ask(OLGA, "@mnemogram_bot hello", chat=WEEKEND)
        await bot.page("faults", {"method": "getChatAdministrators", "error": "500", "times": 1})

        assert await bot.ask(OLGA, "/reset", chat=WEEKEND) == english("cannot-check")

        assert len(await bot.lines(WEEKEND)) == 2


async def test_an_administrator_may_reset_the_group(stores: StoryStores) -> None:
    async with running_bot(stores, operator_ids="9999") as bot:
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)

        receipt = await bot.reset(OLGA, chat=WEEKEND)

        assert receipt.startswith(PROOF)
        await bot.wait_until_idle()
        assert await _canaries(bot, stores.index) == []


async def test_an_operator_resets_another_chat_by_its_id(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"my secret is {CANARY}")
        await bot.ask(CHIARA, "hello")
        await bot.wait_until_indexed()

        receipt = await bot.ask(OLGA, f"/reset {BEN}")

        assert receipt == (
            f"{PROOF}\nI've erased everything I remembered from chat {BEN}.\n\n"
            "Erased: 2 messages, 2 search entries."
        )
        assert await _canaries(bot, stores.index) == []
        assert len(await bot.lines(CHIARA)) == 2
        assert bot.said_in(BEN) == [f"echo: my secret is {CANARY}"]


async def test_an_operators_reset_repeated_after_a_crash_has_the_full_receipt(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, calls = Eraser.finish, count()

    async def crash_once(self: Eraser, ref: ContextRef, erased: Erasure) -> ErasureReceipt:
        if next(calls) == 0:
            raise StoreUnavailable
        return await finish(self, ref, erased)

    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.wait_until_indexed()
        monkeypatch.setattr(Eraser, "finish", crash_once)

        receipt = await bot.ask(OLGA, f"/reset {BEN}")

        assert next(calls) == 2
        assert "Erased: 2 messages, 2 search entries" in receipt
        assert receipt.startswith(PROOF)


@pytest.mark.parametrize("argument", ["everything", "12.5", "1002 1003", "@ben", "--"])
async def test_a_reset_of_another_chat_needs_its_id(stores: StoryStores, argument: str) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(OLGA, "hello")

        assert await bot.ask(OLGA, f"/reset {argument}") == english("unknown-chat-id")

        assert len(await bot.lines(OLGA)) == 2


async def test_a_reset_in_a_topic_erases_only_the_topic(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        for thread in (IDEAS, BUGS, None):
            await bot.ask(OLGA, "@mnemogram_bot hello", chat=WORKSHOP, thread=thread)

        receipt = await bot.reset(OLGA, chat=WORKSHOP, thread=IDEAS)

        assert receipt.startswith(
            f"{PROOF}\nI've erased everything I remembered from this topic.\n\nErased: 2 messages"
        )
        left = [len(await bot.lines(WORKSHOP, thread)) for thread in (IDEAS, BUGS, None)]
        assert left == [0, 2, 2]


async def test_a_reset_of_all_erases_every_topic_of_a_forum(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        for thread in (IDEAS, BUGS, None):
            await bot.ask(OLGA, f"@mnemogram_bot {CANARY}", chat=WORKSHOP, thread=thread)
        await bot.ask(BEN, "hello")
        await bot.wait_until_indexed()

        receipt = await bot.reset(OLGA, "all", chat=WORKSHOP, thread=IDEAS)

        assert receipt.startswith(
            f"{PROOF}\nI've erased everything I remembered from this chat and all its topics.\n\n"
        )
        assert "Erased: 6 messages, 6 search entries" in receipt
        assert receipt.startswith(PROOF)
        await bot.wait_until_idle()
        assert await _canaries(bot, stores.index) == []
        assert len(await bot.lines(BEN)) == 2


async def test_a_stop_does_not_interrupt_a_reset_of_all_topics(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        for thread in (IDEAS, BUGS, None):
            await bot.ask(OLGA, f"@mnemogram_bot {CANARY}", chat=WORKSHOP, thread=thread)
        await bot.wait_until_indexed()
        stop = keys.context_key(make_ref(WORKSHOP, IDEAS), "stop")
        await bot.redis.call(
            "SET", stop, 2**40
        )  # as a /stop leaves it that comes while the reset is under way

        receipt = await bot.reset(OLGA, "all", chat=WORKSHOP, thread=IDEAS)

        assert "Erased: 6 messages, 6 search entries" in receipt
        assert await _canaries(bot, stores.index) == []


async def test_a_reset_during_a_turn_erases_it(stores: StoryStores) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        reply = echo(request)
        return held(reply, until=answer) if CANARY in last_user_text(request) else reply

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, f"my secret is {CANARY}")
        await bot.wait_for_prompts(1)
        await bot.say(BEN, f"and one more {CANARY}")

        await bot.ask(OLGA, f"/reset {BEN}")

        await bot.wait_until_idle()  # it ends with that, though the model has not answered yet
        answer.set()
        await bot.wait_until_indexed()
        assert bot.said_in(BEN) == []
        assert await bot.lines(BEN) == []
        assert await _canaries(bot, stores.index) == []
        assert sorted(r["state"] for r in await bot.records()) == ["answered", "forgotten", "forgotten"]
        assert await bot.ask(BEN, "hello") == "echo: hello"


async def test_a_reset_after_a_running_turn_erases_that_turn_too(stores: StoryStores) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        reply = echo(request)
        return held(reply, until=answer) if CANARY in last_user_text(request) else reply

    async with running_bot(stores, script) as bot:
        await bot.ask(BEN, "hello")
        question = await bot.wait_for_reply(await bot.say(BEN, "/reset"))
        await bot.say(BEN, f"my secret is {CANARY}")
        await bot.wait_for_prompts(2)
        await bot.people.press(BEN, question, buttons_of(question)[0])
        answer.set()

        assert (await bot.wait_for_receipt(question)).startswith(PROOF)
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert await _canaries(bot, stores.index) == []
        assert await bot.lines(BEN) == []


async def test_a_reset_during_a_delivery_stops_the_rest_of_it(stores: StoryStores) -> None:
    long = " ".join(f"{CANARY}{number}" for number in range(1200))
    async with running_bot(stores, [text(long)]) as bot:
        await bot.page(
            "faults", {"method": "sendMessage", "chat_id": BEN, "error": "429", "retry_after": 1, "times": 1}
        )
        await bot.say(BEN, "tell me")
        await bot.wait_until_true(lambda: _is_kept(bot, BEN))

        await bot.ask(OLGA, f"/reset {BEN}")

        await bot.wait_until_idle()
        assert bot.said_in(BEN) == []
        assert await bot.keys_with(CANARY) == []


async def _is_kept(bot: Story, chat: int) -> bool:
    return (await bot.history(chat)).count == 2
