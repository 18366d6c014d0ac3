"""The preview of an answer, on a clock that the test moves: what is shown when, and what remains of it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from bot.errors import (
    ChatUnreachable,
    Fenced,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramUnavailable,
    TurnRestarted,
)
from bot.transport.forms import ChatPlace
from bot.transport.rich_text import RichText, utf16_length
from bot.transport.telegram_api import Button
from bot.transport.words import words_for
from bot.turn import preview as previews
from bot.turn.outbox import Part
from bot.turn.preview import Preview, Previews
from memory.errors import Forgotten, StoreUnavailable
from tests.traffic import OpenRates

PRIVATE = Part(
    update_id=9, number=0, chat_id=1001, thread_id=None, reply_to=None, rich=RichText(text=""), epoch=0
)
GROUP = replace(PRIVATE, chat_id=-2001, reply_to=5)
WORDS = words_for("en")


@dataclass(slots=True)
class Api:
    """A Bot API that records calls as lines.

    `hanging` methods wait for `go`; then their entry of `failures` is raised.
    """

    calls: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    failures: dict[str, list[TelegramFailure]] = field(default_factory=dict[str, list[TelegramFailure]])
    hanging: set[str] = field(default_factory=set[str])
    go: asyncio.Event = field(default_factory=asyncio.Event)
    buttons: list[Button] = field(default_factory=list[Button])

    async def send_typing(self, to: ChatPlace) -> None:
        await self._do("typing", to.chat_id)

    async def send_draft(self, to: ChatPlace, draft_id: int, rich: RichText) -> None:
        await self._do("draft", rich.text)

    async def send_message(
        self, to: ChatPlace, rich: RichText, *, reply_to: int | None = None, buttons: Sequence[Button] = ()
    ) -> int:
        self.buttons += buttons
        await self._do("send", rich.text)
        return 70 + sum(name == "send" for name, _ in self.calls)

    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None:
        await self._do("edit", (message_id, rich.text))

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        await self._do("delete", message_id)

    def shown(self) -> list[tuple[str, object]]:
        """Return the calls without typing."""
        return [call for call in self.calls if call[0] != "typing"]

    async def _do(self, name: str, what: object) -> None:
        if name in self.hanging:
            await self.go.wait()
        if self.failures.get(name):
            raise self.failures[name].pop(0)
        self.calls.append((name, what))


@dataclass(slots=True)
class Journal:
    """A turn's journal. Recording raises `failure`, reading raises `unread`."""

    message: int | None = None
    failure: Exception | None = None
    unread: Exception | None = None

    async def shown_in(self) -> int | None:
        if self.unread is not None:
            raise self.unread
        return self.message

    async def show_in(self, message_id: int) -> None:
        if self.failure is not None:
            raise self.failure
        self.message = message_id


@dataclass(slots=True)
class Rig:
    """Previews on a clock that only `pass_time` moves."""

    api: Api = field(default_factory=Api)
    rates: OpenRates = field(default_factory=OpenRates)
    unreachable: set[int] = field(default_factory=set[int])
    journal: Journal = field(default_factory=Journal)
    is_streaming: bool = True
    now: float = 100.0
    previews: Previews | None = None
    _waiting: list[tuple[float, asyncio.Event]] = field(default_factory=list[tuple[float, asyncio.Event]])

    async def pause(self, seconds: float) -> None:
        passed = asyncio.Event()
        self._waiting.append((self.now + seconds, passed))
        await passed.wait()

    async def pass_time(self, seconds: float) -> None:
        """Move the clock in ticks. Tasks that wait for one of them run."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 0.25)
            due = [waiting for waiting in self._waiting if waiting[0] <= self.now]
            self._waiting = [waiting for waiting in self._waiting if waiting[0] > self.now]
            for _, passed in due:
                passed.set()
            await settle()

    @asynccontextmanager
    async def show(self, to: Part = PRIVATE, *, edits: tuple[int, ...] = ()) -> AsyncGenerator[Preview]:
        self.previews = self.previews or Previews(
            self.api,
            self.rates,
            self.unreachable.__contains__,
            is_streaming=self.is_streaming,
            clock=lambda: self.now,
            pause=self.pause,
        )
        async with self.previews.show(
            Preview(WORDS, edits=edits),
            to,
            is_private=to.chat_id > 0,
            stop_data="stop:7:9",
            journal=self.journal,
        ) as preview:
            await settle()
            yield preview


@pytest.fixture(autouse=True)
def short_wait_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call that hangs at the end delay the answer only for a moment."""
    monkeypatch.setattr(previews, "LATE_S", 0.05)


async def settle() -> None:
    """Let every task run until it waits for time."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_private_answer_grows_as_a_draft_once_a_second() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.take("Hel")
        await rig.pass_time(0.25)
        await preview.take("Hello **wor")
        await rig.pass_time(0.5)
        assert rig.api.shown() == [("draft", "Hel")]
        await rig.pass_time(0.5)

    assert rig.api.shown() == [("draft", "Hel"), ("draft", "Hello wor")]
    assert (preview.edits, preview.deletes) == ((), ())


async def test_a_long_private_answer_gets_a_stop_button_that_the_answer_removes() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await rig.pass_time(1.75)
        assert rig.api.shown() == []
        await rig.pass_time(0.5)
        await preview.take("Hello")
        await rig.pass_time(0.5)

    assert rig.api.shown() == [("send", WORDS("preview-writing")), ("draft", "Hello")]
    assert rig.api.buttons == [Button(text=WORDS("preview-stop"), data="stop:7:alone:9")]
    assert preview.deletes == (71,)
    assert rig.journal.message == 71


async def test_an_unchanged_draft_is_sent_again_before_telegram_drops_it() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(30)

    assert [call for call in rig.api.shown() if call[0] == "draft"] == [("draft", "Hello")] * 3


async def test_typing_is_shown_until_there_is_text() -> None:
    rig = Rig()
    async with rig.show(GROUP) as preview:
        assert rig.api.calls == []
        await rig.pass_time(0.25)
        assert rig.api.calls == [("typing", -2001)]
        await preview.take("Hello")
        await rig.pass_time(20)

    assert rig.api.calls.count(("typing", -2001)) == 1


async def test_an_answer_that_comes_at_once_asks_for_no_place_in_the_budget() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(previews.TYPING_AFTER_S - 0.01)

    assert rig.rates.asked == []


async def test_a_quick_answer_in_a_group_has_no_preview() -> None:
    rig = Rig()
    async with rig.show(GROUP) as preview:
        await preview.take("Hello")
        await rig.pass_time(1.25)

    assert rig.api.shown() == []
    assert (preview.edits, preview.deletes) == ((), ())


async def test_a_groups_preview_becomes_the_answer() -> None:
    rig = Rig()
    async with rig.show(GROUP) as preview:
        for count in range(1, 9):
            await preview.take("word " * count)
            await rig.pass_time(1)

    shown = rig.api.shown()
    assert [name for name, _ in shown] == ["send", "edit", "edit"]
    assert rig.api.buttons == [Button(text=WORDS("preview-stop"), data="stop:7:9")]
    assert (preview.edits, preview.deletes) == ((71,), ())
    assert rig.journal.message == 71


async def test_a_resumed_turn_continues_in_the_same_message() -> None:
    rig = Rig(journal=Journal(44))
    async with rig.show(GROUP) as preview:
        await preview.take("again")
        await rig.pass_time(2)
    async with rig.show(PRIVATE) as other:
        await rig.pass_time(5)

    assert rig.api.shown() == [("edit", (44, "again"))]
    assert preview.edits == (44,)
    assert other.deletes == (44,)


@pytest.mark.parametrize("to", [PRIVATE, GROUP])
async def test_an_unrecorded_preview_is_known_to_a_restart_in_the_same_process(to: Part) -> None:
    rig = Rig(journal=Journal(failure=StoreUnavailable("away")))
    async with rig.show(to):
        await rig.pass_time(3)
    rig.journal.unread = StoreUnavailable("away once more")
    with pytest.raises(StoreUnavailable):
        async with rig.show(to):
            raise AssertionError("what shows the turn is not known")
    rig.journal.failure = rig.journal.unread = None
    async with rig.show(to) as preview:
        await rig.pass_time(3)

    assert [call for call in rig.api.shown() if call[0] == "send"] == [("send", "I'm writing an answer…")]
    assert (*preview.edits, *preview.deletes) == (71,)
    assert rig.journal.message == 71


@pytest.mark.parametrize("to", [PRIVATE, GROUP])
async def test_the_answer_to_an_edit_is_shown_in_the_old_message(to: Part) -> None:
    """This holds in private chats too. An edit would not end a draft, which fades half a minute later."""
    rig = Rig()
    async with rig.show(to, edits=(40, 41)) as preview:
        await preview.take("better")
        await rig.pass_time(2)

    assert rig.api.shown() == [("edit", (40, "better"))]
    assert (preview.edits, preview.deletes) == ((40, 41), ())


async def test_a_preview_is_deleted_if_its_turn_now_edits_an_older_answer() -> None:
    rig = Rig(journal=Journal(44))
    async with rig.show(GROUP, edits=(40,)) as preview:
        await rig.pass_time(1)

    assert (preview.edits, preview.deletes) == ((40,), (44,))


async def test_a_deleted_preview_does_not_return() -> None:
    """The delivery deletes it: a voice message is refused in the same way, and is still there."""
    rig = Rig()
    rig.api.failures["edit"] = [MessageGone()]
    async with rig.show(GROUP, edits=(40, 41)) as preview:
        await preview.take("better")
        await rig.pass_time(20)

    assert rig.api.shown() == []
    assert (preview.edits, preview.deletes) == ((41,), (40,))


async def test_a_running_tool_is_shown_while_there_is_no_text() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.tell("Running tool add")
        await rig.pass_time(0.5)
        await preview.take("It is 2")
        await preview.tell("Running tool subtract")
        await rig.pass_time(1)

    assert rig.api.shown() == [("draft", WORDS("preview-tool", tool="add")), ("draft", "It is 2")]


async def test_the_newest_part_of_a_very_long_text_is_shown() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.take("\n\n".join(f"{number} " + "x" * 900 for number in range(20)))
        await rig.pass_time(0.5)

    ((_, shown),) = rig.api.shown()
    assert isinstance(shown, str)
    assert shown.startswith("…\n")
    assert "19 x" in shown
    assert utf16_length(shown) <= 4096


async def test_without_streaming_only_typing_is_shown() -> None:
    rig = Rig(is_streaming=False)
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(10)

    assert rig.api.calls == [("typing", 1001)] * 3


async def test_an_update_without_rate_budget_is_skipped() -> None:
    rig = Rig()
    rig.rates.has_room = False
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(10)

    assert rig.api.calls == []
    assert set(rig.rates.asked) == {"typing", "draft", "button"}


async def test_a_429_holds_the_chat_and_the_preview_continues_later() -> None:
    rig = Rig()
    rig.api.failures["draft"] = [TelegramUnavailable(retry_after=3)]
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(1)

    assert rig.rates.holds == [(1001, 3)]
    assert rig.api.shown() == [("draft", "Hello")]


@pytest.mark.parametrize("failure", [ChatUnreachable(), SendUnknown(), MessageGone()])
async def test_a_failed_call_ends_the_preview_and_not_the_turn(failure: TelegramFailure) -> None:
    rig = Rig()
    rig.api.failures["draft"] = [failure]
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(10)

    assert rig.api.shown() == []


async def test_a_taken_over_turn_is_ended_by_its_worker_and_not_by_its_preview() -> None:
    rig = Rig(journal=Journal(failure=Fenced()))
    async with rig.show(GROUP) as preview:
        await preview.take("Hello")
        await rig.pass_time(2)

    assert preview.edits == (71,)


async def test_an_unreachable_chat_gets_no_preview() -> None:
    rig = Rig(unreachable={1001})
    async with rig.show() as preview:
        await preview.take("Hello")
        await rig.pass_time(10)

    assert rig.api.calls == []


async def test_no_call_starts_after_the_block() -> None:
    rig = Rig()
    async with rig.show() as preview:
        await preview.take("Hello")
    await rig.pass_time(10)

    assert rig.api.shown() == []


async def test_no_call_starts_after_a_late_failure() -> None:
    rig = Rig(api=Api(failures={"draft": [TelegramUnavailable("bad gateway")]}, hanging={"draft"}))
    async with rig.show() as preview:
        await preview.take("Hel")
        await rig.pass_time(0.5)
        asyncio.get_running_loop().call_later(0.01, rig.api.go.set)
    await preview.take("Hello")
    await rig.pass_time(10)

    assert rig.api.shown() == []


async def test_a_running_edit_finishes_before_the_answer_replaces_it() -> None:
    rig = Rig()
    async with rig.show(GROUP, edits=(40,)) as preview:
        rig.api.hanging.add("edit")
        await preview.take("better")
        await rig.pass_time(2)
        asyncio.get_running_loop().call_later(0.01, rig.api.go.set)

    assert rig.api.shown() == [("edit", (40, "better"))]
    assert (preview.edits, preview.deletes) == ((40,), ())


async def test_after_a_hanging_edit_the_answer_is_a_new_message() -> None:
    """The edit may arrive at any time, so the answer must not be in its message."""
    rig = Rig()
    async with rig.show(GROUP, edits=(40, 41)) as preview:
        rig.api.hanging.add("edit")
        await preview.take("better")
        await rig.pass_time(2)

    assert (preview.edits, preview.deletes) == ((), (40, 41))
    rig.api.go.set()
    await rig.pass_time(1)
    assert rig.api.shown() == [("edit", (40, "better"))]


@pytest.mark.parametrize("edits", [(40, 41), ()])
async def test_a_restarted_turn_leaves_a_message_with_a_hanging_edit(edits: tuple[int, ...]) -> None:
    """The edit may arrive after the answer of the restarted turn."""
    rig = Rig(journal=Journal(None if edits else 40))
    with suppress(TurnRestarted):
        async with rig.show(GROUP, edits=edits) as preview:
            rig.api.hanging.add("edit")
            await preview.take("better")
            await rig.pass_time(2)
            raise TurnRestarted

    async with rig.show(GROUP, edits=edits) as preview:
        pass

    assert (preview.edits, preview.deletes) == (edits[1:], (40,))
    rig.api.go.set()
    await rig.pass_time(1)


async def test_after_a_lost_edit_the_answer_is_a_new_message() -> None:
    """It may arrive as late as one that hangs."""
    rig = Rig()
    rig.api.failures["edit"] = [SendUnknown()]
    async with rig.show(GROUP) as preview:
        await rig.pass_time(2)
        await preview.take("better")
        await rig.pass_time(4)

    assert rig.api.shown() == [("send", WORDS("preview-writing"))]
    assert (preview.edits, preview.deletes) == ((), (71,))


@pytest.mark.parametrize("to", [PRIVATE, GROUP])
async def test_the_preview_of_a_forgotten_turn_is_deleted(to: Part) -> None:
    rig = Rig()

    async def forget(*edits: int, after_s: float) -> None:
        async with rig.show(to, edits=edits):
            await rig.pass_time(after_s)
            raise Forgotten

    with pytest.raises(Forgotten):
        await forget(40, after_s=0)  # an older answer, over which nothing was written yet
    with pytest.raises(Forgotten):
        await forget(after_s=2.5)

    assert rig.api.shown() == [("send", WORDS("preview-writing")), ("delete", 71)]


async def test_a_process_that_was_paused_shows_nothing_more() -> None:
    """Another process may have answered, possibly in the same message."""
    rig = Rig()
    async with rig.show(GROUP) as preview:
        await rig.pass_time(2)
        rig.now += 10
        await preview.take("far behind")
        await rig.pass_time(10)

    assert rig.api.shown() == [("send", WORDS("preview-writing"))]
    assert preview.edits == (71,)


@pytest.mark.parametrize("to", [PRIVATE, GROUP])
async def test_a_message_that_arrives_after_the_answer_is_deleted(to: Part) -> None:
    rig = Rig()
    async with rig.show(to) as preview:
        rig.api.hanging.add("send")
        await rig.pass_time(2.5)

    assert (preview.edits, preview.deletes) == ((), ())
    rig.api.go.set()
    await rig.pass_time(1)
    assert rig.api.shown() == [("send", WORDS("preview-writing")), ("delete", 71)]
    assert rig.journal.message is None
