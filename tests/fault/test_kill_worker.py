"""Workers, the webhook process and the store are killed under load: nothing is lost, and nothing happens twice."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.fault.crowd import Plan, gather_people, listening, plan_lines, write_wave
from tests.fault.evidence import (
    duplicates,
    finished_steps,
    histories,
    history_faults,
    in_order,
    late_calls,
    settled,
    unexplained_repeats,
    update_ids,
    update_states,
)
from tests.fault.program import Program, until
from tests.fault.system import System, running_system
from tests.fault.witness import Recorded, Sending, Witness, watching
from tests.fault.witnessed_model import WitnessedModel

SEED = 20_261_120
KILLS = 5
MOMENT_WITHIN_S = 60.0

log = logging.getLogger(__name__)


async def test_a_killed_worker_loses_nothing_and_repeats_nothing_that_had_finished(tmp_path: Path) -> None:
    random, model = Random(SEED), WitnessedModel()
    async with running_system(tmp_path, model) as system, watching(system.redis_socket) as witness:
        chats = await gather_people(system.simulator, 30)
        plan = plan_lines(chats, lines_each=10, waves=KILLS, random=random)
        _, *workers = await system.start("serve", "work", "work")
        kills: list[float] = []
        async with listening(system.simulator) as heard:
            for wave in range(KILLS):
                async with asyncio.TaskGroup() as group:
                    killing = group.create_task(kill_a_worker(system, workers, witness, random))
                    group.create_task(write_wave(system.simulator, heard, plan, wave))
                kills.append(killing.result())

        twice = await check_all_answered(system, plan)
        finished = finished_steps(model.asked, witness.recorded)
        assert late_calls(model.asked, finished) == []
        assert [step for step, recorded in finished.items() if len(recorded) > 1] == []
        assert unexplained_repeats(witness.sendings, kills) == []
        resumed = sum(len(sending.repeated_at) for sending in witness.sendings)
        assert twice <= resumed
        log.info(
            "%d kills, %d replies, %d model calls for %d steps, %d sends resumed, of which %d were seen twice",
            *(len(kills), len(witness.sendings), len(model.asked), len(finished), resumed, twice),
        )


async def test_a_worker_told_to_end_hands_back_what_it_cannot_finish(tmp_path: Path) -> None:
    model = WitnessedModel(holding=frozenset({"hold on"}))
    async with running_system(tmp_path, model) as system, watching(system.redis_socket) as witness:
        held, *others = await gather_people(system.simulator, 10)
        plan = plan_lines(others, lines_each=6, waves=2, random=Random(SEED))
        programs = await system.start("serve", "work", "work")
        async with listening(system.simulator) as heard:
            await system.simulator.say(held, "hold on")
            await write_wave(system.simulator, heard, plan, 0)
            await until(lambda: model.count("hold on", 2) == 1, within_s=MOMENT_WITHIN_S)
            context_id = system.context(held).context_id
            holder = next(one.worker for one in witness.recorded if one.context_id == context_id)
            (told,) = [program for program in programs if program.process.pid == holder]
            async with asyncio.TaskGroup() as group:
                ending = group.create_task(told.end(within_s=20))
                group.create_task(write_wave(system.simulator, heard, plan, 1))
            model.release.set()

        assert ending.result() == 0
        assert await check_all_answered(system, {**plan, held: [["hold on"]]}) == 0
        assert (model.count("hold on", 1), model.count("hold on", 2)) == (1, 2)
        assert [sending for sending in witness.sendings if sending.repeated_at] == []


async def test_a_worker_that_slept_past_its_lease_writes_and_sends_nothing_more(tmp_path: Path) -> None:
    model = WitnessedModel(holding=frozenset({"hold on"}))
    async with running_system(tmp_path, model) as system, watching(system.redis_socket) as witness:
        (chat,) = await gather_people(system.simulator, 1)
        programs = await system.start("serve", "work", "work")
        async with listening(system.simulator) as heard:
            await system.simulator.say(chat, "hold on")
            await until(lambda: model.count("hold on", 2) >= 1, within_s=MOMENT_WITHIN_S, what="the call")
            sleeper = witness.recorded[0].worker
            os.kill(sleeper, signal.SIGSTOP)
            await until(lambda: model.count("hold on", 2) >= 2, within_s=MOMENT_WITHIN_S, what="a takeover")
            model.release.set()
            await until(lambda: heard.count >= 1, within_s=MOMENT_WITHIN_S, what="the answer")
            os.kill(sleeper, signal.SIGCONT)
            (awake,) = [program for program in programs if program.process.pid == sleeper]
            await until(
                lambda: awake.has_said("claim_lost"), within_s=MOMENT_WITHIN_S, what="the loss of the claim"
            )

        assert await check_all_answered(system, {chat: [["hold on"]]}) == 0
        assert [one.worker for one in witness.sendings if one.worker == sleeper] == []
        assert [one.step for one in witness.recorded if one.worker == sleeper] == ["model:1", "tool:1:0"]


async def test_an_update_that_telegram_delivers_again_has_one_answer(tmp_path: Path) -> None:
    async with running_system(tmp_path, WitnessedModel()) as system, watching(system.redis_socket) as witness:
        chats = await gather_people(system.simulator, 10)
        plan = plan_lines(chats, lines_each=6, waves=3, random=Random(SEED))
        serve, _ = await system.start("serve", "work")
        async with listening(system.simulator) as heard:
            for wave in range(3):
                wanted = witness.accepted + 5
                async with asyncio.TaskGroup() as group:
                    group.create_task(write_wave(system.simulator, heard, plan, wave))
                    await moment_of_a_kill(lambda wanted=wanted: witness.accepted >= wanted)
                    await serve.kill()
                    (serve,) = await system.start("serve")

        traces = [await system.trace(number) for number in await update_ids(system.redis)]
        again = {await system.deliver(trace["update"]) for trace in traces}
        assert again == {(200, "duplicate")}
        assert await check_all_answered(system, plan) == 0
        tries = [len(trace["deliveries"]) for trace in traces]
        assert max(tries) > 1
        log.info(
            "%d updates delivered, %d of them more than once", len(tries), sum(each > 1 for each in tries)
        )


async def test_the_killed_store_comes_back_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    async with running_system(tmp_path, WitnessedModel()) as system:
        chats = await gather_people(system.simulator, 10)
        plan = plan_lines(chats, lines_each=6, waves=3, random=Random(SEED))
        programs = await system.start("serve", "work", "work")
        async with listening(system.simulator) as heard:
            for wave in range(3):
                wanted = heard.count + 3
                async with asyncio.TaskGroup() as group:
                    group.create_task(write_wave(system.simulator, heard, plan, wave))
                    await moment_of_a_kill(lambda wanted=wanted: heard.count >= wanted)
                    os.kill(system.server_pid("valkey"), signal.SIGKILL)

        await check_all_answered(system, plan)
        assert [program.process.returncode for program in programs] == [None, None, None]


async def kill_a_worker(system: System, workers: list[Program], witness: Witness, random: Random) -> float:
    """Kill one that is in the midst of its work, and start another in its place; the time of the kill.

    It is killed as soon as it has written what is drawn: the so-and-so-manieth step journaled, or reply
    committed, from now on.
    """
    written: Sequence[Recorded | Sending] = random.choice([witness.recorded, witness.sendings])
    wanted = len(written) + random.randint(1, 25)
    await moment_of_a_kill(lambda: len(written) >= wanted)
    (victim,) = [worker for worker in workers if worker.process.pid == written[wanted - 1].worker]
    killed_at = await victim.kill()
    workers.remove(victim)
    workers.extend(await system.start("work"))
    return killed_at


async def moment_of_a_kill(is_there: Callable[[], bool]) -> None:
    """Return as soon as it is there, for a kill in the midst of things."""
    await until(is_there, within_s=MOMENT_WITHIN_S, what="the moment of a kill", look_again_s=0.001)


async def check_all_answered(system: System, plan: Plan) -> int:
    """Every line answered, in order, in its history and in its chat; how many answers came twice in a chat."""
    await settled(system.redis)
    lines = {chat: [line for burst in bursts for line in burst] for chat, bursts in plan.items()}
    assert await update_states(system.redis) == {"answered": sum(map(len, lines.values()))}
    twice = 0
    for chat, history in (
        await histories(system.redis, {chat: system.context(chat) for chat in plan})
    ).items():
        assert history_faults(history, lines[chat]) == []
        messages = await system.simulator.messages(chat)
        # A message with the Stop button whose id died with its worker stays: it is no answer.
        answers = [m for m in messages if m["from"]["is_bot"] and "reply_markup" not in m]
        said = [message["text"] for message in answers]
        assert in_order(said) == [message.text for message in history if message.role == "assistant"]
        assert max(duplicates(said).values(), default=0) <= 1
        twice += duplicates(said).total()
    return twice
