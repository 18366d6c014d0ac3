"""Gating: the decision about each update."""

from collections.abc import Mapping

import pytest

from bot.features import CONTROLS
from bot.settings import Access
from bot.transport.gating import Admission, BotIdentity, admit, asker_of, strip_mention
from bot.transport.updates import Command, IncomingMessage, ParsedUpdate, parse_update

BOT = BotIdentity(id=99, username="MnemoBot")
COMMANDS = frozenset({"start", "help", "reset", "stop"})
ANNA: dict[str, object] = {"id": 7, "is_bot": False, "first_name": "Anna"}
PRIVATE: dict[str, object] = {"id": 7, "type": "private"}
GROUP: dict[str, object] = {"id": -100, "type": "supergroup", "title": "Garden"}
OURS: dict[str, object] = {"message_id": 3, "from": {"id": 99, "is_bot": True}, "text": "an answer"}
NEVER = frozenset({12345})


def update(
    chat: Mapping[str, object] = GROUP,
    kind: str = "message",
    sender: Mapping[str, object] = ANNA,
    **fields: object,
) -> ParsedUpdate:
    message = {"message_id": 2, "date": 1, "chat": chat, "from": sender} | fields
    return parse_update({"update_id": 1, kind: message})


def entity(kind: str, length: int, offset: int = 0, **fields: object) -> list[dict[str, object]]:
    return [{"type": kind, "offset": offset, "length": length} | fields]


def written(
    text: str, chat: Mapping[str, object] = GROUP, sender: Mapping[str, object] = ANNA, **fields: object
) -> ParsedUpdate:
    """Return a message that begins with a command, with Telegram's entity."""
    entities = entity("bot_command", len(text.split()[0]))
    return update(chat, "message", sender, text=text, entities=entities, **fields)


def decide(parsed: ParsedUpdate, access: Access | None = None) -> Admission:
    chat_id = parsed.message.chat_id if parsed.message else 0
    is_permitted = (access or Access()).permits(chat_id, asker_of(parsed))
    return admit(parsed, bot=BOT, is_permitted=is_permitted, commands=COMMANDS)


def ignored(reason: str) -> Admission:
    return Admission(action="ignore", reason=reason)


def overhears(reason: str) -> Admission:
    return Admission(action="hear", reason=reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(PRIVATE, text="hello"), "private_chat"),
        (update(text="hello", reply_to_message=OURS), "reply"),
        (update(text="hi @mnemobot!", entities=entity("mention", 9, 3)), "mention"),
        (update(photo=["a photo"], caption="@MnemoBot", caption_entities=entity("mention", 9)), "mention"),
        (update(message_thread_id=2, text="in a thread", reply_to_message=OURS), "reply"),
        (update(text="Mnemo, hi", entities=entity("text_mention", 5, user={"id": 99})), "mention"),
        (update(PRIVATE, photo=["a photo"], caption="what is this"), "private_chat"),
        (update(text="hello", reply_to_message=OURS, sender_chat=GROUP), "reply"),
        (update(PRIVATE, voice={"file_id": "v", "file_unique_id": "u", "duration": 3}), "private_chat"),
        (update(PRIVATE, sticker={"emoji": "🦔"}), "private_chat"),
        (update(PRIVATE, location={"latitude": 1.0, "longitude": 2.0}), "private_chat"),
        (update(PRIVATE, dice={"emoji": "🎲", "value": 4}), "private_chat"),
        (update(dice={"emoji": "🎲", "value": 4}, reply_to_message=OURS), "reply"),
        (update(PRIVATE, gift={"gift": {"id": "5"}}), "private_chat"),
        (update(PRIVATE, giveaway_winners={"winner_count": 2}), "private_chat"),
    ],
)
def test_a_message_addressed_to_the_bot_starts_a_turn(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == Admission(action="turn", reason=reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(text="hello"), "not_addressed"),
        (update(text="hello", chat={"id": -5, "type": "group"}), "not_addressed"),
        (update(dice={"emoji": "🎲", "value": 4}), "not_addressed"),
        (update(text="hi", sender_chat=GROUP), "not_addressed"),
        (update(text="@MnemoBot without an entity"), "not_addressed"),
        (update(text="hi @MnemoBots", entities=entity("mention", 10, 3)), "not_addressed"),
        (update(text="Otto, hi", entities=entity("text_mention", 4, user={"id": 98})), "not_addressed"),
        (update(text="hi", reply_to_message={"message_id": 3, "from": ANNA}), "not_addressed"),
        (update(text="hi", reply_to_message=OURS | {"forum_topic_created": 1}), "not_addressed"),
        (written("/weather"), "not_addressed"),
        (written("/reset@OtherBot"), "other_bots_command"),
        (written("/reset", sender={"id": 8, "is_bot": True}), "from_bot"),
        (
            update(text="hi @MnemoBot", entities=entity("mention", 9, 3), sender={"id": 8, "is_bot": True}),
            "from_bot",
        ),
        (update(text="hi", sender={"id": 8, "is_bot": True}, reply_to_message=OURS), "from_bot"),
        (
            update(text="hi @MnemoBot", entities=entity("mention", 9, 3), is_automatic_forward=True),
            "channel_post",
        ),
        (update(new_chat_title="x"), "service_message"),
        (update(PRIVATE, new_chat_title="x"), "service_message"),
    ],
)
def test_an_unaddressed_message_is_overheard_and_not_answered(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == overhears(reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (written("/reset@OtherBot", PRIVATE), "other_bots_command"),
        (update(PRIVATE, text="hi", sender={"id": 8, "is_bot": True}), "from_bot"),
        (update(text="hi", sender={"id": 99}), "from_bot"),
        (update({"id": -5, "type": "channel"}, text="hi"), "channel_post"),
        (update(kind="channel_post", text="hi"), "channel_post"),
        (update(PRIVATE, kind="business_message", text="hi"), "business_chat"),
        (parse_update({"update_id": 1, "my_chat_member": {}}), "unused_kind"),
        (update(kind="brand_new"), "unknown_kind"),
        (update(PRIVATE, giveaway_created={}), "service_message"),
        (parse_update({"update_id": 1, "message": {}}), "no_message"),
        (parse_update({"update_id": 1, "callback_query": {"id": "q", "data": "stop"}}), "no_message"),
    ],
)
def test_an_irrelevant_update_is_ignored_with_a_reason(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == ignored(reason)


@pytest.mark.parametrize(
    ("text", "place", "decision"),
    [
        ("@MnemoBot /reset all", (6, 10), ("command", "reset", "all")),
        ("@MnemoBot: /help", (5, 11), ("command", "help", "")),
        ("@MnemoBot /weather", (8, 10), ("command", "unknown", "weather")),
        ("@MnemoBot see /help", (5, 14), ("turn", "", "")),
        ("@OtherBot /help", (5, 10), ("hear", "", "")),
    ],
)
def test_a_command_behind_a_mention_of_the_bot_is_the_command(
    text: str, place: tuple[int, int], decision: tuple[str, str, str]
) -> None:
    entities = entity("mention", 9) + entity("bot_command", *place)
    admission = decide(update(text=text, entities=entities))
    command = admission.command

    assert (
        admission.action,
        command.name if command else "",
        command.argument if command else "",
    ) == decision


@pytest.mark.parametrize(
    ("parsed", "action", "reason", "command"),
    [
        (written("/help", PRIVATE), "command", "private_chat", Command(name="help", argument="", mention="")),
        (written("/reset all"), "command", "command", Command(name="reset", argument="all", mention="")),
        (
            written("/RESET@mnemobot"),
            "command",
            "command",
            Command(name="reset", argument="", mention="mnemobot"),
        ),
        (written("/stop"), "stop", "command", Command(name="stop", argument="", mention="")),
        (
            update(photo=["a photo"], caption="/help", caption_entities=entity("bot_command", 5)),
            "command",
            "command",
            Command(name="help", argument="", mention=""),
        ),
        (
            written("/weather", PRIVATE),
            "command",
            "private_chat",
            Command(name="unknown", argument="weather", mention=""),
        ),
        (
            written("/weather@MnemoBot"),
            "command",
            "command",
            Command(name="unknown", argument="weather", mention="MnemoBot"),
        ),
        (
            written("/weather", reply_to_message=OURS),
            "command",
            "reply",
            Command(name="unknown", argument="weather", mention=""),
        ),
        (
            update(PRIVATE, hologram={}),
            "command",
            "private_chat",
            Command(name="unreadable", argument="unknown", mention=""),
        ),
    ],
)
def test_known_commands_are_commands(
    parsed: ParsedUpdate, action: str, reason: str, command: Command
) -> None:
    decision = decide(parsed)

    assert (decision.action, decision.reason, decision.command) == (action, reason, command)


@pytest.mark.parametrize(
    "access",
    [
        Access(),
        Access(operator_ids=NEVER),
        Access(allowed_chat_ids=frozenset({-100})),
        Access(allowed_user_ids=frozenset({7}), allowed_chat_ids=NEVER),
        Access(allowed_user_ids=NEVER, operator_ids=frozenset({7})),
    ],
)
def test_allowed_people_are_answered(access: Access) -> None:
    assert decide(written("/help"), access).action == "command"


@pytest.mark.parametrize("access", [Access(allowed_chat_ids=NEVER), Access(allowed_user_ids=NEVER)])
def test_other_people_are_refused_if_they_address_the_bot_and_otherwise_ignored(access: Access) -> None:
    assert decide(written("/help"), access) == Admission(action="refuse", reason="not_allowed")
    assert decide(update(PRIVATE, voice="a file"), access) == Admission(action="refuse", reason="not_allowed")
    assert decide(update(text="hello"), access) == ignored("not_allowed")
    assert decide(update(new_chat_title="x"), access) == ignored("not_allowed")
    assert decide(edited(text="hello", is_automatic_forward=True), access) == ignored("not_allowed")


def test_a_start_with_an_invitation_is_allowed_without_access() -> None:
    access = Access(allowed_user_ids=NEVER)

    invited = decide(written("/start a-code", PRIVATE), access)

    assert invited.command is not None
    assert (invited.action, invited.reason) == ("command", "invitation")
    assert (invited.command.name, invited.command.argument) == ("start", "a-code")
    assert decide(written("/start", PRIVATE), access).action == "refuse"
    assert decide(written("/start a-code"), access).action == "refuse"


@pytest.mark.parametrize("field", ["migrate_to_chat_id", "migrate_from_chat_id"])
def test_a_migration_by_anyone_is_processed(field: str) -> None:
    message = {"message_id": 2, "date": 1, "chat": GROUP, "from": ANNA, field: -1001}
    migrated = parse_update({"update_id": 1, "message": message})

    assert decide(migrated) == Admission(action="migration", reason="migration")
    assert decide(migrated, Access(allowed_user_ids=NEVER)).action == "migration"


def standing(old: str, new: str, chat: Mapping[str, object] = GROUP, **new_fields: object) -> ParsedUpdate:
    us = {"id": 99, "is_bot": True}
    changed = {
        "chat": chat,
        "from": ANNA,
        "date": 1,
        "old_chat_member": {"user": us, "status": old},
        "new_chat_member": {"user": us, "status": new} | new_fields,
    }
    return parse_update({"update_id": 1, "my_chat_member": changed})


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (standing("left", "member"), "joined"),
        (standing("kicked", "administrator"), "joined"),
        (standing("left", "restricted", is_member=True), "joined"),
        (standing("member", "administrator"), "promoted"),
        (standing("restricted", "administrator"), "promoted"),
        (standing("member", "left"), "left"),
        (standing("administrator", "kicked"), "left"),
        (standing("member", "restricted", is_member=False), "left"),
        (standing("member", "kicked", PRIVATE), "blocked"),
        (standing("kicked", "member", PRIVATE), "unblocked"),
    ],
)
def test_a_change_of_the_bots_membership_is_processed(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == Admission(action="membership", reason=reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (standing("restricted", "member"), "same_membership"),
        (standing("administrator", "member"), "same_membership"),
        (standing("administrator", "administrator"), "same_membership"),
        (standing("left", "kicked"), "same_membership"),
        (standing("member", "member", PRIVATE), "same_membership"),
        (standing("left", "administrator", {"id": -5, "type": "channel"}), "channel_post"),
    ],
)
def test_a_change_without_new_visibility_sends_no_greeting(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == ignored(reason)


def test_a_person_without_access_cannot_add_the_bot_and_may_remove_it() -> None:
    access = Access(allowed_user_ids=NEVER)

    assert decide(standing("left", "member"), access) == Admission(action="refuse", reason="not_allowed")
    assert decide(standing("member", "administrator"), access) == ignored("not_allowed")
    assert decide(standing("member", "left"), access).reason == "left"
    assert decide(standing("member", "kicked", PRIVATE), access).reason == "blocked"


def edited(chat: Mapping[str, object] = GROUP, **fields: object) -> ParsedUpdate:
    return update(chat, "edited_message", ANNA, edit_date=2, **fields)


@pytest.mark.parametrize(
    "parsed",
    [
        edited(PRIVATE, text="hi"),
        edited(text="nothing that names the bot"),
        edited(text="/reset", entities=entity("bot_command", 6)),
        edited(text="/reset@OtherBot", entities=entity("bot_command", 15)),
        edited(photo=["a photo"], caption="what is this"),
        edited(photo=["a photo whose caption was taken away"]),
        edited(text=""),
        edited(text="anonymously", sender_chat=GROUP),
    ],
)
def test_an_edit_of_any_text_is_an_edit(parsed: ParsedUpdate) -> None:
    assert decide(parsed) == Admission(action="edit", reason="edited_message")


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(PRIVATE, "edited_message", {"id": 8, "is_bot": True}, text="hi"), "from_bot"),
        (edited({"id": -5, "type": "channel"}, text="hi"), "channel_post"),
        (update(kind="edited_channel_post", text="hi"), "channel_post"),
        (update(PRIVATE, kind="edited_business_message", text="hi"), "business_chat"),
        (edited(PRIVATE, location={"latitude": 1, "live_period": 60}), "no_text"),
        (edited(PRIVATE, poll={"question": "which?"}), "no_text"),
        (parse_update({"update_id": 1, "edited_message": {}}), "no_message"),
    ],
)
def test_an_edit_of_an_unstored_kind_is_ignored_with_a_reason(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == ignored(reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(kind="edited_message", text="hi", sender={"id": 8, "is_bot": True}), "from_bot"),
        (edited(text="hi", is_automatic_forward=True), "channel_post"),
        (edited(location={"latitude": 1.0, "longitude": 2.0, "live_period": 60}), "no_text"),
    ],
)
def test_an_edit_without_a_turn_is_overheard(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == overhears(reason)


@pytest.mark.parametrize("chat", [PRIVATE, GROUP])
def test_an_edit_by_a_person_without_access_gets_no_refusal(chat: Mapping[str, object]) -> None:
    access = Access(allowed_user_ids=NEVER)
    assert decide(edited(chat, text="@MnemoBot hi", entities=entity("mention", 9)), access) == ignored(
        "not_allowed"
    )


def button(data: str) -> ParsedUpdate:
    pressed = {"id": "q", "from": ANNA, "data": data, "message": {"message_id": 2, "chat": GROUP}}
    return parse_update({"update_id": 1, "callback_query": pressed}, CONTROLS.buttons)


def test_every_pressed_button_is_answered_for_everyone() -> None:
    stop = Admission(action="press", reason="stop_button", waits=False)
    assert decide(button("stop")) == stop
    assert decide(button("stop:42:7")) == stop
    assert decide(button("stop"), Access(allowed_user_ids=NEVER)) == stop
    assert decide(button("stopping")) == Admission(action="press", reason="unknown_button")


@pytest.mark.parametrize("word", CONTROLS.buttons)
def test_buttons_are_only_for_people_with_access_unless_they_stop_help_erase_or_tell_what_was_erased(
    word: str,
) -> None:
    waits = word != "stop"
    assert decide(button(word)) == Admission(action="press", reason=f"{word}_button", waits=waits)
    is_open = word in ("stop", "help", "reset", "memory")
    reason = f"{word}_button" if is_open else "unknown_button"
    expected = Admission(action="press", reason=reason, waits=waits)
    assert decide(button(word), Access(allowed_user_ids=NEVER)) == expected


@pytest.mark.parametrize(
    ("text", "entities", "stripped"),
    [
        ("@MnemoBot, hi @MnemoBot", [*entity("mention", 9), *entity("mention", 9, 14)], "hi @MnemoBot"),
        ("@mnemobot -5 + 3?", entity("mention", 9), "-5 + 3?"),
        ("Mnemo: hi", entity("text_mention", 5, user={"id": 99}), "hi"),
        ("@MnemoBot", entity("mention", 9), "@MnemoBot"),
        ("hi @MnemoBot", entity("mention", 9, 3), "hi @MnemoBot"),
        ("@Otto hi", entity("mention", 5), "@Otto hi"),
        ("hi", [], "hi"),
    ],
)
def test_only_a_leading_mention_of_the_bot_is_stripped(
    text: str, entities: list[dict[str, object]], stripped: str
) -> None:
    assert strip_mention(incoming(text, entities), bot=BOT) == stripped


def incoming(text: str, entities: list[dict[str, object]]) -> IncomingMessage:
    message = update(text=text, entities=entities).message
    assert message is not None
    return message
