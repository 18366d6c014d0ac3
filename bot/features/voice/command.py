"""/voice shows when answers are voice messages, with buttons, and changes it for a chat or topic."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.features.voice.settings import VoiceSettings
from bot.features.voice.speech import VOICE_CHOICES, Speaker, VoiceChoice, VoiceReplies, choice_in
from bot.settings import Settings
from bot.transport.rich_text import RichText
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.menus import choice_buttons
from bot.turn.store import MetaField
from memory.characters import one_line
from memory.history.store import HistorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceCommand:
    """Shows and changes the choice. Anybody may look; in groups only administrators may choose."""

    choice_in: Callable[[HistorySnapshot], VoiceChoice]
    can_speak: bool
    """False without a speech model."""

    async def run(self, call: CommandCall) -> Reply:
        """Show the choices, or take the one that the command or the button names."""
        name = one_line(call.argument).casefold()
        choice: VoiceChoice | None = next(
            (each for each in VOICE_CHOICES if name in self._names(call, each)), None
        )
        if choice is None or not self.can_speak:
            return self._list(call, self.choice_in(call.snapshot))
        meta: dict[MetaField, str] = {"choices": call.snapshot.choices.with_feature("voice", choice)}
        return await call.refused() or replace(self._list(call, choice), meta=meta)

    def _list(self, call: CommandCall, current: VoiceChoice) -> Reply:
        """Return the present choice, and a button for each."""
        words = call.words
        if not self.can_speak:
            return Reply(text=words("voice-none"))
        hint = words("voice-choose", place="group" if call.is_group else "private")
        labels = {each: words("voice-label", choice=each) for each in VOICE_CHOICES}
        return Reply(
            rich=RichText(text=f"{words('voice-current', choice=current)} {hint}"),
            buttons=choice_buttons("voice", labels, current),
        )

    @staticmethod
    def _names(call: CommandCall, choice: VoiceChoice) -> tuple[str, ...]:
        return choice, choice.replace("_", " "), call.words("voice-label", choice=choice).casefold()


async def build(parts: Parts) -> Built:
    """Open the speech model, if there is one, and return the command, its buttons and the hook that speaks."""
    settings = parts.settings.of(VoiceSettings)
    voices = VoiceReplies(
        speaker=await _open(settings, parts.outside.stack),
        default=settings.voice_replies,
        redis=parts.stores.redis,
        guard=parts.guard,
        interruptions=parts.interruptions,
        tokenizer=parts.tokenizer,
    )
    voice = VoiceCommand(choice_in=voices.choice_in, can_speak=voices.speaker is not None)
    return Built(
        commands={"voice": voice.run},
        buttons={"voice": voice.run},
        hooks=Hooks(before_commit=(voices.speak,)),
    )


def speaks(settings: VoiceSettings) -> bool:
    """Return True if there is a model that speaks."""
    return bool(settings.speech_model) and not settings.is_offline


async def _open(settings: VoiceSettings, stack: AsyncExitStack) -> Speaker | None:
    if not speaks(settings):
        return None
    from bot.features.voice.speaker import open_speaker  # with the SDK: 25 MB

    opened = open_speaker(
        model=settings.speech_model, api_key=settings.api_key, base_url=settings.openai_base_url
    )
    return await stack.enter_async_context(opened)


def page_line(settings: Settings, words: Words, snapshot: HistorySnapshot) -> str:
    """Return when answers are voice messages; "" without a model that speaks."""
    own = settings.of(VoiceSettings)
    return words("voice-current", choice=choice_in(snapshot, own.voice_replies)) if speaks(own) else ""
