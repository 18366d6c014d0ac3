"""The rest of a committed answer: a stop drops it, a question makes one file of it, a reset counts it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from bot.app.agents import counter_for
from bot.errors import TelegramRefused
from bot.inbox.records import Arrival, Claim
from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import Callback, Command, IncomingMessage
from bot.transport.words import words_for
from bot.turn.batch import dump_stop
from bot.turn.outbox import Part, Waiting, plan_files, plan_reply, plan_spoken
from bot.turn.rest import RestOfAnswer
from memory.codec import dump_json
from memory.history.ledger import LedgerFile
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, make_blank, open_delivery, open_inbox, some_parts
from tests.messages import make_message, make_ref
from tests.traffic import OpenRates

WORDS = words_for("en")
ANNA, BEN = 7, 8
TEXT = "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(6))


def make_waiting(update_id: int, *, says: str = "", presses: str = "", by: int = ANNA) -> WaitingUpdate:
    """Return a message, the command /stop, or a pressed button."""
    action = "press" if presses else "stop" if says == "/stop" else "turn"
    command = Command(name="stop", argument="", mention="") if says == "/stop" else None
    return WaitingUpdate(
        update_id=update_id,
        admission=Admission(action=action, reason="", command=command),
        message=IncomingMessage(
            chat_id=1,
            chat_type="private",
            sender_id=by,
            language_code="en",
            message_id=50,
            date=1,
            kind="text",
            text=says,
        ),
        anchor_id=1,
        callback=Callback(id="c", data=presses, sender_id=by, language_code="en") if presses else None,
    )


async def accept(box: Inbox, update: WaitingUpdate) -> str:
    mode = "stop" if update.admission.action == "stop" else "turn"
    payload = dump_json(WaitingUpdate, update)
    arrival = Arrival(update_id=update.update_id, ref=make_ref(), mode=mode, payload=payload)
    return await box.inbox.accept(arrival)


@dataclass(slots=True)
class Chat:
    """A chat that records what arrives. `during` runs in the send of this number, `dies` kills the worker there."""

    during: dict[int, Callable[[], Awaitable[object]]] = field(
        default_factory=dict[int, Callable[[], Awaitable[object]]]
    )
    arrived: list[Part] = field(default_factory=list[Part])
    answered: list[str] = field(default_factory=list[str])
    administrators: tuple[int, ...] = ()

    async def __call__(self, part: Part, content: bytes = b"", /) -> int | None:
        self.arrived.append(part)
        if act := self.during.get(len(self.arrived)):
            await act()
        return None if part.kind == "delete" else 70 + len(self.arrived)

    async def may_change(self, message: IncomingMessage, person: int) -> bool:
        return person in self.administrators

    async def answer_press(self, press: WaitingUpdate, key: str) -> None:
        if press.callback is not None:
            self.answered.append(key)

    def rest(self, redis: RedisClient) -> RestOfAnswer:
        return RestOfAnswer(
            redis=redis,
            may_change=self.may_change,
            answer_press=self.answer_press,
            tokenizer=counter_for("gpt-4o"),
        )

    @property
    def texts(self) -> list[str]:
        return [part.rich.text if part.kind == "text" else part.kind for part in self.arrived]


async def commit_answer(redis: RedisClient, *more: Part, text: str = TEXT) -> tuple[Inbox, Claim, list[Part]]:
    """Return an inbox with an answer of Anna's update 1 in the outbox."""
    box = await open_inbox(redis)
    await accept(box, make_waiting(1, says="tell me"))
    claim = await box.claim_one()
    parts = [*plan_reply(text, make_blank(1, 1, of="m0"), words=WORDS), *more]
    await box.commit(claim, 1, parts=parts, messages=[make_message("m0", role="assistant", text=text)])
    return box, claim, parts


async def answer_in(redis: RedisClient) -> Message:
    return (await RedisHistory(redis).get(make_ref(), ["m0"]))["m0"]


async def deliver(box: Inbox, chat: Chat, claim: Claim, parts: list[Part], begun: int = 0) -> None:
    delivery = open_delivery(box, chat, rates=OpenRates(), plan_rest=chat.rest(box.redis).plan)
    await delivery.deliver(claim, parts, sends_begun=begun)


async def test_a_stop_ends_what_was_not_begun_and_the_history_keeps_what_was_sent(redis: RedisClient) -> None:
    box, claim, parts = await commit_answer(redis)
    chat = Chat({2: lambda: accept(box, make_waiting(5, says="/stop"))})

    await deliver(box, chat, claim, parts)

    assert chat.texts == [parts[0].rich.text, parts[1].rich.text, WORDS("stopped-sending")]
    assert await box.outbox() == []
    assert await box.waiting() == []
    assert await box.state_of(1) == ("answered", "stopped")
    assert await box.state_of(5) == ("answered", "stop")
    kept = await answer_in(redis)
    assert kept.is_stopped
    assert kept.text == "\n\n".join(part.rich.text for part in parts[:2])


async def test_a_stop_before_the_first_part_leaves_one_line(redis: RedisClient) -> None:
    box, claim, parts = await commit_answer(redis)
    assert await accept(box, make_waiting(5, says="/stop")) == "accepted"
    chat = Chat()

    await deliver(box, chat, claim, parts)

    assert chat.texts == [WORDS("stopped-sending")]
    assert (await answer_in(redis)).text == WORDS("stopped-sending")


async def test_a_stop_takes_the_shown_messages_of_dropped_parts_away(redis: RedisClient) -> None:
    _, claim, parts = await commit_answer(redis)
    first, second, *others = parts
    gone = replace(first, number=9, kind="delete", edits=66, message_id="")
    left = [replace(first, edits=64), replace(second, edits=65), *others, gone]

    change = await Chat().rest(redis).plan(claim, left, waiting(make_waiting(5, says="/stop")))

    assert change is not None
    assert [(part.kind, part.edits, part.number) for part in change.parts] == [
        ("text", None, 0),
        ("delete", 66, 1),
        ("delete", 64, 2),
        ("delete", 65, 3),
    ]


def waiting(*updates: WaitingUpdate) -> Waiting:
    return Waiting(payloads=[dump_json(WaitingUpdate, each) for each in updates], first_update=1)


@pytest.mark.parametrize(
    ("by", "administrators", "is_stopped"), [(ANNA, (), True), (BEN, (), False), (BEN, (BEN,), True)]
)
async def test_the_stop_button_ends_the_rest_for_its_asker_and_administrators(
    redis: RedisClient, by: int, administrators: tuple[int, ...], is_stopped: bool
) -> None:
    box, claim, parts = await commit_answer(redis)
    press = make_waiting(5, presses=dump_stop(ANNA, 1), by=by)
    chat = Chat({1: lambda: accept(box, press)}, administrators=administrators)

    await deliver(box, chat, claim, parts)

    assert len(chat.arrived) == (2 if is_stopped else 6)
    assert chat.answered == (["stopped"] if is_stopped else [])
    assert await box.waiting() == ([] if is_stopped else [5])  # a stale press is answered in its own turn


async def test_a_button_of_another_answer_stops_nothing(redis: RedisClient) -> None:
    box, claim, parts = await commit_answer(redis)
    await accept(box, make_waiting(5, presses=dump_stop(ANNA, 99)))
    chat = Chat()

    await deliver(box, chat, claim, parts)

    assert len(chat.arrived) == 6


async def test_a_question_waits_for_one_message_which_is_the_whole_answer(redis: RedisClient) -> None:
    box, claim, parts = await commit_answer(redis)
    chat = Chat({2: lambda: accept(box, make_waiting(5, says="and then?"))})

    await deliver(box, chat, claim, parts)

    assert chat.texts == [parts[0].rich.text, parts[1].rich.text, "document"]
    file = chat.arrived[-1]
    assert (file.rich.text, file.caption, file.file_name) == (TEXT, WORDS("whole-in-file"), "answer.md")
    assert await box.waiting() == [5]
    assert await box.state_of(1) == ("answered", "")
    kept = await answer_in(redis)
    assert (kept.text, kept.is_stopped) == (TEXT, False)


async def test_a_question_before_the_beginning_of_a_document_makes_it_the_only_message(
    redis: RedisClient,
) -> None:
    whole = TEXT * 3
    box, claim, parts = await commit_answer(redis, text=whole)
    await accept(box, make_waiting(5, says="and then?"))
    chat = Chat()

    await deliver(box, chat, claim, parts)

    assert [(part.kind, part.rich.text) for part in chat.arrived] == [("document", whole)]


async def test_one_text_that_is_left_is_sent_as_it_is_and_made_files_follow(redis: RedisClient) -> None:
    made = plan_files(
        [LedgerFile(id="f", name="a.csv")], make_blank(1, 1, of="m0"), first_number=2, words=WORDS
    )
    _, claim, parts = await commit_answer(redis)
    question = waiting(make_waiting(5, says="and then?"))

    alone = await Chat().rest(redis).plan(claim, [parts[5], *made], question)
    several = await Chat().rest(redis).plan(claim, [*parts[4:], *made], question)

    assert alone is None
    assert several is not None
    assert [(part.kind, part.file_name) for part in several.parts] == [
        ("document", "answer.md"),
        ("document", "a.csv"),
    ]


@pytest.mark.parametrize("paragraphs", [6, 30])
@pytest.mark.parametrize("asked_in", [0, 2, 3])
async def test_a_question_waits_for_one_message_in_a_chat_that_takes_no_files(
    redis: RedisClient, paragraphs: int, asked_in: int
) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(paragraphs))
    box, claim, parts = await commit_answer(redis, text=text)
    ask = partial(accept, box, make_waiting(5, says="and then?"))
    chat = Chat({asked_in: ask})
    if asked_in == 0:
        await ask()

    async def refuse_files(part: Part, content: bytes = b"", /) -> int | None:
        if part.kind == "document":
            raise TelegramRefused("not enough rights to send documents")
        return await chat(part, content)

    await open_delivery(box, refuse_files, plan_rest=chat.rest(redis).plan).deliver(claim, parts)

    assert len(chat.arrived) == asked_in + 1
    assert chat.texts[-1].endswith(WORDS("rest-not-shown"))
    assert chat.texts[0].startswith("Paragraph 0. word")
    assert await box.waiting() == [5]


async def test_after_a_stop_the_history_has_the_texts_that_came_in_place_of_a_file(
    redis: RedisClient,
) -> None:
    box, claim, parts = await commit_answer(redis, text=TEXT * 5)
    chat = Chat({4: lambda: accept(box, make_waiting(5, says="/stop"))})

    async def refuse_files(part: Part, content: bytes = b"", /) -> int | None:
        if part.kind == "document":
            raise TelegramRefused("not enough rights to send documents")
        return await chat(part, content)

    await open_delivery(box, refuse_files, plan_rest=chat.rest(redis).plan).deliver(claim, parts)

    _, *sent, notice = chat.texts
    assert notice == WORDS("stopped-sending")
    assert (await answer_in(redis)).text == "\n\n".join(sent)


async def test_after_a_stop_the_history_has_the_texts_that_came_below_a_voice_message(
    redis: RedisClient,
) -> None:
    _, claim, _ = await commit_answer(redis)
    parts = plan_spoken(TEXT, make_blank(1, 1, of="m0"), file_id="v", words=WORDS)
    stop = waiting(make_waiting(5, says="/stop"))

    await Chat().rest(redis).plan(claim, parts[3:], stop)

    assert (await answer_in(redis)).text == "\n\n".join(part.rich.text for part in parts[1:3])


async def test_a_stop_before_the_files_of_a_comment_stays_in_the_comments(redis: RedisClient) -> None:
    _, claim, _ = await commit_answer(redis)
    blank = replace(make_blank(1, 1, of="m0"), reply_to=9, is_comment=True)
    gone = replace(blank, number=1, kind="delete", edits=66, reply_to=None, message_id="")
    made = plan_files([LedgerFile(id="f", name="a.csv")], blank, first_number=2, words=WORDS)

    change = await Chat().rest(redis).plan(claim, [gone, *made], waiting(make_waiting(5, says="/stop")))

    assert change is not None
    assert [(part.kind, part.reply_to, part.number) for part in change.parts] == [
        ("text", 9, 1),
        ("delete", None, 2),
    ]


@pytest.mark.parametrize("dies_in", [1, 2, 3])
@pytest.mark.parametrize("says", ["/stop", "and then?"])
async def test_no_crash_sends_a_part_again_after_a_change(
    redis: RedisClient, dies_in: int, says: str
) -> None:
    """The worker dies in a send, before or after the change; its outcome is unknown then."""
    box, claim, parts = await commit_answer(redis)
    chat = Chat({dies_in: die})
    if dies_in == 3:
        chat.during[2] = lambda: accept(box, make_waiting(5, says=says))
    with pytest.raises(asyncio.CancelledError):
        await deliver(box, chat, claim, parts)
    before = len(chat.arrived)
    if dies_in < 3:
        await accept(box, make_waiting(5, says=says))

    (claim,) = await box.sweep("bert")
    todo = await box.take(claim)
    await deliver(box, chat, claim, list(todo.parts), todo.sends_begun)

    last = WORDS("stopped-sending") if says == "/stop" else "document"
    sent_before = [part.rich.text for part in parts[: min(dies_in, 2)]]
    # A change that was being sent is repeated once, as any send with an unknown outcome.
    assert chat.texts == [*sent_before, *[last] * (2 if before == 3 else 1)]
    assert await box.outbox() == []
    if says == "/stop":
        assert (await answer_in(redis)).is_stopped
        assert await box.waiting() == []
        assert (await box.state_of(1))[1] == "stopped"


async def die() -> None:
    raise asyncio.CancelledError


async def test_a_reset_counts_the_messages_that_were_not_begun(redis: RedisClient) -> None:
    gone = replace(some_parts("x")[0], number=9, kind="delete", edits=66)
    box, claim, parts = await commit_answer(redis, gone)

    assert await box.turns.count_sends(claim, parts[0], 1)
    erased = await box.turns.reset(make_ref())

    assert erased.unsent == 5


async def test_a_confirmed_reset_leaves_the_outbox_to_the_reset(redis: RedisClient) -> None:
    box, claim, parts = await commit_answer(redis)
    chat = Chat({1: lambda: accept(box, make_waiting(5, presses="reset:chat:7:0"))})

    await deliver(box, chat, claim, parts)

    assert len(chat.arrived) == 1
    assert len(await box.outbox()) == 5
