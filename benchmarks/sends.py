"""What one chat's 429s and broken connections cost the others: two workers, 100 chats, a Bot API that fails.

The same people write the same lines at the same moments, once to a Bot API without faults and once to one that answers
a tenth of the sends with 429 and cuts the connection after a twentieth of them. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
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
from rig.echo_model import echo_model
from rig.surroundings import child, free_port, local_bot_api, until
from rig.table import print_table

from bot.settings import SIMULATOR_TOKEN
from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey

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

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is written: lines of each chat, all of them within so many seconds."""

    chats: int
    lines: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What somebody writes, and when, from the beginning of the round on."""

    at: float
    chat: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What came of the lines. Delays in seconds, of the lines whose own chat met no fault meanwhile."""

    lines: int
    whole: int
    sends: int
    refused: int
    cut: int
    too_early: int
    repeated: int
    delays_s: tuple[float, ...]

    def percentile_s(self, percent: int) -> float:
        """So many of a hundred delays are at most this."""
        return quantiles(self.delays_s, n=100)[percent - 1]

    def __add__(self, other: "Round") -> "Round":
        summed = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return Round(**summed)


async def main() -> None:
    """Measure and print."""
    options = _options()
    size = Size(chats=options.chats, lines=options.lines, seconds=options.seconds)
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        without, with_faults = await measure(Path(directory), size, rounds=options.rounds)
    if options.json:
        told = {"without": _told(without), "with": _told(with_faults)}
        print(json.dumps(told | {"slower": _slower(without, with_faults)}))
    else:
        _print(without, with_faults)


async def measure(directory: Path, size: Size, *, rounds: int) -> tuple[Round, Round]:
    """Without faults and with them, in turns, so that what else the machine does hits them alike."""
    without, with_faults = list[Round](), list[Round]()
    async with running(directory) as simulator:
        await _round(simulator, Size(chats=10, lines=1, seconds=2), SEED)
        for number in range(rounds):
            without.append(await _round(simulator, size, SEED + number))
            for fault in FAULTS:
                await _post(simulator, "faults", fault | {"seed": SEED + number})
            with_faults.append(await _round(simulator, size, SEED + number))
            (await simulator.delete("/api/faults")).raise_for_status()
    return reduce(add, without), reduce(add, with_faults)


@asynccontextmanager
async def running(directory: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """The simulator, with the product behind it: the webhook and two workers, on embedded stores."""
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        api_url = await stack.enter_async_context(local_bot_api())
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


async def _round(simulator: httpx.AsyncClient, size: Size, seed: int) -> Round:
    random = Random(seed)
    people = [await _post(simulator, "people", {"first_name": f"Person {at}"}) for at in range(size.chats)]
    chats = [person["id"] for person in people]
    lines = plan_lines(chats, size, random)
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
    shown = await _wait_for_answers(simulator, lines)
    calls = (await _get(simulator, f"calls?after={first_call}"))["calls"]
    return judge(
        lines, written_at, shown, [call for call in calls if call["method"].lower() == "sendmessage"]
    )


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


async def _wait_for_answers(simulator: httpx.AsyncClient, lines: Sequence[Line]) -> dict[int, list[Json]]:
    """The bot's messages by chat, once every line has its answer; as they are after ANSWERED_WITHIN_S."""
    deadline = time.monotonic() + ANSWERED_WITHIN_S
    chats = {line.chat for line in lines}
    while True:
        shown: dict[int, list[Json]] = defaultdict(list)
        for message in (await _get(simulator, "world"))["messages"]:
            if message["from"]["is_bot"] and "text" in message and message["chat"]["id"] in chats:
                shown[message["chat"]["id"]].append(message)
        if all(_end_of(shown[line.chat], line) for line in lines) or time.monotonic() > deadline:
            return shown
        await asyncio.sleep(0.5)


def judge(
    lines: Sequence[Line],
    written_at: Mapping[str, float],
    shown: Mapping[int, list[Json]],
    sends: Sequence[Json],
) -> Round:
    """What the simulator's log and its chats say."""
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
        cut=sum(call["outcome"] == "cut" for call in sends),
        too_early=count_early(sends),
        repeated=sum(len(each) - len({message["text"] for message in each}) for each in shown.values()),
        delays_s=tuple(delays),
    )


def count_early(sends: Sequence[Json]) -> int:
    """Sends to a chat before the time was over that a 429 had asked to wait for."""
    held_until: dict[int, float] = {}
    early = 0
    for call in sorted(sends, key=lambda call: call["at"]):
        early += call["at"] < held_until.get(call["chat_id"], 0.0)
        if call["status"] == 429:
            held_until[call["chat_id"]] = call["ended_at"] + call["retry_after"]
    return early


def _end_of(shown: Sequence[Json], line: Line) -> Json | None:
    """The message with the end of the answer to this line."""
    return next((message for message in shown if f"heard {line.text}" in message["text"].split("\n")), None)


def _is_whole(shown: Sequence[Json], line: Line, end: Json) -> bool:
    """Whether what comes before that end in its answer was shown, and before it."""
    if "at length" not in line.text:
        return True
    before = [message for message in shown if message["message_id"] <= end["message_id"]]
    return sum(message["text"].count("word") for message in before) >= 1_200


async def _post(simulator: httpx.AsyncClient, path: str, body: Mapping[str, object]) -> Json:
    answer = await simulator.post(f"/api/{path}", json=dict(body))
    answer.raise_for_status()
    return answer.json()


async def _get(simulator: httpx.AsyncClient, path: str) -> Json:
    answer = await simulator.get(f"/api/{path}")
    answer.raise_for_status()
    return answer.json()


def _slower(without: Round, with_faults: Round) -> float:
    return with_faults.percentile_s(95) / without.percentile_s(95) - 1


def _told(measured: Round) -> Json:
    figures = {
        each.name: getattr(measured, each.name) for each in fields(measured) if each.name != "delays_s"
    }
    return figures | {f"p{percent}_s": measured.percentile_s(percent) for percent in (50, 95)}


def _print(without: Round, with_faults: Round) -> None:
    heads = ["Bot API", "answers whole", "sends", "429", "cut", "sent early", "repeated", "p50 ms", "p95 ms"]
    rows = [
        [
            name,
            f"{each.whole:,} of {each.lines:,}",
            *(
                f"{number:,}"
                for number in (each.sends, each.refused, each.cut, each.too_early, each.repeated)
            ),
            *(f"{each.percentile_s(percent) * 1000:,.0f}" for percent in (50, 95)),
        ]
        for name, each in (("without faults", without), ("with faults", with_faults))
    ]
    print_table("Delays of answers in chats that meet no fault meanwhile", heads, rows)
    print(f"The faults of other chats make them {_slower(without, with_faults):+.1%} slower at p95.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--lines", type=int, default=2, help="of each chat, in a round")
    parser.add_argument("--seconds", type=float, default=40, help="of a round")
    parser.add_argument("--rounds", type=int, default=2, help="without faults and with them, in turns")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
