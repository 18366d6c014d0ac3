"""Names of chats, as operators write them."""

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.session import ChatName, parse_chat


@given(chat_id=st.integers(-(10**18), 10**18), thread_id=st.none() | st.integers(0, 10**18))
def test_every_chat_name_can_be_parsed_again(chat_id: int, thread_id: int | None) -> None:
    name = ChatName(chat_id=chat_id, thread_id=thread_id)
    assert parse_chat(str(name)) == name


@pytest.mark.parametrize(
    "text", ["", "abc", "1.5", "-", "--json", "5/", "/5", "5/-1", "5/6/7", "1e9", "9" * 20]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_chat(text)
