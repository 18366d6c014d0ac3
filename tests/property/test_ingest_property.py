"""No JSON document makes the ingest fail or store something that cannot be read again."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.features import CONTROLS
from bot.inbox.records import Accepted, Arrival
from bot.settings import Access
from bot.transport.gating import BotIdentity
from bot.transport.ingest import DoorRules, Ingest, parse_waiting
from memory.codec import parse_json
from memory.history.talk import TalkLine
from tests.anchors import no_migrations
from tests.property.test_updates_property import json, plausible, updates

BOT = BotIdentity(id=99, username="bot")
UNPAIRED = st.text(st.characters(exclude_categories=[]), max_size=6)
"""Lone surrogates included, as JSON can have them."""


class Door:
    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []

    async def accept(self, arrival: Arrival) -> Accepted:
        self.arrivals.append(arrival)
        return "accepted"


def _named(message: dict[str, object], name: str, text: str) -> dict[str, object]:
    return message | {"from": {"id": 5, "first_name": name}, "text": text}


def _nested(message: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind == "callback_query":
        return {"callback_query": {"id": "1", "data": "stop", "from": {"id": 5}, "message": message}}
    return {kind: message}


kinds = st.sampled_from(["message", "edited_message", "channel_post", "callback_query", "my_chat_member"])
named = st.builds(_named, plausible, UNPAIRED, UNPAIRED)
shapes = st.builds(_nested, plausible | named, kinds) | updates | st.fixed_dictionaries({"message": json})


@given(shapes, st.booleans(), st.integers(0, 2**40))
@settings(max_examples=2 * settings().max_examples)
def test_any_update_is_accepted_and_can_be_read_again(
    raw: dict[str, Any], is_open: bool, update_id: int
) -> None:
    access = Access() if is_open else Access(allowed_user_ids=frozenset({5}))
    door = Door()
    ingest = Ingest(
        door.accept,
        controls=CONTROLS,
        bot=BOT,
        access=access,
        rules=DoorRules(partitions=4),
        anchors=no_migrations(),
    )
    asyncio.run(ingest.take_in(raw | {"update_id": update_id}))

    (arrival,) = door.arrivals
    assert (arrival.mode == "ignored") == (not arrival.payload) or arrival.talk
    assert arrival.reason or arrival.mode != "ignored"
    for stored in (arrival.payload, arrival.talk, arrival.registered):
        stored.encode()
    if arrival.payload:
        assert parse_waiting(arrival.payload).update_id == update_id
    if arrival.talk:
        assert parse_json(TalkLine, arrival.talk).text
