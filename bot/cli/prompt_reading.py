"""What `mnemogram history --prompt` prints: the prompt that the next message would get, and its receipt."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from bot.agent.context import Caller
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.model import PromptMessage
from bot.agent.prompt.parts import AssembledPrompt, PromptReceipt, ReceiptItem
from bot.app.agents import read_agents
from bot.app.build import build_conversations, build_team, loaded_messages
from bot.app.stores import Stores, open_stores
from bot.cli.failures import CommandFailed
from bot.cli.known_chats import KnownChat, find_known
from bot.cli.options import ChatName
from bot.cli.output import print_json, print_line, print_table
from bot.settings import Settings
from memory.history.message import Message, Sender
from memory.history.store import HistorySnapshot

PLACEHOLDER = "(the next message)"
NOTHING_RECALLED = (
    "Nothing is recalled for a placeholder. --message TEXT shows what is recalled for that text."
)


async def print_prompt(settings: Settings, name: ChatName, *, text: str | None, as_json: bool) -> None:
    """Print the first request that a message with this text would make; without one a placeholder stands for it.

    No chat model is asked. A text is embedded, for the search of what is recalled.
    """
    async with open_stores(settings) as stores:
        chat, _ = await find_known(settings, stores, name)
        prompt = await _preview(settings, stores, chat, text)
    if as_json:
        print_json(_document(chat, text, prompt))
        return
    _print_messages(prompt.messages)
    _print_receipt(prompt.receipt)
    if text is None:
        print_line(NOTHING_RECALLED)


async def _preview(settings: Settings, stores: Stores, chat: KnownChat, text: str | None) -> AssembledPrompt:
    settings, spec = read_agents(settings)
    team = build_team(settings, spec, None)
    conversations = build_conversations(settings, stores, clock=time.time)
    snapshot = await stores.history.load(chat.ref, limit=loaded_messages(settings))
    buffered = conversations.buffer(chat.ref, snapshot)
    context = conversations.open(chat.ref, snapshot, buffered, is_group=chat.name.chat_id < 0)
    shown = PLACEHOLDER if text is None else text
    # As somebody gets it who is neither an administrator nor an operator.
    context.caller = Caller(place="groups" if chat.name.chat_id < 0 else "private", chat_id=chat.name.chat_id)
    context.user_messages = (
        Message(
            id="next",
            role="user",
            text=shown,
            sent_at=time.time(),
            tokens=conversations.tokenizer.count(shown),
            sender=_only_person(chat, snapshot),
        ),
    )
    if text is None:
        context.thinking.recalled = ()
    agent = team.agent_named(context.agent_name)
    if not isinstance(agent, FunctionsBasedAgent):
        raise CommandFailed(f"The agent of this chat ({team.name_of(context)}) makes no prompt to show.")
    return await agent.preview(context)


def _only_person(chat: KnownChat, snapshot: HistorySnapshot) -> Sender | None:
    """Who writes in a private chat, which has the person's id; None in a group: it may be anybody."""
    person = chat.name.chat_id
    return Sender(id=person, name=snapshot.people.get(person, "")) if person > 0 else None


def _document(chat: KnownChat, text: str | None, prompt: AssembledPrompt) -> dict[str, object]:
    return {
        "chat": str(chat.name),
        "title": chat.title,
        "message": text,
        "is_recalled": text is not None,
        "messages": [{"role": message.role, "text": message.text} for message in prompt.messages],
        "receipt": asdict(prompt.receipt),
    }


def _print_messages(messages: Sequence[PromptMessage]) -> None:
    """In a table: no line of a message can pass for the beginning of another one."""
    print_table(
        [("role", "left"), ("text", "left")],
        [(message.role, message.text) for message in messages],
        wide=("text",),
    )


def _print_receipt(receipt: PromptReceipt) -> None:
    agent = f" of {receipt.agent}" if receipt.agent else ""
    print_line(
        f"The prompt{agent} takes {receipt.tokens:,} of {receipt.room:,} tokens; "
        f"the window is {receipt.window:,}, the order {receipt.order}.",
        style="bold",
    )
    print_table(
        [("part", "left"), ("tokens", "right"), ("in", "right"), ("left out", "left"), ("why", "left")],
        [
            (
                part.part,
                f"{part.tokens:,}",
                f"{len(part.included):,}",
                _left_out(part.left_out),
                _why(part.why, part.included),
            )
            for part in receipt.parts
        ],
        wide=("left out", "why"),
    )


def _left_out(items: Sequence[ReceiptItem]) -> str:
    """How many, for each reason."""
    return "; ".join(f"{number:,} {why}" for why, number in Counter(item.why for item in items).items())


def _why(why: str, included: Sequence[ReceiptItem]) -> str:
    """Why the part is there, and what was done to those in it that are not whole."""
    changed = Counter(item.why for item in included if item.why)
    return "; ".join([why, *(f"{number:,} {what}" for what, number in changed.items())])
