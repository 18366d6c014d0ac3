"""Ingest: from a raw update to the entry of the inbox, and back."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.features import CONTROLS
from bot.inbox.records import Accepted, Arrival, Signal
from bot.settings import Access
from bot.transport.gating import Admission, BotIdentity
from bot.transport.ingest import DoorRules, Ingest, WaitingUpdate, parse_waiting, telegram_ref
from bot.transport.page_links import PageLinks, PagePlace, sign_place
from bot.transport.people import digest_of
from bot.transport.updates import Command, parse_update
from memory.codec import dump_json, parse_json
from memory.errors import RecordCorrupt
from memory.history.message import Sender
from memory.history.talk import TalkLine
from tests.anchors import InMemoryAnchors, no_migrations

BOT = BotIdentity(id=42, username="mnemo_bot")
TOKEN = "42:not-a-secret"
ANNA = {"id": 7, "is_bot": False, "first_name": "Anna", "username": "anna"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Anna"}
GROUP = {"id": -9, "type": "supergroup", "title": "Garden", "is_forum": True}


@dataclass(slots=True)
class Door:
    arrivals: list[Arrival] = field(default_factory=list[Arrival])

    async def accept(self, arrival: Arrival) -> Accepted:
        self.arrivals.append(arrival)
        return "accepted"


@dataclass(slots=True)
class Guests:
    ids: set[int] = field(default_factory=set[int])
    asked: list[int] = field(default_factory=list[int])
    doubted: list[int] = field(default_factory=list[int])

    async def includes(self, user_id: int) -> bool:
        self.asked.append(user_id)
        return user_id in self.ids

    def doubt(self, user_id: int) -> None:
        self.doubted.append(user_id)


async def _arrivals(*updates: dict[str, Any], access: Access | None = None, **parts: Any) -> list[Arrival]:
    door = Door()
    rules = DoorRules(**({"partitions": 1} | parts.pop("rules", {})))
    anchors, guests = parts.pop("anchors", no_migrations()), parts.pop("guests", None)
    ingest = Ingest(
        door.accept,
        controls=CONTROLS,
        bot=BOT,
        access=access or Access(),
        rules=rules,
        anchors=anchors,
        guests=guests,
        **parts,
    )
    for update in updates:
        await ingest.take_in(update)
    return door.arrivals


async def _arrival(
    update: dict[str, Any], *, access: Access | None = None, partitions: int = 1, **parts: Any
) -> Arrival:
    rules = {"partitions": partitions} | parts.pop("rules", {})
    (arrival,) = await _arrivals(update, access=access, rules=rules, **parts)
    return arrival


def _update(text: str = "hello", *, chat: dict[str, Any] = PRIVATE, **message: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"message_id": 3, "date": 900, "chat": chat, "from": ANNA, "text": text}
    if text.startswith("/"):
        command = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
        body["entities"] = [command]
    return {"update_id": 5, "message": body | message}


async def test_a_message_is_stored_with_its_decision() -> None:
    update = _update("hello")

    arrival = await _arrival(update)
    waiting = parse_waiting(arrival.payload)

    assert (arrival.update_id, arrival.mode) == (5, "turn")
    assert waiting.message == parse_update(update).message
    assert (waiting.update_id, waiting.admission.action, waiting.message.text) == (5, "turn", "hello")


async def test_a_command_is_stored_with_its_name_and_argument() -> None:
    arrival = await _arrival(_update("/reset@mnemo_bot all", chat=GROUP))

    command = parse_waiting(arrival.payload).admission.command

    assert command == Command(name="reset", argument="all", mention="mnemo_bot")


async def test_an_edit_is_stored_with_its_new_text() -> None:
    edited = _update("hello there", edit_date=950)["message"]

    arrival = await _arrival({"update_id": 6, "edited_message": edited})
    waiting = parse_waiting(arrival.payload)

    assert (arrival.mode, arrival.ref) == ("turn", telegram_ref(42, 7, None, partitions=1))
    assert (waiting.admission.action, waiting.admission.command) == ("edit", None)
    assert (waiting.message.message_id, waiting.message.edit_date) == (3, 950)
    assert waiting.message.text == "hello there"


async def test_no_edit_by_a_person_without_access_is_stored() -> None:
    edited = _update("quokka", edit_date=950)["message"]

    arrival = await _arrival(
        {"update_id": 6, "edited_message": edited}, access=Access(allowed_user_ids=frozenset({1}))
    )

    assert (arrival.mode, arrival.reason, arrival.payload) == ("ignored", "not_allowed", "")


async def test_forget_is_stored_with_the_replied_message() -> None:
    arrival = await _arrival(_update("/forget", reply_to_message={"message_id": 2, "chat": PRIVATE}))

    waiting = parse_waiting(arrival.payload)

    assert waiting.admission.command == Command(name="forget", argument="", mention="")
    assert waiting.message.reply_to is not None
    assert waiting.message.reply_to.message_id == 2


async def test_a_stop_has_its_own_decision_and_can_overtake() -> None:
    assert (await _arrival(_update("/stop"))).mode == "stop"


@pytest.mark.parametrize("word", [*CONTROLS.buttons, "buy"])
async def test_a_press_waits_for_the_running_turn_unless_the_table_says_that_it_acts_on_it(word: str) -> None:
    under = {"message_id": 3, "date": 1, "chat": PRIVATE}
    press = {"id": "q1", "data": f"{word}:7:5", "from": ANNA, "message": under}

    arrival = await _arrival({"update_id": 6, "callback_query": press})

    assert (arrival.mode, arrival.signal is None) == ("turn", word != "stop")


async def test_a_press_under_a_message_of_inline_mode_waits_in_the_private_chat_as_an_unknown_button() -> (
    None
):
    press = {"id": "q1", "data": "stop:7:5", "from": ANNA, "inline_message_id": "AAA"}

    arrival = await _arrival({"update_id": 6, "callback_query": press})

    assert (arrival.ref, arrival.signal) == (telegram_ref(42, 7, None, partitions=1), None)
    assert parse_waiting(arrival.payload).admission.reason == "unknown_button"


async def test_a_press_is_stored_with_its_data_and_person_and_no_text() -> None:
    under = _update("an answer with quokka", chat=GROUP)["message"] | {"reply_markup": {"quokka": 1}}
    press = {"id": "q1", "data": "stop:7:5", "from": ANNA, "message": under}

    arrival = await _arrival({"update_id": 6, "callback_query": press})
    waiting = parse_waiting(arrival.payload)

    assert (arrival.mode, arrival.ref) == ("turn", telegram_ref(42, -9, None, partitions=1))
    assert arrival.signal == Signal(
        kind="press", update_id=arrival.update_id, telegram_message_id=3, sender_id=7
    )
    assert (waiting.admission.action, waiting.admission.reason) == ("press", "stop_button")
    assert waiting.callback is not None
    assert (waiting.callback.id, waiting.callback.data, waiting.callback.sender_id) == ("q1", "stop:7:5", 7)
    assert "quokka" not in arrival.payload


async def test_talk_in_a_group_is_overheard_and_starts_no_turn() -> None:
    arrival = await _arrival(_update(f"between us {'x' * 2000}", chat=GROUP))

    line = parse_json(TalkLine, arrival.talk)
    assert (arrival.mode, arrival.reason, arrival.payload) == ("ignored", "talk", "")
    assert (line.telegram_message_id, line.sender, line.sent_at) == (3, Sender(id=7, name="Anna"), 900.0)
    assert (len(line.text), line.text[:12], line.text[-1], line.is_service) == (
        1000,
        "between us x",
        "…",
        False,
    )
    assert arrival.talk_score == 3
    assert json.loads(arrival.registered) == {
        "keys": {"bot_id": 42, "chat_id": -9},
        "title": "Garden",
        "created_at": 900.0,
    }


async def test_files_and_quotations_of_talk_are_overheard_too() -> None:
    photo = {"message_id": 3, "date": 900, "chat": GROUP, "from": ANNA, "caption": "look"}
    photo |= {"photo": [{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}]}
    photo |= {"forward_origin": {"type": "hidden_user", "sender_user_name": "Otto"}}

    arrival = await _arrival({"update_id": 5, "message": photo})

    origin, note, text = parse_json(TalkLine, arrival.talk).text.splitlines()
    assert (origin, text) == ("(forwarded from Otto)", "look")
    assert "photo" in note


async def test_relevant_chat_events_are_overheard() -> None:
    renamed = _update(new_chat_title="Allotment", text="", chat=GROUP)
    giveaway = _update(giveaway_created={}, text="", chat=GROUP)
    thrown_out = _update(left_chat_member={"id": 42, "first_name": "Bot"}, text="", chat=GROUP)

    talk, ignored, left = await _arrivals(renamed, giveaway, thrown_out)

    line = parse_json(TalkLine, talk.talk)
    assert (line.is_service, "Allotment" in line.text) == (True, True)
    assert (ignored.reason, ignored.talk) == ("service_message", "")
    assert (left.reason, left.talk, left.registered) == ("service_message", "", "")


async def test_no_ignored_update_is_stored() -> None:
    silent = {"keeps_talk": False}
    not_permitted = Access(allowed_user_ids=frozenset({1}))

    unheard = await _arrival(_update("between us", chat=GROUP), rules=silent)
    edit = {"update_id": 6, "edited_message": _update("between you", chat=GROUP, edit_date=950)["message"]}
    stranger = await _arrival(_update("between us", chat=GROUP), access=not_permitted)

    assert (unheard.mode, unheard.reason, unheard.payload) == ("ignored", "not_addressed", "")
    assert (unheard.talk, unheard.registered) == ("", "")
    assert (await _arrival(edit, rules=silent)).talk == ""
    assert (stranger.mode, stranger.reason, stranger.payload) == ("ignored", "not_allowed", "")
    assert (stranger.talk, stranger.registered) == ("", "")


async def test_an_edit_replaces_overheard_or_waiting_text() -> None:
    edited = _update("between you", chat=GROUP, edit_date=950)["message"]

    arrival = await _arrival({"update_id": 6, "edited_message": edited})

    assert (arrival.mode, arrival.reason) == ("turn", "talk_edit")
    assert parse_json(TalkLine, arrival.talk).text == "between you"
    assert parse_waiting(arrival.payload).admission.action == "edit"
    assert arrival.signal == Signal(
        kind="edit", update_id=arrival.update_id, telegram_message_id=3, sender_id=7
    )


async def test_a_new_message_signals_the_running_turn_if_it_interrupts() -> None:
    forward = _update("as he said", forward_origin={"type": "hidden_user", "sender_user_name": "Otto"})
    busy = {"interrupts": True}

    assert (await _arrival(_update("go on"))).signal is None
    message = Signal(kind="message", update_id=5, telegram_message_id=3, sender_id=7)
    assert (await _arrival(_update("go on"), rules=busy)).signal == message
    assert (await _arrival(forward)).signal == replace(message, kind="forward")
    assert (await _arrival(_update("/memory"), rules=busy)).signal is None


async def test_further_pictures_of_an_addressed_album_are_addressed_too() -> None:
    photo = {"photo": [{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}], "chat": GROUP}
    mention = {"caption": "@mnemo_bot", "caption_entities": [{"type": "mention", "offset": 0, "length": 10}]}
    first = {"message_id": 3, "date": 900, "from": ANNA, "media_group_id": "a"} | photo
    other = first | {"message_id": 4}
    strangers = first | {"message_id": 5, "from": ANNA | {"id": 8}}

    arrivals = await _arrivals(
        {"update_id": 1, "message": first | mention},
        {"update_id": 2, "message": other},
        {"update_id": 3, "message": strangers},
        {"update_id": 4, "message": other | {"media_group_id": "b"}},
    )

    assert [arrival.mode for arrival in arrivals] == ["turn", "turn", "ignored", "ignored"]
    assert parse_waiting(arrivals[1].payload).admission == Admission(action="turn", reason="bundle")


def _mention(text: str, number: int, **message: Any) -> dict[str, Any]:
    entities = [{"type": "mention", "offset": 0, "length": 10}]
    body = {"message_id": number, "entities": entities} | message
    return _update(f"@mnemo_bot {text}", chat=GROUP, **body)


async def test_the_continuation_of_an_addressed_message_is_addressed_too() -> None:
    origin = {"forward_origin": {"type": "hidden_user", "sender_user_name": "Otto"}}
    comment, paste = _mention("look", 3), _mention("x" * 4000, 9, date=2000)

    forwards = await _arrivals(
        comment,
        _update("one", chat=GROUP, message_id=4, date=901, **origin),
        _update("two", chat=GROUP, message_id=5, date=903, **origin),
        _update("three", chat=GROUP, message_id=6, date=910, **origin),
    )
    parts = await _arrivals(
        paste,
        _update("yyyy", chat=GROUP, message_id=10, date=2001),
        _update("and nothing more", chat=GROUP, message_id=11, date=2001),
    )
    others = await _arrivals(
        comment,
        _update("one", chat=GROUP, message_id=4, date=901, **(origin | {"from": ANNA | {"id": 8}})),
        _update("of a topic", chat=GROUP, message_id=5, message_thread_id=8, is_topic_message=True, **origin),
        _update("a plain line", chat=GROUP, message_id=6, date=901),
        {"update_id": 9, "edited_message": _update("one", chat=GROUP, **origin)["message"]},
    )

    assert [arrival.mode for arrival in forwards] == ["turn", "turn", "turn", "ignored"]
    assert [arrival.mode for arrival in parts] == ["turn", "turn", "ignored"]
    assert [arrival.mode for arrival in others[:4]] == ["turn", "ignored", "ignored", "ignored"]
    assert parse_waiting(others[4].payload).admission.action == "edit"


async def test_a_supergroup_has_the_memory_of_its_former_group() -> None:
    old, new = {"id": -9, "type": "group", "title": "Garden"}, {"id": -1009, "type": "supergroup"}
    anchors = InMemoryAnchors()

    to, came_from, said = await _arrivals(
        _update("", chat=old, migrate_to_chat_id=-1009),
        _update("", chat=new, migrate_from_chat_id=-9),
        _update("@mnemo_bot hi", chat=new, entities=[{"type": "mention", "offset": 0, "length": 10}]),
        anchors=anchors,
    )

    here = telegram_ref(42, -9, None, partitions=1)
    assert anchors.moved == {-1009: -9}
    assert {to.ref, came_from.ref, said.ref} == {here}
    assert [parse_waiting(each.payload).anchor_id for each in (to, came_from, said)] == [-9, -9, -9]
    assert parse_waiting(said.payload).message.chat_id == -1009
    assert [parse_waiting(each.payload).admission.action for each in (to, came_from)] == ["migration"] * 2


async def test_talk_of_a_supergroup_never_replaces_talk_of_the_group() -> None:
    anchors = InMemoryAnchors(moved={-1009: -9})

    before = await _arrival(_update("one", chat=GROUP), anchors=anchors)
    after = await _arrival(_update("two", chat={"id": -1009, "type": "supergroup"}), anchors=anchors)

    assert before.ref == after.ref
    assert before.talk_score < after.talk_score
    assert json.loads(after.registered)["keys"] == {"bot_id": 42, "chat_id": -9}


def _standing(old: str, new: str, **chat: Any) -> dict[str, Any]:
    changed = {"chat": GROUP | chat, "from": ANNA | {"language_code": "pt"}, "date": 900}
    us = {"id": 42, "is_bot": True}
    changed["old_chat_member"], changed["new_chat_member"] = ({"user": us, "status": s} for s in (old, new))
    return {"update_id": 5, "my_chat_member": changed}


async def test_a_change_of_membership_waits_in_the_line_of_its_chat() -> None:
    arrival = await _arrival(_standing("left", "member"))
    waiting = parse_waiting(arrival.payload)

    assert (arrival.mode, arrival.ref, arrival.chat_id) == (
        "turn",
        telegram_ref(42, -9, None, partitions=1),
        -9,
    )
    assert (waiting.admission.action, waiting.admission.reason) == ("membership", "joined")
    assert waiting.membership is not None
    assert waiting.membership.new_status == "member"
    assert (waiting.message.sender_id, waiting.message.language_code) == (7, "pt")
    assert (waiting.message.message_id, waiting.message.kind, waiting.message.text) == (0, "membership", "")


async def test_a_chat_that_removes_the_bot_does_not_become_reachable() -> None:
    assert (await _arrival(_standing("member", "kicked"))).chat_id == 0
    assert (await _arrival(_standing("member", "kicked", id=7, type="private"))).chat_id == 0
    assert (await _arrival(_update("hello"))).chat_id == 7


async def test_guests_are_looked_up_only_if_the_settings_do_not_admit_the_person() -> None:
    guests, closed = Guests(ids={7}), Access(allowed_user_ids=frozenset({1}))

    admitted = await _arrival(_update("hello"), guests=guests)
    assert (admitted.mode, guests.asked) == ("turn", [])

    invited = await _arrival(_update("hello"), access=closed, guests=guests)
    assert (parse_waiting(invited.payload).admission.action, guests.asked) == ("turn", [7])

    refused = await _arrival(_update("hello"), access=closed, guests=Guests())
    assert parse_waiting(refused.payload).admission.action == "refuse"


async def test_only_the_digest_of_an_invitation_is_stored() -> None:
    code, guests = "quokka-quokka-quokka-quo", Guests()

    arrival = await _arrival(
        _update(f"/start {code}"), access=Access(allowed_user_ids=frozenset({1})), guests=guests
    )

    waiting = parse_waiting(arrival.payload)
    assert waiting.admission.reason == "invitation"
    assert waiting.admission.command == Command(name="start", argument=digest_of(code), mention="")
    assert "quokka" not in arrival.payload
    assert guests.doubted == [7]


async def test_a_strangers_link_to_a_groups_page_is_no_invitation() -> None:
    links, guests = PageLinks(token=TOKEN, bot_username="mnemo_bot", page_url=None), Guests()
    closed = Access(allowed_user_ids=frozenset({1}))
    ours = sign_place(PagePlace(chat_id=-9), TOKEN)
    others = (sign_place(PagePlace(chat_id=-9), "1:other"), sign_place(PagePlace(chat_id=7), TOKEN))

    admitted, *invited = [
        parse_waiting(
            (
                await _arrival(
                    _update(f"/start {each}", reply_to_message={"message_id": 2, "text": "quokka"}),
                    access=closed,
                    guests=guests,
                    rules={"page_links": links},
                )
            ).payload
        )
        for each in (ours, *others)
    ]

    assert (admitted.admission.reason, admitted.message.reply_to, admitted.message.text) == (
        "page_link",
        None,
        "",
    )
    assert admitted.admission.command == Command(name="start", argument=ours, mention="")
    assert [each.admission.reason for each in invited] == ["invitation", "invitation"]
    assert guests.doubted == [7, 7]


async def test_no_text_of_a_refused_person_is_stored() -> None:
    update = _update(
        "/help my quokka secret",
        reply_to_message={"message_id": 2, "text": "quokka", "chat": PRIVATE},
        quote={"text": "quokka"},
    )

    arrival = await _arrival(update, access=Access(allowed_user_ids=frozenset({1})))

    waiting = parse_waiting(arrival.payload)
    assert (arrival.mode, waiting.admission.action) == ("turn", "refuse")
    assert "quokka" not in arrival.payload
    assert (waiting.message.chat_id, waiting.message.sender_id, waiting.message.message_id) == (7, 7, 3)


async def test_a_lone_surrogate_breaks_nothing() -> None:
    arrival = await _arrival(_update("half \ud83d"))

    assert parse_waiting(arrival.payload).message.text == "half \ufffd"


@pytest.mark.parametrize("partitions", [1, 16])
async def test_the_topics_of_a_chat_have_separate_memories_in_one_partition(partitions: int) -> None:
    topic = {"message_thread_id": 8, "is_topic_message": True}

    general = await _arrival(_update("/help", chat=GROUP), partitions=partitions)
    ideas = await _arrival(_update("/help", chat=GROUP, **topic), partitions=partitions)

    assert general.ref.context_id != ideas.ref.context_id
    assert general.ref.partition == ideas.ref.partition


def test_m02_different_bots_chats_and_topics_have_different_contexts() -> None:
    refs = {
        telegram_ref(bot, chat, thread, partitions=1)
        for bot in (1, 2)
        for chat in (1, 2, -1)
        for thread in (None, 1, 2)
    }

    assert len(refs) == 2 * 3 * 3


def test_an_invalid_record_raises() -> None:
    with pytest.raises(RecordCorrupt):
        parse_waiting('{"update_id": 1}')


async def test_a_stored_update_is_restored_as_it_was_written() -> None:
    arrival = await _arrival(_update("/new"))

    assert dump_json(WaitingUpdate, parse_waiting(arrival.payload)) == arrival.payload


async def test_quotations_of_others_are_not_stored_in_full() -> None:
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
