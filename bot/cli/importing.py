"""What `mnemogram import` does: puts an exported file into a chat's memory, whole or not at all."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import typer

from bot.app.stores import Stores, open_stores
from bot.cli.chat_resetting import print_receipt
from bot.cli.exporting import told
from bot.cli.failures import CommandFailed
from bot.cli.known_chats import chat_ref, present_name
from bot.cli.options import ChatName, parse_chat
from bot.cli.output import count, print_json, print_line
from bot.settings import Settings
from bot.transport.updates import context_keys
from bot.turn.erasure import Eraser
from bot.turn.store import TurnStore
from memory.erasure import ErasureReceipt
from memory.errors import Forgotten, StoreFull, StoreUnavailable
from memory.history import contexts
from memory.transfer.file import BadFile, FileFacts, check_file, read_lines
from memory.transfer.importer import ContextImport, ContextOccupied, ImportLost, Placed, Target

NOTHING = "Nothing was imported."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which file goes where: its own chat if `into` is None. `replaces`: what is kept of that chat is erased first."""

    file: Path
    into: ChatName | None
    replaces: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What an import has done. `receipt`: of what was erased first."""

    name: ChatName
    target: Target
    facts: FileFacts
    placed: Placed
    receipt: ErasureReceipt | None


async def import_chat(settings: Settings, wish: Wish, *, as_json: bool) -> None:
    """Check the file, read it beside the memory, put it in place.

    Raises CommandFailed and the store's errors: then nothing of the file is there, but where it says so.
    """
    if not wish.file.is_file():
        raise CommandFailed(f"{wish.file} is no ordinary file, and it is read twice. {NOTHING}")
    with _open(wish.file) as lines:
        facts = check_file(lines)
    async with open_stores(settings) as stores:
        name = await present_name(stores, wish.into or _own_chat(facts))
        target = await _target(settings, stores, name, facts)
        epoch = await _epoch_if_free(stores, target, name, wish)
        importing = ContextImport(redis=stores.redis, target=target, token=uuid4().hex, now=time.time())
        receipt: ErasureReceipt | None = None
        try:
            with _open(wish.file) as lines:
                await importing.stage(lines)
            if wish.replaces:
                store = TurnStore(stores.redis, clock=time.time)
                receipt = await Eraser(store, stores.history, stores.recall).reset(target.ref)
                epoch = (await stores.history.load(target.ref, limit=0)).epoch
            placed = await _place(importing, facts, name, epoch=epoch)
        except CommandFailed as failure:
            if receipt is None:
                raise
            raise CommandFailed(f"{failure} {_erased(name)}") from None
        except (StoreUnavailable, StoreFull) as error:
            if receipt is None:
                raise
            raise CommandFailed(f"REDIS_URL: {error}. {NOTHING} {_erased(name)}") from None
        finally:
            await importing.clear_up()
    done = _Done(name=name, target=target, facts=facts, placed=placed, receipt=receipt)
    if as_json:
        _print_json(done)
    else:
        _print(done)


def _own_chat(facts: FileFacts) -> ChatName:
    try:
        return parse_chat(facts.header.chat)
    except typer.BadParameter:
        raise CommandFailed(f"The file names no chat: give one with --into. {NOTHING}") from None


async def _target(settings: Settings, stores: Stores, name: ChatName, facts: FileFacts) -> Target:
    ref = await chat_ref(settings, stores, name)
    anchor_id = await stores.migrations.resolve(name.chat_id)
    is_other = ref.context_id != facts.header.context
    keys = context_keys(settings.bot_id, anchor_id, name.thread_id)
    created_at = facts.header.registered_at or float(facts.meta.get("created_at", "0")) or time.time()
    title = "" if is_other else facts.header.title
    return Target(
        ref=ref,
        registered=contexts.dump_entry(keys, title=title, created_at=created_at),
        is_other=is_other,
    )


async def _epoch_if_free(stores: Stores, target: Target, name: ChatName, wish: Wish) -> int:
    """The epoch of the context into which the file goes, which is empty or to be replaced."""
    snapshot = await stores.history.load(target.ref, limit=0)
    if snapshot.count and not wish.replaces:
        raise CommandFailed(_occupied(name))
    return snapshot.epoch


async def _place(importing: ContextImport, facts: FileFacts, name: ChatName, *, epoch: int) -> Placed:
    try:
        return await importing.place(facts, epoch=epoch)
    except ContextOccupied:
        raise CommandFailed(_occupied(name)) from None
    except Forgotten:
        raise CommandFailed(f"Chat {name} was reset meanwhile. {NOTHING}") from None
    except ImportLost:
        raise CommandFailed(f"The store has lost what was read of the file. {NOTHING} Try again.") from None
    except StoreUnavailable as error:
        raise CommandFailed(
            f"REDIS_URL: {error}, at the last step: the file is in chat {name} whole, or not at all. `mnemogram history "
            f"{name}` shows which; importing it again is safe."
        ) from None


def _erased(name: ChatName) -> str:
    return f"What was kept of chat {name} before is erased."


def _occupied(name: ChatName) -> str:
    return f"Chat {name} has a memory already. {NOTHING} `--replace` erases it first; `--into CHAT` takes another chat."


@contextmanager
def _open(file: Path) -> Generator[Iterator[str]]:
    """The file's lines. What is wrong with it becomes a sentence that names it."""
    try:
        with file.open(encoding="utf-8", newline="\n") as stream:
            yield read_lines(stream)
    except BadFile as error:
        raise CommandFailed(f"{file}: {error}. {NOTHING}") from None
    except UnicodeDecodeError:
        raise CommandFailed(f"{file}: this is no text. {NOTHING}") from None
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}.") from None


def _print_json(done: _Done) -> None:
    receipt = done.receipt
    print_json(
        {
            "chat": str(done.name),
            "context": done.target.ref.context_id,
            "is_other_chat": done.target.is_other,
            "counts": done.facts.counts,
            "queued_for_index": done.placed.queued,
            "artifacts_aged_out": done.placed.aged_out,
            "erased": None
            if receipt is None
            else {"messages": receipt.messages_erased, "is_proven": receipt.is_proven},
        }
    )


def _print(done: _Done) -> None:
    if done.receipt is not None:
        print_receipt(done.receipt, f"chat {done.name}")
    print_line(f"Chat {done.name} has the file's memory now: {told(done.facts.counts)}.")
    if done.target.is_other:
        print_line(
            "It is another chat than the file's: Telegram's message numbers and the heard lines stay behind."
        )
    if done.placed.aged_out:
        print_line(f"{count(done.placed.aged_out, 'artifact')} had aged out and stay behind.")
    print_line(
        f"{count(done.placed.queued, 'message')} wait for the index: the workers make the search entries; "
        "`mnemogram queue` tells how many are left."
    )
