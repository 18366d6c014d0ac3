"""Content of a raw message: its file, and one short line for the model on anything that is not text (pure).

No shape of JSON makes it fail.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from bot.transport.json_fields import NOTHING, Json, float_in, int_in, name_in, object_in, objects_in, str_in
from bot.transport.received_text import read_text
from bot.transport.rich_messages import MORE_FILES, as_ordinary

SERVICE = "service"
"""Kind of a content that is an event in the chat."""
NOTE_CHARACTERS = 600
"""Maximum length of a note."""
FILE_KINDS = (
    *("animation", "live_photo", "audio", "document", "photo"),
    *("sticker", "video", "video_note", "voice"),
)
"""Kinds of content that consist of one file. An animation also has a document, a live photo also has a photo."""

VOICE_KINDS = ("voice", "video_note")
"""Files in which their sender speaks. Other recordings may have anybody's words."""

# Fields of service messages, from the Bot API documentation (10.0).
_SERVICE = """
    boost_added channel_chat_created chat_background_set chat_owner_changed chat_owner_left chat_shared
    checklist_tasks_added checklist_tasks_done connected_website delete_chat_photo direct_message_price_changed
    forum_topic_closed forum_topic_created forum_topic_edited forum_topic_reopened general_forum_topic_hidden
    general_forum_topic_unhidden gift gift_upgrade_sent giveaway giveaway_completed giveaway_created giveaway_winners
    group_chat_created invoice left_chat_member managed_bot_created message_auto_delete_timer_changed
    migrate_from_chat_id migrate_to_chat_id new_chat_members new_chat_photo new_chat_title paid_message_price_changed
    passport_data pinned_message poll_option_added poll_option_deleted proximity_alert_triggered refunded_payment
    successful_payment suggested_post_approval_failed suggested_post_approved suggested_post_declined
    suggested_post_paid suggested_post_refunded supergroup_chat_created unique_gift users_shared video_chat_ended
    video_chat_participants_invited video_chat_scheduled video_chat_started web_app_data write_access_allowed
"""
SENT_SERVICES = {
    "gift": "a gift",
    "unique_gift": "a gift",
    "giveaway": "a giveaway",
    "giveaway_winners": "a giveaway with its winners",
    "giveaway_completed": "a giveaway that has ended",
    "invoice": "an invoice",
}
"""Service messages that people send or forward like other content, and their notes."""

_NAME_CHARACTERS = 64
_PINNED_CHARACTERS = 200
_OPTIONS = 12
_PEOPLE = 10
_ENDING_CATEGORIES = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "Ps", "Pe", "Pi", "Pf"])
"""Categories of invisible characters, brackets and quotation marks: these could end a note or a quotation."""
_ENDING = frozenset('[]<>{}"`|″❝❞')
_HARMLESS = frozenset("()’")  # noqa: RUF001 - the apostrophe of names


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message; for a photo, its largest size."""

    kind: str
    """One of FILE_KINDS."""
    file_id: str
    """Name of the file for getFile."""
    unique_id: str
    """Identity of the file, the same for every bot and at all times."""
    size: int = 0
    """Bytes; 0 if unknown."""
    mime_type: str = ""
    file_name: str = ""
    duration_s: int = 0
    """0 if unknown."""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything in a message except its text."""

    kind: str = ""
    """One of MEDIA_KINDS, SERVICE, or "" without content."""
    file: Attachment | None = None
    more_files: tuple[Attachment, ...] = ()
    """The other files of a page."""
    note: str = ""


_NO_CONTENT = Content()


def content_in(message: Json) -> Content:
    """Return the content of a raw message, or of another object with such fields."""
    fields = message.keys() & _FIELDS
    if not fields:
        return _NO_CONTENT
    return Content(
        kind=next((kind for kind in MEDIA_KINDS if kind in fields), SERVICE),
        file=attachment_in(message),
        more_files=tuple(filter(None, map(attachment_in, objects_in(message, MORE_FILES)))),
        note=note_on(message),
    )


def attachment_in(message: Json) -> Attachment | None:
    """Return the file of a raw message; None if there is no file to fetch. Of a live photo it is the still picture."""
    kind = next((kind for kind in FILE_KINDS if kind in message), "")
    if kind == "live_photo" and objects_in(message, "photo"):
        kind = "photo"
    if kind == "photo":
        file = max(objects_in(message, "photo"), key=_pixels, default=NOTHING)
    else:
        file = object_in(message, kind)
    file_id = str_in(file, "file_id")
    if not file_id:
        return None
    side = int_in(file, "length") or 0  # a video note is square
    return Attachment(
        kind=kind,
        file_id=file_id,
        unique_id=str_in(file, "file_unique_id"),
        size=max(0, int_in(file, "file_size") or 0),
        mime_type=str_in(file, "mime_type"),
        file_name=str_in(file, "file_name"),
        duration_s=max(0, int_in(file, "duration") or 0),
        width=int_in(file, "width") or side,
        height=int_in(file, "height") or side,
    )


def _pixels(size: Json) -> int:
    return (int_in(size, "width") or 0) * (int_in(size, "height") or 0)


def note_on(message: Json) -> str:
    """Return one line on the content of a raw message, or on the event of a service message; "" for plain text.

    Names and texts of people cannot forge a mark or a second line in it: brackets, quotation marks and control
    characters are left out. Never raises.
    """
    note = _described(message, _NOTES)
    return note if len(note) <= NOTE_CHARACTERS else f"{note[: NOTE_CHARACTERS - 1]}…"


def _described(message: Json, notes: "_Notes") -> str:
    return next((describe(message) for kind, describe in notes.items() if kind in message), "")


def plain_words(text: str, at_most: int = _NAME_CHARACTERS) -> str:
    """Return the text on one line, cut, and without characters that could end a note or a quotation."""
    plain = " ".join("".join(each if _is_plain(each) else " " for each in text).split())
    return plain if len(plain) <= at_most else f"{plain[: at_most - 1]}…"


@lru_cache(maxsize=4_096)
def _is_plain(character: str) -> bool:
    """Return False for invisible characters, and for all Unicode forms of brackets and quotation marks."""
    if character in _HARMLESS:
        return True
    normal = unicodedata.normalize("NFKC", character)
    return unicodedata.category(character) not in _ENDING_CATEGORIES and _ENDING.isdisjoint(normal)


def _sticker(message: Json) -> str:
    sticker = object_in(message, "sticker")
    emoji, name = plain_words(str_in(sticker, "emoji")), plain_words(str_in(sticker, "set_name"))
    return _joined("a sticker", f" {emoji}" if emoji else "", f" of the set {name}" if name else "")


def _location(message: Json) -> str:
    location = object_in(message, "location")
    kind = "a live location" if int_in(location, "live_period") else "a location"
    return _joined(kind, _at(location))


def _venue(message: Json) -> str:
    venue = object_in(message, "venue")
    words = [plain_words(str_in(venue, "title")), plain_words(str_in(venue, "address"), 120)]
    return _joined("a venue", *(f", {each}" for each in words if each), _at(object_in(venue, "location")))


def _at(location: Json) -> str:
    latitude = float_in(location, "latitude", at_most=90)
    longitude = float_in(location, "longitude", at_most=180)
    return "" if latitude is None or longitude is None else f" at {latitude:.5f}, {longitude:.5f}"


def _contact(message: Json) -> str:
    contact = object_in(message, "contact")
    full = " ".join(filter(None, (str_in(contact, "first_name"), str_in(contact, "last_name"))))
    words = [plain_words(full), plain_words(str_in(contact, "phone_number"))]
    return _joined("a contact", *(f", {each}" for each in words if each))


def _poll(message: Json) -> str:
    poll = object_in(message, "poll")
    kind = "a quiz" if poll.get("type") == "quiz" else "a poll"
    several = " with several answers allowed" if poll.get("allows_multiple_answers") is True else ""
    return f"{kind}{several}: {plain_words(str_in(poll, 'question'), 200)}{_listed(poll, 'options')}"


def _checklist(message: Json) -> str:
    checklist = object_in(message, "checklist")
    return f"a checklist: {plain_words(str_in(checklist, 'title'), 200)}{_listed(checklist, 'tasks')}"


def _listed(content: Json, name: str) -> str:
    """Return the options of a poll with their votes, or the tasks of a checklist with those that are done."""
    listed: list[str] = []
    for each in objects_in(content, name)[:_OPTIONS]:
        votes = int_in(each, "voter_count")
        state = f" (votes: {votes})" if votes else " (done)" if each.get("completion_date") else ""
        listed.append(plain_words(str_in(each, "text")) + state)
    return f" – {name}: {'; '.join(listed)}" if listed else ""


def replied_choice(message: Json, replied: Json) -> str:
    """Return the one task of a checklist, or option of a poll, that a message replies to; "" if it is all of them."""
    names = (message.get("reply_to_checklist_task_id"), message.get("reply_to_poll_option_id"))
    tasks = objects_in(object_in(replied, "checklist"), "tasks")
    choices = [*tasks, *objects_in(object_in(replied, "poll"), "options")]
    chosen = [each for each in choices if each.get("id", each.get("persistent_id", names)) in names]
    return f"{str_in(chosen[0], 'text')} ({note_on(replied)})" if chosen else ""


def _dice(message: Json) -> str:
    dice = object_in(message, "dice")
    value = int_in(dice, "value")
    shown = "" if value is None else f" that shows {value % 1000}"
    return _joined("a dice", f" {plain_words(str_in(dice, 'emoji')) or '🎲'}", shown)


def _game(message: Json) -> str:
    title = plain_words(str_in(object_in(message, "game"), "title"))
    return _joined("a game", f", {title}" if title else "")


def _story(message: Json) -> str:
    name = plain_words(name_in(object_in(object_in(message, "story"), "chat")))
    return _joined("a story", f" of {name}" if name else "")


def _file(kind: str) -> Callable[[Json], str]:
    def described(message: Json) -> str:
        attachment = attachment_in(message)
        if attachment is None or not attachment.duration_s:
            return kind
        minutes, seconds = divmod(min(attachment.duration_s, 99 * 3600), 60)
        return f"{kind} of {minutes}:{seconds:02}"

    return described


def _audio(message: Json) -> str:
    audio = object_in(message, "audio")
    names = [plain_words(str_in(audio, key)) for key in ("title", "performer")]
    title = " by ".join(filter(None, names)) or plain_words(str_in(audio, "file_name"))
    return _joined(_file("an audio file")(message), f", {title}" if title else "")


def _document(message: Json) -> str:
    attachment = attachment_in(message)
    name = plain_words(attachment.file_name) if attachment else ""
    size = f" ({size_in_words(attachment.size)})" if attachment and attachment.size else ""
    return _joined("a document", f", {name}" if name else "", size)


def size_in_words(size: int) -> str:
    """Return a size in bytes as people write it, such as "1.2 MB"."""
    if size < 1_000:
        return f"{size} bytes"
    if size < 1_000_000:
        return f"{size // 1_000} KB"
    return f"{size / 1_000_000:.1f} MB" if size < 10**12 else "more than 1,000 GB"


def _joined(*parts: str) -> str:
    return "".join(parts)


_Notes: TypeAlias = Mapping[str, Callable[[Json], str]]
_CONTENTS: _Notes = {
    "animation": _file("an animation"),
    "live_photo": _file("a live photo"),
    "audio": _audio,
    "document": _document,
    "paid_media": lambda _: "paid media",
    "photo": lambda _: "a photo",
    "sticker": _sticker,
    "story": _story,
    "video": _file("a video"),
    "video_note": _file("a video message"),
    "voice": _file("a voice message"),
    "checklist": _checklist,
    "contact": _contact,
    "dice": _dice,
    "game": _game,
    "poll": _poll,
    "venue": _venue,
    "location": _location,
}
"""Order matters: an animation also has a document, a venue a location, a live photo a photo."""
MEDIA_KINDS = tuple(_CONTENTS)
"""Contents that people send."""


def _actor(message: Json) -> str:
    return plain_words(name_in(object_in(message, "sender_chat") or object_in(message, "from"))) or "Somebody"


def _joined_members(message: Json) -> str:
    actor, members = _actor(message), objects_in(message, "new_chat_members")
    names = [plain_words(name_in(each)) or "somebody" for each in members[:_PEOPLE]]
    more = f" and {len(members) - _PEOPLE} more" if len(members) > _PEOPLE else ""
    if not names:
        return ""
    is_own = len(members) == 1 and members[0].get("id") == object_in(message, "from").get("id")
    return f"{actor} joined" if is_own else f"{actor} added {', '.join(names)}{more}"


def _left(message: Json) -> str:
    actor, member = _actor(message), object_in(message, "left_chat_member")
    is_own = member.get("id") == object_in(message, "from").get("id")
    return f"{actor} left" if is_own else f"{actor} removed {plain_words(name_in(member)) or 'somebody'}"


def _pinned(message: Json) -> str:
    actor, pinned = _actor(message), as_ordinary(object_in(message, "pinned_message"))
    writer = plain_words(name_in(object_in(pinned, "sender_chat") or object_in(pinned, "from")))
    text = plain_words(read_text(pinned), _PINNED_CHARACTERS)
    if not text:
        # Only _CONTENTS: a forged chain of pinned service messages must not recurse.
        text = _described(pinned, _CONTENTS)[:_PINNED_CHARACTERS]
    whose = f"a message of {writer}" if writer else "a message"
    return _joined(f"{actor} pinned {whose}", f": {text}" if text else "")


def _topic(what: str, key: str) -> Callable[[Json], str]:
    def described(message: Json) -> str:
        actor, name = _actor(message), plain_words(str_in(object_in(message, key), "name"))
        return f"{actor} {what} {name}" if name else f"{actor} {what.removesuffix(' to')}"

    return described


def _did(what: str) -> Callable[[Json], str]:
    return lambda message: f"{_actor(message)} {what}"


def _title(message: Json) -> str:
    return f"{_actor(message)} changed the title to {plain_words(str_in(message, 'new_chat_title'), 128)}"


def _timer(message: Json) -> str:
    actor = _actor(message)
    seconds = int_in(object_in(message, "message_auto_delete_timer_changed"), "message_auto_delete_time") or 0
    if seconds <= 0:
        return f"{actor} turned the automatic deletion of messages off"
    hours = min(seconds, 10**9) // 3600
    after = f"{hours} hours" if hours else f"{seconds} seconds"
    return f"{actor} had messages delete themselves after {after}"


_NOTES: _Notes = {
    **_CONTENTS,
    **{kind: lambda _, words=words: words for kind, words in SENT_SERVICES.items()},
    "new_chat_members": _joined_members,
    "left_chat_member": _left,
    "new_chat_title": _title,
    "new_chat_photo": _did("changed the photo of the chat"),
    "delete_chat_photo": _did("removed the photo of the chat"),
    "group_chat_created": _did("created the group"),
    "supergroup_chat_created": _did("created the group"),
    "pinned_message": _pinned,
    "forum_topic_created": _topic("created the topic", "forum_topic_created"),
    "forum_topic_edited": _topic("renamed the topic to", "forum_topic_edited"),
    "forum_topic_closed": _did("closed the topic"),
    "forum_topic_reopened": _did("opened the topic again"),
    "message_auto_delete_timer_changed": _timer,
    "video_chat_scheduled": _did("scheduled a video chat"),
    "video_chat_started": _did("started a video chat"),
    "video_chat_ended": lambda _: "The video chat ended",
    "video_chat_participants_invited": _did("invited people to the video chat"),
    "boost_added": _did("boosted the chat"),
}
"""Notes on all contents; those of events are sentences with the names of the people."""
_FIELDS = frozenset(_SERVICE.split()) | _CONTENTS.keys()
