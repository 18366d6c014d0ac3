"""The chat model behind any OpenAI-compatible endpoint."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import httpx2
import stamina
import structlog
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    AsyncStream,
    OpenAIError,
    Timeout,
)

from bot.agent.abilities import Abilities, Ability
from bot.agent.model import JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec
from bot.agent.openai_failures import (
    Refusal,
    blocks_prompt,
    failure_of,
    is_lasting,
    lacking_abilities,
    quote_endpoint,
    wait_s,
)
from bot.agent.openai_format import opaque_names, request_body, used_abilities
from bot.agent.openai_stream import EventStream, StreamedReply, error_in
from bot.agent.thoughts import AnswerText
from bot.errors import (
    AbilityRefused,
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    TellUser,
)
from bot.observe.metrics import MODEL_BREAKER, MODEL_BREAKERS_OPEN, MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from memory.breaker import Breaker, BreakerEvent
from memory.causes import with_cause
from memory.characters import is_blank
from memory.openai_client import open_client

_CONNECT_S = 10.0
_DRAIN_S = 0.1
"""Longest wait for the end of a response after its last event, so that the connection can be used again."""
_PING = re.compile(rb"\W*(?:null|ping|pong|keep-?alive|heartbeat)\W*", re.IGNORECASE)
_REST_S = 2.0
"""Longest wait for usage and [DONE] behind the finish reason. A fault in this time is none of the answer's."""
_BREATH_BYTES = 64 * 1024
"""After so many bytes of a stream other tasks get a turn, also if more is there already."""
_TEXT_STEPS = 256
"""A text is passed on when it has grown by this part of itself, because a copy of it is passed."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The waits for a model, within the deadline of the caller."""

    tries: int = 3
    # Seconds without a byte of a stream. Comments are signs of life.
    idle_s: float = 60.0
    # Seconds for a reply that does not come as a stream.
    whole_s: float = 120.0
    first_wait_s: float = 0.5
    # The request fails if the endpoint asks for more.
    longest_wait_s: float = 30.0


class EndpointError(Exception):
    """An error in a response with status 200. `refusal` has its words."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__("the response is an error")
        self.refusal = refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One question to the model, and what it was found to lack during the question."""

    messages: Sequence[PromptMessage]
    tools: Sequence[ToolSpec]
    schema: JsonSchema | None
    on_text: OnText | None
    lacking: frozenset[Ability]


@dataclass(slots=True, kw_only=True)
class OpenAIModel:
    """A ChatModel and a JsonModel on Chat Completions.

    Connection errors, 408, 409, temporary 429, 5xx, a broken stream and a silence are retried as a whole; an empty
    reply is retried once. An option that the endpoint refuses is left out, in the same call and later. `Breaker` stops
    requests to an endpoint that refuses all of them. Errors contain no URL and no key; `said` has the words of the
    endpoint, masked and cut.
    """

    client: AsyncOpenAI
    # See `JsonModel.name`.
    name: str
    patience: Patience
    breaker: Breaker
    abilities: Abilities
    _begins_inside: bool = False

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Return one reply; see `ChatModel.chat`.

        Raises ModelUnavailable, ModelQuotaExhausted, ModelRefused (ModelBarred, ModelMissing,
        ModelFiltered), PromptTooLong or ModelRepliedNothing.
        """
        return await self._ask(messages, tools, on_text=on_text)

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return one reply; see `JsonModel.chat_json`. Raises the errors of `chat`.

        An endpoint without `json_schema` is asked for any JSON object, one without that for a plain answer.
        """
        return await self._ask(messages, (), schema=schema)

    async def _ask(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolSpec],
        *,
        schema: JsonSchema | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """Return one reply, without the abilities that the endpoint is known to lack or refuses now.

        A lack is remembered when the request without it was answered: another fault may use the same words.
        """
        lacking = self.abilities.lacking()
        ask = _Ask(messages=messages, tools=tools, schema=schema, on_text=on_text, lacking=lacking)
        lasting: dict[Ability, str] = {}
        while True:
            try:
                reply = await self._reply(ask)
                break
            except AbilityRefused as refused:
                refusal = _refusal_in(refused)
                lacking = self._lacking(ask, refusal)
                # One that offers no tools says nothing about them (BerriAI/litellm#24712).
                learned = lacking if tools else lacking - {"tools"}
                lasting |= {each: refused.said for each in learned if is_lasting(each, refusal)}
                ask = replace(ask, lacking=ask.lacking | lacking)
                log.warning("ability_refused", model=self.name, lacks=sorted(lacking), said=refused.said)
        if lasting:
            self.abilities.learn(lasting)
        return reply

    def _lacking(self, ask: _Ask, refusal: Refusal) -> frozenset[Ability]:
        """Return the abilities of a request that the endpoint's words name as missing."""
        body = request_body(self.name, ask.messages, ask.tools, lacking=ask.lacking, schema=ask.schema)
        used = used_abilities(ask.messages, body, to=self.name) - ask.lacking
        names = opaque_names(ask.messages, to=self.name)
        return lacking_abilities(refusal, used, opaque_names=names)

    async def _reply(self, ask: _Ask) -> ModelReply:
        async for attempt in stamina.retry_context(
            on=_RetryRule(self.patience.longest_wait_s),
            attempts=self.patience.tries,
            timeout=None,
            wait_initial=self.patience.first_wait_s,
            wait_jitter=self.patience.first_wait_s,
        ):
            with attempt, self.breaker.guard():
                return await self._try(ask)
        raise ModelUnavailable

    async def _try(self, ask: _Ask) -> ModelReply:
        """Return the reply to one request, which is counted. Raises AbilityRefused for an option to leave out."""
        began, outcome = time.monotonic(), "cancelled"
        try:
            reply = await self._request(ask)
            outcome = "ok"
        except TellUser as error:
            failure = self._judge(error, ask)
            outcome = type(failure).__name__
            if failure is error:
                raise
            raise failure from error.__cause__
        finally:
            MODEL_CALLS.labels(outcome).inc()
            MODEL_SECONDS.observe(time.monotonic() - began)
        MODEL_TOKENS.labels("prompt").inc(reply.usage.prompt_tokens)
        MODEL_TOKENS.labels("completion").inc(reply.usage.completion_tokens)
        return reply

    def _judge(self, failure: TellUser, ask: _Ask) -> TellUser:
        """Return the failure with the endpoint's words, as AbilityRefused if they name an option."""
        refusal = _refusal_in(failure)
        if not refusal.words.strip():
            return failure
        may_name_one = isinstance(failure, ModelRefused | ModelUnavailable)
        is_known = isinstance(failure, ModelMissing | ModelFiltered)
        if may_name_one and not is_known and self._lacking(ask, refusal):
            failure = AbilityRefused()
        prompt = (message.text for message in ask.messages if message.role != "system")
        said = (refusal.message or refusal.body).replace(self.client.api_key, "***")
        failure.said = quote_endpoint(said, prompt)
        return failure

    async def _request(self, ask: _Ask) -> ModelReply:
        body = request_body(self.name, ask.messages, ask.tools, lacking=ask.lacking, schema=ask.schema)
        streamed = StreamedReply(
            longest_text=self.abilities.longest_text,
            text=AnswerText(begins_inside=self._begins_inside),
            offered=frozenset() if "tools" in ask.lacking else frozenset(tool.name for tool in ask.tools),
        )
        listener = _Listener(streamed, ask.on_text)
        try:
            await self._read(body, streamed, listener)
        except (TimeoutError, ModelUnavailable):
            if not streamed.has_ended:  # else only the usage is missing
                raise
        streamed.end()
        self._begins_inside = streamed.text.has_end_alone
        reply = streamed.reply()
        if reply is None:
            raise ModelUnavailable("The model's reply was cut off")
        if is_blank(reply.text) and not reply.tool_calls:
            raise ModelFiltered if reply.finish_reason == "content_filter" else ModelRepliedNothing
        await listener.finish(reply.text)
        return replace(reply, model=self.name)

    async def _read(self, body: Mapping[str, Any], streamed: StreamedReply, listener: "_Listener") -> None:
        """Read the response to its end, but not for longer than _REST_S behind the finish reason."""
        async with asyncio.timeout(None) as rest, aclosing(self._chunks(body)) as chunks:
            async for chunk in chunks:
                if chunk is None:
                    streamed.is_done = True
                elif blocks_prompt(chunk):
                    raise ModelFiltered
                elif streamed.add(chunk):
                    await listener.tell()
                if streamed.is_full:
                    break
                if streamed.has_ended != (rest.when() is not None):
                    end = asyncio.get_running_loop().time() + _REST_S
                    rest.reschedule(end if streamed.has_ended else None)

    async def _chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any] | None]:
        """Yield the chunks of one request, and None for [DONE]. Translate every failure."""
        try:
            # `chat.completions.create` takes 4 ms to check and copy 30 messages, and the iterator of its
            # stream 20 µs more for each chunk than ours.
            if "stream" not in body:
                answer = await self.client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=body,
                    options={"timeout": Timeout(self.patience.whole_s, connect=_CONNECT_S)},
                )
                yield _checked(answer)
                yield None
                return
            async with asyncio.timeout(self.patience.idle_s):
                stream = await self.client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=body,
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
            async with stream, aclosing(_events(stream.response)) as events:
                async for event in events:
                    if event is None:
                        yield None
                    elif not _PING.fullmatch(event):
                        yield _checked(json.loads(event.decode()))
        except (TimeoutError, APITimeoutError, httpx2.ReadTimeout) as error:
            silence = f"The model was silent for {self.patience.idle_s:g} seconds (MODEL_SILENCE_S)"
            raise ModelUnavailable(silence) from error
        except (OpenAIError, EndpointError, httpx2.RequestError, ValueError, RecursionError) as error:
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
    abilities: Abilities | None = None,
) -> AsyncGenerator[OpenAIModel, None]:
    """Open the model at `base_url`, by default at OpenAI's own. Close its connections at the end."""
    patience = patience or Patience()
    timeout = Timeout(patience.idle_s, connect=_CONNECT_S)
    async with open_client(api_key=api_key, base_url=base_url, timeout=timeout) as client:
        yield OpenAIModel(
            client=client,
            name=model,
            patience=patience,
            breaker=breaker or model_breaker(),
            abilities=abilities or Abilities(),
        )


@dataclass(slots=True)
class _Listener:
    """Passes the growing text on, so seldom that the copies of a long text cost little."""

    streamed: StreamedReply
    on_text: OnText | None
    _told: str = ""
    _told_at: int = 0

    async def tell(self) -> None:
        """Pass the text on if it has grown enough."""
        size = self.streamed.characters
        if self.on_text is None or size < self._told_at + 1 + self._told_at // _TEXT_STEPS:
            return
        self._told_at = size
        await self.finish(self.streamed.shown())

    async def finish(self, text: str) -> None:
        """Pass the text on if it has changed."""
        if self.on_text is not None and text != self._told:
            self._told = text
            await self.on_text(text)


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
        cause = error.__cause__
        headers: Mapping[str, str] = cause.response.headers if isinstance(cause, APIStatusError) else {}
        seconds = wait_s(headers, _refusal_in(error).whole, now=time.time())
        if seconds is None:
            return True
        return seconds if seconds <= self.longest_wait_s else False


async def _events(response: httpx2.Response) -> AsyncGenerator[bytes | None]:
    """Yield the data of the events, and None for [DONE]. A whole body of JSON is one event."""
    events, read, breath = EventStream(), 0, 0
    async with aclosing(response.aiter_bytes()) as body:
        async for data in body:
            read += len(data)
            if read - breath > _BREATH_BYTES:
                breath = read
                await asyncio.sleep(0)
            for event in events.feed(data):
                if event.startswith(b"[DONE]"):
                    yield None
                    with suppress(TimeoutError, httpx2.RequestError):
                        async with asyncio.timeout(_DRAIN_S):
                            async for _ in body:
                                pass
                    return
                yield event
    for event in events.end():
        yield None if event.startswith(b"[DONE]") else event
        if events.is_json:
            yield None


def _checked(chunk: object) -> Mapping[str, Any]:
    """Return a chunk. Raises EndpointError if it is an error, ValueError if it is no object."""
    if isinstance(chunk, list) and chunk:  # Gemini's errors
        chunk = cast("list[object]", chunk)[0]
    if not isinstance(chunk, dict):
        raise ValueError("not an object")
    checked = cast("Mapping[str, Any]", chunk)
    if error := error_in(checked):
        raise EndpointError(error)
    return checked


def _translate(error: Exception) -> TellUser:
    match error:
        case APIConnectionError() | httpx2.RequestError():
            return ModelUnavailable(with_cause("The model endpoint cannot be reached", error))
        case APIError() | EndpointError():
            return failure_of(_refusal_of(error))
        case _:
            return ModelUnavailable(f"The model's reply broke off ({type(error).__name__})")


def _refusal_in(failure: TellUser) -> Refusal:
    """Return the endpoint's answer that a failure comes from, an empty one without any."""
    cause = failure.__cause__
    return _refusal_of(cause) if isinstance(cause, APIError | EndpointError) else Refusal(status=None)


def _refusal_of(error: APIError | EndpointError) -> Refusal:
    if isinstance(error, EndpointError):
        return error.refusal
    if not isinstance(error, APIStatusError):  # no response: the SDK's own words
        return Refusal(status=None)
    message = error.message
    match error.body:
        case {"message": str(said)}:
            message = said
        case _:
            pass
    code = f"{error.code or ''} {error.type or ''}"
    return Refusal(status=error.status_code, code=code, message=message, body=error.response.text)


def model_breaker(
    *,
    first_s: float = 5.0,
    longest_s: float = 60.0,
    clock: Callable[[], float] = time.monotonic,
    may_be_missing: bool = False,
) -> Breaker:
    """Return the breaker of one model at one endpoint.

    It opens on a failure that the next request cannot cure: an account without quota, a wrong key, a missing model.
    With `may_be_missing` a missing model opens nothing, because another answers instead. Silence and a 5xx say nothing
    about the account. A failure of one prompt never opens it, and neither does an unreachable endpoint, which may be
    back at the next request.
    """
    always = (ModelBarred, ModelQuotaExhausted)
    return Breaker(
        opens_on=always if may_be_missing else (*always, ModelMissing),
        keeps_open=(ModelUnavailable,),
        first_s=first_s,
        longest_s=longest_s,
        clock=clock,
        notify=_report,
    )


def _report(event: BreakerEvent, breaker: Breaker) -> None:
    MODEL_BREAKER.labels("opened" if event == "reopened" else event).inc()
    if event in ("opened", "reopened") and breaker.failure is not None:
        MODEL_BREAKERS_OPEN.inc(event == "opened")
        log.error("model_breaker_opened", failure=breaker.failure.__name__, probe_in_s=breaker.pause_s)
    elif event == "closed":
        MODEL_BREAKERS_OPEN.dec()
        log.warning("model_breaker_closed")
