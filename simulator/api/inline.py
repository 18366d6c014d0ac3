"""Inline mode as people use it: ask `@bot question` in any chat, and choose a result, with feedback for the bot."""

import asyncio
from typing import Any

from simulator.api.api_objects import user_json
from simulator.api.entities import parse_entities
from simulator.api.errors import PageError
from simulator.api.interactions import INLINE_QUERY_LIFE_S, Results
from simulator.api.methods.messages import thread_of
from simulator.api.posts import open_chat_of, post
from simulator.api.simulation import Simulation
from simulator.api.updates import MESSAGE_LIFE_S
from simulator.api.world import Message


async def ask(sim: Simulation, *, chat_id: int, from_id: int, query: str) -> tuple[str, Results]:
    """Send an inline query; return its id and results. There are none if the bot does not take or answer it."""
    chat = open_chat_of(sim, chat_id, from_id)
    query_id, coming = sim.callbacks.inline.open(query)
    update: dict[str, Any] = {
        "id": query_id,
        "from": user_json(sim.world.people[from_id]),
        "chat_type": "sender" if chat.id == from_id else chat.type,
        "query": query,
        "offset": "",
    }
    if sim.queue.add("inline_query", update, lane=f"user {from_id}", life_s=INLINE_QUERY_LIFE_S) is None:
        return query_id, []
    try:
        async with asyncio.timeout(INLINE_QUERY_LIFE_S):
            return query_id, await coming
    except TimeoutError:
        return query_id, []


def choose(
    sim: Simulation,
    *,
    chat_id: int,
    from_id: int,
    inline_query_id: str,
    result_id: str,
    message_thread_id: int | None = None,
) -> Message:
    """Send a result as the person's message via the bot, and tell the bot. Raises PageError for an unknown one."""
    chat = open_chat_of(sim, chat_id, from_id)
    found = sim.callbacks.inline.find(inline_query_id, result_id)
    if found is None:
        raise PageError("There is no such result.", status=404)
    query, result = found
    content, markup = result["input_message_content"], result.get("reply_markup")
    message = post(
        sim,
        Message(
            chat_id=chat.id,
            sender_id=from_id,
            date=sim.now(),
            text=content["message_text"],
            entities=tuple(parse_entities(content.get("entities"))),
            thread_id=thread_of(chat, message_thread_id, None),
            reply_markup=markup,
            is_via_bot=True,
        ),
    )
    chosen = {"result_id": result_id, "from": user_json(sim.world.people[from_id]), "query": query}
    # Bot API documentation, ChosenInlineResult: the message has an id only if there is a keyboard under it.
    named = {"inline_message_id": f"{chat.id}.{message.id}"} if markup else {}
    sim.queue.add("chosen_inline_result", chosen | named, lane=f"user {from_id}", life_s=MESSAGE_LIFE_S)
    return message
