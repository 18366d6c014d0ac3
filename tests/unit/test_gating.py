"""Deciding what an update asks of us."""

from collections.abc import Mapping

import pytest

from bot.transport.gating import Access, Admission, BotIdentity, admit, strip_mention
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
    """A message that begins with a command, marked as Telegram marks it."""
    entities = entity("bot_command", len(text.split()[0]))
    return update(chat, "message", sender, text=text, entities=entities, **fields)


def decide(parsed: ParsedUpdate, access: Access | None = None) -> Admission:
    return admit(parsed, bot=BOT, access=access or Access(), commands=COMMANDS)


def ignored(reason: str) -> Admission:
    return Admission(action="ignore", reason=reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(PRIVATE, text="hello"), "private_chat"),
        (update(text="hello", reply_to_message=OURS), "reply"),
        (update(text="hi @mnemobot!", entities=entity("mention", 9, 3)), "mention"),
        (update(photo=["a photo"], caption="@MnemoBot", caption_entities=entity("mention", 9)), "mention"),
        (update(text="Mnemo, hi", entities=entity("text_mention", 5, user={"id": 99})), "mention"),
        (update(PRIVATE, photo=["a photo"], caption="what is this"), "private_chat"),
        (update(text="hello", reply_to_message=OURS, sender_chat=GROUP), "reply"),
    ],
)
def test_a_message_addressed_to_us_is_a_turn(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == Admission(action="turn", reason=reason)


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(text="hello"), "not_addressed"),
        (update(text="@MnemoBot without an entity"), "not_addressed"),
        (update(text="hi @MnemoBots", entities=entity("mention", 10, 3)), "not_addressed"),
        (update(text="Otto, hi", entities=entity("text_mention", 4, user={"id": 98})), "not_addressed"),
        (update(text="hi", reply_to_message={"message_id": 3, "from": ANNA}), "not_addressed"),
        (update(text="hi", reply_to_message=OURS | {"forum_topic_created": 1}), "not_addressed"),
        (written("/weather"), "not_addressed"),
        (written("/reset@OtherBot"), "other_bots_command"),
        (written("/reset@OtherBot", PRIVATE), "other_bots_command"),
        (written("/reset", sender={"id": 8, "is_bot": True}), "from_bot"),
        (update(PRIVATE, text="hi", sender={"id": 8, "is_bot": True}), "from_bot"),
        (update(text="hi", sender={"id": 99}), "from_bot"),
        (
            update(text="hi @MnemoBot", entities=entity("mention", 9, 3), is_automatic_forward=True),
            "channel_post",
        ),
        (update({"id": -5, "type": "channel"}, text="hi"), "channel_post"),
        (update(kind="channel_post", text="hi"), "channel_post"),
        (update(PRIVATE, kind="business_message", text="hi"), "unused_kind"),
        (update(kind="my_chat_member"), "unused_kind"),
        (update(kind="brand_new"), "unknown_kind"),
        (update(PRIVATE, new_chat_title="x"), "service_message"),
        (update(migrate_to_chat_id=-1001), "service_message"),
        (update(sticker="a file", reply_to_message=OURS), "no_text"),
        (parse_update({"update_id": 1, "message": {}}), "no_message"),
        (parse_update({"update_id": 1, "callback_query": {"id": "q", "data": "stop"}}), "no_message"),
    ],
)
def test_what_is_not_for_us_is_ignored_with_the_reason(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == ignored(reason)


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
            update(PRIVATE, voice="a file"),
            "command",
            "private_chat",
            Command(name="unreadable", argument="voice", mention=""),
        ),
    ],
)
def test_commands_of_ours_are_commands(
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
def test_those_who_may_use_the_bot_are_answered(access: Access) -> None:
    assert decide(written("/help"), access).action == "command"


@pytest.mark.parametrize("access", [Access(allowed_chat_ids=NEVER), Access(allowed_user_ids=NEVER)])
def test_others_are_refused_where_they_address_us_and_ignored_elsewhere(access: Access) -> None:
    assert decide(written("/help"), access) == Admission(action="refuse", reason="not_allowed")
    assert decide(update(PRIVATE, voice="a file"), access) == Admission(action="refuse", reason="not_allowed")
    assert decide(update(text="hello"), access) == ignored("not_allowed")


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
def test_an_edit_is_an_edit_whatever_it_says_and_whomever_it_addresses(parsed: ParsedUpdate) -> None:
    assert decide(parsed) == Admission(action="edit", reason="edited_message")


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (update(kind="edited_message", text="hi", sender={"id": 8, "is_bot": True}), "from_bot"),
        (edited({"id": -5, "type": "channel"}, text="hi"), "channel_post"),
        (edited(text="hi", is_automatic_forward=True), "channel_post"),
        (update(kind="edited_channel_post", text="hi"), "channel_post"),
        (update(PRIVATE, kind="edited_business_message", text="hi"), "unused_kind"),
        (edited(location={"latitude": 1, "live_period": 60}), "no_text"),
        (edited(PRIVATE, poll={"question": "which?"}), "no_text"),
        (parse_update({"update_id": 1, "edited_message": {}}), "no_message"),
    ],
)
def test_an_edit_of_what_is_never_kept_is_ignored_with_the_reason(parsed: ParsedUpdate, reason: str) -> None:
    assert decide(parsed) == ignored(reason)


@pytest.mark.parametrize("chat", [PRIVATE, GROUP])
def test_who_may_not_use_the_bot_edits_without_being_told_so(chat: Mapping[str, object]) -> None:
    access = Access(allowed_user_ids=NEVER)
    assert decide(edited(chat, text="@MnemoBot hi", entities=entity("mention", 9)), access) == ignored(
        "not_allowed"
    )


def button(data: str) -> ParsedUpdate:
    pressed = {"id": "q", "from": ANNA, "data": data, "message": {"message_id": 2, "chat": GROUP}}
    return parse_update({"update_id": 1, "callback_query": pressed})


def test_a_stop_button_stops() -> None:
    stop = Command(name="stop", argument="", mention="")
    assert decide(button("stop")) == Admission(action="stop", reason="stop_button", command=stop)
    assert decide(button("stop:42")) == Admission(action="stop", reason="stop_button", command=stop)
    assert decide(button("stopping")) == ignored("unused_kind")
    assert decide(button("stop"), Access(allowed_user_ids=NEVER)) == ignored("not_allowed")


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
