"""`facts`: what is known from a chat about people and things."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.chats import find_chat
from bot.cli.output import count, one_line, print_json, print_line, print_table, utc
from bot.cli.session import AsJson, Chat, ChatName, finish, load_quietly, open_stores
from bot.times import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.page.chats import ListedChat
    from bot.settings import Settings
    from memory.history.fact import Fact

_LONGEST_NAME = 16


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
    from bot.features.facts.settings import FactSettings
    from memory.facts.context_facts import list_all
    from memory.facts.redis_facts import are_extracted

    async with open_stores(settings) as stores:
        chat, snapshot = await find_chat(settings, stores, name)
        known = await list_all(stores.facts, chat.ref)
        unread, choices = await stores.facts.count_unread(chat.ref), await stores.facts.choices(chat.ref)
    is_on = settings.of(FactSettings).extracts_facts and are_extracted(choices, is_group=chat.chat_id < 0)
    shown = [fact for fact in known if all_facts or fact.valid_to is None]
    if as_json:
        document = {"chat": chat.name, "title": chat.title, "is_on": is_on, "total": len(known)}
        print_json({**document, "unread": unread, "facts": [fact_document(fact) for fact in shown]})
        return
    print_line(_headline(chat, known, is_on=is_on), style="bold")
    if shown:
        rows = [_cells(fact, snapshot.people) for fact in shown]
        print_table(["since (UTC)", "until (UTC)", "about", "said by", "fact"], rows, wide=("fact",))
    if len(shown) < len(known):
        left_out = count(len(known) - len(shown), "fact")
        print_line(f"Left out because they no longer hold: {left_out}. --all prints them too.")
    if unread:
        print_line(f"Not read for facts yet: {count(unread, 'message')}.")


def fact_document(fact: "Fact") -> "Mapping[str, object]":
    """Return a fact as JSON prints it."""
    document = asdict(fact) | {"valid_from": iso(fact.valid_from), "valid_to": iso(fact.valid_to)}
    del document["closed_by"]
    return document


def _headline(chat: "ListedChat", known: "list[Fact]", *, is_on: bool) -> str:
    name = f"{chat.name} · {chat.title}" if chat.title else chat.name
    return f"{name}: {count(len(known), 'fact')}" + ("" if is_on else "; no new ones are learned")


def _cells(fact: "Fact", people: "Mapping[int, str]") -> tuple[str, ...]:
    writer = "" if fact.said_by is None else people.get(fact.said_by, str(fact.said_by))
    imported = f" (imported from {fact.imported_from})" if fact.imported_from else ""
    return (
        utc(fact.valid_from)[:10],
        "" if fact.valid_to is None else utc(fact.valid_to)[:10],
        one_line(fact.subject, longest=_LONGEST_NAME),
        one_line(writer, longest=_LONGEST_NAME),
        f"{fact.statement} (standing wish)" if fact.is_standing else f"{fact.statement}{imported}",
    )
