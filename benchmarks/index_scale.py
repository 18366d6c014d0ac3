"""Times of writes, searches and scores of the index at 1,000, 10,000 and 100,000 messages in many chats.

Made-up vectors of real size, on the embedded server, and with an address on a Qdrant server beside it. See
benchmarks/README.md.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from functools import partial
from uuid import uuid4

import numpy as np
from pydantic_core import from_json
from rig.index_places import Server, add_server, embedded_index, index_at, index_like_qdrant
from rig.index_upkeep import Vacuum, time_ms, watch_vacuum
from rig.surroundings import until
from rig.synthetic import Crowd
from rig.table import print_table

from memory.recall.indexer import BATCH
from memory.recall.qdrant.index import FormerCollections, Qdrant, QdrantIndex, open_qdrant
from memory.recall.ranking import plan_lookups, shortlist
from memory.recall.recall import LIST_LIMIT
from memory.recall.spaces import COLLECTION_PREFIX

SIZES = (1_000, 10_000, 100_000)
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Number of indexed messages and of searches."""

    messages: int
    chats: int
    dimension: int
    searches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Milliseconds to index a message, of a search, and of a score request (p50, p95)."""

    messages: int
    largest_chat: int
    index_ms: float
    search_ms: tuple[float, float]
    search_largest_ms: tuple[float, float]
    score_ms: tuple[float, float]
    client_cpu_ms: float
    vacuum: Vacuum | None


async def main() -> None:
    """Measure each size at each place in a collection of its own, and print."""
    options = _options()
    places: dict[str, AbstractAsyncContextManager[Server]] = {"embedded": embedded_index()}
    if options.qdrant_url or options.like_qdrant:
        places["server"] = index_like_qdrant() if options.like_qdrant else index_at(options.qdrant_url)
    costs = {name: await measure_sizes(place, options) for name, place in places.items()}
    if options.json:
        figures = {name: [asdict(cost) for cost in taken] for name, taken in costs.items()}
        print(json.dumps({"chats": options.chats, "costs": figures}))
        return
    for name, taken in costs.items():
        _print(name, taken, options)
    if len(costs) > 1:
        _compare(costs)


async def measure_sizes(
    place: AbstractAsyncContextManager[Server], options: argparse.Namespace
) -> list[Cost]:
    """Measure each size at one place."""
    sizes = [size for size in SIZES if size < options.largest] + [options.largest]
    async with (
        place as server,
        open_qdrant(server.url, api_key=server.api_key, timeout_s=_TIMEOUT_S) as qdrant,
    ):
        return [
            await measure(
                server,
                qdrant,
                Size(
                    messages=messages,
                    chats=options.chats,
                    dimension=options.dimension,
                    searches=options.searches,
                ),
            )
            for messages in sizes
        ]


async def measure(server: Server, qdrant: Qdrant, size: Size) -> Cost:
    """Fill a collection, then search it as chats do: larger chats search more often."""
    index = QdrantIndex(qdrant, f"{COLLECTION_PREFIX}scale_{uuid4().hex}", dimension=size.dimension)
    crowd = Crowd(np.random.default_rng(7), chats=size.chats, dimension=size.dimension)
    try:
        index_ms = await fill(index, crowd, size)
        await until(partial(_is_settled, qdrant, index.collection), "the server has built its graphs")
        return await ask(server, index, crowd, size, index_ms=index_ms)
    finally:
        await FormerCollections(qdrant).delete(index.collection)


async def fill(index: QdrantIndex, crowd: Crowd, size: Size) -> float:
    """Return milliseconds per message, in batches as the workers write them, without the making of vectors."""
    spent = 0.0
    await index.upsert(crowd.next_points(1))
    for first in range(1, size.messages, BATCH):
        points = crowd.next_points(min(BATCH, size.messages - first))
        spent += await time_ms(partial(index.upsert, points))
        _say(f"{size.messages:,} messages: {first + len(points):,} indexed")
    _say("")
    return spent / size.messages


async def ask(server: Server, index: QdrantIndex, crowd: Crowd, size: Size, *, index_ms: float) -> Cost:
    """Search in the chats and in the largest alone, score, and continue to search during the upkeep."""

    async def search(chat: int | None = None) -> object:
        asking = crowd.some_chat() if chat is None else chat
        return await index.search(crowd.query(asking, limit=LIST_LIMIT))

    largest = max(crowd.sizes)
    cpu_before = time.process_time()
    search_ms = await time_each(search, size.searches)
    client_cpu_ms = (time.process_time() - cpu_before) * 1000 / size.searches
    search_largest_ms = await time_each(partial(search, crowd.sizes.index(largest)), size.searches)
    score_ms = await time_scores(index, crowd, size.searches)
    vacuum = None
    if server.directory is not None:
        smallest = min(messages for messages in crowd.sizes if messages)
        await index.erase(crowd.context_id(crowd.sizes.index(smallest)), below_epoch=1)
        _say(f"{size.messages:,} messages: a vacuum while searches go on")
        vacuum = await watch_vacuum(server.directory / "collections" / index.collection, search)
        _say("")
    return Cost(
        messages=size.messages,
        largest_chat=largest,
        index_ms=index_ms,
        search_ms=search_ms,
        search_largest_ms=search_largest_ms,
        score_ms=score_ms,
        client_cpu_ms=client_cpu_ms,
        vacuum=vacuum,
    )


async def time_each(search: Callable[[], Awaitable[object]], count: int) -> tuple[float, float]:
    """Return p50 and p95 in milliseconds."""
    return percentiles([await time_ms(search) for _ in range(count)])


async def time_scores(index: QdrantIndex, crowd: Crowd, count: int) -> tuple[float, float]:
    """The second request of a recall: the shortlist and its neighbours, with both scores each."""
    spent: list[float] = []
    for _ in range(count):
        query = crowd.query(crowd.some_chat(), limit=LIST_LIMIT)
        wanted = plan_lookups(shortlist(await index.search(query)))
        spent.append(await time_ms(partial(index.score, query, wanted)))
    return percentiles(spent)


def percentiles(spent: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p95."""
    p50, p95 = np.percentile(spent, [50, 95])
    return float(p50), float(p95)


async def _is_settled(qdrant: Qdrant, collection: str) -> bool:
    described = from_json(await qdrant.send("GET", f"/collections/{collection}", b""))
    return described["result"]["status"] == "green"


def _say(progress: str) -> None:
    """Print one line that the next one overwrites, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{progress}\x1b[K")


def _compare(costs: Mapping[str, Sequence[Cost]]) -> None:
    """Print the figures of both places in columns side by side."""
    figures: Mapping[str, Callable[[Cost], float]] = {
        "search p50 ms": lambda cost: cost.search_ms[0],
        "score p50 ms": lambda cost: cost.score_ms[0],
        "index ms/message": lambda cost: cost.index_ms,
        "client CPU ms": lambda cost: cost.client_cpu_ms,
    }
    heads = ["messages", *(f"{figure}, {name}" for figure in figures for name in costs)]
    rows = [
        [f"{taken[0].messages:,}", *(f"{read(cost):.2f}" for read in figures.values() for cost in taken)]
        for taken in zip(*costs.values(), strict=True)
    ]
    print_table("Both places", heads, rows)


def _print(name: str, costs: Sequence[Cost], options: argparse.Namespace) -> None:
    heads = (
        "messages",
        "largest chat",
        "index ms/message",
        "search p50 ms",
        "p95",
        "largest chat p50",
        "p95",
        "score p50 ms",
        "p95",
        "client CPU ms",
    )
    rows = [
        (
            f"{cost.messages:,}",
            f"{cost.largest_chat:,}",
            f"{cost.index_ms:.2f}",
            *(f"{ms:.1f}" for ms in (*cost.search_ms, *cost.search_largest_ms, *cost.score_ms)),
            f"{cost.client_cpu_ms:.1f}",
        )
        for cost in costs
    ]
    where = "the embedded index" if name == "embedded" else "the server"
    title = f"{options.searches} searches at each size, {options.chats} chats, {options.dimension} dimensions"
    print_table(f"{title}, on {where}", heads, rows)
    for cost in costs:
        if cost.vacuum is not None:
            during, after = (_milliseconds(ms) for ms in (cost.vacuum.during_ms, cost.vacuum.after_ms))
            print(
                f"A vacuum of {cost.messages:,} messages took {cost.vacuum.seconds:.1f} s. "
                f"{cost.vacuum.searches:,} searches during it: {during}; as many after it: {after}."
            )


def _milliseconds(figures: tuple[float, float, float]) -> str:
    return "p50 {:.0f} ms, p99 {:.0f} ms, slowest {:.0f} ms".format(*figures)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="messages; smaller sizes go before")
    parser.add_argument("--chats", type=int, default=100, help="their sizes follow a power law")
    parser.add_argument("--dimension", type=int, default=384, help="of the dense vectors")
    parser.add_argument("--searches", type=int, default=300, help="at each size")
    add_server(parser)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
