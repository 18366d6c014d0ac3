"""R10: the model's endpoint fails in every known way, and then the account has no quota."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from bot.errors import DeadlinePassed, ModelQuotaExhausted, ModelUnavailable, PromptTooLong
from bot.transport.texts import failure_text
from bot.transport.words import words_for
from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import LINE
from chaos.rig.dialogue import Dialogues, Exchange, dialogues
from chaos.rig.evidence import ECHO
from chaos.rig.measures import percentile
from chaos.rig.system import running_system
from tests.scripted_replies import (
    Reply,
    call,
    calls,
    context_too_long,
    cut,
    hang,
    quota_exceeded,
    rate_limited,
    server_error,
    text,
)
from tests.scripted_script import ChatRequest, last_user_text

FAULTS: Mapping[str, Reply] = {
    "429 with Retry-After": rate_limited(retry_after_s=0.2),
    "429": rate_limited(retry_after_s=None),
    "500": server_error(),
    "500 at every try": server_error(),
    "hang": hang(),
    "cut stream": cut("never seen by anybody", after=2),
    "bad JSON": calls(call("add", '{"a": 2, "b"')),
    "unknown tool": calls(call("no_such_tool", {"a": 1})),
    "context too long": context_too_long(),
}
LASTING = "500 at every try"
SHARE = 0.30
DEADLINE_S = 3.0
SAID_WITHIN_S = 2.0
"""After the deadline: for the turn to be taken up, for its commit and its send, on a busy machine."""
GIVEN_UP_AFTER_S = 60.0
WORKERS = 2
VOLLEY_S = 1.0
"""Requests that are under way when the quota ends all learn of it for themselves."""
PROBES_S = (5.0, 15.0, 35.0, 75.0)
"""Times at which a breaker admits a probe, in seconds from its opening (bot/agent/openai_model.py)."""
HEALED_WITHIN_S = 4.0
"""After the breaker that opened first may probe: for the others, and for a line that makes the probe."""
LINES_A_SECOND = 20
"""While there is no quota: less than what the system can bear, so that who waits does not wait for others."""


@dataclass(slots=True, kw_only=True)
class FaultyModel:
    """A model that echoes the last line.

    For a line in `plan` its first request, or every one, fails as planned.
    """

    plan: dict[str, str] = field(default_factory=dict[str, str])
    has_quota: bool = True
    asked: Counter[str] = field(default_factory=Counter[str])
    first_asked: dict[str, float] = field(default_factory=dict[str, float])
    refused_at: list[float] = field(default_factory=list[float])

    def __call__(self, request: ChatRequest) -> Reply:
        if not self.has_quota:
            self.refused_at.append(time.time())
            return quota_exceeded()
        line = LINE.findall(last_user_text(request))[-1]
        self.asked[line] += 1
        self.first_asked.setdefault(line, time.time())
        kind = self.plan.get(line)
        if kind is not None and (self.asked[line] == 1 or kind == LASTING):
            return FAULTS[kind]
        return text(ECHO + line)


async def run(bench: Bench) -> Score:
    """Let many people talk to a failing model. Then its quota ends and returns."""
    score, model = Score(), FaultyModel()
    running = running_system(
        bench.directory, model, RECALL_K="0", STREAMING="false", TURN_DEADLINE_S=f"{DEADLINE_S:g}"
    )
    chats, lines = bench.pick(40, 200), bench.pick(4, 50)
    async with running as system, dialogues(system, chats=chats) as talk:
        await system.start("serve", *["work"] * WORKERS)
        model.plan |= plan_faults(talk.chats, lines, bench.random)
        bench.say(f"{chats * lines:,} turns, {len(model.plan):,} with a fault")
        judge_turns(score, model, await talk.hold(lines, within_s=GIVEN_UP_AFTER_S))
        bench.say("the quota ends")
        await lose_quota(score, model, talk, seconds=bench.pick(3, 30))
    return score


def plan_faults(chats: Sequence[int], lines: int, random: Random) -> dict[str, str]:
    """Return the kinds of faults of 30 % of the lines, equally many of each, the same for the same seed."""
    every = [f"line {number} of {chat}" for chat in chats for number in range(lines)]
    faulty = random.sample(every, round(SHARE * len(every)))
    kinds = list(FAULTS)
    return {line: kinds[number % len(kinds)] for number, line in enumerate(faulty)}


def judge_turns(score: Score, model: FaultyModel, exchanges: Sequence[Exchange]) -> None:
    """Check that each turn ended in time, honestly, and without unnecessary calls."""
    words = words_for("en")
    honest = {failure_text(words, kind()) for kind in (DeadlinePassed, ModelUnavailable, PromptTooLong)}
    answered = [one for one in exchanges if one.text == ECHO + one.line]
    told = [one for one in exchanges if one.text in honest and one.line in model.plan]
    too_slow = failure_text(words, DeadlinePassed())
    slow = [one for one in exchanges if one.text == too_slow and one.line not in model.plan]
    score.exactly(
        "turns that end in an answer, or in an honest sentence after a fault",
        len(answered) + len(told),
        len(exchanges) - len(slow),
    )
    score.at_most("turns without a fault that reach their deadline", len(slow), 0, is_timed=True)
    late = [one for one in exchanges if turn_s(model, one) > DEADLINE_S + SAID_WITHIN_S]
    score.at_most(
        f"turns that end later than their deadline ({DEADLINE_S:g} s) and its sentence",
        len(late),
        0,
        is_timed=True,
    )
    failed = sum(model.asked[line] > 0 for line in model.plan)
    score.exactly("turns whose model failed", failed, len(model.plan))
    score.at_most("model calls for each needed one", model.asked.total() / len(exchanges), 1.3)
    score.note("turns", f"{len(exchanges):,}: {len(answered):,} answered, {len(told):,} told that it failed")
    score.note("faults", ", ".join(f"{kind} {n:,}" for kind, n in Counter(model.plan.values()).items()))
    score.note("longest turn, s", max(turn_s(model, one) for one in exchanges))


def turn_s(model: FaultyModel, one: Exchange) -> float:
    """Return the seconds from the turn's first request to its end in the chat. It may wait in line before."""
    return (
        float("inf") if one.ended_at is None else one.ended_at - model.first_asked.get(one.line, one.asked_at)
    )


async def lose_quota(score: Score, model: FaultyModel, talk: Dialogues, *, seconds: float) -> None:
    """Refuse every request for this time. The endpoint then works without a restart."""
    pause_s = len(talk.chats) / LINES_A_SECOND
    model.has_quota, began = False, time.time()
    told = await talk.hold_for(seconds, pause_s=pause_s, within_s=GIVEN_UP_AFTER_S)
    model.has_quota, back = True, time.time()
    heal_s = next(at for at in PROBES_S if at > back - began) - (back - began)
    after = await talk.hold_for(heal_s + HEALED_WITHIN_S, pause_s=pause_s, within_s=GIVEN_UP_AFTER_S)
    after += await talk.hold(1, within_s=GIVEN_UP_AFTER_S)
    sentence = failure_text(words_for("en"), ModelQuotaExhausted())
    honest = sum(one.text == sentence for one in told)
    still = max((one.ended_at - back for one in after if one.ended_at and one.text == sentence), default=0.0)
    storm = [at for at in model.refused_at if at > began + VOLLEY_S]
    openings = WORKERS * (1 + sum(at < back - began for at in PROBES_S))
    score.at_least("lines written without quota", len(told), LINES_A_SECOND * seconds / 4)
    score.exactly("lines answered with the sentence that there is no quota", honest, len(told))
    score.at_most(
        "wait for that sentence at p95, s",
        percentile([one.waited_s for one in told], 0.95),
        2.0,
        is_timed=True,
    )
    score.at_most("model calls while the breakers are open", len(storm), openings)
    score.at_most("s until the last chat has answers again", still, heal_s + HEALED_WITHIN_S, is_timed=True)
    score.exactly(
        "lines without an answer after that",
        sum(one.text != ECHO + one.line for one in after[-len(talk.chats) :]),
        0,
    )
    score.note("turns without quota", f"{len(told):,}, with {len(model.refused_at):,} requests in all")


ROW = Row(
    name="R10",
    title="model",
    load="{160|10,000} turns in {40|200} chats",
    fault="in 30 % of the turns a request fails: 429, 500, hang, cut stream, bad JSON, unknown tool, context too long;"
    " then {3|30} s without quota",
    hold="100 % end by the deadline with an answer or an honest sentence; calls ≤ 1.3 × needed; a breaker opens on"
    " insufficient_quota",
    run=run,
)
