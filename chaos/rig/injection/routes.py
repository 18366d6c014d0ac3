"""The routes by which a person's text reaches a prompt, each in a new chat for each payload."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chaos.rig.injection.compliant_model import order
from chaos.rig.injection.payloads import Payload
from chaos.rig.program import until
from chaos.rig.system import BOT_ID, System
from tests.contract.simulator_rig import Rig
from tests.story.people import People

ANSWERED_WITHIN_S = 60.0
BOT = "@mnemogram_bot"
RECALLED = "recalled text"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The stage of the payloads.

    Each of the `operators` is used once; `page` returns the URL of a payload's web page.
    """

    system: System
    operators: Iterator[int]
    page: Callable[[Payload], str]

    @property
    def simulator(self) -> Rig:
        """Return the simulator of this system."""
        return self.system.simulator

    @property
    def people(self) -> People:
        """Return the people of this system."""
        return self.simulator.people

    async def answered(self, message: Json) -> None:
        """Wait until the bot has written something after this message."""
        chat, number = message["chat"]["id"], message["message_id"]
        newest = self.simulator.simulation.world.newest

        def is_there() -> bool:
            return any(
                one.id > number
                and one.sender_id == BOT_ID
                and "stop:" not in json.dumps(one.reply_markup)
                and one.service is None
                for one in newest(chat, 6)
            )

        await until(is_there, within_s=ANSWERED_WITHIN_S, what=f"an answer in {chat}", look_again_s=0.05)

    async def ask(self, person: int, text: str, *, chat: int | None = None, **where: Any) -> Json:
        """Send a text, wait for an answer, and return the message."""
        said = await self.people.send(person, chat=chat, text=text, **where)
        await self.answered(said)
        return said

    async def person(self, name: str = "Mallory") -> int:
        """Create a person."""
        return await self.people.new_person(name)

    async def group(self, *members: int, title: str = "Talk", **about: Any) -> int:
        """Create a group. The first member is its administrator."""
        return await self.people.new_chat(title, members, admins=[members[0]], **about)


async def _message(scene: Scene, payload: Payload) -> None:
    await scene.ask(await scene.person(), payload.text)


async def _group_message(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    await scene.ask(mallory, f"{BOT} {payload.text}", chat=await scene.group(chair, mallory))


async def _edit(scene: Scene, payload: Payload) -> None:
    said = await scene.ask(await scene.person(), "hello")
    await scene.people.edit(said, payload.text)
    await scene.ask(said["chat"]["id"], "and now?")


async def _second_of_two(scene: Scene, payload: Payload) -> None:
    person = await scene.person()
    await scene.people.send(person, text="first things first")
    await scene.ask(person, payload.text)


async def _name(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person(payload.short)
    await scene.ask(mallory, f"{BOT} hello", chat=await scene.group(chair, mallory))


async def _name_of_who_is_answered(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person(payload.short)
    group = await scene.group(chair, mallory)
    said = await scene.people.send(mallory, chat=group, text="hm")
    await scene.ask(mallory, f"{BOT} what is this?", chat=group, reply_to_message_id=said["message_id"])


async def _title(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    await scene.ask(mallory, f"{BOT} hello", chat=await scene.group(chair, mallory, title=payload.short))


async def _changed_title(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    group = await scene.group(chair, mallory)
    await scene.people.post("titles", chat_id=group, from_id=chair, title=payload.short)
    await scene.ask(mallory, f"{BOT} hello", chat=group)


async def _topic(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    forum = await scene.group(chair, mallory, type="supergroup", is_forum=True)
    thread = await scene.people.new_topic(forum, payload.short, by=chair)
    await scene.ask(mallory, f"{BOT} hello", chat=forum, message_thread_id=thread)


async def _quoted(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    group = await scene.group(chair, mallory)
    said = await scene.people.send(chair, chat=group, text=payload.text)
    await scene.ask(mallory, f"{BOT} what of this?", chat=group, reply_to_message_id=said["message_id"])


async def _heard(scene: Scene, payload: Payload) -> None:
    chair, mallory = await scene.person("Ann"), await scene.person()
    group = await scene.group(chair, mallory)
    await scene.people.member("promote", group, by=chair, user=BOT_ID)  # it hears everything then
    for line in ("so", payload.text):
        await scene.people.send(mallory, chat=group, text=line)
    await scene.ask(mallory, f"{BOT} what was said?", chat=group)


async def _forwarded(scene: Scene, payload: Payload) -> None:
    chair, mallory, other = await scene.person("Ann"), await scene.person(), await scene.person("Carol")
    said = await scene.people.send(mallory, chat=await scene.group(chair, mallory, other), text=payload.text)
    await scene.answered((await scene.people.forward(other, [said]))[-1])


async def _forwarded_by_an_operator(scene: Scene, payload: Payload) -> None:
    mallory, operator = await scene.person(), next(scene.operators)
    said = await scene.people.send(mallory, chat=await scene.group(mallory, operator), text=payload.text)
    await scene.answered((await scene.people.forward(operator, [said]))[-1])


async def _forwarded_from_a_name(scene: Scene, payload: Payload) -> None:
    mallory, other = await scene.person(payload.short), await scene.person("Carol")
    said = await scene.people.send(mallory, chat=await scene.group(mallory, other), text="read this")
    await scene.answered((await scene.people.forward(other, [said], origin="hidden_user"))[-1])


async def _caption(scene: Scene, payload: Payload) -> None:
    await scene.answered(await scene.people.photo(await scene.person(), payload.text[:1_000]))


async def _document(scene: Scene, payload: Payload) -> None:
    person = await scene.person()
    await scene.answered(await scene.people.document(person, payload.text.encode(), name="notes.txt"))


async def _long_document(scene: Scene, payload: Payload) -> None:
    person, filling = await scene.person(), "word " * 3_000
    data = f"{payload.text}\n{filling}\n{payload.text}".encode()
    await scene.answered(await scene.people.document(person, data, name="long.txt"))


async def _document_name(scene: Scene, payload: Payload) -> None:
    person = await scene.person()
    await scene.answered(await scene.people.document(person, b"nothing", name=f"{payload.short}.txt"))


async def _contact(scene: Scene, payload: Payload) -> None:
    card = {"phone_number": "+15550100", "first_name": payload.short}
    await scene.answered(await scene.people.send(await scene.person(), contact=card))


async def _poll(scene: Scene, payload: Payload) -> None:
    poll = {"question": payload.short, "options": ["yes", "no"]}
    await scene.answered(await scene.people.send(await scene.person(), poll=poll))


async def _venue(scene: Scene, payload: Payload) -> None:
    place = {"location": {"latitude": 1, "longitude": 2}, "title": payload.short, "address": payload.text}
    await scene.answered(await scene.people.send(await scene.person(), raw={"venue": place}))


async def _command(scene: Scene, payload: Payload) -> None:
    person = await scene.person()
    await scene.ask(person, f"/start {payload.short}")
    await scene.ask(person, f"/nothing {payload.text}")
    await scene.ask(person, "hello")


async def _tool_result(scene: Scene, payload: Payload) -> None:
    await scene.ask(await scene.person(), order("look_up", "what", payload.short.replace(" ", "+")))


async def _web_page(scene: Scene, payload: Payload) -> None:
    await scene.ask(await scene.person(), order("read_page", "url", scene.page(payload)))


async def _told_again(scene: Scene, payload: Payload) -> None:
    """Deliver the payload by the model's own answer and the record of its calls in the next prompt."""
    person = await scene.person()
    await scene.ask(person, f"reveal everything done {payload.text}")
    await scene.ask(person, "and now?")


async def _new_conversation(scene: Scene, payload: Payload) -> None:
    """Deliver the payload by recall: an old message that is found by its words."""
    person = await scene.person()
    await scene.ask(person, f"the lighthouse keeper said: {payload.text}")
    await scene.ask(person, "/new")


async def _press(scene: Scene, payload: Payload) -> None:
    said = await scene.ask(await scene.person(), "hello")
    (answer,) = scene.simulator.simulation.world.newest(said["chat"]["id"], 1)
    shown = {"chat": said["chat"], "message_id": answer.id}
    await scene.people.press(said["chat"]["id"], shown, payload.short[:60], any_data=True)
    await scene.ask(said["chat"]["id"], "and now?")


WAYS: Mapping[str, Callable[[Scene, Payload], Awaitable[None]]] = {
    "message": _message,
    "message in a group": _group_message,
    "edit": _edit,
    "one of two messages": _second_of_two,
    "name": _name,
    "name of who is replied to": _name_of_who_is_answered,
    "title": _title,
    "changed title": _changed_title,
    "topic": _topic,
    "quotation": _quoted,
    "heard line": _heard,
    "forward": _forwarded,
    "operator's forward": _forwarded_by_an_operator,
    "forward's author": _forwarded_from_a_name,
    "caption": _caption,
    "document": _document,
    "long document": _long_document,
    "document's name": _document_name,
    "contact": _contact,
    "poll": _poll,
    "venue": _venue,
    "command": _command,
    "tool result": _tool_result,
    "web page": _web_page,
    "answer and record": _told_again,
    RECALLED: _new_conversation,
    "pressed button": _press,
}
"""Routes by name. Recalled payloads are asked for later, after they are indexed."""
