"""The scripts of memory and inbox on a real cluster: all keys of a script are in one slot."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace

import pytest

from bot.agent.model import Usage
from bot.inbox.inspection import InboxInspection
from bot.inbox.isolation import Slots
from bot.inbox.records import Arrival, Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.observe.series import CounterReader
from bot.settings import UsageLimits
from bot.transport.rates import SendRates
from bot.turn.commit import Committer
from bot.turn.delivery import Delivery, Reachability
from bot.turn.limits import LimitGuard
from bot.turn.outbox import Part
from bot.turn.store import ATTEMPTS_AT_MOST, Commit, LaterWork, TurnNote, TurnStore
from memory import keys
from memory.artifacts.store import PIECE, PIECES_AT_ONCE, ContextArtifacts
from memory.codec import parse_json
from memory.erasure import delete_provably
from memory.errors import Forgotten
from memory.facts.context_facts import switch_off
from memory.facts.queue import FactQueue
from memory.facts.redis_facts import RedisFacts
from memory.history.message import Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import Erasure, RecordCounts
from memory.keys import ContextRef
from memory.recall.spaces import SWEEP_AFTER_S
from memory.redis.client import SOCKET_TIMEOUT_S, RedisClient, open_redis
from memory.summary.compressor import RedisSummaries
from tests.contract.facts_kit import ANNA, said, told
from tests.contract.inbox_kit import end_blocking_reads_on_time, some_parts
from tests.contract.memory_kit import LEASE_S, NOW, RedisMemory, make_entry, make_summary, make_turn
from tests.contract.reindex_kit import Clock, Rig, make_embedder
from tests.contract.test_context_file import as_file, body, fill, import_file
from tests.contract.vector_kit import open_local_client
from tests.messages import ids, make_receipt, make_ref, some_messages
from tests.stores import hold_open
from tests.traffic import Moved
from tests.valkey_cluster import Cluster, cluster_on, cluster_servers

pytestmark = pytest.mark.slow

PARTITIONS = 3
EVERY_PARTITION = pytest.mark.parametrize("partition", range(PARTITIONS))


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Generator[list[int]]:
    with hold_open(cluster_servers(tmp_path_factory.mktemp("cluster"))) as opened:
        yield opened


@pytest.fixture
async def cluster(ports: list[int]) -> AsyncGenerator[Cluster]:
    async with cluster_on(ports) as cluster:
        for node in cluster.nodes:
            await node.call("FLUSHALL")
            await end_blocking_reads_on_time(node)
        yield cluster


@pytest.fixture
async def redis(cluster: Cluster) -> AsyncGenerator[RedisClient]:
    async with open_redis(cluster.url) as redis:
        yield redis


async def test_the_partitions_are_on_both_nodes(cluster: Cluster) -> None:
    owners = {
        await cluster.owner_of(keys.partition_key(partition, "work")) for partition in range(PARTITIONS)
    }

    assert owners == {0, 1}


@EVERY_PARTITION
async def test_summaries_and_ledger_are_read_counted_and_erased(redis: RedisClient, partition: int) -> None:
    ref = make_ref_in(partition)
    memory = await fill_whole_memory(redis, ref)
    store = memory.store

    before = await store.load(ref, limit=50)
    receipt = await delete_provably(ref, ["m2"], epoch=0, store=store, recall=None)

    assert (before.summary is not None, ids(before.newest)) == (True, ["m4", "m5"])
    assert await store.load_ledger(ref, after_sequence=3, upto_sequence=5) == [make_turn(4, 5, artifact="a4")]
    assert ids(await store.page(ref, after_sequence=-1, limit=2, whole=True)) == ["m0", "m1"]
    assert (receipt.messages_erased, receipt.erased.summaries) == (1, 1)
    assert (receipt.erased.ledger_turns, receipt.erased.artifacts, receipt.is_proven) == (1, 1, True)
    assert await store.replace(ref, "m0", text="new", tokens=1, edited_at=NOW, epoch=0)
    assert (await store.load(ref, limit=50)).summary is None
    assert await store.start_conversation(ref, epoch=0) == 6
    assert (await store.erase(ref)).artifacts == 2
    assert await store.count_traces(ref) == RecordCounts(summaries=0, ledger_turns=0, artifacts=0)


@EVERY_PARTITION
async def test_facts_are_read_saved_corrected_and_erased(redis: RedisClient, partition: int) -> None:
    ref, clock = make_ref_in(partition), Clock()
    facts, queue = RedisFacts(redis, clock=clock), FactQueue(redis, clock=clock, tokens_per_day=10)
    turns, inbox = TurnStore(redis, clock=clock), make_inbox(redis)
    claim = await accepted(inbox, ref, 1)
    await turns.commit(
        claim, Commit(update_ids=[1], epoch=0, messages=[said("m0"), said("m1")], later=LaterWork(facts="on"))
    )

    await facts.hurry(ref)
    taken = await queue.claim(partition, lease_s=60)
    assert taken is not None
    work = await queue.load(taken, limit=5)
    assert await queue.save(taken, work, [told("lives in Lisbon", "m0"), told("is 30", "m1")]) == "saved"
    await queue.spend(4)
    await queue.finish(taken)

    age, home = sorted((await facts.list(ref)).facts, key=lambda fact: fact.statement)
    assert await facts.correct(ref, home.id, "lives in Porto", epoch=0, by=home.said_by)
    assert (await RedisHistory(redis).get_current({ref: ["m1"]}))[ref].facts == {"m1": (age,)}
    assert (
        await delete_provably(ref, ["m1"], epoch=0, store=RedisHistory(redis), recall=None)
    ).erased.facts == 1
    assert (await switch_off(ref, person=None, epoch=0, facts=facts, recall=None)).erased.facts == 1
    await facts.switch_on(ref, person=ANNA.id, context=True)
    assert (await facts.choices(ref)).is_on
    assert (await queue.tokens_left(), await queue.fail(taken, pauses_s=())) == (6, "lost")


@EVERY_PARTITION
async def test_people_and_sessions_are_stored_read_and_erased(redis: RedisClient, partition: int) -> None:
    ref, store = make_ref_in(partition), RedisHistory(redis)
    anna, ben = Sender(id=1, name="Anna"), Sender(id=2, name="Ben")
    messages = [replace(message, sender=anna) for message in some_messages(2)]
    await store.append(ref, [*messages, replace(some_messages(1, start=2)[0], sender=ben)], epoch=0)

    current = (await store.get_current({ref: ["m1"]}))[ref]
    deleted = await store.delete(ref, ["m2"], epoch=0)

    assert (current.people, current.sessions) == ({1: "Anna", 2: "Ben"}, {"m1": 0})
    assert (await store.count_traces(ref, mentioning=deleted)).people == 0
    assert (await store.load(ref, limit=0)).people == {1: "Anna"}
    await store.erase(ref)
    assert (await store.count_traces(ref)).total == 0


@EVERY_PARTITION
async def test_a_compression_is_claimed_renewed_failed_saved_and_finished(
    redis: RedisClient, partition: int
) -> None:
    ref, now = make_ref_in(partition), [NOW]
    summaries, store = RedisSummaries(redis, clock=lambda: now[0]), RedisHistory(redis)
    await store.append(ref, some_messages(4), epoch=0)
    await summaries.queue(ref)
    assert await summaries.count_due(partition) == 1

    first = await summaries.claim(partition, lease_s=LEASE_S)
    assert first is not None
    renewed = await summaries.renew(first, lease_s=2 * LEASE_S)
    assert renewed is not None
    assert await summaries.fail(renewed, pauses_s=(1, 1)) == "later"
    now[0] += 2
    again = await summaries.claim(partition, lease_s=LEASE_S)
    assert again is not None
    saved = await summaries.save(again, make_summary("s1", upto=1), ["m0", "m1"], epoch=0, revision=0)
    await summaries.finish(again, seen=await store.load(ref, limit=0))

    assert saved == "saved"
    assert await summaries.covered(ref, "s1") == ("m0", "m1")
    assert await redis.call("ZCARD", keys.partition_key(partition, "compress")) == 0


@EVERY_PARTITION
async def test_an_artifact_is_written_searched_and_refused_after_a_reset(
    redis: RedisClient, partition: int
) -> None:
    ref = make_ref_in(partition)
    artifacts = ContextArtifacts(redis, ref, epoch=lambda: 0, clock=lambda: NOW, ttl_s=1000, keep_beyond=1)
    text = "a" * (PIECE * PIECES_AT_ONCE) + "needle"

    artifact = await artifacts.keep(text, tool="big", key="1")

    assert await artifacts.read(artifact.id, start=len(text) - 6, length=6) == "needle"
    assert [found.start for found in await artifacts.search(artifact.id, "NEEDLE", at_most=1)] == [
        len(text) - 6
    ]
    assert (await RedisHistory(redis).erase(ref)).artifacts == 1
    with pytest.raises(Forgotten):
        await artifacts.keep(text, tool="big", key="2")


@EVERY_PARTITION
async def test_a_turn_commits_all_its_records_and_a_reset_erases_them(
    redis: RedisClient, partition: int
) -> None:
    ref = make_ref_in(partition)
    turns, inbox = TurnStore(redis, clock=lambda: NOW), make_inbox(redis)
    claim = await accepted(inbox, ref, 1)
    await turns.take(claim, window=10)
    await turns.record(claim, epoch=0, newest_update=1, fields={"model:1": "{}"})

    guard = LimitGuard(redis, UsageLimits(), exempt=frozenset(), clock=lambda: NOW)
    booking = guard.booking([Usage(prompt_tokens=10)], update_id=1, user_id=1, chat_id=1)
    await turns.commit(claim, replace(make_commit(1), booking=booking))
    assert (await guard.used_today(user_id=1, chat_id=1))["chat"].tokens == 10, (
        "its slot may be another node's"
    )
    _, snapshot = await turns.take(claim, window=10)
    await inbox.accept(Arrival(update_id=2, ref=ref, mode="turn", payload="p2", reason=""))
    erased = await turns.reset(ref, vectors=2, answering=(claim, 2))

    assert (snapshot.count, snapshot.choices.agent, len(snapshot.ledger)) == (2, "Travel", 1)
    assert (erased.epoch, erased.messages, erased.ledger_turns, erased.updates) == (1, 2, 1, 1)
    todo, after = await turns.take(claim, window=10)
    assert parse_json(Erasure, todo.journal["reset"]) == erased
    assert (after.count, after.ledger, after.choices.agent) == (0, (), "")


@EVERY_PARTITION
async def test_a_dead_letter_is_found_and_forgotten(redis: RedisClient, partition: int) -> None:
    ref = make_ref_in(partition)
    turns, inbox = TurnStore(redis, clock=lambda: NOW), make_inbox(redis)
    claim = await accepted(inbox, ref, 1)
    for _ in range(ATTEMPTS_AT_MOST):
        await turns.take(claim, window=10)
        (claim,) = await inbox.sweep(partition, consumer="anna", count=8, idle_ms=0)
    await turns.take(claim, window=10)
    inspection = InboxInspection(redis, partitions=PARTITIONS, clock=lambda: NOW)

    assert await turns.dead_letters(ref) == {1: "p1"}
    assert await inspection.unanswered(partition) == [(ref, "p1")]
    await turns.forget_updates(ref, [1])
    assert await turns.dead_letters(ref) == {}


async def test_counters_of_every_node_are_read_together(redis: RedisClient) -> None:
    turns = TurnStore(redis, clock=lambda: NOW)
    inbox = RedisInbox(redis, partitions=PARTITIONS, box_limit=5, clock=lambda: NOW, version="1.2.3")
    for partition in range(PARTITIONS):
        claim = await accepted(inbox, make_ref_in(partition), partition + 1)
        await turns.take(claim, window=10)
        parts = some_parts("an answer", update_id=partition + 1)
        commit = Commit(
            update_ids=[partition + 1], epoch=0, parts=parts, note=TurnNote(trace="{}", counted={"turns": 1})
        )
        await turns.commit(claim, commit)
        await turns.sent(claim, parts[0], telegram_id=1)
        await inbox.sweep(partition, consumer="anna", count=1, idle_ms=30_000)
    await SendRates(redis, clock=lambda: NOW).hold(1, 3)
    reader = CounterReader(redis, partitions=PARTITIONS, clock=lambda: NOW)

    point = (await reader.series(24)).points[-1]

    assert (point.messages, point.turns) == (PARTITIONS, PARTITIONS)
    assert point.stages["whole"].p50 is not None
    assert await reader.refusals() == (1, 1)
    assert [(each.name, each.version) for each in await reader.workers()] == [("anna", "1.2.3")]


async def test_a_slow_server_of_the_send_budgets_holds_up_neither_commit_nor_send(
    cluster: Cluster, redis: RedisClient
) -> None:
    busy = cluster.nodes[await cluster.owner_of(keys.global_key("{rates}:seats"))]
    owners = [await cluster.owner_of(keys.partition_key(each, "ready")) for each in range(PARTITIONS)]
    partition = next(each for each, owner in enumerate(owners) if cluster.nodes[owner] is not busy)
    inbox = make_inbox(redis)
    claim = await accepted(inbox, replace(make_ref(), partition=partition), 1)
    turns = TurnStore(redis, clock=lambda: NOW)
    sent: list[str] = []

    async def send(part: Part, content: bytes = b"", /) -> int:
        sent.append(part.rich.text)
        return 7

    delivery = Delivery(
        store=turns,
        send=send,
        rates=SendRates(redis),
        marks=Reachability(redis, clock=lambda: NOW),
        learn_migration=Moved().learn,
        slots=Slots(1),
    )
    await busy.call("CLIENT", "PAUSE", 60_000, "WRITE")

    async with asyncio.timeout(SOCKET_TIMEOUT_S):
        await Committer(store=turns, delivery=delivery).commit(
            claim, Commit(update_ids=[1], epoch=0, parts=some_parts("hi"))
        )

    assert sent == ["hi"]
    await busy.call("CLIENT", "UNPAUSE")


async def test_a_space_is_built_from_every_partition_and_the_former_one_is_deleted(
    redis: RedisClient,
) -> None:
    async with open_local_client() as qdrant:
        rig = Rig(redis=redis, qdrant=qdrant, clock=Clock(), partitions=PARTITIONS)
        old = await rig.started(make_embedder())
        refs = [await rig.chat(some_messages(3), partition=partition) for partition in range(PARTITIONS)]
        for indexer in old.indexers:
            await indexer.step()
        new = await rig.started(make_embedder(dimension=48))
        await new.work_until_it_serves()
        told = [await rig.message_ids(new.follower.ours, ref) for ref in refs]
        rig.clock.now += SWEEP_AFTER_S
        await new.work()
        assert told == [{"m0", "m1", "m2"}] * PARTITIONS
        assert await rig.points(old.follower.ours) == {}
        assert (await rig.record()).sweep_after is None


def make_ref_in(partition: int) -> ContextRef:
    return ContextRef(context_id=f"{partition:032x}", partition=partition)


async def fill_whole_memory(redis: RedisClient, ref: ContextRef) -> RedisMemory:
    """Create six messages, four of them in a summary. Each pair is a turn with an artifact."""
    memory = RedisMemory(redis)
    await memory.store.append(ref, some_messages(6), epoch=0)
    await memory.add_summary(ref, make_summary("s1", upto=3), [f"m{n}" for n in range(4)])
    for number in (0, 2, 4):
        await memory.add_turn(ref, make_turn(number, number + 1, artifact=f"a{number}"))
    return memory


def make_inbox(redis: RedisClient) -> RedisInbox:
    return RedisInbox(redis, partitions=PARTITIONS, box_limit=5, clock=lambda: NOW)


async def accepted(inbox: RedisInbox, ref: ContextRef, update_id: int) -> Claim:
    """Accept this update and return the claim of its context."""
    await inbox.open()
    await inbox.accept(Arrival(update_id=update_id, ref=ref, mode="turn", payload=f"p{update_id}", reason=""))
    (claim,) = await inbox.claim(ref.partition, consumer="anna", count=1, wait_ms=1)
    return claim


def make_commit(update_id: int) -> Commit:
    """Return a commit that changes everything that a commit can."""
    return Commit(
        update_ids=[update_id],
        epoch=0,
        messages=some_messages(2),
        parts=some_parts("an answer"),
        registered="{}",
        ledger=(make_entry("a1"),),
        receipt=make_receipt("m1"),
        meta={"active_agent": "Travel"},
        later=LaterWork(compresses=True),
    )


@EVERY_PARTITION
async def test_a_contexts_file_is_exported_and_imported(redis: RedisClient, partition: int) -> None:
    ref = make_ref_in(partition)
    await fill(redis, ref)
    file = as_file(await body(redis, ref), ref)
    await RedisHistory(redis).erase(ref)

    await import_file(redis, file, ref, epoch=1)

    assert as_file(await body(redis, ref), ref) == file
