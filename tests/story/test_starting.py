"""Stories of the start: waits for dependencies, errors that end it, and several processes."""

import pytest

from bot.app import stores as store_opening
from bot.app.service import run_service
from bot.errors import PortInUse, TelegramRefused
from bot.transport import command_menus, polling
from tests.local_http import local_client
from tests.scripted_script import tool_then_echo
from tests.store_proxy import redis_proxy
from tests.story.expected import help_text
from tests.story.harness import BEN, CHIARA, OLGA, Story, StoryStores, running_bot


async def test_the_start_waits_for_a_missing_store(
    stores: StoryStores, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_opening, "PAUSE_S", 0.05)
    async with (
        redis_proxy(redis_url) as way,
        running_bot(stores, redis_url=way.redis_url, is_started=False) as bot,
    ):
        await way.cut()
        bot.start()
        await bot.say(BEN, "hello")
        await bot.wait_until_down("redis")
        assert await _webhook_status(bot) == (503, True)
        await way.mend()

        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: hello"])


async def test_the_start_waits_for_an_unreachable_telegram(stores: StoryStores) -> None:
    async with running_bot(stores, is_started=False) as bot:
        await bot.page("faults", {"method": "getMe", "error": "500", "times": 1})
        bot.start()
        await bot.wait_until_down("telegram")
        assert await _webhook_status(bot) == (503, True)

        assert await bot.ask(BEN, "hello") == "echo: hello"


async def test_an_outage_of_the_store_does_not_end_the_start(stores: StoryStores, redis_url: str) -> None:
    async with (
        redis_proxy(redis_url) as way,
        running_bot(stores, redis_url=way.redis_url, is_started=False) as bot,
    ):
        await bot.page("faults", {"method": "getMe", "error": "500", "times": 1})
        bot.start()
        await bot.wait_until_down("telegram")
        await way.cut()
        await bot.wait_until_down("redis")
        await way.mend()

        assert await bot.ask(BEN, "hello") == "echo: hello"


async def _webhook_status(bot: Story) -> tuple[int, bool]:
    """Return the webhook's response to Telegram now, and whether it asks for a retry."""
    async with local_client() as client:
        headers = {"X-Telegram-Bot-Api-Secret-Token": bot.settings.secret}
        answer = await client.post(f"{bot.http_url}/telegram/webhook", json={"update_id": 1}, headers=headers)
    return answer.status_code, "Retry-After" in answer.headers


async def test_an_unknown_token_ends_the_start(stores: StoryStores) -> None:
    async with running_bot(stores, is_started=False, telegram_bot_token="4242:another-token") as bot:
        with pytest.raises(TelegramRefused) as refused:
            await run_service(bot.settings, serve=True, work=True)

    assert "another-token" not in str(refused.value)


async def test_a_used_port_ends_the_start_and_is_reported(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.wait_until_down()

        with pytest.raises(PortInUse, match="HTTP_PORT"):
            await run_service(bot.settings, serve=True, work=True)

        assert await bot.ask(BEN, "hello") == "echo: hello"


async def test_a_foreign_webhook_is_respected_until_it_is_deleted(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "WEBHOOK_CHECK_S", 0.05)
    monkeypatch.setattr(command_menus, "FIRST_AFTER_S", 0)
    async with running_bot(stores, is_started=False) as bot:
        await _call(bot, "setWebhook", url="http://127.0.0.1:1/elsewhere")
        bot.start()
        await bot.wait_until_down()
        await bot.say(BEN, "hello")
        await bot.wait_until(lambda: any(event["type"] == "commands" for event in bot.events))
        assert (await _call(bot, "getWebhookInfo"))["url"] == "http://127.0.0.1:1/elsewhere"
        assert await bot.records() == []

        await _call(bot, "deleteWebhook")

        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: hello"])


async def _call(bot: Story, method: str, **given: str) -> dict[str, str]:
    path = f"/bot{bot.settings.token}/{method}"
    return (await bot.simulator.post(path, json=given)).json()["result"]


async def test_one_process_accepts_updates_and_two_others_process_them(stores: StoryStores) -> None:
    async with running_bot(stores, tool_then_echo, is_pushed=True, is_started=False) as bot:
        bot.start(work=False)
        for _ in range(2):
            bot.start(serve=False)

        for number in range(3):
            for person in (BEN, CHIARA, OLGA):
                await bot.say(person, f"line {number}")
        await bot.wait_until_finished(9)
        await bot.wait_until_idle()

        for person in (BEN, CHIARA, OLGA):
            users = [text for role, text in await bot.lines(person) if role == "user"]
            assert users == ["line 0", "line 1", "line 2"]
            assert bot.said_in(person)[-1] == "echo: line 2"
        assert [record["attempts"] for record in await bot.records() if "attempts" in record]


async def test_a_busy_chat_lets_another_one_in_between(stores: StoryStores) -> None:
    async with running_bot(stores, is_started=False, worker_concurrency=1) as bot:
        for _ in range(12):
            await bot.say(BEN, "/help")
        await bot.say(CHIARA, "/help")
        bot.start()

        await bot.wait_until(lambda: len(bot.said_in(BEN)) == 12 and len(bot.said_in(CHIARA)) == 1)

        shown = [e["message"] for e in bot.events if e["type"] == "message"]
        order = [m["chat"]["id"] for m in shown if m["text"] == help_text()]
        assert order.index(CHIARA) < 12
