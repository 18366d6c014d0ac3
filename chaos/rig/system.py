"""The rig:

a simulator, a scripted model, and the product as real processes on one store, with optional proxies between
them.
"""

import asyncio
import json
import os
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import httpx

from bot.settings import WEBHOOK_PATH
from bot.transport.ingest import telegram_ref
from chaos.rig.fork_server import Forks, forks
from chaos.rig.program import Outcome, Program, run_console, start_program
from chaos.rig.tcp_proxy import TcpProxy, place_of, tcp_proxy
from memory.embedded.supervisor import IndexEndpoint, open_index_server
from memory.embedded.valkey import open_valkey
from memory.keys import ContextRef
from memory.redis.client import RedisClient, open_redis
from simulator.api.config import DEFAULT_TOKEN
from tests.contract.simulator_rig import Rig, served_simulator
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_script import Script

LEASE_S = 3
SECRET = "known-to-telegram"
_LISTENING_PORTS = (15_000, 32_000)
"""Below those that Linux takes for outgoing connections (ip_local_port_range)."""
BOT_ID = int(DEFAULT_TOKEN.partition(":")[0])

Between = Literal["redis", "index", "model", "telegram", "webhook"]
"""Places of proxies: between the product and a store, the model, the Bot API; between that and `serve`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The running system.

    `redis` and `index` are the product's stores. `proxies` has one for each requested place. The proxy of
    the webhook leads to each started `serve` in turn, each on its own port.
    """

    simulator: Rig
    model: ScriptedOpenAI
    redis: RedisClient
    redis_url: str
    index: IndexEndpoint
    data_dir: Path
    directory: Path
    environment: Mapping[str, str]
    proxies: Mapping[Between, TcpProxy]
    source: Forks | None = None
    programs: list[Program] = field(default_factory=list[Program])
    numbers: Iterator[int] = field(default_factory=count)

    async def start(self, *commands: str, **settings: str) -> list[Program]:
        """Start processes of the product in parallel with further `settings`.

        Return when each is ready. Behind a webhook proxy a `serve` gets connections from then on.
        """
        started: list[Program] = []
        for command in commands:
            log = self.directory / f"{next(self.numbers)}-{command}.log"
            environment = {**self.environment, **settings}
            if "webhook" in self.proxies and command in {"serve", "run"}:
                environment["HTTP_PORT"] = str(free_port())
            program = await start_program(command, environment=environment, log=log, source=self.source)
            self.programs.append(program)
            started.append(program)
        for program in started:
            await program.ready()
            if "webhook" in self.proxies and program.command in {"serve", "run"}:
                self.proxies["webhook"].places.append(("127.0.0.1", program.port))
        return started

    async def console(self, *words: str) -> Outcome:
        """Run a console command on the same stores."""
        return await run_console(*words, environment=self.environment, directory=self.directory)

    async def trace(self, update_id: int) -> dict[str, Any]:
        """Return the update of the simulator with its deliveries so far."""
        return (await self.simulator.http.get(f"/api/updates/{update_id}")).json()

    async def deliver(self, update: Mapping[str, Any]) -> tuple[int, str]:
        """Post an update to the webhook as Telegram does. Return the status and the outcome."""
        async with httpx.AsyncClient(trust_env=False) as telegram:
            answer = await telegram.post(
                self.environment["WEBHOOK_URL"] + WEBHOOK_PATH,
                json=update,
                headers={"X-Telegram-Bot-Api-Secret-Token": SECRET},
            )
        return answer.status_code, answer.json()["outcome"]

    @property
    def partitions(self) -> int:
        """Return the number of partitions of the store."""
        return int(self.environment.get("PARTITIONS", "1"))

    @property
    def redis_socket(self) -> Path:
        """Return the store's socket, without a proxy. A store with a TCP address has none."""
        place = place_of(self.redis_url)
        assert isinstance(place, Path)
        return place

    def context(self, chat_id: int, thread_id: int | None = None) -> ContextRef:
        """Return the context of a chat or topic."""
        return telegram_ref(BOT_ID, chat_id, thread_id, partitions=self.partitions)

    def server_pid(self, store: str) -> int:
        """Return the process id of an embedded server, `valkey` or `index`; 0 without one."""
        written = (self.data_dir / store / "server.lock").read_text()
        return int(written) if written.isdigit() else 0

    def kill_server(self, store: str) -> bool:
        """Kill an embedded server; its guardian restarts it. Return False if none runs."""
        if pid := self.server_pid(store):
            with suppress(ProcessLookupError):  # killed a moment ago
                os.kill(pid, signal.SIGKILL)
                return True
        return False


@asynccontextmanager
async def running_system(
    directory: Path,
    script: Script,
    *,
    retry_scale: float = 0.1,
    through: Collection[Between] = (),
    redis_url: str | None = None,
    seed: int = 0,
    forked: bool = True,
    forked_with: Mapping[str, str] | None = None,
    options: Mapping[str, object] | None = None,
    **settings: str,
) -> AsyncGenerator[System]:
    """Run simulator, model and stores.

    The test starts processes of the product; they end here. `retry_scale` multiplies Telegram's pauses
    between deliveries. `through` lists the proxies, random by `seed`. `redis_url` is a server of the test
    instead of the embedded one. `forked`: processes are forks of one that has imported the product, with
    the environment `forked_with`; otherwise each is started from the console.
    """
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(served_simulator(retry_scale=retry_scale))
        model = await stack.enter_async_context(scripted_openai(script))
        store_url = redis_url or await stack.enter_async_context(open_valkey(data_dir))
        index = await stack.enter_async_context(open_index_server(data_dir))
        redis = await stack.enter_async_context(open_redis(store_url))
        behind = {"redis": store_url, "index": index.url, "model": model.base_url, "telegram": simulator.url}
        proxies: dict[Between, TcpProxy] = {
            name: await stack.enter_async_context(_proxy(behind.get(name), seed)) for name in through
        }
        environment = {
            "TELEGRAM_API_URL": simulator.url,
            **_own_address(proxies.get("webhook")),
            "WEBHOOK_SECRET": SECRET,
            "DATA_DIR": str(data_dir),
            **({"REDIS_URL": redis_url} if redis_url else {}),
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "scripted",
            "OPENAI_EMBEDDING_MODEL": "",
            "LEASE_S": str(LEASE_S),
            "LOG_FORMAT": "json",
            **_ways_through(proxies, index),
            **_agents_file(directory, options),
            **settings,
        }
        system = System(
            simulator=simulator,
            model=model,
            redis=redis,
            redis_url=store_url,
            index=index,
            data_dir=data_dir,
            directory=directory,
            environment=environment,
            proxies=proxies,
            source=await stack.enter_async_context(forks(forked_with)) if forked else None,
        )
        try:
            yield system
        finally:
            alive = [program for program in system.programs if program.process.returncode is None]
            await asyncio.gather(*(program.kill() for program in alive))


def _proxy(url: str | None, seed: int) -> AbstractAsyncContextManager[TcpProxy]:
    """Run a proxy in front of the server of this URL, or of servers that are named later."""
    return tcp_proxy(*([place_of(url)] if url else []), seed=seed)


def _agents_file(directory: Path, options: Mapping[str, object] | None) -> dict[str, str]:
    """Return the setting of an agents file with these options; nothing without options."""
    if options is None:
        return {}
    path = directory / "agents.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    path.write_text("\n".join(["[agent]", "[options]", *lines, ""]), "utf-8")
    return {"AGENTS_FILE": str(path)}


def _own_address(webhook: TcpProxy | None) -> dict[str, str]:
    if webhook is not None:
        return {"WEBHOOK_URL": webhook.http_url}
    port = free_port()
    return {"HTTP_PORT": str(port), "WEBHOOK_URL": f"http://127.0.0.1:{port}"}


def _ways_through(proxies: Mapping[Between, TcpProxy], index: IndexEndpoint) -> dict[str, str]:
    """Return the settings that lead the product through the proxies."""
    settings: dict[str, str] = {}
    if proxy := proxies.get("redis"):
        settings["REDIS_URL"] = proxy.redis_url
    if proxy := proxies.get("index"):
        settings |= {"QDRANT_URL": proxy.http_url, "QDRANT_API_KEY": index.api_key}
    if proxy := proxies.get("model"):
        settings["OPENAI_BASE_URL"] = f"{proxy.http_url}/v1"
    if proxy := proxies.get("telegram"):
        settings["TELEGRAM_API_URL"] = proxy.http_url
    return settings


def free_port() -> int:
    """Return a free port outside the kernel's range for outgoing connections."""
    while True:
        port = _LISTENING_PORTS[0] + secrets.randbelow(_LISTENING_PORTS[1] - _LISTENING_PORTS[0])
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
