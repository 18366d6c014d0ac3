"""Findings of the doctor."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.cli.checks import Finding, endpoints, fail, ok, print_findings, warn
from bot.cli.checks.endpoints import check_media, judge_inline, judge_page, judge_webhook
from bot.cli.checks.machine import check_settings
from bot.cli.doctor import Check, run_bounded
from bot.features.settings import load_settings
from bot.mcp import connection
from bot.settings import Settings
from bot.transport.gating import BotIdentity
from bot.transport.telegram_api import WebhookInfo
from memory.errors import DataDirFull, StoreUnavailable

OURS = "https://bot.example/telegram/webhook"
NOW = 10_000.0


async def test_texts_in_the_logs_are_a_warning() -> None:
    assert [each.level for each in await check_settings(load_settings())] == ["ok"]

    _, warning = await check_settings(load_settings(log_text=True))

    assert (warning.level, "LOG_TEXT is on" in warning.says) == ("warn", True)
    assert "LOG_TEXT=false" in warning.fix


@pytest.mark.parametrize(
    ("found", "our_url", "level", "says"),
    [
        ("", None, "ok", "updates are polled"),
        (OURS, OURS, "ok", "pushes to WEBHOOK_URL (bot.example)"),
        ("", OURS, "warn", "not set yet"),
        ("https://other.example/secret", OURS, "fail", "updates go to other.example, not to WEBHOOK_URL"),
        ("https://other.example/secret", None, "fail", "polling gets none of them"),
    ],
)
def test_the_webhook_is_compared_with_the_configured_one(
    found: str, our_url: str | None, level: str, says: str
) -> None:
    (finding,) = judge_webhook(_info(url=found), our_url=our_url, now=NOW)
    assert (finding.level, says in finding.says) == (level, True)
    assert "secret" not in finding.says
    assert bool(finding.fix) is (level != "ok")


def test_only_a_recent_delivery_error_is_reported() -> None:
    recent = _info(url=OURS, last_error="Wrong response: 502", last_error_at=NOW - 90)
    old = _info(url=OURS, last_error="Wrong response: 502", last_error_at=NOW - 7200)
    assert [f.says for f in judge_webhook(recent, our_url=OURS, now=NOW)][1:] == [
        "Telegram could not deliver 1 min ago: Wrong response: 502"
    ]
    assert len(judge_webhook(old, our_url=OURS, now=NOW)) == 1


def test_the_memory_page_is_named_or_how_to_get_it() -> None:
    address = "https://bot.example/app/"

    none = judge_page(None, has_groups=True, has_main_web_app=False)
    direct = judge_page(address, has_groups=True, has_main_web_app=True)
    private = judge_page(address, has_groups=False, has_main_web_app=False)
    by_start = judge_page(address, has_groups=True, has_main_web_app=False)

    assert (none.level, none.says) == ("warn", "the memory page is not offered: it has no public address")
    assert none.fix.startswith("Set PUBLIC_URL to the https address that leads to HTTP_PORT.")
    assert direct == ok("page", "the memory page is at https://bot.example/app/")
    assert private.says.endswith("for private chats only (GROUP_MEMORY_PAGE)")
    assert (by_start.level, "@BotFather → /mybots → Bot Settings" in by_start.says) == ("ok", True)


@pytest.mark.parametrize(("is_inline", "level"), [(False, "warn"), (True, "ok")])
def test_inline_mode_names_what_is_to_do_at_botfather(is_inline: bool, level: str) -> None:
    bot = BotIdentity(id=1, username="bot", supports_inline_queries=is_inline)
    found = judge_inline(bot)
    assert (found.level, "/setinlinefeedback" in found.says + found.fix) == (level, True)
    assert ("/setinline," in found.fix) is not is_inline


def test_many_waiting_updates_are_reported() -> None:
    findings = judge_webhook(_info(url=OURS, pending_updates=1200), our_url=OURS, now=NOW)
    assert findings[1].says == "1,200 updates wait at Telegram"


async def test_a_failed_check_becomes_a_finding_with_its_fix() -> None:
    async def broken(_: Settings) -> list[Finding]:
        raise StoreUnavailable("Redis cannot be reached")

    check = Check(name="store", run=broken, fix="start it")
    assert await run_bounded(check, load_settings()) == [
        fail("store", "REDIS_URL: Redis cannot be reached", "start it")
    ]


async def test_a_hanging_check_is_ended() -> None:
    async def endless(_: Settings) -> list[Finding]:
        await asyncio.Event().wait()
        return []

    check = Check(name="model", run=endless, fix="look", limit_s=0.01)
    assert await run_bounded(check, load_settings()) == [fail("model", "no answer within 0.01 s", "look")]


def test_findings_are_printed_with_advice_and_without_secrets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    findings = [ok("data", "fine"), warn("model", "offline", "set a key"), fail("store", "says hunter2")]
    print_findings(findings, as_json=False, secrets=["hunter2"])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["✓ data  fine", "! model offline", "        → set a key", "✗ store says ***"]
    print_findings(findings, as_json=True, secrets=["hunter2"])
    document = json.loads(capsys.readouterr().out)
    assert document["is_well"] is False
    assert document["checks"][2] == {"name": "store", "level": "fail", "says": "says ***", "fix": None}


def _info(
    *, url: str, pending_updates: int = 0, last_error: str = "", last_error_at: float | None = None
) -> WebhookInfo:
    return WebhookInfo(
        url=url, pending_updates=pending_updates, last_error=last_error, last_error_at=last_error_at
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "photos are not seen (OPENAI_VISION), recordings not heard (OPENAI_TRANSCRIPTION_MODEL)"),
        (
            {"openai_api_key": "sk-test", "openai_model": "gpt-4o"},
            "photos are seen, recordings transcribed by gpt-4o-mini-transcribe",
        ),
        (
            {"openai_base_url": "http://127.0.0.1:1", "openai_model": "own", "openai_vision": True},
            "photos are seen, recordings not heard (OPENAI_TRANSCRIPTION_MODEL)",
        ),
    ],
)
async def test_the_handling_of_files_is_reported(changes: dict[str, Any], says: str) -> None:
    (finding,) = await check_media(load_settings(**changes))
    assert finding == ok("media", f"{says}; documents are read up to 20 MB")


async def test_mcp_servers_are_listed_with_their_tools_or_their_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "_SERVERS_S", 60.0)
    monkeypatch.setattr(connection, "FIRST_LIST_S", 60.0)
    server, path = Path(__file__).parents[2] / "mcp_server.py", tmp_path / "agents.toml"
    args = f'["{server}", "shop", "{tmp_path / "calls"}"]'
    path.write_text(
        '[agent]\ntools = ["mcp:shop/*", "mcp:bare/*", "mcp:gone/*", "mcp:typo/ad"]\n'
        f'[mcp.servers.shop]\ncommand = "{sys.executable}"\nargs = {args}\ntools = ["add", "pay"]\n'
        f'[mcp.servers.bare]\ncommand = "{sys.executable}"\nargs = {args}\ntools = ["no_such"]\n'
        '[mcp.servers.gone]\ncommand = "/nothing/here"\n'
        f'[mcp.servers.typo]\ncommand = "{sys.executable}"\nargs = {args}\n'
        '[tools.typo__pai]\nwho = "administrators"\n'
    )

    shop, bare, gone, typo = await endpoints.check_servers(load_settings(agents_file=path))

    assert (shop.level, bare.level, gone.level) == ("ok", "warn", "warn")
    assert shop.says.startswith("shop: listed in ")
    assert shop.says.endswith(" s; tools: shop__add, shop__pay")
    assert bare.says == "bare: it has no tool for agents"
    assert gone.says.startswith("gone: ")
    assert "[mcp.servers.gone]" in gone.fix
    assert (typo.level, typo.says) == ("warn", "typo: it has no typo__ad, typo__pai")


async def test_without_mcp_servers_the_doctor_says_nothing_about_them() -> None:
    assert await endpoints.check_servers(load_settings()) == []


async def test_a_full_disk_is_named_with_what_to_do_and_not_the_server() -> None:
    async def open_store(_: Settings) -> list[Finding]:
        raise DataDirFull("DATA_DIR: /data/valkey has 3 MB of free space, 200 are needed")

    check = Check(name="store", run=open_store, fix="Start Redis or Valkey, or correct REDIS_URL.")
    (finding,) = await run_bounded(check, load_settings(_env_file=None))

    assert finding == fail(
        "store",
        "DATA_DIR: /data/valkey has 3 MB of free space, 200 are needed",
        "Free some space on that disk.",
    )
