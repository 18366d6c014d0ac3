"""Incognito: of 200 words that only it has heard, none is in any file, log or trace a minute after its end."""

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

from bot.transport.http_server import serve_http
from chaos.rig.chat_load import gather_people
from chaos.rig.evidence import settled
from chaos.rig.program import until, until_it_is
from chaos.rig.secret_scan import Collector
from chaos.rig.store_scan import file_words, redis_words
from chaos.rig.system import BOT_ID, System, running_system
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.scripted_transcriptions import Transcriptions
from tests.sent_files import make_voice_note

CANARY = re.compile(rb"quokka\d\d\d")
WITHIN_S, MOMENT_S = 60.0, 240.0
EACH = 20
MENTION = "@mnemogram_bot"


class Model:
    """Repeats the last message. It calls a tool that remembers, or holds its answer, if the words say so."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.asked: list[str] = []

    def __call__(self, request: ChatRequest) -> Reply:
        messages, said = request["messages"], last_user_text(request)
        self.asked.append(str(messages))
        if messages[-1]["role"] == "tool":
            answer = text(f"{said} {messages[-1]['content']}")
            return held(answer, until=self.release) if "hold" in said else answer
        if "remind" in said:
            return calls(call("set_reminder", {"when": "in 20 minutes", "text": said[-200:]}))
        if "hold" in said:
            return calls(call("search_memory", {"query": said[-200:]}))
        return text(said)


class Talk:
    """The people, their canaries, and the bot's answers."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.said = 0

    def word(self) -> str:
        self.said += 1
        return f"quokka{self.said - 1:03d}"

    async def answered(self, chat: int, number: int) -> None:
        """Wait until the chat has an answer behind this message."""

        async def is_there() -> bool:
            shown = await self.system.simulator.messages(chat)
            return any(one["from"]["is_bot"] and one["message_id"] > number for one in shown)

        await until_it_is(True, is_there, within_s=MOMENT_S)

    async def ask(self, chat: int, words: str, *, by: int | None = None) -> None:
        said = await self.system.simulator.say(chat, words, from_id=by)
        await self.answered(chat, said["message_id"])


async def _text(talk: Talk, chat: int) -> None:
    for _ in range(EACH):
        await talk.ask(chat, f"my {talk.word()} sleeps")


async def _edits(talk: Talk, chat: int) -> None:
    """An edit of each message, and later of each again."""
    people = talk.system.simulator.people
    for _ in range(EACH):
        said = await talk.system.simulator.say(chat, "it sleeps")
        await talk.answered(chat, said["message_id"])
        await people.edit(said, f"my {talk.word()} sleeps")


async def _voice(talk: Talk, chat: int) -> None:
    recordings = {make_voice_note(1 + number): f"my {talk.word()} sings" for number in range(EACH)}
    talk.system.model.transcriptions = Transcriptions(texts=recordings)
    for number, data in enumerate(recordings):
        sung = await talk.system.simulator.people.voice(chat, data=data, duration=1 + number)
        await talk.answered(chat, sung["message_id"])


async def _documents(talk: Talk, chat: int) -> None:
    for number in range(EACH):
        word = talk.word()
        data = f"my {word} eats leaves. ".encode() * (1 if number % 2 else 500)
        sent = await talk.system.simulator.people.document(chat, data, name=f"{word}.txt", caption="read")
        await talk.answered(chat, sent["message_id"])


async def _tools(talk: Talk, chat: int) -> None:
    for _ in range(EACH):
        await talk.ask(chat, f"remind me of the {talk.word()}")


async def _group(talk: Talk, chair: int, other: int, group: int) -> None:
    """Half of the words are said to others."""
    for _ in range(EACH):
        await talk.system.simulator.say(group, f"the {talk.word()} sleeps", from_id=other)
        await talk.ask(group, f"{MENTION} the {talk.word()} sleeps", by=chair)


async def _crashes(talk: Talk, chats: list[int], model: Model) -> None:
    """Kill the worker when it has called a tool for each chat and waits for the answers."""
    asked = [
        await talk.system.simulator.say(chat, f"hold on, my {talk.word()} and {talk.word()} sleep")
        for chat in chats
        for _ in range(3)
    ]
    await until(
        lambda: sum("tool_call_id" in each and "hold on" in each for each in model.asked) >= len(chats),
        within_s=MOMENT_S,
        what="the answers",
    )
    (worker,) = [one for one in talk.system.programs if one.command == "work"]
    await worker.kill()
    model.release.set()
    await talk.system.start("work")
    for said in asked:
        await talk.answered(said["chat"]["id"], said["message_id"])


async def test_200_words_leave_files_logs_and_traces_within_a_minute(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    model, collector = Model(), Collector()
    async with (
        serve_http(collector.app()) as traces,
        running_system(
            tmp_path,
            model,
            LOG_TEXT="true",
            LOG_LEVEL="debug",
            OPENAI_TRANSCRIPTION_MODEL="hear-1",
            OTEL_EXPORTER_OTLP_ENDPOINT=traces.origin,
        ) as system,
    ):
        await system.start("serve", "work")
        people, talk = system.simulator.people, Talk(system)
        chats = await gather_people(system.simulator, 12)
        chair, other = chats[:2]
        group = await people.new_chat("Zoo", [chair, other], admins=[chair])
        await people.member("promote", group, by=chair, user=BOT_ID)
        for number, chat in enumerate(chats):
            await talk.ask(chat, f"I live in city{number:02d}")
        for chat in chats:
            await talk.ask(chat, "/incognito")
        await talk.ask(group, f"/incognito{MENTION}", by=chair)

        seen: set[str] = set()

        async def watch() -> None:
            while True:
                seen.update(await asyncio.to_thread(file_words, [system.data_dir], CANARY))
                await asyncio.sleep(0.2)

        watching = asyncio.create_task(watch())
        await asyncio.gather(
            *(_text(talk, chat) for chat in chats[2:4]),
            _edits(talk, chats[4]),
            _voice(talk, chats[5]),
            _documents(talk, chats[6]),
            _tools(talk, chats[7]),
            _group(talk, chair, other, group),
        )
        await _crashes(talk, chats[8:], model)
        while talk.said < 200:
            await talk.ask(chats[2], f"my {talk.word()} sleeps")
        for chat in chats:
            await talk.ask(chat, "/incognito")
        await talk.ask(group, f"/incognito{MENTION}", by=chair)
        await settled(system.redis)
        ended = time.monotonic()
        watching.cancel()

        def left() -> dict[str, set[str]]:
            return file_words([system.data_dir], CANARY)

        while found := await asyncio.to_thread(left):
            assert time.monotonic() - ended < WITHIN_S, found
            await asyncio.sleep(0.3)
        cleaned = round(time.monotonic() - ended, 1)
        in_store = await redis_words(system.redis, re.compile(CANARY.pattern.decode()))

    figures = await asyncio.to_thread(_figures, tmp_path, collector)
    known = [each for each in model.asked if "quokka" in each and "I live in city" in each]
    figures |= {"seconds until the files are clean": cleaned, "words in the store": len(in_store)}
    figures |= {"words said": talk.said, "words seen in files on the way": len(seen)}
    figures |= {"prompts with a word and what was known before": len(known)}
    for name, figure in figures.items():
        record_property(name, figure)
    assert talk.said == 200
    assert seen, "otherwise the search would find nothing later either"
    assert (figures["words in logs"], figures["words in traces"], in_store) == (0, 0, {})
    assert figures["lines of tools in logs"] > 0
    assert figures["exports of traces"] > 0
    assert len(known) > 100


def _figures(folder: Path, collector: Collector) -> dict[str, float]:
    logs = b"".join(path.read_bytes() for path in folder.glob("*.log"))
    return {
        "words in logs": len(set(CANARY.findall(logs))),
        "lines of tools in logs": logs.count(b'"tool_result"'),
        "words in traces": len({word for body in collector.received for word in CANARY.findall(body)}),
        "exports of traces": len(collector.received),
    }
