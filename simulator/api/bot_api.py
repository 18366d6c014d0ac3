"""The Bot API over HTTP: token, method, parameters, faults, limits, and the form of responses."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from simulator.api.config import is_token
from simulator.api.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unauthorized,
)
from simulator.api.events import Call, Outcome
from simulator.api.faults import Hit, is_limited
from simulator.api.methods.table import METHODS, Method
from simulator.api.parameters import read_parameters
from simulator.api.simulation import Simulation
from simulator.api.wakeup import Wakeup
from simulator.server import HANG_UP

_LONGEST_SILENCE_S = 600.0
_LOOK_AGAIN_S = 0.1


def bot_api_routes() -> list[Route]:
    """Return the routes: `/bot<token>/<method>`, and the files that people and the bot have sent."""
    return [
        Route("/bot{token}/{method}", _answer, methods=["GET", "POST"]),
        Route("/bot{rest:path}", _unknown_path, methods=["GET", "POST"]),
        Route("/file/bot{token}/{path:path}", _answer_file, methods=["GET"]),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """The end of a call: a `result` or an `error`. Other outcomes than "answered" send neither."""

    result: object = None
    error: ApiError | None = None
    outcome: Outcome = "answered"

    @property
    def status(self) -> int:
        if self.outcome != "answered":
            return 0
        return 200 if self.error is None else self.error.code

    @property
    def retry_after(self) -> int | None:
        return None if self.error is None else (self.error.parameters or {}).get("retry_after")

    @property
    def message_id(self) -> int | None:
        return (
            cast("dict[str, Any]", self.result).get("message_id") if isinstance(self.result, dict) else None
        )


async def _answer(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    at = sim.config.clock()
    try:
        method = _find_method(sim, request)
        parameters = await read_parameters(request)
    except ApiError as error:
        return _failure(error)
    except ClientDisconnect:
        return Response()  # the client is gone
    chat_id = _chat_number(parameters)
    end = await _perform(request, method, parameters, chat_id)
    if method.name != "getUpdates":
        _log(sim, method, chat_id, end, at=at)
    if end.outcome != "answered":
        return await _hang_up(request)
    return _success(end.result) if end.error is None else _failure(end.error)


async def _unknown_path(_: Request) -> Response:
    return _failure(NotFound())


async def _answer_file(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    if request.path_params["token"] != sim.config.token:
        return _failure(Unauthorized())
    file = sim.files.at(request.path_params["path"])
    if file is None:
        return _failure(NotFound())
    return Response(file.data, media_type="application/octet-stream")


def _find_method(sim: Simulation, request: Request) -> Method:
    token: str = request.path_params["token"]
    if not is_token(token):
        raise NotFound
    if token != sim.config.token:
        raise Unauthorized
    method = METHODS.get(request.path_params["method"].lower())
    if method is None:
        raise NotFound
    return method


def _chat_number(parameters: dict[str, Any]) -> int | None:
    try:
        return int(parameters["chat_id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


async def _perform(request: Request, method: Method, parameters: dict[str, Any], chat_id: int | None) -> _End:
    sim: Simulation = request.app.state.simulation
    hit = sim.faults.take(method.name.lower(), chat_id, now=sim.config.clock())
    try:
        if hit is not None:
            return await _fail(request, method, parameters, hit)
        _keep_limits(sim, method, chat_id)
        return _End(result=await method.call(sim, parameters))
    except ApiError as error:
        return _End(error=error)


def _keep_limits(sim: Simulation, method: Method, chat_id: int | None) -> None:
    """Raise TooManyRequests above the flood limits. Deletions, drafts and chat actions are free."""
    name = method.name.lower()
    is_free = name.startswith("delete") or name in {"sendchataction", "sendmessagedraft"}
    if chat_id is None or not sim.config.real_limits or not is_limited(name) or is_free:
        return
    seconds = sim.limits.refuse(chat_id, is_group=chat_id < 0, now=sim.config.clock())
    if seconds is not None:
        raise TooManyRequests(seconds)


async def _fail(request: Request, method: Method, parameters: dict[str, Any], hit: Hit) -> _End:
    sim: Simulation = request.app.state.simulation
    fault = hit.fault
    match fault.error:
        case "429":
            raise TooManyRequests(hit.retry_after)
        case "400":
            raise BadRequest(fault.description or "ordered from the page")
        case "403":
            raise Forbidden(fault.description or "bot was blocked by the user")
        case "500":
            raise ServerFault
        case "timeout":
            await _stay_silent(request, _LONGEST_SILENCE_S)
            return _End(outcome="timeout")
        case "cut":
            return _End(result=await method.call(sim, parameters), outcome="cut")
        case "hang" if fault.late:
            await sim.bell.sleep(fault.seconds)
            return _End(result=await method.call(sim, parameters))
        case "hang":
            result = await method.call(sim, parameters)
            await _stay_silent(request, fault.seconds)
            return _End(result=result)


async def _stay_silent(request: Request, seconds: float) -> None:
    """Wait until the client gives up, the simulator closes, or the time is over."""
    bell: Wakeup = request.app.state.simulation.bell
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not (bell.is_closed or await request.is_disconnected()):
        await bell.wait(min(left, _LOOK_AGAIN_S))


async def _hang_up(request: Request) -> Response:
    """Close the connection without a response. A server without the extension sends an empty 502."""
    hang_up = request.scope.get("extensions", {}).get(HANG_UP)
    if hang_up is not None:
        hang_up()
        await asyncio.sleep(0)
    return Response(status_code=502)


def _log(sim: Simulation, method: Method, chat_id: int | None, end: _End, *, at: float) -> None:
    sim.calls.add(
        Call(
            number=sim.calls.next_number(),
            method=method.name,
            chat_id=chat_id,
            at=at,
            ended_at=sim.config.clock(),
            outcome=end.outcome,
            status=end.status,
            retry_after=end.retry_after,
            message_id=end.message_id,
            description=None if end.error is None else str(end.error),
        )
    )


def _success(result: object) -> Response:
    return JSONResponse({"ok": True, "result": result})


def _failure(error: ApiError) -> Response:
    retry_after = (error.parameters or {}).get("retry_after")
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return JSONResponse(error.as_json(), status_code=error.code, headers=headers)
