"""What `mnemogram reset` does: erases a chat's memory everywhere and prints the receipt."""

import time
from dataclasses import asdict

from bot.app.build import build_chat_contexts
from bot.app.stores import Stores, open_stores
from bot.cli.failures import FAILED, print_error
from bot.cli.known_chats import KnownChat, chat_ref, list_known, present_name, topics_of
from bot.cli.options import ChatName
from bot.cli.output import count, print_facts, print_json, print_line
from bot.settings import Settings
from bot.turn.erasure import Eraser, sum_receipts
from bot.turn.store import TurnStore
from memory.erasure import ErasureReceipt


async def ask_for_reset(settings: Settings, name: ChatName, *, all_topics: bool) -> str:
    """The question to confirm, with what would be erased."""
    async with open_stores(settings) as stores:
        name = await present_name(stores, name)
        chats = await _chosen(settings, stores, name, all_topics=all_topics)
        messages = sum([(await stores.history.load(chat.ref, limit=0)).count for chat in chats])
    title = next((f" ({chat.title})" for chat in chats if chat.title), "")
    return f"Erase {count(messages, 'message')} of {_what(name, chats)}{title}, for good?"


async def reset_chat(settings: Settings, name: ChatName, *, all_topics: bool, as_json: bool) -> int:
    """Erase and print the receipt; the exit status. Works for a chat that is not known (any more) too."""
    async with open_stores(settings) as stores:
        name = await present_name(stores, name)
        chats = await _chosen(settings, stores, name, all_topics=all_topics)
        store = TurnStore(stores.redis, clock=time.time)
        eraser = Eraser(store, stores.history, stores.recall)
        receipt = sum_receipts([await eraser.reset(chat.ref) for chat in chats])
        topics = topics_of(await list_known(settings, stores), name) if name.thread_id is None else []
    if as_json:
        print_json(
            {"chat": str(name), "contexts": len(chats), **asdict(receipt), "is_proven": receipt.is_proven}
        )
    else:
        print_receipt(receipt, _what(name, chats))
    if topics:
        print_error(
            f"Chat {name} also has {count(len(topics), 'topic')} with memory of their own "
            f"({', '.join(str(topic.name) for topic in topics)}): `mnemogram reset {name} --all` erases them too."
        )
    return 0 if receipt.is_proven else FAILED


async def _chosen(settings: Settings, stores: Stores, name: ChatName, *, all_topics: bool) -> list[KnownChat]:
    """The chat itself, known or not, and its topics where they are wanted."""
    known = await list_known(settings, stores)
    ref = await chat_ref(settings, stores, name)
    itself = next((chat for chat in known if chat.ref == ref), KnownChat(name=name, title="", ref=ref))
    if not all_topics:
        return [itself]
    topics = topics_of(known, name)
    chat_contexts = build_chat_contexts(stores, bot_id=settings.bot_id, clock=time.time)
    found = await chat_contexts.find(name.chat_id)
    listed = {ref, *(topic.ref for topic in topics)}
    unlisted = [KnownChat(name=name, title="", ref=other) for other in found if other not in listed]
    return [itself, *topics, *unlisted]


def _what(name: ChatName, chats: list[KnownChat]) -> str:
    topics = len(chats) - 1
    return f"chat {name} with {count(topics, 'topic')}" if topics else f"chat {name}"


def print_receipt(receipt: ErasureReceipt, what: str) -> None:
    """What was erased of `what`, and what reading back found."""
    print_line(f"The memory of {what} is erased.", style="bold")
    vectors_left = "not known" if receipt.vectors_left is None else f"{receipt.vectors_left:,}"
    print_facts(
        [
            (
                "erased",
                f"{count(receipt.messages_erased, 'message')}, "
                f"{count(receipt.vectors_erased, 'search entry', 'search entries')}, "
                f"{count(receipt.summaries_erased, 'summary', 'summaries')}, "
                f"{count(receipt.ledger_turns_erased, 'tool record')}, "
                f"{count(receipt.artifacts_erased, 'artifact')}, "
                f"{count(receipt.heard_erased, 'heard line')}, "
                f"{count(receipt.updates_forgotten, 'waiting update')}",
            ),
            (
                "left on reading back",
                f"messages {receipt.messages_left:,}, search entries {vectors_left}, "
                f"summaries, tool records, artifacts and heard lines {receipt.others_left:,}",
            ),
        ]
    )
    if receipt.is_proven:
        print_line("Both stores were read back afterwards: nothing is left.")
    elif receipt.vectors_left is None:
        print_error(
            "QDRANT_URL: the index does not answer. No search can see the chat's entries any more; a worker "
            "erases them as soon as the index answers. Run this again then for the proof."
        )
    else:
        print_error("Something came in while both stores were read back: run this again to be sure.")
