"""JSON as weak models write it: arguments of calls, answers between prose, calls written as text (pure).

Valid JSON is read as it is. Anything else is repaired, but an end that is missing is never made up.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NoReturn, SupportsIndex, cast

import json_repair

from bot.errors import ToolFailed

LONGEST = 256 * 1024
"""Characters of arguments and of answers that are read."""

_DEEPEST = 64
_LONGEST_REPAIR = 32 * 1024
_READS = 100_000
"""Characters that the repair of one text may look at: about a tenth of a second."""
_STARTS = 500
"""Places at which a value may begin. Prose and thoughts have brackets too."""
_LOST_READS = 4 * LONGEST
"""Characters that may be read of values without an end, before the search for values ends."""
_ENCODED = 2
"""Times that a text may be encoded too often (vllm-project/vllm#54964)."""
_SHOWN = 80

_CUT = (
    "The arguments were cut off before their end, so nothing was done. Call the tool again with complete JSON; "
    "if they are long, with shorter arguments."
)

_BLANK = frozenset(["", "null", "None", "undefined", "[]", '""'])
"""Texts that stand for no arguments. PHP writes an empty object as a list."""
_SIGN = re.compile(r"""\\.|["'{}\[\]]""", re.DOTALL)
_AFTER_TEXT = re.compile(r"\s*(?:[,:}\])]|//|/\*|$)")
_BEFORE_TEXT = "{[,:("
_GUESSED = re.compile(r":\s*(?:[,}\]]|-?(?:NaN|Infinity)\b|undefined\b|\.\.\.)")
"""Values that a repair would make up, and numbers that JSON does not have."""
_COMMENT = re.compile(r"/\*(?:.*?\*/|(?P<open>.*))|(?<=[\s,\[{])(?://|#)[^\n]*", re.DOTALL)
_OPENS_TEXT = "\"'\u201c\u2018\u201e\u00ab:,[{/"
_COLON = re.compile("[\"'\u201c\u201d\u2019\u00bb]?:")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_FRACTION = re.compile(r"\d\.\d+")


def parse_object(text: str, *, is_cut: bool = False) -> dict[str, Any]:
    """Return the one JSON object in the arguments of a call, {} for blank ones. Raises ToolFailed for the model.

    The object may be encoded twice, repeated, behind `{}` (openai/openai-agents-js#712), in a list of one, in a
    fence or in prose. Two different objects are an error. So are arguments without an end, and with `is_cut`
    (the reply has reached its limit) all that are not valid JSON: half a call may do harm
    (cline/cline#13001, Hmbown/Codewhale#5986).
    """
    if len(text) > LONGEST:
        raise ToolFailed(f"The arguments are too long: {len(text)} characters, at most {LONGEST}.")
    try:
        value: object = cast("dict[str, Any]", {}) if text.strip() in _BLANK else decode(text)
    except (ValueError, RecursionError):
        value = text
    if is_cut and (not value or isinstance(value, str)):
        raise ToolFailed(_CUT)
    return _one_object(_arguments_in(value) if isinstance(value, str) else [value], text)


def shorten(text: str) -> str:
    """Return the beginning of a text, for an error message."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def find_values(text: str, *, repairing: bool) -> Iterator[object]:
    """Yield the objects and lists of an answer in their order: the valid ones, or those that a repair can read."""
    if len(text) > (_LONGEST_REPAIR if repairing else LONGEST):
        return
    reads, at = _Reads(), _next_start(text, 0)
    if not repairing:
        with suppress(ValueError, RecursionError):
            # A text in which the JSON is encoded once more.
            if isinstance(value := _DECODER.decode(text), str):
                text, at = value, _next_start(value, 0)
    lost = 0
    for _ in range(_STARTS):
        if at < 0 or lost > _LOST_READS:
            return
        try:
            if repairing and (end := _end_of(text, at, reads)):
                yield _repair(text[at:end], reads)
            else:
                value, end = _DECODER.raw_decode(text, at)
                yield value
        except (_SpentError, RecursionError):
            return
        except ValueError as error:
            end = at + 1
            lost += _characters_read(error, at)
        at = _next_start(text, end)


def find_whole_items(text: str) -> Iterator[object]:
    """Yield the objects in the first list or object that has no end: what a model wrote before it was cut off."""
    at = _next_start(text[:LONGEST], 0)
    is_open = False
    lost = 0
    for _ in range(_STARTS):
        if at < 0 or lost > _LOST_READS:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
            if is_open:
                yield value
        except RecursionError:
            return
        except ValueError as error:
            end = at + 1
            lost += _characters_read(error, at)
            if not is_open:
                whole = _end_of(text, at)
                is_open, end = whole is None, whole or end
        at = _next_start(text, end)


def _characters_read(error: ValueError, at: int) -> int:
    return error.pos - at if isinstance(error, json.JSONDecodeError) else 0


def _arguments_in(text: str) -> Iterator[object]:
    """Yield the objects of arguments that are not valid JSON as a whole. Raises ToolFailed."""
    reads, at = _Reads(), _next_start(text, 0)
    if at >= 0 and _end_of(text, at) is None:
        raise ToolFailed(_CUT)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            whole = _end_of(text, at)
            if whole is None:
                raise ToolFailed(_CUT) from None
            value, end = _repaired_argument(text, text[at:whole], reads), whole
        yield value
        at = text.find("{", end)


def _repaired_argument(text: str, part: str, reads: "_Reads") -> object:
    """Return the object in a part of the arguments. Raises ToolFailed if a repair would lose or make up anything."""
    with suppress(ValueError, RecursionError):
        # Encoded once too often, without its quotation marks.
        if not isinstance(value := decode(f'"{part}"'), str):
            return value
    try:
        return _faithful_repair(part, reads)
    except (ValueError, RecursionError) as error:
        raise _not_json(text) from error


def _faithful_repair(part: str, reads: "_Reads") -> object:
    """Return the value of a part. Raises ValueError if a repair would lose or make up anything."""
    if _GUESSED.search(part):
        raise ValueError("a repair would make up a value")
    value = _repair(part, reads)
    uncommented = _COMMENT.sub(lambda each: each["open"] or " ", part)
    if _letters(json.dumps(value)) not in (_letters(part), _letters(uncommented)):
        raise ValueError("a repair would lose a part")
    if not _is_written(value, _squeezed(_ESCAPE.sub(_unescape, part))):
        raise ValueError("a repair would take something else for a text or a name")
    return value


def _is_written(value: object, source: str) -> bool:
    """Return True if the texts are behind marks that begin one, and the names are before colons, in this order."""
    at = 0
    for text, is_name in _texts(value):
        at = -1 if is_name and '"' in text else source.find(text, at)
        while at > 0 and not (
            source[at - 1] in _OPENS_TEXT and (not is_name or _COLON.match(source, at + len(text)))
        ):
            at = source.find(text, at + 1)
        if at < 0:
            return False
        at += len(text)
    return True


def _texts(value: object) -> Iterator[tuple[str, bool]]:
    """Yield the texts without blanks, in their order; True with a name."""
    if isinstance(value, str):
        yield _squeezed(value), False
    for name in cast("dict[str, object]", value) if isinstance(value, dict) else ():
        yield _squeezed(name), True
        yield from _texts(cast("dict[str, object]", value)[name])
    for each in cast("list[object]", value) if isinstance(value, list) else ():
        yield from _texts(each)


def _squeezed(text: str) -> str:
    """Return the text without blanks, backslashes and what may be a pair of escapes."""
    return "".join(
        each
        for each in text
        if each not in "\\\0\b"
        and not each.isspace()
        and not "\ud800" <= each <= "\udfff"
        and each < "\U00010000"
    )


def _one_object(values: Iterable[object], text: str) -> dict[str, Any]:
    found: dict[str, Any] | None = None
    has_others = False
    for value in values:
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in listed):
            has_others = True
            continue
        for each in cast("list[dict[str, Any]]", listed):
            if found and each and each != found:
                raise ToolFailed("The arguments hold different JSON objects. Make one call for each of them.")
            found = each or found or {}
    if found is None:
        if has_others or _is_value(text):
            raise ToolFailed(f"The arguments must be one JSON object with named values, not {shorten(text)}")
        raise _not_json(text)
    if _is_deep(found):
        raise _not_json(text)
    return found


def _is_value(text: str) -> bool:
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _not_json(text: str) -> ToolFailed:
    return ToolFailed(f"The arguments are not valid JSON: {shorten(text)}")


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


# Calls written as text ------------------------------------------------------------------------------------
def read_calls(text: str) -> list[tuple[str, str]]:
    """Return the names and arguments of the tool calls that a model wrote as text; [] for any other text.

    It knows the forms of Hermes and Qwen (`<tool_call>{…}`), Qwen Coder and Anthropic (`<function=x><parameter=y>`),
    GLM (`<arg_key>`), Mistral (`[TOOL_CALLS]`), DeepSeek, Llama (`<|python_tag|>`, `<function=x>{…}`), and one JSON
    block alone. Arguments are as the model wrote them, also cut off: `parse_object` tells. The caller knows the tools.
    """
    if len(text) > LONGEST:
        return []
    text = _GEMMAS_QUOTES.sub('"', text)
    if calls := [
        (match[1], text[match.end() : _end_at(text, match.end())]) for match in _TOKENS.finditer(text)
    ]:
        return calls[:_MOST_CALLS]
    at = 0
    for _ in range(_MOST_CALLS):
        opening = _OPENING.search(text, at)
        if opening is None:
            break
        at = opening.end()
        while len(calls) < _MOST_CALLS and (block := _read_block(text, at)):
            calls += block[0]
            at = block[1]
        at += opening[0] == ""
    return calls if at else _read_bare_calls(text)


def _read_bare_calls(text: str) -> list[tuple[str, str]]:
    """Return the calls of a text that is nothing but JSON, or that ends with JSON in a fence."""
    parts = text.strip().split("```")
    body = parts[-2].removeprefix("json").strip() if len(parts) > 2 and not parts[-1] else text.strip()
    calls: list[tuple[str, str]] = []
    at = 0
    while at < len(body):
        block = _read_json_block(body, at, is_marked=False)
        if block is None or len(calls) > _MOST_CALLS:
            return []
        calls += block[0]
        at = block[1]
    return calls


_TOKENS = re.compile(
    "(?:<\\|tool_call_begin\\|>"
    "|<\uff5ctool[▁_]call[▁_]begin\uff5c>(?:function<\uff5ctool[▁_]sep\uff5c>)?|(?:commentary|assistant) to=)"
    r"\s*(?:functions\.)?([\w-]{1,64})(?::\d+)?\s*"
    r"(?:<\|channel\|>commentary\s*)?"
    "(?:<\\|tool_call_argument_begin\\|>|<\uff5ctool[▁_]sep\uff5c>|(?:(?:<\\|constrain\\|>)?\\w+)?<\\|message\\|>)?"
    r"\s*(?:```(?:json)?)?\s*(?=\{)"
)
"""Calls between tokens of Kimi, DeepSeek and gpt-oss."""
_MOST_CALLS = 64
_GEMMAS_QUOTES = re.compile(r"<\|\"\|>|<escape>")
_OPENING = re.compile(
    r"<\|?(?:start_)?(?:tool_?calls?|tools|function_calls?)(?:\s[^<>]{0,60})?\|?>|\[TOOL_CALLS\]"
    r"|<\|(?:python_tag|plugin)\|>|<\uff5ctool▁sep\uff5c>|(?=<function=|<invoke name=)",
    re.IGNORECASE,
)
_BEFORE_JSON = re.compile(r"(?:[\s;,]|```(?:json)?)*")
_NAMED_JSON = re.compile(
    r"[\s;,]*+(?:call:)?([\w.-]++)\s*+(?:\[CALL_ID\]\w*+\s*+)?(?:\[ARGS\])?\s*+(?:```(?:json)?)?\s*+(?=\{)"
)
_FUNCTION = re.compile(
    r"""\s*<(?:function=|invoke\ name=)["']?([\w.-]+)["']?\s*(?:>|(?=\{))(.*?)(</function>|</invoke>|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_PARAMETER = re.compile(
    r"""<parameter(?:=|\ name=)["']?([^<>"']{1,200})["']?>(.*?)(?:</parameter>|(?=<parameter)|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_GLM_NAME = re.compile(r"\s*+([\w.-]++)\s*+(?=<arg_key>|</(?:arg_value|tool_call)>)")
_GLM_PAIR = re.compile(r"\s*<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>\s*", re.DOTALL)
_NAME = re.compile(r"""["']?name["']?\s*:\s*["']([\w.-]+)""")

_Block = tuple[list[tuple[str, str]], int]


def _read_block(text: str, at: int) -> _Block | None:
    """Return the calls that begin at `at`, and their end; None without one."""
    if match := _FUNCTION.match(text, at):
        name, body, closing = match.groups()
        return [(name, _read_parameters(body) if closing else body.strip() or "{")], match.end()
    if match := _GLM_NAME.match(text, at):
        pairs, end = _read_pairs(text, match.end())
        arguments = (
            json.dumps(pairs, ensure_ascii=False) if text.startswith("</", end) else text[match.end() :]
        )
        return [(match[1], arguments)], end
    if match := _NAMED_JSON.match(text, at):
        end = _end_at(text, match.end())
        return [(match[1], text[match.end() : end])], end or len(text)
    return _read_json_block(text, at, is_marked=True)


def _read_parameters(body: str) -> str:
    if not body.strip() or "<parameter" not in body:
        return body.strip() or "{}"
    # The template puts each value on lines of its own.
    pairs = {
        key.strip(): value.removeprefix("\n").removesuffix("\n") for key, value in _PARAMETER.findall(body)
    }
    return json.dumps(pairs, ensure_ascii=False) if pairs else body


def _read_pairs(text: str, at: int) -> tuple[dict[str, str], int]:
    pairs: dict[str, str] = {}
    while match := _GLM_PAIR.match(text, at):
        pairs[match[1].strip()] = match[2]
        at = match.end()
    return pairs, at


def _read_json_block(text: str, at: int, *, is_marked: bool) -> _Block | None:
    start = cast("re.Match[str]", _BEFORE_JSON.match(text, at)).end()
    if text[start : start + 1] not in ("{", "["):
        return None
    end = _end_at(text, start)
    if end is None:
        name = _NAME.search(text, start) if is_marked else None
        return ([(name[1], text[start:])] if name else []), len(text)
    try:
        value = _read_part(text[start:end])
    except (ValueError, RecursionError):
        name = _NAME.search(text, start, end) if is_marked else None
        return ([(name[1], text[start:end])], end) if name else None
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    calls = [_call_of(each, is_marked=is_marked) for each in listed]
    return ([each for each in calls if each], end) if calls and all(calls) else None


def _end_at(text: str, at: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return _end_of(text, at)


def _read_part(part: str) -> object:
    try:
        return decode(part)
    except (ValueError, RecursionError):
        return _faithful_repair(part, _Reads())


def _call_of(value: object, *, is_marked: bool) -> tuple[str, str] | None:
    """Return the call in an object. One without a mark around it needs a name and arguments."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    inner = fields.get("function", fields.get("tool_call"))
    if isinstance(inner, dict):
        return _call_of(cast("object", inner), is_marked=is_marked)
    name = next((fields[key] for key in _NAMES if isinstance(fields.get(key), str)), "").strip()
    found = [fields[key] for key in _ARGUMENTS if key in fields]
    if not name or not (found or is_marked):
        return None
    arguments: object = found[0] if found else {}
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


_NAMES = ("name", "function", "tool", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")


# Reading --------------------------------------------------------------------------------------------------
def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant, parse_float=_read_float)
"""Takes bare line breaks within texts (MoonshotAI/kimi-cli#1460), but no NaN."""


def decode(text: str) -> object:
    """Return the value of a JSON text, also of one that is encoded up to three times. Raises ValueError."""
    value: object = _DECODER.decode(text)
    for _ in range(_ENCODED):
        if not isinstance(value, str):
            break
        try:
            value = _DECODER.decode(value)
        except ValueError:
            break
    return value


def _next_start(text: str, at: int) -> int:
    match = _START.search(text, at)
    return match.start() if match else -1


_START = re.compile(r"[{\[]")


def _end_of(text: str, at: int, reads: "_Reads | None" = None) -> int | None:
    """Return the end of the object or list that begins at `at`, None if it has no end. Raises _SpentError.

    A quotation mark opens a text only where JSON has a text, and closes it only before a comma, colon or bracket.
    So most marks within a text may lack their backslash.
    """
    depth, quote = 0, ""
    for sign in _SIGN.finditer(text, at):
        mark = sign[0]
        if quote:
            if mark == quote and _AFTER_TEXT.match(text, sign.end()):
                quote = ""
        elif mark in "\"'":
            before = text[max(0, sign.start() - _SHOWN) : sign.start()].rstrip()[-1:]
            quote = mark if before and before in _BEFORE_TEXT else ""
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                if reads:
                    reads.spend((sign.end() - at) // 4)
                return sign.end()
    if reads:
        reads.spend((len(text) - at) // 4)
    return None


def _repair(text: str, reads: "_Reads") -> object:
    """Return the value that json-repair reads. Raises ValueError, also if that takes too long."""
    if len(text) > _LONGEST_REPAIR:
        raise ValueError("too long for a repair")
    try:
        reads.spend(100)
        value = json_repair.loads(_MeteredText.of(text, reads), skip_json_loads=True)
    except (_SpentError, LookupError, TypeError, AttributeError) as error:
        raise ValueError("it cannot be repaired") from error
    # Its texts may be metered ones.
    return json.loads(json.dumps(value, allow_nan=False))


class _SpentError(Exception):
    """A repair has looked at too many characters."""


class _Reads:
    """The characters that repairs may still look at."""

    def __init__(self) -> None:
        self._left = _READS

    def spend(self, count: int) -> None:
        """Take `count` characters off. Raises _SpentError."""
        self._left -= count
        if self._left < 0:
            raise _SpentError


class _MeteredText(str):
    """A text that counts the characters that are read. It ends a repair that would take minutes, or never end.

    json-repair takes quadratic time for some texts (mangiucugna/json_repair#203): 20 s for 32 KB of `{"`.
    """

    reads: _Reads

    @classmethod
    def of(cls, text: str, reads: _Reads) -> "_MeteredText":
        """Return the text with a budget."""
        metered = cls(text)
        metered.reads = reads
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.reads.spend(1 + len(part) // 16)
        return _MeteredText.of(part, self.reads) if isinstance(key, slice) else part

    def __add__(self, other: str) -> str:
        self.reads.spend(1 + (len(self) + len(other)) // 16)
        return _MeteredText.of(super().__add__(other), self.reads)


def _letters(text: str) -> str:
    """Return the letters and digits of a JSON text, equal for two ways to write the same values."""
    plain = _ESCAPE.sub(_unescape, text).casefold().replace("none", "null")
    plain = _FRACTION.sub(lambda number: number[0].rstrip("0"), plain)
    return "".join(each for each in plain if each.isalnum() and each < "\U00010000")


def _unescape(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else "" if character in "nrtbf" else character
