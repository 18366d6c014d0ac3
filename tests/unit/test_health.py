"""The log of health: each trouble once, and its end once."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.app import health
from bot.app.health import find_low_disk, watch_health_forever
from bot.features.settings import load_settings


async def test_each_trouble_is_logged_once_and_so_is_its_end() -> None:
    plan: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"disk": "3 MB free"}, {"space": "low"}),
        ({"disk": "2 MB free", "qdrant": "gone"}, {"space": "low"}),
        ({"qdrant": "gone"}, {}),
        ({}, {"space": "low"}),
    ]
    rounds = iter(plan)
    risks: dict[str, str] = {}
    is_over = asyncio.Event()

    async def find() -> dict[str, str]:
        down, now = next(rounds, (None, dict[str, str]()))
        if down is None:
            is_over.set()
            await asyncio.Event().wait()
            raise AssertionError
        risks.clear()
        risks.update(now)
        return down

    with capture_logs() as logs:
        watch = asyncio.create_task(watch_health_forever(find, lambda: dict(risks), pause_s=0))
        await is_over.wait()
        watch.cancel()
        await asyncio.wait([watch])

    assert [(line["event"], line["part"], line.get("problem")) for line in logs] == [
        ("not_ready", "disk", "3 MB free"),
        ("at_risk", "space", "low"),
        ("not_ready", "qdrant", "gone"),
        ("ready_again", "disk", None),
        ("ready_again", "qdrant", None),
        ("at_risk", "space", "low"),
    ]


def test_a_disk_that_gets_full_is_named_if_a_store_is_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = load_settings(_env_file=None, data_dir=tmp_path)
    half = load_settings(_env_file=None, data_dir=tmp_path, redis_url="redis://127.0.0.1")
    servers = load_settings(
        _env_file=None, data_dir=tmp_path, redis_url="redis://127.0.0.1", qdrant_url="http://127.0.0.1:1"
    )
    monkeypatch.setattr(health, "LOW_SPACE_BYTES", 2**62)
    says = [find_low_disk(each).get("disk", "") for each in (embedded, half, servers)]
    assert [f"DATA_DIR {tmp_path} has " in each for each in says] == [True, True, False]

    monkeypatch.setattr(health, "LOW_SPACE_BYTES", 0)
    assert find_low_disk(embedded) == {}
