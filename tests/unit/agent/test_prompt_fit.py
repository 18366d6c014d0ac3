"""The order in which parts of a prompt are dropped if it does not fit."""

from dataclasses import replace

import pytest

from bot.agent.actions import CompletedStep, StepDigest, ToolResult
from bot.agent.model import Image, ToolSpec
from bot.agent.prompt.assembly import assemble, measure
from bot.agent.prompt.parts import (
    AssembledPrompt,
    PartName,
    PromptBudget,
    PromptOrder,
    PromptParts,
    RecordItem,
)
from bot.agent.prompt.text import UNSHOWN
from bot.errors import PromptTooLong
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Sender
from memory.history.summary import Summary, SummaryText
from memory.history.talk import TalkLine
from tests.unit.agent.kit import TOKENIZER, asks, call, hit, message, recalls

ADD = ToolSpec(name="add", description="Add two numbers.", parameters={"type": "object", "properties": {}})
SUMMARY = Summary(
    id="s1",
    builds_on="",
    conversation_start=0,
    from_sequence=0,
    upto_sequence=9,
    text=SummaryText(overview="They talk. " * 40),
    tokens=120,
    model="small",
    created_at=1.0,
)


def entry(entry_id: str, *, output: str = "5") -> LedgerEntry:
    return LedgerEntry(id=entry_id, kind="tool", agent="", name="add", input="{}", output=output)


def parts_of(
    *, recalled: int = 2, window: int = 4, result: str = "5", prompt: str = "what is it?", steps: int = 1
) -> PromptParts:
    return PromptParts(
        system="You are a test.",
        tools=(ADD,),
        recalled=recalls(*[hit(message(number, f"recalled {number}")) for number in range(recalled)]),
        window=[message(10 + number, f"said {number}", sequence=10 + number) for number in range(window)],
        prompt=[message(500, prompt)],
        steps=[
            CompletedStep(
                reply=asks(call("add", '{"a": 1}', call_id=f"c{number}")),
                results=(ToolResult(call_id=f"c{number}", name="add", output=result),),
            )
            for number in range(steps)
        ],
    )


def fitted(parts: PromptParts, room: int, *, order: PromptOrder = "described") -> AssembledPrompt:
    budget = PromptBudget(window=room + 100, room=room, order=order)
    return assemble(parts, budget, meter=TOKENIZER)


def size(parts: PromptParts) -> int:
    return measure(parts, meter=TOKENIZER).tokens


def included_ids(prompt: AssembledPrompt, part: PartName) -> list[str]:
    return [item.id for each in prompt.record.parts if each.part == part for item in each.included]


def left_out(prompt: AssembledPrompt, part: PartName) -> list[RecordItem]:
    return [item for each in prompt.record.parts if each.part == part for item in each.left_out]


def texts(prompt: AssembledPrompt, role: str) -> list[str]:
    return [each.text for each in prompt.messages if each.role == role]


def test_a_fitting_prompt_stays_unchanged() -> None:
    parts = parts_of()

    prompt = fitted(parts, size(parts))

    assert prompt.record.tokens == size(parts)
    assert not [item for part in prompt.record.parts for item in part.left_out]


def test_the_lowest_ranked_hit_is_dropped_first() -> None:
    parts = parts_of()

    smaller = fitted(parts, size(parts) - 1)

    assert (
        smaller.messages
        == fitted(replace(parts, recalled=recalls(*parts.recalled.messages[:1])), 10_000).messages
    )
    (item,) = left_out(smaller, "recalled")
    assert (item.id, item.cause) == ("m1", "no_room")
    assert item.why == "no room: the worst hit goes first, it can be searched for again"


def test_a_hit_is_dropped_with_its_neighbours() -> None:
    recalled = [
        hit(message(0, "recalled 0"), after=[message(20, "around 0")]),
        hit(message(1, "recalled 1"), after=[message(21, "around 1"), message(22, "and 1")]),
    ]
    parts = replace(parts_of(), recalled=recalls(*recalled))

    smaller = fitted(parts, size(parts) - 1)

    told = "\n".join(texts(smaller, "user"))
    assert [item.id for item in left_out(smaller, "recalled")] == ["m1"]
    assert ("around 0" in told, "around 1" in told, "and 1" in told) == (True, False, False)


def test_recall_is_dropped_before_the_ledger_and_the_ledger_before_the_window() -> None:
    turns = [
        LedgerTurn(first_sequence=10, last_sequence=11, entries=(entry("e1"),)),
        LedgerTurn(first_sequence=12, last_sequence=13, entries=(entry("e2"),)),
    ]
    parts = replace(parts_of(), ledger=turns)
    without_recall = replace(parts, recalled=recalls())

    without_a_turn = fitted(parts, size(without_recall) - 1)
    without_a_message = fitted(parts, size(replace(without_recall, ledger=())) - 1)

    assert (included_ids(without_a_turn, "recalled"), included_ids(without_a_turn, "ledger")) == ([], ["e2"])
    assert included_ids(without_a_turn, "window") == ["m10", "m11", "m12", "m13"]
    assert (included_ids(without_a_message, "ledger"), included_ids(without_a_message, "window")) == (
        [],
        ["m11", "m12", "m13"],
    )


def test_in_the_cached_order_the_window_shrinks_in_chunks() -> None:
    parts = parts_of(window=90, recalled=0)
    rooms = range(size(parts) - 400, size(parts) + 1)

    starts = [included_ids(fitted(parts, room, order="cached"), "window")[0] for room in rooms]

    assert list(dict.fromkeys(starts)) == ["m80", "m64", "m48", "m32", "m16", "m10"]


def test_the_summary_is_cut_after_the_window_and_before_tool_results() -> None:
    parts = replace(parts_of(result="word " * 100), summary=SUMMARY)
    room = size(replace(parts, recalled=recalls(), window=())) - 20

    smaller = fitted(parts, room)

    assert (included_ids(smaller, "window"), included_ids(smaller, "summary")) == ([], ["s1"])
    summary = next(part for part in smaller.record.parts if part.part == "summary")
    assert summary.included[0].why == "cut in the middle"
    assert texts(smaller, "tool") == ["word " * 100]
    assert room - 3 <= smaller.record.tokens <= room


def test_calls_of_other_agents_are_dropped_before_own_results_are_cut() -> None:
    parts = replace(parts_of(recalled=0, window=0, result="word " * 100), record=[entry("e1"), entry("e2")])

    smaller = fitted(parts, size(parts) - 1)

    assert included_ids(smaller, "record") == ["e2"]
    assert texts(smaller, "tool") == ["word " * 100]


def test_tool_results_are_cut_before_the_user_message_and_the_longest_most() -> None:
    parts = parts_of(result="word " * 400, prompt="please " * 100, steps=2)
    short = replace(parts.steps[1], results=(replace(parts.steps[1].results[0], output="short"),))
    parts = replace(parts, steps=[parts.steps[0], short])

    smaller = fitted(parts, 400)

    assert texts(smaller, "user") == ["please " * 100]
    assert "[…]" in texts(smaller, "tool")[0]
    assert texts(smaller, "tool")[1] == "short"
    assert 380 <= smaller.record.tokens <= 400


def test_the_user_message_loses_its_middle() -> None:
    parts = parts_of(prompt="first " + "word " * 2_000 + "last")

    smaller = fitted(parts, 300)

    (prompt,) = texts(smaller, "user")
    assert prompt.startswith("first ")
    assert prompt.endswith(" last")
    assert "[…]" in prompt
    assert smaller.record.tokens <= 300


def test_the_task_is_cut_after_the_user_message() -> None:
    parts = replace(parts_of(prompt="word " * 500), task="first " + "do it " * 300 + "last")

    smaller = fitted(parts, 300)

    prompt, task = texts(smaller, "user")
    assert TOKENIZER.count(prompt) <= 16
    assert "first " in task
    assert task.endswith(" last")
    assert smaller.record.tokens <= 300


def test_whole_steps_are_dropped_if_their_calls_are_too_long_and_the_digest_before_them() -> None:
    parts = replace(parts_of(steps=41), digest=StepDigest(covers=1, text="It began."))

    smaller = fitted(parts, 300)

    assert included_ids(smaller, "digest") == []
    steps = included_ids(smaller, "steps")
    assert 0 < len(steps) < 40
    assert steps == [f"c{number}" for number in range(41)][-len(steps) :]
    assert smaller.record.tokens <= 300


def test_only_the_newest_of_many_messages_remains_in_the_end() -> None:
    many = [message(500 + number, f"{number} please") for number in range(100)]

    smaller = fitted(replace(parts_of(), prompt=many), 150)

    assert included_ids(smaller, "prompt")[-1] == "m599"
    assert len(included_ids(smaller, "prompt")) < 100
    assert smaller.record.tokens <= 150


def test_a_system_prompt_that_leaves_no_room_is_an_error() -> None:
    parts = replace(parts_of(), system="word " * 1_000)

    with pytest.raises(PromptTooLong):
        fitted(parts, 500)


def test_the_oldest_talk_is_dropped_before_the_ledger_and_the_window() -> None:
    talk = [
        TalkLine(telegram_message_id=n, sender=Sender(id=1, name="Ben"), text=f"talk {n}", sent_at=n)
        for n in range(3)
    ]
    parts = replace(parts_of(recalled=0), talk=talk)

    prompt = fitted(parts, size(parts) - 1)

    assert included_ids(prompt, "talk") == ["talk:1", "talk:2"]
    assert (
        left_out(prompt, "talk")[0].why == "no room: the oldest line goes first, it was not said to the bot"
    )
    assert len(included_ids(prompt, "window")) == 4


def test_images_are_dropped_before_their_text_with_a_remark() -> None:
    image = Image(data=b"x", mime_type="image/png", tokens=500)
    parts = replace(parts_of(recalled=0, window=0), images={"m500": (image, image)})

    prompt = fitted(parts, size(parts) - 1)

    (told,) = texts(prompt, "user")
    assert told == f"what is it?\n{UNSHOWN}"
    assert not any(message.images for message in prompt.messages)
    (part,) = [part for part in prompt.record.parts if part.part == "prompt"]
    assert [item.why for item in part.included] == ["without its 2 images: no room"]


def test_joined_messages_are_dropped_together() -> None:
    window = [
        message(10, "said 0", sequence=10),
        replace(message(11, "and 1", sequence=11), continues="bundle"),
        message(12, "said 2", sequence=12),
    ]
    parts = replace(parts_of(recalled=0), window=window)

    prompt = fitted(parts, size(parts) - 1)

    assert included_ids(prompt, "window") == ["m12"]
    assert [item.id for item in left_out(prompt, "window")] == ["m10", "m11"]
