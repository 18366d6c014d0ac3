"""/voice shows when answers are voice messages, with buttons, and changes it for a chat or topic."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.transport.buttons import VOICE_BUTTON
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from bot.turn.speech import VOICE_CHOICES, VoiceChoice
from memory.characters import one_line
from memory.history.store import HistorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceCommand:
    """Shows and changes the choice. Anybody may look; in groups only administrators may choose."""

    choice_in: Callable[[HistorySnapshot], VoiceChoice]
    can_speak: bool
    """False without a speech model."""
    permissions: Permissions

    async def run(self, call: CommandCall) -> Reply:
        """Show the choices, or take the one that the command names."""
        name = one_line(call.argument).casefold()
        choice: VoiceChoice | None = next(
            (each for each in VOICE_CHOICES if name in self._names(call, each)), None
        )
        if choice is None or not self.can_speak:
            return self._list(call, self.choice_in(call.snapshot))
        refusal = await self.permissions.refusal_for(call.message)
        return self._choose(call, choice) if refusal is None else Reply(text=call.words(refusal))

    async def press(self, call: CommandCall) -> Reply | None:
        """Take the choice of the button."""
        choice: VoiceChoice | None = next(
            (each for each in VOICE_CHOICES if call.argument == _data(each)), None
        )
        if choice is None or not self.can_speak:
            return None
        return replace(self._choose(call, choice), edits=call.menu)

    def _choose(self, call: CommandCall, choice: VoiceChoice) -> Reply:
        return replace(self._list(call, choice), meta={"voice": choice})

    def _list(self, call: CommandCall, current: VoiceChoice) -> Reply:
        """Return the present choice, and a button for each."""
        words = call.words
        if not self.can_speak:
            return Reply(text=words("voice-none"))
        hint = words("voice-choose", place="group" if call.is_group else "private")
        labels: dict[VoiceChoice, str] = {each: words("voice-label", choice=each) for each in VOICE_CHOICES}
        buttons = [
            Button(text=f"✓ {label}" if each == current else label, data=_data(each), row=row)
            for row, (each, label) in enumerate(labels.items())
        ]
        return Reply(rich=RichText(text=f"{words('voice-current', choice=current)} {hint}"), buttons=buttons)

    @staticmethod
    def _names(call: CommandCall, choice: VoiceChoice) -> tuple[str, ...]:
        return choice, choice.replace("_", " "), call.words("voice-label", choice=choice).casefold()


def _data(choice: VoiceChoice) -> str:
    return f"{VOICE_BUTTON}:{choice}"
