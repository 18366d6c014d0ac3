"""/retention shows how long messages are kept, with buttons, and changes it after a question if messages would go."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.settings import Settings
from bot.transport.rich_text import RichText
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.menus import CONFIRM_WITHIN_S, choice_buttons
from memory.history.store import HistorySnapshot
from memory.recall.lexicon.dates import DAY, MONTH, WEEK, YEAR, time_meanings
from memory.recall.lexicon.languages import normal
from memory.retention import LONGEST_DAYS, RetentionChoice, RetentionQueue, parse_choice

OFFERED_DAYS = (30, 90, 365)

_CHOICE = re.compile(r"(\d{1,5})(?:([-+])(?::(\d{1,12}))?)?")
"""Days; in buttons `+` if facts stay, else `-`, and in a question the time at which it was asked."""
_DAYS = {DAY: 1, WEEK: 7, MONTH: 30, YEAR: 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionCommand:
    """Shows and changes the choice. Anybody may look; in groups only administrators may choose."""

    most_days: int
    """The operator's limit, 0 for none."""
    queue: RetentionQueue
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """Show the choices, or take the one that the command or the button names.

        One that would erase something is asked about first.
        """
        current = parse_choice(call.snapshot.retention)
        named = _CHOICE.fullmatch(call.argument.strip()) or _CHOICE.fullmatch(days_in(call.argument))
        if named is None or int(named[1]) > LONGEST_DAYS:
            return self._list(call, current)
        if refused := await call.refused():
            return refused
        keeps_facts = named[2] == "+" if named[2] else current.keeps_facts
        wanted = RetentionChoice(days=int(named[1]), keeps_facts=keeps_facts)
        if named[3] is None or call.update.callback is None:
            return await self._choose(call, current, wanted)
        if self.clock() - int(named[3]) > CONFIRM_WITHIN_S:
            return self._list(call, current, notice="retention-expired")
        return await self._keep(call, wanted, notice="retention-erasing")

    async def _choose(self, call: CommandCall, current: RetentionChoice, wanted: RetentionChoice) -> Reply:
        before, after = (each.days_within(self.most_days) for each in (current, wanted))
        drops_facts = bool(before and after) and current.keeps_facts and not wanted.keeps_facts
        if after and (not before or after < before or drops_facts):
            return await self._ask(call, wanted, after, drops_facts=drops_facts)
        notice = "retention-longer" if before and (not after or after > before) else ""
        return await self._keep(call, wanted, notice=notice)

    async def _ask(
        self, call: CommandCall, wanted: RetentionChoice, days: int, *, drops_facts: bool
    ) -> Reply:
        """Say how many messages would go, and ask with a button."""
        words, span = call.words, span_text(call.words, days)
        count = await self.queue.count_expired(call.ref, days=days)
        facts = "dropped" if drops_facts else "kept" if wanted.keeps_facts else "gone"
        text = [words("retention-asks", count=count, limit=span), words("retention-asks-facts", facts=facts)]
        labels = {
            f"{_value(wanted)}:{int(self.clock())}": words("retention-confirm", limit=span),
            _value(parse_choice(call.snapshot.retention)): words("retention-back"),
        }
        text.append(words("retention-asks-button"))
        return Reply(text=" ".join(text), buttons=choice_buttons("retention", labels))

    async def _keep(self, call: CommandCall, wanted: RetentionChoice, *, notice: str) -> Reply:
        await self.queue.choose(call.ref, wanted)
        return self._list(call, wanted, notice=notice)

    def _list(self, call: CommandCall, current: RetentionChoice, *, notice: str = "") -> Reply:
        """Return the limit, and a button for each choice."""
        words, days = call.words, current.days_within(self.most_days)
        lines = [limit_text(words, days)]
        if days:
            lines.append(words("retention-facts", facts="kept" if current.keeps_facts else "gone"))
        if self.most_days:
            lines.append(words("retention-operator", limit=span_text(words, self.most_days)))
        lines.append(words("retention-choose", place="group" if call.is_group else "private"))
        paragraphs = [*([words(notice)] if notice else []), " ".join(lines)]
        shown = [
            each for each in (*OFFERED_DAYS, days) if each and (not self.most_days or each < self.most_days)
        ]
        shown = [*sorted(set(shown)), self.most_days]
        labels = {_value(replace(current, days=each)): span_text(words, each) for each in shown}
        if days:
            other = replace(current, keeps_facts=not current.keeps_facts)
            facts = "kept" if current.keeps_facts else "gone"
            labels[_value(other)] = words("retention-facts-button", facts=facts)
        buttons = choice_buttons("retention", labels, _value(replace(current, days=days)))
        return Reply(rich=RichText(text="\n\n".join(paragraphs)), buttons=buttons)


def days_in(text: str) -> str:
    """Return the days of a span of time in words, such as "6 months" or "ein Jahr"; "" for anything else."""
    found = time_meanings(normal(text))
    if [kind for kind, _ in found] not in (["D", "U"], ["I", "U"]) or re.search(r"\d{5}", text):
        return ""
    return str(found[0][1] * _DAYS[found[1][1]]) if found[1][1] in _DAYS else ""


def _value(choice: RetentionChoice) -> str:
    return f"{choice.days}{'+' if choice.keeps_facts else '-'}"


async def build(parts: Parts) -> Built:
    """Return the command and its buttons."""
    retention = RetentionCommand(
        most_days=parts.settings.retention_days,
        queue=RetentionQueue(parts.stores.redis, clock=parts.clock),
        clock=parts.clock,
    )
    return Built(commands={"retention": retention.run}, buttons={"retention": retention.run})


def limit_line(settings: Settings, words: Words, snapshot: HistorySnapshot) -> str:
    """Return the limit of this chat; "" if messages are kept for ever."""
    days = parse_choice(snapshot.retention).days_within(settings.retention_days)
    return limit_text(words, days) if days else ""


def limit_text(words: Words, days: int) -> str:
    """Return a sentence on the limit; 0 is none."""
    return words("retention-limit", limit=span_text(words, days)) if days else words("retention-none")


def span_text(words: Words, days: int) -> str:
    """Return the span of time as people say it; 0 is for ever."""
    return words("retention-span", days=days)
