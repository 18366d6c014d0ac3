"""Structured answers of the summary model: schemas, a request that fits the window, and the check of its answer."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from bot.agent.model import JsonModel, JsonSchema, MeteredCall, PromptMessage, Usage
from bot.errors import ModelFiltered, PromptTooLong, TellUser
from memory.errors import SummaryFailed
from memory.history.selectors import TokenCounter

T = TypeVar("T")

_MESSAGE_OVERHEAD = 4
_REPLY_OVERHEAD = 3
_HALVINGS = 2
SMALLEST_SHARE = 2**_HALVINGS
"""The last divisor that `ask_for_less` tries."""
_OBJECTS_TRIED = 500
"""Places at which the object of an answer may begin: prose and thoughts around it have braces too."""

TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "number"}
INTEGER: Mapping[str, Any] = {"type": "integer"}
"""Numbers may also be written as texts: `read_number` reads both."""


def list_of(items: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a list of these items."""
    return {"type": "array", "items": items}


def object_of(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXTS = list_of(TEXT)
INTEGERS = list_of(INTEGER)


@dataclass(frozen=True, slots=True)
class StructuredModel:
    """A JsonModel whose requests fit its window and whose answers have the requested form.

    All failures are SummaryFailed: errors of the model, no answer within `timeout_s` seconds, and a wrong answer.
    An answer is wrong if it is cut or not of the requested form. Messages of errors quote nothing.
    """

    model: JsonModel
    tokenizer: TokenCounter
    context_window: int
    timeout_s: float

    async def ask(
        self,
        messages: Sequence[PromptMessage],
        schema: JsonSchema,
        *,
        answer_tokens: int,
        usages: list[Usage],
    ) -> Mapping[str, Any]:
        """Return the answer; `usages` receives the usage of the call, also if it fails.

        Raises SummaryFailed, with `is_too_long` if the request leaves no room for `answer_tokens`.
        """
        tokens = self.count_request(messages, schema)
        if tokens > self.context_window - answer_tokens:
            raise SummaryFailed(
                "There is more to read than the summary model takes at once.", is_too_long=True
            )
        call = MeteredCall(model=self.model.name, prompt_tokens=tokens, meter=self.tokenizer, usages=usages)
        try:
            async with asyncio.timeout(self.timeout_s):
                reply = await call.run(self.model.chat_json(messages, schema))
        except TimeoutError as error:
            raise SummaryFailed(f"The summary model gave no answer in {self.timeout_s:g} seconds.") from error
        except TellUser as error:
            raise SummaryFailed(
                str(error),
                is_too_long=isinstance(error, PromptTooLong),
                is_filtered=isinstance(error, ModelFiltered),
            ) from error
        usages.append(reply.usage)
        if reply.finish_reason == "length":
            raise SummaryFailed("The summary model's answer was cut at its limit.")
        try:
            return parse_answer(reply.text, schema)
        except ValueError as error:
            raise SummaryFailed(
                "The summary model's answer is not of the form that was asked for."
            ) from error

    def count_request(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> int:
        """Return the tokens of a request."""
        texts = sum(_MESSAGE_OVERHEAD + self.tokenizer.count(message.text) for message in messages)
        return _REPLY_OVERHEAD + texts + self.tokenizer.count(json.dumps(dict(schema.schema)))


async def ask_for_less(work: Callable[[int], Awaitable[T]]) -> T:
    """Return the result of `work(1)`, or of `work(2)` or `work(4)` if its requests were too long or filtered.

    The argument says by what to divide the room of a request. Raises SummaryFailed.
    """
    for halvings in range(_HALVINGS):
        try:
            return await work(2**halvings)
        except SummaryFailed as failure:
            if not failure.is_too_long:
                raise
    return await work(SMALLEST_SHARE)


def parse_answer(text: str, schema: JsonSchema) -> Mapping[str, Any]:
    """Return the last JSON object of this schema in the text, and ignore unknown fields.

    Earlier objects are drafts of a model that thinks aloud. Raises ValueError without such an object.
    """
    answer = None
    for value in _objects_in(text):
        if _conforms(value, schema.schema):
            answer = cast("Mapping[str, Any]", value)
    if answer is None:
        raise ValueError(f"no JSON object of the form {schema.name}")
    return answer


def read_number(value: object) -> float | None:
    """Return a number of an answer, which may be written as a text; None for anything else and for NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _objects_in(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_OBJECTS_TRIED):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _conforms(value: object, schema: Mapping[str, Any]) -> bool:
    kind = schema["type"]
    if kind == "string":
        return isinstance(value, str)
    if kind in ("number", "integer"):
        return isinstance(value, int | float | str) and not isinstance(value, bool)
    if kind == "array":
        return isinstance(value, list) and all(
            _conforms(item, schema["items"]) for item in cast("list[object]", value)
        )
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, object]", value)
    properties = cast("Mapping[str, Mapping[str, Any]]", schema["properties"])
    return all(name in fields and _conforms(fields[name], inner) for name, inner in properties.items())
