"""Thoughts and calls in the text of a reply, in pieces of every size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.thoughts import AnswerText

HARMONY = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Paris"


def read(text: str, size: int = 1_000) -> AnswerText:
    answer = AnswerText()
    for at in range(0, len(text), size):
        answer.add(text[at : at + size])
    answer.finish()
    return answer


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>It is France.</think>Paris.", "Paris."),
        ("<think>\nFrance\n\nParis?\n</think>\n\nParis.", "Paris."),
        ("\n<think>hm</think>Paris.", "Paris."),
        ("<THINKING>hm</THINKING>Paris.", "Paris."),
        ("<thought>hm</thought>Paris.", "Paris."),
        ("<reasoning>hm</reasoning>\nParis.", "Paris."),
        ("<mm:think>hm</mm:think>Paris.", "Paris."),
        ('<think duration="3">hm</think>Paris.', "Paris."),
        ("[THINK]hm[/THINK]Paris.", "Paris."),
        ("◁think▷hm◁/think▷Paris.", "Paris."),
        (HARMONY, "Paris"),
        ("<think>hm</think>It is <think>no</think>Paris.", "It is Paris."),
        ("It is\n<think>wait</think>\nParis.", "It is\n\nParis."),
        ("Sure.<think>hm</think> Paris.", "Sure. Paris."),
        ("<think>It never ends", ""),
        ("I should say Paris.</think>Paris.", "Paris."),
        ("I should say Paris.\n</think>\n\nParis.", "Paris."),
        ("</think>Paris.", "Paris."),
        ("Hello</think>", "Hello"),
        ("<|channel>thought\nhm<channel|>Paris.", "Paris."),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Paris.<|END_RESPONSE|>", "Paris."),
        ("<unused94>thought\nhm<unused95>Paris.", "Paris."),
        ("<|think|>hm<|/think|>Paris.", "Paris."),
        ("<longcat_think>hm</longcat_think>Paris.", "Paris."),
        ("<scratchpad>hm</scratchpad>\nParis.", "Paris."),
        ("[thinking]hm[/thinking]Paris.", "Paris."),
        ("<think>hm</think><answer>Paris.</answer>", "Paris."),
        ("<think>It ends with `</think>`, I think.</think>Paris.", "Paris."),
        ("<|start|>assistant<|channel|>analysis<|message|>hm<|end|>Paris.", "Paris."),
        ("Paris.<|endoftext|>", "Paris."),
        ('<think>"Capital" means a city.</think>Paris.', "Paris."),
        ("<think>`x` is a city</think>Paris.", "Paris."),
        # GLM-V#79, omlx#1087, vllm#32587
        ("It is <|begin_of_box|>Paris<|end_of_box|>.<eos>", "It is Paris."),
        ("Paris.<|user|>", "Paris."),
        ("<|channel|>final <|constrain|>json<|message|>Paris<|end|>", "Paris"),
        # textgen#7374, macprovider#743
        ('analysisWe need "the" city.assistantfinalParis.', "Paris."),
        ("<|inner_prefix|>hm<|inner_suffix|>Paris.", "Paris."),
        ("<think:opensource>hm</think:opensource>Paris.", "Paris."),
        ("<|begin_of_thinking|>hm<|end_of_thinking|>Paris.", "Paris."),
        ("Paris.<|im_end|>\n<|im_start|>user\nAnd Rome?<|im_end|>", "Paris."),
        ("Paris.<|user|>And Rome?", "Paris."),
        ("Paris.<|eot|>", "Paris."),
        ("Paris.<\uff5cend▁of▁sentence\uff5c>", "Paris."),
    ],
)
def test_thoughts_are_left_out(text: str, shown: str) -> None:
    sizes = [1, 2, 3, 7, 12, 1_000]

    assert {size: read(text, size).text() for size in sizes} == dict.fromkeys(sizes, shown)


@pytest.mark.parametrize(
    "text",
    [
        "Use the <think> tag for it.",
        "A turn begins with <|user|> or <|assistant|> there.",
        "R1 writes <think> before and </think> after its thoughts.",
        "Its thoughts end with </think>, as you see.",
        "Write `<think>` and `</think>` around it.",
        "```xml\n<think>hm</think>\n```\nThat is the form.",
        "~~~\n<think>\n~~~",
        'The tag "<think>" comes first.',
        "<think> is a tag of reasoning models.",
        "- <think>: begins\n- </think>: ends",
        "It wraps them in <think>...</think> tags.",
        "**<think>** opens. **</think>** closes.",
        "1. <think> opens a thought\n2. </think> closes it\nDone.",
        "Qwen has two tags: <think> for opening and </think> for closing.",
        "In Java, List<Thought> is generic. Vec<Thinking> is Rust's.",
        "<answer>is a tag of mine</answer>",
        "Is 3 < 4 and 5 > 4? [see 1] <b>yes</b>",
        "It ends with <",
        "It ends with [TOOL",
        "  Two blanks before, and after.  ",
        "analysis",
        "analysis of the text: it ends with assistantfinal",
        "analysisReport is a class",
        "an answer",
    ],
)
def test_a_text_about_tags_stays_as_it_is(text: str) -> None:
    sizes = [1, 3, 1_000]

    assert {size: read(text, size).text() for size in sizes} == dict.fromkeys(sizes, text)


def test_nothing_of_a_thought_is_shown_while_it_grows() -> None:
    answer, shown = AnswerText(), list[str]()

    for piece in ("Su", "re.<th", "ink", ">I sho", "uld</thi", "nk>Par", "is."):
        answer.add(piece)
        shown.append(answer.text())

    assert shown[:5] == ["Su", "Sure.", "Sure.", "Sure.", "Sure."]


def test_a_model_whose_thoughts_have_only_an_end_shows_nothing_before_it() -> None:
    first = read("hm</think>Paris.")
    assert first.has_end_alone

    later = AnswerText(begins_inside=True)
    later.add("I should say")
    assert later.text() == ""
    later.add(" Rome.</think>Rome.")
    later.finish()
    assert (later.text(), later.has_end_alone) == ("Rome.", True)

    without = AnswerText(begins_inside=True)
    without.add("Rome.")
    without.finish()
    assert (without.text(), without.has_end_alone) == ("Rome.", False)


@pytest.mark.parametrize(
    "call",
    [
        '<tool_call>\n{"name": "add"}\n</tool_call>',
        "<function=add>{}</function>",
        '[TOOL_CALLS][{"name": "add"}]',
        '<|python_tag|>{"name": "add"}',
        "<minimax:tool_call><invoke></invoke></minimax:tool_call>",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_call_that_is_written_as_text_is_set_apart(call: str, size: int) -> None:
    answer = read(f"I will add.\n{call}", size)

    assert answer.text() == "I will add.\n"
    assert answer.calls() == [call]


@given(st.text(alphabet="<>/think `\n.[]|ab"), st.integers(1, 9))
def test_pieces_of_every_size_give_the_same_text(text: str, size: int) -> None:
    assert read(text, size).text() == read(text).text()
