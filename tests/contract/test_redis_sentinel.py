"""Real sentinels: their passwords and the master's, however they are written, and errors that name what is wrong."""

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from bot.app.stores import open_intake_stores
from bot.features.settings import load_settings
from chaos.rig.system import free_port
from memory.errors import CredentialsRefused, StoreUnavailable, UnsafeStore
from memory.redis.client import open_redis
from tests.valkey_sentinel import sentinels

ODD = "p@ss#w/rd:1,;%?"
OWN = "sent&=+nel #2"


def written(password: str) -> str:
    return quote(password, safe="")


@pytest.mark.parametrize("own", ["", OWN], ids=["open", "guarded"])
async def test_passwords_of_master_and_sentinels_are_written_with_percent_signs(
    own: str, tmp_path: Path
) -> None:
    async with sentinels(tmp_path, master_password=ODD, own_password=own, count=2) as hosts:
        password = f"&sentinel_password={written(own)}" if own else ""
        for tail in (f"/0?service=bot{password}", f"/bot/0?{password}"):
            async with open_redis(f"redis+sentinel://:{written(ODD)}@{hosts}{tail}") as redis:
                await redis.call("SET", "key", "value")
                assert await redis.call("GET", "key") == "value"


@pytest.mark.parametrize("given", ["", "&sentinel_password=wrong"])
async def test_sentinels_that_refuse_are_named_within_seconds(given: str, tmp_path: Path) -> None:
    async with sentinels(tmp_path, own_password=OWN) as hosts:
        settings = load_settings(redis_url=f"redis+sentinel://{hosts}/0?service=bot{given}")
        with pytest.raises(CredentialsRefused, match=r"REDIS_URL .*sentinel_password=") as refused:
            async with asyncio.timeout(10), open_intake_stores(settings):
                pass

    assert "wrong" not in str(refused.value)


async def test_a_master_that_refuses_ends_the_start_too(tmp_path: Path) -> None:
    async with sentinels(tmp_path, master_password=ODD) as hosts:
        settings = load_settings(redis_url=f"redis+sentinel://:wrong@{hosts}/0?service=bot")
        with pytest.raises(CredentialsRefused, match="credentials of REDIS_URL"):
            async with asyncio.timeout(10), open_intake_stores(settings):
                pass


async def test_a_sentinel_in_place_of_a_server_is_told(tmp_path: Path) -> None:
    async with sentinels(tmp_path) as host:
        with pytest.raises(
            UnsafeStore, match=r"is a sentinel: write redis\+sentinel://"
        ):  # redis/redis-py#892
            async with open_intake_stores(load_settings(redis_url=f"redis://{host}")):
                pass


async def test_sentinels_that_do_not_answer_are_told(tmp_path: Path) -> None:
    async with open_redis(f"redis+sentinel://127.0.0.1:{free_port()}/0?service=bot") as redis:
        with pytest.raises(StoreUnavailable, match="no sentinel answers"):
            await redis.call("PING")


async def test_a_name_that_no_sentinel_knows_is_told(tmp_path: Path) -> None:
    async with sentinels(tmp_path) as hosts, open_redis(f"redis+sentinel://{hosts}/0") as redis:
        with pytest.raises(StoreUnavailable, match="service=NAME"):
            await redis.call("PING")
