"""The chat model behind any OpenAI-compatible endpoint: the one door to the `openai` SDK."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import stamina
import structlog
from openai import (
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AsyncStream,
    DefaultAsyncHttpxClient,
    OpenAIError,
    Timeout,
)

from bot.agent.endpoint import Breaker, failure_of, retry_after_s
from bot.agent.model import JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec
from bot.agent.openai_format import StreamedReply, has_images, json_forms, request_body, without_images
from bot.errors import ModelRefused, ModelRepliedNothing, ModelUnavailable, TellUser
from bot.observe.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from memory.http_calls import is_abandoned, shielded, track_request

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_CONNECT_TIMEOUT_S = 10.0
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
    # Seconds without a byte of the stream.
    idle_s: float = 60.0
    first_wait_s: float = 0.5
    # The request fails if Retry-After asks for more.
    longest_wait_s: float = 30.0


class OpenAIModel:
    """A ChatModel and a JsonModel on Chat Completions, always streamed.

    Connection errors, 408, 409, temporary 429, 5xx, a broken stream and a silence are retried as a whole; an empty
    reply is retried once. `Breaker` stops requests to an endpoint that refuses all of them. Error messages contain
    no text of the endpoint, no URL and no key. For a model that does not see (`sees`, or the endpoint says so), a
    line replaces the pictures.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        patience: Patience | None = None,
        breaker: Breaker | None = None,
        sees: bool = True,
    ) -> None:
        self._client = client
        self._model = model
        self._patience = patience or Patience()
        self._breaker = breaker or Breaker()
        self._sees = sees
        self._asks_for_usage = True
        self._json_form = 0

    @property
    def name(self) -> str:
        """See `JsonModel.name`."""
        return self._model

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Return one reply; see `ChatModel.chat`.

        Raises ModelUnavailable, ModelQuotaExhausted, ModelRefused (ModelBarred), PromptTooLong or
        ModelRepliedNothing.
        """
        if not has_images(messages):
            return await self._reply(request_body(self._model, messages, tools), on_text)
        if self._sees:
            try:
                return await self._reply(request_body(self._model, messages, tools), on_text)
            except (ModelRefused, ModelUnavailable) as error:
                self._accept_refusal_of_images(error)
        return await self._reply(request_body(self._model, without_images(messages), tools), on_text)

    def _accept_refusal_of_images(self, error: TellUser) -> None:
        """Raise the error if it is not about pictures. A model that takes no pictures at all gets no more of them."""
        text = _text_of(error).lower()
        if not any(word in text for word in _IMAGE_WORDS):
            raise error
        self._sees = not any(phrase in text for phrase in _BLIND_PHRASES)
        log.warning("pictures_refused", model=self._model, sees=self._sees)

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return one reply; see `JsonModel.chat_json`. Raises the errors of `chat`.

        If the endpoint refuses `json_schema`, all later requests ask for any JSON object; if it refuses that too,
        for a plain answer.
        """
        body = request_body(self._model, messages, ())
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
            on=_RetryRule(self._patience.longest_wait_s),
            attempts=self._patience.tries,
            timeout=None,
            wait_initial=self._patience.first_wait_s,
            wait_jitter=self._patience.first_wait_s,
        ):
            with attempt, self._breaker.guard():
                return await self._counted_try(body, on_text)
        raise ModelUnavailable

    async def _counted_try(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        began, outcome = time.monotonic(), "cancelled"
        try:
            reply = await self._try(body, on_text)
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

    async def _try(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        try:
            return await shielded(self._stream(body, on_text))
        except ModelRefused as error:
            if not (self._asks_for_usage and _names(error, "stream_options")):
                raise
            self._asks_for_usage = False  # this server does not know the option
            return await shielded(self._stream(body, on_text))

    async def _stream(self, body: Mapping[str, Any], on_text: OnText | None) -> ModelReply:
        streamed = StreamedReply()
        options = {"stream_options": {"include_usage": True}} if self._asks_for_usage else {}
        async with aclosing(self._chunks({**body, **options})) as chunks:
            async for chunk in chunks:
                if streamed.add(chunk) and on_text is not None and not is_abandoned():
                    await on_text(streamed.text)
        if not streamed.is_whole():
            raise ModelUnavailable("The model's reply was cut off")
        reply = streamed.reply()
        if reply.is_empty():
            raise ModelRepliedNothing
        return reply

    async def _chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any], None]:
        """Yield the chunks of one request. Translate every failure of the SDK."""
        idle_s = self._patience.idle_s
        try:
            async with asyncio.timeout(idle_s):
                stream = await self._client.post(
                    "/chat/completions",
                    cast_to=object,  # raw chunks: servers differ, and the types of the SDK promise too much
                    body=dict(body),
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
            async with stream:
                while True:
                    async with asyncio.timeout(idle_s):
                        chunk = await anext(stream, None)
                    if chunk is None:
                        return
                    yield _checked_chunk(chunk)
        except TimeoutError as error:
            raise ModelUnavailable(f"The model was silent for {idle_s:g} seconds") from error
        except (OpenAIError, OSError, ValueError) as error:
            raise _translate(error) from error


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
    client = AsyncOpenAI(
        api_key=api_key or "none",  # the SDK insists on one; servers without keys ignore it
        base_url=base_url or DEFAULT_BASE_URL,
        max_retries=0,
        timeout=Timeout(None, connect=_CONNECT_TIMEOUT_S),
        http_client=DefaultAsyncHttpxClient(event_hooks={"request": [track_request]}),
    )
    async with client:
        yield OpenAIModel(client, model=model, patience=patience, breaker=breaker, sees=sees)


class _RetryRule:
    """The retry rule of one request: after which errors, and after how many seconds if the endpoint says so."""

    def __init__(self, longest_wait_s: float) -> None:
        self._longest_wait_s = longest_wait_s
        self._empty_replies = 0

    def __call__(self, error: Exception) -> bool | float:
        if isinstance(error, ModelRepliedNothing):
            self._empty_replies += 1
            return self._empty_replies == 1
        if not isinstance(error, ModelUnavailable):
            return False
        wait_s = _retry_after(error.__cause__)
        if wait_s is None:
            return True
        return wait_s if wait_s <= self._longest_wait_s else False


def _checked_chunk(chunk: object) -> Mapping[str, Any]:
    if not isinstance(chunk, dict):
        raise ModelUnavailable("The model's reply was not understood")
    return cast("Mapping[str, Any]", chunk)


def _translate(error: Exception) -> TellUser:
    if not isinstance(error, APIError):
        return ModelUnavailable(f"The model's reply broke off ({type(error).__name__})")
    status = error.status_code if isinstance(error, APIStatusError) else None
    code = f"{error.code or ''} {error.type or ''}"
    return failure_of(status, code=code, text=f"{error.message} {error.body}")


def _names(error: ModelRefused, *options: str) -> bool:
    """Return True if the endpoint's refusal names one of these options."""
    return any(option in _text_of(error) for option in options)


def _text_of(error: TellUser) -> str:
    """Return the endpoint's own text, "" without one."""
    cause = error.__cause__
    return f"{cause.message} {cause.param} {cause.body}" if isinstance(cause, APIError) else ""


def _retry_after(cause: BaseException | None) -> float | None:
    if not isinstance(cause, APIStatusError):
        return None
    return retry_after_s(cause.response.headers.get("retry-after"), now=time.time())
