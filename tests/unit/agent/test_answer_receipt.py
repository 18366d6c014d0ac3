"""Receipts of answers, as runs with scripted models make them."""

import json
from dataclasses import replace

from bot.agent.context import AgentContext, MessageCount
from bot.agent.functions_based import PromptLimits
from bot.agent.model import Usage
from bot.turn.answer_receipt import (
    FACTS_AT_MOST,
    RECALLED_AT_MOST,
    TOOLS_AT_MOST,
    AnswerReceipt,
    CalledTool,
    LeftOutOfPart,
    RecalledMessage,
    make_receipt,
    tokens_by_model,
)
from memory.codec import dump_json
from memory.facts.selection import Memories
from memory.recall.excerpts import excerpt_of, read_question
from tests.messages import make_fact
from tests.unit.agent.kit import (
    DictJournal,
    ScriptedModel,
    asks,
    call,
    hit,
    make_agent,
    make_context,
    message,
    run_alone,
    says,
)

ASK = message(9, "when?")


def noon() -> str:
    """The time."""
    return "noon"


def receipt_of(context: AgentContext, *, agent: str = "", micros: int | None = None) -> AnswerReceipt:
    made = make_receipt(context, agent=agent, message_id="a1", at=5.0, micros=micros)
    return replace(made, tools=tuple(replace(each, seconds=0.0) for each in made.tools))


async def test_a_receipt_names_hits_models_tools_and_costs() -> None:
    context = await make_context(history=[message(0, "hello"), message(1, "tea?")], prompt=[ASK])
    agent = make_agent(ScriptedModel(asks(call("noon")), asks(call("invented")), says("At noon.")), noon)

    await run_alone(agent, context, journal=DictJournal())
    found = replace(hit(message(50, "at noon")), reasons=("words", "date"))
    context.thinking.recalled = Memories(messages=(found,))  # a run begins without hits

    last = context.record.prompts[-1]
    assert receipt_of(context, micros=12) == AnswerReceipt(
        message_id="a1",
        at=5.0,
        models=(Usage(model="scripted", prompt_tokens=30, completion_tokens=6),),
        micros=12,
        prompt_tokens=last.tokens,
        room=7_000,
        recalled=(RecalledMessage(message_id="m50", reasons=("words", "date")),),
        window_messages=2,
        tools=(CalledTool(name="noon", outcome="ok"), CalledTool(name="unknown", outcome="error")),
    )


async def test_a_receipt_says_what_did_not_fit_and_what_was_not_selected() -> None:
    long = " ".join(["kettle"] * 60)
    context = await make_context(
        history=[message(number, f"{number} {long}") for number in range(6)], prompt=[ASK]
    )
    context = replace(context, conversation=replace(context.conversation, count=_ten))
    found = (hit(message(50, long)), hit(message(1, "in the window too")))
    context.thinking.recalled = Memories(messages=found)
    limits = PromptLimits(context_window=600, answer_tokens=300)

    await make_agent(ScriptedModel(says("ok")), limits=limits).next_action(context)

    receipt = receipt_of(context)
    assert receipt.recalled == (
        RecalledMessage(message_id="m50", left_out="no_room"),
        RecalledMessage(message_id="m1", left_out="repeated"),
    )
    shown = receipt.window_messages
    assert 0 < shown < 6
    assert receipt.window_left_out == 10 - shown
    assert receipt.left_out == (
        LeftOutOfPart(part="window", count=4, why="not_selected"),
        LeftOutOfPart(part="window", count=6 - shown, why="no_room"),
        LeftOutOfPart(part="recalled", count=1, why="no_room"),
    ), "a message that stands elsewhere in the prompt is not missing"
    assert receipt.prompt_tokens <= receipt.room == 300


def _ten() -> MessageCount:
    return MessageCount(total=10, uncovered=10)


async def test_a_receipt_has_the_first_of_many_hits_and_calls_and_counts_the_others() -> None:
    context = await make_context(prompt=[ASK])
    calls = [call("noon", call_id=f"c{number}") for number in range(15)]
    agent = make_agent(ScriptedModel(asks(*calls), says("At noon.")), noon)

    await run_alone(agent, context, journal=DictJournal())
    context.thinking.recalled = Memories(messages=tuple(hit(message(n, "hit")) for n in range(20, 80)))

    receipt = receipt_of(context)
    assert (len(receipt.recalled), receipt.more_recalled) == (RECALLED_AT_MOST, 60 - RECALLED_AT_MOST)
    assert (len(receipt.tools), receipt.more_tools) == (TOOLS_AT_MOST, 15 - TOOLS_AT_MOST)
    assert receipt.recalled[0].message_id == "m20", "the best"


async def test_a_receipt_names_the_best_facts_that_the_prompt_tells() -> None:
    context = await make_context(prompt=[ASK])
    facts = [
        make_fact(f"f{number}", message_ids=(f"m{100 + number}",)) for number in range(FACTS_AT_MOST + 2)
    ]
    facts[1] = make_fact("f1", message_ids=(ASK.id,))
    context.thinking.recalled = Memories(messages=(hit(message(50, "noon")),), facts=tuple(facts))

    await make_agent(ScriptedModel(says("ok"))).next_action(context)

    told = ("f0", *(f"f{number}" for number in range(2, FACTS_AT_MOST + 1)))
    assert receipt_of(context).facts == told, "f1 stands in the prompt as a message"


async def test_a_receipt_has_the_places_of_an_excerpt_and_no_word_of_it() -> None:
    text = f"Hello! {'Well, so it goes. ' * 40}The kettle is red. {'So it goes. ' * 40}"
    found = message(50, text)
    excerpt = excerpt_of(found, read_question("which kettle is red?"))
    context = await make_context(prompt=[ASK])
    context.thinking.recalled = Memories(messages=(replace(hit(found), excerpt=excerpt),))

    await make_agent(model := ScriptedModel(says("ok"))).next_action(context)

    receipt = receipt_of(context)
    (recalled,) = receipt.recalled
    told = recalled.tell(found, at=receipt.at).text
    assert "The kettle is red." in told
    assert json.dumps(told, ensure_ascii=False) in model.requests[0].shown()[1]
    assert "kettle" not in dump_json(AnswerReceipt, receipt)
    edited = replace(found, text="another text", edited_at=receipt.at + 1)
    assert recalled.tell(edited, at=receipt.at) == edited, "places in an earlier text mean nothing"


async def test_a_receipt_describes_the_prompt_of_the_agent_that_answers() -> None:
    context = await make_context(prompt=[ASK])
    agent = make_agent(ScriptedModel(says("ok"), says("ok")), name="desk")
    await run_alone(agent, context, journal=DictJournal())
    other = make_agent(ScriptedModel(says("ok")), name="researcher")
    await other.chat(context, replace(await other.gather(context), system="long " * 200))

    desk, researcher = context.record.prompts
    assert receipt_of(context, agent="desk").prompt_tokens == desk.tokens != researcher.tokens
    assert receipt_of(context, agent="nobody").prompt_tokens == 0, "no prompt of this agent was made"


def test_tokens_are_summed_by_model_in_the_order_of_the_first_calls() -> None:
    usages = [
        Usage(prompt_tokens=1, completion_tokens=2, model="large"),
        Usage(prompt_tokens=10, completion_tokens=20, model="small"),
        Usage(prompt_tokens=3, completion_tokens=4, model="large"),
    ]
    assert tokens_by_model(usages) == (
        Usage(model="large", prompt_tokens=4, completion_tokens=6),
        Usage(model="small", prompt_tokens=10, completion_tokens=20),
    )
    assert tokens_by_model([]) == ()
