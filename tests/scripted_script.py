"""Scripts of the scripted OpenAI server: lists of replies, named behaviours, and both read from a file."""

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

from simulator.offline_model.prompt import text_of
from tests.scripted_replies import Reply, call, calls, reply_from_json, text

ChatRequest = dict[str, Any]
Behaviour = Callable[[ChatRequest], Reply | str]
Script = Sequence[Reply | str] | Behaviour


class NothingScriptedError(Exception):
    """The script has no reply left for this request."""


def behaviour_of(script: Script) -> Behaviour:
    """Return the function that answers for a script.

    For a list it raises NothingScriptedError after the last reply.
    """
    if callable(script):
        return script
    replies = iter(script)

    def next_reply(request: ChatRequest) -> Reply | str:
        for reply in replies:
            return reply
        raise NothingScriptedError

    return next_reply


def echo(request: ChatRequest) -> Reply:
    """Reply with "echo: " and the last user text."""
    return text(f"echo: {last_user_text(request)}")


def tool_then_echo(request: ChatRequest) -> Reply:
    """Call `add(a=2, b=3)` first. Echo after its result follows the last user message."""
    messages: list[dict[str, Any]] = request["messages"]
    last_user = max((at for at, each in enumerate(messages) if each["role"] == "user"), default=-1)
    answered = any(each["role"] == "tool" for each in messages[last_user + 1 :])
    return echo(request) if answered else calls(call("add", {"a": 2, "b": 3}))


BEHAVIOURS: dict[str, Behaviour] = {"echo": echo, "tool_then_echo": tool_then_echo}


def last_user_text(request: ChatRequest) -> str:
    """Return the text of the last user message; "" without one."""
    users = [message for message in request["messages"] if message["role"] == "user"]
    return text_of(users[-1]) if users else ""


def read_script(document: str) -> Script:
    """Return the script of a file:

    {"behaviour": NAME}, or {"replies": […], "then": NAME} with an optional name. After the replies `then`
    answers; without it further requests are refused.
    """
    described = cast("dict[str, Any]", json.loads(document))
    if "behaviour" in described:
        return BEHAVIOURS[described["behaviour"]]
    listed = behaviour_of([reply_from_json(spec) for spec in described["replies"]])
    after = BEHAVIOURS[described["then"]] if "then" in described else None

    def behave(request: ChatRequest) -> Reply | str:
        try:
            return listed(request)
        except NothingScriptedError:
            if after is None:
                raise
            return after(request)

    return behave
