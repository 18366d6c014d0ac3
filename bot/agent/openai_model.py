"""The chat model behind any OpenAI-compatible endpoint."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

import httpx2
import stamina
import structlog
from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream, OpenAIError, Timeout

from bot.agent.model import JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec
from bot.agent.openai_format import (
    EventStream,
    StreamedReply,
    failure_of,
    json_forms,
    request_body,
    retry_after_s,
)
from bot.agent.refusals import blocks_prompt, is_filter_reason
from bot.errors import (
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    TellUser,
)
from bot.observe.metrics import (
    MODEL_BREAKER,
    MODEL_BREAKERS_OPEN,
    MODEL_CALLS,
    MODEL_SECONDS,
    MODEL_TOKENS,
)
from memory.openai_client import open_client

_CONNECT_S = 10.0
_DRAIN_S = 0.1
"""Longest wait for the end of a response after its last event, so that the connection can be used again."""
_JSON_OPTIONS = ("response_format", "json_schema", "json_object")
"""Words in the refusal of a server that does not know the option. OpenAI names the parameter, others its value."""
_IMAGE_WORDS = ("image", "multimodal", "vision", "cannot unmarshal array")
"""Words in a refusal of pictures. OpenAI and vLLM name the part or its fault; Ollama's Go cannot read it."""
_BLIND_PHRASES = (
    "not support image",  # Ollama, OpenRouter's routes
    "only supported by certain models",  # OpenAI
    "not a multimodal model",  # vLLM
    "image input is not supported",  # llama.cpp, as a 500
    "support image input",  # OpenRouter: "No endpoints found that …"
    "expected `text`",  # DeepSeek
    "cannot unmarshal array",
)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The waits for a model, within the deadline of the caller."""

    tries: int = 3
    # Seconds without an event of the stream. A server that sends comments meanwhile may take up to twice as long.
    idle_s: float = 60.0
    first_wait_s: float = 0.5
    # The request fails if Retry-After asks for more.
    longest_wait_s: float = 30.0


@dataclass(slots=True, kw_only=True)
class Breaker:
    """The circuit breaker of one model at one endpoint. Each process has its own.

    It opens on a failure that the next request cannot cure: an account without quota, a wrong key, a missing
    model. While it is open, requests fail at once with the error that opened it. After each pause one request
    goes through as a probe. Any answer without such a failure closes the breaker. An outcome that says nothing
    about the account (silence, a 5xx, a cancelled probe) keeps it open for the same pause. A failure of one
    prompt never opens it, and neither does an unreachable endpoint, which may be back at the next request.
    """

    # The first pause in seconds. Each failed probe doubles it, up to `longest_s`.
    first_s: float = 5.0
    longest_s: float = 60.0
    clock: Callable[[], float] = time.monotonic
    # True: a model that the endpoint does not have opens nothing, because another answers instead.
    may_be_missing: bool = False
    _failure: type[TellUser] | None = None
    _pause_s: float = 0.0
    _open_until: float = 0.0
    _is_probing: bool = False

    @property
    def _opening(self) -> tuple[type[TellUser], ...]:
        always = (ModelBarred, ModelQuotaExhausted)
        return always if self.may_be_missing else (*always, ModelMissing)

    @property
    def is_open(self) -> bool:
        """True while requests fail at once."""
        return self._failure is not None

    @contextmanager
    def guard(self) -> Generator[None]:
        """Wrap one request. While the breaker is open, raise its failure instead of running the block."""
        if self._failure is not None:
            if self._is_probing or self.clock() < self._open_until:
                MODEL_BREAKER.labels("refused").inc()
                raise self._failure
            yield from self._probe()
            return
        try:
            yield
        except self._opening as failure:
            if not self.is_open:  # requests at the same time open it once
                self._open(failure)
            raise

    def _probe(self) -> Generator[None]:
        self._is_probing = True
        MODEL_BREAKER.labels("probed").inc()
        try:
            yield
        except self._opening as failure:
            self._open(failure)
            raise
        except ModelUnavailable:
            raise
        except TellUser:
            self._close()
            raise
        else:
            self._close()
        finally:
            self._is_probing = False
            self._open_until = self.clock() + self._pause_s

    def _open(self, failure: TellUser) -> None:
        if self._failure is None:
            MODEL_BREAKERS_OPEN.inc()
        self._failure = type(failure)
        self._pause_s = min(max(self.first_s, 2 * self._pause_s), self.longest_s)
        self._open_until = self.clock() + self._pause_s
        MODEL_BREAKER.labels("opened").inc()
        log.error("model_breaker_opened", failure=self._failure.__name__, probe_in_s=self._pause_s)

    def _close(self) -> None:
        self._failure, self._pause_s = None, 0.0
        MODEL_BREAKERS_OPEN.dec()
        MODEL_BREAKER.labels("closed").inc()
        log.warning("model_breaker_closed")


@dataclass(slots=True, kw_only=True)
class OpenAIModel:
    """A ChatModel and a JsonModel on Chat Completions, always streamed.

    Connection errors, 408, 409, temporary 429, 5xx, a broken stream and a silence are retried as a whole; an empty
    reply is retried once. `Breaker` stops requests to an endpoint that refuses all of them. Error messages contain
    no text of the endpoint, no URL and no key.
    """

    client: AsyncOpenAI
    # See `JsonModel.name`.
    name: str
    patience: Patience
    breaker: Breaker
    # For a model that does not see (this, or the endpoint says so), a line replaces the pictures.
    sees: bool
    _asks_for_usage: bool = True
    _json_form: int = 0

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Return one reply; see `ChatModel.chat`.

        Raises ModelUnavailable, ModelQuotaExhausted, ModelRefused (ModelBarred, ModelMissing,
        ModelFiltered), PromptTooLong or ModelRepliedNothing.
        """
        sees = self.sees
        try:
            return await self._reply(request_body(self.name, messages, tools, sees=sees), on_text)
        except (ModelRefused, ModelUnavailable) as error:
            if not sees:
                raise
            self._accept_refusal_of_images(error, messages)
        return await self._reply(request_body(self.name, messages, tools, sees=False), on_text)

    def _accept_refusal_of_images(self, error: TellUser, messages: Sequence[PromptMessage]) -> None:
        """Raise the error if it is not about pictures. A model that takes no pictures at all gets no more of them."""
        text = _text_of(error).lower()
        if not any(message.images for message in messages) or not any(word in text for word in _IMAGE_WORDS):
            raise error
        self.sees = not any(phrase in text for phrase in _BLIND_PHRASES)
        log.warning("pictures_refused", model=self.name, sees=self.sees)

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return one reply; see `JsonModel.chat_json`. Raises the errors of `chat`.

        If the endpoint refuses `json_schema`, all later requests ask for any JSON object; if it refuses that too,
        for a plain answer.
        """
        body = request_body(self.name, messages, ())
        while True:
            forms = json_forms(schema)
            form = self._json_form
            try:
                return await self._reply({**body, **forms[form]}, None)
            except ModelRefused as error:
                if form + 1 == len(forms) or not _names(error, *_JSON_OPTIONS):
                    raise
                self._json_form = max(self._json_form, form + 1)  # another call may have raised it meanwhile

    async def _reply(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        async for attempt in stamina.retry_context(
            on=_RetryRule(self.patience.longest_wait_s),
            attempts=self.patience.tries,
            timeout=None,
            wait_initial=self.patience.first_wait_s,
            wait_jitter=self.patience.first_wait_s,
        ):
            with attempt, self.breaker.guard():
                return await self._try(body, on_text)
        raise ModelUnavailable

    async def _try(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        """Return the reply to one request, which is counted. Leave out an option that the server does not know."""
        began, outcome = time.monotonic(), "cancelled"
        try:
            try:
                reply = await self._stream(body, on_text)
            except ModelRefused as error:
                if not (self._asks_for_usage and _names(error, "stream_options")):
                    raise
                self._asks_for_usage = False
                reply = await self._stream(body, on_text)
            outcome = "ok"
        except TellUser as error:
            outcome = type(error).__name__
            raise
        finally:
            MODEL_CALLS.labels(outcome).inc()
            MODEL_SECONDS.observe(time.monotonic() - began)
        MODEL_TOKENS.labels("prompt").inc(reply.usage.prompt_tokens)
        MODEL_TOKENS.labels("completion").inc(reply.usage.completion_tokens)
        return reply

    async def _stream(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        streamed = StreamedReply()
        options = {"stream_options": {"include_usage": True}} if self._asks_for_usage else {}
        async with aclosing(self._chunks({**body, **options})) as chunks:
            async for chunk in chunks:
                if blocks_prompt(chunk):
                    raise ModelFiltered
                text = streamed.add(chunk)
                if text and on_text is not None:
                    await on_text(text)
        reply = streamed.reply()
        if reply is None:
            raise ModelUnavailable("The model's reply was cut off")
        if not reply.text.strip() and not reply.tool_calls:
            raise ModelFiltered if is_filter_reason(reply.finish_reason) else ModelRepliedNothing
        return reply

    async def _chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any]]:
        """Yield the chunks of one request. Translate every failure."""
        idle_s = self.patience.idle_s
        try:
            async with asyncio.timeout(idle_s):
                # `chat.completions.create` takes 4 ms to check and copy 30 messages, and the iterator of its
                # stream 20 µs more for each chunk than ours.
                stream = await self.client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=body,
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
            async with stream, aclosing(_events(stream.response, idle_s=idle_s)) as events:
                async for event in events:
                    yield _chunk(event, stream.response)
        except TimeoutError as error:
            raise ModelUnavailable(f"The model was silent for {idle_s:g} seconds") from error
        except (OpenAIError, httpx2.RequestError, ValueError, RecursionError) as error:
            failure = _translate(error)
            if isinstance(failure, ModelMissing):
                failure.model = self.name
            raise failure from error


@asynccontextmanager
async def open_openai_model(
    *,
    model: str,
    api_key: str | None,
    base_url: str | None,
    patience: Patience | None = None,
    breaker: Breaker | None = None,
    sees: bool = True,
) -> AsyncGenerator[OpenAIModel, None]:
    """Open the model at `base_url`, by default at OpenAI's own. Close its connections at the end."""
    patience = patience or Patience()
    timeout = Timeout(patience.idle_s, connect=_CONNECT_S)
    async with open_client(api_key=api_key, base_url=base_url, timeout=timeout) as client:
        yield OpenAIModel(
            client=client, name=model, patience=patience, breaker=breaker or Breaker(), sees=sees
        )


@dataclass(slots=True)
class _RetryRule:
    """The retry rule of one request: True, False, or the seconds that the endpoint asks to wait."""

    longest_wait_s: float
    empty_replies: int = 0

    def __call__(self, error: Exception) -> bool | float:
        if isinstance(error, ModelRepliedNothing):
            self.empty_replies += 1
            return self.empty_replies == 1
        if not isinstance(error, ModelUnavailable):
            return False
        wait_s = _retry_after(error.__cause__)
        if wait_s is None:
            return True
        return wait_s if wait_s <= self.longest_wait_s else False


async def _events(response: httpx2.Response, *, idle_s: float) -> AsyncGenerator[bytes]:
    """Yield the data of the events before [DONE]. Raises TimeoutError if nothing but comments comes for `idle_s`."""
    events = EventStream()
    heard_at = time.monotonic()
    async with aclosing(response.aiter_bytes()) as body:
        async for data in body:
            for event in events.feed(data):
                if event.startswith(b"[DONE]"):
                    with suppress(TimeoutError, httpx2.RequestError):
                        async with asyncio.timeout(_DRAIN_S):
                            async for _ in body:
                                pass
                    return
                yield event
                heard_at = time.monotonic()
            if time.monotonic() - heard_at > idle_s:
                raise TimeoutError


def _chunk(event: bytes, response: httpx2.Response) -> Mapping[str, Any]:
    chunk: Any = json.loads(event.decode())
    if not isinstance(chunk, dict):
        raise ValueError("not an object")
    if error := cast("Mapping[str, Any]", chunk).get("error"):
        raise APIError("an error in the stream", response.request, body=error)
    return cast("Mapping[str, Any]", chunk)


def _translate(error: Exception) -> TellUser:
    match error:
        case APIError():
            status = error.status_code if isinstance(error, APIStatusError) else None
            return failure_of(status, code=f"{error.code or ''} {error.type or ''}", text=_quote(error))
        case httpx2.RequestError():
            return failure_of(None, code="", text="")
        case _:
            return ModelUnavailable(f"The model's reply broke off ({type(error).__name__})")


def _names(error: ModelRefused, *options: str) -> bool:
    """Return True if the endpoint's refusal names one of these options."""
    return any(option in _text_of(error) for option in options)


def _text_of(error: TellUser) -> str:
    """Return the endpoint's own text, "" without one."""
    return _quote(error.__cause__) if isinstance(error.__cause__, APIError) else ""


def _quote(error: APIError) -> str:
    return f"{error.message} {error.body}"


def _retry_after(cause: BaseException | None) -> float | None:
    if not isinstance(cause, APIStatusError):
        return None
    return retry_after_s(cause.response.headers.get("retry-after"), now=time.time())
