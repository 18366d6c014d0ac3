"""`reset`: erases the memory of a chat everywhere and prints the receipt."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.chats import (
    chat_ref,
    describe_topics,
    list_chats,
    no_memory,
    present_name,
    topics_of,
    unlisted_chat,
)
from bot.cli.failures import FAILED, print_error
from bot.cli.output import count, print_facts, print_json, print_line
from bot.cli.session import AsJson, Chat, ChatName, complete, finish, load_quietly, open_stores

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.page.chats import ListedChat
    from bot.settings import Settings
    from memory.erasure import ErasureReceipt
    from memory.keys import ContextRef


def reset(
    chat: Chat,
    all_topics: Annotated[bool, typer.Option("--all", help="The chat and all its topics.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase the memory of a chat everywhere, and print the receipt.

    Asks first at a terminal. The exit status is 1 if the chat has no memory, or if reading back does not prove the
    erasure.
    """
    if all_topics and chat.thread_id is not None:
        raise typer.BadParameter(f"{chat} is one topic. Use `{chat.chat_id} --all` for the whole chat.")
    settings = load_quietly()
    if sys.stdin.isatty() and not yes:
        question = complete(settings, _make_question(settings, chat, all_topics=all_topics))
        typer.confirm(question, abort=True, err=True)
    finish(settings, _reset(settings, chat, all_topics=all_topics, as_json=as_json))


async def erase(
    stores: "Stores", ref: "ContextRef", *, grave: Literal["reset", "replaced"] = "reset"
) -> "ErasureReceipt":
    """Erase one context everywhere."""
    from bot.turn.erasure import Eraser
    from bot.turn.store import TurnStore

    store = TurnStore(stores.redis, clock=time.time)
    return await Eraser(stores.redis, store, stores.history, stores.recall).reset(ref, grave=grave)


def print_receipt(receipt: "ErasureReceipt", subject: str) -> None:
    """Print the counts of an erasure, and the result of reading back. `subject` names what was erased."""
    print_line(f"The {subject} is erased.", style="bold")
    vectors_left = "unknown" if receipt.vectors_left is None else f"{receipt.vectors_left:,}"
    erased = (
        count(receipt.erased.messages, "message"),
        count(receipt.erased.facts, "fact"),
        count(receipt.erased.reminders, "reminder"),
        count(receipt.vectors_erased, "search entry"),
        count(receipt.erased.summaries, "summary"),
        count(receipt.erased.ledger_turns, "tool record"),
        count(receipt.erased.artifacts, "artifact"),
        count(receipt.erased.talk, "overheard message"),
        count(receipt.updates_forgotten, "waiting update"),
        count(receipt.unsent_dropped, "unsent message"),
        count(receipt.erased.quotes, "quotation"),
    )
    left = (
        f"{count(receipt.messages_left, 'message')}, {vectors_left} search entries, "
        f"{receipt.others_left:,} facts, reminders, summaries, tool records, artifacts and overheard messages"
    )
    print_facts([("erased", ", ".join(erased)), ("left on reading back", left)])
    if receipt.is_proven:
        print_line("Both stores were read back: nothing is left.")
    elif receipt.vectors_left is None:
        print_error(
            "QDRANT_URL: the index does not answer. No search can find the chat's entries now, and a worker "
            "erases them when the index answers. Run this command again then for the proof."
        )
    else:
        print_error("Something arrived during the reading back. Run this command again to be sure.")
    if receipt.not_copied:
        print_error(
            f"ERASURES_DIR: the tombstone of this erasure is in the store only: {receipt.not_copied}. If the store"
            " is lost before the next backup, an older one would bring the words back."
        )
    if receipt.unclean:
        print_error(
            f"REDIS_URL: the append-only files of {', '.join(receipt.unclean)} keep erased words, because our user "
            "could not have them rewritten. Run `BGREWRITEAOF` there; `mnemogram doctor` has the reasons."
        )


async def _make_question(settings: "Settings", name: ChatName, *, all_topics: bool) -> str:
    """Return the question to confirm, with the number of messages."""
    async with open_stores(settings) as stores:
        name = await present_name(stores, name)
        entries = await _select(settings, stores, name, all_topics=all_topics)
        messages = sum([(await stores.history.load(entry.ref, limit=0)).count for entry in entries])
    title = next((f" ({entry.title})" for entry in entries if entry.title), "")
    return f"Erase {count(messages, 'message')} of {_subject(name, entries)}{title} for good?"


async def _reset(settings: "Settings", name: ChatName, *, all_topics: bool, as_json: bool) -> int:
    """Erase, print the receipt and return the exit status.

    A chat without a memory may have waiting updates, so nobody knows before that there is nothing to erase.
    """
    from memory.erasure import sum_receipts

    async with open_stores(settings) as stores:
        name = await present_name(stores, name)
        entries = await _select(settings, stores, name, all_topics=all_topics)
        receipt = sum_receipts([await erase(stores, entry.ref) for entry in entries])
        topics = topics_of(await list_chats(settings, stores), name.chat_id) if name.thread_id is None else []
    is_empty = receipt.is_proven and not receipt.has_erased
    if as_json:
        document = {"chat": str(name), "contexts": len(entries), **receipt.counts()}
        print_json({**document, "is_proven": receipt.is_proven})
    elif not is_empty:
        print_receipt(receipt, f"memory of {_subject(name, entries)}")
    if is_empty:
        print_error(f"{no_memory(name, topics)} Both stores were read back: there was nothing to erase.")
    if topics:
        print_error(f"{describe_topics(name, topics)}. `mnemogram reset {name} --all` erases them too.")
    return 0 if receipt.is_proven and not is_empty else FAILED


async def _select(
    settings: "Settings", stores: "Stores", name: ChatName, *, all_topics: bool
) -> "list[ListedChat]":
    """Return the chat itself, even if it has no memory, and with `all_topics` its topics too."""
    from bot.app.build import build_chat_contexts

    entries = await list_chats(settings, stores)
    ref = await chat_ref(settings, stores, name)
    chat = next((entry for entry in entries if entry.ref == ref), unlisted_chat(name, ref))
    if not all_topics:
        return [chat]
    topics = topics_of(entries, name.chat_id)
    listed = {ref, *(topic.ref for topic in topics)}
    chat_contexts = build_chat_contexts(stores, bot_id=settings.bot_id, clock=time.time)
    others = [each for each in await chat_contexts.find(name.chat_id) if each not in listed]
    return [chat, *topics, *(unlisted_chat(name, each) for each in others)]


def _subject(name: ChatName, entries: "list[ListedChat]") -> str:
    topics = len(entries) - 1
    return f"chat {name} with {count(topics, 'topic')}" if topics else f"chat {name}"
