"""Cost of a turn without its model: round trips, requests and CPU time, for histories of several lengths.

The turn is the real one, on the embedded stores, and with an address on a server beside them; model, embedder and Telegram answer in no time, in this process.
Histories that are long enough were compressed before, as the workers do it after a reply.
See benchmarks/README.md.
"""

import argparse
import asyncio
import gc
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import cast

from rig.counting import NamedTrips, Tally, server_work
from rig.index_places import Server, add_server, index_at, server_like_qdrant
from rig.instant import InstantModel, InstantTelegram, NoFiles, make_message, make_update
from rig.table import print_table

from bot.agent.agents_file import load_agents
from bot.app.agents import model_names
from bot.app.build import build_access, build_compressor, build_inbox, loaded_messages
from bot.app.stores import embedder_config, with_bot
from bot.app.turns import build_turns
from bot.features import BUILT_IN_TOOLS, CONTROLS
from bot.features.parts import Models, Outside, Stores
from bot.features.settings import AllSettings
from bot.inbox.isolation import Slots
from bot.inbox.redis_inbox import RedisInbox
from bot.observe.logs import configure_logs
from bot.settings import Settings
from bot.transport.gating import BotIdentity
from bot.transport.ingest import DoorRules, Ingest, telegram_ref
from bot.transport.telegram_api import TelegramApi
from bot.turn.turn import Turns
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.keys import ContextRef
from memory.recall.indexer import Indexer
from memory.recall.qdrant.index import FormerCollections, open_qdrant
from memory.recall.recall import IndexItem
from memory.redis.client import RedisClient, open_redis
from memory.stores import assemble_stores
from memory.summary.compressor import Compressor, RedisSummaries
from tests.fakes.embedder import FakeEmbedder

SIZES = (100, 180, 1_000, 10_000)
"""180 messages of this benchmark are nearly as many as there may be before a conversation is compressed."""
WORKER = "bench"
_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The parts of one worker, and what is counted of them."""

    redis: RedisClient
    tally: Tally
    stores: Stores
    inbox: RedisInbox
    ingest: Ingest
    turns: Turns
    indexer: Indexer
    compressor: Compressor
    bot: BotIdentity
    loaded_messages: int

    def context(self, chat_id: int) -> ContextRef:
        """The context of a private chat."""
        return telegram_ref(self.bot.id, chat_id, None, partitions=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One turn, from its claim to the settled context."""

    cpu_ms: float
    wall_ms: float
    redis_trips: int
    redis_commands: int
    redis_ms: float
    qdrant_requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What turns at one length of history cost: medians of the times, means of the counts.

    `verbatim`: how many of the messages no summary covers, and stand in the prompt as they are.
    """

    messages: int
    verbatim: int
    redis_trips: float
    redis_commands: float
    redis_ms: float
    qdrant_requests: float
    cpu_ms: float
    wall_ms: float


async def main() -> None:
    """Measure at each place, and print."""
    options = _options()
    configure_logs(level="warning")
    is_beside = options.redis_url or options.qdrant_url or options.like_qdrant
    measured = {
        name: await measure_place(options, is_embedded=name == "embedded")
        for name in ("embedded", *(["server"] if is_beside else []))
    }
    if options.json:
        print(
            json.dumps(
                {
                    name: {"costs": list(map(asdict, costs)), **trips}
                    for name, (costs, trips) in measured.items()
                }
            )
        )
        return
    for name, (costs, trips) in measured.items():
        _print(name, costs, trips, turns=options.turns)
    if is_beside:
        _compare({name: costs for name, (costs, _) in measured.items()})


async def measure_place(
    options: argparse.Namespace, *, is_embedded: bool
) -> tuple[list[Cost], dict[str, list[str]]]:
    """Fill the histories and run the turns. Return the costs, and the names of the trips."""
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        places = argparse.Namespace() if is_embedded else options
        async with open_bench(Path(directory), places) as bench:
            chats = {messages: 1_000 + messages for messages in SIZES}
            for messages, chat in chats.items():
                await fill(bench, chat, messages)
            verbatim = {messages: await compress(bench, chat) for messages, chat in chats.items()}
            gc.freeze()  # what was made by now is of no turn
            samples: dict[int, list[Sample]] = {messages: [] for messages in SIZES}
            for number in range(options.turns + options.warm_up):
                for messages, chat in chats.items():  # in turns, so that other load hits all sizes alike
                    sample = await measure_turn(bench, chat, update_id=100_000 * messages + number)
                    samples[messages].append(sample)
            trips = await name_trips(bench, chats[SIZES[0]])
    costs = [
        sum_up(messages, taken[options.warm_up :], verbatim=verbatim[messages])
        for messages, taken in samples.items()
    ]
    return costs, trips


async def fill(bench: Bench, chat_id: int, messages: int) -> None:
    """Give the chat a history of so many messages, all of them indexed."""
    ref = bench.context(chat_id)
    for first in range(0, messages, _BATCH):
        batch = [make_message(number) for number in range(first, min(first + _BATCH, messages))]
        appended = await bench.stores.history.append(ref, batch, epoch=0)
        await bench.stores.recall.index(
            [IndexItem(ref=ref, epoch=0, message=message) for message in appended]
        )
    await bench.redis.call("UNLINK", "mnemogram:{m0}:work")


async def compress(bench: Bench, chat_id: int) -> int:
    """Compress the chat's conversation if it is long enough; how many messages stay verbatim."""
    ref = bench.context(chat_id)
    await RedisSummaries(bench.redis, clock=time.time).queue(ref)
    while (await bench.compressor.step()).is_busy:
        pass
    return len((await bench.stores.history.load(ref, limit=bench.loaded_messages)).newest)


async def measure_turn(bench: Bench, chat_id: int, *, update_id: int) -> Sample:
    """One turn. Its two messages are taken out again, so that the history keeps its length."""
    await bench.ingest.take_in(make_update(update_id, chat_id))
    before = await server_work(bench.redis)
    trips = bench.redis.round_trips
    bench.tally.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    (claim,) = await bench.inbox.claim(0, consumer=WORKER, count=1, wait_ms=100)
    await bench.turns.work_on(claim, bench.inbox)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    trips = bench.redis.round_trips - trips
    requests = len(bench.tally.qdrant)
    work = (await server_work(bench.redis)).since(before)
    await _forget_the_turn(bench, bench.context(chat_id))
    return Sample(
        cpu_ms=cpu * 1000,
        wall_ms=wall * 1000,
        redis_trips=trips,
        redis_commands=work.commands,
        redis_ms=work.microseconds / 1000,
        qdrant_requests=requests,
    )


async def name_trips(bench: Bench, chat_id: int) -> dict[str, list[str]]:
    """What is sent, in order: when an update is taken in, in its turn, and by the indexer after it."""
    await bench.indexer.step()  # its consumer group is made by the first
    bench.tally.clear()
    await bench.ingest.take_in(make_update(1, chat_id))
    accepted = list(bench.tally.redis)
    bench.tally.clear()
    (claim,) = await bench.inbox.claim(0, consumer=WORKER, count=1, wait_ms=100)
    await bench.turns.work_on(claim, bench.inbox)
    turn = [*bench.tally.redis, *bench.tally.qdrant]
    bench.tally.clear()
    await bench.indexer.step()
    return {"accept": accepted, "turn": turn, "index": [*bench.tally.redis, *bench.tally.qdrant]}


def sum_up(messages: int, samples: Sequence[Sample], *, verbatim: int) -> Cost:
    """The cost at this length of history."""
    count = len(samples)
    return Cost(
        messages=messages,
        verbatim=verbatim,
        redis_trips=sum(sample.redis_trips for sample in samples) / count,
        redis_commands=sum(sample.redis_commands for sample in samples) / count,
        redis_ms=median(sample.redis_ms for sample in samples),
        qdrant_requests=sum(sample.qdrant_requests for sample in samples) / count,
        cpu_ms=median(sample.cpu_ms for sample in samples),
        wall_ms=median(sample.wall_ms for sample in samples),
    )


@asynccontextmanager
async def open_bench(directory: Path, servers: argparse.Namespace) -> AsyncGenerator[Bench]:
    """The parts of a worker on embedded stores of its own, or on these servers."""
    settings = AllSettings(_env_file=None, data_dir=directory)  # pyright: ignore[reportCallIssue] — pydantic-settings' own argument
    tally = Tally()
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(_open_redis(directory, servers))
        index = await stack.enter_async_context(_open_index(directory, servers))
        qdrant = await stack.enter_async_context(open_qdrant(index.url, api_key=index.api_key))
        stores = with_bot(
            assemble_stores(
                cast("RedisClient", NamedTrips(redis, tally)),
                replace(qdrant, send=tally.noting(qdrant.send)),
                embedder_config(settings),
                stack,
                embedder=FakeEmbedder(dimension=384),
                partitions=settings.partitions,
            )
        )
        stack.push_async_callback(FormerCollections(qdrant).delete, stores.recall.spaces.serving.name)
        await stores.reindexer.claim()  # or the indexer takes no work
        yield await _build(settings, redis, stores, tally=tally, stack=stack)


@asynccontextmanager
async def _open_redis(directory: Path, servers: argparse.Namespace) -> AsyncGenerator[RedisClient]:
    """Open the embedded store, or this server, which must be empty and is emptied at the end."""
    url = getattr(servers, "redis_url", None)
    async with AsyncExitStack() as stack:
        place = url or await stack.enter_async_context(open_valkey(directory))
        redis = await stack.enter_async_context(open_redis(place))
        if url and await redis.call("DBSIZE"):
            raise SystemExit(
                "--redis-url: this store is not empty. Name an empty one: it is emptied at the end."
            )
        if url:
            stack.push_async_callback(redis.call, "FLUSHDB")
        yield redis


@asynccontextmanager
async def _open_index(directory: Path, servers: argparse.Namespace) -> AsyncGenerator[Server]:
    if url := getattr(servers, "qdrant_url", None):
        async with index_at(url) as server:
            yield server
        return
    async with open_index_server(directory) as endpoint, AsyncExitStack() as stack:
        url = endpoint.url
        if getattr(servers, "like_qdrant", False):
            url = await stack.enter_async_context(server_like_qdrant(url))
        yield Server(url=url, api_key=endpoint.api_key)


async def _build(
    settings: Settings, redis: RedisClient, stores: Stores, *, tally: Tally, stack: AsyncExitStack
) -> Bench:
    bot = BotIdentity(id=settings.bot_id, username="mnemogram_bot")
    spec = load_agents(None, built_in_tools=BUILT_IN_TOOLS)
    model = InstantModel()
    names = {*model_names(settings, spec), settings.summary_model}
    models = Models(chat=dict.fromkeys(names, model), summary=model)
    outside = Outside(
        stack=stack, telegram=cast("TelegramApi", InstantTelegram()), files=NoFiles(), bot=bot, models=models
    )
    inbox = build_inbox(settings, stores.redis, clock=time.time)
    await inbox.open()
    turns = await build_turns(
        settings, stores, outside, spec=spec, inbox=inbox, slots=Slots(1), clock=time.time
    )
    compressor = build_compressor(settings, spec, stores, models, partition=0, clock=time.time)
    if compressor is None:
        raise RuntimeError("these settings have no summary model")
    return Bench(
        redis=redis,
        tally=tally,
        stores=stores,
        inbox=inbox,
        ingest=Ingest(
            inbox.accept,
            controls=CONTROLS,
            bot=bot,
            access=build_access(settings),
            rules=DoorRules(partitions=1),
            anchors=stores.migrations,
        ),
        turns=turns,
        indexer=Indexer(
            redis=stores.redis,
            history=stores.history,
            recall=stores.recall,
            partition=0,
            consumer=WORKER,
            block_ms=1,
        ),
        compressor=compressor,
        bot=bot,
        loaded_messages=loaded_messages(settings),
    )


async def _forget_the_turn(bench: Bench, ref: ContextRef) -> None:
    newest = (await bench.stores.history.load(ref, limit=2)).newest
    await bench.stores.history.delete(ref, [message.id for message in newest], epoch=0)
    await bench.redis.call("UNLINK", "mnemogram:{m0}:work")


def _compare(costs: Mapping[str, Sequence[Cost]]) -> None:
    """Print the figures of both places in columns side by side."""
    heads = ["messages of history", *(f"{figure}, {name}" for figure in ("ms", "CPU ms") for name in costs)]
    rows = [
        [
            f"{taken[0].messages:,}",
            *(f"{cost.wall_ms:.2f}" for cost in taken),
            *(f"{cost.cpu_ms:.2f}" for cost in taken),
        ]
        for taken in zip(*costs.values(), strict=True)
    ]
    print_table("Both places", heads, rows)


def _print(name: str, costs: Sequence[Cost], trips: dict[str, list[str]], *, turns: int) -> None:
    rows = [
        (
            f"{cost.messages:,}",
            str(cost.verbatim),
            f"{cost.redis_trips:.1f}",
            f"{cost.qdrant_requests:.1f}",
            f"{cost.cpu_ms:.2f}",
            f"{cost.wall_ms:.2f}",
            f"{cost.redis_commands:.0f}",
            f"{cost.redis_ms:.2f}",
        )
        for cost in costs
    ]
    heads = (
        "messages of history",
        "verbatim",
        "Redis trips",
        "Qdrant requests",
        "CPU ms",
        "ms",
        "Redis commands",
        "Redis ms",
    )
    where = "embedded stores" if name == "embedded" else "the servers"
    print_table(f"One turn, of {turns} at each length of history, on {where}", heads, rows)
    print(
        f"CPU time at {costs[-1].messages:,} messages is {costs[-1].cpu_ms / costs[0].cpu_ms:.2f} times that at {costs[0].messages:,}."
    )
    for what, names in trips.items():
        print(f"{what}: {', '.join(names)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200, help="at each length of history")
    parser.add_argument("--warm-up", type=int, default=10, help="turns before that, not counted")
    parser.add_argument("--redis-url", help="an empty Redis or Valkey, beside the embedded one")
    add_server(parser)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
