"""Cost of a turn in whole processes: `mnemogram run` on embedded stores against a plain bot, in alternating rounds.

Both poll one scripted Bot API and ask one scripted model, in a process whose CPU is not counted.
See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
from rig.instant import InstantModel, make_message
from rig.surroundings import ROOT, child, cpu_seconds, ready_bot, scripted_servers, thread_seconds
from rig.table import print_table

from bot.agent.agents_file import load_agents
from bot.app.build import build_compressor
from bot.app.stores import embedder_config, with_bot
from bot.features import BUILT_IN_TOOLS
from bot.features.parts import Models, Stores
from bot.features.settings import AllSettings
from bot.settings import Settings
from bot.transport.ingest import telegram_ref
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.recall.embedders.minilm import THREAD_NAME, MiniLMEmbedder
from memory.recall.qdrant.index import open_qdrant
from memory.recall.recall import IndexItem
from memory.redis.client import open_redis
from memory.stores import assemble_stores
from memory.summary.compressor import RedisSummaries
from tests.fakes.embedder import FakeEmbedder

LENGTHS = (20, 1_000, 10_000)
YARDSTICK = 20
"""The plain bot keeps 50 messages, so its cost is measured at this length only."""
LONG = 1_000
"""From this length on, all rounds share their chats, because filling them takes long."""
OUR_TOKEN, PLAIN_TOKEN = "1001:whole-turn", "1002:plain-bot"
PLAIN = "plain bot"
WARM_UP_LINES = 3
_BATCH = 500
_QUIET_S, _QUIET_SHARE, _QUIET_WITHIN_S = 1.5, 0.1, 120.0
"""A pause is longer than that between two looks of the index's upkeep, which loads chats in use into memory."""
_RIG = Path(__file__).parent / "rig"

Chats = dict[int, list[list[int]]]
"""By length: the chats of the warm-up, then those of each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One round: CPU a turn and RSS by process, turns a second, and the median and 95th percentile of the delays."""

    cpu_ms: dict[str, float]
    own_ms: float
    """CPU a turn of the bot's process without its embedder."""
    rss_mb: dict[str, float]
    turns_a_second: float
    p50_ms: float
    p95_ms: float

    @property
    def total_ms(self) -> float:
        """Return the CPU a turn of all processes."""
        return sum(self.cpu_ms.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """People who write to one bot, and the processes of this bot."""

    client: httpx.AsyncClient
    token: str
    processes: Mapping[str, int]
    """Process ids by name, the bot's first."""
    pause_s: float
    """Least time between two lines of a chat."""

    async def run(self, chats: Sequence[int], lines: int, length: int) -> Sample:
        """Let each chat write its lines, and wait until the work after the answers is done too."""
        before, embedder_before = self._cpu_s(), self._embedder_s()
        order = {"token": self.token, "chats": list(chats), "lines": lines, "length": length}
        response = await self.client.post("/talk", json={**order, "pause_s": self.pause_s})
        response.raise_for_status()
        measured: dict[str, Any] = response.json()
        await self._wait_until_quiet()
        turns = len(chats) * lines
        cpu_ms = {name: (used - before[name]) * 1000 / turns for name, used in self._cpu_s().items()}
        embedder_ms = (self._embedder_s() - embedder_before) * 1000 / turns
        cuts = quantiles(measured["delays_s"], n=100, method="inclusive")
        return Sample(
            cpu_ms=cpu_ms,
            own_ms=next(iter(cpu_ms.values())) - embedder_ms,
            rss_mb={name: rss_mb(pid) for name, pid in self.processes.items()},
            turns_a_second=turns / measured["seconds"],
            p50_ms=cuts[49] * 1000,
            p95_ms=cuts[94] * 1000,
        )

    def _cpu_s(self) -> dict[str, float]:
        return {name: cpu_seconds(pid) or 0.0 for name, pid in self.processes.items()}

    def _embedder_s(self) -> float:
        return thread_seconds(next(iter(self.processes.values())), THREAD_NAME)

    async def _wait_until_quiet(self) -> None:
        """Return when a pause uses less than _QUIET_SHARE of a core: the index entries are written by then."""
        deadline = time.monotonic() + _QUIET_WITHIN_S
        used = sum(self._cpu_s().values())
        while time.monotonic() < deadline:
            await asyncio.sleep(_QUIET_S)
            used, before = sum(self._cpu_s().values()), used
            if used - before < _QUIET_SHARE * _QUIET_S:
                return
        _report("the processes are still at work; the round ends here")


async def main() -> None:
    """Fill the histories, run the rounds, print."""
    options = _options()
    # The embedded stores end after the bot, and may still write when the folder is removed.
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-", ignore_cleanup_errors=True) as directory:
        samples = await measure(Path(directory), options)
    if options.json:
        figures = {name: [asdict(each) for each in rounds] for name, rounds in samples.items()}
        own = ratios(samples, lambda each: each.own_ms)
        print(json.dumps({"rounds": figures, "ratios": ratios(samples), "own_ratios": own}))
    else:
        _print(samples, options)


async def measure(directory: Path, options: argparse.Namespace) -> dict[str, list[Sample]]:
    """Return the rounds of the plain bot and of ours at each length."""
    chats = plan_chats(options.lengths, options.chats, options.rounds)
    _report("filling the histories")
    await fill(directory, chats)
    async with AsyncExitStack() as stack:
        _report("starting the bots")
        client = await stack.enter_async_context(open_servers(directory))
        ours = await stack.enter_async_context(our_bot(directory, client, options.pause))
        plain = await stack.enter_async_context(plain_bot(directory, client, options.pause))
        _report("warming up")
        for length in options.lengths:
            await ours.run(chats[length][0], WARM_UP_LINES, length)
            await plain.run(chats[length][0], WARM_UP_LINES, YARDSTICK)
        samples: dict[str, list[Sample]] = {PLAIN: [], **{_name(each): [] for each in options.lengths}}
        for number in range(1, options.rounds + 1):
            _report(f"round {number} of {options.rounds}: {PLAIN}")
            fresh = range(10_000_000 + number * 1_000, 10_000_000 + number * 1_000 + options.chats)
            samples[PLAIN].append(await plain.run(fresh, options.lines, YARDSTICK))
            for length in options.lengths:
                _report(f"round {number} of {options.rounds}: mnemogram run, {length:,} messages")
                sample = await ours.run(chats[length][number], options.lines, length)
                samples[_name(length)].append(sample)
        return samples


def plan_chats(lengths: Sequence[int], count: int, rounds: int) -> Chats:
    """Return the ids of the chats. Short histories would grow too much, so each round has fresh ones."""
    chats: Chats = {}
    for at, length in enumerate(lengths, start=1):
        groups = [0] * (rounds + 1) if length >= LONG else range(rounds + 1)
        chats[length] = [[at * 100_000 + group * 1_000 + each for each in range(count)] for group in groups]
    return chats


async def fill(directory: Path, chats: Chats) -> None:
    """Write and index the histories, and compress those that are long enough.

    The vectors are hashed words under the embedded embedder's name: its own would take a minute for 4,000 messages,
    and the cost of a search does not depend on them.
    """
    settings = AllSettings(_env_file=None, data_dir=directory / "data", telegram_bot_token=OUR_TOKEN)  # pyright: ignore[reportCallIssue, reportArgumentType] — pydantic-settings' own argument
    embedder = FakeEmbedder(dimension=MiniLMEmbedder.identity.dimension)
    embedder.identity = MiniLMEmbedder.identity
    async with (
        open_valkey(settings.data_dir) as redis_url,
        open_index_server(settings.data_dir) as endpoint,
        open_redis(redis_url) as redis,
        open_qdrant(endpoint.url, api_key=endpoint.api_key) as qdrant,
        AsyncExitStack() as stack,
    ):
        config, partitions = embedder_config(settings), settings.partitions
        stores = with_bot(
            assemble_stores(redis, qdrant, config, stack, embedder=embedder, partitions=partitions)
        )
        await stores.reindexer.claim()
        for length, groups in chats.items():
            members = sorted({chat for group in groups for chat in group})
            for number, chat in enumerate(members, start=1):
                await _fill_chat(stores, settings.bot_id, chat, length)
                if length >= LONG:
                    _report(f"filled {number} of {len(members)} chats with {length:,} messages")
        await redis.call("UNLINK", "mnemogram:{m0}:work")
        await _compress(settings, stores, [chat for each in chats.values() for chat in each[0]])
        await redis.call("UNLINK", "mnemogram:{m0}:work")


async def _fill_chat(stores: Stores, bot_id: int, chat: int, length: int) -> None:
    ref = telegram_ref(bot_id, chat, None, partitions=1)
    for first in range(0, length, _BATCH):
        batch = [make_message(number) for number in range(first, min(first + _BATCH, length))]
        appended = await stores.history.append(ref, batch, epoch=0)
        await stores.recall.index([IndexItem(ref=ref, epoch=0, message=message) for message in appended])


async def _compress(settings: Settings, stores: Stores, chats: Sequence[int]) -> None:
    model = InstantModel()
    spec = load_agents(None, built_in_tools=BUILT_IN_TOOLS)
    models = Models(chat={settings.summary_model: model}, summary=model)
    compressor = build_compressor(settings, spec, stores, models, partition=0, clock=time.time)
    if compressor is None:
        raise RuntimeError("these settings have no summary model")
    for chat in chats:
        ref = telegram_ref(settings.bot_id, chat, None, partitions=1)
        await RedisSummaries(stores.redis, clock=time.time).queue(ref)
        while (await compressor.step()).is_busy:
            pass


@asynccontextmanager
async def open_servers(directory: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """Start the Bot API and the model."""
    async with (
        scripted_servers(directory / "servers.log") as (url, _),
        httpx.AsyncClient(base_url=url, timeout=None, trust_env=False) as client,  # noqa: S113
    ):
        yield client


@asynccontextmanager
async def our_bot(directory: Path, client: httpx.AsyncClient, pause_s: float) -> AsyncGenerator[Talk]:
    """Start `mnemogram run` on the filled stores."""
    url, data_dir = str(client.base_url).rstrip("/"), directory / "data"
    log = directory / "run.log"
    async with ready_bot("run", log=log, data_dir=data_dir, servers=url, token=OUR_TOKEN) as pid:
        servers = {
            name: int((data_dir / folder / "server.lock").read_text())
            for name, folder in (("Valkey", "valkey"), ("index", "index"))
        }
        yield Talk(client=client, token=OUR_TOKEN, processes={"bot": pid, **servers}, pause_s=pause_s)


@asynccontextmanager
async def plain_bot(directory: Path, client: httpx.AsyncClient, pause_s: float) -> AsyncGenerator[Talk]:
    """Start the plain bot. Each of its chats begins with as many messages as our short ones."""
    history, url = directory / "history.json", str(client.base_url).rstrip("/")
    messages = [make_message(number) for number in range(YARDSTICK)]
    history.write_text(json.dumps([{"role": each.role, "content": each.text} for each in messages]))
    program, log = str(_RIG / "plain_bot.py"), directory / "plain.log"
    command = (sys.executable, program, url, PLAIN_TOKEN, f"{url}/v1", str(history))
    async with child(*command, log=log, environment={"PYTHONPATH": ROOT}) as process:
        yield Talk(client=client, token=PLAIN_TOKEN, processes={PLAIN: process.pid}, pause_s=pause_s)


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process in MB; 0.0 where there is no /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def ratios(
    samples: Mapping[str, Sequence[Sample]], cost: Callable[[Sample], float] = lambda each: each.total_ms
) -> dict[str, float]:
    """Return the median cost of a turn, by default the CPU of all processes, ÷ that of the plain bot at YARDSTICK."""
    plain = median(map(cost, samples[PLAIN]))
    return {name: median(map(cost, rounds)) / plain for name, rounds in samples.items()}


def _print(samples: Mapping[str, Sequence[Sample]], options: argparse.Namespace) -> None:
    ratio, own_ratio = ratios(samples), ratios(samples, lambda each: each.own_ms)
    rows = [
        [
            f"{name}, {YARDSTICK}" if name == PLAIN else name,
            " + ".join(_parts([each.cpu_ms for each in rounds], "{:.1f}")),
            f"{median(each.total_ms for each in rounds):.1f}",
            f"{ratio[name]:.2f}",
            f"{median(each.own_ms for each in rounds):.1f}",
            f"{own_ratio[name]:.2f}",
            f"{median(each.turns_a_second for each in rounds):.1f}",
            f"{median(each.p50_ms for each in rounds):,.0f}",
            f"{median(each.p95_ms for each in rounds):,.0f}",
            " + ".join(_parts([each.rss_mb for each in rounds], "{:.0f}")),
        ]
        for name, rounds in samples.items()
    ]
    heads = ("bot", "CPU ms a turn", "sum", "ratio", "own", "ratio", "turns/s", "p50 ms", "p95 ms", "RSS MB")
    title = (
        f"{options.chats} chats × {options.lines} lines, one in {options.pause:g} s, medians of {options.rounds} rounds\n"
        "by messages of history; ours: bot + Valkey + index; own: the bot's process without its embedder"
    )
    print_table(title, heads, rows)


def _parts(rounds: Sequence[Mapping[str, float]], form: str) -> list[str]:
    return [form.format(median(each[name] for each in rounds)) for name in rounds[0]]


def _name(length: int) -> str:
    return f"ours, {length:,}"


def _report(phase: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {phase}", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chats", type=int, default=20, help="of each length, in a round")
    parser.add_argument("--lines", type=int, default=20, help="of each chat, in a round")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=list(LENGTHS), help="messages of history in a chat"
    )
    parser.add_argument("--pause", type=float, default=1.0, help="least seconds between two lines of a chat")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
