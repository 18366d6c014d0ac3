"""A whole bot for a story: the real service on real stores, a simulator and a scripted model over HTTP."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx

from bot.agent.agents_file import Options
from bot.app.agents import DEMO_AGENTS
from bot.app.service import run_service
from bot.features.settings import load_settings
from bot.settings import WEBHOOK_PATH, Settings
from bot.transport.controls import DETAILS_BUTTON
from bot.transport.http_server import SECRET_HEADER
from bot.transport.ingest import telegram_ref
from bot.transport.texts import details_text
from bot.transport.words import words_for
from chaos.rig.system import free_port
from memory import keys
from memory.embedded.supervisor import IndexEndpoint
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from simulator.api.config import SimulatorConfig
from simulator.service import serve
from tests.local_http import local_client
from tests.redis_values import keys_with
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_script import Script, echo
from tests.story.people import People

OLGA, BEN, CHIARA = 1001, 1002, 1003
"""The simulator's people, and their private chats; Olga is the operator and administers both groups."""
WEEKEND = -2001
WORKSHOP, IDEAS, BUGS = -1003001, 2, 3
"""A forum: the topics of "General" (no thread), "Ideas" and "Bugs"."""
BOT = 4242

FIRST_PUSHED = 2_000_000_000
"""Update ids beyond the simulator's own."""
DEADLINE_S = 30.0

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryStores:
    """The stores of a test: an empty Redis, and an index server that other tests use too."""

    redis: RedisClient
    redis_url: str
    index: IndexEndpoint


@dataclass(slots=True, kw_only=True)
class Story:
    """The bot and its people. Messages are Bot API objects, as the chat page gets them."""

    settings: Settings
    model: ScriptedOpenAI
    redis: RedisClient
    simulator: httpx.AsyncClient
    events: list[Json] = field(default_factory=list[Json])
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _services: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _pushed: int = 0

    @property
    def http_url(self) -> str:
        """Return the address of the bot's HTTP server."""
        return f"http://127.0.0.1:{self.settings.http_port}"

    def start(self, *, serve: bool = True, work: bool = True) -> None:
        """Start another service."""
        if self.stopping.is_set():
            self.stopping = asyncio.Event()
        running = run_service(self.settings, serve=serve, work=work, stopping=self.stopping)
        self._services.append(asyncio.create_task(running, name=f"service-{len(self._services)}"))

    async def stop(self) -> None:
        """Stop every service as SIGTERM does, and wait for its end."""
        self.stopping.set()
        services, self._services = self._services, []
        if services:
            await asyncio.wait(services)
        for service in services:
            service.result()

    async def say(
        self,
        person: int,
        text: str,
        *,
        chat: int | None = None,
        thread: int | None = None,
        reply_to: int | None = None,
        quote: str | None = None,
    ) -> Json:
        """Send a message of a person and return it.

        Without `chat` it is private. `quote` is a part of the replied message.
        """
        line = {"chat_id": person if chat is None else chat, "from_id": person, "text": text}
        where = {"message_thread_id": thread, "reply_to_message_id": reply_to, "quote": quote}
        return await self.page("messages", line | where)

    @property
    def people(self) -> People:
        """Return the people, who can also send photos, forward, edit, press buttons, join and leave."""
        return People(simulator=self.simulator)

    async def push(self, update: Json) -> None:
        """Push an update with a new id to the webhook that the simulator's people cannot create."""
        self._pushed += 1
        body = {"update_id": FIRST_PUSHED + self._pushed} | update
        async with local_client(timeout_s=DEADLINE_S) as client:
            answer = await client.post(
                f"{self.http_url}{WEBHOOK_PATH}",
                content=json.dumps(body),  # ASCII, as lone surrogates have no other form
                headers={SECRET_HEADER: self.settings.secret},
            )
        assert answer.status_code == 200, answer.text

    async def wait_for_reply(self, to: Json) -> Json:
        """Wait for the bot's first message after this one in its chat and topic."""
        await self.wait_until(lambda: bool(self._replies_to(to)))
        return self._replies_to(to)[0]

    async def ask(self, person: int, text: str, *, chat: int | None = None, thread: int | None = None) -> str:
        """Send a text and return the text of the reply; see `receipt_of`."""
        return receipt_of(await self.wait_for_reply(await self.say(person, text, chat=chat, thread=thread)))

    async def reset(
        self, person: int, argument: str = "", *, chat: int | None = None, thread: int | None = None
    ) -> str:
        """Say /reset, press the button of the question, and return the receipt that takes its place."""
        asked = await self.say(person, f"/reset {argument}".strip(), chat=chat, thread=thread)
        question = await self.wait_for_reply(asked)
        await self.people.press(person, question, buttons_of(question)[0])
        return await self.wait_for_receipt(question)

    async def wait_for_receipt(self, question: Json) -> str:
        """Return the text that takes the place of a question with a button; see `receipt_of`."""

        def now() -> Json:
            shown = self.shown_in(question["chat"]["id"])
            return next(each for each in shown if each["message_id"] == question["message_id"])

        await self.wait_until(lambda: buttons_of(now()) != buttons_of(question))
        return receipt_of(now())

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds. Fail after DEADLINE_S or when the service has ended."""

        async def answered() -> bool:
            return holds()

        await self.wait_until_true(answered)

    async def wait_until_true(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait until an asynchronous condition holds."""
        async with asyncio.timeout(DEADLINE_S):
            while not await holds():
                for service in self._services:
                    assert not service.done(), service
                await asyncio.sleep(0.005)

    async def health(self) -> tuple[int, dict[str, Any]]:
        """Return the status of /health/ready and the unavailable parts."""
        async with local_client() as client:
            answer = await client.get(f"{self.http_url}/health/ready")
        return answer.status_code, answer.json()["down"]

    async def wait_until_down(self, *parts: str) -> None:
        """Wait until exactly these parts are unavailable; without parts, until the bot is ready."""

        async def is_said() -> bool:
            try:
                return sorted((await self.health())[1]) == sorted(parts)
            except httpx.TransportError:
                return False  # it does not listen yet

        await self.wait_until_true(is_said)

    async def wait_for_prompts(self, count: int) -> None:
        """Wait until the model got this many requests, answered or not."""
        await self.wait_until(lambda: len(self.model.chat_requests) >= count)

    async def wait_until_finished(self, updates: int) -> None:
        """Wait until this many updates have arrived and all are in their terminal states."""

        async def are_finished() -> bool:
            records = await self.records()
            return len(records) >= updates and all("finished_at" in record for record in records)

        await self.wait_until_true(are_finished)

    async def wait_for_waiting(self, updates: int, *, chat: int = BEN) -> list[int]:
        """Wait until this many updates are in the chat's box, including the running one. Return their ids."""
        box = keys.context_key(make_ref(chat), "box")

        async def are_there() -> bool:
            return int(await self.redis.call("ZCARD", box)) >= updates

        await self.wait_until_true(are_there)
        return [int(number) for number in await self.redis.call("ZRANGE", box, 0, -1)]

    async def wait_until_idle(self) -> None:
        """Wait until every context is idle."""
        await self._wait_until_empty(keys.partition_key(0, "ready"))

    async def wait_until_indexed(self) -> None:
        """Wait until every vector matches the history."""
        await self._wait_until_empty(keys.partition_key(0, "work"))

    def said_in(self, chat: int) -> list[str]:
        """Return the texts and captions of the bot's messages in a chat as they were sent, oldest first.

        A preview, which has a Stop button, counts as its final answer, or not at all: on a busy
        machine any answer may be slow enough to get one.
        """
        said: dict[int, str] = {}
        for event in self.events:
            message = event["message"] if event["type"] in ("message", "edit") else None
            if message is None or message["chat"]["id"] != chat or message.get("from", {}).get("id") != BOT:
                continue
            if not _has_button(message, "stop", "reset"):
                said.setdefault(message["message_id"], _text_of(message))
        return [said[number] for number in sorted(said)]

    def shown_in(self, chat: int) -> list[Json]:
        """Return the bot's messages in a chat as they are now: edited, and without deleted ones."""
        shown: dict[int, Json] = {}
        for event in self.events:
            if event["type"] in ("message", "edit") and event["message"]["chat"]["id"] == chat:
                shown[event["message"]["message_id"]] = event["message"]
            elif event["type"] == "delete" and event["chat_id"] == chat:
                shown.pop(event["message_id"], None)
        return [message for message in shown.values() if message.get("from", {}).get("id") == BOT]

    def drafts_in(self, chat: int) -> list[str]:
        """Return the drafts of a private chat, oldest first, with an empty text at the end of each."""
        return [e["text"] for e in self.events if e["type"] == "draft" and e["chat_id"] == chat]

    def callback_answers(self) -> list[Json]:
        """Return the bot's answers to presses of its buttons."""
        return [event for event in self.events if event["type"] == "callback_answer"]

    def actions_in(self, chat: int) -> list[str]:
        """Return the chat actions shown in a chat."""
        return [e["action"] for e in self.events if e["type"] == "action" and e["chat_id"] == chat]

    async def history(
        self, chat: int, thread: int | None = None, *, is_direct: bool = False
    ) -> HistorySnapshot:
        """Return the current conversation of a chat or topic, at most 1,000 messages."""
        ref = make_ref(chat, thread, is_direct=is_direct)
        return await RedisHistory(self.redis).load(ref, limit=1000)

    async def lines(self, chat: int, thread: int | None = None) -> list[tuple[str, str]]:
        """Return the history as (role, text) pairs."""
        return [(message.role, message.text) for message in (await self.history(chat, thread)).newest]

    async def records(self) -> list[dict[str, str]]:
        """Return the records of all updates, oldest first."""
        prefix = keys.partition_key(0, "update", "")
        found: list[str] = await self.redis.call("KEYS", prefix.replace("{", "\\{") + "*")
        numbers = sorted(int(key.removeprefix(prefix)) for key in found)
        return [await self.redis.call("HGETALL", f"{prefix}{number}") for number in numbers]

    async def keys_with(self, word: str) -> list[str]:
        """Return the Redis keys with this word in name or value."""
        return await keys_with(self.redis, word)

    def prompts(self) -> list[list[Json]]:
        """Return the messages of every request to the model."""
        return [request.body["messages"] for request in self.model.chat_requests]

    async def page(self, path: str, body: Json) -> Json:
        """Send a request of the chat page."""
        answer = await self.simulator.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def _wait_until_empty(self, stream: str) -> None:
        async def is_empty() -> bool:
            return int(await self.redis.call("XLEN", stream)) == 0

        await self.wait_until_true(is_empty)

    def _replies_to(self, message: Json) -> list[Json]:
        """Return the replies as they are now. A message with a Stop button is not an answer yet."""
        return [
            sent
            for sent in self.shown_in(message["chat"]["id"])
            if _topic_of(sent) == _topic_of(message)
            and sent["message_id"] > message["message_id"]
            and not _has_button(sent, "stop")
        ]


def _has_button(message: Json, *words: str) -> bool:
    """Return True if a button's data begins with one of these words."""
    return any(data.split(":")[0] in words for data in buttons_of(message))


def buttons_of(message: Json) -> list[str]:
    """Return the data of the message's buttons that come back to the bot."""
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [button["callback_data"] for row in rows for button in row if "callback_data" in button]


def receipt_of(message: Json) -> str:
    """Return the text of a receipt, and below it the counts in its button "Details"."""
    details = [data for data in buttons_of(message) if data.startswith(DETAILS_BUTTON)]
    return "\n\n".join(
        [message["text"], *(details_text(words_for("en"), data.partition(":")[2]) for data in details)]
    )


def _topic_of(message: Json) -> int | None:
    """Return the topic of a message. In an ordinary supergroup the thread of a reply is no topic."""
    if "direct_messages_topic" in message:
        return message["direct_messages_topic"]["topic_id"]
    return message.get("message_thread_id") if message.get("is_topic_message") else None


def _text_of(message: Json) -> str:
    return message.get("text", message.get("caption", ""))


async def take_the_context_away(bot: Story) -> None:
    """Take over a context as a worker does that thinks the holder dead, and then die:

    the entry stays idle.
    """
    (entry,) = await bot.redis.call("XRANGE", keys.partition_key(0, "ready"), "-", "+")
    await bot.redis.call("XCLAIM", keys.partition_key(0, "ready"), "workers", "another", 0, entry[0])


def make_ref(chat: int, thread: int | None = None, *, is_direct: bool = False) -> ContextRef:
    """Return the context of a chat or topic."""
    return telegram_ref(BOT, chat, thread, is_direct=is_direct, partitions=1)


@asynccontextmanager
async def running_bot(
    stores: StoryStores,
    script: Script = echo,
    *,
    is_pushed: bool = False,
    is_started: bool = True,
    privacy_mode: bool = True,
    private_topics: bool = False,
    **changes: Any,
) -> AsyncGenerator[Story]:
    """Run a bot until the block ends.

    `changes` are settings and options of the agents file. `is_pushed`: by webhook, otherwise by polling.
    In every story, the model must not get a request that OpenAI would refuse.
    """
    async with (
        _temporary_folder() as folder,
        scripted_openai(script) as model,
        _simulator(
            SimulatorConfig(privacy_mode=privacy_mode, private_topics=private_topics, retry_scale=0.01)
        ) as simulator,
    ):
        options = {name: changes.pop(name) for name in list(changes) if name in Options.model_fields}
        changes = {"erasures_dir": folder / "erasures"} | changes
        settings = story_settings(
            stores, model_url=model.base_url, telegram_url=str(simulator.base_url), **changes
        )
        settings = with_options(settings, options, folder=folder)
        if is_pushed:
            url = f"http://127.0.0.1:{settings.http_port}{WEBHOOK_PATH}"
            settings = settings.model_copy(update={"webhook_url": url})
        story = Story(settings=settings, model=model, redis=stores.redis, simulator=simulator)
        watching = asyncio.create_task(_watch(story), name="chat-page")
        if is_started:
            story.start()
        try:
            yield story
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            await story.stop()
        assert model.invalid_requests == []


@asynccontextmanager
async def _temporary_folder() -> AsyncGenerator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder)


def with_options(settings: Settings, options: Mapping[str, Any], *, folder: Path) -> Settings:
    """Return the settings with a copy of their agents file that has these options.

    The copy stands beside its original, so that modules with tools are found. Without one it is in `folder`,
    with the simulator's agents.
    """
    if not options:
        return settings
    original = settings.agents_file
    if original is None:
        original = Path(shutil.copy(DEMO_AGENTS, folder))
        shutil.copy(DEMO_AGENTS.with_name("demo_tools.py"), folder)
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    copy = original.with_name(f"options-{uuid4().hex}.toml")
    copy.write_text("\n".join([original.read_text("utf-8"), "[options]", *lines, ""]), "utf-8")
    return settings.model_copy(update={"agents_file": copy})


def story_settings(stores: StoryStores, *, model_url: str, telegram_url: str, **changes: Any) -> Settings:
    """Return settings of a bot on these stores, with its own collection in the index."""
    given = {
        "_env_file": None,
        "telegram_api_url": telegram_url,
        "redis_url": stores.redis_url,
        "qdrant_url": stores.index.url,
        "qdrant_api_key": stores.index.api_key,
        "openai_base_url": model_url,
        "openai_api_key": "sk-story-not-a-secret",
        "openai_embedding_model": f"bag-of-words-{uuid4().hex}",
        "http_port": free_port(),
        "allow_unsafe_store": True,
        "lease_s": 10,
    }
    return load_settings(**(given | changes))


@asynccontextmanager
async def _simulator(config: SimulatorConfig) -> AsyncGenerator[httpx.AsyncClient]:
    async with serve(config) as served, local_client(served.url, timeout_s=DEADLINE_S) as client:
        yield client


async def _watch(story: Story) -> None:
    """Collect the events of the chat page."""
    async with story.simulator.stream("GET", "/api/events", timeout=None) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                story.events.append(json.loads(line.removeprefix("data: ")))
