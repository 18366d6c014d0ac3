"""R15: one update in a thousand kills its worker, each time. Other chats must not suffer for long."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bot.transport.words import words_for
from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import LINE
from chaos.rig.dialogue import Dialogues, Exchange, dialogues
from chaos.rig.evidence import ECHO, histories, settled
from chaos.rig.fleet import Fleet, held_by
from chaos.rig.measures import percentile
from chaos.rig.program import Program, until
from chaos.rig.system import System, running_system
from memory import keys
from tests.scripted_replies import Reply, hang, slow
from tests.scripted_script import ChatRequest, last_user_text

TRIES = 3
"""Attempts after which an update is a dead letter, if it ran alone in the last one."""
LEASE_S = 2
WORKERS = 2
THINKS_S = 0.25
"""After each of the nine or so events of a reply: others are in the midst of their turns when a worker dies."""
PAUSE_S = 12
"""Before each line. Without it two hundred people keep two workers, and two cores, busier than they can be: each line
waits some 7 s though nobody dies, which says nothing of poison.
"""
GIVEN_UP_AFTER_S = 90.0
FOUND_WITHIN_S = 10.0


@dataclass(slots=True, kw_only=True)
class PoisonedModel:
    """A model that slowly echoes the last line. A line in `poison` is started and never answered."""

    poison: set[str] = field(default_factory=set[str])
    begun: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])
    tries: Counter[str] = field(default_factory=Counter[str])

    def __call__(self, request: ChatRequest) -> Reply:
        line = LINE.findall(last_user_text(request))[-1]
        if line in self.poison:
            self.tries[line] += 1
            self.begun.put_nowait(line)
            return hang()
        return slow(ECHO + line, chunk_delay_s=THINKS_S)


async def run(bench: Bench) -> Score:
    """Let many people talk; some lines kill. Then remove the poison and handle the dead letters."""
    score, model = Score(), PoisonedModel()
    chats, lines = bench.pick(20, 200), bench.pick(3, 50)
    async with (
        running_system(
            bench.directory, model, RECALL_K="0", STREAMING="false", FACTS="false", LEASE_S=f"{LEASE_S}"
        ) as system,
        dialogues(system, chats=chats) as talk,
    ):
        poison = plan_poison(
            talk.chats, lines, count=bench.pick(1, chats * lines // 1_000), random=bench.random
        )
        model.poison |= poison
        async with asyncio.TaskGroup() as group:
            fleet = Fleet(system=system, group=group)
            await fleet.start("serve", *["work"] * WORKERS)
            bench.say(f"{chats * lines:,} lines, {len(poison)} of them poison")
            killing = group.create_task(kill_who_begins(fleet, model), name="killing")
            await talk.hold(lines, within_s=GIVEN_UP_AFTER_S, pause_s=bench.pick(0, PAUSE_S))
            killing.cancel()
        bench.say("the operator comes")
        dead = await judge(score, system, model, talk, poison)
        others = [one for one in talk.exchanges if one.line not in poison]
        judge_waits(score, fleet, others, poison=len(poison))
        await settle_dead(score, system, model, talk, sorted(dead))
    return score


def plan_poison(chats: Sequence[int], lines: int, *, count: int, random: Random) -> set[str]:
    """Choose this many lines of different chats, none the last of its chat."""
    return {f"line {random.randrange(lines - 1)} of {chat}" for chat in random.sample(chats, count)}


async def kill_who_begins(fleet: Fleet, model: PoisonedModel) -> None:
    """Kill the worker that has started a poisonous line, with all its other work."""
    while True:
        line = await model.begun.get()
        chat = int(line.rpartition(" ")[2])
        async with asyncio.timeout(FOUND_WITHIN_S):
            victim = await _until_known(fleet, chat)
        await fleet.kill(victim)


async def _until_known(fleet: Fleet, chat: int) -> Program:
    """The worker that has claimed this chat: it may work already, and not be among the ready ones yet."""
    while True:
        if victim := await holder_of(fleet, chat):
            return victim
        await asyncio.sleep(0.02)


async def holder_of(fleet: Fleet, chat: int) -> Program | None:
    """Return the worker that has claimed this chat; None if it is not ready."""
    context_id = fleet.system.context(chat).context_id
    for worker in fleet.running("work"):
        if context_id in await held_by(fleet.system, worker.process.pid):
            return worker
    return None


async def judge(
    score: Score, system: System, model: PoisonedModel, talk: Dialogues, poison: set[str]
) -> Mapping[int, Mapping[str, Any]]:
    """Check dead letters, answers and their order. Return the dead letters by update."""
    others = [one for one in talk.exchanges if one.line not in poison]
    told = [one for one in talk.exchanges if one.line in poison]
    buried = words_for("en")("buried")
    score.exactly(
        "lines without poison that are answered", sum(_is_answered(one) for one in others), len(others)
    )
    score.exactly(
        "lines with poison whose chat gets the apology", sum(one.text == buried for one in told), len(poison)
    )
    dead = await dead_letters(system)
    attempts = await fields_of_dead(system, dead, "attempts")
    spared = sum(attempts) - TRIES * len(poison)
    score.at_least("fewest attempts of a line with poison", min(attempts, default=0), TRIES)
    score.at_most(
        "deaths with an unclear cause, because other updates ran at the same time", spared, len(poison)
    )
    most = max(model.tries.values(), default=0)
    score.at_most("most requests to the model for one line", most, max(attempts, default=0))
    score.exactly("dead letters", len(dead), len(poison))
    interrupted = sum(letter["reason"] == "interrupted too often" for letter in dead.values())
    score.exactly("dead letters with the right reason in `queue`", interrupted, len(dead))
    score.exactly("chats out of order", len(await disordered(system, talk, poison)), 0)
    return dead


def judge_waits(score: Score, fleet: Fleet, others: Sequence[Exchange], *, poison: int) -> None:
    """Check the waits of others: of chats with living workers, and of chats beside the poison."""
    beside = [one for one in others if was_beside(fleet, one)]
    apart = [one.waited_s for one in others if one not in beside]
    p99 = percentile(apart, 0.99)
    score.at_most("p99 of the waits in chats whose worker lived, s", p99, LEASE_S + 5, is_timed=True)
    score.at_most("longest of these waits, s", max(apart), LEASE_S + 10, is_timed=True)
    # One kill may end a try of two poisonous lines.
    score.at_least("kills", len(fleet.kills), (TRIES - 1) * poison)
    score.note("p50 of these waits, s", f"{percentile(apart, 0.5):.2f}")
    if waits := [one.waited_s for one in beside]:
        score.note(
            "waits in chats whose worker died, s",
            f"{len(waits)}: p50 {percentile(waits, 0.5):.1f}, longest {max(waits):.1f}",
        )


def was_beside(fleet: Fleet, one: Exchange) -> bool:
    """Return True if a worker with this chat died while its line waited."""
    context_id, ended_at = fleet.system.context(one.chat).context_id, one.ended_at or float("inf")
    return any(one.asked_at <= kill.at <= ended_at and context_id in kill.held for kill in fleet.kills)


def _is_answered(one: Exchange) -> bool:
    return one.text == ECHO + one.line


async def dead_letters(system: System) -> Mapping[int, Mapping[str, Any]]:
    """Return the dead letters of `queue`, by update."""
    outcome = await system.console("queue", "--json")
    assert outcome.status == 0, outcome.err
    return {letter["update_id"]: letter for letter in json.loads(outcome.out)["dead"]}


async def fields_of_dead(system: System, dead: Iterable[int], field: str) -> list[int]:
    """Return a number from the record of each update."""
    asked = [("HGET", keys.partition_key(0, "update", one), field) for one in dead]
    return [int(found or 0) for found in await system.redis.calls(asked)]


async def disordered(system: System, talk: Dialogues, poison: set[str]) -> list[int]:
    """Return the chats whose history lacks a line or has it twice or out of order."""
    kept = await histories(system.redis, {chat: system.context(chat) for chat in talk.chats})
    wrong: list[int] = []
    for chat in talk.chats:
        lines = [one.line for one in talk.exchanges if one.chat == chat and one.line not in poison]
        if [message.text for message in kept[chat] if message.role == "user"] != lines:
            wrong.append(chat)
    return wrong


async def settle_dead(
    score: Score, system: System, model: PoisonedModel, talk: Dialogues, dead: Sequence[int]
) -> None:
    """Retry every second dead letter after the poison is removed, and drop the others."""
    model.poison.clear()
    retried, dropped = dead[::2], dead[1::2]
    before = talk.heard.count
    asked = [("retry", one) for one in retried] + [("drop", one) for one in dropped]
    await asyncio.gather(*(system.console("queue", verb, str(one)) for verb, one in asked))
    await until(
        lambda: talk.heard.count >= before + len(retried), within_s=GIVEN_UP_AFTER_S, what="the retried"
    )
    await settled(system.redis)
    states = [
        await system.redis.call("HGET", keys.partition_key(0, "update", one), "state") for one in retried
    ]
    score.exactly("retried updates that are answered", states.count("answered"), len(retried))
    ends = [await system.redis.call("HGET", keys.partition_key(0, "update", one), "state") for one in dropped]
    score.exactly("dropped updates that stay dead", ends.count("dead"), len(dropped))
    left = list(await dead_letters(system)) if dropped else []
    score.exactly("dead letters that are left", len(left), 0)


ROW = Row(
    name="R15",
    title="poison",
    load="{60|10,000} updates in {20|200} chats, {as fast as they are answered|some 14 a second}, 2 workers",
    fault="1 in {60|1,000} updates kills its worker each time that it starts",
    hold="a dead letter after 3 tries, and no other update is; the chat continues in order; `queue` shows the reason;"
    " `queue retry` and `queue drop` work",
    run=run,
)
