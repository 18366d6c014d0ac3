"""Structured answers of the summary model: schemas, a request that fits the window, and the check of its answer."""

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from bot.agent.loose_json import find_values, find_whole_items
from bot.agent.model import JsonModel, JsonSchema, MeteredCall, ModelReply, PromptMessage, Usage
from bot.errors import ModelFiltered, PromptTooLong, TellUser
from memory.errors import SummaryFailed
from memory.history.selectors import TokenCounter

T = TypeVar("T")

_MESSAGE_OVERHEAD = 4
_REPLY_OVERHEAD = 3
_HALVINGS = 2
SMALLEST_SHARE = 2**_HALVINGS
"""The last divisor that `ask_for_less` tries."""
_WRAPPERS = 3
"""Objects that may be around an answer."""
_NOTHING = re.compile(
    r"""\{\}|\[\]|null|none
    |(?:there(?:'s|\s+is|\s+are|\s+were)\s+)?(?:no(?=\s)|nothing)
    (?:\s+(?:new|other|further|relevant|important|lasting|personal|facts?|information|items?
    |to|note|report|extract|add|remember|found|was|were|worth|noting
    |in|from|about|the|these|this|those|messages?|lines?|chat|conversation))*""",
    re.VERBOSE,
)
"""Answers of weak models that have nothing for a list."""
_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    # mem0ai/mem0#4224, #5176, vectorize-io/hindsight#1274
    "subject": ("person", "name", "entity", "about", "who"),
    "statement": ("fact", "text", "memory", "content", "description"),
    "messages": ("message", "lines", "line"),
}
"""Names that models give to fields, if the right ones are missing."""
_NUMBERS = re.compile(r"(?<!\w)(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?")
"""Numbers in a text, and ranges of them."""
_LONGEST_RANGE = 100
_QUOTED_TOKENS = 200
_UNREADABLE = (
    "This is not the JSON object that was asked for, or it is broken. Answer again with that one JSON object and "
    "nothing else."
)

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
    An answer that cannot be read is asked for once more at once. Messages of errors quote nothing.
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
        """Return the answer in exactly the form of `schema`; `usages` receives the usage of each call, also of a
        failed one. A number may be a text, and None if it is missing.

        Raises SummaryFailed, with `is_too_long` if the request leaves no room for `answer_tokens`.
        """
        tokens = self.count_request(messages, schema)
        if tokens > self.context_window - answer_tokens:
            raise SummaryFailed(
                "There is more to read than the summary model takes at once.", is_too_long=True
            )
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._ask(
                    messages, schema, room=self.context_window - answer_tokens, usages=usages
                )
        except TimeoutError as error:
            raise SummaryFailed(f"The summary model gave no answer in {self.timeout_s:g} seconds.") from error
        except TellUser as error:
            raise SummaryFailed(
                str(error),
                is_too_long=isinstance(error, PromptTooLong),
                is_filtered=isinstance(error, ModelFiltered),
            ) from error
        except ValueError as error:
            raise SummaryFailed(
                "The summary model's answer is not of the form that was asked for."
            ) from error

    async def _ask(
        self, messages: Sequence[PromptMessage], schema: JsonSchema, *, room: int, usages: list[Usage]
    ) -> Mapping[str, Any]:
        """Return the answer. One that cannot be read is asked for once more. Raises ValueError and TellUser errors."""
        reply = await self._send(messages, schema, usages)
        is_cut = reply.finish_reason == "length"
        try:
            return parse_answer(reply.text, schema, is_cut=is_cut)
        except ValueError as error:
            if is_cut:
                raise SummaryFailed("The summary model's answer was cut at its limit.") from error
        quoted = self.tokenizer.cut_middle(reply.text, _QUOTED_TOKENS)
        again = [
            *messages,
            PromptMessage(role="assistant", text=quoted),
            PromptMessage(role="user", text=_UNREADABLE),
        ]
        fits = quoted.strip() and self.count_request(again, schema) <= room
        reply = await self._send(again if fits else messages, schema, usages)
        return parse_answer(reply.text, schema, is_cut=reply.finish_reason == "length")

    async def _send(
        self, messages: Sequence[PromptMessage], schema: JsonSchema, usages: list[Usage]
    ) -> ModelReply:
        tokens = self.count_request(messages, schema)
        call = MeteredCall(model=self.model.name, prompt_tokens=tokens, meter=self.tokenizer, usages=usages)
        reply = await call.run(self.model.chat_json(messages, schema))
        usages.append(reply.usage)
        return reply

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


def parse_answer(text: str, schema: JsonSchema, *, is_cut: bool = False) -> Mapping[str, Any]:
    """Return the last JSON object of this schema in the text, in exactly its form. Raises ValueError without one.

    Earlier objects are drafts of a model that thinks aloud. Weak models leave out fields, wrap the object, write a
    list or one item in its place, or a text for a list: `_Form` reads all that, item by item. Of an answer without
    an end only the whole items of a list count, and of one with several fields nothing.
    """
    form = _Form(schema.needed)
    is_list = len(schema.schema["properties"]) == 1
    if is_list and _NOTHING.fullmatch(text.strip("`.! \n").removeprefix("json").strip().casefold()):
        return {name: [] for name in schema.schema["properties"]}
    answer = None if is_cut else _best(text, schema, form)
    if is_list and not (answer and any(answer.values())) and (items := list(find_whole_items(text))):
        answer = form.read(items, schema.schema) or answer
    if answer is not None:
        return answer
    raise ValueError(f"no JSON object of the form {schema.name}")


def read_number(value: object) -> float | None:
    """Return a number of an answer, which may be written as a text; None for anything else and for NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _best(text: str, schema: JsonSchema, form: "_Form") -> Mapping[str, Any] | None:
    """Return the object with the most fields of the schema, the last of several that has anything in them.

    Items without an object count too.
    """
    for repairing in (False, True):
        best, most, items = None, 0, list[object]()
        for value in find_values(text, repairing=repairing):
            count, fields = _fields_of(value, schema.schema)
            answer = form.read(fields, schema.schema) if count else None
            is_emptied = best and any(best.values()) and not (answer and any(answer.values()))
            if answer is not None and count >= most and not is_emptied:
                best, most, items = answer, count, []
            elif not count:
                items += cast("list[object]", value) if isinstance(value, list) else [value]
        if items and len(schema.schema["properties"]) == 1 and not (best and any(best.values())):
            best = form.read(items, schema.schema) or best
        if best is not None:
            return best
    return None


def _fields_of(value: object, schema: Mapping[str, Any], depth: int = 0) -> tuple[int, object]:
    """Return how many fields of the schema an object has, and the object; also one that is wrapped in others.

    Models name the wrapper as they like (vectorize-io/hindsight#3028): it is an object with one container.
    """
    if not isinstance(value, dict):
        return 0, value
    fields = _named(cast("dict[str, object]", value))
    count = sum(name in fields for name in schema["properties"])
    is_list = len(schema["properties"]) == 1
    inner = [each for each in map(_decoded, fields.values()) if _parts(each)]
    if count or len(inner) != 1 or depth == _WRAPPERS or (is_list and _is_item(fields, schema)):
        return count, fields
    is_object = isinstance(inner[0], dict)
    if is_object and not (is_list and _is_item(_named(_parts(inner[0])), schema)):
        return _fields_of(inner[0], schema, depth + 1)
    return int(is_list), [inner[0]] if is_object else inner[0]


def _is_item(fields: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    """Return True for an item of the only list of a schema."""
    item = next(iter(schema["properties"].values())).get("items", {})
    return any(name in fields for name in item.get("properties", ()))


def _parts(value: object) -> dict[str, object]:
    """Return the fields of an object or the places of a list, {} for anything else."""
    if isinstance(value, list):
        return {str(place): each for place, each in enumerate(cast("list[object]", value))}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _named(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields by names as schemas write them."""
    return {name.strip().casefold().replace(" ", "_"): each for name, each in fields.items()}


def _decoded(value: object) -> object:
    """Return the list or object that a text encodes (langchain-ai/langchain-aws#1221), else the value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return next(iter(find_values(value, repairing=False)), value)
    return value


@dataclass(frozen=True, slots=True)
class _Form:
    """Brings values into the form of a schema. Bad items are left out, and missing fields are "", [] or None."""

    needed: frozenset[str]

    def read(self, value: object, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the answer; None if its only list has items, but none of them is usable."""
        ((name, inner), *others) = schema["properties"].items()
        if not others:
            given = isinstance(value, dict)
            listed: object = cast("dict[str, object]", value).get(name) if given else value
            if listed is not None and self._fit(listed, inner) is None:
                return None
        return self._fit(value, schema)

    def _fit(self, value: object, schema: Mapping[str, Any]) -> Any:
        """Return the value in the form of the schema, as near as it comes; None if it is no such value."""
        match schema["type"]:
            case "string":
                return _text_of(value)
            case "array":
                return self._items(value, schema["items"])
            case "object":
                return self._object(value, schema["properties"])
            case _:
                return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None

    def _object(self, value: object, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
        fitted: dict[str, Any] = {}
        fields = _fields(value, properties)
        for name, inner in properties.items():
            fitted[name] = self._fit(fields.get(name), inner)
            if fitted[name] is None:
                if name in self.needed:
                    return None
                fitted[name] = self._missing(inner)
        return fitted

    def _missing(self, schema: Mapping[str, Any]) -> Any:
        match schema["type"]:
            case "string":
                return ""
            case "array":
                return []
            case "object":
                return {name: self._missing(inner) for name, inner in schema["properties"].items()}
            case _:
                return None

    def _items(self, value: object, schema: Mapping[str, Any]) -> list[Any] | None:
        """Return the usable items; None if there are only others."""
        if value is None:
            return None
        listed = _listed(_decoded(value), schema)
        items = [each for each in (self._fit(each, schema) for each in listed) if each is not None]
        return items if items or not listed else None


def _fields(value: object, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """Return the fields of an object. A text in its place is its last text, and a list is its first list."""
    if isinstance(value, dict):
        fields = _named(cast("dict[str, object]", value))
        for name, others in _OTHER_NAMES.items():
            if name in properties and name not in fields:
                fields[name] = next((fields[each] for each in others if each in fields), None)
        return fields
    kind = "array" if isinstance(value, list) else "string"
    names = [name for name, inner in properties.items() if inner["type"] == kind]
    return {names[0 if kind == "array" else -1]: value} if names and value is not None else {}


def _listed(value: object, schema: Mapping[str, Any]) -> list[object]:
    """Return the items of a list. A single one may stand in its place, and numbers in one text."""
    if schema["type"] == "integer":
        return [number for each in _flat(value) for number in _numbers(each)]
    if isinstance(value, list):
        listed = cast("list[object]", value)
        return [item for each in listed for item in _unwrapped(each, schema)]
    if isinstance(value, dict) and schema["type"] == "object":
        fields = _named(cast("dict[str, object]", value))
        if not any(name in fields for name in schema["properties"]):
            return _unwrapped(fields, schema) if fields else []
    return [value] if value != "" else []


def _unwrapped(value: object, schema: Mapping[str, Any], depth: int = 0) -> list[object]:
    """Return the items in a list or an object around them; else the value."""
    value = _decoded(value) if schema["type"] == "object" else value
    parts = _parts(value)
    is_item = any(name in schema.get("properties", ()) for name in _named(parts))
    if schema["type"] != "object" or depth > _WRAPPERS or not parts or is_item:
        return [value]
    inner = [item for each in parts.values() for item in _unwrapped(each, schema, depth + 1)]
    return inner if isinstance(value, list) or any(isinstance(each, dict) for each in inner) else [value]


def _flat(value: object) -> list[object]:
    """Return the values in a list and in the lists within it."""
    if isinstance(value, list):
        return [each for inner in cast("list[object]", value) for each in _flat(inner)]
    return [] if value == "" else [value]


def _numbers(value: object) -> list[object]:
    """Return a number, or those in a text such as "#1" and "1-3"."""
    if not isinstance(value, str) or read_number(value) is not None:
        return [value]
    found: list[object] = []
    for first, last in _NUMBERS.findall(value):
        found += range(int(first), min(int(last or first), int(first) + _LONGEST_RANGE) + 1)
    return found


def _text_of(value: object) -> str | None:
    """Return a text, a number in digits, or the texts of a list or an object in one; None for anything else."""
    if isinstance(value, dict):
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return " ".join(filter(None, map(_text_of, cast("list[object]", value))))
    return None if value is None or isinstance(value, bool) else str(value)
