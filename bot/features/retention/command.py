"""/retention shows how long messages are kept, with buttons, and changes it after a question if messages would go."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.features.retention.limit import limit_text, span_text
from bot.features.retention.settings import RetentionSettings
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from memory.retention import LONGEST_DAYS, RetentionChoice, RetentionQueue, parse_choice

OFFERED_DAYS = (30, 90, 365)
CONFIRM_WITHIN_S = 600.0
"""A button that erases does not work for longer, as that of /reset."""

_BUTTON = re.compile(r"retention:(\d{1,5})([-+])(?::(\d{1,12}))?")
"""The data of the buttons: days, `+` if facts stay, and in a question the time at which it was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionCommand:
    """Shows and changes the choice. Anybody may look; in groups only administrators may choose."""

    most_days: int
    """The operator's limit, 0 for none."""
    queue: RetentionQueue
    permissions: Permissions
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """Show the choices, or take the number of days that the command names."""
        number = call.argument.strip()
        current = parse_choice(call.snapshot.retention)
        if not number.isdecimal() or len(number) > 5 or int(number) > LONGEST_DAYS:
            return self._list(call, current)
        refusal = await self.permissions.refusal_for(call.message)
        if refusal is not None:
            return Reply(text=call.words(refusal))
        return await self._choose(call, current, replace(current, days=int(number)))

    async def press(self, call: CommandCall) -> Reply | None:
        """Take the choice of the button. One that would erase something is asked about first."""
        button = _BUTTON.fullmatch(call.argument)
        if button is None:
            return None
        days, facts, asked_at = button.groups()
        wanted = RetentionChoice(days=int(days), keeps_facts=facts == "+")
        current = parse_choice(call.snapshot.retention)
        if asked_at is None:
            reply = await self._choose(call, current, wanted)
        elif self.clock() - int(asked_at) > CONFIRM_WITHIN_S:
            reply = self._list(call, current, notice="retention-expired")
        else:
            reply = await self._keep(call, wanted, notice="retention-erasing")
        return replace(reply, edits=call.menu)

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
        data = f"{_data(wanted)}:{int(self.clock())}"
        buttons = [
            Button(text=words("retention-confirm", limit=span), data=data),
            Button(text=words("retention-back"), data=_data(parse_choice(call.snapshot.retention)), row=1),
        ]
        return Reply(text=" ".join([*text, words("retention-asks-button")]), buttons=buttons)

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
        buttons: list[Button] = []
        for row, each in enumerate(shown):
            label = span_text(words, each)
            data = _data(replace(current, days=each))
            buttons.append(Button(text=f"✓ {label}" if each == days else label, data=data, row=row))
        if days:
            other = replace(current, keeps_facts=not current.keeps_facts)
            label = words("retention-facts-button", facts="kept" if current.keeps_facts else "gone")
            buttons.append(Button(text=label, data=_data(other), row=len(shown)))
        return Reply(rich=RichText(text="\n\n".join(paragraphs)), buttons=buttons)


def _data(choice: RetentionChoice) -> str:
    return f"retention:{choice.days}{'+' if choice.keeps_facts else '-'}"


async def build(parts: Parts) -> Built:
    """Return the command and its buttons."""
    retention = RetentionCommand(
        most_days=parts.settings.of(RetentionSettings).retention_days,
        queue=RetentionQueue(parts.stores.redis, clock=parts.clock),
        permissions=parts.permissions,
        clock=parts.clock,
    )
    return Built(commands={"retention": retention.run}, buttons={"retention": retention.press})
