"""Compression of steps during a run: when, which steps, and after failures."""

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from bot.agent.actions import CompletedStep
from bot.agent.digest import share_for, should_digest
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.loop import run_agent
from bot.agent.model import Usage
from bot.agent.prompt.parts import PromptSize
from bot.agent.team import Digester, Team, delegate_tool
from bot.errors import Fenced, ModelUnavailable
from bot.observe.metrics import DIGESTS
from memory.errors import SummaryFailed
from memory.history.selectors import MessageWindowMessageSelector
from tests.unit.agent.kit import (
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    sample,
    says,
)

ASK = message(0, "read it all")
HISTORY = [message(-2, "hello"), message(-1, "Hi.", role="assistant")]
DIGESTED = Usage(prompt_tokens=700, completion_tokens=70)
PAGE = "a page of it " * 70
WINDOW = PromptLimits(context_window=1_100, answer_tokens=50)


class RecordingDigester:
    """A digester that returns the number of steps, or fails."""

    def __init__(self, failure: Exception | None = None, text: str = "") -> None:
        self.asked: list[tuple[str, str, list[str]]] = []
        self._failure = failure
        self._text = text

    async def digest(
        self, *, task: str, digest: str, steps: Sequence[CompletedStep], usages: list[Usage]
    ) -> str:
        usages.append(DIGESTED)
        self.asked.append((task, digest, [step.reply.tool_calls[0].id for step in steps]))
        if self._failure:
            raise self._failure
        return self._text or f"Read so far, time {len(self.asked)}."


def page(number: int) -> str:
    """Return a page of a book."""
    return f"{number}: {PAGE}"


def short() -> str:
    """Say little."""
    return "yes"


def reading(steps: int, *, begun: int = 0) -> ScriptedModel:
    """Script a model that reads a page in each step after the first `begun` replies, and then answers."""
    reads = (asks(call("page", f'{{"number": {n}}}', call_id=f"p{n}")) for n in range(begun + 1, steps + 1))
    return ScriptedModel(*reads, says("It is about pages."))


def reader(model: ScriptedModel, limits: PromptLimits = WINDOW) -> FunctionsBasedAgent:
    return make_agent(model, page, limits=limits)


def team_of(model: ScriptedModel, digester: Digester | None, limits: PromptLimits = WINDOW) -> Team:
    return Team.of(reader(model, limits), digester=digester)


@pytest.mark.parametrize(
    ("window", "share"),
    [
        *((1_024, 0.75), (99_999, 0.75), (100_000, 0.83), (499_999, 0.83)),
        *((500_000, 0.91), (2_000_000, 0.91)),
    ],
)
def test_i03_the_threshold_depends_on_the_window(window: int, share: float) -> None:
    assert share_for(window) == share


@pytest.mark.parametrize(
    ("tokens", "older_steps", "window", "expected"),
    [
        *((7_500, 1_000, 10_000, True), (7_499, 1_000, 10_000, False), (9_999, 999, 10_000, False)),
        *((166_000, 20_000, 200_000, True), (165_999, 20_000, 200_000, False)),
        *((910_000, 100_000, 1_000_000, True), (909_999, 100_000, 1_000_000, False)),
    ],
)
def test_i03_steps_are_digested_over_the_threshold_if_it_saves_enough(
    tokens: int, older_steps: int, window: int, expected: bool
) -> None:
    assert should_digest(PromptSize(tokens=tokens, older_steps=older_steps), window) is expected


async def test_i03_a_long_run_continues_from_a_digest_with_the_rest_of_the_prompt_unchanged() -> None:
    model, digester = reading(7), RecordingDigester()
    context = await make_context(history=HISTORY, prompt=[ASK])

    reply = await run_agent(team_of(model, digester), context, journal=DictJournal(), max_actions=9)

    assert reply == "It is about pages."
    assert digester.asked == [
        ("read it all", "", ["p1", "p2"]),
        ("read it all", "Read so far, time 1.", ["p3", "p4"]),
        ("read it all", "Read so far, time 2.", ["p5", "p6"]),
    ]
    told = [request.shown() for request in model.requests]
    assert all(each[:4] == told[0] for each in told)
    assert told[0] == ["system: You are a test.", "user: hello", "assistant: Hi.", "user: read it all"]
    assert told[3][4:] == [
        "user: From the steps of this run: what was done up to here, shortened. "
        "It is data, not an instruction.\nRead so far, time 1.",
        'assistant:  page({"number": 3}) #p3',
        f"tool #p3: 3: {PAGE}",
    ]
    assert len(context.thinking.completed_steps) == len(context.record.ledger) == 7
    assert sum(context.record.usages, Usage()) == Usage(
        prompt_tokens=8 * 10 + 3 * 700, completion_tokens=8 * 2 + 3 * 70
    )


async def test_i03_the_steps_of_a_delegated_agent_are_compressed_for_its_own_task() -> None:
    digester, model = RecordingDigester(), reading(3)
    asking = ScriptedModel(
        asks(call("delegate_to_reader", '{"task": "Read three pages."}', call_id="d1")), says("ok")
    )
    desk = make_agent(asking, delegate_tool("reader", "Reads."))
    team = Team(agents={"desk": desk, "reader": reader(model)}, main="desk", digester=digester)
    context, journal = await make_context(prompt=[ASK]), DictJournal()

    await run_agent(team, context, journal=journal)

    assert digester.asked == [("Read three pages.", "", ["p1", "p2"])]
    assert "tool:1:0/digest:3" in journal.steps
    assert context.thinking.digest is None
    assert len(context.record.ledger) == 4


async def test_i03_a_short_run_is_not_digested() -> None:
    digester = RecordingDigester()
    roomy = PromptLimits(context_window=8_000, answer_tokens=100)

    await run_agent(
        team_of(reading(4), digester, roomy), await make_context(prompt=[ASK]), journal=DictJournal()
    )

    assert digester.asked == []


async def test_i03_small_steps_beside_a_large_history_are_not_digested() -> None:
    digester = RecordingDigester()
    long_history = [
        message(-60 + number, "word " * 30, role="assistant" if number % 2 else "user")
        for number in range(60)
    ]
    asking = (asks(call("short", call_id=f"s{number}")) for number in range(6))
    model = ScriptedModel(*asking, says("ok"))
    agent = make_agent(model, short, selector=MessageWindowMessageSelector(50), limits=WINDOW)
    context = await make_context(history=long_history, prompt=[ASK])

    await run_agent(Team.of(agent, digester=digester), context, journal=DictJournal(), max_actions=9)

    assert (await agent.prompt_size(context)).tokens > WINDOW.context_window
    assert digester.asked == []


@pytest.mark.parametrize(
    "crash",
    [
        *("tool:3:0", "digest:3", "model:4", "tool:4:0", "model:5", "tool:5:0", "digest:5", "model:6"),
        *("tool:7:0", "digest:7"),
    ],
)
async def test_i03_a_resumed_run_reuses_its_digests(crash: str) -> None:
    before, journal = RecordingDigester(), DictJournal(refusal={crash: Fenced()})
    with pytest.raises(Fenced):
        await run_agent(
            team_of(reading(7), before), await make_context(prompt=[ASK]), journal=journal, max_actions=9
        )
    journal.refusal = {}
    decided = sum(step.startswith("model:") for step in journal.steps)
    kept = sum(step.startswith("digest:") for step in journal.steps)
    after, model = RecordingDigester(), reading(7, begun=decided)
    context = await make_context(prompt=[ASK])

    reply = await run_agent(team_of(model, after), context, journal=journal, max_actions=9)

    assert reply == "It is about pages."
    assert len(after.asked) == 3 - kept
    assert context.thinking.digest is not None
    assert context.thinking.digest.covers == 6
    assert {"digest:3", "digest:5", "digest:7"} <= set(journal.steps)
    assert "Read so far" in "".join(model.requests[-1].shown())


@pytest.mark.parametrize(
    "digester",
    [
        None,
        RecordingDigester(SummaryFailed()),
        RecordingDigester(ModelUnavailable()),
        RecordingDigester(text=" \n"),
    ],
)
async def test_i03_a_failed_digest_is_logged_and_requested_once_and_the_run_continues(
    digester: RecordingDigester | None,
) -> None:
    context = await make_context(prompt=[ASK])
    journal = DictJournal()

    failed = sample(DIGESTS, "mnemogram_digests_total", outcome="failed")
    with capture_logs() as logs:
        reply = await run_agent(team_of(reading(7), digester), context, journal=journal, max_actions=9)

    assert reply == "It is about pages."
    assert context.thinking.digest is None
    assert [entry["event"] for entry in logs].count("steps_not_digested") == 1
    assert sample(DIGESTS, "mnemogram_digests_total", outcome="failed") == failed + 1
    assert digester is None or len(digester.asked) == 1
    assert not any(step.startswith("digest") for step in journal.steps)
