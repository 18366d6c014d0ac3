"""R13:

ten times the workers' throughput, and one flooding chat. Boxes stay bounded, and other chats get their share.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import BotMessages, collect_bot_messages, gather_people
from chaos.rig.evidence import settled
from chaos.rig.measures import percentile
from chaos.rig.program import until
from chaos.rig.system import SECRET, System, running_system
from chaos.rig.verdict import states_of
from chaos.rig.webhook_client import WebhookClient, Written, open_webhook_client
from memory import keys
from tests.scripted_replies import Reply
from tests.scripted_script import ChatRequest, echo

BOX_LIMIT = 20
SLOTS = 4
_THINKING_S = 1.0
_EVENTS = 6
"""About so many has the stream of an answer: the model pauses after each."""
OFFERED_PER_SECOND = 1_000
_AHEAD = 3
"""Number of unaccepted messages that each chat keeps during the overload."""
_FAIR = 2.0
_SECOND = 10_000_000
"""The first update id of the second load."""


async def run(bench: Bench) -> Score:
    """Overload all chats, then one alone. Wait each time until everything is answered."""
    score, model = Score(), _Thoughtful()
    async with running_system(
        bench.directory,
        model,
        BOX_LIMIT=str(BOX_LIMIT),
        WORKER_CONCURRENCY=str(SLOTS),
        STREAMING="false",
        RECALL_K="0",
    ) as system:
        await system.start("serve", "work")
        await _overload(score, bench, system)
        await _flood(score, bench, system, model)
    return score


@dataclass(slots=True)
class _Thoughtful:
    """A model that echoes after a pause, so that slots are scarce instead of CPU. It counts its answers."""

    answers: int = 0

    def __call__(self, request: ChatRequest) -> Reply:
        self.answers += 1
        return replace(echo(request), chunk_delay_s=_THINKING_S / _EVENTS)


async def _overload(score: Score, bench: Bench, system: System) -> None:
    """Write ten times the throughput in every chat. Then stop, and wait for the accepted updates."""
    port = int(system.environment["HTTP_PORT"])
    chats = await gather_people(system.simulator, bench.pick(12, 200))
    fullest, begun = 0, time.time()
    before = await _memory(system)
    async with open_webhook_client([port], secret=SECRET) as lanes:
        while (now := time.time()) < begun + bench.pick(6, 300):
            for _ in range(int((now - begun) * OFFERED_PER_SECOND) - len(lanes.written)):
                lanes.write(chats[len(lanes.written) % len(chats)], f"line {len(lanes.written)}")
            fullest = max(fullest, *await _boxes(system, chats))
            await asyncio.sleep(0.05)
        ended = time.time()
        finished = await _finished(system, lanes.acknowledged)
        await lanes.stop()
    bench.say(f"{len(lanes.written):,} written, {len(lanes.acknowledged):,} taken, {finished:,} finished")
    grown = (await _memory(system) - before) / (1 << 20)
    await settled(system.redis, within_s=bench.pick(60, 300))
    await _judge(score, system, lanes, "overload")
    score.at_least("overload: finished", finished, bench.pick(1, 200))
    score.at_least("overload: lines written for each finished one", len(lanes.written) / max(finished, 1), 10)
    score.at_most("overload: updates in the fullest box", fullest, BOX_LIMIT)
    score.at_least("overload: 503 with Retry-After", lanes.asked_to_wait, 1)
    score.note("overload: finished (1/s)", finished / (ended - begun))
    score.note("overload: growth of the store (MB)", grown)


async def _flood(score: Score, bench: Bench, system: System, model: _Thoughtful) -> None:
    """Let one chat write without pause, the others line after line."""
    flooder, *others = await gather_people(system.simulator, bench.pick(13, 61))
    port = int(system.environment["HTTP_PORT"])
    async with (
        open_webhook_client([port], secret=SECRET, first_id=_SECOND) as lanes,
        collect_bot_messages(system.simulator) as heard,
    ):
        ends_at = time.time() + bench.pick(8, 120)
        begun, answers = time.time(), model.answers
        waits = list[float]()
        async with asyncio.TaskGroup() as group:
            group.create_task(_write_on(lanes, flooder, ends_at))
            for chat in others:
                group.create_task(_write_in_turn(lanes, heard, chat, ends_at, waits))
        per_second = (model.answers - answers) / (time.time() - begun)
        await lanes.stop()
    await settled(system.redis, within_s=60)
    await _judge(score, system, lanes, "flood")
    score.at_least("flood: answered lines of the other chats", len(waits), len(others))
    score.at_least("flood: 503 with Retry-After", lanes.asked_to_wait, 1)
    fair = (len(others) + 1) / per_second
    score.at_most(
        "flood: wait of the other chats at p95, in fair shares",
        percentile(waits, 0.95) / fair,
        _FAIR,
        is_timed=True,
    )
    score.note(
        "flood: a fair share (s): active chats by turns/s",
        f"{len(others) + 1} / {per_second:.1f} = {fair:.2f}",
    )
    score.note("flood: wait of the other chats, p50, p95 and longest (s)", _spread(waits))


async def _write_on(lanes: WebhookClient, chat: int, ends_at: float) -> None:
    while time.time() < ends_at:
        if lanes.depth(chat) < _AHEAD:
            lanes.write(chat, f"flood {len(lanes.written)}")
        await asyncio.sleep(0.005)


async def _write_in_turn(
    lanes: WebhookClient, heard: BotMessages, chat: int, ends_at: float, waits: list[float]
) -> None:
    while time.time() < ends_at:
        known = len(heard.by_chat[chat])
        one = lanes.write(chat, f"line {len(lanes.written)}")
        await until(lambda known=known: len(heard.by_chat[chat]) > known, within_s=60, what="an answer")
        waits.append(time.time() - one.written_at)


async def _judge(score: Score, system: System, lanes: WebhookClient, phase: str) -> None:
    states = await states_of(system, {one.update_id: one.chat_id for one in lanes.acknowledged})
    lost = sum(state != "answered" for state in states.values())
    score.exactly(f"{phase}: acknowledged updates that were not answered", lost, 0)
    score.note(f"{phase}: acknowledged, by {len(lanes.written):,} written", len(states))


async def _finished(system: System, acknowledged: Sequence[Written]) -> int:
    states = await states_of(system, {one.update_id: one.chat_id for one in acknowledged})
    return sum(state == "answered" for state in states.values())


async def _boxes(system: System, chats: Sequence[int]) -> list[int]:
    return await system.redis.calls(
        [("ZCARD", keys.context_key(system.context(chat), "box")) for chat in chats]
    )


async def _memory(system: System) -> int:
    (told,) = await system.redis.ask_each("INFO", "memory")
    return int(told["used_memory"])


def _spread(waits: Sequence[float]) -> str:
    return f"{percentile(waits, 0.5):.2f}, {percentile(waits, 0.95):.2f}, {max(waits, default=0):.2f}"


ROW = Row(
    name="R13",
    title="overload",
    load="ten times what the workers finish for {6 s|5 min}, {12|200} chats; "
    "then one flooding chat among {13|61}, {8 s|2 min}",
    fault="–",
    hold="bounded boxes, 503 + Retry-After, 0 acknowledged lost, other chats' wait within twice their fair share",
    run=run,
)
