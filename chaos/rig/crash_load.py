"""The load of the rows with crashes: its size, the moments of the crashes, and its end."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from random import Random

from chaos.card import Bench
from chaos.rig.chat_load import ChatLoad, open_chat_load
from chaos.rig.evidence import settled
from chaos.rig.program import until
from chaos.rig.system import System

QUIET_WITHIN_S = 180.0
_MOMENT_WITHIN_S = 600.0
_KEPT_REQUESTS = 100


def crash_crowd(system: System, bench: Bench) -> AbstractAsyncContextManager[ChatLoad]:
    """Open 200 chats and topics in the long form. Only the last requests to the model are kept."""
    system.model.most_kept = _KEPT_REQUESTS
    return open_chat_load(system, private=bench.pick(20, 176), groups=bench.pick(1, 8))


def line_count(bench: Bench) -> int:
    """Return the number of lines."""
    return bench.pick(200, 20_000)


async def write_all(bench: Bench, crowd: ChatLoad, *, per_second: float) -> None:
    """Write at this rate, or as fast as the bot answers."""
    await crowd.write_steadily(
        line_count(bench),
        per_second=per_second,
        random=bench.random,
        burst=2,
        at_most_waiting=2 * len(crowd.places),
    )


def plan_moments(bench: Bench, random: Random, count: int) -> Sequence[int]:
    """Return the number of lines before each crash, spread over the load at random."""
    lines = line_count(bench)
    return sorted(random.sample(range(lines // 20, lines * 19 // 20), count))


async def moment_of(crowd: ChatLoad, lines: int) -> None:
    """Wait until this many lines were written."""
    await until(lambda: len(crowd.written) >= lines, within_s=_MOMENT_WITHIN_S, what="the moment of a crash")


async def quiet(system: System, crowd: ChatLoad) -> None:
    """Wait until Telegram has delivered everything and every worker is idle."""
    await until(
        lambda: len(system.simulator.simulation.queue) == 0,
        within_s=QUIET_WITHIN_S,
        what="the end of Telegram's queue",
        look_again_s=0.1,
    )
    await settled(system.redis, within_s=QUIET_WITHIN_S)
    # The last answer may still be on its way to the readers.
    await crowd.give_up_waiting(within_s=1)
