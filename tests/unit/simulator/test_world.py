"""The simulated people, chats and messages."""

import pytest

from simulator.api.config import SimulatorConfig
from simulator.api.world import (
    BEN,
    CHIARA,
    MAX_MESSAGES_PER_CHAT,
    OLGA,
    WEEKEND_PLANS,
    WORKSHOP,
    Message,
    World,
    default_world,
)

pytestmark = pytest.mark.slow


def build_world(now: float = 1_800_000_000) -> World:
    return default_world(SimulatorConfig(clock=lambda: now, operator_ids=frozenset({BEN})))


def test_private_chats_and_groups_share_message_ids_and_a_supergroup_has_its_own() -> None:
    world = build_world()
    first = world.next_message_id(OLGA)
    ids = [world.next_message_id(chat) for chat in (BEN, WEEKEND_PLANS, WORKSHOP, WORKSHOP)]
    assert ids == [first + 1, first + 2, first, first + 1]


def test_message_ids_of_a_later_run_are_higher() -> None:
    earlier, later = build_world(1_800_000_000), build_world(1_800_000_900)
    assert later.next_message_id(OLGA) > earlier.next_message_id(OLGA)


def test_a_full_chat_drops_its_oldest_message() -> None:
    world = build_world()
    for number in range(1, MAX_MESSAGES_PER_CHAT + 2):
        world.put_message(Message(id=number, chat_id=OLGA, sender_id=OLGA, date=0, text="x"))
    assert world.message(OLGA, 1) is None
    assert [message.id for message in world.newest(OLGA, 2)] == [
        MAX_MESSAGES_PER_CHAT,
        MAX_MESSAGES_PER_CHAT + 1,
    ]


def test_the_operators_are_those_of_the_configuration() -> None:
    world = build_world()
    assert [one.id for one in world.people.values() if one.is_operator] == [BEN]


def test_the_id_of_a_topic_is_the_id_of_its_first_message() -> None:
    world = build_world()
    threads = [topic.thread_id for topic in world.chats[WORKSHOP].topics]
    assert threads == [None, 2, 3]
    ideas = world.message(WORKSHOP, 2)
    assert ideas is not None
    assert (ideas.service or {})["forum_topic_created"]["name"] == "Ideas"


def test_users_are_found_by_name_in_any_case() -> None:
    world = build_world()
    chiara, bot = world.user_named("CHIARA"), world.user_named("mnemogram_bot")
    assert chiara is not None
    assert bot is not None
    assert (chiara.id, bot.id) == (CHIARA, world.bot.id)
