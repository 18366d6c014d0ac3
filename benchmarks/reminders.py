"""Reminders that are due at once: fired once, twice or lost, and how late, while workers are killed.

Two `mnemogram work` share the embedded stores. One of them is killed with -9 every ten seconds and started again. A Bot
API on loopback notes each text. "Fired" is the moment at which the reminder is in the inbox, "delivered" that of the
text at the Bot API. Without a token the workers have the simulator's send budgets, 1,000 a second; `--real-budgets`
gives them Telegram's, 30 a second. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import math
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rig.scripted_servers import call_parameters
from rig.surroundings import ROOT, free_port
from rig.table import print_table
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.inbox.redis_inbox import RedisInbox
from bot.settings import SIMULATOR_TOKEN
from bot.transport.ingest import telegram_ref
from chaos.rig.measures import percentile
from chaos.rig.program import Program, start_program
from memory import keys
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.keys import ContextRef
from memory.redis.client import RedisClient, open_redis
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder
from simulator.server import LOOPBACK, listening

WORKERS = 2
PARTITIONS = 1
SET_AT_ONCE = 200
SET_A_SECOND = 200
SET_FIRST_S = 10.0
"""Time to set all reminders before the first is due: so much, and each SET_A_SECOND take a second."""
QUIET_S = 5.0
"""A second firing or send would show within this time after the last."""
_BOT_ID = int(SIMULATOR_TOKEN.partition(":")[0])
_FIRST_CHAT = 10_000
_LOOK_AGAIN_S = 0.5
_TEXT = re.compile(r"reminder (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The reminders and the kills."""

    reminders: int
    chats: int
    within_s: float
    """Time over which the due dates are spread evenly."""
    kill_every_s: float
    patience_s: float
    """Maximum time from the last due date to the last delivery."""
    is_real: bool
    """True for Telegram's own send budgets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Numbers of reminders that came once, more often or never, and seconds of lateness of those that came."""

    once: int
    twice: int
    lost: int
    p50_s: float
    p99_s: float
    max_s: float


@dataclass(slots=True)
class Texts:
    """A Bot API that notes the time of each text of a reminder, in Unix seconds."""

    sent: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    last_message: int = 0

    def app(self) -> Starlette:
        """Build the ASGI app."""
        return Starlette(routes=[Route("/bot{token}/{method}", self._call, methods=["GET", "POST"])])

    async def _call(self, request: Request) -> JSONResponse:
        method, parameters = request.path_params["method"].lower(), await call_parameters(request)
        return JSONResponse({"ok": True, "result": self._answer(method, parameters)})

    def _answer(self, method: str, parameters: Mapping[str, str]) -> Any:
        user = {"is_bot": True, "id": _BOT_ID, "first_name": "Bot", "username": "mnemogram_bot"}
        if method == "getme":
            return user
        if method == "getwebhookinfo":
            return {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
        if method != "sendmessage":
            return True
        if number := _TEXT.search(parameters.get("text", "")):
            self.sent[int(number[1])].append(time.time())
        self.last_message += 1
        chat = {"id": int(parameters["chat_id"]), "first_name": "Anna", "type": "private"}
        return {"message_id": self.last_message, "from": user, "chat": chat, "date": int(time.time())}


async def main() -> None:
    """Measure and print. Exit with 1 if a reminder was lost or fired twice."""
    options = _options()
    load = Load(
        reminders=options.reminders,
        chats=options.chats,
        within_s=options.within,
        kill_every_s=options.kill_every,
        patience_s=options.patience,
        is_real=options.real_budgets,
    )
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        fired, delivered, kills = await measure(Path(directory), load)
    if options.json:
        print(json.dumps({"fired": asdict(fired), "delivered": asdict(delivered), "kills": kills}))
    else:
        _print(load, fired, delivered, kills)
    sys.exit(bool(fired.twice or fired.lost or delivered.lost))


async def measure(directory: Path, load: Load) -> tuple[Outcome, Outcome, int]:
    """Set the reminders, kill workers until all are delivered, and judge. Also return the number of kills."""
    async with bench(directory) as (redis, texts, api_url):
        workers = Workers(directory=directory, api_url=api_url, load=load)
        try:
            await asyncio.gather(*[workers.start() for _ in range(WORKERS)])
            first_due = time.time() + SET_FIRST_S + load.reminders / SET_A_SECOND
            due = [first_due + load.within_s * number / load.reminders for number in range(load.reminders)]
            await set_reminders(redis, due, chats=load.chats)
            if time.time() > first_due:
                raise TimeoutError("the first reminder was due before all were set")
            await asyncio.sleep(first_due - time.time())
            await workers.kill_until_done(redis, texts)
        finally:
            await workers.end()
        fired = await judge_firing(redis, due, chats=load.chats)
        return fired, judge_delivery(texts, due), workers.kills


@asynccontextmanager
async def bench(directory: Path) -> AsyncGenerator[tuple[RedisClient, Texts, str]]:
    """Start the embedded stores and the Bot API."""
    data_dir, texts, port = directory / "data", Texts(), free_port()
    async with AsyncExitStack() as stack:
        redis_url = await stack.enter_async_context(open_valkey(data_dir))
        await stack.enter_async_context(open_index_server(data_dir))
        redis = await stack.enter_async_context(open_redis(redis_url))
        await RedisInbox(redis, partitions=PARTITIONS, box_limit=100, clock=time.time).open()
        await stack.enter_async_context(listening(texts.app(), host=LOOPBACK, port=port))
        yield redis, texts, f"http://{LOOPBACK}:{port}"


async def set_reminders(redis: RedisClient, due: Sequence[float], *, chats: int) -> None:
    """Set one reminder for each time, in these chats by turns."""
    reminders = RedisReminders(redis, clock=time.time)
    for first in range(0, len(due), SET_AT_ONCE):
        numbers = range(first, min(first + SET_AT_ONCE, len(due)))
        outcomes = await asyncio.gather(
            *[
                reminders.add(
                    context_of(number, chats),
                    make_reminder(number, due[number], chats=chats),
                    epoch=0,
                    per_person=len(due),
                    per_chat=len(due),
                )
                for number in numbers
            ]
        )
        if set(outcomes) != {"added"}:
            raise RuntimeError(f"not all reminders were set: {set(outcomes)}")


def make_reminder(number: int, due_at: float, *, chats: int) -> Reminder:
    """Return a reminder with its number in its text."""
    chat_id = _chat_of(number, chats)
    return Reminder(
        id=f"{number:08x}",
        text=f"reminder {number}",
        due_at=due_at,
        zone="UTC",
        starts_at=datetime.fromtimestamp(due_at, UTC).replace(tzinfo=None).isoformat(timespec="seconds"),
        person_id=chat_id,
        person_name="Anna",
        chat_id=chat_id,
        chat_type="private",
        created_at=time.time(),
    )


def context_of(number: int, chats: int) -> ContextRef:
    """Return the context of the chat that gets this reminder."""
    return telegram_ref(_BOT_ID, _chat_of(number, chats), None, partitions=PARTITIONS)


def _chat_of(number: int, chats: int) -> int:
    return _FIRST_CHAT + number % chats


@dataclass(slots=True, kw_only=True)
class Workers:
    """The `mnemogram work` processes. A killed one is replaced."""

    directory: Path
    api_url: str
    load: Load
    alive: list[Program] = field(default_factory=list[Program])
    started: int = 0
    kills: int = 0

    async def start(self) -> None:
        """Start a worker and return when it is ready."""
        environment = {
            "TELEGRAM_API_URL": self.api_url,
            "HTTP_PORT": "0",
            "DATA_DIR": str(self.directory / "data"),
            "PARTITIONS": str(PARTITIONS),
            "OPENAI_EMBEDDING_MODEL": "",
            "LOG_FORMAT": "json",
            "PYTHONPATH": ROOT,
            # A token that is given brings Telegram's own budgets.
            **({"TELEGRAM_BOT_TOKEN": SIMULATOR_TOKEN} if self.load.is_real else {}),
        }
        self.started += 1
        log = self.directory / f"work-{self.started}.log"
        program = await start_program("work", environment=environment, log=log)
        self.alive.append(program)
        await program.ready()

    async def kill_until_done(self, redis: RedisClient, texts: Texts) -> None:
        """Kill the older worker at intervals and start another, until all is delivered and quiet.

        What has not come after `patience_s` counts as lost.
        """
        begun, quiet_since = time.monotonic(), math.inf
        while (now := time.monotonic()) < begun + self.load.within_s + self.load.patience_s:
            is_done = len(texts.sent) == self.load.reminders and await _is_idle(redis)
            quiet_since = min(quiet_since, now) if is_done else math.inf
            if now > quiet_since + QUIET_S:
                return
            if not is_done and now > begun + (self.kills + 1) * self.load.kill_every_s:
                self.kills += 1
                await self.alive.pop(0).kill()
                await self.start()
            await asyncio.sleep(_LOOK_AGAIN_S)

    async def end(self) -> None:
        """End those that live."""
        await asyncio.gather(*[program.kill() for program in self.alive])


async def _is_idle(redis: RedisClient) -> bool:
    """Return True if nothing is due and no context has work."""
    active, due = keys.partition_key(0, "active"), keys.partition_key(0, "due")
    return not any(await redis.calls([("HLEN", active), ("ZCARD", due)]))


async def judge_firing(redis: RedisClient, due: Sequence[float], *, chats: int) -> Outcome:
    """Count the updates of each chat and compare their times with its due dates, both in order.

    Updates do not keep their reminder, so a chat with one lost and another fired twice would show in the texts only.
    """
    count = int(await redis.call("GET", keys.partition_key(0, "own_updates")) or 0)
    updates = [keys.partition_key(0, "update", -number) for number in range(1, count + 1)]
    found = await redis.calls([("HMGET", key, "context", "received_at") for key in updates])
    fired: defaultdict[str, list[float]] = defaultdict(list)
    for context_id, at in found:
        if at is not None:
            fired[context_id].append(float(at))
    wanted: defaultdict[str, list[float]] = defaultdict(list)
    for number, due_at in enumerate(due):
        wanted[context_of(number, chats).context_id].append(due_at)
    late = [
        at - due_at
        for context_id, dates in wanted.items()
        for due_at, at in zip(dates, sorted(fired[context_id]), strict=False)
    ]
    twice = sum(max(0, len(fired[each]) - len(wanted[each])) for each in fired)
    lost = sum(max(0, len(wanted[each]) - len(fired[each])) for each in wanted)
    return _outcome(late, once=len(due) - lost - twice, twice=twice, lost=lost)


def judge_delivery(texts: Texts, due: Sequence[float]) -> Outcome:
    """Count the texts and compare the time of each first one with its due date."""
    times = Counter(min(2, len(texts.sent.get(number, ()))) for number in range(len(due)))
    late = [min(sent) - due[number] for number, sent in texts.sent.items()]
    return _outcome(late, once=times[1], twice=times[2], lost=times[0])


def _outcome(late: Sequence[float], *, once: int, twice: int, lost: int) -> Outcome:
    return Outcome(
        once=once,
        twice=twice,
        lost=lost,
        p50_s=percentile(late, 0.5),
        p99_s=percentile(late, 0.99),
        max_s=max(late, default=0.0),
    )


def _print(load: Load, fired: Outcome, delivered: Outcome, kills: int) -> None:
    rows = [
        [
            name,
            *(f"{number:,}" for number in (each.once, each.twice, each.lost)),
            *(f"{seconds:.2f}" for seconds in (each.p50_s, each.p99_s, each.max_s)),
        ]
        for name, each in (("fired", fired), ("delivered", delivered))
    ]
    budgets = "Telegram's budgets" if load.is_real else "the simulator's budgets"
    title = (
        f"{load.reminders:,} reminders over {load.chats} chats, due within {load.within_s:g} s, "
        f"{kills} kills, {budgets}"
    )
    heads = ["", "once", "twice", "lost", "late s: p50", "p99", "max"]
    print_table(title, heads, rows)
    print("A text is delivered twice at most, if a kill fell between its send and the note of it.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reminders", type=int, default=10_000)
    parser.add_argument("--chats", type=int, default=500)
    parser.add_argument("--within", type=float, default=60, help="seconds over which they are due")
    parser.add_argument("--kill-every", type=float, default=10, help="seconds between two kills")
    parser.add_argument("--patience", type=float, default=420, help="seconds to wait after the last due date")
    parser.add_argument("--real-budgets", action="store_true", help="send as slowly as Telegram wants")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
