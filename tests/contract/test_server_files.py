"""Erased words leave the files of Redis and Valkey servers, also those of replicas, and refusals are told."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which

import pytest

from chaos.rig.program import until_it_is
from chaos.rig.system import free_port
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, global_key
from memory.redis.address import node_url
from memory.redis.client import RedisClient, open_redis
from memory.redis.server_files import EVERY_S, GATHER_S, PRIMARY, ServerFiles, load_unclean
from tests.messages import make_message
from tests.stores import plain_valkey

pytestmark = pytest.mark.slow

REF = ContextRef(context_id="c" * 32, partition=1)
CANARY = b"zanzibarwort"
NO_REDIS = pytest.mark.skipif(not which("redis-server"), reason="no redis-server is installed")


@dataclass
class Servers:
    """A primary with a replica, both with append-only files and a password, and a clock that the test sets."""

    redis: RedisClient
    url: str
    replica: RedisClient
    replica_name: str
    folder: Path
    now: float = 0.0

    def files(self, url: str = "") -> ServerFiles:
        return ServerFiles(self.redis, url=url or self.url, partitions=2, clock=lambda: self.now)

    def with_canary(self) -> set[str]:
        """Return the servers whose files have the word."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return {path.relative_to(self.folder).parts[0] for path in files if CANARY in path.read_bytes()}

    async def say_and_erase(self) -> None:
        """Store the word, see it in both files, and erase it."""
        history = RedisHistory(self.redis)
        epoch = (await history.load(REF, limit=0)).epoch
        await history.append(REF, [make_message("m", CANARY.decode())], epoch=epoch)
        await until_it_is({"primary", "replica"}, self._with_canary, within_s=5)
        await history.erase(REF)
        await until_it_is(await self._written(self.redis), partial(self._written, self.replica), within_s=5)

    async def _with_canary(self) -> set[str]:
        return self.with_canary()

    async def _written(self, server: RedisClient) -> int:
        (info,) = await server.ask_each("INFO", "replication")
        return int(info["master_repl_offset"])

    async def run_until_asked(self, files: ServerFiles) -> None:
        """Let the time pass after which the servers are asked."""
        await files.step()
        self.now += GATHER_S
        assert await files.step() is True


@pytest.fixture(params=[pytest.param("redis-server", marks=NO_REDIS), pytest.param("", id="valkey")])
async def servers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Servers]:
    ports = {"primary": free_port(), "replica": free_port()}
    settings = {"appendonly": "yes", "appendfsync": "always", "save": "", "rdbcompression": "no"}
    async with AsyncExitStack() as stack:
        clients: list[RedisClient] = []
        for name, port in ports.items():
            (tmp_path / name).mkdir()
            run = plain_valkey(tmp_path / name, program=request.param, port=str(port), **settings)
            async with open_redis(await stack.enter_async_context(run)) as admin:
                await admin.call("CONFIG", "SET", "repl-diskless-sync-delay", "0")
                await admin.call("CONFIG", "SET", "masterauth", "word")
                await admin.call("CONFIG", "SET", "requirepass", "word")
            url = f"redis://:word@127.0.0.1:{port}/0"
            clients.append(await stack.enter_async_context(open_redis(url)))
        primary, replica = clients
        await replica.call("REPLICAOF", "127.0.0.1", ports["primary"])
        await until_it_is("up", partial(_link, replica), within_s=20)
        yield Servers(
            redis=primary,
            url=f"redis://:word@127.0.0.1:{ports['primary']}/0",
            replica=replica,
            replica_name=f"127.0.0.1:{ports['replica']}",
            folder=tmp_path,
        )


async def _link(replica: RedisClient) -> str:
    (info,) = await replica.ask_each("INFO", "replication")
    return str(info.get("master_link_status"))


async def test_erased_words_leave_the_files_of_the_server_and_its_replica(servers: Servers) -> None:
    await servers.say_and_erase()
    assert servers.with_canary() == {"primary", "replica"}

    await servers.run_until_asked(servers.files())

    assert servers.with_canary() == set()
    assert await load_unclean(servers.redis) == {}


async def test_all_processes_together_rewrite_once_in_ten_minutes(servers: Servers) -> None:
    await servers.say_and_erase()
    one, other = servers.files(), servers.files()
    await servers.run_until_asked(one)
    await servers.say_and_erase()

    for files in (one, other):
        await files.step()
        servers.now += GATHER_S
        assert await files.step() is False

    left_ms = await servers.redis.call("PTTL", global_key("rewriting"))
    assert EVERY_S - 60 < left_ms / 1000 <= EVERY_S
    await servers.redis.call("DEL", global_key("rewriting"))
    assert await other.step() is True
    assert servers.with_canary() == set()


async def test_a_server_that_may_not_rewrite_is_named_until_it_may(servers: Servers) -> None:
    await servers.redis.call("ACL", "SETUSER", "default", "-bgrewriteaof")
    await servers.say_and_erase()
    files = servers.files()
    await servers.run_until_asked(files)
    assert servers.with_canary() == {"primary"}
    unclean = await load_unclean(servers.redis)
    assert unclean.keys() == {PRIMARY}
    assert "bgrewriteaof" in unclean[PRIMARY]

    await servers.redis.call("ACL", "SETUSER", "default", "+@all")
    await servers.redis.call("DEL", global_key("rewriting"))
    await servers.run_until_asked(files)

    assert servers.with_canary() == set()
    assert await load_unclean(servers.redis) == {}
    await servers.redis.call("DEL", global_key("rewriting"))
    servers.now += EVERY_S
    assert await files.step() is False


async def test_a_replica_with_another_password_is_named(servers: Servers) -> None:
    await servers.replica.call("CONFIG", "SET", "requirepass", "other")
    await servers.say_and_erase()
    await servers.run_until_asked(servers.files())
    assert servers.with_canary() == {"replica"}
    assert (await load_unclean(servers.redis)).keys() == {servers.replica_name}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://:word@store:6379/2", "redis://:word@10.0.0.3:6380/2"),
        (
            "rediss://user:w%2Ford@store/0?ssl_cert_reqs=none",
            "rediss://user:w%2Ford@10.0.0.3:6380/0?ssl_cert_reqs=none",
        ),
        ("redis+sentinel://:word@a,b:26379/1?service=bot", "redis://:word@10.0.0.3:6380/1"),
        ("redis+cluster://:word@a:1,b:2", "redis://:word@10.0.0.3:6380"),
        ("unix://:word@/run/store.sock?db=1", "redis://:word@10.0.0.3:6380?db=1"),
    ],
)
def test_a_replica_is_asked_with_the_credentials_of_the_server(url: str, expected: str) -> None:
    assert node_url(url, "10.0.0.3", 6380) == expected
