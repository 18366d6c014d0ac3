"""The chat page and its own API: the world, its events, and what people do."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.simulator import people
from bot.simulator.api_objects import message_json
from bot.simulator.errors import PageError
from bot.simulator.page_objects import chat_object, person_object, trace_object, world_object
from bot.simulator.page_requests import (
    BlockBody,
    CallbackBody,
    ChatBody,
    EditBody,
    FaultBody,
    LineBody,
    PersonBody,
    read_body,
)
from bot.simulator.simulation import Simulation

PAGE_FOLDER = Path(__file__).parent / "page"

_Answer = Callable[[Simulation, Request], Awaitable[object]]


def page_routes() -> list[BaseRoute]:
    return [
        Route("/", _page, methods=["GET"]),
        Mount("/static", StaticFiles(directory=PAGE_FOLDER, check_dir=False)),
        Route("/api/events", _events, methods=["GET"]),
        _json_route("/api/world", "GET", _world),
        _json_route("/api/updates/{update_id:int}", "GET", _update),
        _json_route("/api/messages", "POST", _write),
        _json_route("/api/edits", "POST", _edit),
        _json_route("/api/callbacks", "POST", _press),
        _json_route("/api/blocks", "POST", _block),
        _json_route("/api/faults", "POST", _order_fault),
        _json_route("/api/people", "POST", _add_person),
        _json_route("/api/chats", "POST", _add_chat),
    ]


def _json_route(path: str, method: str, answer: _Answer) -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request.app.state.simulation, request))
        except PageError as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)

    return Route(path, endpoint, methods=[method])


async def _page(_: Request) -> Response:
    return FileResponse(PAGE_FOLDER / "index.html", headers={"Cache-Control": "no-cache"})


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


async def _world(sim: Simulation, _: Request) -> object:
    return world_object(sim)


async def _update(sim: Simulation, request: Request) -> object:
    trace = sim.queue.trace(request.path_params["update_id"])
    if trace is None:
        raise PageError("There is no such update.", status=404)
    return trace_object(trace)


async def _write(sim: Simulation, request: Request) -> object:
    body = await read_body(request, LineBody)
    return message_json(sim.world, people.write_line(sim, body.line()))


async def _edit(sim: Simulation, request: Request) -> object:
    body = await read_body(request, EditBody)
    return message_json(sim.world, people.edit_line(sim, body.line(), body.message_id))


async def _press(sim: Simulation, request: Request) -> object:
    body = await read_body(request, CallbackBody)
    people.press_button(sim, **body.model_dump())
    return {}


async def _block(sim: Simulation, request: Request) -> object:
    body = await read_body(request, BlockBody)
    people.set_blocked(sim, body.chat_id, is_blocked=body.blocked)
    return {}


async def _order_fault(sim: Simulation, request: Request) -> object:
    sim.faults.order((await read_body(request, FaultBody)).fault())
    return {}


async def _add_person(sim: Simulation, request: Request) -> object:
    body = await read_body(request, PersonBody)
    return person_object(people.add_person(sim, **body.model_dump()))


async def _add_chat(sim: Simulation, request: Request) -> object:
    body = await read_body(request, ChatBody)
    return chat_object(sim, people.add_chat(sim, body.gathering()))
