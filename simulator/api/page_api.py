"""The chat page and its own JSON API: the world, events, files, and actions of people.

A failed request gets a status of 4xx and `{"error": "one sentence."}`. Messages are Bot API objects. Fields of requests
(`?`: optional) are checked in page_requests.py.

- GET /api/world: bot, notice, people, chats, messages, reactions, deliveries
- GET /api/events, with the header Last-Event-ID: server-sent events, see below
- POST /api/files?name=…&type=… with bytes: file_id, name, mime_type, size; of a picture also width, height
- GET /api/files/ID: the bytes
- POST /api/messages: chat_id, from_id, text? or one kind of content, caption?, duration? (s), entities?,
  reply_to_message_id?, quote? (a part of that message), message_thread_id?, anonymous?, as_channel? (its id)
  - in the direct messages of a channel message_thread_id is the topic: a person's own one, or that of a reply
  - content is one of
    - photo, voice, audio, video_note, video, animation, document: a file id
    - sticker, dice: an emoji
    - location {latitude, longitude}; contact {phone_number, first_name, last_name?}
    - poll {question, options}; rich_message {blocks}; raw {Bot API fields}
  - a text over 4,096 units is sent as several messages; the response has the first
- POST /api/albums: chat_id, from_id, items [content and caption?], reply_to_message_id?, message_thread_id?
- POST /api/edits: chat_id, from_id, message_id, text (or caption), entities?
- POST /api/deletions: chat_id, from_id, message_id; the bot gets no update
- POST /api/forwards: chat_id, from_id, from_chat_id, message_ids, message_thread_id?,
  origin? (user, hidden_user, chat, channel), channel_title?, comment? (sent before)
- POST /api/reactions: chat_id, from_id, message_id, emoji (null removes it)
- POST /api/callbacks: chat_id, from_id, message_id, data, any_data? (a press of a button that does not exist)
- POST /api/inline_queries: chat_id, from_id, query; the response has inline_query_id and the bot's results
- POST /api/inline_results: chat_id, from_id, inline_query_id, result_id, message_thread_id?; a result is chosen
- POST /api/web_apps: chat_id, from_id, message_id and url (of a button) or start_param? (of a startapp link),
  theme_params? (name: #rrggbb); the response has the url of the Mini App with data that is signed for this person
- POST /api/blocks: chat_id, blocked
- POST /api/members: chat_id, from_id, user_id? (also the bot), action (join, leave, add, remove, promote, demote)
- POST /api/titles, /api/pins: chat_id, from_id, title or message_id
- POST /api/topics: chat_id, from_id, and name (create), message_thread_id and name (rename), message_thread_id (delete)
- POST /api/upgrades: chat_id, from_id, order? (old_first, new_first); the response is the new supergroup
- POST /api/people: first_name, last_name?, username?, language_code?, is_operator?, is_premium?, is_bot?
- POST /api/languages: from_id, language_code
- POST /api/chats: title, type, members, admins, is_forum?, topics?, has_bot?; for a channel has_comments?,
  has_direct_messages?, which the response has as comments_id and direct_messages_id
- POST, DELETE /api/faults: the fields of faults.py, with `for_ms` in place of `until`
- GET /api/calls?after=N&method=M: calls (events.py), last
- GET /api/updates/ID: the update and its deliveries

Types of events:

- message, edit {message}; delete {chat_id, message_id}
- draft {chat_id, message_thread_id?, draft_id, text, entities?, expires_in}; 0 seconds end it
- action {chat_id, message_thread_id?, action, expires_in}
- reaction {chat_id, message_id, user_id, reactions}
- callback_answer {callback_query_id, user_id, text?, show_alert}
- commands {chat_id, commands}; deliveries {mode, pending}
- world: members, titles, topics or people changed; load the world again
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from simulator.api import groups, inline, people
from simulator.api.api_objects import message_json
from simulator.api.errors import PageError
from simulator.api.files import MAX_FILE, StoredFile, image_size
from simulator.api.mini_apps import open_web_app, origin_of
from simulator.api.page_requests import (
    AlbumBody,
    BlockBody,
    CallbackBody,
    ChatBody,
    EditBody,
    FaultBody,
    ForwardBody,
    InlineQueryBody,
    InlineResultBody,
    LanguageBody,
    LineBody,
    MemberBody,
    PersonBody,
    PlaceBody,
    ReactionBody,
    TitleBody,
    TopicBody,
    UpgradeBody,
    WebAppBody,
    read_body,
    read_bytes,
)
from simulator.api.simulation import Simulation
from simulator.api.updates import Trace
from simulator.api.world import Chat, Person

PAGE_FOLDER = Path(__file__).parents[1] / "page"

_Answer = Callable[[Simulation, Request], Awaitable[object]]

# Types that a browser may show. Other files, such as pages and scripts, are downloads.
_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "audio/", "video/", "application/pdf")


def page_routes() -> list[BaseRoute]:
    return [
        Route("/", _page, methods=["GET"]),
        Mount("/static", StaticFiles(directory=PAGE_FOLDER, check_dir=False)),
        Route("/api/events", _events, methods=["GET"]),
        Route("/api/files/{file_id}", _file, methods=["GET"]),
        _json_route("/api/world", "GET", _world),
        _json_route("/api/calls", "GET", _calls),
        _json_route("/api/updates/{update_id:int}", "GET", _update),
        _json_route("/api/files", "POST", _add_file),
        _json_route("/api/messages", "POST", _write),
        _json_route("/api/albums", "POST", _send_album),
        _json_route("/api/edits", "POST", _edit),
        _json_route("/api/deletions", "POST", _delete),
        _json_route("/api/forwards", "POST", _forward),
        _json_route("/api/reactions", "POST", _react),
        _json_route("/api/callbacks", "POST", _press),
        _json_route("/api/inline_queries", "POST", _ask_inline),
        _json_route("/api/inline_results", "POST", _choose_inline),
        _json_route("/api/web_apps", "POST", _open_web_app),
        _json_route("/api/blocks", "POST", _block),
        _json_route("/api/members", "POST", _change_member),
        _json_route("/api/titles", "POST", _set_title),
        _json_route("/api/pins", "POST", _pin),
        _json_route("/api/topics", "POST", _change_topic),
        _json_route("/api/upgrades", "POST", _upgrade),
        _json_route("/api/faults", "POST", _order_fault),
        _json_route("/api/faults", "DELETE", _clear_faults),
        _json_route("/api/people", "POST", _add_person),
        _json_route("/api/languages", "POST", _set_language),
        _json_route("/api/chats", "POST", _add_chat),
    ]


def _json_route(path: str, method: str, answer: _Answer) -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request.app.state.simulation, request))
        except PageError as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)

    return Route(path, endpoint, methods=[method])


async def _page(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": content_security_policy(sim.config.mini_app_url),
    }
    return FileResponse(PAGE_FOLDER / "index.html", headers=headers)


def content_security_policy(mini_app_url: str | None) -> str:
    """Return the policy of the chat page. It frames nothing but the Mini App, and nothing frames it."""
    framed = "'none'" if mini_app_url is None else origin_of(mini_app_url)
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:;"
        f" media-src 'self' blob:; frame-src {framed}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


async def _events(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    last = request.headers.get("Last-Event-ID", "")
    after = int(last) if last.isascii() and last.isdigit() else None
    return StreamingResponse(
        _event_lines(sim, after), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _event_lines(sim: Simulation, after: int | None) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    async for event in sim.feed.read(after):
        if event is None:
            yield ": still here\n\n"
        else:
            yield f"id: {event.id}\ndata: {json.dumps(event.body)}\n\n"


async def _file(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    file = sim.files.find(request.path_params["file_id"])
    if file is None:
        return JSONResponse({"error": "There is no such file."}, status_code=404)
    is_shown = file.mime_type.startswith(_SHOWN)
    return Response(
        file.data,
        media_type=file.mime_type if is_shown else "application/octet-stream",
        headers={
            "Content-Disposition": "inline" if is_shown else "attachment",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, max-age=86400, immutable",
        },
    )


async def _world(sim: Simulation, _: Request) -> object:
    return world_object(sim)


async def _calls(sim: Simulation, request: Request) -> object:
    after, method = request.query_params.get("after", "0"), request.query_params.get("method")
    if not (after.isascii() and after.isdigit()):
        raise PageError("after is a number.")
    calls = sim.calls.after(int(after))
    shown = [call for call in calls if method is None or call["method"].lower() == method.lower()]
    return {"calls": shown, "last": calls[-1]["number"] if calls else int(after)}


async def _update(sim: Simulation, request: Request) -> object:
    trace = sim.queue.trace(request.path_params["update_id"])
    if trace is None:
        raise PageError("There is no such update.", status=404)
    return trace_object(trace)


async def _add_file(sim: Simulation, request: Request) -> object:
    """Store a file. Pages of other sites may not send the octet-stream type."""
    data = await read_bytes(request, content_type="application/octet-stream", most=MAX_FILE)
    if not data:
        raise PageError("The file is empty.")
    name, mime_type = request.query_params.get("name", "file"), request.query_params.get("type", "")
    return file_object(sim.files.add(data, name=name, mime_type=mime_type.partition(";")[0].strip()))


async def _write(sim: Simulation, request: Request) -> object:
    body = await read_body(request, LineBody)
    return message_json(sim.world, people.write_line(sim, body.line(sim)))


async def _send_album(sim: Simulation, request: Request) -> object:
    body = await read_body(request, AlbumBody)
    return {"messages": [message_json(sim.world, one) for one in people.send_album(sim, body.lines(sim))]}


async def _edit(sim: Simulation, request: Request) -> object:
    body = await read_body(request, EditBody)
    return message_json(sim.world, people.edit_line(sim, body.line(), body.message_id))


async def _delete(sim: Simulation, request: Request) -> object:
    body = await read_body(request, PlaceBody)
    people.delete_line(sim, **body.model_dump())
    return {}


async def _forward(sim: Simulation, request: Request) -> object:
    body = await read_body(request, ForwardBody)
    return {"messages": [message_json(sim.world, one) for one in people.forward(sim, body.forward())]}


async def _react(sim: Simulation, request: Request) -> object:
    body = await read_body(request, ReactionBody)
    people.react(sim, **body.model_dump())
    return {}


async def _press(sim: Simulation, request: Request) -> object:
    body = await read_body(request, CallbackBody)
    return {"callback_query_id": people.press_button(sim, body.press())}


async def _ask_inline(sim: Simulation, request: Request) -> object:
    body = await read_body(request, InlineQueryBody)
    query_id, results = await inline.ask(sim, **body.model_dump())
    return {"inline_query_id": query_id, "results": results}


async def _choose_inline(sim: Simulation, request: Request) -> object:
    body = await read_body(request, InlineResultBody)
    return message_json(sim.world, inline.choose(sim, **body.model_dump()))


async def _open_web_app(sim: Simulation, request: Request) -> object:
    body = await read_body(request, WebAppBody)
    return {"url": open_web_app(sim, body.launch())}


async def _block(sim: Simulation, request: Request) -> object:
    body = await read_body(request, BlockBody)
    groups.set_blocked(sim, body.chat_id, is_blocked=body.blocked)
    return {}


async def _change_member(sim: Simulation, request: Request) -> object:
    body = await read_body(request, MemberBody)
    return chat_object(sim, groups.change_member(sim, **body.model_dump()))


async def _set_title(sim: Simulation, request: Request) -> object:
    body = await read_body(request, TitleBody)
    groups.set_title(sim, **body.model_dump())
    return {}


async def _pin(sim: Simulation, request: Request) -> object:
    body = await read_body(request, PlaceBody)
    groups.pin_message(sim, **body.model_dump())
    return {}


async def _change_topic(sim: Simulation, request: Request) -> object:
    body = await read_body(request, TopicBody)
    where, thread_id = {"chat_id": body.chat_id, "from_id": body.from_id}, body.message_thread_id
    match thread_id, body.name:
        case None, None:
            raise PageError("A topic needs a name.")
        case None, str(name):
            return {"message_thread_id": groups.add_topic(sim, **where, name=name).thread_id}
        case int(), None:
            groups.delete_topic(sim, **where, thread_id=thread_id)
        case int(), str(name):
            groups.rename_topic(sim, **where, thread_id=thread_id, name=name)
    return {"message_thread_id": thread_id}


async def _upgrade(sim: Simulation, request: Request) -> object:
    body = await read_body(request, UpgradeBody)
    return chat_object(sim, groups.upgrade_group(sim, **body.model_dump()))


async def _order_fault(sim: Simulation, request: Request) -> object:
    sim.faults.order((await read_body(request, FaultBody)).fault(sim.config.clock()))
    return {}


async def _clear_faults(sim: Simulation, _: Request) -> object:
    sim.faults.clear()
    return {}


async def _add_person(sim: Simulation, request: Request) -> object:
    body = await read_body(request, PersonBody)
    return person_object(groups.add_person(sim, body.newcomer()))


async def _set_language(sim: Simulation, request: Request) -> object:
    body = await read_body(request, LanguageBody)
    groups.set_language(sim, **body.model_dump())
    return {}


async def _add_chat(sim: Simulation, request: Request) -> object:
    body = await read_body(request, ChatBody)
    return chat_object(sim, groups.add_chat(sim, body.gathering()))


SHOWN_MESSAGES = 300


def world_object(sim: Simulation) -> dict[str, Any]:
    """Return the whole world with the newest messages of each chat, oldest first."""
    world, bot = sim.world, sim.world.bot
    messages = [
        message_json(world, message)
        for chat in world.chats.values()
        for message in world.newest(chat.id, SHOWN_MESSAGES)
    ]
    return {
        "bot": {
            "id": bot.id,
            "first_name": bot.first_name,
            "username": bot.username,
            "has_main_web_app": sim.config.mini_app_url is not None,
        },
        "notice": sim.config.notice,
        "people": [person_object(person) for person in world.people.values()],
        "chats": [chat_object(sim, chat) for chat in world.chats.values()],
        "messages": messages,
        "reactions": sim.world.reactions.as_json(),
        "deliveries": sim.deliveries(),
    }


def person_object(person: Person) -> dict[str, Any]:
    last_name = {"last_name": person.last_name} if person.last_name else {}
    return {
        "id": person.id,
        "first_name": person.first_name,
        **last_name,
        "username": person.username,
        "is_operator": person.is_operator,
        "language_code": person.language_code,
    }


def chat_object(sim: Simulation, chat: Chat) -> dict[str, Any]:
    """Return a chat. The bot is among the members if it is in the chat and not blocked."""
    bot = [sim.world.bot.id] if chat.has_bot else []
    admins = [sim.world.bot.id] if chat.bot_status == "administrator" else []
    title = {"title": chat.title} if chat.title else {}
    return {
        "id": chat.id,
        "type": chat.type,
        **title,
        "is_forum": chat.is_forum,
        **({"is_direct_messages": True} if chat.is_direct else {}),
        **(_parts_of_channel(chat) if chat.type == "channel" else {}),
        "bot_status": chat.bot_status,
        "can_have_topics": chat.is_forum or (chat.type == "private" and sim.config.private_topics),
        "migrated_to": chat.migrated_to,
        "members": [*chat.members, *bot],
        "admins": [*chat.admins, *admins],
        "topics": [{"message_thread_id": topic.thread_id, "name": topic.name} for topic in chat.topics],
        "commands": sim.commands_of(chat),
    }


def _parts_of_channel(channel: Chat) -> dict[str, Any]:
    return {"comments_id": channel.comments_id, "direct_messages_id": channel.direct_messages_id}


def file_object(file: StoredFile) -> dict[str, Any]:
    """Return a file that was sent to the page's API."""
    about = {"file_id": file.file_id(), "name": file.name, "mime_type": file.mime_type, "size": file.size}
    size = image_size(file.data)
    return about if size is None else {**about, "width": size[0], "height": size[1]}


def trace_object(trace: Trace) -> dict[str, Any]:
    tries = [{"at": one.at, "status": one.status, "error": one.error} for one in trace.deliveries]
    return {"update": trace.update.as_json(), "deliveries": tries}
