"""The offline model's reply to a prompt: rules in place of a language model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.offline_model.answer import REBUILDING, answer, best_sentence, corrected, courtesy_of, says_own
from simulator.offline_model.corrections import opens_correction, says_value, topic_of
from simulator.offline_model.prompt import Prompt, artifact_in, is_question, read_line, read_prompt
from simulator.offline_model.reminders import is_soon, moved_reminder, moved_request, read_reminder
from simulator.offline_model.tools import (
    LACKS_ZONE,
    REMINDER,
    PlannedCall,
    excerpts_of,
    plan_call,
    results_of,
    tell_result,
)
from simulator.offline_model.words import Language, folded_words, language_of, languages

_CITY = re.compile(
    r"(?:.*\b(?:in|en|em|в|در)\s+)?(?P<city>[^.,!?]{2,60}?(?:, [^\W\d_]+(?=\W*$))?)(?: هستم)?(?:,[^?]*)?[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_CITY_WORDS, _NEAR = 3, 2
"""The most words of a city, and of what may stand before it if it is not "I"."""
_NO_ZONE = re.compile(
    r"There is no time zone|may mean several zones\. Ask the person which: (?P<zones>[^.]+)"
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LONGEST = 50_000
"""Characters of a sample."""
_MOST_QUESTIONS = 10
"""The newest questions, which are answered: each of them reads all statements."""
_TRIES = 4
_SHORT = 4
"""Words of an answer to "how are you?"."""
_ZONE_QUESTIONS = ("which_city", "no_city", "which_zone")
_LOOKUPS = ("search_memory", "read_artifact")
"""Tools that an unanswered question calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineReply:
    """Either a text or a tool call; exactly one of the two is set."""

    text: str | None = None
    call: PlannedCall | None = None


def reply_to(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> OfflineReply:
    """Return the reply to a Chat Completions prompt; equal prompts get equal replies.

    A tool is called if the newest message plainly asks for it. Its result is told in the next reply. A reminder that
    counts from today asks for the time first.
    """
    prompt, tried = _without_changes(read_prompt(messages)), results_of(messages)
    results = _settled(tried)
    if results and LACKS_ZONE in results[-1][1] and (zone := _told_zone(prompt, tried)):
        return _call("set_reminder", **{**results[-1][0].arguments, "zone": zone})
    said = "\n".join(each.text for each in prompt.statements[-6:] if each.source == "person")
    usual = language_of(said) if said else None
    waiting = _waiting(prompt)
    language = language_of("\n".join(waiting or prompt.lines or said.splitlines()[-1:]), usual)
    names = {str(tool["function"]["name"]) for tool in tools}
    sayings = _sayings(prompt, language, waiting)
    found = [each for each in results if not _NO_ZONE.search(each[1])]
    next_step = _reminder(sayings, results, names) if found == results else None
    if change := _change(prompt, language, results, names):
        return change
    is_set = any(call.name == "set_reminder" for call, _ in found)
    if next_step and (next_step.call or not is_set):
        return next_step
    if found != results and sayings and sayings[0][1]:
        if text := _without_zone(prompt, language, sayings[0][1], results):
            return OfflineReply(text=text)
        results = found
    told = [each for each in results if each[0].name not in _LOOKUPS or not _asked(prompt, usual)]
    if told:
        told = [each for each in told if each[0].name == "set_reminder" or not is_set]
        asked = [next_step.text] if next_step and next_step.text else []
        sentences = [*(tell_result(call, text, language) for call, text in told), *asked]
        return OfflineReply(text="\n\n".join(dict.fromkeys(sentences)))
    for line in reversed(prompt.lines):
        if call := plan_call(line, tools):
            return OfflineReply(call=call)
    if text := _sample("\n".join(prompt.lines)):
        return OfflineReply(text=text)
    return _answers(prompt, names=names, results=results, usual=usual)


def _without_changes(prompt: Prompt) -> Prompt:
    """Return the prompt without the lines that have set or changed a reminder and tell nothing of their writer."""
    replies = (*_ZONE_QUESTIONS, "which_time", "set", "cancelled", "cancelling")
    turns = [each for each in prompt.turns if _is_sentence(each.reply.partition("\n")[0], *replies)]
    spent = {line for each in turns for line in each.lines if not says_own(line, language_of(line))}
    return replace(prompt, statements=tuple(each for each in prompt.statements if each.text not in spent))


def _settled(results: Sequence[tuple[PlannedCall, str]]) -> list[tuple[PlannedCall, str]]:
    """Return the results, with that of a try with a told city in place of the one that lacked the zone."""
    settled: list[tuple[PlannedCall, str]] = []
    for call, text in results:
        is_retry = bool(settled) and LACKS_ZONE in settled[-1][1] and "zone" in call.arguments
        if not is_retry or not _NO_ZONE.search(text):
            settled[len(settled) - is_retry :] = [(call, text)]
    return settled


def _told_zone(prompt: Prompt, results: Sequence[tuple[PlannedCall, str]]) -> str:
    """Return the city where the speaker has said to live, or its only zone, if we have not tried that; else ""."""
    tried, zones = {call.arguments.get("zone") for call, _ in results}, _NO_ZONE.search(results[-1][1])
    own = [each.text for each in prompt.statements if each.speaker == prompt.speaker]
    towns = [found["town"] for each in own if (found := language_of(each).search("town", each))]
    told = [*towns[-1:], zones["zones"] or "" if zones and towns else ""]
    return next((each for each in told if each and each not in tried and ", " not in each), "")


def _without_zone(
    prompt: Prompt, language: Language, city: str, results: Sequence[tuple[PlannedCall, str]]
) -> str:
    """Return what to say of a city without a time zone, "" if the line may be a statement."""
    zones, line = _NO_ZONE.search("\n".join(text for _, text in results)), " ".join(prompt.lines)
    if zones and zones["zones"]:
        return language.text("which_zone", zones=zones["zones"])
    is_city = len(line.split()) <= _NEAR and _is_sentence(prompt.turns[-1].reply, *_ZONE_QUESTIONS)
    return language.text("no_city") if is_city or not line.startswith(city) else ""


def _answers(
    prompt: Prompt, *, names: set[str], results: Sequence[tuple[PlannedCall, str]], usual: Language | None
) -> OfflineReply:
    """Answer the newest questions. For one without an answer look into the document, then the memory."""
    answers: list[str] = []
    lines = [line for call, text in results if call.name == "search_memory" for line in text.splitlines()]
    found = tuple(each for line in lines for each in read_line(line))
    artifact = prompt.artifact or artifact_in("\n".join(lines))
    prompt = replace(prompt, statements=(*found, *prompt.statements), artifact=artifact)
    called = [each.name for each, _ in results]
    for before, question in _asked(prompt, usual):
        prompt = replace(prompt, before=before)
        language, is_asked = language_of(question, usual), bool(prompt.questions)
        unknown, forgetting = language.text("unknown"), language.text("forgetting")
        text = (is_asked and _courtesy(question, language)) or answer(question, prompt, language)
        if text == unknown and prompt.attached in ("unseen", "unheard"):
            text = language.text(prompt.attached)
        elif text == unknown and language.search("nudge", question):
            text = language.text("hint")
        elif text == unknown and (call := _look_up(question, prompt, language, names=names, called=called)):
            return call
        elif text == unknown:
            text = best_sentence(question, excerpts_of(results), language)
            text = text or answer(question, prompt, language, hits=found)
        if not is_asked:
            is_found = not text.startswith((unknown, language.text("unsure"), REBUILDING))
            text = f"{text}\n\n{forgetting}" if is_found else forgetting
        answers.append(text)
    return OfflineReply(text="\n\n".join(dict.fromkeys(answers)) or _acknowledgement(prompt, usual))


def _asked(prompt: Prompt, usual: Language | None) -> list[tuple[str, str]]:
    """Return the questions, each with the line before it; without any the lines that ask to erase something."""
    erased = [each for each in prompt.lines if courtesy_of(each, language_of(each, usual)) == "forgetting"]
    asked = [*(prompt.questions or erased)]
    last = next(iter(prompt.turns[-1].lines[-1:]), "") if prompt.turns else ""
    return [*zip([last, *asked], asked, strict=False)][-_MOST_QUESTIONS:]


def _acknowledgement(prompt: Prompt, usual: Language | None) -> str:
    """Return the reply to a statement or to small talk: that it is noted, and that a request is not done."""
    newest = prompt.lines[-1] if prompt.lines else ""
    language = language_of(newest, usual)
    newest, unkept = language.spelled(newest), "unkept" if prompt.is_incognito else ""
    if prompt.has_no_words or prompt.attached == "reading":
        return language.text(prompt.attached or unkept or "noted")
    if text := _courtesy(newest, language):
        return text
    is_answer = bool(prompt.turns) and _is_sentence(prompt.turns[-1].reply, "fine_too")
    if not folded_words(newest) or (is_answer and len(newest.split()) <= _SHORT):
        return language.text("nod")
    unread = [language.text(prompt.attached)] if prompt.attached in ("unseen", "unheard") else []
    standing = language.search("standing", newest)
    key = "undone" if language.search("deed", newest) else "hint" if is_soon(newest, language) else "noted"
    key = ("wished" if standing["wish"] else "noted") if standing else key
    key = "hint" if language.search("nudge", newest) else key
    noted = "" if unkept else corrected(newest, prompt, language)
    return "\n".join([*unread, noted or language.text(unkept or key)])


def _look_up(
    question: str, prompt: Prompt, language: Language, *, names: set[str], called: Sequence[str]
) -> OfflineReply | None:
    """Call the next tool that may know the answer; None if all were called. A document is searched for long words."""
    said = [word for word in re.findall(r"\w{3,}", question) if language.stems(word)]
    words, tries = sorted(said, key=len, reverse=True), called.count("read_artifact")
    if prompt.artifact and words[tries : tries + 1] and tries < _TRIES and "read_artifact" in names:
        start = words[tries][: max(6, len(words[tries]) - 2)]
        return _call("read_artifact", artifact_id=prompt.artifact, search=start)
    if "search_memory" not in {*names} - {*called}:
        return None
    if language.fullmatch("everything", question.strip(" ?¿؟")):  # words that people say of themselves
        return _call("search_memory", query=language.text("alike").replace("|", " "), speaker="me", limit=10)
    return _call("search_memory", query=question) if words else None


def _courtesy(line: str, language: Language) -> str:
    """Return the answer to small talk, to a question about this model, and to an order that it cannot carry out."""
    return language.text(courtesy_of(line, language) if line.strip() else "greeting")


def _sayings(prompt: Prompt, language: Language, waiting: Sequence[str]) -> list[tuple[str, str]]:
    """Return the lines that may ask for a reminder, each with a city or "".

    If reminders wait for a time or a city, the newest message may complete them.
    """
    plain = " ".join(prompt.lines)
    is_new = bool(read_reminder(plain) or _courtesy(plain, language))
    is_new = is_new or any(is_question(line, language) for line in prompt.lines)
    untimed = [line for line in waiting if _lacks_time(line)]
    if not is_new and waiting and (moved := _moved(waiting[-1], plain, language)):
        return [(moved, "")]
    if not is_new and waiting:
        is_answer = _is_sentence(prompt.turns[-1].reply, "which_time")
        is_short = len(plain.split()) <= _CITY_WORDS
        is_time = bool(untimed) and _gives_time(untimed[-1], plain)
        if (is_time and (is_answer or is_short)) or (is_answer and is_short and untimed == waiting):
            return [(f"{untimed[-1]} {plain}", "")]
        if city := _city(plain, language):
            return [(line, city) for line in sorted(waiting, key=_lacks_time)]
    return [(line, "") for line in prompt.lines if read_reminder(line)]


def _waiting(prompt: Prompt) -> list[str]:
    """Return the requests of the speaker for which we have asked for a time or a city, oldest first."""
    waiting: list[str] = []
    for turn in prompt.turns:
        lines = [line for line in turn.lines if turn.speaker == prompt.speaker]
        if waiting and (moved := _moved(waiting[-1], " ".join(lines), language_of(waiting[-1]))):
            waiting[-1] = moved
        untimed = [line for line in waiting if lines and _gives_time(line, lines[0])]
        if untimed:
            waiting.remove(untimed[-1])
            lines = [f"{untimed[-1]} {lines[0]}", *lines]
        wanted = {line: each for line in lines if (each := read_reminder(line))}
        okay = any({*folded_words(line)[:1]} & each.words("okay") for line in lines for each in languages())
        is_delay = any(each.when.startswith("in ") for each in wanted.values())
        if _is_sentence(turn.reply, "which_time", *_ZONE_QUESTIONS):
            waiting += wanted
        elif _is_sentence(turn.reply, "nod", "set") and not (is_delay or okay):  # a delay needs no city
            waiting = [line for line in waiting if _is_sentence(turn.reply, "set") and _lacks_time(line)]
    return waiting


def _moved(waiting: str, line: str, language: Language) -> str:
    """Return the request with the new time that the line gives and says nothing else; else ""."""
    is_other = _lacks_time(waiting) or read_reminder(line) or _topic(line, language)
    return "" if is_other else moved_request(waiting, line)


def _topic(line: str, language: Language) -> frozenset[str]:
    """Return what a change of a reminder is about, without its time and the words of changes."""
    return topic_of(line, language) - language.stems(f"{language.text('alarm')} {language.text('day')}")


def _lacks_time(line: str) -> bool:
    wanted = read_reminder(line)
    return wanted is not None and wanted.lacks == "time"


def _gives_time(waiting: str, line: str) -> bool:
    """Return True if the request waits for a time, and the line has one and is no request of its own."""
    return read_reminder(line) is None and _lacks_time(waiting) and not _lacks_time(f"{waiting} {line}")


def _city(line: str, language: Language) -> str:
    """Return the city in which the speaker is, as "I'm in Lisbon" or "Lisbon" tells it; "" if it tells none."""
    found = _CITY.fullmatch(line)
    before = folded_words(line[: found.start("city")]) if found else []
    is_own = len(before) <= _NEAR or (before[0] in language.words("i") and len(before) <= 2 * _NEAR)
    city = found["city"].strip() if found and is_own else ""
    return city if len(city.split()) <= _CITY_WORDS else ""


def _is_sentence(reply: str, *keys: str) -> bool:
    """Return True if the reply is one of these sentences of ours, in any language and with any values."""
    patterns = (re.sub(r"\\{\w+\\}", ".*", re.escape(each.text(key))) for each in languages() for key in keys)
    return re.fullmatch("|".join(patterns), reply, re.DOTALL) is not None


def _reminder(
    sayings: Sequence[tuple[str, str]], results: Sequence[tuple[PlannedCall, str]], names: set[str]
) -> OfflineReply | None:
    """Return the next step of a reminder; None if nobody asks for one, or if all are set."""
    called = [call.name for call, _ in results]
    left = sayings[called.count("set_reminder") :]
    if not left or "set_reminder" not in names or {*called} - {"set_reminder", "current_time"}:
        return None
    line, city = left[0]
    now = next((result for call, result in results if call.name == "current_time"), "")
    wanted = read_reminder(line, now=now)
    if wanted is None:
        return None
    if city and now and not _DAY.search(now):
        return OfflineReply(text=wanted.language.text("no_city"))
    if wanted.lacks == "now" and "current_time" in names and not now:
        return _call("current_time", timezone=city)
    if wanted.lacks:
        return OfflineReply(text=wanted.language.text("which_time"))
    text = wanted.text or "⏰"
    return _call("set_reminder", when=wanted.when, text=text, repeats=wanted.repeats, zone=city)


def _call(name: str, **arguments: object) -> OfflineReply:
    """Call a tool with these arguments, without the empty ones."""
    given = {each: value for each, value in arguments.items() if value}
    return OfflineReply(call=PlannedCall(name=name, arguments=given))


def _change(
    prompt: Prompt, language: Language, results: Sequence[tuple[PlannedCall, str]], names: set[str]
) -> OfflineReply | None:
    """Return the next step of a change of a reminder, which must be the only one with a word of the line.

    Without such a word it is the one that was just set. The new one is set before the old one is cancelled. None if
    nobody asks for that.
    """
    line = " ".join(prompt.lines).strip(" ,.!?¿¡؟")
    asked = language.fullmatch("cancel", line)
    last = prompt.turns[-1].reply if prompt.turns else ""
    topic = _topic(line, language)
    is_fitting = not topic or bool(topic & language.stems(last))  # else it corrects something else
    is_change = opens_correction(line, language) or (not topic and says_value(line, language))
    is_corrected = _is_sentence(last, "set") and is_fitting and is_change
    if not (asked or is_corrected) or "cancel_reminder" not in names:
        return None
    done = {call.name: (call, text) for call, text in results}
    if "list_reminders" not in done:
        return _call("list_reminders")
    rest = line[max(0, *asked.span("drop"), *asked.span("move")) :] if asked else line
    is_moved = asked is None or bool(asked["move"])
    chosen = _chosen(rest, done["list_reminders"][1], language, last=last, is_moved=is_moved)
    listed = tell_result(*done["list_reminders"], language)
    has_none = listed == language.text("no_reminders")
    elsewhere = OfflineReply(text=listed if has_none else f"{language.text('cancelling')}\n\n{listed}")
    if not chosen or (is_moved and chosen[0][0]["task"]):
        return elsewhere
    old, text = chosen[0]
    if is_moved and "set_reminder" not in done:
        _, now = done.get("current_time", ("", ""))
        times = {each: old[each] or "" for each in ("date", "time", "rule")}
        wanted = moved_reminder(rest, language, now, **times)
        if wanted and wanted.lacks:
            return _call("current_time")
        new = wanted and _call("set_reminder", when=wanted.when, text=text, repeats=wanted.repeats)
        return new or elsewhere
    if is_moved and not done["set_reminder"][1].startswith("Set "):
        return elsewhere
    if "cancel_reminder" not in done:
        return _call("cancel_reminder", ids=[each["id"] for each, _ in chosen])
    if is_moved:
        return OfflineReply(text=tell_result(*done["set_reminder"], language))
    if not done["cancel_reminder"][1].startswith(f"Cancelled {len(chosen)} "):
        return elsewhere
    cancelled = "; ".join(dict.fromkeys(text for _, text in chosen))
    return OfflineReply(text=language.text("cancelled", text=cancelled))


def _chosen(
    rest: str, result: str, language: Language, *, last: str, is_moved: bool
) -> list[tuple[re.Match[str], str]]:
    """Return the reminder that shares the most words with this text, and its duplicates; all if the text says so.

    If the text names nothing, it is the one that `last` has set, or the only one. None if several differ.
    """
    listed = [(each, str(json.loads(each["text"]))) for each in REMINDER.finditer(result)]
    if not is_moved and language.search("all", rest):
        return listed
    topic = _topic(rest, language)
    counts = [len(topic & language.stems(text)) for _, text in listed]
    chosen = [each for each, count in zip(listed, counts, strict=True) if count and count == max(counts)]
    if not topic:
        chosen = [each for each in listed if not _is_sentence(last, "set") or last.endswith(each[1])]
    return chosen if len({(each["at"], text) for each, text in chosen}) == 1 else []


def _sample(text: str) -> str | None:
    """Return the sample or the echo that `text` asks for, or None."""
    english = Language("english")
    if found := english.search("long_sample", text):
        return _long_text(int(re.sub(r"\D", "", found[1])), english.text("sample").splitlines())
    echo = english.fullmatch("echo", text)
    is_markdown = english.search("markdown_sample", text)
    return english.text("markdown") if is_markdown else text[echo.start(1) :] if echo else None


def _long_text(length: int, sentences: Sequence[str]) -> str:
    """Return exactly `length` characters, from 1 to 50,000, of numbered sentences in paragraphs."""
    length = min(max(length, 1), _LONGEST)
    text, number = "", 0
    while len(text) < length:
        number += 1
        end = "\n\n" if number % len(sentences) == 0 else " "
        text += f"({number}) {sentences[number % len(sentences)]}{end}"
    return text[:length] if not text[length - 1].isspace() else f"{text[: length - 1]}."
