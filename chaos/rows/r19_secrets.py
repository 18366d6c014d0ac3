"""R19:

real processes at LOG_LEVEL=debug with faults and wrong settings. No secret appears outside its place.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import httpx

from bot.settings import WEBHOOK_PATH
from bot.transport.http_server import serve_http
from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import gather_people
from chaos.rig.fork_server import Forks, forks
from chaos.rig.program import Program, start_program, until
from chaos.rig.secret_scan import Collector, SecretScan, descendants, processes_with
from chaos.rig.system import free_port
from memory.embedded.supervisor import open_index_server
from memory.redis.client import RedisClient, open_redis
from tests.contract.simulator_rig import Rig, served_simulator
from tests.scripted_openai import scripted_openai
from tests.scripted_replies import Reply, cut, server_error, text, unauthorized
from tests.scripted_script import ChatRequest, last_user_text, tool_then_echo
from tests.stores import plain_valkey

BOT_ID = 4242
OPERATOR = 1001
WITHIN_S = 60.0
COMMANDS: Sequence[tuple[str, ...]] = (
    ("doctor",),
    ("chats", "--json"),
    ("webhook", "info"),
    ("queue",),
    ("history", str(OPERATOR), "--prompt"),
    ("search", str(OPERATOR), "line"),
    ("trace", "1"),
    ("reset", str(OPERATOR), "--yes"),
)


def behave(request: ChatRequest) -> Reply:
    """Refuse the key, fail or break off if the line says so."""
    line = last_user_text(request)
    refusals = {"401": unauthorized(), "500": server_error(), "cut": cut("never said", after=2)}
    refusal = next((reply for word, reply in refusals.items() if word in line), None)
    if refusal is not None:
        return refusal
    return tool_then_echo(request) if "tool" in line else text(f"echo: {line}")


def secrets_of(bench: Bench) -> dict[str, str]:
    """Return a unique secret of every kind, with characters that URLs escape in passwords."""
    random = bench.random

    def drawn(name: str) -> str:
        return f"{name}{''.join(random.choices('abcdefghjkmnpqrstuvwxyz23456789', k=24))}"

    return {
        "the bot's token": f"{BOT_ID}:{drawn('tok')}",
        "the webhook's secret": drawn("hook"),
        "the model's key": drawn("sk-"),
        "the password of Redis": drawn("red@"),
        "a wrong password": drawn("wrong"),
        "the password in the model's URL": drawn("mod"),
        "the password in the collector's URL": drawn("otl"),
        "the password of a proxy": drawn("prx"),
    }


@dataclass(slots=True, kw_only=True)
class Scene:
    """The surroundings of the product, and its processes with their logs."""

    bench: Bench
    vault: SecretScan
    simulator: Rig
    redis: RedisClient
    collector: Collector
    source: Forks
    environment: Mapping[str, str]
    programs: list[Program] = field(default_factory=list[Program])

    async def start(self, *words: str, name: str, **settings: str) -> Program:
        """Start a command whose log has this name."""
        log = self.bench.directory / f"{name}.log"
        environment = {**self.environment, **settings}
        forked = await self.source.start(*words, environment=environment, log=log)
        program = Program(command=words[0], process=forked, log=log)
        self.programs.append(program)
        return program

    async def run(self, *words: str, name: str, **settings: str) -> int:
        """Run a command to its end."""
        async with asyncio.timeout(WITHIN_S):
            return await (await self.start(*words, name=name, **settings)).process.wait()

    async def say(self, chat: int, line: str, *, answers: int = 1) -> None:
        """Send a text and wait for this many further messages of the bot in that chat."""
        world = self.simulator.simulation.world
        before = sum(one.sender_id == BOT_ID for one in world.newest(chat, 1000))
        await self.simulator.say(chat, line)
        await until(
            lambda: sum(one.sender_id == BOT_ID for one in world.newest(chat, 1000)) >= before + answers,
            within_s=WITHIN_S,
            what=f"an answer to {line!r}",
        )

    @property
    def url(self) -> str:
        """Return the address of the product."""
        return self.environment["WEBHOOK_URL"]


@asynccontextmanager
async def staged(bench: Bench) -> AsyncGenerator[Scene]:
    """Run a simulator, a model, a store with a password, an index with a key and a collector of traces."""
    secrets, directory = secrets_of(bench), bench.directory
    port, redis_port = free_port(), free_port()
    store_folder = directory / "store"
    store_folder.mkdir()
    store = {"port": str(redis_port), "appendonly": "yes", "maxmemory_policy": "noeviction"}
    collector = Collector()
    async with AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(
            served_simulator(token=secrets["the bot's token"], retry_scale=0.1)
        )
        model = await stack.enter_async_context(scripted_openai(behave))
        socket = await stack.enter_async_context(plain_valkey(store_folder, **store))
        index = await stack.enter_async_context(open_index_server(directory / "index"))
        traces = await stack.enter_async_context(serve_http(collector.app()))
        redis = await stack.enter_async_context(open_redis(socket))
        secrets |= {"the index's key": index.api_key}
        await redis.call("CONFIG", "SET", "requirepass", secrets["the password of Redis"])
        await redis.call("AUTH", secrets["the password of Redis"])
        scene = Scene(
            bench=bench,
            vault=SecretScan(secrets=secrets),
            simulator=simulator,
            redis=redis,
            collector=collector,
            source=await stack.enter_async_context(forks()),
            environment={
                "TELEGRAM_API_URL": simulator.url,
                "TELEGRAM_BOT_TOKEN": secrets["the bot's token"],
                "HTTP_PORT": str(port),
                "WEBHOOK_URL": f"http://127.0.0.1:{port}",
                "WEBHOOK_SECRET": secrets["the webhook's secret"],
                "REDIS_URL": redis_url(redis_port, secrets["the password of Redis"]),
                "QDRANT_URL": index.url,
                "QDRANT_API_KEY": index.api_key,
                "DATA_DIR": str(directory / "data"),
                "OPENAI_BASE_URL": with_password(model.base_url, secrets["the password in the model's URL"]),
                "OPENAI_API_KEY": secrets["the model's key"],
                "OPENAI_EMBEDDING_MODEL": "scripted-embedding",
                "OTEL_EXPORTER_OTLP_ENDPOINT": with_password(
                    traces.origin, secrets["the password in the collector's URL"]
                ),
                "HTTPS_PROXY": f"http://user:{secrets['the password of a proxy']}@127.0.0.1:9",
                "OPERATOR_IDS": str(OPERATOR),
                "LEASE_S": "3",
                "STREAMING": "false",
                "TURN_DEADLINE_S": "3",
                "LOG_FORMAT": "json",
                "LOG_LEVEL": "debug",
            },
        )
        yield scene


def redis_url(port: int, password: str) -> str:
    """Return the URL with an escaped password."""
    return f"redis://:{password.replace('@', '%40')}@127.0.0.1:{port}/0"


def with_password(url: str, password: str) -> str:
    """Return the URL with a user and this password."""
    return url.replace("http://", f"http://user:{password}@")


async def run(bench: Bench) -> Score:
    """Search all logs, outputs and responses for every secret."""
    score = Score()
    async with staged(bench) as scene:
        vault = scene.vault
        _show_that_secrets_are_found(vault, score)
        serve, work = await asyncio.gather(*(scene.start(name, name=name) for name in ("serve", "work")))
        await asyncio.gather(serve.ready(), work.ready())
        bench.say("traffic and faults")
        await _talk(scene)
        await _knock(scene)
        vault.look_at_processes(
            [each for program in (serve, work) for each in descendants(program.process.pid)],
            also_environment=False,
        )
        bench.say("the console, and wrong settings")
        commands = COMMANDS[: bench.pick(1, len(COMMANDS))]
        wrong = dict(list(_wrong_settings(scene).items())[: bench.pick(5, 100)])
        async with asyncio.TaskGroup() as running:
            for number, words in enumerate(commands):
                running.create_task(scene.run(*words, name=f"console-{number}"))
            ended = [
                running.create_task(scene.run("work", name=f"wrong-{number}", **settings))
                for number, settings in enumerate(wrong.values())
            ]
            running.create_task(_run_embedded(scene))
        score.exactly(
            "wrong settings that end the start with status 2",
            sum(each.result() == 2 for each in ended),
            len(wrong),
        )
        bench.say("stores that fail")
        await _break_the_stores(scene, work)
        for program in (serve, work):
            await program.end(within_s=WITHIN_S)
        _read_everything(scene)
    for leak in sorted(vault.leaks):
        bench.say(leak)
    score.exactly("secrets found where they do not belong", len(vault.leaks), 0)
    plain = sum(b"mnemogram" in export for export in scene.collector.received)
    score.at_least("trace exports that the search can read", plain, 1)
    score.note("secrets", ", ".join(vault.secrets))
    score.note("bytes read", vault.read)
    score.note("processes", len(scene.programs))
    return score


def _show_that_secrets_are_found(vault: SecretScan, score: Score) -> None:
    """Check that the search finds secrets where they are."""
    control = SecretScan(secrets=vault.secrets)
    control.look("a list of all", "\n".join(vault.secrets.values()))
    score.exactly("secrets that the search finds where they belong", len(control.leaks), len(vault.secrets))


async def _talk(scene: Scene) -> None:
    """Let a person and an operator talk while the model refuses, fails and breaks off and Telegram fails."""
    (chat,) = await gather_people(scene.simulator, 1)
    for line in ("line one", "use the tool", "401 please", "500 please", "cut please"):
        await scene.say(chat, line)
    for line in ("/stats", f"/reset {chat}", "/memory"):
        await scene.say(OPERATOR, line)
    await scene.simulator.page("faults", method="sendMessage", error="500", times=1)
    await scene.say(chat, "/help")


async def _knock(scene: Scene) -> None:
    """Request health, metrics and refused paths without credentials."""
    vault = scene.vault
    async with httpx.AsyncClient(base_url=scene.url, trust_env=False) as http:
        for path in ("/health/live", "/health/ready", "/metrics", "/nothing"):
            answer = await http.get(path)
            vault.look(path, answer.text + repr(answer.headers))
        for secret in ("", "wrong", vault.secrets["the webhook's secret"][:-1]):
            headers = {"X-Telegram-Bot-Api-Secret-Token": secret}
            answer = await http.post(WEBHOOK_PATH, content=b"{", headers=headers)
            vault.look("a refusal of the webhook", answer.text + repr(answer.headers))


def _wrong_settings(scene: Scene) -> Mapping[str, Mapping[str, str]]:
    """Start with invalid settings that contain a secret."""
    secrets = scene.vault.secrets
    wrong = secrets["a wrong password"]
    return {
        "a port": {"REDIS_URL": f"redis://:{wrong}@127.0.0.1:port"},
        "a scheme": {"REDIS_URL": f"amqp://:{wrong}@127.0.0.1"},
        "a token": {"TELEGRAM_BOT_TOKEN": secrets["the bot's token"].partition(":")[2]},
        "a secret": {"WEBHOOK_SECRET": f"{wrong} ü"},
        "an index": {"QDRANT_URL": f"ftp://user:{wrong}@127.0.0.1"},
        "a model": {"OPENAI_BASE_URL": f"user:{wrong}@127.0.0.1"},
        "a Bot API": {"TELEGRAM_API_URL": f"ftp://user:{wrong}@127.0.0.1"},
        "a file": {"AGENTS_FILE": "/nowhere/agents.toml"},
    }


async def _run_embedded(scene: Scene) -> None:
    """Run a worker with its own stores. Its servers get no setting that they do not need."""
    data_dir = scene.bench.directory / "embedded"
    without = {"REDIS_URL": "", "QDRANT_URL": "", "QDRANT_API_KEY": "", "DATA_DIR": str(data_dir)}
    settings = {name: value for name, value in without.items() if value}
    kept = {name: value for name, value in scene.environment.items() if name not in without}
    log = scene.bench.directory / "embedded.log"
    program = await start_program("work", environment={**kept, **settings}, log=log, source=scene.source)
    scene.programs.append(program)
    await program.ready()
    servers = processes_with(str(data_dir))
    assert len(servers) >= 4, "the embedded stores have a guardian and a server each"
    scene.vault.look_at_processes(servers, also_environment=True)
    await program.end(within_s=WITHIN_S)
    scene.vault.look_into_files([data_dir])


async def _break_the_stores(scene: Scene, work: Program) -> None:
    """Break the stores: a refused password, a doctor with wrong ones, and an update meanwhile."""
    await scene.redis.call("CONFIG", "SET", "requirepass", "another-one")
    # Connections that were let in stay; so all of ours but this one are cut.
    await scene.redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    await scene.simulator.say(OPERATOR, "is anybody there?")
    await until(
        lambda: "refused the credentials" in work.log.read_text(),
        within_s=WITHIN_S,
        what="a refused password",
    )
    wrong = scene.vault.secrets["a wrong password"]
    await scene.run("chats", name="chats-password", LOG_FORMAT="console")
    if scene.bench.size == "long":
        await scene.run("doctor", name="doctor-password")
        await scene.run("doctor", name="doctor-keys", QDRANT_API_KEY=wrong, OPENAI_API_KEY=wrong)
    await scene.redis.call("CONFIG", "SET", "requirepass", scene.vault.secrets["the password of Redis"])


def _read_everything(scene: Scene) -> None:
    """Search logs, outputs, chats, traces and the store's files."""
    vault, directory = scene.vault, scene.bench.directory
    for log in directory.glob("*.log"):
        vault.look(f"the log {log.name}", log.read_bytes())
    vault.look_into_files([directory / "data", directory / "store"])
    for chat in scene.simulator.simulation.world.chats:
        said = [one.text for one in scene.simulator.simulation.world.newest(chat, 10_000)]
        vault.look("a chat", json.dumps(said, ensure_ascii=False))
    for number, export in enumerate(scene.collector.received):
        vault.look(f"an export of traces ({number})", export)


ROW = Row(
    name="R19",
    title="secrets",
    load="serve, work and {one command|every command} of the console "
    "at LOG_LEVEL=debug, with a canary in every secret setting",
    fault="401s, 500s, broken streams, a store that refuses the password, {5 wrong settings|wrong settings} and keys",
    hold="0 secrets in logs, errors, traces, chats, /metrics, process list and others' environment",
    run=run,
)
