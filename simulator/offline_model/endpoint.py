"""The offline model: an OpenAI-compatible endpoint on loopback for when there is no model key."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.app.http_server import serve_http
from simulator.offline_model.fault import RequestFault
from simulator.offline_model.reply import OfflineReply, reply_to
from simulator.offline_model.request import find_fault, read_body
from simulator.offline_model.summary import STRUCTURED, structured_reply
from simulator.offline_model.wire import (
    DONE,
    WireCompletion,
    WireToolCall,
    completion_body,
    error_body,
    event,
    in_pieces,
    prompt_tokens,
    stream_chunks,
)

OFFLINE_MODEL = "mnemogram-offline"

_MOST_CHUNKS = 400  # keeps the longest text within seconds at the usual delay


@asynccontextmanager
async def serve_offline_model(*, chunk_delay_s: float = 0.015) -> AsyncGenerator[str, None]:
    """The base URL (`http://127.0.0.1:PORT/v1`) of an offline model that ends with the block."""
    async with serve_http(create_offline_model_app(chunk_delay_s=chunk_delay_s)) as server:
        yield f"{server.origin}/v1"


def create_offline_model_app(*, chunk_delay_s: float = 0.015) -> Starlette:
    """The endpoint as an ASGI app; `chunk_delay_s` seconds pass between the chunks of a stream.

    Any key and any model name are accepted; token counts are estimates.
    """
    app = Starlette(
        routes=[
            Route("/v1/models", _list_models),
            Route("/v1/models/{model}", _show_model),
            Route("/v1/chat/completions", _complete, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _refuse_route},
    )
    app.state.chunk_delay_s = chunk_delay_s
    return app


async def _list_models(request: Request) -> Response:
    return _json({"object": "list", "data": [_model_body(OFFLINE_MODEL)]})


async def _show_model(request: Request) -> Response:
    return _json(_model_body(request.path_params["model"]))


def _model_body(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "mnemogram"}


async def _complete(request: Request) -> Response:
    body = read_body(await request.body())
    fault = body if isinstance(body, RequestFault) else find_fault(body) or _unsupported(body)
    if isinstance(body, RequestFault) or fault is not None:
        return _refusal(fault)
    completion = complete(body)
    if body.get("stream") is not True:
        return _json(completion_body(completion))
    options = cast("Mapping[str, Any]", body.get("stream_options") or {})
    chunks = stream_chunks(completion, include_usage=options.get("include_usage") is True)
    return StreamingResponse(
        _paced([event(chunk) for chunk in chunks], request.app.state.chunk_delay_s),
        media_type="text/event-stream",
    )


def complete(body: Mapping[str, Any]) -> WireCompletion:
    """The completion of a valid request, with fresh ids, within the tokens that it allows."""
    form = _wanted_form(body)
    if form is None:
        reply = reply_to(body["messages"], _offered(body))
    else:
        reply = OfflineReply(text=structured_reply(form, body["messages"]))
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    text = reply.text if reply.text is None or limit is None else reply.text[: int(limit) * 4]
    calls = tuple(
        WireToolCall(id=f"call_{uuid.uuid4().hex[:24]}", name=call.name, arguments=json.dumps(call.arguments))
        for call in reply.tool_calls
    )
    return WireCompletion(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=body["model"],
        pieces=() if text is None else in_pieces(text, at_most=_MOST_CHUNKS),
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop" if text == reply.text else "length",
        prompt_tokens=prompt_tokens(body),
    )


def _offered(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The tools that may be called: none with `tool_choice` "none", only the named one when one is named."""
    tools = cast("list[Mapping[str, Any]]", body.get("tools") or [])
    choice = body.get("tool_choice")
    if choice == "none":
        return []
    if isinstance(choice, dict):
        name = cast("dict[str, Any]", choice)["function"]["name"]
        return [tool for tool in tools if tool["function"]["name"] == name]
    return tools


def _wanted_form(body: Mapping[str, Any]) -> str | None:
    """The name of the JSON schema that the answer is to have, "" for JSON without one, None for plain text."""
    wanted = cast("dict[str, Any]", body.get("response_format") or {"type": "text"})
    if wanted["type"] == "text":
        return None
    return str(wanted["json_schema"]["name"]) if wanted["type"] == "json_schema" else ""


def _unsupported(body: Mapping[str, Any]) -> RequestFault | None:
    """What OpenAI can and simple rules cannot do is refused, not answered wrongly."""
    if _wanted_form(body) not in (None, *STRUCTURED):
        return RequestFault(
            message="The offline model writes plain text, and the summaries of this program, only.",
            param="response_format",
            code="unsupported_value",
        )
    if body.get("n") not in (None, 1):
        return RequestFault(
            message="The offline model writes one choice.", param="n", code="unsupported_value"
        )
    return None


async def _paced(events: Sequence[bytes], delay_s: float) -> AsyncIterator[bytes]:
    for each in events:
        yield each
        await asyncio.sleep(delay_s)
    yield DONE


async def _refuse_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = f"Invalid URL ({request.method} {request.url.path})"
    return _json(error_body(message), status=status)


def _refusal(fault: RequestFault | None) -> Response:
    found = fault or RequestFault(message="Invalid request.")
    return _json(error_body(found.message, param=found.param, code=found.code), status=400)


def _json(body: Mapping[str, Any], *, status: int = 200) -> Response:
    # ASCII escapes: a text with lone surrogates has no UTF-8 form.
    return Response(json.dumps(body), status_code=status, media_type="application/json")
