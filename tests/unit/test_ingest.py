"""From a raw update to what waits in the inbox, and back."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.inbox.facts import Accepted, Arrival
from bot.transport.gating import Access, BotIdentity
from bot.transport.ingest import Ingest, dump_waiting, parse_waiting, telegram_ref
from bot.transport.updates import Command

BOT = BotIdentity(id=42, username="mnemo_bot")
ANNA = {"id": 7, "is_bot": False, "first_name": "Anna", "username": "anna"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Anna"}
GROUP = {"id": -9, "type": "supergroup", "title": "Garden", "is_forum": True}


@dataclass(slots=True)
class Door:
    arrivals: list[Arrival] = field(default_factory=list[Arrival])

    async def accept(self, arrival: Arrival) -> Accepted:
        self.arrivals.append(arrival)
        return "accepted"


async def _arrival(update: dict[str, Any], *, access: Access | None = None, partitions: int = 1) -> Arrival:
    door = Door()
    await Ingest(door, bot=BOT, access=access or Access(), partitions=partitions).take_in(update)
    (arrival,) = door.arrivals
    return arrival


def _update(text: str = "hello", *, chat: dict[str, Any] = PRIVATE, **message: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"message_id": 3, "date": 900, "chat": chat, "from": ANNA, "text": text}
    if text.startswith("/"):
        command = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
        body["entities"] = [command]
    return {"update_id": 5, "message": body | message}


async def test_a_message_waits_as_it_came_with_what_was_decided() -> None:
    update = _update("hello")

    arrival = await _arrival(update)
    waiting = parse_waiting(arrival.payload)

    assert (arrival.update_id, arrival.mode) == (5, "turn")
    assert json.loads(arrival.payload)["update"] == update
    assert (waiting.update_id, waiting.admission.action, waiting.message.text) == (5, "turn", "hello")


async def test_a_command_waits_with_its_name_and_argument() -> None:
    arrival = await _arrival(_update("/reset@mnemo_bot all", chat=GROUP))

    command = parse_waiting(arrival.payload).admission.command

    assert command == Command(name="reset", argument="all", mention="mnemo_bot")


async def test_an_edit_waits_in_line_with_what_the_message_says_now() -> None:
    edited = _update("hello there", edit_date=950)["message"]

    arrival = await _arrival({"update_id": 6, "edited_message": edited})
    waiting = parse_waiting(arrival.payload)

    assert (arrival.mode, arrival.ref) == ("turn", telegram_ref(42, 7, None, partitions=1))
    assert (waiting.admission.action, waiting.admission.command) == ("edit", None)
    assert (waiting.message.message_id, waiting.message.edit_date) == (3, 950)
    assert waiting.message.text == "hello there"


async def test_nothing_of_an_edit_is_kept_whose_writer_may_not_use_the_bot() -> None:
    edited = _update("quokka", edit_date=950)["message"]

    arrival = await _arrival(
        {"update_id": 6, "edited_message": edited}, access=Access(allowed_user_ids=frozenset({1}))
    )

    assert (arrival.mode, arrival.reason, arrival.payload) == ("ignored", "not_allowed", "")


async def test_forget_waits_with_the_message_that_it_replies_to() -> None:
    arrival = await _arrival(_update("/forget", reply_to_message={"message_id": 2, "chat": PRIVATE}))

    waiting = parse_waiting(arrival.payload)

    assert waiting.admission.command == Command(name="forget", argument="", mention="")
    assert waiting.message.reply_to is not None
    assert waiting.message.reply_to.message_id == 2


async def test_a_stop_is_told_apart_so_that_it_can_overtake() -> None:
    assert (await _arrival(_update("/stop"))).mode == "stop"


async def test_a_stop_button_stops_the_chat_of_its_message() -> None:
    press = {"id": "1", "data": "stop", "from": ANNA, "message": _update()["message"]}

    arrival = await _arrival({"update_id": 6, "callback_query": press})

    assert (arrival.mode, arrival.ref) == ("stop", telegram_ref(42, 7, None, partitions=1))
    command = parse_waiting(arrival.payload).admission.command
    assert command is not None
    assert command.name == "stop"


async def test_nothing_that_is_ignored_is_kept() -> None:
    arrival = await _arrival(_update("between us", chat=GROUP))

    assert (arrival.mode, arrival.reason, arrival.payload) == ("ignored", "not_addressed", "")


async def test_nothing_that_a_refused_person_wrote_is_kept() -> None:
    update = _update(
        "/start my quokka secret",
        reply_to_message={"message_id": 2, "text": "quokka", "chat": PRIVATE},
        quote={"text": "quokka"},
    )

    arrival = await _arrival(update, access=Access(allowed_user_ids=frozenset({1})))

    waiting = parse_waiting(arrival.payload)
    assert (arrival.mode, waiting.admission.action) == ("turn", "refuse")
    assert "quokka" not in arrival.payload
    assert (waiting.message.chat_id, waiting.message.sender_id, waiting.message.message_id) == (7, 7, 3)


async def test_a_lone_half_of_a_surrogate_pair_breaks_nothing() -> None:
    arrival = await _arrival(_update("half \ud83d"))

    assert arrival.payload.isascii()
    assert parse_waiting(arrival.payload).message.text == "half \ud83d"


@pytest.mark.parametrize("partitions", [1, 16])
async def test_the_topics_of_a_chat_have_their_own_memory_in_one_partition(partitions: int) -> None:
    topic = {"message_thread_id": 8, "is_topic_message": True}

    general = await _arrival(_update("/help", chat=GROUP), partitions=partitions)
    ideas = await _arrival(_update("/help", chat=GROUP, **topic), partitions=partitions)

    assert general.ref.context_id != ideas.ref.context_id
    assert general.ref.partition == ideas.ref.partition


def test_m02_no_two_of_bot_chat_and_topic_share_a_context() -> None:
    refs = {
        telegram_ref(bot, chat, thread, partitions=1)
        for bot in (1, 2)
        for chat in (1, 2, -1)
        for thread in (None, 1, 2)
    }

    assert len(refs) == 2 * 3 * 3


def test_an_update_without_a_message_cannot_wait() -> None:
    payload = json.dumps({"action": "turn", "reason": "", "command": None, "update": {"update_id": 1}})

    with pytest.raises(ValueError, match="without a message"):
        parse_waiting(payload)


async def test_what_waits_is_read_back_as_it_was_written() -> None:
    arrival = await _arrival(_update("/new"))
    waiting = parse_waiting(arrival.payload)

    assert dump_waiting(waiting.admission, json.loads(arrival.payload)["update"]) == arrival.payload


async def test_what_a_message_quotes_of_others_does_not_wait_with_it() -> None:
    replied = {
        "message_id": 2,
        "date": 800,
        "chat": GROUP,
        "from": {"id": 8, "is_bot": False},
        "text": "canary",
    }
    update = _update("/forget", chat=GROUP, reply_to_message=replied, quote={"text": "canary", "position": 0})

    arrival = await _arrival(update)

    assert "canary" not in arrival.payload
    replied_to = parse_waiting(arrival.payload).message.reply_to
    assert replied_to is not None
    assert (replied_to.message_id, replied_to.sender_id) == (2, 8)
