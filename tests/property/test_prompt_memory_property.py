"""The library's prompt memory fits any number of tokens, in both forms, and has no hole."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.chat_history import ChatHistory
from memory.history.message import render_message
from memory.history.summary import Summary
from memory.prompt_memory import RECALLED_HEADING, SUMMARY_HEADING, WINDOW_HEADING, gather
from memory.recall.vector_index import Where
from memory.tokens import Tokenizer
from tests.contract.memory_kit import make_summary
from tests.fakes.history import InMemoryHistory
from tests.messages import make_message, make_ref

TOKENIZER = Tokenizer(encoding="o200k_base")
REF = make_ref()

texts = st.one_of(
    st.text(min_size=1, max_size=80),
    st.sampled_from(
        [
            "hello",
            '"quoted"\n\n',
            WINDOW_HEADING,
            RECALLED_HEADING,
            "!" * 300,
            "Привет, мир! " * 40,
            "a b " * 500,
        ]
    ),
).filter(lambda text: bool(text.strip()))


def open_chat(store: InMemoryHistory) -> ChatHistory:
    new_id: Any = iter(range(1_000)).__next__
    return ChatHistory(
        ref=REF,
        epoch=0,
        store=store,
        recall=None,
        tokenizer=TOKENIZER,
        clock=lambda: 1000.5,
        new_id=lambda: f"n{new_id()}",
    )


@given(
    said=st.lists(texts, max_size=12),
    tokens=st.integers(1, 400),
    overview=st.none() | st.text(max_size=400),
    upto=st.integers(0, 5),
)
def test_both_forms_fit_and_the_window_is_the_end_of_the_conversation(
    said: list[str], tokens: int, overview: str | None, upto: int
) -> None:
    messages = [make_message(f"m{n}", text, role=("user", "assistant")[n % 2]) for n, text in enumerate(said)]
    store = InMemoryHistory()
    summary: Summary | None = None if overview is None else make_summary("s", upto=upto, overview=overview)

    async def run() -> Any:
        await store.append(REF, messages, epoch=0)
        return await gather(open_chat(store), summary, "what?", tokens=tokens, k=8, where=Where())

    memory = asyncio.run(run())

    assert TOKENIZER.count(memory.text) <= tokens
    assert sum(TOKENIZER.count(each["content"]) + 4 for each in memory.messages) <= tokens
    covered = upto if memory.summary else -1
    rest = [message.id for message in messages if int(message.id[1:]) > covered]
    assert [message.id for message in memory.window] == rest[len(rest) - len(memory.window) :]
    assert (SUMMARY_HEADING in memory.text.splitlines()) == bool(memory.summary)
    window = memory.messages[len(memory.messages) - len(memory.window) :]
    assert [each["content"] for each in window] == [render_message(each) for each in memory.window]
    # Each line of the text is a heading, a line of the summary, or a whole message.
    lines = memory.text.split("\n")
    assert (
        len(lines)
        == (
            bool(memory.text) * (0 if memory.window or memory.summary else 1)
            + (1 + len(memory.summary.split("\n")) if memory.summary else 0)
            + (1 + len(memory.window) if memory.window else 0)
        )
        or not memory.text
    )


def test_what_fits_whole_is_whole() -> None:
    store = InMemoryHistory()

    async def run() -> Any:
        await store.append(REF, [make_message(f"m{n}", f"text {n}") for n in range(300)], epoch=0)
        return await gather(open_chat(store), None, "what?", tokens=100_000, k=8, where=Where())

    assert len(asyncio.run(run()).window) == 300
