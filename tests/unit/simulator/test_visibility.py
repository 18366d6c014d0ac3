"""The visibility of group messages for a bot in privacy mode."""

from dataclasses import replace

import pytest

from simulator.api.config import SimulatorConfig
from simulator.api.entities import Entity
from simulator.api.formatted_text import format_text
from simulator.api.posts import is_visible_to_bot
from simulator.api.world import BEN, OLGA, WEEKEND_PLANS, Message, World, default_world

pytestmark = pytest.mark.slow


def build_world() -> World:
    return default_world(SimulatorConfig())


def line(world: World, text: str, *, chat_id: int = WEEKEND_PLANS, reply_to: int | None = None) -> Message:
    formatted = format_text(text)
    message = Message(
        id=world.next_message_id(chat_id),
        chat_id=chat_id,
        sender_id=BEN if chat_id < 0 else chat_id,
        date=0,
        text=formatted.text,
        entities=formatted.entities,
        reply_to=reply_to,
    )
    return world.put_message(message)


@pytest.mark.parametrize(
    ("text", "is_visible"),
    [
        ("hello all", False),
        ("/start", True),
        ("/start@mnemogram_bot now", True),
        ("/start@other_bot", False),
        ("run /start", False),
        ("@Mnemogram_Bot are you there?", True),
        ("@olga are you there?", False),
    ],
)
def test_in_a_group_only_commands_and_mentions_are_visible(text: str, is_visible: bool) -> None:
    world = build_world()
    assert is_visible_to_bot(world, line(world, text), privacy_mode=True) is is_visible


def test_a_reply_to_the_bot_is_visible_and_one_to_a_person_is_not() -> None:
    world = build_world()
    of_bot = world.put_message(replace(line(world, "I am here"), sender_id=world.bot.id))
    of_person = line(world, "so am I")
    assert is_visible_to_bot(world, line(world, "good", reply_to=of_bot.id), privacy_mode=True)
    assert not is_visible_to_bot(world, line(world, "good", reply_to=of_person.id), privacy_mode=True)


def test_a_text_mention_of_the_bot_is_visible() -> None:
    world = build_world()
    mention = Entity(type="text_mention", offset=0, length=3, detail=world.bot.id)
    message = replace(line(world, "you there?"), entities=(mention,))
    assert is_visible_to_bot(world, message, privacy_mode=True)


def test_service_messages_are_visible() -> None:
    world = build_world()
    assert is_visible_to_bot(
        world, replace(line(world, "x"), service={"group_chat_created": True}), privacy_mode=True
    )


def test_an_administrator_and_a_bot_without_privacy_mode_see_everything() -> None:
    world = build_world()
    message = line(world, "hello all")
    assert is_visible_to_bot(world, message, privacy_mode=False)
    world.put_chat(replace(world.chats[WEEKEND_PLANS], bot_status="administrator"))
    assert is_visible_to_bot(world, message, privacy_mode=True)


def test_a_private_chat_is_fully_visible() -> None:
    world = build_world()
    assert is_visible_to_bot(world, line(world, "hello", chat_id=OLGA), privacy_mode=True)


def test_a_removed_bot_sees_nothing() -> None:
    world = build_world()
    world.put_chat(replace(world.chats[WEEKEND_PLANS], bot_status="kicked"))
    assert not is_visible_to_bot(world, line(world, "/start"), privacy_mode=False)
