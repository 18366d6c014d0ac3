"""The Bot API over HTTP: token, method, parameters, ordered faults, and the answer's form."""

import asyncio
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.simulator.config import is_token
from bot.simulator.errors import ApiError, NotFound, ServerFault, TooManyRequests, Unauthorized
from bot.simulator.faults import Fault
from bot.simulator.methods.table import METHODS, Method
from bot.simulator.parameters import read_parameters
from bot.simulator.simulation import Simulation
from bot.simulator.wakeup import Wakeup

# The ASGI extension by which the server lets a call end without an answer; see serving.py.
HANG_UP = "simulator.hang_up"
_LONGEST_SILENCE_S = 600.0
_LOOK_AGAIN_S = 0.1


def bot_api_routes() -> list[Route]:
    """`/bot<token>/<method>`, and the file paths, where there are no files."""
    return [
        Route("/bot{token}/{method}", _answer, methods=["GET", "POST"]),
        Route("/bot{rest:path}", _unknown_path, methods=["GET", "POST"]),
        Route("/file/bot{token}/{path:path}", _answer_file, methods=["GET"]),
    ]


async def _answer(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    try:
        method = _find_method(sim, request)
        given = await read_parameters(request)
        fault = sim.faults.take(method.name.lower(), _chat_number(given))
        if fault is not None:
            return await _fail(request, method, given, fault)
        return _success(await method.call(sim, given))
    except ApiError as error:
        return _failure(error)


async def _unknown_path(_: Request) -> Response:
    return _failure(NotFound())


async def _answer_file(request: Request) -> Response:
    sim: Simulation = request.app.state.simulation
    if request.path_params["token"] != sim.config.token:
        return _failure(Unauthorized())
    return _failure(NotFound())


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


def _chat_number(given: dict[str, Any]) -> int | None:
    try:
        return int(given["chat_id"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


async def _fail(request: Request, method: Method, given: dict[str, Any], fault: Fault) -> Response:
    match fault.error:
        case "429":
            raise TooManyRequests(fault.retry_after)
        case "500":
            raise ServerFault
        case "timeout":
            await _stay_silent(request)
            return await _hang_up(request)
        case "cut":
            await method.call(request.app.state.simulation, given)
            return await _hang_up(request)


async def _stay_silent(request: Request) -> None:
    """Until the client gives up or the simulator closes."""
    bell: Wakeup = request.app.state.simulation.bell
    end = time.monotonic() + _LONGEST_SILENCE_S
    while not (bell.is_closed or await request.is_disconnected() or time.monotonic() > end):
        await bell.wait(_LOOK_AGAIN_S)


async def _hang_up(request: Request) -> Response:
    """Close the connection without an answer; under a server without the extension, with an empty one."""
    hang_up = request.scope.get("extensions", {}).get(HANG_UP)
    if hang_up is not None:
        hang_up()
        await asyncio.sleep(0)
    return Response(status_code=502)


def _success(result: object) -> Response:
    return JSONResponse({"ok": True, "result": result})


def _failure(error: ApiError) -> Response:
    retry_after = (error.parameters or {}).get("retry_after")
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return JSONResponse(error.as_json(), status_code=error.code, headers=headers)
