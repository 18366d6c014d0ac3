"""An OpenAI-compatible HTTP server on loopback with scripted replies and checked requests.

As a process: `python -m tests.scripted_openai --port N --script FILE [--log FILE]`.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.transport.http_connection import CYCLE
from bot.transport.http_server import serve_http
from simulator.offline_model.wire import (
    DONE,
    WireCompletion,
    WireToolCall,
    completion_body,
    error_body,
    event,
    prompt_tokens,
    stream_chunks,
)
from tests.openai_checker import RequestFault
from tests.openai_checker.request import find_fault, read_body
from tests.scripted_embeddings import Embeddings, embeddings_body, find_embedding_fault
from tests.scripted_pictures import Drawing, PictureRequest, find_picture_fault, pictures_body
from tests.scripted_replies import Failure, Reply, rate_limited, server_error, text
from tests.scripted_script import (
    Behaviour,
    ChatRequest,
    NothingScriptedError,
    Script,
    behaviour_of,
    echo,
    last_user_text,
    read_script,
)
from tests.scripted_speech import Speech, find_speech_fault, speech_of
from tests.scripted_transcriptions import Recording, Transcriptions, find_recording_fault, transcription_body

_CHAT = "/v1/chat/completions"
_EMBEDDINGS = "/v1/embeddings"
_TRANSCRIPTIONS = "/v1/audio/transcriptions"
_SPEECH = "/v1/audio/speech"
_DRAWINGS, _EDITS = "/v1/images/generations", "/v1/images/edits"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A request as it arrived. `headers` are in lower case and without the key."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidRequest:
    """A request that OpenAI would refuse, or for which the script has no reply left."""

    path: str
    reason: str
    body: dict[str, Any] | None


@dataclass(slots=True, kw_only=True)
class ScriptedOpenAI:
    """The running server.

    `embeddings`, `transcriptions`, `speech` and `drawing` may be replaced while it runs. `most_kept` limits the number
    of stored requests in long runs; None keeps all.
    """

    base_url: str
    embeddings: Embeddings
    transcriptions: Transcriptions = field(default_factory=Transcriptions)
    speech: Speech = field(default_factory=Speech)
    drawing: Drawing = field(default_factory=Drawing)
    pictures: list[PictureRequest] = field(default_factory=list[PictureRequest])
    recordings: list[Recording] = field(default_factory=list[Recording])
    requests: list[RecordedRequest] = field(default_factory=list[RecordedRequest])
    invalid_requests: list[InvalidRequest] = field(default_factory=list[InvalidRequest])
    most_kept: int | None = None

    _arrival: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def chat_requests(self) -> list[RecordedRequest]:
        return [request for request in self.requests if request.path == _CHAT]

    @property
    def embedding_requests(self) -> list[RecordedRequest]:
        return [request for request in self.requests if request.path == _EMBEDDINGS]

    @property
    def speech_requests(self) -> list[RecordedRequest]:
        return [request for request in self.requests if request.path == _SPEECH]

    async def wait_for_requests(self, count: int, *, timeout_s: float = 10) -> None:
        """Wait until `count` requests have arrived, answered or not.

        Raise TimeoutError after `timeout_s` seconds.
        """
        async with asyncio.timeout(timeout_s), self._arrival:
            await self._arrival.wait_for(lambda: len(self.requests) >= count)

    async def record(self, request: RecordedRequest) -> None:
        """Store a request and wake its waiters."""
        async with self._arrival:
            self.requests.append(request)
            if self.most_kept is not None and len(self.requests) > 2 * self.most_kept:
                del self.requests[: -self.most_kept]
            self._arrival.notify_all()


@asynccontextmanager
async def scripted_openai(
    script: Script = echo, *, embeddings: Embeddings | None = None, log: Path | None = None, port: int = 0
) -> AsyncGenerator[ScriptedOpenAI, None]:
    """Serve `script` until the block ends.

    A list is used up in order of arrival, a function answers each request. A request that OpenAI would
    refuse gets a 400, uses no reply and is stored in `invalid_requests`. `log` gets one JSON line per
    request when it arrives.
    """
    scripted = ScriptedOpenAI(base_url="", embeddings=embeddings or Embeddings())
    endpoint = _Endpoint(scripted, behaviour_of(script), log)
    async with serve_http(endpoint.app(), port=port) as server:
        scripted.base_url = f"{server.origin}/v1"
        yield scripted


class _Endpoint:
    def __init__(self, scripted: ScriptedOpenAI, behave: Behaviour, log: Path | None) -> None:
        self._scripted = scripted
        self._behave = behave
        self._log = log

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route(_CHAT, self.complete, methods=["POST"]),
                Route(_EMBEDDINGS, self.embed, methods=["POST"]),
                Route(_TRANSCRIPTIONS, self.transcribe, methods=["POST"]),
                Route(_SPEECH, self.speak, methods=["POST"]),
                Route(_DRAWINGS, self.draw, methods=["POST"]),
                Route(_EDITS, self.edit, methods=["POST"]),
                Route("/v1/models", self.list_models),
            ]
        )

    async def list_models(self, request: Request) -> Response:
        model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
        return _json({"object": "list", "data": [model]})

    async def complete(self, request: Request) -> Response:
        try:
            body = await self._record(request, find_fault)
        except ClientDisconnect:
            return Response()  # killed while it asked: nobody reads this
        if isinstance(body, RequestFault):
            return _refused(body)
        try:
            planned = self._behave(body)
        except NothingScriptedError:
            number = len(self._scripted.chat_requests)
            return _refused(self._reject(_CHAT, RequestFault(message=f"no reply for request {number}"), body))
        reply = text(planned) if isinstance(planned, str) else planned
        if reply.failure:
            if reply.gate:
                await reply.gate.wait()
            return _failed(reply.failure)
        if reply.events < 0:
            return await _never(request)
        return self._answer(request, body, reply)

    async def embed(self, request: Request) -> Response:
        body = await self._record(request, find_embedding_fault)
        if isinstance(body, RequestFault):
            return _refused(body)
        behaviour = self._scripted.embeddings
        if behaviour.failure == "hang":
            return await _never(request)
        failing = {"server_error": server_error(), "rate_limited": rate_limited()}.get(
            behaviour.failure or ""
        )
        if failing and failing.failure:
            return _failed(failing.failure)
        await behaviour.wait(body)
        if behaviour.odd is not None and (answer := behaviour.odd(body)) is not None:
            status, content = answer
            return Response(content if isinstance(content, str) else json.dumps(content), status)
        return _json(embeddings_body(body, behaviour))

    async def transcribe(self, request: Request) -> Response:
        behaviour = self._scripted.transcriptions
        async with request.form() as form:
            model, file = form.get("model"), form.get("file")
            fault = find_recording_fault(model, file)
            if fault:
                return _refused(self._reject(_TRANSCRIPTIONS, fault, None))
            assert isinstance(file, UploadFile)
            recording = Recording(model=str(model), file_name=file.filename or "", data=await file.read())
        self._scripted.recordings.append(recording)
        if behaviour.hangs:
            return await _never(request)
        if behaviour.gate:
            await behaviour.gate.wait()
        if failure := behaviour.failure or (behaviour.failures or {}).get(recording.model):
            return _failed(failure)
        return _json(transcription_body(recording, behaviour))

    async def speak(self, request: Request) -> Response:
        behaviour = self._scripted.speech
        try:
            body = await self._record(request, find_speech_fault)
        except ClientDisconnect:
            return Response()
        if isinstance(body, RequestFault):
            return _refused(body)
        if behaviour.gate:
            await behaviour.gate.wait()
        if behaviour.failure:
            return _failed(behaviour.failure)
        return Response(speech_of(body, behaviour), media_type="audio/opus")

    async def draw(self, request: Request) -> Response:
        body = read_body(await request.body())
        return _refused(body) if isinstance(body, RequestFault) else await self._draw(_DRAWINGS, body, None)

    async def edit(self, request: Request) -> Response:
        async with request.form() as form:
            options = {name: value for name, value in form.items() if isinstance(value, str)}
            photo = form.get("image")
            content = await photo.read() if isinstance(photo, UploadFile) else b""
        return await self._draw(_EDITS, options, content)

    async def _draw(self, path: str, options: dict[str, Any], photo: bytes | None) -> Response:
        behaviour, fault = self._scripted.drawing, find_picture_fault(options)
        if photo == b"":
            fault = RequestFault(message="Missing required parameter: 'image'.", param="image")
        if fault:
            return _refused(self._reject(path, fault, options))
        self._scripted.pictures.append(PictureRequest(options=options, photo=photo))
        if behaviour.gate:
            await behaviour.gate.wait()
        return _failed(behaviour.failure) if behaviour.failure else _json(pictures_body(behaviour))

    async def _record(
        self, request: Request, find: Callable[[Mapping[str, Any]], RequestFault | None]
    ) -> dict[str, Any] | RequestFault:
        path, body = request.url.path, read_body(await request.body())
        if isinstance(body, RequestFault):
            return self._reject(path, body, None)
        headers = {name: value for name, value in request.headers.items() if name != "authorization"}
        await self._scripted.record(RecordedRequest(path=path, body=body, headers=headers))
        fault = find(body)
        self._write_log(path, body, fault)
        return self._reject(path, fault, body) if fault else body

    def _reject(self, path: str, fault: RequestFault, body: dict[str, Any] | None) -> RequestFault:
        self._scripted.invalid_requests.append(InvalidRequest(path=path, reason=fault.message, body=body))
        return fault

    def _write_log(self, path: str, body: dict[str, Any], fault: RequestFault | None) -> None:
        if self._log is None:
            return
        line: dict[str, Any] = {"n": len(self._scripted.requests), "path": path}
        if fault:
            line["invalid"] = fault.message
        elif path == _CHAT:
            line |= {"last_user": last_user_text(body), "messages": len(body["messages"])}
        with self._log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _answer(self, request: Request, body: ChatRequest, reply: Reply) -> Response:
        completion = _completion(body, reply)
        streamed = body.get("stream") is True
        parts = (
            _stream(completion, body, tells_usage=reply.tells_usage)
            if streamed
            else iter([json.dumps(completion_body(completion)).encode()])
        )
        kind = "text/event-stream" if streamed else "application/json"
        return StreamingResponse(self._paced(request, list(parts), reply), media_type=kind)

    async def _paced(self, request: Request, parts: Sequence[bytes], reply: Reply) -> AsyncIterator[bytes]:
        whole = reply.ending == "done"
        for number, part in enumerate(parts if whole else parts[: reply.events]):
            if reply.gate and number == reply.before_gate:
                await reply.gate.wait()
            yield part
            await asyncio.sleep(reply.chunk_delay_s)
        if reply.ending == "error":
            yield event(
                error_body("The server had an error while processing your request.", kind="server_error")
            )
        if reply.ending == "close":
            request.scope["extensions"][CYCLE].transport.close()
        if reply.ending in ("close", "hang"):
            await asyncio.Event().wait()  # cancelled when the connection is gone


def _completion(body: ChatRequest, reply: Reply) -> WireCompletion:
    asked = tuple(
        WireToolCall(id=each.id or f"call_{uuid.uuid4().hex[:24]}", name=each.name, arguments=each.arguments)
        for each in reply.calls
    )
    return WireCompletion(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=body["model"],
        pieces=reply.pieces,
        tool_calls=asked,
        finish_reason=reply.finish_reason or ("tool_calls" if asked else "stop"),
        prompt_tokens=prompt_tokens(body),
    )


def _stream(completion: WireCompletion, body: ChatRequest, *, tells_usage: bool) -> Iterator[bytes]:
    options = cast("dict[str, Any]", body.get("stream_options") or {})
    is_asked = options.get("include_usage") is True
    for chunk in stream_chunks(completion, include_usage=is_asked and tells_usage):
        yield event(chunk)
    yield DONE


async def _never(request: Request) -> Response:
    """Answer nothing until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response()


def _refused(fault: RequestFault) -> Response:
    return _json(error_body(fault.message, param=fault.param, code=fault.code), status=400)


def _failed(failure: Failure) -> Response:
    body = error_body(failure.message, kind=failure.kind, param=failure.param, code=failure.code)
    response = _json(body, status=failure.status)
    if failure.retry_after_s is not None:
        response.headers["retry-after"] = f"{failure.retry_after_s:g}"
    return response


def _json(body: Mapping[str, Any], *, status: int = 200) -> Response:
    return Response(json.dumps(body), status_code=status, media_type="application/json")


async def _serve(port: int, script: Script, log: Path | None) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with scripted_openai(script, port=port, log=log) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await stopped.wait()


def main() -> None:
    """Serve until SIGTERM. The first line of stdout is the base URL, printed when the server answers."""
    parser = argparse.ArgumentParser(prog="python -m tests.scripted_openai")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    asyncio.run(_serve(options.port, read_script(options.script.read_text()), options.log))


if __name__ == "__main__":
    main()
