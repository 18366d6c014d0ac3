"""The offline model's reply to a prompt: rules instead of a language model, and open about it."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from simulator.offline_model.answer import ACKNOWLEDGEMENTS, answer, is_question
from simulator.offline_model.recollection import Ask, read_ask
from simulator.offline_model.results import state_results
from simulator.offline_model.samples import sample_for
from simulator.offline_model.tools import PlannedCall, plan_calls, tool_kind
from simulator.offline_model.words import fold

_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|hola|buen[oa]s (?:dias|tardes|noches)"
    r"|привет|здравствуй(?:те)?|добр(?:ый|ое|ои) (?:день|утро|вечер)|/start)(?: there| bot| all| everyone|, \w+| \w+)?\W*"
)
_THANKS = re.compile(r"(?:many )?(?:thanks|thank you|thx|gracias|спасибо)(?: a lot| very much| so much)?\W*")
_FAREWELL = re.compile(r"(?:bye|goodbye|good night|see you|adios|пока|до свидания)(?: later| soon| bot)?\W*")
_WHO_ARE_YOU = re.compile(
    r"\b(?:who|what) are you\b|\bwhat can you do\b|^are you there\W*$|\bare you (?:an? )?(?:ai|bot|human|real|model|person|chatgpt)\b"
    r"|^help\W*$|кто ты|что ты умеешь|quien eres|que puedes hacer"
)
_HINTS = {
    "add": "“add 2 and 3”",
    "upper": "“uppercase hello”",
    "time": "“what time is it in Lisbon?”",
    "search": "“search your memory for Lisbon”",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineReply:
    """Either a text or the tools to call first; `text` is None exactly when there are `tool_calls`."""

    text: str | None = None
    tool_calls: tuple[PlannedCall, ...] = ()


def reply_to(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> OfflineReply:
    """The reply to a valid Chat Completions prompt; the same prompt always gets the same reply.

    Tools are called when the last user message plainly asks for one that is offered; once their results stand
    in the prompt they are stated, so that a run ends after one round.
    """
    stated = state_results(messages)
    if stated is not None:
        return OfflineReply(text=stated)
    ask = read_ask(messages)
    calls = plan_calls(ask.raw, tools)
    if calls:
        return OfflineReply(tool_calls=calls)
    return OfflineReply(text=_courtesy(ask, tools) or sample_for(ask.text) or _converse(ask))


def _courtesy(ask: Ask, tools: Sequence[Mapping[str, Any]]) -> str | None:
    said = fold(re.sub(r"@\w+", "", ask.text)).strip()
    if not said or _GREETING.fullmatch(said):
        return f"Hello! {_introduction(tools)}"
    if _WHO_ARE_YOU.search(said):
        return _introduction(tools)
    if _THANKS.fullmatch(said):
        return "You are welcome."
    return "Goodbye! What you told me stays in this chat's memory." if _FAREWELL.fullmatch(said) else None


def _introduction(tools: Sequence[Mapping[str, Any]]) -> str:
    names = [str(cast("Mapping[str, Any]", tool.get("function") or {}).get("name", "")) for tool in tools]
    hints = [_HINTS[kind] for name in names if (kind := tool_kind(name)) is not None]
    using = f" I can use tools ({', '.join(hints)})." if hints else ""
    return (
        "I am the offline stand-in for a language model: simple rules, no network."
        " Tell me things and ask me about them later (“what did I tell you about Anna?”)."
        f"{using} I can also write samples (“show me markdown”, “show code”, “write 5000 characters”)."
    )


def _converse(ask: Ask) -> str:
    if is_question(ask.text):
        return answer(ask)
    chosen = zlib.crc32(ask.text.encode("utf-8", "surrogatepass")) % len(ACKNOWLEDGEMENTS)
    return ACKNOWLEDGEMENTS[chosen]
