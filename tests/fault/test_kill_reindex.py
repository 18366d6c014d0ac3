"""Re-indexing under kill -9: the result equals a clean run, and every search is answered from one space."""

import asyncio
import itertools
import json
import logging
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.app.stores import open_stores
from bot.features.parts import Stores
from bot.features.settings import load_settings
from bot.transport.forms import context_keys
from chaos.rig.fork_server import Forks, forks
from chaos.rig.index_proxy import IndexProxy, Search, proxied_index
from chaos.rig.program import run_console, until
from chaos.rig.system import BOT_ID, System, running_system
from memory.errors import RecallTimedOut
from memory.history.contexts import get_or_create
from memory.history.message import Message, Role, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, partition_key
from memory.recall.ranking import RankedHit
from memory.recall.recall import RecallQuestion
from tests.local_http import local_client
from tests.scripted_embeddings import Embeddings

SEED = 20_251_121
KILLS, LANES = 20, 4
"""Number of processes, and how many of them work at the same time."""
LONGEST_LIFE = 8
"""In requests."""
CHATS, MESSAGES = 6, 1_800
NEW_MODEL, NEW_DIMENSION, OLD_DIMENSION = "bag-of-words", 64, 384
WITHIN_S = 90.0
CODES = ("tamarind", "kestrel", "obsidian", "juniper", "marzipan", "heliotrope")
"""One is told in each chat."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Searches:
    """The collections that a searcher has searched, in order."""

    collections: list[str] = field(default_factory=list[str])
    mixed: list[set[str]] = field(default_factory=list[set[str]])
    missed: list[str] = field(default_factory=list[str])


async def test_a_reindex_that_is_killed_twenty_times_ends_like_a_clean_one(tmp_path: Path) -> None:
    async with (
        running_system(tmp_path, script=[]) as system,
        proxied_index(system.index.url) as recorder,
        forks() as source,
    ):
        old = {**system.environment, "LEASE_S": "1", "QDRANT_URL": recorder.url}
        old["QDRANT_API_KEY"] = system.index.api_key
        new = {**old, "OPENAI_EMBEDDING_MODEL": NEW_MODEL}
        chats = await fill(system)
        former = (await reindexed(system, old))["to"]
        assert former["dimension"] == OLD_DIMENSION

        system.model.embeddings = Embeddings(dimension=NEW_DIMENSION, delay_s=0.2)
        async with searching(new, chats, recorder) as seen:
            kills = await kill_again_and_again(system, source, recorder, environment=new)
            searched_meanwhile = len(seen.collections)
            system.model.embeddings = Embeddings(dimension=NEW_DIMENSION)
            result = await reindexed(system, new)
            await until(lambda: seen.collections[-1] == result["to"]["collection"], within_s=WITHIN_S)

        told = await system.redis.call("HMGET", partition_key(0, "walk"), "queued", "done")
        killed = await points(system, result["to"]["collection"])
        clean = await clean_run(system, new, result["to"]["collection"])

    log.info("%d kills with %s messages done, %d searches", len(kills), kills, len(seen.collections))
    assert (len(kills), len(killed), told) == (KILLS, MESSAGES, [str(MESSAGES), str(MESSAGES)])
    assert 0 < kills[-1] < MESSAGES
    assert killed == clean
    assert (seen.mixed, seen.missed) == ([], [])
    assert [name for name, _ in itertools.groupby(seen.collections)] == [
        former["collection"],
        result["to"]["collection"],
    ]
    assert searched_meanwhile >= KILLS


async def fill(system: System) -> dict[str, ContextRef]:
    """Create chats of a person and the bot. Each chat contains a code."""
    history = RedisHistory(system.redis)
    chats: dict[str, ContextRef] = {}
    roles: tuple[Role, Role] = ("user", "assistant")
    for number, code in enumerate(CODES):
        ref = system.context(1001 + number)
        keys = context_keys(BOT_ID, 1001 + number, None)
        await get_or_create(system.redis, ref, context_keys=keys, title="", now=0.0)
        messages = [
            Message(
                id=message_of(code) if at == number else f"{number}-{at}",
                role=roles[at % 2],
                text=f"the code of the safe is {code}" if at == number else f"note {at} on shelf {at % 17}",
                sent_at=1_700_000_000.0 + 60 * at,
                tokens=8,
                sender=Sender(id=1001 + number, name="Anna") if at % 2 == 0 else None,
            )
            for at in range(MESSAGES // CHATS)
        ]
        await history.append(ref, messages, epoch=0)
        chats[code] = ref
    await system.redis.call("XTRIM", partition_key(0, "work"), "MAXLEN", 0)
    return chats


def message_of(code: str) -> str:
    """Return the id of the message with the code."""
    return f"tells-{code}"


async def reindexed(system: System, environment: Mapping[str, str], *options: str) -> dict[str, Any]:
    """Run `mnemogram reindex --json` to its end and return its document."""
    ran = await run_console(
        "reindex", "--json", *options, environment=environment, directory=system.directory
    )
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


async def kill_again_and_again(
    system: System, source: Forks, recorder: IndexProxy, *, environment: Mapping[str, str]
) -> list[int]:
    """Kill processes at random moments.

    Return the number of finished messages at each kill. The lifetime is measured in requests for vectors,
    because time depends on the machine's load.
    """
    chance = random.Random(SEED)
    lives = [(chance.randint(0, LONGEST_LIFE), chance.uniform(0, 0.05)) for _ in range(KILLS)]
    done: list[int] = []

    def requests() -> int:
        return len(system.model.embedding_requests) + recorder.writes

    async def lane(number: int) -> None:
        for at in range(number, KILLS, LANES):
            path = system.directory / f"killed-{at}.log"
            process = await source.start("reindex", environment=environment, log=path)
            await until(
                lambda path=path: "Every message goes" in path.read_text(), within_s=WITHIN_S, what="work"
            )
            life, more_s = lives[at]
            end = requests() + life
            await until(lambda end=end: requests() >= end, within_s=WITHIN_S, what="a life")
            await asyncio.sleep(more_s)
            assert process.is_alive, path.read_text()
            process.kill()
            done.append(int(await system.redis.call("HGET", partition_key(0, "walk"), "done") or 0))

    await asyncio.gather(*(lane(number) for number in range(LANES)))
    return done


@asynccontextmanager
async def searching(
    environment: Mapping[str, str], chats: Mapping[str, ContextRef], recorder: IndexProxy
) -> AsyncGenerator[Searches]:
    """Search one chat after the other with the new settings until the block ends."""
    settings = load_settings(**{name.lower(): value for name, value in environment.items()})
    seen = Searches()
    async with open_stores(settings) as stores:
        task = asyncio.create_task(search_on(stores, chats, recorder, seen), name="searcher")
        try:
            yield seen
        finally:
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()


async def search_on(
    stores: Stores, chats: Mapping[str, ContextRef], recorder: IndexProxy, seen: Searches
) -> None:
    """Return the requests that the recorder notes during one search; nobody else searches."""
    while True:
        for code, ref in chats.items():
            await stores.reindexer.follow()
            question = RecallQuestion(text=f"what is the code of the safe, is it {code}?", now=0.0)
            hits, asked = await search_in_time(stores, ref, question, recorder)
            used = {one.collection for one in asked}
            sizes = {size for one in asked for size in one.dimensions}
            if len(used) != 1 or len(sizes) > 1 or any(ref.context_id not in one.body for one in asked):
                seen.mixed.append(used)
            if message_of(code) not in [hit.message_id for hit in hits]:
                seen.missed.append(code)
            seen.collections += sorted(used)
            await asyncio.sleep(0.05)


async def search_in_time(
    stores: Stores, ref: ContextRef, question: RecallQuestion, recorder: IndexProxy
) -> tuple[Sequence[RankedHit], Sequence[Search]]:
    """Search until the index answers within recall's second, which a busy machine may take for other things."""
    while True:
        before = len(recorder.searches)
        with suppress(RecallTimedOut):
            return await stores.recall.search(ref, 0, question, k=3), recorder.searches[before:]
        await asyncio.sleep(0.05)


async def clean_run(system: System, environment: Mapping[str, str], collection: str) -> dict[str, Any]:
    """Return the points of one undisturbed run, in a new collection."""
    async with local_client(system.index.url, headers={"api-key": system.index.api_key}) as client:
        (await client.delete(f"/collections/{collection}")).raise_for_status()
    await reindexed(system, environment, "--force")
    return await points(system, collection)


async def points(system: System, collection: str) -> dict[str, Any]:
    """Return every point: id → payload and vectors."""
    asked = {"limit": 10 * MESSAGES, "with_payload": True, "with_vector": True}
    headers = {"api-key": system.index.api_key}
    async with local_client(system.index.url, headers=headers, timeout_s=60) as client:
        answer = await client.post(f"/collections/{collection}/points/scroll", json=asked)
    found = answer.raise_for_status().json()["result"]["points"]
    return {point["id"]: (point["payload"], point["vector"]) for point in found}
