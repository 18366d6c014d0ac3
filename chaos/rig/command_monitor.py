"""Monitors the store's commands (MONITOR): the times of recorded steps, commits and sends.

Its times are the store's clock and ours the machine's. Both are the same clock, so they can be compared.
"""

import asyncio
import json
import math
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bot.turn.outbox import parse_part

_LINE = re.compile(r"\+(?P<at>\d+\.\d+) \[\d+ lua\] (?P<words>.*)")
_CONSUMER = re.compile(
    r'"[^"\\]+-(?P<pid>\d+)-[0-9a-f]{6}\\?"'
    r'(?:,\\"entry\\":\\"(?P<ms>\d+)-(?P<number>\d+)\\",\\"delivery\\":\\"(?P<delivery>\d+))?'
)
"""The consumer that calls a script, with the entry and delivery of its claim if it gives a `Fence` (as JSON)."""
_HEAD = 300
"""A line: its time, its client (a socket has a long name), and the command."""
_KEYS = (":box:", ":journal:", ":outbox:", ":sending:", ":active", ":dead")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
_BUFFER = 1 << 24

ClaimOrder = tuple[int, int, int]
"""An entry's two numbers and the delivery: of two claims of a context the later one has the greater."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """A finished step in the journal. `value` is the agent's record of it."""

    at: float
    worker: int
    context_id: str
    step: str
    value: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class RecordedSend:
    """A part of a reply from its commit until its send was recorded.

    `begun_at`: the start of its first send; `repeated_at`: the start of one that may be a second.
    """

    worker: int
    text: str
    context_id: str
    committed_at: float
    begun_at: float = math.inf
    sent_at: float | None = None
    repeated_at: list[float] = field(default_factory=list[float])


@dataclass(slots=True)
class CommandMonitor:
    """The events so far, in the store's order.

    Workers are identified by process ids. `steps`: for each context, the times and kinds of progress
    (journal, commit, send, idle).
    """

    accepted: int = 0
    steps: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[str, list[ClaimOrder]] = field(default_factory=lambda: defaultdict(list))
    """The claim under which each of these steps was done; where no claim was needed it has none."""
    rests: dict[str, set[float]] = field(default_factory=lambda: defaultdict(set))
    """Steps after which a context is idle: the next claim is no takeover."""
    buried: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Times of dead letters by context. The journal is deleted then, and joined updates start again."""
    recorded: list[RecordedStep] = field(default_factory=list[RecordedStep])
    sendings: list[RecordedSend] = field(default_factory=list[RecordedSend])
    _open: dict[str, list[RecordedSend]] = field(default_factory=lambda: defaultdict(list))
    _worker: int = 0
    _claim: ClaimOrder | None = None
    _is_burying: bool = False

    def see(self, line: str) -> None:
        """Process one line of MONITOR: a script call, or a write of the last script."""
        head = line[:_HEAD]
        if '] "EVAL' in head:
            consumer = _CONSUMER.search(line)
            self._worker = int(consumer["pid"]) if consumer else 0
            self._claim = _claim_of(consumer)
            self._is_burying = False
        # Most lines tell nothing here, and there are thousands a second.
        elif " lua] " in head and any(key in head for key in _KEYS):
            found = _LINE.fullmatch(line)
            if found is not None:
                words = [_unescaped(word) for word in _WORD.findall(found["words"])]
                self._see_write(float(found["at"]), words)

    def _see_write(self, at: float, words: list[str]) -> None:
        if (moved := _brought_on(words)) is not None:
            self._see_step(at, moved)
        match words:
            case ["ZADD", key, _, _] if _owner(key, "box") is not None:
                self.accepted += 1
            case ["ZADD", key, *_] if key.endswith(":dead"):
                self._is_burying = True
            case ["DEL", key] if self._is_burying and (context := _owner(key, "journal")) is not None:
                self.buried[context].append(at)
            case ["HDEL", key, context] if key.endswith(":active"):
                self.rests[context].add(at)
            case ["HSET", key, *fields] if (context := _owner(key, "journal")) is not None:
                self._see_steps(at, context, fields)
            case ["RPUSH", key, part] if (context := _owner(key, "outbox")) is not None:
                said = parse_part(part).rich.text
                sending = RecordedSend(worker=self._worker, text=said, context_id=context, committed_at=at)
                self.sendings.append(sending)
                self._open[context].append(sending)
            case ["LPOP", key] if (context := _owner(key, "outbox")) is not None:
                self._open[context].pop(0).sent_at = at
            case ["SET", key, begun] if (context := _owner(key, "sending")) is not None:
                self._see_begun(at, self._open[context][0], int(begun))
            case _:
                pass

    def _see_step(self, at: float, context_id: str) -> None:
        self.steps[context_id].append((at, self._worker))
        if self._claim is not None:
            self.claims[context_id].append(self._claim)

    def _see_begun(self, at: float, sending: RecordedSend, begun: int) -> None:
        if begun > 0:
            sending.begun_at = min(at, sending.begun_at)
        if begun > 1:
            sending.repeated_at.append(at)

    def _see_steps(self, at: float, context_id: str, fields: list[str]) -> None:
        for step, value in zip(fields[::2], fields[1::2], strict=True):
            if step.startswith(("model:", "tool:")):
                known = json.loads(value)
                recorded = RecordedStep(
                    at=at, worker=self._worker, context_id=context_id, step=step, value=known
                )
                self.recorded.append(recorded)


@asynccontextmanager
async def monitoring_commands(redis_socket: Path) -> AsyncGenerator[CommandMonitor]:
    """Monitor all commands of the store while the block runs."""
    reader, writer = await asyncio.open_unix_connection(redis_socket, limit=_BUFFER)
    witness = CommandMonitor()
    try:
        writer.write(b"MONITOR\r\n")
        assert await reader.readline() == b"+OK\r\n"
        watch = asyncio.create_task(_watch(reader, witness), name="witness")
        try:
            yield witness
        finally:
            watch.cancel()
            (ended,) = await asyncio.gather(watch, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError), f"the store told no more: {ended!r}"
    finally:
        writer.close()


async def _watch(reader: asyncio.StreamReader, witness: CommandMonitor) -> None:
    async for line in reader:
        witness.see(line.decode().rstrip("\r\n"))


def _claim_of(consumer: "re.Match[str] | None") -> ClaimOrder | None:
    if consumer is None or consumer["ms"] is None:
        return None
    return int(consumer["ms"]), int(consumer["number"]), int(consumer["delivery"])


def _brought_on(words: Sequence[str]) -> str | None:
    """Return the context for which this write of a worker is progress:

    a step, a commit, a send, or becoming idle.
    """
    match words:
        case ["HSET", key, *_]:
            return _owner(key, "journal")
        case ["RPUSH" | "LPOP", key, *_]:
            return _owner(key, "outbox")
        case ["SET", key, _]:
            return _owner(key, "sending")
        case ["HDEL", key, context] if key.endswith(":active"):
            return context
        case _:
            return None


def _owner(key: str, kind: Literal["box", "journal", "outbox", "sending"]) -> str | None:
    """Return the context of a key of this kind."""
    before, _, context_id = key.rpartition(f":{kind}:")
    return context_id if before else None


def _unescaped(word: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) == 3 else _NAMED.get(code, code)

    return _ESCAPE.sub(character, word)
