"""Fakes of the outside for crash points:

Telegram, a model and files in this process, and a log that survives it.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.agent import openai_model
from bot.agent.model import JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec, Usage
from bot.errors import FileGone
from bot.transport.forms import ChatPlace
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from tests.openai_checker.request import find_fault
from tests.scripted_facts import fact_json, numbered_lines
from tests.summarizing_model import nothing_of

Json = dict[str, Any]

FIRST_OF_BOT = 1_001
"""The bot's messages are numbered from here on, what people say below."""

Brain = Callable[[Sequence[PromptMessage]], ModelReply]
"""The answers of a model, the same for the same prompt."""


class Log:
    """A log of outside events, one JSON line each. It survives the process."""

    def __init__(self, path: Path, *, who: str) -> None:
        self._path = path
        self._who = who

    def note(self, what: str, **told: Any) -> None:
        """Log an event."""
        line = json.dumps({"who": self._who, "what": what, **told}, separators=(",", ":"))
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode() + b"\n")
        os.close(file)

    def read(self) -> list[Json]:
        """Return all events of this chat, also from earlier processes."""
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def count(self, what: str) -> int:
        """Return the number of these events."""
        return sum(each["what"] == what for each in self.read())


async def _on_its_way() -> None:
    """Suspend before a request arrives or after its response: a crash here leaves it done or not done."""
    await asyncio.sleep(0)


class LoggedTelegram:
    """A Telegram that accepts everything and numbers its messages."""

    def __init__(self, log: Log, identity: BotIdentity) -> None:
        self._log = log
        self._identity = identity

    async def member_status(self, chat_id: int, user_id: int) -> str:
        """See TelegramApi."""
        return "member"

    async def send_message(
        self, to: ChatPlace, rich: RichText, *, reply_to: int | None = None, buttons: Sequence[Button] = ()
    ) -> int:
        """See TelegramApi."""
        return await self._send(to.chat_id, rich.text, has_buttons=bool(buttons))

    async def send_file(
        self,
        to: ChatPlace,
        content: bytes,
        *,
        kind: str = "document",
        name: str,
        caption: RichText | None = None,
        reply_to: int | None = None,
    ) -> int:
        """See TelegramApi."""
        return await self._send(to.chat_id, f"{name}: {content.decode()}", has_buttons=False)

    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None:
        """See TelegramApi."""
        await self._do("edit", chat=chat_id, message=message_id, text=rich.text, has_buttons=bool(buttons))

    async def remove_buttons(self, chat_id: int, message_id: int) -> None:
        """See TelegramApi."""
        await self._do("remove_buttons", chat=chat_id, message=message_id)

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """See TelegramApi."""
        await self._do("delete", chat=chat_id, message=message_id)

    async def send_draft(self, to: ChatPlace, draft_id: int, rich: RichText) -> None:
        """See TelegramApi."""
        await self._do("draft", chat=to.chat_id, text=rich.text)

    async def answer_callback(self, callback_id: str, text: str = "", *, is_alert: bool = False) -> None:
        """See TelegramApi."""
        await self._do("callback", id=callback_id, text=text)

    async def send_typing(self, to: ChatPlace) -> None:
        """See TelegramApi."""
        await self._do("typing", chat=to.chat_id)

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """Return True: everybody is an administrator."""
        await _on_its_way()
        return True

    async def get_me(self) -> BotIdentity:
        """See TelegramApi."""
        await _on_its_way()
        return self._identity

    async def _send(self, chat_id: int, text: str, *, has_buttons: bool) -> int:
        await _on_its_way()
        message_id = FIRST_OF_BOT + self._log.count("send")
        self._log.note("send", chat=chat_id, message=message_id, text=text, has_buttons=has_buttons)
        await _on_its_way()
        return message_id

    async def _do(self, what: str, **told: Any) -> None:
        await _on_its_way()
        self._log.note(what, **told)
        await _on_its_way()


def shown(events: Sequence[Json]) -> list[tuple[int, str]]:
    """Return the bot's messages at the end, with number and text, the oldest first."""
    there: dict[int, str] = {}
    for event in events:
        match event["what"]:
            case "send":
                there[event["message"]] = event["text"]
            case "edit" if event["message"] in there or event["message"] < FIRST_OF_BOT:
                there[event["message"]] = event["text"]
            case "delete":
                there.pop(event["message"], None)
            case _:
                pass
    return sorted(there.items())


class LoggedModel:
    """A model that answers in three pieces, and logs each prompt with the faults that OpenAI would report."""

    name = "scripted"

    def __init__(self, log: Log, brain: Brain, *, pause_s: float) -> None:
        self._log = log
        self._brain = brain
        self._pause_s = pause_s

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """See ChatModel."""
        await _on_its_way()
        fault = find_fault(_as_sent(messages, tools))
        told = [(message.role, message.text) for message in messages]
        self._log.note("model", fault=fault.message if fault else "", prompt=told)
        reply = self._brain(messages)
        if on_text is not None and reply.text:
            for end in (len(reply.text) // 3, 2 * len(reply.text) // 3, len(reply.text)):
                await asyncio.sleep(self._pause_s)
                await on_text(reply.text[:end])
        await _on_its_way()
        usage = Usage(prompt_tokens=10, completion_tokens=2)
        return ModelReply(
            text=reply.text, tool_calls=reply.tool_calls, usage=usage, finish_reason=reply.finish_reason
        )

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return a summary with the number of the given messages, or a fact of each numbered line."""
        await _on_its_way()
        self._log.note(schema.name)
        filled = nothing_of(schema.schema)
        if schema.name == "facts":
            lines = numbered_lines(messages[-1].text)
            filled["facts"] = [
                fact_json(subject="a shelf", statement=f"They keep: {line[-40:]}", messages=[number])
                for number, line in lines.items()
            ]
        else:
            filled["overview"] = f"They talk about {sum(len(each.text) for each in messages) % 7} shelves."
        await _on_its_way()
        return ModelReply(text=json.dumps(filled), finish_reason="stop")


class LoggedFiles:
    """Files whose ids are their texts."""

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """See MediaReader's Files."""
        await _on_its_way()
        if file_id == "gone":
            raise FileGone
        return file_id.encode()


def _as_sent(messages: Sequence[PromptMessage], tools: Sequence[ToolSpec]) -> Mapping[str, Any]:
    """Return the body of the request after encoding it to bytes."""
    body = openai_model.request_body("gpt-4o", messages, tools)
    return json.loads(json.dumps(body, ensure_ascii=False).encode())
