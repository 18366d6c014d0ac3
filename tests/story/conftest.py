"""Fixtures of the stories: clean stores, and a quick start and end of the bot."""

from pathlib import Path

import certifi
import pytest

from bot.inbox import worker
from bot.transport import command_menus
from memory.embedded.supervisor import IndexEndpoint
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import end_blocking_reads_on_time
from tests.local_http import local_client
from tests.story.harness import StoryStores

CLAIM_WAIT_MS = 20
"""A worker that stops waits for its last blocking read."""


@pytest.fixture(scope="session")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with one certificate authority. Every HTTP client would load all of them, in 30 ms."""
    first, end, _ = certifi.contents().partition("-----END CERTIFICATE-----")
    path = tmp_path_factory.mktemp("tls") / "one.pem"
    path.write_text(first + end)
    return path


@pytest.fixture(autouse=True)
def quick_and_alone(monkeypatch: pytest.MonkeyPatch, one_authority: Path) -> None:
    """Shorten waits at start and end, and leave out the menus: 30 requests of a bot that lives for a second."""
    monkeypatch.setattr(worker, "CLAIM_WAIT_MS", CLAIM_WAIT_MS)
    monkeypatch.setattr(command_menus, "FIRST_AFTER_S", 3600.0)
    monkeypatch.setenv("SSL_CERT_FILE", str(one_authority))
    monkeypatch.setattr(certifi, "where", lambda: str(one_authority))


@pytest.fixture
async def stores(redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint) -> StoryStores:
    """Open the stores of one bot.

    The index is emptied, because counts and erasures cover all its collections.
    """
    headers = {"api-key": index_endpoint.api_key}
    async with local_client(index_endpoint.url, headers=headers) as index:
        listed = (await index.get("/collections")).json()["result"]["collections"]
        for collection in listed:
            (await index.delete(f"/collections/{collection['name']}")).raise_for_status()
    await end_blocking_reads_on_time(redis)
    return StoryStores(redis=redis, redis_url=redis_url, index=index_endpoint)
