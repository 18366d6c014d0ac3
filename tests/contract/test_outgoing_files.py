"""Files out: their bytes wait in Redis, are sent once, and leave one sentence if they have expired."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from bot.errors import SendUnknown, TelegramFailure, TelegramRefused
from bot.inbox.records import Claim
from bot.transport.rich_text import RichText
from bot.turn.outbox import Part
from memory import keys
from memory.artifacts.store import OutgoingFiles, read_file
from memory.errors import Forgotten
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, make_blank, open_delivery, open_inbox
from tests.messages import make_ref

BYTES = b"\x89PNG\r\n\x1a\n\x00\xff"
LOST = "I could not send table.csv."
FILES = keys.context_key(make_ref(), "files")
TEXT = replace(make_blank(), rich=RichText(text="hello"))
FILE = replace(make_blank(), number=1, kind="document", file_name="t.png", file_id="f", instead=LOST)
PHOTO = replace(FILE, kind="photo")


@dataclass(slots=True)
class Telegram:
    """A Bot API that records kind, text and content of each send. `outcomes` come first."""

    outcomes: list[TelegramFailure | None] = field(default_factory=list[TelegramFailure | None])
    sent: list[tuple[str, str, bytes]] = field(default_factory=list[tuple[str, str, bytes]])
    dies: Callable[[Part], bool] = lambda part: False

    async def __call__(self, part: Part, content: bytes = b"", /) -> int:
        self.sent.append((part.kind, part.rich.text, content))
        if self.dies(part):
            raise asyncio.CancelledError
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        return 70 + len(self.sent)


async def _kept(redis: RedisClient, *, epoch: int = 0) -> OutgoingFiles:
    files = OutgoingFiles(redis, make_ref(), epoch=lambda: epoch)
    await files.keep(BYTES, file_id="f")
    return files


async def _committed(redis: RedisClient, *parts: Part) -> tuple[Inbox, Claim]:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await _kept(redis)
    await box.commit(claim, 1, parts=parts)
    return box, claim


async def test_a_file_is_sent_with_its_bytes_which_are_then_erased(redis: RedisClient) -> None:
    box, claim = await _committed(redis, TEXT, FILE)
    ttl = await box.ttl_of(FILES)
    telegram = Telegram()

    await open_delivery(box, telegram).deliver(claim, [TEXT, FILE])

    assert telegram.sent == [("text", "hello", b""), ("document", "", BYTES)]
    assert keys.FILES_TTL_S - 60 < ttl <= keys.FILES_TTL_S
    assert await read_file(redis, make_ref(), "f") is None
    assert await box.state_of(1) == ("answered", "")


@pytest.mark.parametrize("dying", ["text", "document"])
async def test_a_worker_that_dies_while_it_sends_loses_no_file(redis: RedisClient, dying: str) -> None:
    box, claim = await _committed(redis, TEXT, FILE)
    first, second = Telegram(dies=lambda part: part.kind == dying), Telegram()
    with pytest.raises(asyncio.CancelledError):
        await open_delivery(box, first).deliver(claim, [TEXT, FILE])
    (claim,) = await box.sweep("ben")
    todo = await box.take(claim)

    await open_delivery(box, second).deliver(claim, todo.parts, sends_begun=todo.sends_begun)

    # The send under way may have arrived, so that it is repeated once. No other send is.
    assert [kind for kind, _, _ in first.sent] == ["text", "document"][: len(first.sent)]
    assert [kind for kind, _, _ in second.sent] == ["text", "document"][len(first.sent) - 1 :]
    assert second.sent[-1] == ("document", "", BYTES)
    assert await redis.call("EXISTS", FILES) == 0


async def test_a_file_of_unknown_outcome_is_repeated_once(redis: RedisClient) -> None:
    box, claim = await _committed(redis, FILE)
    telegram = Telegram([SendUnknown(), SendUnknown()])

    await open_delivery(box, telegram).deliver(claim, [FILE])

    assert telegram.sent == [("document", "", BYTES)] * 2
    assert await box.state_of(1) == ("answered", "send_outcome_unknown")


@pytest.mark.parametrize("part", [FILE, PHOTO])
async def test_an_expired_file_ends_as_one_sentence(redis: RedisClient, part: Part) -> None:
    box, claim = await _committed(redis, part, replace(TEXT, number=2))
    await redis.call("DEL", FILES)
    telegram = Telegram()

    await open_delivery(box, telegram).deliver(claim, await box.outbox())

    assert telegram.sent == [("text", LOST, b""), ("text", "hello", b"")]
    assert await box.outbox() == []
    assert await box.state_of(1) == ("answered", "")


async def test_a_refused_photo_is_sent_as_a_document_and_then_as_a_sentence(redis: RedisClient) -> None:
    box, claim = await _committed(redis, PHOTO)
    telegram = Telegram([TelegramRefused("PHOTO_INVALID_DIMENSIONS"), TelegramRefused("not enough rights")])

    await open_delivery(box, telegram).deliver(claim, [PHOTO])

    assert telegram.sent == [("photo", "", BYTES), ("document", "", BYTES), ("text", LOST, b"")]
    assert await box.state_of(1) == ("answered", "")


async def test_a_reset_erases_the_files_and_takes_no_later_ones(redis: RedisClient) -> None:
    box, _ = await _committed(redis, FILE)

    await box.turns.reset(make_ref())

    assert await redis.call("EXISTS", FILES) == 0
    with pytest.raises(Forgotten):
        await _kept(redis, epoch=0)
    assert await redis.call("EXISTS", FILES) == 0


async def test_a_turn_that_restarts_or_sends_nothing_leaves_no_files(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await _kept(redis)
    await box.turns.restart(claim)
    after_restart = await redis.call("EXISTS", FILES)
    await _kept(redis)

    await box.commit(claim, 1)

    assert (after_restart, await redis.call("EXISTS", FILES)) == (0, 0)
