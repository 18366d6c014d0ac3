"""What people do in a story beside writing: send files, forward, edit, press, react, come and go."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.sent_files import a_picture, a_voice_note

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The simulator's people. Without `chat` they act in private. `where` of a message: reply_to_message_id,
    message_thread_id, quote, as simulator/api/page_api.py has them. What a Telegram app would refuse fails the test.
    """

    simulator: httpx.AsyncClient

    async def post(self, path: str, **body: Any) -> Json:
        """A request of the chat page."""
        answer = await self.simulator.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def upload(self, data: bytes, *, name: str = "file", mime_type: str = "") -> str:
        """The file id to send these bytes by."""
        answer = await self.simulator.post(
            "/api/files",
            params={"name": name, "type": mime_type},
            content=data,
            headers={"content-type": "application/octet-stream"},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["file_id"]

    async def send(self, person: int, *, chat: int | None = None, **content: Any) -> Json:
        """Anything: text, sticker="👍", location={…}, contact={…}, poll={…}, dice="🎲", raw={…}. The message."""
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
        file_id = await self.upload(a_picture() if data is None else data, name="photo.png")
        return await self.send(person, chat=chat, photo=file_id, caption=caption, **where)

    async def voice(
        self, person: int, *, data: bytes | None = None, chat: int | None = None, **where: Any
    ) -> Json:
        """A voice message; `duration` (seconds) may be among `where`."""
        sound = a_voice_note() if data is None else data
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
        """As many photos as captions, which may be empty."""
        items = [
            {"photo": await self.upload(a_picture(8 + number), name="photo.png"), "caption": caption}
            for number, caption in enumerate(captions)
        ]
        place = {"chat_id": person if chat is None else chat, "from_id": person}
        return (await self.post("albums", **place, items=items, **where))["messages"]

    async def forward(
        self, person: int, messages: Sequence[Json], *, chat: int | None = None, **how: Any
    ) -> list[Json]:
        """Messages of one chat; `how`: origin ("user", "hidden_user", "chat", "channel"), comment, message_thread_id."""
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
        """The sender of a message changes its text or caption."""
        return await self.post("edits", **_place(message), from_id=message["from"]["id"], text=text)

    async def delete(self, person: int, message: Json) -> None:
        """A person deletes a message for everyone; the bot is not told."""
        await self.post("deletions", **_place(message), from_id=person)

    async def press(self, person: int, message: Json, data: str, *, any_data: bool = False) -> str:
        """Press an inline button; `any_data`: one that the message does not have. The id of the callback query."""
        press = {"from_id": person, "data": data, "any_data": any_data}
        return (await self.post("callbacks", **_place(message), **press))["callback_query_id"]

    async def react(self, person: int, message: Json, emoji: str | None) -> None:
        await self.post("reactions", **_place(message), from_id=person, emoji=emoji)

    async def member(self, action: str, chat: int, *, by: int, user: int | None = None) -> Json:
        """join, leave; by an administrator: add, remove, promote, demote a user, who may be the bot."""
        return await self.post("members", chat_id=chat, from_id=by, action=action, user_id=user)

    async def block(self, chat: int, *, is_blocked: bool = True) -> None:
        """Block or unblock the bot in a private chat; remove it from or add it to a group."""
        await self.post("blocks", chat_id=chat, blocked=is_blocked)

    async def upgrade(self, chat: int, *, by: int, order: str = "old_first") -> int:
        """Make a group a supergroup: its new id. `order`: which of the two messages comes first."""
        return (await self.post("upgrades", chat_id=chat, from_id=by, order=order))["id"]

    async def new_person(self, first_name: str, **about: Any) -> int:
        """A person's id; `about`: username, language_code, is_operator, is_premium."""
        return (await self.post("people", first_name=first_name, **about))["id"]

    async def new_chat(self, title: str, members: Sequence[int], **about: Any) -> int:
        """A group's id, with the bot in it; `about`: type, admins, is_forum, topics, has_bot."""
        body = {"title": title, "type": "group", "members": list(members)} | about
        return (await self.post("chats", **body))["id"]

    async def new_topic(self, chat: int, name: str, *, by: int) -> int:
        """A topic's thread id."""
        return (await self.post("topics", chat_id=chat, from_id=by, name=name))["message_thread_id"]

    async def delete_topic(self, chat: int, thread: int, *, by: int) -> None:
        await self.post("topics", chat_id=chat, from_id=by, message_thread_id=thread)

    async def fault(self, error: str, **how: Any) -> None:
        """Have calls of the Bot API fail, as simulator/api/faults.py says."""
        await self.post("faults", error=error, **how)

    async def no_faults(self) -> None:
        """Nothing fails any more."""
        (await self.simulator.delete("/api/faults")).raise_for_status()

    async def calls(self, method: str | None = None, *, after: int = 0) -> list[Json]:
        """The calls of the Bot API so far (simulator/api/events.py), but getUpdates."""
        query = {"after": after} | ({} if method is None else {"method": method})
        return (await self.simulator.get("/api/calls", params=query)).json()["calls"]


def _place(message: Json) -> Json:
    return {"chat_id": message["chat"]["id"], "message_id": message["message_id"]}
