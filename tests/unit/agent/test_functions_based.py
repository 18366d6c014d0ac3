"""The steps of next_action in their order (M10), and their failures."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bot.agent.actions import NO_RESULT, CompletedStep, ToolResult
from bot.agent.context import AgentContext, MessageCount
from bot.agent.functions_based import LAST_ANSWER_NOTE, FunctionsBasedAgent, PromptLimits
from bot.agent.model import Image, ModelReply
from bot.agent.prompt.text import RECALLED_HEADING, SUMMARY_HEADING, TALK_HEADING, TASK_HEADING
from bot.agent.tool import Tool
from bot.errors import ModelRepliedNothing, PromptTooLong
from bot.observe.metrics import RECALL_FAILURES, RECALL_SECONDS
from examples.demo_tools import add
from memory.chat_history import ChatHistory
from memory.errors import RecallUnavailable
from memory.facts.selection import Memories
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Sender
from memory.history.selectors import MessageWindowMessageSelector, NoMessages
from memory.history.summary import Summary, SummaryText
from memory.history.talk import TalkLine
from memory.keys import ContextRef
from memory.recall.ranking import RankedHit
from memory.recall.recall import Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.unit.agent.kit import (
    FIRST_SECOND,
    TOKENIZER,
    MemoryIndex,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    sample,
    says,
)

HISTORY = [
    message(0, "my sister Anna lives in Lisbon"),
    message(1, "How nice!", role="assistant"),
    message(2, "the train leaves at nine"),
    message(3, "I will remind you.", role="assistant"),
]
ASK = message(9, "where does my sister Anna live?")


def summary_up_to(sequence: int) -> Summary:
    return Summary(
        id="s1",
        builds_on="",
        conversation_start=0,
        from_sequence=0,
        upto_sequence=sequence,
        text=SummaryText(overview="Anna lives in Lisbon."),
        tokens=10,
        model="small",
        created_at=1.0,
    )


def entry(name: str, delegation_id: str) -> LedgerEntry:
    return LedgerEntry(
        id=name, kind="tool", agent="", name=name, input="{}", output="x", delegation_id=delegation_id
    )


def tools_told(model: ScriptedModel) -> list[str]:
    """Return the names of the tools whose calls are in the first request, in order."""
    lines = [line for each in model.requests[0].messages for line in each.text.splitlines()]
    return [line.removeprefix("## Tool: ") for line in lines if line.startswith("## Tool: ")]


async def test_m10_the_request_has_recall_window_prompt_and_steps() -> None:
    model = ScriptedModel(asks(call("add", '{"a": 1, "b": 2}', call_id="c2")))
    context = await make_context(history=HISTORY, prompt=[ASK], index=MemoryIndex())
    context.thinking.completed_steps.append(
        CompletedStep(
            reply=asks(call("add", '{"a": 1, "b": 1}', call_id="c1")),
            results=(ToolResult(call_id="c1", name="add", output="2"),),
        )
    )
    limits = PromptLimits(context_window=8_000, answer_tokens=1_000, recall_k=1)
    agent = make_agent(model, add, selector=MessageWindowMessageSelector(3), limits=limits, order="described")

    action = await agent.next_action(context)

    assert action == asks(call("add", '{"a": 1, "b": 2}', call_id="c2"))
    (request,) = model.requests
    assert request.shown() == [
        "system: You are a test.",
        f'user: {RECALLED_HEADING}\n[2025-11-20 18:03 UTC, 9 minutes ago] user: "my sister Anna lives in Lisbon"',
        "assistant: How nice!",
        "user: the train leaves at nine",
        "assistant: I will remind you.",
        "user: where does my sister Anna live?",
        'assistant:  add({"a": 1, "b": 1}) #c1',
        "tool #c1: 2",
    ]
    assert [tool.name for tool in request.tools] == ["add"]


async def test_m10_as_many_messages_are_recalled_as_the_settings_say_and_never_the_prompt_itself() -> None:
    index = MemoryIndex()
    cats = ["black", "white", "red", "grey", "old", "lazy", "wild", "fat", "shy", "blind", "tame"]
    many = [message(60 * number, f"Anna has a {cat} cat") for number, cat in enumerate(cats)]
    prompt = message(5_000, "what cat has Anna?")
    context = await make_context(history=[*many, prompt], prompt=[prompt], index=index)
    model = ScriptedModel(says("ok"))

    limits = PromptLimits(context_window=8_000, answer_tokens=1_000, recall_k=8)
    await make_agent(model, selector=NoMessages(), limits=limits).next_action(context)

    recalled = model.requests[0].shown()[1]
    assert recalled.count("Anna has a") == 8
    assert "what cat" not in recalled


@pytest.mark.parametrize(
    ("after", "is_recalled"), [(["thanks!"], True), (["?", "please"], True), (["ok", "ok", "ok"], False)]
)
async def test_a_last_message_without_hits_is_searched_with_the_two_before_it(
    after: list[str], is_recalled: bool
) -> None:
    prompt = [ASK, *(message(20 + number, text) for number, text in enumerate(after))]
    context = await make_context(history=HISTORY, prompt=prompt, index=MemoryIndex())
    model = ScriptedModel(says("ok"))

    await make_agent(model, selector=NoMessages()).next_action(context)

    assert ("Lisbon" in str(model.requests[0].shown())) == is_recalled


async def test_messages_of_the_window_are_not_recalled() -> None:
    index = MemoryIndex()
    cats = [message(number, f"Anna has {number} cats") for number in range(6)]
    context = await make_context(history=cats, prompt=[message(9, "how many cats has Anna?")], index=index)
    model = ScriptedModel(says("ok"))

    await make_agent(model, selector=MessageWindowMessageSelector(4)).next_action(context)

    (query,) = index.queries
    assert (query.where.before_sequence, query.where.excluded) == (2, frozenset(["m9"]))
    _, *window, recalled, _ = model.requests[0].shown()
    assert window == [f"user: Anna has {number} cats" for number in range(2, 6)]
    assert [number for number in range(6) if f"{number} cats" in recalled] == [0, 1]


async def test_a_window_with_gaps_excludes_only_its_own_messages_from_the_search() -> None:
    class EveryOther:
        async def select(self, newest: AsyncIterator[Message]) -> list[Message]:
            chosen = [each async for each in newest]
            return chosen[::2][::-1]

    index = MemoryIndex()
    cats = [message(number, f"Anna has {number} cats") for number in range(5)]
    context = await make_context(history=cats, prompt=[message(9, "how many cats has Anna?")], index=index)

    await make_agent(ScriptedModel(says("ok")), selector=EveryOther()).next_action(context)

    (query,) = index.queries
    assert (query.where.before_sequence, query.where.excluded) == (4, frozenset(["m0", "m2", "m9"]))


async def test_the_question_is_searched_in_the_name_of_its_asker() -> None:
    asked: list[RecallQuestion] = []

    class Noting(Recall):
        async def search(
            self, ref: ContextRef, epoch: int, question: RecallQuestion, *, k: int
        ) -> list[RankedHit]:
            asked.append(question)
            return []

    context = await make_context(prompt=[message(8, "hello"), ASK])
    context.chat_history = ChatHistory(
        ref=context.ref,
        epoch=0,
        store=InMemoryHistory(),
        recall=Noting(Spaces(serving=Space(embedder=FakeEmbedder(), index=MemoryIndex()))),
        tokenizer=TOKENIZER,
        clock=lambda: 0.0,
        new_id=lambda: "new",
    )

    await make_agent(ScriptedModel(says("ok"))).next_action(context)

    question = asked[0]
    assert (question.text, question.asker_id, question.now) == (ASK.text, 7, ASK.sent_at)
    assert [each.text for each in asked] == [ASK.text, "hello"]


async def test_m10_without_new_messages_the_last_user_message_is_the_prompt() -> None:
    context = await make_context(history=HISTORY)
    model = ScriptedModel(says("ok"))

    await make_agent(model).next_action(context)

    assert model.requests[0].shown() == [
        "system: You are a test.",
        "user: my sister Anna lives in Lisbon",
        "assistant: How nice!",
        "assistant: I will remind you.",
        "user: the train leaves at nine",
    ]


async def test_the_cached_order_moves_the_recalled_messages() -> None:
    model = ScriptedModel(says("ok"))
    context = await make_context(history=HISTORY, prompt=[ASK], index=MemoryIndex())
    limits = PromptLimits(context_window=8_000, answer_tokens=1_000, recall_k=1)

    await make_agent(model, selector=MessageWindowMessageSelector(1), limits=limits).next_action(context)

    assert model.requests[0].shown() == [
        "system: You are a test.",
        "assistant: I will remind you.",
        f'user: {RECALLED_HEADING}\n[2025-11-20 18:03 UTC, 9 minutes ago] user: "my sister Anna lives in Lisbon"',
        "user: where does my sister Anna live?",
    ]


async def test_i05_the_request_has_the_summary_and_the_messages_after_it() -> None:
    model = ScriptedModel(says("ok"))
    context = await make_context(history=HISTORY, prompt=[ASK], summary=summary_up_to(1))

    await make_agent(model).next_action(context)

    assert model.requests[0].shown() == [
        "system: You are a test.",
        f"user: {SUMMARY_HEADING}\nOverview: Anna lives in Lisbon.",
        "user: the train leaves at nine",
        "assistant: I will remind you.",
        "user: where does my sister Anna live?",
    ]


@pytest.mark.parametrize(("is_window_short", "told"), [(False, 4), (True, 2)])
async def test_i07_without_a_summarizer_the_fallback_window_is_used(is_window_short: bool, told: int) -> None:
    model = ScriptedModel(says("ok"))
    context = await make_context(history=HISTORY, prompt=[ASK], is_window_short=is_window_short)
    agent = make_agent(model, fallback_selector=MessageWindowMessageSelector(2))

    await agent.next_action(context)

    assert [each.text for each in model.requests[0].messages[1:-1]] == [
        message.text for message in HISTORY[-told:]
    ]


@pytest.mark.parametrize(("shows_ledger", "told"), [(True, 1), (False, 0)])
async def test_i08_the_ledger_is_included_by_setting(shows_ledger: bool, told: int) -> None:
    model = ScriptedModel(says("ok"))
    turn = LedgerTurn(first_sequence=2, last_sequence=3, entries=(entry("trains", ""),))
    context = await make_context(history=HISTORY, prompt=[ASK], past_ledger=(turn,))

    await make_agent(model, shows_ledger=shows_ledger).next_action(context)

    texts = [each.text for each in model.requests[0].messages]
    assert sum("## Tool: trains" in text for text in texts) == told
    assert len(texts) == 6 + told


async def test_i10_the_main_agent_sees_calls_within_its_delegations() -> None:
    model = ScriptedModel(says("ok"))
    ledger = [entry("own", ""), entry("inner", "a"), entry("deeper", "a/b")]
    past = LedgerTurn(first_sequence=2, last_sequence=3, entries=(entry("past", "x"),))
    context = await make_context(history=HISTORY, prompt=[ASK], ledger=ledger, past_ledger=(past,))

    await make_agent(model).next_action(context)

    assert tools_told(model) == ["past", "inner", "deeper"]


async def test_i11_a_delegated_agent_sees_the_top_level_and_its_own_calls_only() -> None:
    model = ScriptedModel(says("ok"))
    ledger = [entry("top", ""), entry("own", "a"), entry("below", "a/b"), entry("unrelated", "c")]
    past = LedgerTurn(
        first_sequence=2, last_sequence=3, entries=(entry("past-top", ""), entry("past-x", "x"))
    )
    alone = LedgerTurn(first_sequence=0, last_sequence=1, entries=(entry("past-y", "y"),))
    context = await make_context(
        history=HISTORY,
        prompt=[ASK],
        ledger=ledger,
        past_ledger=(alone, past),
        delegation_id="a",
        task="Find Anna.",
    )

    await make_agent(model).next_action(context)

    assert tools_told(model) == ["past-top", "top", "below"]
    assert model.requests[0].messages[-1].text == f"{TASK_HEADING}\nFind Anna."


async def test_each_request_stores_its_record() -> None:
    context = await make_context(history=HISTORY, prompt=[ASK])
    agent = make_agent(ScriptedModel(PromptTooLong(), says("ok")), name="main")

    await agent.next_action(context)

    whole, half = context.record.prompts
    assert (whole.agent, whole.order, whole.window, whole.room) == ("main", "cached", 8_000, 7_000)
    assert (half.window, half.room) == (8_000, whole.tokens // 2)
    assert half.tokens <= half.room


async def test_the_record_counts_what_the_selector_passed_over_and_no_summary_covers() -> None:
    history = [message(number, f"number {number}") for number in range(-40, -10)]
    agent = make_agent(ScriptedModel(says("ok"), says("ok")))  # it selects ten
    context = await make_context(history=history, prompt=[ASK])
    context.conversation = replace(context.conversation, count=lambda: MessageCount(total=30, uncovered=30))
    whole = await make_context(history=history[:10], prompt=[ASK])
    whole.conversation = replace(whole.conversation, count=lambda: MessageCount(total=10, uncovered=10))

    await agent.next_action(context)
    await agent.next_action(whole)

    assert left_out_of_window(context) == [
        "older part of the conversation, 20 messages: not selected, and no summary tells it"
    ]
    assert left_out_of_window(whole) == []


def left_out_of_window(context: AgentContext) -> list[str]:
    (window,) = [part for part in context.record.prompts[-1].parts if part.part == "window"]
    return [item.why for item in window.left_out]


async def test_a_preview_is_the_next_request_without_sending_it() -> None:
    model = ScriptedModel(says("ok"))
    agent = make_agent(model, add)
    context = await make_context(history=HISTORY, prompt=[ASK], index=MemoryIndex())

    previewed = await agent.preview(context)

    assert (model.requests, context.record.prompts) == ([], [])
    await agent.next_action(context)
    assert model.requests[0].messages == previewed.messages
    assert context.record.prompts == [previewed.record]


async def test_i03_the_size_of_the_next_prompt_is_reported_before_it_is_shortened() -> None:
    context = await make_context(history=HISTORY, prompt=[message(9, "word " * 3_000)])
    agent = make_agent(
        ScriptedModel(says("ok")), limits=PromptLimits(context_window=1_000, answer_tokens=100)
    )

    size = await agent.prompt_size(context)

    assert 3_000 < size.tokens < 3_100
    assert size.older_steps == 0


async def test_i13_unpaired_steps_are_repaired_before_the_request() -> None:
    model = ScriptedModel(says("ok"))
    context = await make_context(prompt=[ASK])
    context.thinking.completed_steps.append(CompletedStep(reply=asks(call("add", call_id="c1")), results=()))

    await make_agent(model, add).next_action(context)

    assert model.requests[0].shown()[-2:] == ["assistant:  add({}) #c1", f"tool #c1: {NO_RESULT}"]


async def test_memory_is_searched_once_in_a_run_and_timed() -> None:
    index = MemoryIndex()
    context = await make_context(history=HISTORY, prompt=[ASK], index=index)
    agent = make_agent(ScriptedModel(says("one"), says("two")))
    timed = sample(RECALL_SECONDS, "mnemogram_recall_seconds_count")

    await agent.next_action(context)
    await agent.next_action(context)

    assert len(index.queries) == 1
    assert sample(RECALL_SECONDS, "mnemogram_recall_seconds_count") == timed + 1


async def test_recalled_messages_are_logged_by_id_and_score_without_text() -> None:
    context = await make_context(history=HISTORY, prompt=[ASK], index=MemoryIndex())

    with capture_logs() as logs:
        await make_agent(ScriptedModel(says("ok")), selector=NoMessages()).next_action(context)

    (recalled,) = [entry for entry in logs if entry["event"] == "recalled"]
    assert (recalled["log_level"], recalled["count"]) == ("info", len(recalled["messages"]))
    assert recalled["messages"][0] == HISTORY[0].id
    assert recalled["scores"] == sorted(recalled["scores"], reverse=True)
    assert "Lisbon" not in str(recalled)


async def test_a_failed_recall_does_not_stop_the_answer_and_is_reported_once() -> None:
    index = MemoryIndex(failure=RecallUnavailable())
    context = await make_context(history=HISTORY[2:], prompt=[ASK], index=index)
    model = ScriptedModel(says("one"), says("two"))
    agent = make_agent(model)
    failures = sample(RECALL_FAILURES, "mnemogram_recall_failures_total")

    with capture_logs() as logs:
        await agent.next_action(context)
        await agent.next_action(context)

    assert [entry["log_level"] for entry in logs if entry["event"] == "recall_unavailable"] == ["warning"]
    assert sample(RECALL_FAILURES, "mnemogram_recall_failures_total") == failures + 1
    assert model.requests[0].shown() == [
        "system: You are a test.",
        "user: the train leaves at nine",
        "assistant: I will remind you.",
        "user: where does my sister Anna live?",
    ]


async def test_m10_a_step_can_be_overridden() -> None:
    class Forgetful(FunctionsBasedAgent):
        async def recall(
            self, context: AgentContext, prompt: Sequence[Message], recent: Sequence[Message]
        ) -> Memories:
            return Memories()

    index = MemoryIndex()
    model = ScriptedModel(says("ok"))
    agent = Forgetful(
        model=model,
        prompt="You are a test.",
        tools=[],
        message_selector=NoMessages(),
        tokenizer=make_agent(model).tokenizer,
        limits=PromptLimits(context_window=1_000, answer_tokens=100),
    )

    await agent.next_action(await make_context(history=HISTORY, prompt=[ASK], index=index))

    assert index.queries == []
    assert model.requests[0].shown() == ["system: You are a test.", f"user: {ASK.text}"]


async def test_an_endpoint_with_a_smaller_window_gets_half_the_prompt_once() -> None:
    long = [message(number, f"{number} " + "word " * 200) for number in range(8)]
    context = await make_context(history=long, prompt=[ASK])
    model = ScriptedModel(PromptTooLong(), says("ok"))

    action = await make_agent(model).next_action(context)

    assert action.text == "ok"
    first, second = (len(request.messages) for request in model.requests)
    assert first == 10
    assert 2 < second <= 6
    assert model.requests[1].messages[-1].text == ASK.text


async def test_an_endpoint_that_refuses_even_half_is_an_error() -> None:
    context = await make_context(prompt=[message(0, "word " * 500)])
    model = ScriptedModel(PromptTooLong(), PromptTooLong())

    with pytest.raises(PromptTooLong):
        await make_agent(model).next_action(context)

    assert len(model.requests) == 2


async def test_a_prompt_fits_the_window_with_room_for_the_answer() -> None:
    context = await make_context(
        history=[message(number, "word " * 100) for number in range(5)],
        prompt=[message(9, "start " + "word " * 3_000 + "end")],
    )
    model = ScriptedModel(says("ok"))
    agent = make_agent(model, add, limits=PromptLimits(context_window=1_000, answer_tokens=400))

    await agent.next_action(context)

    system, prompt = model.requests[0].messages
    assert system.text == "You are a test."
    assert 400 < agent.tokenizer.count(prompt.text) < 600


async def test_t03_the_last_request_has_no_tools() -> None:
    context = await make_context(prompt=[ASK])
    model = ScriptedModel(says("I do not know yet."))

    action = await make_agent(model, add).last_answer(context)

    assert action.text == "I do not know yet."
    assert model.requests[0].tools == ()
    assert model.requests[0].shown() == [
        f"system: You are a test.\n\n{LAST_ANSWER_NOTE}",
        "user: where does my sister Anna live?",
    ]


async def test_a_last_answer_with_a_tool_call_is_no_answer() -> None:
    context = await make_context(prompt=[ASK])

    with pytest.raises(ModelRepliedNothing):
        await make_agent(ScriptedModel(asks(call("add")))).last_answer(context)


async def test_an_empty_reply_is_an_error() -> None:
    context = await make_context(prompt=[ASK])

    with pytest.raises(ModelRepliedNothing):
        await make_agent(ScriptedModel(ModelReply())).next_action(context)


def test_two_tools_cannot_have_one_name() -> None:
    with pytest.raises(ValueError, match="same name"):
        make_agent(ScriptedModel(), add, Tool.from_function(add))


async def test_overheard_talk_is_shown_to_the_active_agent_and_to_no_delegated_one() -> None:
    talk = TalkLine(
        telegram_message_id=4, sender=Sender(id=8, name="Ben"), text="soup at noon", sent_at=FIRST_SECOND
    )

    for path, is_told in (("", True), ("a", False)):
        model = ScriptedModel(says("ok"))
        context = await make_context(prompt=[ASK], talk=(talk,), delegation_id=path)
        await make_agent(model).next_action(context)

        headings = [each.text.partition("\n")[0] for each in model.requests[0].messages]
        assert (TALK_HEADING in headings) == is_told


async def test_pictures_are_sent_with_their_message() -> None:
    image = Image(data=b"x", mime_type="image/png", tokens=85)
    model = ScriptedModel(says("a barn"))
    context = await make_context(prompt=[ASK], images={ASK.id: (image,)})

    await make_agent(model).next_action(context)

    assert [each.images for each in model.requests[0].messages] == [(), (image,)]
