"""R11:

the Bot API refuses, disconnects and asks to wait. No send is too early, and other chats do not wait.
"""

from benchmarks.rig.sends import Size, measure, slower
from chaos.card import Bench, Row, Score


async def run(bench: Bench) -> Score:
    """Run rounds with and without faults alternately; see benchmarks/rig/sends.py."""
    score = Score()
    size = Size(chats=bench.pick(40, 200), lines=bench.pick(1, 2), seconds=bench.pick(3, 60))
    bench.say(f"{size.chats} chats")
    without, with_faults = await measure(bench.directory, size, rounds=bench.pick(1, 2))
    score.exactly("sends before a retry_after was over", without.too_early + with_faults.too_early, 0)
    score.exactly("answers lost", without.lost + with_faults.lost, 0)
    share = with_faults.refused / with_faults.sends
    score.at_least("429s, % of the sends", 100 * share, bench.pick(2, 5))
    score.at_least(
        "sends cut off, % of the sends", 100 * with_faults.cut / with_faults.sends, bench.pick(0, 3)
    )
    score.at_least("403s", with_faults.unreachable, 1)
    added = slower(without, with_faults)
    if bench.size == "long":
        score.at_most("added at p95 in chats without a fault, %", 100 * added, 10, is_timed=True)
    else:  # forty answers have no 95th percentile that two runs agree in
        score.at_most("p95 of chats without a fault, s", with_faults.percentile_s(95), 5, is_timed=True)
    score.note("added at p95, %", 100 * added)
    score.note(
        "sends",
        f"{with_faults.sends:,}: 429 {with_faults.refused}, cut {with_faults.cut}, 403 {with_faults.unreachable}",
    )
    score.note("messages seen twice", with_faults.repeated)
    return score


ROW = Row(
    name="R11",
    title="sends",
    load="{40|200} chats, {40|400} answers a round, {1 round|2 rounds} with faults and {1|2} without",
    fault="429 on 10 %, cut after delivery on 5 %, a 400, a 403, a group that moves",
    hold="0 early sends; others ≤ +10 % at p95; 0 lost answers",
    run=run,
)
