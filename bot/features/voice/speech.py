"""Speaks answers: when a chat wants it, what is read aloud, and the file that the outbox sends.

The speech is made before the commit, because the commit decides between a voice message and a text. Its bytes wait
in Redis, and a part of the outbox names them. The journal has the finished step, so a crash
does not pay twice. A turn without a voice makes no call and no round trip more. Whatever fails, the answer is a text.
"""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

import structlog

from bot.agent.context import AgentContext, note_step
from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.model import Usage
from bot.errors import TurnStopped
from bot.inbox.signals import run_until
from bot.media.formats import opus_seconds
from bot.transport.rendering import render
from bot.transport.rich_text import to_spans
from bot.turn.chat_events import Interruptions
from bot.turn.limits import LimitGuard
from bot.turn.question import Question
from memory.artifacts.store import OutgoingFiles
from memory.codec import dump_json, parse_json
from memory.history.selectors import TokenCounter
from memory.history.store import HistorySnapshot
from memory.redis.client import RedisClient

VoiceChoice = Literal["never", "when_spoken_to", "always"]
VOICE_CHOICES: tuple[VoiceChoice, ...] = ("never", "when_spoken_to", "always")

LONGEST_TEXT = 4_096
"""Characters that /v1/audio/speech takes (OpenAI's reference)."""
SPEECH_S = 30.0
"""Seconds that an answer waits for its speech."""
TOKENS_PER_MINUTE = 1_250
"""Tokens of a minute of speech, by OpenAI's prices: 0.015 a minute, 12 for a million tokens."""

_STEP = "speech"
_SPOKEN = frozenset({"voice", "video_note"})
_BLOCKS = frozenset({"pre"})
_URL = r"(?:https?://|www\.)[^\s()]+"
_ADDRESS = re.compile(rf"(?<!\s)\s*+(?:\({_URL}\)|\b{_URL})")
_MARKS = re.compile(r"^[ \t]*(?:(?:[•☑☐]|-{3,}|—{3,})[ \t]*)?|🖼 ", re.MULTILINE)

log = structlog.get_logger()


class Speaker(Protocol):
    """Speaks texts; see speaker.py."""

    @property
    def model(self) -> str: ...
    async def speak(self, text: str) -> bytes | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """The finished step in the journal."""

    file_id: str = ""
    """Empty if nothing could be spoken."""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceReplies:
    """Turns answers into speech, in the chats that want it."""

    speaker: Speaker | None
    default: VoiceChoice
    """The choice of chats in which nobody has chosen."""
    redis: RedisClient
    guard: LimitGuard
    interruptions: Interruptions
    tokenizer: TokenCounter

    def choice_in(self, snapshot: HistorySnapshot) -> VoiceChoice:
        """Return the choice of this chat or topic."""
        return choice_in(snapshot, self.default)

    async def speak(self, question: Question, context: AgentContext, text: str) -> str:
        """Return the id of the file with the spoken answer; "" if the answer goes as a text.

        A /stop ends the speech, not the answer. Raises TurnRestarted, Forgotten, Fenced and the store's errors.
        """
        speaker = self.speaker
        if speaker is None or not self._is_wanted(question):
            return ""
        step = await question.journal.finished(_STEP)
        if step is not None:
            speech = parse_json(Speech, step)
        else:
            spoken = await call_in_daemon_thread(lambda: spoken_text(text), name="spoken-text")
            if not spoken or len(spoken) > LONGEST_TEXT:
                return ""
            usage = Usage(model=speaker.model, prompt_tokens=self.tokenizer.count(spoken))
            if not await self._has_room(question, context, usage):
                return ""
            speech = await self._make(speaker, question, context, spoken)
            await question.journal.record_for_good(_STEP, dump_json(Speech, speech))
        if speech.usage is not None:
            context.record.usages.append(speech.usage)
        return speech.file_id

    def _is_wanted(self, question: Question) -> bool:
        if question.to.inline_id:  # its answer is the edit of one message
            return False
        choice = self.choice_in(question.snapshot)
        attachments = (update.message.attachment for update in question.batch.updates)
        is_spoken_to = any(each is not None and each.kind in _SPOKEN for each in attachments)
        return choice == "always" or (choice == "when_spoken_to" and is_spoken_to)

    async def _has_room(self, question: Question, context: AgentContext, usage: Usage) -> bool:
        usages = [*context.record.usages, usage]
        return await self.guard.has_room(usages, user_id=question.user_id, chat_id=question.to.chat_id)

    async def _make(self, speaker: Speaker, question: Question, context: AgentContext, spoken: str) -> Speech:
        """Speak and save the file. A speech that takes too long or is stopped has no file."""
        try:
            with note_step(context, "speech", speaker.model) as note:
                content = await run_until(
                    speaker.speak(spoken),
                    self.interruptions.wait(question, has_written=lambda: True),
                    within_s=SPEECH_S,
                )
                note.outcome = "ok" if content else "error"
        except (TurnStopped, TimeoutError) as end:
            log.warning("speech_given_up", why=type(end).__name__)
            return Speech()
        if not content:
            return Speech()
        files = OutgoingFiles(self.redis, question.claim.ref, epoch=lambda: question.history.epoch)
        await files.keep(content, file_id=question.reply_id)
        usage = Usage(
            model=speaker.model,
            prompt_tokens=self.tokenizer.count(spoken),
            completion_tokens=round(opus_seconds(content) * TOKENS_PER_MINUTE / 60),
        )
        return Speech(file_id=question.reply_id, usage=usage)


def choice_in(snapshot: HistorySnapshot, default: VoiceChoice) -> VoiceChoice:
    """Return the choice of this chat or topic, `default` if nobody has chosen."""
    chosen = snapshot.choices.of_features.get("voice")
    return chosen if chosen in VOICE_CHOICES else default


def spoken_text(markdown: str) -> str:
    """Return what is read aloud of an answer: words without marks, code blocks, tables and addresses (pure)."""
    rich = render(markdown)
    pieces: list[str] = []
    done = 0
    for span in sorted(span for span in to_spans(rich) if span.type in _BLOCKS):
        pieces.append(rich.text[done : span.start])
        done = span.end
    text = _ADDRESS.sub("", _MARKS.sub("", "".join([*pieces, rich.text[done:]])))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
