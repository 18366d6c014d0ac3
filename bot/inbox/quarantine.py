"""How a worker begins contexts whose workers died: who kills must be found out, and take nobody else along.

An update counts as begun each time that its worker dies, and three times make it a dead letter. What was only worked on
beside it dies as often; so the third time counts only for what was alone (see sweep.lua), and most crashes, which are
nobody's fault, keep nobody waiting for long.
"""

import asyncio
import heapq
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count

from bot.inbox.records import Claim
from bot.inbox.slots import Slots

APART_S, ALL_APART_S = 0.1, 2.0
"""What is taken over begins so long after the one before, or at its end; and all of it within so long."""
LIVED_S = 1.0
"""What kills its worker most often does so at once: who has lived for so long keeps nobody waiting any more."""
ALONE_S = 3.0
"""Those who are to be alone share so many seconds, and so long all others wait."""
SHORTEST_ALONE_S = 0.25
"""Each has so long at least, and twice as long after each reprieve. A crash can leave a hundred, and one of them kills: soon
for all most often, and else it is found when it is reprieved.
"""
OPEN_S = 0.5
"""Then those of them who are there begin before the next one is alone: so long there is to claim them, and for those that
have lent their slot to have one again.
"""

LetIn = Callable[[], Awaitable[None]]
"""Notes that others are begun beside a context that was alone; returns once that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The seconds of a quarantine: see the constants above."""

    apart_s: float = APART_S
    all_apart_s: float = ALL_APART_S
    lived_s: float = LIVED_S
    alone_s: float = ALONE_S
    shortest_alone_s: float = SHORTEST_ALONE_S
    open_s: float = OPEN_S


class Quarantine:
    """Of one worker; built for one event loop. Who waits here lends its slot: those who may begin need it."""

    def __init__(self, slots: Slots, pace: Pace | None = None) -> None:
        self.slots = slots
        self._pace = pace or Pace()
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._on_trial = 0
        self._is_held_up = False
        self._closed_at = 0.0
        self._stays_open = False
        self._in_the_way = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()

    @asynccontextmanager
    async def begin(self, claim: Claim, let_in: LetIn) -> AsyncGenerator[None]:
        """Around the work on a context, in its slot: waits for its turn to begin.

        Who has an answer to deliver begins at once. What is taken over begins a little apart from others of that kind.
        Over whom more than one worker died begins after those, once all that was begun has ended or lived for a while, and
        no update is begun before it has ended itself, or lived and `let_in` has returned. Where something is taken over
        meanwhile, that comes at once: one crash keeps nobody waiting for those of others.
        """
        if not claim.begins_an_update:
            yield
            return
        if claim.is_taken_over:
            await self._wait_in_line(is_alone=claim.is_to_be_alone)
        else:
            await self._until_open_in_slot()
        with self._put_on_trial(claim, let_in):
            yield

    def is_open(self) -> bool:
        """Whether nobody is alone, or about to be."""
        return self._open.is_set()

    def begin_next(self) -> bool:
        """Whether a context may begin its next update: it is then on trial as any other that begins."""
        if self.is_open():
            self._on_trial += 1
            _Step(self._acquit).within(self._pace.lived_s)
        return self.is_open()

    async def begin_again(self, claim: Claim) -> None:
        """Within `begin`, after an outage: what may not have begun by then begins now, and not beside who is alone."""
        if not claim.begins_an_update or claim.is_to_be_alone:
            return
        await self._until_open_in_slot()
        self.begin_next()

    async def until_open(self) -> None:
        """Return when nobody is alone, or about to be: a worker claims nothing until then."""
        while not self._open.is_set():
            await self._open.wait()

    async def _until_open_in_slot(self) -> None:
        while not self._open.is_set():
            async with self.slots.lend():
                await self._open.wait()

    def _put_on_trial(self, claim: Claim, let_in: LetIn) -> ExitStack:
        """What is to happen at the end of the work; by then some of it may have happened."""
        trial, acquit = ExitStack(), _Step(self._acquit)
        self._on_trial += 1
        if claim.is_to_be_alone:
            left = self._pace.alone_s - (asyncio.get_running_loop().time() - self._closed_at)
            seconds = max(self._pace.shortest_alone_s, left / (1 + len(self._waiting)))
            open_again = _Step(self._open_again)
            passing = asyncio.create_task(
                _pass([acquit, open_again], seconds * 2**claim.reprieved, self._in_the_way, let_in),
                name=f"alone-{claim.ref.context_id}",
            )
            trial.callback(open_again.take)
            trial.callback(passing.cancel)
        else:
            acquit.within(self._pace.lived_s)
            if claim.is_taken_over:
                let_next = _Step(self._let_next)
                let_next.within(min(self._pace.apart_s, self._pace.all_apart_s / (1 + len(self._waiting))))
                trial.callback(let_next.take)
        trial.callback(acquit.take)  # first of these
        return trial

    async def _wait_in_line(self, *, is_alone: bool) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (is_alone, next(self._numbers), place))
        self._advance()
        if not is_alone:
            self._in_the_way.set()
        try:
            if not place.done():
                async with self.slots.lend():
                    await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # its turn had come
                self._open_again() if is_alone else self._let_next()
            place.cancel()
            self._advance()
            raise

    def _advance(self) -> None:
        """Let the next one begin, if it is its turn."""
        while self._waiting and not self._is_held_up:
            is_alone, _, place = self._waiting[0]
            if place.done():  # cancelled
                heapq.heappop(self._waiting)
                continue
            if is_alone:
                if self._stays_open:
                    break
                self._close()
                if self._on_trial:
                    return
            heapq.heappop(self._waiting)
            self._is_held_up = True
            self._in_the_way.clear()
            place.set_result(None)
            return
        if not self._is_held_up:
            self._open.set()

    def _let_next(self) -> None:
        self._is_held_up = False
        self._advance()

    def _close(self) -> None:
        if self._open.is_set():
            self._closed_at = asyncio.get_running_loop().time()
            self._open.clear()

    def _open_again(self) -> None:
        self._is_held_up = False
        loop = asyncio.get_running_loop()
        if self._waiting and loop.time() - self._closed_at < self._pace.alone_s:
            self._advance()
            return
        self._open.set()
        if self._waiting:
            self._stays_open = True
            loop.call_later(self._pace.open_s, self._end_window)
            self._advance()

    def _end_window(self) -> None:
        self._stays_open = False
        self._advance()

    def _acquit(self) -> None:
        self._on_trial -= 1
        self._advance()


class _Step:
    """Something that is done once: by `take`, or after so many seconds."""

    def __init__(self, do: Callable[[], None]) -> None:
        self._do = do
        self._timer: asyncio.TimerHandle | None = None
        self._is_done = False

    def within(self, seconds: float) -> None:
        """Do it then, unless it is done before."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self.take)

    def take(self) -> None:
        """Do it now, unless it is done."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._is_done:
            self._is_done = True
            self._do()


async def _pass(steps: Sequence[_Step], seconds: float, wanted: asyncio.Event, let_in: LetIn) -> None:
    """Who was alone has lived for so long, or is in the way: note it first, and only then let others begin."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wanted.wait()
    await let_in()
    for step in steps:
        step.take()
