"""Seconds and peak memory of importing a large `result.json`. See benchmarks/README.md."""

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from rig.table import print_table

from memory.embedded.valkey import open_valkey
from memory.history.contexts import dump_entry
from memory.keys import ContextRef, context_id
from memory.redis.client import RedisClient, open_redis
from memory.tokens import tokenizer_for
from memory.transfer.export_survey import survey_export
from memory.transfer.move_in import Destination, MoveIn

_WORDS = [
    "we",
    "meet",
    "at",
    "the",
    "harbour",
    "after",
    "lunch",
    "and",
    "bring",
    "bread",
    "cheese",
    "water",
    "for",
    "the",
    "boat",
    "trip",
    "on",
    "Sunday",
]
_PEOPLE = 20
_FIRST_AT, _STEP_S = 1_500_000_000, 40
_REPORT_EVERY_S = 5.0


def write_result(file: Path, messages: int, *, characters: int) -> None:
    """Write a group's history as Telegram Desktop does, one message after the other."""
    draw = random.Random(37)
    with file.open("w", encoding="ascii") as stream:
        stream.write('{"name": "Boat", "type": "private_group", "id": 5, "messages": [\n')
        for number in range(1, messages + 1):
            person = draw.randrange(_PEOPLE)
            text = " ".join(draw.choices(_WORDS, k=max(1, characters // 5)))
            stream.write(
                f'{{"id": {number}, "type": "message", "date_unixtime": "{_FIRST_AT + number * _STEP_S}",'
                f' "from": "Person {person}", "from_id": "user{1000 + person}", "text": "{text}"}}'
            )
            stream.write(",\n" if number < messages else "\n")
        stream.write("]}\n")


async def imported(redis: RedisClient, file: Path) -> list[list[str]]:
    """Import the file as the console does. Return a row for each pass."""
    names = {"benchmark": "import_scale"}
    opened, began = _peak_mb(), time.perf_counter()
    survey = survey_export(lambda: file.open("rb"), now=time.time(), progress=_Progress("read").show)
    surveyed, read_mb = time.perf_counter(), _peak_mb()
    work = MoveIn(
        redis=redis,
        place=Destination(
            ref=ContextRef(context_id=context_id("benchmark", names), partition=0),
            registered=dump_entry(names, title="", created_at=time.time()),
        ),
        survey=survey,
        open_file=lambda: file.open("rb"),
        tokenizer=tokenizer_for("gpt-4o"),
        now=time.time(),
    )
    progress, stored = _Progress("imported"), await work.begin(epoch=0)
    async for step in work.run(stored, epoch=0):
        progress.show(step.done or 0)
        stored = step
    if stored.added != survey.messages:
        raise SystemExit(f"{stored.added:,} of {survey.messages:,} messages were imported")
    return [
        ["store opened", "", "", f"{opened:,.0f}"],
        _row("counted and checked", survey.messages, surveyed - began, read_mb),
        _row("imported", stored.added, time.perf_counter() - surveyed, _peak_mb()),
    ]


def _row(name: str, messages: int, seconds: float, peak_mb: float) -> list[str]:
    return [name, f"{seconds:,.1f}", f"{messages / seconds:,.0f}", f"{peak_mb:,.0f}"]


def _peak_mb() -> float:
    """Return the peak of this process so far; the embedded server is a process of its own."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Progress:
    """Prints the number of messages every few seconds."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._shown_at = time.monotonic()

    def show(self, done: int) -> None:
        """Print a line if it is time."""
        if time.monotonic() - self._shown_at >= _REPORT_EVERY_S:
            self._shown_at = time.monotonic()
            print(f"{done:,} messages {self._verb}", file=sys.stderr)


async def _run(file: Path, directory: Path) -> list[list[str]]:
    async with open_valkey(directory) as url, open_redis(url) as redis:
        return await imported(redis, file)


def main() -> None:
    """Write a file, import it, and print each pass."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--messages", type=int, default=100_000)
    options.add_argument("--characters", type=int, default=60, help="of each message, about")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        file = Path(directory, "result.json")
        write_result(file, chosen.messages, characters=chosen.characters)
        megabytes = file.stat().st_size / 1e6
        rows = asyncio.run(_run(file, Path(directory)))
    title = f"{chosen.messages:,} messages, {megabytes:,.1f} MB"
    print_table(title, ["pass", "seconds", "messages/s", "peak MB"], rows)


if __name__ == "__main__":
    main()
