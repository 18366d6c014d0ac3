"""Five of twenty people are forgotten with kill -9 at each step: their words are nowhere, others' words are the same.

The short form is for CI. `CANARIES=1000` takes the whole of it: 1,000 sentences in 50 chats, 1,000 questions.
"""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app.stores import open_stores, store_config
from bot.cli.chats import unlisted_chat
from bot.cli.history import preview
from bot.cli.session import ChatName
from bot.features.settings import load_settings
from bot.transport.forms import context_keys
from chaos.rig.store_scan import file_words, points, redis_words
from memory.codec import dump_json
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.message import Message, Quote, Sender, message_id
from memory.history.talk import TalkLine
from memory.keys import context_key
from memory.stores import build_indexers, build_rewriter
from tests.contract.console_rig import BOT_ID, NOW, ConsoleRig, on_stores, settings_in
from tests.contract.memory_kit import RedisMemory, make_summary
from tests.contract.test_console_backup import TOKEN, ref_of
from tests.known_reminders import make_reminder, set_reminders
from tests.planted_facts import plant_facts
from tests.stores import hold_open

pytestmark = pytest.mark.slow

SENTENCES = int(os.environ.get("CANARIES", "60"))
IS_LONG = SENTENCES >= 1_000
PEOPLE, FORGOTTEN, GROUPS, QUESTIONS = (20, 5, 30, 1_000) if IS_LONG else (6, 2, 4, 12)
WORD = re.compile(r"zq(\d\d)x\d{4}")
WORD_IN_FILES = re.compile(rb"zq\d\dx\d{4}")
FILES_WITHIN_S = 60.0
ROOT = Path(__file__).parents[2]

HELPER = """
import asyncio, os, signal, sys, time
from bot.app.erasures import build_forget_jobs
from bot.features.settings import load_settings
from bot.turn import forget_requests
from bot.turn.person import Person
from memory.redis.client import open_redis
from memory.tombstones import open_beside

def die():
    os.kill(os.getpid(), signal.SIGKILL)

async def step(person, until, url, dies_before):
    settings = load_settings()
    async with open_redis(url) as redis:
        await open_beside(redis, settings.erasures_dir)
        jobs = build_forget_jobs(settings, redis, clock=time.time)
        job = await jobs.requests.begin(Person(id=person, until=until))
        save = forget_requests.ForgetRequests.save
        async def save_and_die(self, job):
            if dies_before:
                die()
            await save(self, job)
            die()
        forget_requests.ForgetRequests.save = save_and_die
        if job.receipt:
            await jobs.requests.end(job)
            os._exit(0)
        await jobs.step(job.id)

url, people, kills = sys.argv[1], range(1, int(sys.argv[2]) + 1), 0
for person in people:
    until, attempt, status = time.time(), 0, 1
    while status:
        pid = os.fork()
        if pid == 0:
            asyncio.run(step(person, until, url, attempt % 2 == 0))
            os._exit(3)
        _, status = os.waitpid(pid, 0)
        assert status in (0, signal.SIGKILL), status
        kills += status == signal.SIGKILL
        attempt += 1
print(kills)
"""
"""Does each step twice, in processes of their own: the first dies before its record, the second after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """One sentence: who says it, where, as the message of this number."""

    word: str
    person: int
    chat: int
    number: int


def canaries() -> Iterator[Canary]:
    """Yield all sentences: a third in private, the others in groups of several people."""
    numbers: dict[int, int] = {}
    for each in range(SENTENCES):
        person = each % PEOPLE + 1
        chat = person if each % 3 == 0 else -(each // 3 % GROUPS) - 100
        number = numbers.get(chat, 0)
        numbers[chat] = number + 4
        yield Canary(word=f"zq{person:02d}x{each:04d}", person=person, chat=chat, number=number)


def name_of(person: int) -> Sender:
    return Sender(id=person, name=f"Person {person} of all")


def messages_of(canary: Canary) -> list[Message]:
    """Return the sentence, the answer that repeats it, and what somebody else quotes and forwards of it."""
    author, other = name_of(canary.person), name_of(canary.person % PEOPLE + 1)
    said = f"my sentence is {canary.word}"
    more = f"own words {canary.chat}/{canary.number}"
    quote = Quote(
        telegram_message_id=canary.number + 1, sender_name=author.name, sender_id=author.id, text=said
    )
    rows: list[tuple[str, Sender | None, dict[str, object]]] = [
        (said, author, {}),
        (f"So {said}.", None, {}),
        (more, other if canary.chat < 0 else author, {"quote": quote if canary.chat < 0 else None}),
        (said, other if canary.chat < 0 else author, {"forwarded_from": author.name}),
    ]
    return [
        Message(
            id=message_id(canary.chat, canary.number + at),
            role="user" if sender else "assistant",
            text=text,
            sent_at=NOW + canary.number + at,
            tokens=5,
            sender=sender,
            telegram_message_id=canary.number + at + 1,
            **fields,  # pyright: ignore[reportArgumentType]
        )
        for at, (text, sender, fields) in enumerate(rows)
    ]


async def plant() -> None:
    """Write all chats, with summaries, facts, reminders and talk, and index them."""
    async with open_stores(load_settings()) as stores:
        redis, memory = stores.redis, RedisMemory(stores.redis)
        for chat in sorted({each.chat for each in canaries()}):
            ref, own = ref_of(chat), [each for each in canaries() if each.chat == chat]
            keys = context_keys(BOT_ID, chat, None)
            title = name_of(chat).name if chat > 0 else f"Group {chat}"
            await contexts.get_or_create(redis, ref, context_keys=keys, title=title, now=NOW)
            for each in own:
                await stores.history.append(ref, messages_of(each), epoch=0)
            told = ", ".join(each.word for each in own)
            covers = [message_id(chat, each.number) for each in own]
            summary = make_summary(message_id("summary", chat), upto=own[-1].number, overview=told)
            await memory.add_summary(ref, summary, covers)
            facts = [
                Fact(
                    id=message_id("fact", each.word),
                    subject=name_of(each.person).name,
                    subject_id=each.person,
                    statement=f"The sentence is {each.word}.",
                    said_by=each.person,
                    message_ids=(message_id(chat, each.number),),
                    valid_from=NOW,
                    confidence=0.9,
                )
                for each in own[::5]
            ]
            await plant_facts(redis, ref, facts)
            reminders = [
                make_reminder(f"{at:08x}", name_of(each.person), each.word, chat=chat)
                for at, each in enumerate(own[::7])
            ]
            await set_reminders(redis, ref, reminders)
            for at, each in enumerate(own[:3] if chat < 0 else []):
                line = TalkLine(
                    telegram_message_id=900_000 + at,
                    sender=name_of(each.person),
                    text=each.word,
                    sent_at=time.time() - 60,
                )
                await redis.call("ZADD", context_key(ref, "talk"), 900_000 + at, dump_json(TalkLine, line))
                await redis.call("EXPIRE", context_key(ref, "talk"), 3600)
        await index_all()


async def index_all() -> None:
    """Do all work that waits for the index."""
    async with open_stores(load_settings()) as stores:
        await stores.reindexer.claim()
        (indexer,) = build_indexers(stores, consumer="a-worker", lease_s=60, block_ms=10)
        while True:
            await stores.reindexer.step()
            done = await indexer.step()
            record = await stores.reindexer.follow()
            if not (done.indexed or done.erased) and (record is None or record.target is None):
                return


async def own_words() -> dict[str, str]:
    """Return what people who stay have written themselves, by message id."""
    found: dict[str, str] = {}
    async with open_stores(load_settings()) as stores:
        for chat in {each.chat for each in canaries()}:
            for each in await stores.history.page(ref_of(chat), after_sequence=-1, limit=100_000, whole=True):
                is_own = each.sender is not None and each.sender.id > FORGOTTEN and not each.forwarded_from
                if is_own:
                    found[each.id] = each.text
    return found


async def seen_in_stores() -> set[str]:
    """Return the people whose words are in Redis, or in payloads of the index."""
    async with open_stores(load_settings()) as stores:
        words = set(await redis_words(stores.redis, re.compile(r"zq\d\dx\d{4}")))
    async with open_index_server(load_settings().data_dir) as index:
        kept = str(await points(index))
    return {each[2:4] for each in words} | {m[1] for m in WORD.finditer(kept)}


async def seen_in_prompts() -> set[str]:
    """Return the people whose words are in the prompts of many questions about their sentences."""
    seen, asked = set[str](), list(canaries())
    async with open_stores(load_settings()) as stores:
        for at in range(QUESTIONS):
            canary = asked[at % len(asked)]
            question = f"What was the sentence {canary.word}?"
            chat = unlisted_chat(ChatName(chat_id=canary.chat), ref_of(canary.chat))
            prompt = await preview(load_settings(), stores, chat, question)
            *before, _ = prompt.messages
            seen |= {m[1] for each in before for m in WORD.finditer(each.text)}
    return seen


async def clean_files(data_dir: Path) -> tuple[float, set[str]]:
    """Have the files rewritten as a worker does, and return the seconds that took, with the people left in them."""
    began = time.monotonic()
    async with open_stores(load_settings()) as stores:
        rewrite = build_rewriter(stores.redis, store_config(load_settings()), partitions=1)
        while True:
            await rewrite()
            words = file_words([data_dir], WORD_IN_FILES)
            left = {each[2:4] for each in words if int(each[2:4]) <= FORGOTTEN}
            if not left or time.monotonic() - began > FILES_WITHIN_S:
                return time.monotonic() - began, left
            await asyncio.sleep(0.5)


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[ConsoleRig]:
    with (
        hold_open(open_valkey(tmp_path / "one")) as url,
        hold_open(open_index_server(tmp_path / "one")),
        hold_open(open_valkey(tmp_path / "two")),
        hold_open(open_index_server(tmp_path / "two")),
    ):
        folder = tmp_path / "folder"
        folder.mkdir()
        settings_in(
            monkeypatch,
            folder,
            tmp_path / "one",
            TELEGRAM_BOT_TOKEN=TOKEN,
            ERASURES_DIR=str(tmp_path / "erasures"),
            OPENAI_BASE_URL="http://127.0.0.1:1/v1",
            OPENAI_EMBEDDING_MODEL="",
        )
        monkeypatch.setenv("VALKEY_OF_ONE", url)
        yield ConsoleRig(capsys)


def test_forgotten_words_are_nowhere_and_others_are_the_same(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = {f"{each:02d}" for each in range(1, FORGOTTEN + 1)}
    everybody = {f"{each:02d}" for each in range(1, PEOPLE + 1)}
    on_stores(plant())
    backup, export = tmp_path / "folder" / "all.backup", tmp_path / "folder" / "chat.jsonl"
    assert console("backup", str(backup)).status == 0
    assert console("export", "-100", str(export)).status == 0
    before = on_stores(own_words())
    assert on_stores(seen_in_stores()) == everybody, "the search finds words"
    assert on_stores(seen_in_prompts()) == everybody

    helper = subprocess.run(
        [sys.executable, "-c", HELPER, os.environ["VALKEY_OF_ONE"], str(FORGOTTEN)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=3_000,
    )
    assert helper.returncode == 0, helper.stderr
    on_stores(index_all())

    assert on_stores(seen_in_stores()) == everybody - gone
    assert on_stores(own_words()) == before
    assert on_stores(seen_in_prompts()) <= everybody - gone
    seconds, left = on_stores(clean_files(tmp_path / "one"))
    assert left == set(), f"after {seconds:.0f} s"
    exported = tmp_path / "folder" / "later.jsonl"
    assert console("export", "-100", str(exported)).status == 0
    assert {m[1] for m in WORD.finditer(exported.read_text())} <= everybody - gone
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "two"))
    restored = console("restore", str(backup), "--json")
    assert restored.status == 0, restored.err
    on_stores(index_all())
    assert on_stores(seen_in_stores()) == everybody - gone
    assert on_stores(own_words()) == before
    assert console("import", str(export), "--into", "-9", "--json").status == 0
    assert on_stores(seen_in_stores()) == everybody - gone
    _, left = on_stores(clean_files(tmp_path / "two"))
    assert left == set()
    sys.stdout.write(
        f"\n{SENTENCES:,} sentences of {PEOPLE} people in {len({each.chat for each in canaries()})} chats;"
        f" {FORGOTTEN} people forgotten with {helper.stdout.strip()} kill -9;"
        f" {QUESTIONS:,} questions; files clean after {seconds:.0f} s; 0 words left\n"
    )
