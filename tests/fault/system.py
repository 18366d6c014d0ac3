"""The rig: a simulator, a scripted model, and the product as real processes on one embedded store."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bot.settings import WEBHOOK_PATH
from bot.simulator.config import DEFAULT_TOKEN
from bot.transport.ingest import telegram_ref
from memory.embedded.index_server import IndexEndpoint, open_index_server
from memory.embedded.valkey import open_valkey
from memory.keys import ContextRef
from memory.redis_client import RedisClient, open_redis
from tests.contract.simulator_rig import Rig, served_simulator
from tests.fault.program import Outcome, Program, run_console, start_program
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_script import Script

LEASE_S = 3
SECRET = "known-to-telegram"
BOT_ID = int(DEFAULT_TOKEN.partition(":")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Everything that runs. `redis` and `index` are the product's own embedded stores, for looking into them."""

    simulator: Rig
    model: ScriptedOpenAI
    redis: RedisClient
    redis_socket: Path
    index: IndexEndpoint
    data_dir: Path
    directory: Path
    environment: Mapping[str, str]
    programs: list[Program] = field(default_factory=list[Program])

    async def start(self, *commands: str) -> list[Program]:
        """Start processes of the product side by side; returns when each is ready."""
        started: list[Program] = []
        for command in commands:
            log = self.directory / f"{len(self.programs)}-{command}.log"
            program = await start_program(command, environment=self.environment, log=log)
            self.programs.append(program)
            started.append(program)
        for program in started:
            await program.ready()
        return started

    async def console(self, *words: str) -> Outcome:
        """Run a console command on the same stores."""
        return await run_console(*words, environment=self.environment, directory=self.directory)

    async def trace(self, update_id: int) -> dict[str, Any]:
        """The update as the simulator has it, with its deliveries so far."""
        return (await self.simulator.http.get(f"/api/updates/{update_id}")).json()

    async def deliver(self, update: Mapping[str, Any]) -> tuple[int, str]:
        """Post an update to the webhook as Telegram does; the status and what became of it."""
        async with httpx.AsyncClient(trust_env=False) as telegram:
            answer = await telegram.post(
                self.environment["WEBHOOK_URL"] + WEBHOOK_PATH,
                json=update,
                headers={"X-Telegram-Bot-Api-Secret-Token": SECRET},
            )
        return answer.status_code, answer.json()["outcome"]

    def context(self, chat_id: int) -> ContextRef:
        """The context of a private chat."""
        return telegram_ref(BOT_ID, chat_id, None, partitions=1)

    def server_pid(self, store: str) -> int:
        """The process id of an embedded server: `valkey` or `index`; 0 while there is none."""
        written = (self.data_dir / store / "server.lock").read_text()
        return int(written) if written.isdigit() else 0


@asynccontextmanager
async def running_system(
    directory: Path, script: Script, *, retry_scale: float = 0.1, **settings: str
) -> AsyncGenerator[System]:
    """Simulator, model and stores; the product's processes are started by the test and ended here.

    `retry_scale` multiplies Telegram's waiting times between two deliveries of an update.
    """
    data_dir = directory / "data"
    async with (
        served_simulator(retry_scale=retry_scale) as simulator,
        scripted_openai(script) as model,
        open_valkey(data_dir) as redis_url,
        open_index_server(data_dir) as index,
        open_redis(redis_url) as redis,
    ):
        port = _free_port()
        system = System(
            simulator=simulator,
            model=model,
            redis=redis,
            redis_socket=data_dir / "valkey" / "valkey.sock",
            index=index,
            data_dir=data_dir,
            directory=directory,
            environment={
                "TELEGRAM_API_URL": simulator.url,
                "HTTP_PORT": str(port),
                "WEBHOOK_URL": f"http://127.0.0.1:{port}",
                "WEBHOOK_SECRET": SECRET,
                "DATA_DIR": str(data_dir),
                "OPENAI_BASE_URL": model.base_url,
                "OPENAI_API_KEY": "scripted",
                "OPENAI_EMBEDDING_MODEL": "",
                "LEASE_S": str(LEASE_S),
                "LOG_FORMAT": "json",
                **settings,
            },
        )
        try:
            yield system
        finally:
            alive = [program for program in system.programs if program.process.returncode is None]
            await asyncio.gather(*(program.kill() for program in alive))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
