"""Workers that are stopped during a long turn, killed, or stand still for a while."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random

from chaos.rig.chat_load import Plan, collect_bot_messages, gather_people, plan_lines, write_wave
from chaos.rig.command_monitor import monitoring_commands
from chaos.rig.evidence import duplicates, histories, history_faults, in_order, settled, update_states
from chaos.rig.fleet import held_by
from chaos.rig.program import until
from chaos.rig.recording_model import RecordingModel
from chaos.rig.system import System, running_system

SEED = 20_261_120
MOMENT_WITHIN_S = 60.0
WAITS_AT_MOST_S = 5.0


async def test_a_stopped_worker_hands_back_its_unfinished_turn(tmp_path: Path) -> None:
    model = RecordingModel(holding=frozenset({"hold on"}))
    async with running_system(tmp_path, model) as system, monitoring_commands(system.redis_socket) as witness:
        held, *others = await gather_people(system.simulator, 10)
        plan = plan_lines(others, lines_each=6, waves=2, random=Random(SEED))
        programs = await system.start("serve", "work", "work")
        async with collect_bot_messages(system.simulator) as heard:
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
    model = RecordingModel(holding=frozenset({"hold on"}))
    async with running_system(tmp_path, model) as system, monitoring_commands(system.redis_socket) as witness:
        (chat,) = await gather_people(system.simulator, 1)
        programs = await system.start("serve", "work", "work")
        async with collect_bot_messages(system.simulator) as heard:
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


async def check_all_answered(system: System, plan: Plan) -> int:
    """Check that every line is answered in order, in history and chat.

    Return the number of repeated answers.
    """
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


async def test_the_chats_of_a_killed_worker_go_on_within_five_seconds(tmp_path: Path) -> None:
    """The lease is the default one, which is longer."""
    model = RecordingModel(holding=frozenset({"hold on"}))
    async with (
        running_system(tmp_path, model, LEASE_S="30") as system,
        monitoring_commands(system.redis_socket) as witness,
    ):
        chats = await gather_people(system.simulator, 6)
        _, *workers = await system.start("serve", "work", "work")
        async with collect_bot_messages(system.simulator):
            for chat in chats:
                await system.simulator.say(chat, "hold on")
            await until(lambda: model.count("hold on", 2) == 6, within_s=MOMENT_WITHIN_S)
            killed = next(one for one in workers if one.process.pid == witness.recorded[0].worker)
            at = await killed.kill()
            held = await held_by(system, killed.process.pid)
            model.release.set()
            await settled(system.redis)

        assert held
        for context in held:
            steps = witness.steps[context]
            later = [moment for moment, pid in steps if moment > at and pid != killed.process.pid]
            assert min(later) - at < WAITS_AT_MOST_S
        assert await check_all_answered(system, {chat: [["hold on"]] for chat in chats}) == 0


async def test_workers_that_stand_still_for_three_seconds_lose_no_turn(tmp_path: Path) -> None:
    model = RecordingModel(holding=frozenset({"hold on"}))
    async with running_system(tmp_path, model, LEASE_S="30") as system:
        chats = await gather_people(system.simulator, 4)
        _, *workers = await system.start("serve", "work", "work")
        async with collect_bot_messages(system.simulator):
            for chat in chats:
                await system.simulator.say(chat, "hold on")
            await until(lambda: model.count("hold on", 2) == 4, within_s=MOMENT_WITHIN_S)
            for worker in workers:
                os.kill(worker.process.pid, signal.SIGSTOP)
                await asyncio.sleep(3.0)
                os.kill(worker.process.pid, signal.SIGCONT)
            model.release.set()
            await settled(system.redis)

        assert await check_all_answered(system, {chat: [["hold on"]] for chat in chats}) == 0
        assert [worker.has_said("context_taken_over") for worker in workers] == [False, False]
        assert model.count("hold on", 2) == 4
