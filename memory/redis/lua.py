"""Lua scripts as typed functions: a stub in Python, checked against the header of its file at import.

A script's file begins with comment lines. Three of them are read here:

    -- USES: fence append_messages      files of local functions that come before this script
    -- KEYS: ready box update           each becomes a local variable of that name, and a field of the table `keys`
    -- ARGV: fence:json now:number ids...

`CONTEXT_KEYS` among the keys stands for all keys of a context's memory, except those of single artifacts.
An argument is a string in Lua, `:number` converts it, `:json` decodes it, and `...` collects the rest into a table.
`fence:held` is a claim: without it the script ends and replies 'fenced'.
The epoch with `:current` ends the script with an error that is Forgotten here, if the context was reset since.
"""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Any, Literal, ParamSpec, get_type_hints

from pydantic import TypeAdapter

from memory.codec import encode_json
from memory.keys import (
    CONTEXT_KEYS,
    ERASED_KEYS,
    PARTITION_KEYS,
    WORK_KEYS,
    ContextRef,
    Key,
    context_key,
    partition_key,
)

P = ParamSpec("P")

_SHARED = "memory.redis.scripts"
_KEY_USE = re.compile(r"(?<![\w.])keys\.(\w+)")
_COMMAND = re.compile(r"redis\.p?call\('([A-Z]+)'")
_CONTAINERS = ("XGROUP",)
"""Commands that are looked up together with a subcommand."""
_PERMISSIONS = """\
if redis.acl_check_cmd then
  for _, command in ipairs({ %s }) do
    if not redis.acl_check_cmd(command, KEYS[1] or "") then
      return redis.error_reply("NOPERM no permissions to run the '" .. command .. "' command")
    end
  end
end"""
"""Comes before each script. A script whose user loses a permission would stop in its middle, and its writes stay.
Redis has this check since 7.0.
"""
_HEADER = re.compile(r"^-- (USES|KEYS|ARGV): *(.*)$", re.MULTILINE)
FORGOTTEN = "FORGOTTEN"
"""Code of the error with which a script refuses the epoch of its caller."""
_CHECK_OF_EPOCH = f"""\
local %s = ARGV[%d]
if (redis.call('GET', epoch) or '0') ~= ARGV[%d] then
  return redis.error_reply('{FORGOTTEN} the context was reset')
end"""
_CHECK_OF_CLAIM = """\
local %s = cjson.decode(ARGV[%d])
if not is_held(ready, %s) then return 'fenced' end"""
_SOME_CONTEXT = "\0"
"""Stands for the id of a context in a template of keys."""
_SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A Lua script with its preludes, and its SHA-1 for EVALSHA."""

    name: str
    text: str
    sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCall:
    """A script with its keys (KEYS) and arguments (ARGV)."""

    script: Script
    keys: Sequence[str]
    arguments: Sequence[str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    uses: tuple[str, ...]
    keys: tuple[str, ...]
    arguments: tuple[str, ...]


def lua_script(package: str) -> Callable[[Callable[P, ScriptCall]], Callable[P, ScriptCall]]:
    """Turn a stub into a function that returns the call of `NAME.lua` in `package`; NAME is the stub's name.

    A stub has no docstring: the first line of the file says what the script does. Each key of the header is a parameter
    of type Key, or a name in the tables of keys.py. Keys from the tables need a ContextRef or a partition as the stub's
    first parameter. All other parameters are the arguments in the header's order. The ContextRef also gives the
    header's first argument if that is `context_id` and no parameter. str, int and float travel as they are, bool as 1
    or 0, None as an empty string. Everything else travels as JSON without its None values. In Lua a number of a JSON
    record is a double: format an id with `%.0f` before a command, since Redis writes the number 100000000 as 1e+8.

    Raises TypeError at import if the stub and the header differ.
    """

    def decorate(stub: Callable[P, ScriptCall]) -> Callable[P, ScriptCall]:
        binding = _Binding(package, stub)

        def call(*args: P.args, **kwargs: P.kwargs) -> ScriptCall:
            return binding.call(*args, **kwargs)

        call.__name__, call.__doc__ = stub.__name__, stub.__doc__
        return call

    return decorate


def named(reply: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a reply by `named.lua`, or of a hash, by their names."""
    return dict(zip(reply[::2], reply[1::2], strict=True))


def numbered(reply: Sequence[Any]) -> dict[int, Any]:
    """Return the values of a reply by their numbers, such as names of people by their ids."""
    return dict(zip(map(int, reply[::2]), reply[1::2], strict=True))


class _Binding:
    """One stub bound to its script: checked once, then it encodes the arguments of each call."""

    def __init__(self, package: str, stub: Callable[..., ScriptCall]) -> None:
        header, self._script = load(package, stub.__name__)
        self._signature = inspect.signature(stub)
        parameters = self._signature.parameters
        self._names = parameters.keys()
        self._defaults = {
            name: each.default for name, each in parameters.items() if each.default is not each.empty
        }
        hints = get_type_hints(stub)
        names = list(parameters)
        self._first = names[0]
        key_parameters = {name for name in names if hints[name] is Key}
        self._keys: list[tuple[Any, Literal["context", "partition"] | None]] = [
            (name, None if name in key_parameters else _kind_of(name)) for name in header.keys
        ]
        self._given_keys = [(at, name) for at, name in enumerate(header.keys) if name in key_parameters]
        self._templates: dict[int, str] = {}
        self._anchor = "" if names[0] in key_parameters else names.pop(0)
        self._arguments = [(name, _encoder(hints[name])) for name in names if name not in key_parameters]
        wanted = [_declared(name, hints[name]) for name, _ in self._arguments]
        written = [_stub_form(argument) for argument in header.arguments]
        is_of_context = hints[self._first] is ContextRef and "context_id" not in parameters
        self._takes_context_id = is_of_context and written[:1] == ["context_id"]
        if self._takes_context_id:
            del written[0]
        if unused := key_parameters - set(header.keys):
            raise TypeError(f"{stub.__name__}.lua does not declare the keys {sorted(unused)}")
        self._has_rest = bool(written) and written[-1].endswith("...")
        if self._has_rest and wanted:
            wanted[-1] = wanted[-1].removesuffix(":json") + "..."
        if wanted != written:
            raise TypeError(f"{stub.__name__}.lua declares the arguments {written}, its stub {wanted}")

    def call(self, *args: Any, **kwargs: Any) -> ScriptCall:
        values = self._bind(args, kwargs)
        arguments = self._arguments[:-1] if self._has_rest else self._arguments
        encoded = [encode(values[name]) for name, encode in arguments]
        if self._has_rest:
            encoded += values[self._arguments[-1][0]]
        anchor: Any = values.get(self._anchor)
        if isinstance(anchor, ContextRef):
            if self._takes_context_id:
                encoded.insert(0, anchor.context_id)
            keys = self._template(anchor.partition).replace(_SOME_CONTEXT, anchor.context_id).split("\n")
        else:
            keys = self._template(anchor).split("\n")
        for at, name in self._given_keys:
            keys[at] = values[name]
        return ScriptCall(script=self._script, keys=keys, arguments=encoded)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the values by parameter. `Signature.bind` takes a third of a call, so it only judges mistakes."""
        values = {**self._defaults, **kwargs}
        if args:
            values[self._first] = args[0]
        if values.keys() != self._names or len(args) > 1:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.arguments
        return values

    def _template(self, partition: int) -> str:
        """Return the keys of a partition's script, one a line, with _SOME_CONTEXT for the context's id."""
        if partition not in self._templates:
            ref = ContextRef(context_id=_SOME_CONTEXT, partition=partition)
            self._templates[partition] = "\n".join(_key(ref, name, kind) for name, kind in self._keys)
        return self._templates[partition]


def _key(ref: ContextRef, name: Any, kind: Literal["context", "partition"] | None) -> str:
    """Return a key from the tables, or an empty place for one that each call gives."""
    match kind:
        case "context":
            return context_key(ref, name)
        case "partition":
            return partition_key(ref.partition, name)
        case None:
            return ""


@cache
def load(package: str, name: str) -> tuple[_Header, Script]:
    """Read `NAME.lua` of `package`, put its preludes before it and local variables for its keys and arguments."""
    text = _read(package, name)
    header = _parse_header(text)
    preludes = [_read(package, prelude) for prelude in _preludes(package, header.uses)]
    if missing := _used_keys([*preludes, text]) - set(header.keys):
        raise TypeError(f"{name}.lua or a file that it uses needs the keys {sorted(missing)} in its header")
    lines = [*preludes, *_locals(header), text]
    whole = "\n".join([_check_of(lines), *lines])
    sha = hashlib.sha1(whole.encode(), usedforsecurity=False).hexdigest()
    return header, Script(name=name, text=whole, sha=sha)


def _check_of(texts: Sequence[str]) -> str:
    """Return the check of permissions for the commands of these files."""
    commands = {name for text in texts for name in _COMMAND.findall(text)}
    return _PERMISSIONS % ", ".join(f"'{name}'" for name in sorted(commands.difference(_CONTAINERS)))


def _used_keys(texts: Sequence[str]) -> set[str]:
    """Return the names of all `keys.NAME` in the code of these files."""
    code = (line for text in texts for line in text.splitlines() if not line.lstrip().startswith("--"))
    return {name for line in code for name in _KEY_USE.findall(line)}


def _read(package: str, name: str) -> str:
    own = resources.files(package) / f"{name}.lua"
    return (own if own.is_file() else resources.files(_SHARED) / f"{name}.lua").read_text("utf-8")


def _parse_header(text: str) -> _Header:
    found = {"USES": "", "KEYS": "", "ARGV": ""}
    for kind, names in _HEADER.findall(text):
        found[kind] += f" {names}"
    own_keys: list[str] = []
    for name in found["KEYS"].split():
        own_keys += ("epoch", *ERASED_KEYS) if name == "CONTEXT_KEYS" else (name,)
    uses, arguments = tuple(found["USES"].split()), tuple(found["ARGV"].split())
    return _Header(uses=uses, keys=tuple(own_keys), arguments=arguments)


def _preludes(package: str, uses: Sequence[str], seen: set[str] | None = None) -> Iterator[str]:
    """Yield the names of all preludes, each once, those that another one uses before it."""
    seen = set() if seen is None else seen
    for name in uses:
        if name not in seen:
            seen.add(name)
            yield from _preludes(package, _parse_header(_read(package, name)).uses, seen)
            yield name


def _locals(header: _Header) -> Iterator[str]:
    for number, name in enumerate(header.keys, 1):
        yield f"local {name} = KEYS[{number}]"
    yield f"local keys = {{ {', '.join(f'{name} = {name}' for name in header.keys)} }}"
    for number, argument in enumerate(header.arguments, 1):
        name, _, kind = argument.partition(":")
        if kind == "json":
            yield f"local {name} = cjson.decode(ARGV[{number}])"
        elif kind == "current":
            yield _CHECK_OF_EPOCH % (name, number, number)
        elif kind == "held":
            yield _CHECK_OF_CLAIM % (name, number, name)
        elif kind == "number":
            yield f"local {name} = tonumber(ARGV[{number}])"
        elif name.endswith("..."):
            rest = name.removesuffix("...")
            yield f"local {rest} = {{}} for i = {number}, #ARGV do {rest}[#{rest} + 1] = ARGV[i] end"
        else:
            yield f"local {name} = ARGV[{number}]"


def _kind_of(name: str) -> Literal["context", "partition"]:
    if name in PARTITION_KEYS:
        return "partition"
    if name in CONTEXT_KEYS or name in WORK_KEYS:
        return "context"
    raise TypeError(
        f"memory/keys.py has no key {name} of a context or partition, and no parameter is this key"
    )


def _encoder(hint: Any) -> Callable[[Any], str | int | float]:
    if _is_scalar(hint):
        return _or_empty
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    return partial(encode_json, adapter, exclude_none=True)


def _or_empty(value: str | float | None) -> str | int | float:
    return "" if value is None else int(value) if isinstance(value, bool) else value


def _stub_form(argument: str) -> str:
    """Return an argument of a header as `_declared` returns that of a stub."""
    return argument.replace(":held", ":json").removesuffix(":number").removesuffix(":current")


def _declared(name: str, hint: Any) -> str:
    return name if _is_scalar(hint) else f"{name}:json"


def _is_scalar(hint: Any) -> bool:
    """Return True for str, int, float, bool, None, and unions and Literals of them."""
    options = getattr(hint, "__args__", None)
    if options is None:
        return hint in _SCALARS or getattr(hint, "__supertype__", None) in _SCALARS
    if getattr(hint, "__origin__", None) in (list, tuple, dict) or "collections.abc" in str(hint):
        return False
    return all(option in _SCALARS or isinstance(option, _SCALARS) for option in options)
