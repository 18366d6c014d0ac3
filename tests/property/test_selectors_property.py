"""For any history, a window is the largest suffix of the conversation that its limit allows."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memory.history.message import CONVERSATION_ROLES, Message, Role
from memory.history.selectors import MessageWindowMessageSelector, TokenWindowMessageSelector, chunk_start
from tests.messages import WordTokenizer, make_message, newest_of

_ROLES: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "system", "tool"])
_TEXTS = st.lists(st.sampled_from(["one", "two", "three"]), max_size=12).map(" ".join)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    drawn = draw(st.lists(st.tuples(_ROLES, _TEXTS), max_size=12))
    return [make_message(f"m{number}", text, role=role) for number, (role, text) in enumerate(drawn)]


def conversation(history: list[Message]) -> list[Message]:
    return [message for message in history if message.role in CONVERSATION_ROLES]


@given(histories(), st.integers(min_value=0, max_value=15))
async def test_m07_a_window_has_n_messages_or_all(history: list[Message], n: int) -> None:
    chosen = await MessageWindowMessageSelector(n).select(newest_of(history))
    talk = conversation(history)
    assert chosen == talk[max(len(talk) - n, 0) :]


@given(histories(), st.integers(min_value=0, max_value=60))
async def test_m08_a_window_is_the_largest_suffix_that_fits(history: list[Message], max_tokens: int) -> None:
    tokenizer = WordTokenizer()
    chosen = await TokenWindowMessageSelector(max_tokens, tokenizer).select(newest_of(history))
    talk = conversation(history)
    assert sum(tokenizer.count(message.text) for message in chosen) <= max_tokens
    if [message.id for message in chosen] == [message.id for message in talk[len(talk) - len(chosen) :]]:
        rest = talk[: len(talk) - len(chosen)]
        is_cut = chosen != talk[len(talk) - len(chosen) :]
        room = max_tokens - sum(tokenizer.count(message.text) for message in chosen)
        assert is_cut or not rest or max_tokens == 0 or tokenizer.count(rest[-1].text) > room
    else:
        raise AssertionError("the window has a hole or is out of order")


@given(histories(), st.integers(min_value=1, max_value=60))
async def test_m08_a_window_of_a_conversation_is_never_empty(history: list[Message], max_tokens: int) -> None:
    chosen = await TokenWindowMessageSelector(max_tokens, WordTokenizer()).select(newest_of(history))
    assert bool(chosen) == bool(conversation(history))


@given(histories(), st.integers(min_value=1, max_value=60), st.integers(min_value=1, max_value=20))
async def test_m08_a_chunked_window_is_a_suffix_with_at_least_half_of_the_fitting_messages(
    history: list[Message], max_tokens: int, chunk: int
) -> None:
    numbered = [replace(each, sequence=place) for place, each in enumerate(history)]
    fits = await TokenWindowMessageSelector(max_tokens, WordTokenizer()).select(newest_of(numbered))
    chosen = await TokenWindowMessageSelector(max_tokens, WordTokenizer(), chunk=chunk).select(
        newest_of(numbered)
    )
    assert chosen == fits[len(fits) - len(chosen) :]
    assert 2 * len(chosen) >= len(fits)


@given(st.integers(0, 500), st.integers(1, 60), st.integers(1, 64))
def test_the_start_of_a_chunk_never_moves_back_as_a_conversation_grows(
    first: int, length: int, chunk: int
) -> None:
    def start(of: int) -> int:
        return of + chunk_start(range(of, of + length), chunk)

    assert start(first) <= start(first + 1)
