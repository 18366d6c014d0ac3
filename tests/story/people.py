"""People's actions in stories besides writing: send files, forward, edit, press, react, join and leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.sent_files import make_picture, make_voice_note

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The simulator's people.

    Without `chat` they act in private. `where` of a message: reply_to_message_id, message_thread_id,
    quote, as in simulator/api/page_api.py. An action that a Telegram app would refuse fails the test.
    """

    simulator: httpx.AsyncClient

    async def post(self, path: str, **body: Any) -> Json:
        """Send a request of the chat page."""
        answer = await self.simulator.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def upload(self, data: bytes, *, name: str = "file", mime_type: str = "") -> str:
        """Upload bytes and return the file id."""
        answer = await self.simulator.post(
            "/api/files",
            params={"name": name, "type": mime_type},
            content=data,
            headers={"content-type": "application/octet-stream"},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["file_id"]

    async def send(self, person: int, *, chat: int | None = None, **content: Any) -> Json:
        """Send any content and return the message:

        text, sticker="👍", location={…}, contact={…}, poll={…}, dice="🎲", raw={…}.
        """
        return await self.post(
            "messages", chat_id=person if chat is None else chat, from_id=person, **content
        )

    async def photo(
        self,
        person: int,
        caption: str = "",
        *,
        data: bytes | None = None,
        chat: int | None = None,
        **where: Any,
    ) -> Json:
        file_id = await self.upload(make_picture() if data is None else data, name="photo.png")
        return await self.send(person, chat=chat, photo=file_id, caption=caption, **where)

    async def voice(
        self, person: int, *, data: bytes | None = None, chat: int | None = None, **where: Any
    ) -> Json:
        """Send a voice message. `duration` (seconds) may be in `where`."""
        sound = make_voice_note() if data is None else data
        file_id = await self.upload(sound, name="voice.ogg", mime_type="audio/ogg")
        return await self.send(person, chat=chat, voice=file_id, **where)

    async def document(
        self,
        person: int,
        data: bytes,
        *,
        name: str,
        caption: str = "",
        mime_type: str = "",
        chat: int | None = None,
        **where: Any,
    ) -> Json:
        file_id = await self.upload(data, name=name, mime_type=mime_type)
        return await self.send(person, chat=chat, document=file_id, caption=caption, **where)

    async def album(self, person: int, *captions: str, chat: int | None = None, **where: Any) -> list[Json]:
        """Send an album with one photo for each caption, which may be empty."""
        items = [
            {"photo": await self.upload(make_picture(8 + number), name="photo.png"), "caption": caption}
            for number, caption in enumerate(captions)
        ]
        place = {"chat_id": person if chat is None else chat, "from_id": person}
        return (await self.post("albums", **place, items=items, **where))["messages"]

    async def forward(
        self, person: int, messages: Sequence[Json], *, chat: int | None = None, **how: Any
    ) -> list[Json]:
        """Forward messages of one chat.

        `how`: origin ("user", "hidden_user", "chat", "channel"), comment, message_thread_id.
        """
        return (
            await self.post(
                "forwards",
                chat_id=person if chat is None else chat,
                from_id=person,
                from_chat_id=messages[0]["chat"]["id"],
                message_ids=[message["message_id"] for message in messages],
                **how,
            )
        )["messages"]

    async def edit(self, message: Json, text: str) -> Json:
        """Change the text or caption of a message as its sender."""
        return await self.post("edits", **_place(message), from_id=message["from"]["id"], text=text)

    async def delete(self, person: int, message: Json) -> None:
        """Delete a message for everyone. The bot gets no update."""
        await self.post("deletions", **_place(message), from_id=person)

    async def press(self, person: int, message: Json, data: str, *, any_data: bool = False) -> str:
        """Press an inline button and return the id of the callback query.

        `any_data`: a button that the message does not have.
        """
        press = {"from_id": person, "data": data, "any_data": any_data}
        return (await self.post("callbacks", **_place(message), **press))["callback_query_id"]

    async def react(self, person: int, message: Json, emoji: str | None) -> None:
        await self.post("reactions", **_place(message), from_id=person, emoji=emoji)

    async def member(self, action: str, chat: int, *, by: int, user: int | None = None) -> Json:
        """Join or leave; as an administrator add, remove, promote or demote a user, possibly the bot."""
        return await self.post("members", chat_id=chat, from_id=by, action=action, user_id=user)

    async def block(self, chat: int, *, is_blocked: bool = True) -> None:
        """Block or unblock the bot in a private chat; remove it from a group or add it."""
        await self.post("blocks", chat_id=chat, blocked=is_blocked)

    async def upgrade(self, chat: int, *, by: int, order: str = "old_first") -> int:
        """Make a group a supergroup and return its new id. `order`: which of the two messages comes first."""
        return (await self.post("upgrades", chat_id=chat, from_id=by, order=order))["id"]

    async def new_person(self, first_name: str, **about: Any) -> int:
        """Create a person and return the id. `about`: username, language_code, is_operator, is_premium."""
        return (await self.post("people", first_name=first_name, **about))["id"]

    async def new_chat(self, title: str, members: Sequence[int], **about: Any) -> int:
        """Create a group with the bot and return its id. `about`: type, admins, is_forum, topics, has_bot."""
        body = {"title": title, "type": "group", "members": list(members)} | about
        return (await self.post("chats", **body))["id"]

    async def new_channel(self, title: str, members: Sequence[int], *, admin: int) -> Json:
        """Create a channel with comments and direct messages, and return it: comments_id, direct_messages_id."""
        more = {"has_comments": True, "has_direct_messages": True}
        body = {"title": title, "type": "channel", "members": list(members), "admins": [admin]}
        return await self.post("chats", **body, **more)

    async def new_topic(self, chat: int, name: str, *, by: int) -> int:
        """Create a topic and return its thread id."""
        return (await self.post("topics", chat_id=chat, from_id=by, name=name))["message_thread_id"]

    async def delete_topic(self, chat: int, thread: int, *, by: int) -> None:
        await self.post("topics", chat_id=chat, from_id=by, message_thread_id=thread)

    async def fault(self, error: str, **how: Any) -> None:
        """Make calls of the Bot API fail, as simulator/api/faults.py says."""
        await self.post("faults", error=error, **how)

    async def no_faults(self) -> None:
        """Remove all faults."""
        (await self.simulator.delete("/api/faults")).raise_for_status()

    async def calls(self, method: str | None = None, *, after: int = 0) -> list[Json]:
        """Return the calls of the Bot API so far (simulator/api/events.py), except getUpdates."""
        query = {"after": after} | ({} if method is None else {"method": method})
        return (await self.simulator.get("/api/calls", params=query)).json()["calls"]


def _place(message: Json) -> Json:
    return {"chat_id": message["chat"]["id"], "message_id": message["message_id"]}
