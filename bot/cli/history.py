"""`history`, `search`, `facts`, `mcp`: what is kept of a chat, and the prompt that its next message would get."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from bot.cli.chats import find_chat
from bot.cli.failures import CommandFailed
from bot.cli.output import count, one_line, print_json, print_line, print_table, utc
from bot.cli.session import AsJson, Chat, ChatName, finish, load_quietly, open_stores
from bot.times import iso

if TYPE_CHECKING:
    from bot.agent.prompt.parts import AssembledPrompt, PromptRecord, RecordItem
    from bot.features.parts import Stores
    from bot.page.chats import ListedChat
    from bot.settings import Settings
    from memory.history.fact import Fact
    from memory.history.message import Message
    from memory.history.store import HistorySnapshot

PLACEHOLDER = "(the next message)"
_LONGEST_NAME = 16
_COLUMNS = ("time (UTC)", "who", "text")


def history(
    chat: Chat,
    *,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=0, help="The number of messages; 0: all.", show_default="20"),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Include earlier conversations, before /new.")
    ] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print the prompt of the next message, with its record.")
    ] = False,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="With --prompt: the text of that next message.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the newest messages of a chat, or the prompt that its next message would get."""
    if prompt and (limit is not None or whole):
        raise typer.BadParameter("--prompt cannot be combined with --limit or --whole")
    if message is not None and not prompt:
        raise typer.BadParameter("--message needs --prompt")
    settings = load_quietly()
    if prompt:
        finish(settings, _print_prompt(settings, chat, text=message, as_json=as_json))
    limit = 20 if limit is None else limit
    finish(settings, _print_history(settings, chat, limit=limit, whole=whole, as_json=as_json))


def search(
    chat: Chat,
    text: Annotated[list[str], typer.Argument(help="Words to search for; their meaning counts too.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="The number of messages to find.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Find messages of a chat by words and meaning, as the agent's recall does."""
    for word in text:
        if word.startswith("--"):  # NEGATIVE_NUMBERS makes words of unknown options
            raise typer.BadParameter(f"No such option: {word}")
    settings = load_quietly()
    finish(settings, _search(settings, chat, query=" ".join(text), k=k, as_json=as_json))


async def _print_history(
    settings: "Settings", name: ChatName, *, limit: int, whole: bool, as_json: bool
) -> None:
    """Print the newest `limit` messages (0: all) of the present conversation, or of the whole history."""
    from memory.chat_history import newest_first

    messages: list[Message] = []
    async with open_stores(settings) as stores:
        chat, snapshot = await find_chat(settings, stores, name)
        async with aclosing(newest_first(stores.history, chat.ref, whole=whole)) as newest:
            async for message in newest:
                messages.append(message)
                if len(messages) == limit:
                    break
    messages.reverse()
    if as_json:
        documents = [message_document(message) for message in messages]
        print_json({**_chat_document(chat, snapshot), "whole": whole, "shown": documents})
        return
    print_line(_headline(chat, snapshot), style="bold")
    if messages:
        print_table(_COLUMNS, [_cells(message) for message in messages], wide=("text",))
    total = snapshot.count if whole else snapshot.conversation_count
    if len(messages) < total:
        print_line(f"These are the newest {len(messages):,} of {total:,}; --limit 0 prints all.")
    if not whole and total < snapshot.count:
        print_line(f"Earlier conversations have {snapshot.count - total:,} more; --whole includes them.")


async def _search(settings: "Settings", name: ChatName, *, query: str, k: int, as_json: bool) -> None:
    """Print the best matches first."""
    from memory.chat_history import ChatHistory
    from memory.tokens import tokenizer_for

    async with open_stores(settings) as stores:
        chat, snapshot = await find_chat(settings, stores, name)
        chat_history = ChatHistory(
            ref=chat.ref,
            epoch=snapshot.epoch,
            store=stores.history,
            recall=stores.recall,
            tokenizer=tokenizer_for(settings.openai_model),
            clock=time.time,
            new_id=lambda: str(uuid4()),
        )
        hits = await chat_history.search(query, k, is_deliberate=True, is_floored=False)
    if as_json:
        documents = [{"score": round(hit.score, 4), **message_document(hit.message)} for hit in hits]
        print_json({**_chat_document(chat, snapshot), "text": query, "found": documents})
    elif not hits:
        print_line("Nothing was found. A new message can be found a moment after its turn.")
    else:
        rows = [(float(hit.score), *_cells(hit.message)) for hit in hits]
        print_table([">score", *_COLUMNS], rows, wide=("text",))


def message_document(message: "Message") -> dict[str, object]:
    """Return a message as JSON prints it."""
    from bot.page.documents import message_fields

    return {
        **message_fields(message),
        "sent_at": iso(message.sent_at),
        "tokens": message.tokens,
        "telegram_message_id": message.telegram_message_id,
        "edited_at": iso(message.edited_at),
    }


def full_text(message: "Message") -> str:
    """Return the text with its quotation, note, origin and marks, as the tables show it."""
    from memory.history.message import render_message

    marks = [
        *(["stopped"] if message.is_stopped else []),
        *(["refused by the model's filter"] if message.is_refused else []),
        *(["edited"] if message.edited_at else []),
    ]
    quote = message.quote
    quotation = f'(in reply to {quote.sender_name or "assistant"}: "{quote.shown}")\n' if quote else ""
    text = quotation + render_message(message)
    return f"{text} ({', '.join(marks)})" if marks else text


def _chat_document(chat: "ListedChat", snapshot: "HistorySnapshot") -> dict[str, object]:
    return {
        "chat": chat.name,
        "title": chat.title,
        "messages": snapshot.count,
        "in_conversation": snapshot.conversation_count,
        "overheard": snapshot.talk.count,
    }


def _full_name(chat: "ListedChat") -> str:
    return f"{chat.name} · {chat.title}" if chat.title else chat.name


def _headline(chat: "ListedChat", snapshot: "HistorySnapshot") -> str:
    overheard = count(snapshot.talk.count, "overheard message")
    return (
        f"{_full_name(chat)}: {count(snapshot.count, 'message')}, "
        f"{snapshot.conversation_count:,} in the present conversation"
        + (f", and {overheard}; --prompt shows the newest" if snapshot.talk.count else "")
    )


def _cells(message: "Message") -> tuple[str, str, str]:
    name = message.sender.name if message.sender and message.sender.name else message.role
    return utc(message.sent_at), one_line(name, longest=_LONGEST_NAME), full_text(message)


async def _print_prompt(settings: "Settings", name: ChatName, *, text: str | None, as_json: bool) -> None:
    """Print the first request that a message with this text would cause. Without a text, use a placeholder.

    No chat model is called. A text is embedded, to search for messages to recall.
    """
    async with open_stores(settings) as stores:
        chat, _ = await find_chat(settings, stores, name)
        prompt = await preview(settings, stores, chat, text)
    if as_json:
        print_json(
            {
                "chat": chat.name,
                "title": chat.title,
                "message": text,
                "is_recalled": text is not None,
                "messages": [{"role": message.role, "text": message.text} for message in prompt.messages],
                "record": asdict(prompt.record),
            }
        )
        return
    # In a table no line of a message can look like the beginning of another message.
    print_table(["role", "text"], [(each.role, each.text) for each in prompt.messages], wide=("text",))
    _print_record(prompt.record)
    if text is None:
        print_line(
            "The placeholder recalls nothing. --message TEXT shows what a message with that text recalls."
        )


async def preview(
    settings: "Settings", stores: "Stores", chat: "ListedChat", text: str | None
) -> "AssembledPrompt":
    """Return the prompt that the next message of a chat would get."""
    from bot.agent.context import Caller
    from bot.agent.functions_based import FunctionsBasedAgent
    from bot.app.agents import read_agents
    from bot.app.build import build_conversations, build_teams, loaded_messages
    from memory.facts.selection import Memories
    from memory.history.buffered import BufferedHistory
    from memory.history.message import Message, Sender

    settings, spec = read_agents(settings)
    team_with = build_teams(settings, spec, None)
    conversations = build_conversations(settings, stores, spec.options, clock=time.time)
    snapshot = await stores.history.load(chat.ref, limit=loaded_messages(settings))
    buffered = BufferedHistory(stores.history, chat.ref, snapshot)
    chat_id = chat.chat_id
    context = conversations.open(chat.ref, buffered, is_group=chat_id < 0)
    # A caller who is neither an administrator nor an operator.
    context.caller = Caller(place="groups" if chat_id < 0 else "private", chat_id=chat_id)
    prompt_text = PLACEHOLDER if text is None else text
    # A private chat has the id of its person. In a group anybody may write.
    sender = Sender(id=chat_id, name=snapshot.people.get(chat_id, "")) if chat_id > 0 else None
    tokens = conversations.tokenizer.count(prompt_text)
    message = Message(
        id="next", role="user", text=prompt_text, sent_at=time.time(), tokens=tokens, sender=sender
    )
    context.user_messages = (message,)
    if text is None:
        context.thinking.recalled = Memories()
    team = team_with(context.conversation.model)
    agent = team.agent_named(context.agent_name)
    if not isinstance(agent, FunctionsBasedAgent):
        raise CommandFailed(f"The agent of this chat ({team.name_of(context)}) has no prompt to show.")
    return await agent.preview(context)


def _print_record(record: "PromptRecord") -> None:
    agent = f" of {record.agent}" if record.agent else ""
    print_line(
        f"The prompt{agent} has {record.tokens:,} of at most {record.room:,} tokens; "
        f"the window is {record.window:,}, the order {record.order}.",
        style="bold",
    )
    rows = [
        (
            part.part,
            part.tokens,
            len(part.included),
            "; ".join(_count_reasons(part.left_out)),
            "; ".join([part.why, *_count_reasons(part.included)]),
        )
        for part in record.parts
    ]
    print_table(["part", ">tokens", ">in", "left out", "why"], rows, wide=("left out", "why"))


def _count_reasons(items: "Sequence[RecordItem]") -> list[str]:
    """Return the number of items for each reason why they were shortened or left out."""
    return [f"{number:,} {why}" for why, number in Counter(item.why for item in items if item.why).items()]


def facts(
    chat: Chat,
    *,
    all_facts: Annotated[bool, typer.Option("--all", help="Include facts that no longer hold.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the facts that are known from a chat, standing wishes first."""
    settings = load_quietly()
    finish(settings, _print_facts(settings, chat, all_facts=all_facts, as_json=as_json))


async def _print_facts(settings: "Settings", name: ChatName, *, all_facts: bool, as_json: bool) -> None:
    from memory.facts.context_facts import list_all
    from memory.facts.redis_facts import are_extracted

    async with open_stores(settings) as stores:
        chat, snapshot = await find_chat(settings, stores, name)
        known = await list_all(stores.facts, chat.ref)
        unread, choices = await stores.facts.count_unread(chat.ref), await stores.facts.choices(chat.ref)
    is_on = settings.extracts_facts and are_extracted(choices, is_group=chat.chat_id < 0)
    shown = [fact for fact in known if all_facts or fact.valid_to is None]
    if as_json:
        document = {"chat": chat.name, "title": chat.title, "is_on": is_on, "total": len(known)}
        print_json({**document, "unread": unread, "facts": [_fact_document(fact) for fact in shown]})
        return
    learning = "" if is_on else "; no new ones are learned"
    print_line(f"{_full_name(chat)}: {count(len(known), 'fact')}{learning}", style="bold")
    if shown:
        rows = [_fact_cells(fact, snapshot.people) for fact in shown]
        print_table(["since (UTC)", "until (UTC)", "about", "said by", "fact"], rows, wide=("fact",))
    if len(shown) < len(known):
        left_out = count(len(known) - len(shown), "fact")
        print_line(f"Left out because they no longer hold: {left_out}. --all prints them too.")
    if unread:
        print_line(f"Not read for facts yet: {count(unread, 'message')}.")


def _fact_document(fact: "Fact") -> "Mapping[str, object]":
    document = asdict(fact) | {"valid_from": iso(fact.valid_from), "valid_to": iso(fact.valid_to)}
    del document["closed_by"]
    return document


def _fact_cells(fact: "Fact", people: "Mapping[int, str]") -> tuple[str, ...]:
    writer = "" if fact.said_by is None else people.get(fact.said_by, str(fact.said_by))
    imported = f" (imported from {fact.imported_from})" if fact.imported_from else ""
    return (
        utc(fact.valid_from)[:10],
        "" if fact.valid_to is None else utc(fact.valid_to)[:10],
        one_line(fact.subject, longest=_LONGEST_NAME),
        one_line(writer, longest=_LONGEST_NAME),
        f"{fact.statement} (standing wish)" if fact.is_standing else f"{fact.statement}{imported}",
    )


def mcp(chat: Chat) -> None:
    """Serve the memory of a chat, read-only, to an MCP client that starts this command."""
    settings = load_quietly()
    finish(settings, _serve_memory(settings, chat))


async def _serve_memory(settings: "Settings", name: ChatName) -> None:
    from bot.mcp.memory_server import ChatMemory, serve_memory
    from memory.tokens import tokenizer_for

    async with open_stores(settings) as stores:
        chat, _ = await find_chat(settings, stores, name)
        memory = ChatMemory(
            ref=chat.ref,
            is_group=chat.chat_id < 0,
            history=stores.history,
            recall=stores.recall,
            facts_store=stores.facts,
            tokenizer=tokenizer_for(settings.openai_model),
        )
        await serve_memory(memory, name=f"mnemogram-{chat.name}")
