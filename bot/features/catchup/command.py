"""/catchup tells what was said in a group since the asker last wrote, since a time, or the last messages."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Literal
from uuid import uuid4

import structlog

from bot.agent.model import Usage
from bot.errors import ModelFiltered, ModelUnavailable, TellUser, TurnStopped
from bot.features.catchup.writer import CatchUp, CatchUpWriter, Point
from bot.features.parts import Built, Parts
from bot.inbox.signals import run_until
from bot.settings import GroupTalk
from bot.transport.rich_text import LINK, RichText, Span, from_spans
from bot.transport.texts import failure_text
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply, spent_on
from bot.turn.forgetting import Forgetting
from bot.turn.limits import LimitGuard
from bot.turn.outbox import blank_part
from bot.turn.preview import Preview, Previews
from bot.turn.store import TurnStore
from memory.characters import one_line
from memory.errors import Forgotten, SummaryFailed
from memory.history.heard import HeardLine, HeardLines
from memory.history.talk import score_of
from memory.zones.clocks import Clocks

_AGO = re.compile(r"(\d{1,4})\s*([hm])")
_LAST = re.compile(r"\d{1,9}")
_SECONDS = {"h": 3600, "m": 60}
_NAME_CHARACTERS = 40

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The part of the talk that somebody asks for."""

    kind: Literal["own", "since", "last"]
    """Since the asker last wrote, since a time, or the last messages."""
    since: float = 0.0
    """Unix seconds."""
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """The talk that somebody has missed."""

    wish: Wish
    lines: tuple[HeardLine, ...]
    """Oldest first; empty if nobody has written."""
    since: float | None
    """Its beginning in Unix seconds; None if nothing was heard at all."""
    is_own_known: bool
    """True if the asker's last message is still known."""
    is_cut: bool
    """True if there may have been more before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpCommand:
    """Tells what was said in this group or topic. The reply is not kept in the history."""

    heard: HeardLines
    forgetting: Forgetting
    store: TurnStore
    guard: LimitGuard
    writer: CatchUpWriter
    previews: Previews
    """Shows only "typing"."""
    talk: GroupTalk
    hears_all: bool
    """True if the bot's privacy mode is off. Administrators hear everything all the same."""
    deadline_s: float
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """Return what was said, or a sentence if that cannot be told.

        Limits are those of a question. A crash repeats the requests to the model. If messages are forgotten meanwhile,
        the command runs again. Raises Fenced, Forgotten and the store's errors.
        """
        if not call.is_group:
            return Reply(text=call.words("catchup-private"))
        now = self.clock()
        zone = _clocks(call).zone()
        wish = parse_wish(call.argument, now=now, yesterday=call.words("catchup-yesterday"), zone=zone)
        if wish is None:
            return Reply(text=call.words("catchup-usage"))
        missed = await self._find(call, wish)
        if not missed.lines:
            return Reply(text=self._nothing(call, missed))
        refusal = await self.guard.check(
            [call.update.update_id], call.words, user_id=call.user_id, chat_id=call.message.chat_id
        )
        if refusal is not None:
            return Reply(text=refusal[1])
        usages: list[Usage] = []
        try:
            reply = await self._tell(call, missed, usages)
        except Forgotten:
            await self.guard.book(
                usages, update_id=call.update.update_id, user_id=call.user_id, chat_id=call.message.chat_id
            )
            raise
        return self._booked(call, reply, usages)

    async def _find(self, call: CommandCall, wish: Wish) -> Missed:
        person = call.message.sender_id if wish.kind == "own" else None
        limit = self.talk.group_context_messages
        lines = await self.heard.read(call.ref, limit=limit, since=wish.since, person=person)
        wanted = await self.forgetting.waiting(call.ref)
        missed = select_missed(lines, wish, person=call.user_id, limit=limit)
        kept = tuple(line for line in missed.lines if not wanted.has(line))
        return replace(missed, lines=kept)

    def _nothing(self, call: CommandCall, missed: Missed) -> str:
        words = call.words
        if missed.since is None:
            text = words("catchup-nothing")
        else:
            key = "catchup-own-nothing" if missed.wish.kind == "own" else "catchup-since-nothing"
            text = words(key, when=_when(words, missed.since, _clocks(call).zone()))
        if not self.talk.group_context:
            return f"{text}\n\n{words('group-keeps-addressed')}"
        if not self.hears_all and not call.snapshot.talk.count:
            return f"{text}\n\n{words('catchup-deaf')}"
        return text

    async def _tell(self, call: CommandCall, missed: Missed, usages: list[Usage]) -> Reply:
        """Return what was said, or why it cannot be told. Raises Forgotten."""
        try:
            told = await self._write(call, missed, usages)
        except TurnStopped:
            return Reply(text=call.words("stopped"))
        except TimeoutError:
            log.warning("catch_up_failed", reason="deadline")
            return Reply(text=call.words("catchup-too-much"))
        except SummaryFailed as failure:
            log.warning("catch_up_failed", reason=str(failure))
            return Reply(text=_failure(call.words, failure))
        points = await self._still_true(call, missed, told.points)
        if told.points and not points:
            return Reply(text=call.words("catchup-changed"), revision=call.snapshot.revision)
        links = {point: await self._address(call, _first(missed, point)) for point in points}
        now = datetime.fromtimestamp(self.clock(), _clocks(call).zone())
        rich = catch_up_text(call.words, missed, points, read=told.read, links=links, now=now)
        return Reply(rich=rich, revision=call.snapshot.revision)

    async def _write(self, call: CommandCall, missed: Missed, usages: list[Usage]) -> CatchUp:
        """Show "typing" while the model writes. Raises TurnStopped after a /stop, and Forgotten after a reset."""
        if call.is_stopped:
            raise TurnStopped
        to = blank_part(call.update, epoch=call.snapshot.epoch)
        preview, shown_by = Preview(call.words, edits=()), f"catchup:{call.update.update_id}"
        async with self.previews.show(preview, to, is_private=False, stop_data=shown_by, journal=None):
            return await run_until(
                self.writer.write(
                    missed.lines, reader=call.message.sender_name, usages=usages, clocks=_clocks(call)
                ),
                call.wait_for_end(),
                within_s=self.deadline_s,
            )

    async def _still_true(self, call: CommandCall, missed: Missed, points: Sequence[Point]) -> list[Point]:
        """Return the points whose messages are as the model read them, and that nobody wants to be forgotten."""
        cited = {number: missed.lines[number - 1] for point in points for number in point.numbers}
        wanted = await self.forgetting.waiting(call.ref)
        texts = await self.heard.current_texts(call.ref, list(cited.values()))
        changed = {
            number for number, line in cited.items() if texts.get(line) != line.text or wanted.has(line)
        }
        return [point for point in points if changed.isdisjoint(point.numbers)]

    async def _address(self, call: CommandCall, line: HeardLine) -> str:
        """Return the address of a message at Telegram; "" without one: a group before it was a supergroup has none."""
        if line.score is None:
            shown_as = await self.store.shown_as(call.ref, line.message_id)
            return call.address_of(shown_as[0]) if shown_as else ""
        is_moved = call.update.anchor_id != call.message.chat_id
        is_here = line.score == score_of(line.telegram_id, is_moved=is_moved)
        return call.address_of(line.telegram_id) if is_here else ""

    def _booked(self, call: CommandCall, reply: Reply, usages: Sequence[Usage]) -> Reply:
        """Return the reply with the booking of what it took."""
        booking = self.guard.booking(
            usages,
            update_id=call.update.update_id,
            user_id=call.user_id,
            chat_id=call.message.chat_id,
            run=uuid4().hex,
        )
        return replace(reply, booking=booking, counted=spent_on(usages, self.guard))


def parse_wish(argument: str, *, now: float, yesterday: str, zone: tzinfo) -> Wish | None:
    """Return what `2h`, `30m`, `10:00`, `yesterday`, `50` or nothing asks for; None for anything else.

    Times are those of the asker's `zone` (nextcloud/call_summary_bot#56). A time that is still to come today is
    yesterday's. `yesterday` is the word in the asker's language.
    """
    text = argument.strip().lower()
    if not text:
        return Wish(kind="own")
    today = datetime.fromtimestamp(now, zone).date()
    before = today - timedelta(days=1)
    if text in ("yesterday", yesterday.lower()):
        return Wish(kind="since", since=datetime.combine(before, time(), zone).timestamp())
    if ago := _AGO.fullmatch(text):
        seconds = int(ago[1]) * _SECONDS[ago[2]]
        return Wish(kind="since", since=now - seconds) if seconds else None
    with suppress(ValueError):
        clock = datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - its zone comes with its day
        since = (datetime.combine(day, clock, zone).timestamp() for day in (today, before))
        return Wish(kind="since", since=next(at for at in since if at <= now))
    if _LAST.fullmatch(text) and int(text):
        return Wish(kind="last", count=int(text))
    return None


def select_missed(lines: Sequence[HeardLine], wish: Wish, *, person: int, limit: int) -> Missed:
    """Return the lines that are asked for, of all that were read, oldest first and at most `limit`.

    After their own last message people have missed nothing but messages of others: answers of the bot are for them.
    """
    own = [number for number, line in enumerate(lines) if line.is_by(person)]
    is_own_known = wish.kind == "own" and bool(own)
    match wish.kind:
        case "own":
            chosen = lines[own[-1] + 1 :] if own else lines
        case "since":
            chosen = [line for line in lines if line.sent_at >= wish.since]
        case "last":
            chosen = lines[-wish.count :]
    since = wish.since if wish.kind == "since" else chosen[0].sent_at if chosen else None
    if is_own_known:
        since = lines[own[-1]].sent_at
    is_wanted = wish.kind != "last" or wish.count > limit
    return Missed(
        wish=wish,
        lines=tuple(chosen) if any(line.sender for line in chosen) else (),
        since=since,
        is_own_known=is_own_known,
        is_cut=len(lines) == limit == len(chosen) and is_wanted,
    )


def catch_up_text(
    words: Words,
    missed: Missed,
    points: Sequence[Point],
    *,
    read: int,
    links: dict[Point, str],
    now: datetime,
) -> RichText:
    """Return the list of points under a line that says since when. Each links to its first message.

    Without a link it names the writer, unless the point begins with this name. Nothing that people or models wrote is
    rendered as markup. `read` are the newest lines that the model has read, `now` is in the reader's zone.
    """
    is_cut = missed.is_cut or read < len(missed.lines)
    since = missed.lines[-read].sent_at if is_cut else missed.since or 0.0
    kind = missed.wish.kind
    key = "catchup-new-title" if kind == "own" and not missed.is_own_known else f"catchup-{kind}-title"
    lines = [words(key, count=read, when=_when(words, since, now.tzinfo))]
    if is_cut:
        lines.append(words("catchup-cut", count=read))
    spans: list[Span] = []
    if not points:
        lines += ["", words("catchup-little")]
    for point in points:
        first = _first(missed, point)
        when = _when(words, first.sent_at, now.tzinfo, today=now.date())
        if url := links[point]:
            line = words("catchup-point", text=point.text, when=when)
            start = len("\n".join([*lines, ""])) + line.rindex(when)
            spans.append(Span(start, start + len(when), LINK, url))
        elif point.text.startswith(name := _name(words, first)):
            line = words("catchup-point", text=point.text, when=when)
        else:
            line = words("catchup-point-by", text=point.text, when=when, name=name)
        lines.append(line)
    return from_spans("\n".join(lines), spans)


def _first(missed: Missed, point: Point) -> HeardLine:
    """Return the oldest message that the point rests on."""
    return missed.lines[min(point.numbers) - 1]


def _clocks(call: CommandCall) -> Clocks:
    return Clocks(zones=call.snapshot.choices.zones, reader=call.message.sender_id)


def _when(words: Words, at: float, zone: tzinfo | None, *, today: date | None = None) -> str:
    """Return a time in this zone with its date, unless it is of the day `today`."""
    moment = datetime.fromtimestamp(at, zone)
    clock = f"{moment:%H:%M}"
    if moment.date() == today:
        return clock
    return words("catchup-when", date=moment.date(), time=clock, zone=str(zone))


def _name(words: Words, line: HeardLine) -> str:
    if line.sender is None:
        return words("why-me")
    return one_line(line.sender.name, _NAME_CHARACTERS) or words("why-somebody")


def _failure(words: Words, failure: SummaryFailed) -> str:
    """Return the sentence for a failure of the model, with the next step."""
    cause = failure.__cause__
    if isinstance(cause, ModelFiltered):
        return failure_text(words, cause)
    if failure.is_too_long or isinstance(cause, TimeoutError):
        return words("catchup-too-much")
    if isinstance(cause, ModelUnavailable):
        return words("catchup-failed")
    return failure_text(words, cause) if isinstance(cause, TellUser) else words("catchup-unusable")


async def build(parts: Parts) -> Built:
    """Return the command."""
    stores, forgetting = parts.stores, parts.forget_jobs.eraser.forgetting
    catch_up = CatchUpCommand(
        heard=HeardLines(stores.redis, forgetting.talk, stores.history),
        forgetting=forgetting,
        store=parts.store,
        guard=parts.guard,
        writer=CatchUpWriter(parts.writer),
        previews=replace(parts.previews, is_streaming=False),
        talk=parts.settings.of(GroupTalk),
        hears_all=parts.outside.bot.can_read_all_group_messages,
        deadline_s=parts.limits.deadline_s,
        clock=parts.clock,
    )
    return Built(commands={"catchup": catch_up.run})
