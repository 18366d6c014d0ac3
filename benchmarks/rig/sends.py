"""Cost of a failing Bot API: the same people write the same lines, alternately without faults and with them.

Beside what chance does to a tenth and a twentieth of the sends, one chat each is refused once with a 400 and a 403, and
one group becomes a supergroup while it waits for its answer.
"""

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

import httpx

from bot.settings import SIMULATOR_TOKEN
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey

from .echo_model import THINKS_S, echo_model
from .surroundings import child, free_port, local_bot_api, until

SEED = 20_261_121
AT_LENGTH_EVERY = 5
"""Every fifth line is answered at length, in two messages."""
ANSWERED_WITHIN_S = 60.0
FAULTS: Sequence[dict[str, object]] = (
    {
        "error": "429",
        "method": "sendMessage",
        "probability": 0.10,
        "retry_after": [1, 3],
        "hold": True,
        "seed": SEED,
    },
    {"error": "cut", "method": "sendMessage", "probability": 0.05},
)

REFUSED: Sequence[dict[str, object]] = (
    {"error": "400", "description": "Bad Request: can't parse entities"},
    {"error": "403", "description": "Forbidden: bot was blocked by the user"},
)
"""What one chat each is told once: the first is sent again as plain text, the second cannot be delivered."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Number of lines of each chat, and the seconds in which all are written."""

    chats: int
    lines: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A text, and its time since the start of the round."""

    at: float
    chat: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Result of the lines. Delays in seconds, for lines whose chat met no fault meanwhile."""

    lines: int
    whole: int
    sends: int
    refused: int
    unreachable: int
    cut: int
    too_early: int
    repeated: int
    delays_s: tuple[float, ...]

    @property
    def lost(self) -> int:
        """Return the answers that are missing or incomplete although their chat could be reached."""
        return self.lines - self.whole - self.unreachable

    def percentile_s(self, percent: int) -> float:
        """Return a percentile of the delays."""
        return quantiles(self.delays_s, n=100)[percent - 1]

    def __add__(self, other: "Round") -> "Round":
        summed = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return Round(**summed)


async def measure(directory: Path, size: Size, *, rounds: int) -> tuple[Round, Round]:
    """Alternate rounds without faults and with them, so that other load hits them alike."""
    without, with_faults = list[Round](), list[Round]()
    async with running(directory) as simulator:
        await _round(simulator, Size(chats=10, lines=1, seconds=2), SEED)
        for number in range(rounds):
            without.append(await _round(simulator, size, SEED + number))
            with_faults.append(await _round(simulator, size, SEED + number, fails=True))
            (await simulator.delete("/api/faults")).raise_for_status()
    return reduce(add, without), reduce(add, with_faults)


@asynccontextmanager
async def running(directory: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """Start the simulator with the product behind it: the webhook and two workers, on embedded stores."""
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        api_url = await stack.enter_async_context(local_bot_api(real_limits=True))
        model_url = await stack.enter_async_context(echo_model())
        await stack.enter_async_context(open_valkey(data_dir))
        await stack.enter_async_context(open_index_server(data_dir))
        port = free_port()
        environment = {
            "TELEGRAM_BOT_TOKEN": SIMULATOR_TOKEN,  # given, so that Telegram's own budgets hold
            "TELEGRAM_API_URL": api_url,
            "WEBHOOK_URL": f"http://127.0.0.1:{port}",
            "HTTP_PORT": str(port),
            "DATA_DIR": str(data_dir),
            "OPENAI_BASE_URL": model_url,
            "OPENAI_API_KEY": "unused",
            "OPENAI_SUMMARY_MODEL": "",
            "OPENAI_EMBEDDING_MODEL": "",
            "RECALL_K": "0",
            "LOG_FORMAT": "json",
        }
        for name in ("serve", "work-1", "work-2"):
            log, command = directory / f"{name}.log", name.partition("-")[0]
            await stack.enter_async_context(
                child(sys.executable, "-m", "bot", command, log=log, environment=environment)
            )
            await until(lambda log=log: _is_ready(log), f"{name} is ready")
        yield await stack.enter_async_context(
            httpx.AsyncClient(base_url=api_url, timeout=30, trust_env=False)
        )


async def _is_ready(log: Path) -> bool:
    text = await asyncio.to_thread(log.read_text)
    return '"event": "ready"' in text


async def _round(simulator: httpx.AsyncClient, size: Size, seed: int, *, fails: bool = False) -> Round:
    random = Random(seed)
    people = [await _post(simulator, "people", {"first_name": f"Person {at}"}) for at in range(size.chats)]
    chats = [person["id"] for person in people]
    lines = plan_lines(chats, size, random)
    if fails:
        await _order_faults(simulator, random.sample(chats, len(REFUSED)), seed)
    first_call = (await _get(simulator, "calls"))["last"]
    begun = time.time()
    written_at: dict[str, float] = {}

    async def write(line: Line) -> None:
        await asyncio.sleep(max(0.0, begun + line.at - time.time()))
        written_at[line.text] = time.time()
        await _post(simulator, "messages", {"chat_id": line.chat, "from_id": line.chat, "text": line.text})

    async with asyncio.TaskGroup() as writing:
        for line in lines:
            writing.create_task(write(line))
        moving = writing.create_task(_move_a_group(simulator, chats[0], written_at))
    lines.append(moving.result())
    shown = await _wait_for_answers(simulator, lines, first_call=first_call)
    calls = (await _get(simulator, f"calls?after={first_call}"))["calls"]
    return judge(
        lines, written_at, shown, [call for call in calls if call["method"].lower() == "sendmessage"]
    )


async def _order_faults(simulator: httpx.AsyncClient, refused: Sequence[int], seed: int) -> None:
    for chat, fault in zip(refused, REFUSED, strict=True):
        await _post(simulator, "faults", fault | {"chat_id": chat, "method": "sendMessage", "times": 1})
    for fault in FAULTS:
        await _post(simulator, "faults", fault | {"times": None, "seed": seed})


async def _move_a_group(simulator: httpx.AsyncClient, member: int, written_at: dict[str, float]) -> Line:
    """A group becomes a supergroup while it waits for its answer, which the old chat refuses: the line, where it is now."""
    group = await _post(
        simulator, "chats", {"title": "Moving", "type": "group", "members": [member], "admins": [member]}
    )
    text = f"line 0 of chat {-group['id']}"
    written_at[text] = time.time()
    said = {"chat_id": group["id"], "from_id": member, "text": f"@mnemogram_bot {text}"}
    await _post(simulator, "messages", said)
    await asyncio.sleep(THINKS_S / 2)
    new = await _post(simulator, "upgrades", {"chat_id": group["id"], "from_id": member})
    return Line(at=0.0, chat=new["id"], text=text)


def plan_lines(chats: Sequence[int], size: Size, random: Random) -> list[Line]:
    """Each chat's lines, each at some moment of its own share of the time. The same for the same seed."""
    share = size.seconds / size.lines
    return [
        Line(
            at=(number + random.random()) * share,
            chat=chat,
            text=f"line {number} of chat {chat}"
            + (" at length" if (at + number) % AT_LENGTH_EVERY == 0 else ""),
        )
        for at, chat in enumerate(chats)
        for number in range(size.lines)
    ]


async def _wait_for_answers(
    simulator: httpx.AsyncClient, lines: Sequence[Line], *, first_call: int
) -> dict[int, list[Json]]:
    """The bot's messages by chat, once every line has its answer; as they are after ANSWERED_WITHIN_S."""
    deadline = time.monotonic() + ANSWERED_WITHIN_S
    chats = {line.chat for line in lines}
    while True:
        shown: dict[int, list[Json]] = defaultdict(list)
        for message in (await _get(simulator, "world"))["messages"]:
            if message["from"]["is_bot"] and "text" in message and message["chat"]["id"] in chats:
                shown[message["chat"]["id"]].append(message)
        missing = sum(_end_of(shown[line.chat], line) is None for line in lines)
        if not missing or time.monotonic() > deadline:
            return shown
        if missing == 1:  # a 403 is the last word on an answer
            calls = (await _get(simulator, f"calls?after={first_call}"))["calls"]
            if any(call["status"] == 403 for call in calls):
                return shown
        await asyncio.sleep(0.5)


def judge(
    lines: Sequence[Line],
    written_at: Mapping[str, float],
    shown: Mapping[int, list[Json]],
    sends: Sequence[Json],
) -> Round:
    """Judge the simulator's log and its chats."""
    sent = {(call["chat_id"], call["message_id"]): call for call in sends if call["message_id"]}
    faults = defaultdict[int, list[tuple[float, float]]](list)
    for call in sends:
        if call["status"] != 200:
            faults[call["chat_id"]].append((call["at"], call["ended_at"] + (call["retry_after"] or 0)))
    delays: list[float] = []
    whole = 0
    for line in lines:
        end = _end_of(shown[line.chat], line)
        if end is None or not _is_whole(shown[line.chat], line, end):
            continue
        whole += 1
        asked, seen = written_at[line.text], sent[line.chat, end["message_id"]]["ended_at"]
        if not any(begin <= seen and asked <= end for begin, end in faults[line.chat]):
            delays.append(seen - asked)
    return Round(
        lines=len(lines),
        whole=whole,
        sends=len(sends),
        refused=sum(call["status"] == 429 for call in sends),
        unreachable=sum(call["status"] == 403 for call in sends),
        cut=sum(call["outcome"] == "cut" for call in sends),
        too_early=count_early(sends),
        repeated=sum(len(each) - len({message["text"] for message in each}) for each in shown.values()),
        delays_s=tuple(delays),
    )


def count_early(sends: Sequence[Json]) -> int:
    """Count the sends to a chat before the `retry_after` of a 429 was over."""
    held_until: dict[int, float] = {}
    early = 0
    for call in sorted(sends, key=lambda call: call["at"]):
        early += call["at"] < held_until.get(call["chat_id"], 0.0)
        if call["status"] == 429:
            held_until[call["chat_id"]] = call["ended_at"] + call["retry_after"]
    return early


def _end_of(shown: Sequence[Json], line: Line) -> Json | None:
    """Return the message with the end of the answer to this line."""
    return next((message for message in shown if f"heard {line.text}" in message["text"].split("\n")), None)


def _is_whole(shown: Sequence[Json], line: Line, end: Json) -> bool:
    """Return True if the rest of the answer was shown before its end."""
    if "at length" not in line.text:
        return True
    before = [message for message in shown if message["message_id"] <= end["message_id"]]
    return sum(message["text"].count("word") for message in before) >= 1_200


def slower(without: Round, with_faults: Round) -> float:
    return with_faults.percentile_s(95) / without.percentile_s(95) - 1


async def _post(simulator: httpx.AsyncClient, path: str, body: Mapping[str, object]) -> Json:
    answer = await simulator.post(f"/api/{path}", json=dict(body))
    answer.raise_for_status()
    return answer.json()


async def _get(simulator: httpx.AsyncClient, path: str) -> Json:
    answer = await simulator.get(f"/api/{path}")
    answer.raise_for_status()
    return answer.json()
