"""What people send in one go: forwarded messages, and albums."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from simulator.api.api_objects import chat_json, user_json
from simulator.api.contents import ALBUM_KINDS
from simulator.api.errors import PageError
from simulator.api.people import Line, write_line
from simulator.api.posting import chat_of, find_shown, open_chat_of, post
from simulator.api.simulation import Simulation
from simulator.api.world import Message

Origin: TypeAlias = Literal["user", "hidden_user", "chat", "channel"]

MAX_FORWARDED = 100
MAX_ALBUM = 10
# Telegram's own channel ids begin with -100 as those of supergroups do; no chat of the simulator has this one.
_CHANNEL_ID = -1_009_999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """`origin`: how the author is told: by account, by name only (people may hide theirs), as the group (its
    anonymous administrator wrote), or as a made-up channel `channel_title`. `comment` is sent before them.
    """

    chat_id: int
    from_id: int
    from_chat_id: int
    message_ids: tuple[int, ...]
    message_thread_id: int | None = None
    origin: Origin = "user"
    channel_title: str = "A channel"
    comment: str = ""


def forward(sim: Simulation, given: Forward) -> list[Message]:
    """Forward messages from a chat that the person is in, as one bundle in the order of their ids."""
    source = chat_of(sim, given.from_chat_id, given.from_id)
    originals = [find_shown(sim, source, one) for one in sorted(set(given.message_ids))[:MAX_FORWARDED]]
    if any(one.service is not None for one in originals) or not originals:
        raise PageError("Only messages can be forwarded.")
    chat = open_chat_of(sim, given.chat_id, given.from_id)
    thread_id = given.message_thread_id
    if thread_id is not None and not chat.has_thread(thread_id):
        raise PageError("There is no such topic in this chat.", status=404)
    comment = Line(chat_id=chat.id, from_id=given.from_id, text=given.comment, message_thread_id=thread_id)
    before = [write_line(sim, comment)] if given.comment.strip() else []
    albums = {one.media_group_id for one in originals if one.media_group_id}
    groups = {album: _new_group(sim) for album in sorted(albums)}
    return before + [
        post(
            sim,
            Message(
                chat_id=chat.id,
                sender_id=given.from_id,
                date=sim.now(),
                text=one.text,
                entities=one.entities,
                content=one.content,
                thread_id=thread_id,
                media_group_id=groups.get(one.media_group_id or ""),
                forward_origin=one.forward_origin or _origin_of(sim, given, one),
            ),
        )
        for one in originals
    ]


def send_album(sim: Simulation, lines: list[Line]) -> list[Message]:
    """2 to 10 pictures, videos, sounds or documents in one album."""
    kinds = {next(iter(line.content or {"text": ""})) for line in lines}
    if not 2 <= len(lines) <= MAX_ALBUM or kinds - ALBUM_KINDS:
        raise PageError(f"An album has 2 to {MAX_ALBUM} photos, videos, sounds or documents.")
    if len(kinds) > 1 and kinds - {"photo", "video"}:
        raise PageError("Sounds and documents make albums of their own.")
    group = _new_group(sim)
    return [write_line(sim, replace(line, media_group_id=group)) for line in lines]


def _new_group(sim: Simulation) -> str:
    return str(sim.next_number())


def _origin_of(sim: Simulation, given: Forward, original: Message) -> dict[str, Any]:
    """A MessageOrigin."""
    date = {"type": given.origin, "date": original.date}
    sender = sim.world.user(original.sender_id)
    match given.origin:
        case "user" if sender is not None:
            return date | {"sender_user": user_json(sender)}
        case "user" | "hidden_user":
            names = (sender.first_name, sender.last_name) if sender is not None else ("Deleted Account",)
            name = " ".join(one for one in names if one)
            return date | {"type": "hidden_user", "sender_user_name": name}
        case "chat":
            return date | {"sender_chat": chat_json(sim.world, sim.world.chats[original.chat_id])}
        case "channel":
            channel = {"id": _CHANNEL_ID, "title": given.channel_title, "type": "channel"}
            return date | {"chat": channel, "message_id": original.id}
