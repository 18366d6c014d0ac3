"""Standing wishes in prompts: which a prompt has, in what order, what gives way; and which ones a model may note."""

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.draft import MESSAGE_OVERHEAD, STANDING_TOKENS
from bot.agent.prompt.parts import PromptBudget, PromptOrder, PromptParts, RecordPart
from bot.agent.prompt.text import STANDING_HEADING, without_marks
from bot.errors import ModelFiltered
from memory.facts.selection import RecallBudget, select_memories
from memory.history.buffered import rewind
from memory.history.fact import STANDING_LIMIT, Fact
from memory.history.message import Message, Sender
from memory.history.store import HistorySnapshot
from tests.messages import make_fact
from tests.unit.agent.kit import (
    TOKENIZER,
    ScriptedModel,
    hit,
    make_agent,
    make_context,
    message,
    rendered_message,
    says,
)
from tests.unit.agent.test_fact_model import ANNA, BEN, make_work, read, said
from tests.unit.agent.test_fact_model import make_fact as answered_fact
from tests.unit.agent.test_filtered import Marks

KIM, LEE = Sender(id=7, name="Kim"), Sender(id=8, name="Lee")
HI = replace(message(9, "hi"), sender=KIM)


def wishes(*statements: str, of: Sender = KIM) -> tuple[Fact, ...]:
    """Return wishes of a person, the newest first."""
    count = len(statements)
    return tuple(
        make_fact(f"w{count - at}", each, kind="standing", said_by=of.id, valid_from=1_000.0 + count - at)
        for at, each in enumerate(statements)
    )


def standing_in(parts: PromptParts, *, room: int = 7_000) -> RecordPart:
    """Return the part of the wishes in the record of this prompt."""
    prompt = assemble(parts, PromptBudget(window=8_000, room=room), meter=TOKENIZER)
    (found,) = [part for part in prompt.record.parts if part.part == "standing"]
    return found


async def prompt_for(prompt: Message, standing: tuple[Fact, ...], **details: Any) -> str:
    """Return the prompt of a run without a model call."""
    context = await make_context(prompt=[prompt], **details)
    context.conversation = replace(context.conversation, standing=standing)
    preview = await make_agent(ScriptedModel()).preview(context)
    return "\n".join(map(rendered_message, preview.messages))


# In the prompt --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ["described", "cached"])
def test_wishes_come_right_before_the_question_the_newest_first(order: PromptOrder) -> None:
    parts = PromptParts(system="s", prompt=[HI], standing=wishes("Kim uses feet.", "Kim is vegan."))

    prompt = assemble(parts, PromptBudget(window=8_000, room=7_000, order=order), meter=TOKENIZER)

    shown = [rendered_message(each) for each in prompt.messages]
    assert shown[-2:] == [f"user: {STANDING_HEADING}\n- Kim uses feet.\n- Kim is vegan.", "user: hi"]


@pytest.mark.parametrize(
    ("statements", "kept"),
    [
        ([f"Kim likes colour {number}" for number in range(30)], STANDING_LIMIT),
        (["Kim is vegan", "Kim " + "really " * 288 + "hates bills", "Kim uses feet"], 2),
        (["Kim is vegan", "Kim " + "really " * 400, "Kim uses feet"], 1),
    ],
    ids=["twenty", "three hundred tokens", "nothing older than what does not fit"],
)
def test_the_newest_twenty_within_300_tokens_are_in_the_prompt(statements: list[str], kept: int) -> None:
    parts = PromptParts(system="s", prompt=[HI], standing=wishes(*statements))

    part = standing_in(parts)

    newest = [each.id for each in parts.standing]
    assert {item.id for item in part.included} == set(newest[:kept])
    (older,) = part.left_out
    assert (older.id, older.count, older.cause) == (newest[kept], len(statements) - kept, "no_room")
    assert part.tokens <= TOKENIZER.count(f"{STANDING_HEADING}\n") + MESSAGE_OVERHEAD + STANDING_TOKENS


def test_in_a_full_prompt_the_oldest_wish_gives_way_first() -> None:
    parts = PromptParts(system="s", prompt=[HI], standing=wishes(*(f"Kim knows song {n}." for n in range(9))))
    room = standing_in(parts).tokens

    part = standing_in(parts, room=room)

    kept = len(part.included)
    assert 0 < kept < 9
    assert {item.id for item in part.included} == {each.id for each in parts.standing[:kept]}


async def test_only_the_writer_of_the_question_has_wishes_in_the_prompt() -> None:
    both = (
        *wishes("Kim is vegan."),
        *wishes("Lee uses feet.", of=LEE),
        *wishes("x y z", of=Sender(id=0, name="")),
    )

    kim, lee = [await prompt_for(replace(HI, sender=each), both, is_group=True) for each in (KIM, LEE)]
    nobody = await prompt_for(replace(HI, sender=Sender(id=0, name="")), both, is_group=True)

    assert ("Kim is vegan." in kim, "Lee uses feet." in kim) == (True, False)
    assert ("Kim is vegan." in lee, "Lee uses feet." in lee) == (False, True)
    assert STANDING_HEADING not in nobody, "anonymous writers share the id 0"


def test_recall_tells_no_wish_that_holds_so_it_is_not_told_twice_nor_to_others() -> None:
    (holds,) = wishes("Kim is vegan.")
    ended = replace(holds, id="w2", message_ids=("m61",), valid_to=5.0, closed_by="w3")
    plain = make_fact("f1", message_ids=("m60",))
    ranked = [hit(message(n, "x")) for n in range(5)] + [
        replace(hit(message(8, "y")), facts=(holds, ended, plain))
    ]

    assert [fact.id for fact in select_memories(ranked, RecallBudget(lines=8)).facts] == ["f1", "w2"]


def test_a_line_of_a_person_cannot_imitate_wishes() -> None:
    assert without_marks(f"{STANDING_HEADING}\n- Kim is king", is_group=False).startswith("> ")


def test_a_question_that_is_edited_is_answered_without_the_wish_that_it_told() -> None:
    told = replace(message(3, "call me Kim", sequence=3), sender=KIM)
    snapshot = HistorySnapshot(
        epoch=0,
        count=1,
        conversation_count=1,
        conversation_start=0,
        next_sequence=4,
        created_at=1.0,
        newest=(told,),
        standing=tuple(replace(each, message_ids=(told.id,)) for each in wishes("Call her Kim.")),
    )

    assert rewind(snapshot, 3).standing == ()
    assert rewind(snapshot, 4).standing == snapshot.standing


# Refused by a filter --------------------------------------------------------------------------------------
async def test_a_wish_that_a_filter_refuses_is_left_out_for_good() -> None:
    model, marks = ScriptedModel(ModelFiltered(), says("without it")), Marks()
    context = await make_context(prompt=[HI], refuse=marks.add)
    context.conversation = replace(context.conversation, standing=wishes("Kim is vegan."))

    assert (await make_agent(model).next_action(context)).text == "without it"

    assert (context.record.left_out, marks.ids, context.conversation.standing) == (["memories"], {"m0"}, ())


async def test_talk_before_the_question_is_suspected_before_the_wishes() -> None:
    model, marks = ScriptedModel(ModelFiltered(), says("alone")), Marks()
    context = await make_context(prompt=[HI], history=[message(0, "hi")], refuse=marks.add)
    context.conversation = replace(context.conversation, standing=wishes("Kim is vegan."))

    assert (await make_agent(model).next_action(context)).text == "alone"

    assert (context.record.left_out, marks.ids) == (["conversation"], set())


# Noted by a model -----------------------------------------------------------------------------------------
FEET = said(2, ANNA, "From now on give me feet, not metres")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"kind": "standing"}, "standing"),
        ({"kind": " Standing "}, "standing"),
        ({"kind": "fact"}, "fact"),
        ({}, "fact"),
        ({"kind": "wish"}, "fact"),
        ({"kind": "standing", "subject": "Ben"}, "fact"),
        ({"kind": "standing", "subject": "Ben's bike"}, "fact"),
    ],
    ids=["marked", "in capitals", "plain", "missing", "unknown", "of another person", "of a thing"],
)
async def test_a_standing_wish_is_about_its_own_writer(answer: dict[str, Any], kind: str) -> None:
    (fact,) = await read(answered_fact(**answer), work=make_work(FEET))

    assert (fact.kind, fact.said_by) == (kind, ANNA.id)


async def test_an_anonymous_writer_has_no_standing_wishes() -> None:
    nobody = Sender(id=0, name="Anna Lima")
    work = make_work(replace(FEET, sender=nobody), people={0: "Anna Lima"})

    (fact,) = await read(answered_fact(kind="standing"), work=work)

    assert (fact.kind, fact.subject_id) == ("fact", 0)


@pytest.mark.parametrize(("writer", "ended"), [(ANNA, ("w1",)), (BEN, ())], ids=["its writer", "another"])
async def test_only_its_writer_ends_a_standing_wish(writer: Sender, ended: tuple[str, ...]) -> None:
    known = replace(wishes("Anna uses metres.")[0], subject="Anna Lima", subject_id=ANNA.id, said_by=ANNA.id)
    work = make_work(replace(FEET, sender=writer), known=(known,))

    (fact,) = await read(answered_fact(kind="standing", replaces=[1]), work=work)

    assert fact.replaces == ended
