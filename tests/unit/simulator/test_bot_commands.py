"""The choice of the command list for a chat."""

import pytest

from simulator.api.interactions import Command, CommandLists, Scope
from simulator.api.world import Chat

pytestmark = pytest.mark.slow

PRIVATE = Chat(id=1, type="private", members=(1,))
GROUP = Chat(id=-1, type="group", members=(1, 2), admins=(1,))


def named(name: str) -> list[Command]:
    return [{"command": name, "description": name}]


def test_a_private_chat_prefers_its_own_list_then_that_of_private_chats_then_the_default() -> None:
    lists = CommandLists()
    lists.put(Scope(), "", named("default"))
    assert lists.shown_in(PRIVATE) == named("default")
    lists.put(Scope(type="all_private_chats"), "", named("private"))
    assert lists.shown_in(PRIVATE) == named("private")
    lists.put(Scope(type="chat", chat_id=1), "", named("chat"))
    assert lists.shown_in(PRIVATE) == named("chat")


def test_administrators_of_a_group_get_their_list() -> None:
    lists = CommandLists()
    lists.put(Scope(type="all_group_chats"), "", named("group"))
    lists.put(Scope(type="all_chat_administrators"), "", named("admins"))
    assert lists.shown_in(GROUP, user_id=1) == named("admins")
    assert lists.shown_in(GROUP, user_id=2) == named("group")


def test_a_narrower_scope_wins_over_the_language() -> None:
    lists = CommandLists()
    lists.put(Scope(), "en", named("english"))
    lists.put(Scope(type="all_private_chats"), "", named("private"))
    assert lists.shown_in(PRIVATE, language="en") == named("private")
    lists.put(Scope(type="all_private_chats"), "en", named("private_english"))
    assert lists.shown_in(PRIVATE, language="en") == named("private_english")


def test_an_empty_list_removes_the_list() -> None:
    lists = CommandLists()
    lists.put(Scope(), "", named("default"))
    lists.put(Scope(), "", [])
    assert (lists.get(Scope(), ""), lists.shown_in(GROUP)) == ([], [])
