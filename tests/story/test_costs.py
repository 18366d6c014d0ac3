"""Stories of a month's costs: who sees them, what counts, and the budget of the whole bot."""

import re
import time

from bot.turn.costs import MICROS, month_key, month_of
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.page_visits import visiting

PRICED = "gpt-5.4-mini:1:2"
NOBODY = 5_555
"""An operator who never wrote to the bot."""


async def spend(bot: Story, money: float) -> None:
    """Book the cost of many turns."""
    key = month_key(month())
    await bot.redis.calls([("HINCRBY", key, "micros", round(money * MICROS)), ("EXPIRE", key, 60)])


def month() -> str:
    return month_of(time.time())


async def test_operators_see_a_months_sum_people_and_chats(stores: StoryStores) -> None:
    async with running_bot(stores, models=PRICED) as bot:
        await bot.ask(BEN, "@mnemogram_bot one", chat=WEEKEND)
        await bot.ask(BEN, "two")
        await bot.ask(CHIARA, "three")

        shown = await bot.ask(OLGA, "/stats month")

        line = r": [\d,]+ tokens, cost [\d.]+\.?\n"
        assert re.fullmatch(
            rf"Usage in {month()} \(UTC\):\nAll chats{line}"
            rf"\nPeople who used the most:\n1\. Ben[^()]*\({BEN}\){line}2\. Chiara[^()]*\({CHIARA}\){line}"
            rf"\nChats that used the most:\n(?:\d\. [^()]+\((?:{BEN}|{CHIARA}|{WEEKEND})\){line}){{3}}",
            f"{shown}\n",
        )
        tokens = [int(each.replace(",", "")) for each in re.findall(r"([\d,]+) tokens", shown)]
        assert tokens[0] == sum(tokens[1:3]) == sum(tokens[3:])
        assert await bot.ask(OLGA, f"/stats month {month()}") == shown
        async with visiting(bot, OLGA) as page:
            costs = await page.read("operations/costs")
            wrong = await page.ask("operations/costs", month="2020-01")
        assert (costs["month"], costs["months"], costs["has_prices"]) == (month(), [month()], True)
        assert [each["id"] for each in costs["people"]] == [BEN, CHIARA]
        assert sum(each["tokens"] for each in costs["chats"]) == costs["total"]["tokens"] == tokens[0]
        assert wrong.status_code == 400
        assert await bot.ask(BEN, "/stats month") == english("operators-only")


async def test_a_group_sees_no_names_and_a_wrong_month_gets_help(stores: StoryStores) -> None:
    async with running_bot(stores, models=PRICED) as bot:
        assert (await bot.ask(OLGA, "/stats month")).startswith("Nothing was used in")
        await bot.ask(BEN, "one")

        told = await bot.ask(OLGA, "/stats month", chat=WEEKEND)

        assert told.endswith(english("costs-in-private"))
        assert "Ben" not in told
        for wrong in ("week", "month 2020-01", "month 2026-1", "month 2026-13 x"):
            assert (await bot.ask(OLGA, f"/stats {wrong}")).startswith("Send /stats month to see this month")


async def test_a_reset_does_not_erase_a_months_costs(stores: StoryStores) -> None:
    async with running_bot(stores, models=PRICED) as bot:
        await bot.ask(BEN, "one")
        before = await bot.ask(OLGA, "/stats month")
        await bot.reset(BEN)
        after = await bot.ask(OLGA, "/stats month")
        assert re.findall(r"[\d,]+ tokens", after) == re.findall(r"[\d,]+ tokens", before)


async def test_operators_are_warned_once_at_80_percent_by_all_workers_together(stores: StoryStores) -> None:
    operators = frozenset({OLGA, NOBODY})
    async with running_bot(stores, models=PRICED, money_per_month=10.0, operator_ids=operators) as bot:
        bot.start(serve=False)
        await bot.ask(OLGA, "hello")
        await spend(bot, 8.1)

        await bot.wait_until(lambda: any("budget" in text for text in bot.said_in(OLGA)))
        await bot.wait_until_idle()

        warning = bot.said_in(OLGA)[-1]
        assert re.match(r"81% of this month's budget is used: 8\.1\d* of 10\. ", warning)
        assert await bot.ask(BEN, "am I served?") == "echo: am I served?"
        await bot.stop()
        bot.start()
        assert await bot.ask(OLGA, "and after a restart?") == "echo: and after a restart?"
        await spend(bot, 2)
        assert (await bot.ask(CHIARA, "hello")).startswith("The budget for this month is used up")
        assert [text for text in bot.said_in(OLGA) if "budget" in text] == [warning]
        notices = [each for each in await bot.records() if each.get("gate") == "budget notice due"]
        assert sorted(each["state"] for each in notices) == ["answered", "ignored"], "Olga's, and nobody's"


async def test_a_used_budget_gets_one_polite_sentence_and_operators_are_served(stores: StoryStores) -> None:
    async with running_bot(stores, models=PRICED, money_per_month=10.0) as bot:
        await spend(bot, 10)

        told = await bot.ask(BEN, "hello")
        await bot.say(BEN, "hello?")
        await bot.wait_until_finished(2)

        assert told.startswith(
            "The budget for this month is used up, so I can't answer right now. I'll be back on 1 "
        )
        assert bot.said_in(BEN) == [told]
        assert "limit_all_money" in [record.get("reason") for record in await bot.records()]
        # The warning of a used budget, which has a record without a reason, may reach her between these two.
        await bot.say(OLGA, "hello")
        await bot.say(OLGA, "/stats month")
        await bot.wait_until(lambda: "Budget for a month: 10." in "".join(bot.said_in(OLGA)))
        assert "echo: hello" in bot.said_in(OLGA)
