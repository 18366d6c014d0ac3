"""What goes first when a prompt does not fit, and that what is left is always a valid request."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.actions import CompletedStep, ToolResult
from bot.agent.model import PromptMessage, ToolCall, ToolSpec
from bot.agent.prompt import PromptDraft, RecalledLine, draft_prompt
from bot.agent.prompt_fit import fit, measure
from bot.errors import PromptTooLong
from tests.unit.agent.kit import TOKENIZER, asks, call, message

ADD = ToolSpec(name="add", description="Add two numbers.", parameters={"type": "object", "properties": {}})


def draft_of(
    *, recalled: int = 2, window: int = 4, result: str = "5", prompt: str = "what is it?", steps: int = 1
) -> PromptDraft:
    done = [
        CompletedStep(
            reply=asks(call("add", '{"a": 1}', call_id=f"c{number}")),
            results=(ToolResult(call_id=f"c{number}", name="add", output=result),),
        )
        for number in range(steps)
    ]
    return draft_prompt(
        system="You are a test.",
        recalled=[message(number, f"recalled {number}") for number in range(recalled)],
        window=[message(10 + number, f"said {number}") for number in range(window)],
        prompt=[message(50, prompt)],
        steps=done,
        is_group=False,
    )


def fitted(draft: PromptDraft, room: int) -> PromptDraft:
    return fit(draft, [ADD], meter=TOKENIZER, room=room)


def size(draft: PromptDraft) -> int:
    return measure(draft, [ADD], TOKENIZER)


def test_a_prompt_that_fits_is_left_alone() -> None:
    draft = draft_of()

    assert fitted(draft, size(draft)) is draft


def test_the_worst_hit_of_recall_goes_first() -> None:
    draft = draft_of()

    smaller = fitted(draft, size(draft) - 1)

    assert smaller == replace(draft, recalled=draft.recalled[:1])


def test_all_of_recall_goes_before_the_oldest_of_the_window() -> None:
    draft = draft_of()

    smaller = fitted(draft, size(replace(draft, recalled=())) - 1)

    assert smaller == replace(draft, recalled=(), window=draft.window[1:])


def test_tool_results_are_cut_before_the_users_message_and_the_longest_most() -> None:
    draft = draft_of(result="word " * 400, prompt="please " * 100)
    short = draft.steps[0][0], replace(draft.steps[0][1], text="short")
    draft = replace(draft, steps=(*draft.steps, short))

    smaller = fitted(draft, 400)

    assert smaller.prompt == draft.prompt
    assert smaller.steps[1] == short
    assert "[…]" in smaller.steps[0][1].text
    assert 380 <= size(smaller) <= 400


def test_the_users_message_is_cut_in_the_middle_and_keeps_both_ends() -> None:
    draft = draft_of(prompt="first " + "word " * 2_000 + "last")

    smaller = fitted(draft, 300)

    assert smaller.prompt[0].text.startswith("first ")
    assert smaller.prompt[0].text.endswith(" last")
    assert "[…]" in smaller.prompt[0].text
    assert size(smaller) <= 300


def test_whole_steps_go_when_their_calls_alone_are_too_long() -> None:
    draft = draft_of(steps=40)

    smaller = fitted(draft, 300)

    assert 0 < len(smaller.steps) < 40
    assert smaller.steps == draft.steps[-len(smaller.steps) :]
    assert size(smaller) <= 300


def test_a_system_prompt_that_leaves_no_room_is_an_error() -> None:
    draft = replace(draft_of(), system="word " * 1_000)

    with pytest.raises(PromptTooLong):
        fitted(draft, 500)


texts = st.text(max_size=120) | st.integers(1, 900).map(lambda count: "word " * count)
spoken = st.builds(PromptMessage, role=st.sampled_from(["user", "assistant"]), text=texts)


@st.composite
def steps_of_calls(draw: st.DrawFn) -> tuple[PromptMessage, ...]:
    arguments = draw(st.lists(texts, min_size=1, max_size=3))
    calls = tuple(ToolCall(id=f"c{n}", name="add", arguments=each) for n, each in enumerate(arguments))
    results = (PromptMessage(role="tool", text=draw(texts), tool_call_id=each.id) for each in calls)
    return (PromptMessage(role="assistant", text=draw(texts), tool_calls=calls), *results)


drafts = st.builds(
    PromptDraft,
    system=st.just("You are a test."),
    recalled=st.lists(st.builds(RecalledLine, sent_at=st.just(0.0), line=texts), max_size=3).map(tuple),
    window=st.lists(spoken, max_size=6).map(tuple),
    prompt=st.lists(st.builds(PromptMessage, role=st.just("user"), text=texts), min_size=1, max_size=3).map(
        tuple
    ),
    steps=st.lists(steps_of_calls(), max_size=3).map(tuple),
)


@given(drafts, st.integers(min_value=80, max_value=3_000))
def test_every_prompt_fits_its_room_and_stays_a_valid_request(draft: PromptDraft, room: int) -> None:
    smaller = fitted(draft, room)

    assert size(smaller) <= room
    messages = smaller.messages()
    assert messages[0] == PromptMessage(role="system", text="You are a test.")
    assert len(smaller.prompt) >= 1
    assert smaller.window == draft.window[len(draft.window) - len(smaller.window) :]
    expected: list[str] = []
    for each in messages:
        if each.role == "tool":
            assert each.tool_call_id == expected.pop(0)
        else:
            assert expected == []
            expected = [asked.id for asked in each.tool_calls]
    assert expected == []
