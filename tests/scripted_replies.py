"""Replies of the scripted OpenAI server to a chat request: valid ones, and every known kind of bad one."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from simulator.offline_model.wire import FinishReason, in_pieces

Ending = Literal["done", "close", "hang", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of a reply. `arguments` is sent unchanged, also if it is no JSON."""

    name: str
    arguments: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A refused request: an HTTP status with OpenAI's error object."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply of the script.

    `pieces` are the content deltas; none mean null content. With an `ending` other than "done" the stream
    ends after `events` server-sent events, the first of which only carries the role. `gate` is awaited
    after `before_gate` events. Without `tells_usage` a stream has no usage, as of many local servers.
    """

    pieces: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    finish_reason: FinishReason | None = None
    failure: Failure | None = None
    ending: Ending = "done"
    events: int = 0
    chunk_delay_s: float = 0.0
    gate: asyncio.Event | None = None
    before_gate: int = 0
    tells_usage: bool = True


def text(content: str, *, finish_reason: FinishReason = "stop") -> Reply:
    """Return a plain text reply, streamed word by word."""
    return Reply(pieces=in_pieces(content, at_most=10_000), finish_reason=finish_reason)


def pieces(*deltas: str) -> Reply:
    """Return a text reply with exactly these content deltas."""
    return Reply(pieces=deltas)


def empty() -> Reply:
    """Return a reply whose content is the empty string."""
    return Reply(pieces=("",))


def null_content() -> Reply:
    """Return a reply with content null and no tool calls."""
    return Reply()


def call(
    name: str, arguments: Mapping[str, Any] | list[Any] | str = "", *, call_id: str | None = None
) -> Call:
    """Return a tool call. A text is sent raw (malformed JSON, "" for no arguments), anything else as JSON."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(name=name, arguments=raw, id=call_id)


def calls(*asked: Call, content: str | None = None) -> Reply:
    """Return a reply of parallel tool calls, after some content or none."""
    spoken = in_pieces(content, at_most=10_000) if content is not None else ()
    return Reply(pieces=spoken, calls=asked)


def cut(content: str, *, after: int) -> Reply:
    """Return a stream whose connection is closed after `after` events."""
    return replace(text(content), ending="close", events=after)


def stalled(content: str, *, after: int) -> Reply:
    """Return a stream that sends nothing more after `after` events, until the client gives up."""
    return replace(text(content), ending="hang", events=after)


def broken_stream(content: str, *, after: int) -> Reply:
    """Return a stream with an error object in place of the events after the first `after`."""
    return replace(text(content), ending="error", events=after)


def hang() -> Reply:
    """Return a reply that sends no byte until the client gives up."""
    return Reply(ending="hang", events=-1)


def slow(content: str, *, chunk_delay_s: float) -> Reply:
    """Return a text with `chunk_delay_s` seconds after each event."""
    return replace(text(content), chunk_delay_s=chunk_delay_s)


def held(reply: Reply, *, until: asyncio.Event, after: int = 0) -> Reply:
    """Return `reply`, which waits after this many events until `until` is set (in the same event loop)."""
    return replace(reply, gate=until, before_gate=after)


def without_usage(reply: Reply) -> Reply:
    """Return `reply` without its usage of tokens."""
    return replace(reply, tells_usage=False)


def rate_limited(*, retry_after_s: float | None = 1) -> Reply:
    """Return a temporary 429, with Retry-After unless that is None."""
    message = "Rate limit reached for requests. Please try again later."
    failure = Failure(status=429, message=message, kind="requests", code="rate_limit_exceeded")
    return Reply(failure=replace(failure, retry_after_s=retry_after_s))


def quota_exceeded() -> Reply:
    """Return a permanent 429."""
    message = "You exceeded your current quota, please check your plan and billing details."
    quota = "insufficient_quota"
    return Reply(failure=Failure(status=429, message=message, kind=quota, code=quota))


def server_error(*, status: int = 500) -> Reply:
    """Return a 5xx."""
    message = "The server had an error while processing your request. Sorry about that!"
    return Reply(failure=Failure(status=status, message=message, kind="server_error"))


def context_too_long() -> Reply:
    """Return the 400 for a prompt over the model's window."""
    message = (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
        " Please reduce the length of the messages."
    )
    return Reply(
        failure=Failure(status=400, message=message, code="context_length_exceeded", param="messages")
    )


def unauthorized() -> Reply:
    """Return the 401 for a wrong key."""
    return Reply(failure=Failure(status=401, message="Incorrect API key provided.", code="invalid_api_key"))


def filtered() -> Reply:
    """Return the 400 of a content filter that found something in the prompt."""
    message = "The response was filtered due to the prompt triggering a content management policy."
    return Reply(failure=Failure(status=400, message=message, code="content_filter", param="prompt"))


# Replies that a script file may name; `tool_calls` takes a list of {"name", "arguments", "id"?}.
_BY_NAME: dict[str, Callable[..., Reply]] = {
    "text": text,
    "empty": empty,
    "null_content": null_content,
    "cut": cut,
    "stalled": stalled,
    "broken_stream": broken_stream,
    "hang": hang,
    "slow": slow,
    "rate_limited": rate_limited,
    "quota_exceeded": quota_exceeded,
    "server_error": server_error,
    "context_too_long": context_too_long,
    "filtered": filtered,
    "unauthorized": unauthorized,
}


def reply_from_json(spec: str | Mapping[str, Any]) -> Reply:
    """Return the reply that a script file describes:

    a text, or {"reply": NAME, …} with that function's arguments. Raises KeyError or TypeError for an
    unknown name or argument.
    """
    if isinstance(spec, str):
        return text(spec)
    options = dict(spec)
    name = options.pop("reply")
    if name == "tool_calls":
        asked = [
            call(each["name"], each.get("arguments", ""), call_id=each.get("id")) for each in options["calls"]
        ]
        return calls(*asked, content=options.get("content"))
    return _BY_NAME[name](**options)
