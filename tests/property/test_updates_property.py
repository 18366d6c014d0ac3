"""No JSON document makes reading or gating an update fail."""

from typing import get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.transport.contents import NOTE_CHARACTERS, attachment_in, note_on
from bot.transport.gating import Action, BotIdentity, admit, strip_mention
from bot.transport.updates import (
    QUOTED_CHARACTERS,
    UPDATE_KINDS,
    parse_command,
    parse_update,
    quote_of,
    without_quotations,
)

BOT = BotIdentity(id=99, username="bot")
FIELDS = """
    message_id chat from sender_chat text caption entities caption_entities user id type is_bot offset
    length date reply_to_message quote is_topic_message photo data message_thread_id message
    new_chat_member first_name title forum_topic_created forward_origin sender_user sender_user_name
    external_reply origin media_group_id voice document sticker location latitude longitude venue contact
    poll question options dice value animation video duration file_id file_size file_name width height
    pinned_message new_chat_members new_chat_title left_chat_member callback_query
"""
ACTIONS = frozenset(get_args(Action))

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
scalars |= st.sampled_from(
    ["private", "supergroup", "mention", "text_mention", "bot_command", "@bot", "/help", "stop"]
)
json: st.SearchStrategy[object] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS.split()), inner, max_size=8)
    ),
    max_leaves=30,
)
updates: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    st.sampled_from(["update_id", *sorted(UPDATE_KINDS)]) | st.text(max_size=5), json, max_size=3
)

entities = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["mention", "text_mention", "bot_command", "bold"]),
        "offset": st.integers(-1, 9),
        "length": st.integers(-1, 9) | st.integers(),
    }
)
plausible: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "message_id": st.integers(),
        "chat": st.fixed_dictionaries(
            {"id": st.integers(), "type": st.sampled_from(["private", "group", "channel"])}
        ),
    },
    optional={
        "text": st.text(max_size=9) | st.sampled_from(["/help", "/x@bot y", "@bot", "😀 @bot"]),
        "entities": st.lists(entities, max_size=3),
        "from": st.fixed_dictionaries({"id": st.integers() | st.just(99), "is_bot": st.booleans()}),
        "photo": json,
        "voice": json,
        "venue": json,
        "poll": json,
        "pinned_message": json,
        "forward_origin": json,
        "external_reply": json,
        "quote": json,
        "reply_to_message": json,
    },
)


def as_update(message: dict[str, object]) -> dict[str, object]:
    return {"update_id": 1, "message": message}


@given(updates | plausible.map(as_update), st.booleans())
@settings(deadline=None)
def test_every_object_is_parsed_and_gated(raw: dict[str, object], is_permitted: bool) -> None:
    update = parse_update(raw)

    admission = admit(update, bot=BOT, is_permitted=is_permitted, commands={"help"})

    assert update.kind in {*UPDATE_KINDS, "unknown"}
    assert admission.action in ACTIONS
    assert admission.reason
    assert admission.command is not None or admission.action != "command"


@given(updates | plausible.map(as_update))
@example(as_update({"message_id": 1, "chat": {"id": 1}, "external_reply": None, "quote": {"text": "0"}}))
@example(as_update({"message_id": 1, "chat": {"id": 1}, "photo": None, "pinned_message": {"message_id": 1}}))
@settings(deadline=None)
def test_a_stored_update_keeps_its_own_text_and_less_of_others(raw: dict[str, object]) -> None:
    before = parse_update(raw).message
    if before is None:
        return
    after = without_quotations(before, keeps_quoted=True)
    assert quote_of(after, 99) == quote_of(before, 99)
    assert (after.text, after.note, after.forwarded_from) == (
        before.text,
        before.note,
        before.forwarded_from,
    ) or before.event.pinned_message_id  # what it pins is another message's text
    quote = quote_of(before, 99)
    assert quote is None or 0 < len(quote.text) <= QUOTED_CHARACTERS
    assert len(before.note) <= NOTE_CHARACTERS
    assert len(before.note.splitlines()) <= 1


@given(plausible)
@settings(deadline=None)
def test_a_message_with_a_chat_and_an_id_is_always_parsed(raw: dict[str, object]) -> None:
    message = parse_update(as_update(raw)).message

    assert message is not None
    assert message.message_id == raw["message_id"]
    assert (message.note, message.attachment) == (note_on(raw), attachment_in(raw))
    command = parse_command(message)
    assert command is None or message.text.lower().removeprefix("/").startswith(command.name)
    assert strip_mention(message, bot=BOT) in message.text
