"""The offline model: an OpenAI-compatible endpoint on loopback that answers when there is no model key."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from simulator.offline_model.reply import OfflineReply, reply_to
from simulator.offline_model.summary import structured_reply
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
from simulator.server import listening

OFFLINE_MODEL = "mnemogram-offline"
_LOOPBACK = "127.0.0.1"
_MOST_CHUNKS = 400
"""Keeps the longest text within seconds at the usual delay."""


@asynccontextmanager
async def serve_offline_model(*, chunk_delay_s: float = 0.015) -> AsyncGenerator[str, None]:
    """Serve an offline model until the block ends; yield its base URL, `http://127.0.0.1:PORT/v1`."""
    app = create_offline_model_app(chunk_delay_s=chunk_delay_s)
    async with listening(app, host=_LOOPBACK, port=0, drains=False) as port:
        yield f"http://{_LOOPBACK}:{port}/v1"


def create_offline_model_app(*, chunk_delay_s: float = 0.015) -> Starlette:
    """Build the endpoint as an ASGI app; `chunk_delay_s` seconds pass between the chunks of a stream.

    Any key and any model name are accepted. Token counts are estimates.
    """
    app = Starlette(
        routes=[
            Route("/v1/models", _show_models),
            Route("/v1/models/{model}", _show_models),
            Route("/v1/chat/completions", _complete, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _refuse_route},
    )
    app.state.chunk_delay_s = chunk_delay_s
    return app


async def _show_models(request: Request) -> Response:
    named = request.path_params.get("model")
    return _json(_model_body(named) if named else {"object": "list", "data": [_model_body(OFFLINE_MODEL)]})


def _model_body(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "mnemogram"}


async def _complete(request: Request) -> Response:
    try:
        body: dict[str, Any] = json.loads(await request.body())
        completion = _completion(body)
        options: dict[str, Any] = body.get("stream_options") or {}
        usage = options.get("include_usage") is True
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        message = f"The offline model cannot read this request ({type(error).__name__})."
        return _json(error_body(message), status=400)
    if body.get("stream") is not True:
        return _json(completion_body(completion))
    events = [event(chunk) for chunk in stream_chunks(completion, include_usage=usage)]
    return StreamingResponse(_paced(events, request.app.state.chunk_delay_s), media_type="text/event-stream")


def _completion(body: Mapping[str, Any]) -> WireCompletion:
    """Return the completion within the tokens that the request allows. Raises what malformed JSON data may cause."""
    form: Mapping[str, Any] = body.get("response_format") or {"type": "text"}
    if form["type"] == "json_schema":
        schema = form["json_schema"]["schema"]
        reply = OfflineReply(text=structured_reply(schema, body["messages"]))
    elif form["type"] == "text" and body["messages"]:
        reply = reply_to(body["messages"], _offered(body))
    else:
        raise ValueError("it writes text and JSON by a schema, for one message or more")
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    text = reply.text if reply.text is None or limit is None else reply.text[: int(limit) * 4]
    call_id = f"call_{uuid.uuid4().hex[:24]}"
    calls = [reply.call] if reply.call else []
    return WireCompletion(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=str(body["model"]),
        pieces=() if text is None else in_pieces(text, at_most=_MOST_CHUNKS),
        tool_calls=tuple(
            WireToolCall(id=call_id, name=call.name, arguments=json.dumps(call.arguments)) for call in calls
        ),
        finish_reason="tool_calls" if calls else "stop" if text == reply.text else "length",
        prompt_tokens=prompt_tokens(body),
    )


def _offered(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the tools that may be called: `tool_choice` may be "none" or name one."""
    tools: Sequence[Mapping[str, Any]] = body.get("tools") or []
    choice: Any = body.get("tool_choice") or "auto"
    if choice == "none":
        return []
    if choice in ("auto", "required"):
        return tools
    return [tool for tool in tools if tool["function"]["name"] == choice["function"]["name"]]


async def _paced(events: Sequence[bytes], delay_s: float) -> AsyncIterator[bytes]:
    for each in events:
        yield each
        await asyncio.sleep(delay_s)
    yield DONE


async def _refuse_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _json(error_body(f"Invalid URL ({request.method} {request.url.path})"), status=status)


def _json(body: Mapping[str, Any], *, status: int = 200) -> Response:
    # ASCII escapes: a text with lone surrogates has no UTF-8 form.
    return Response(json.dumps(body), status_code=status, media_type="application/json")
