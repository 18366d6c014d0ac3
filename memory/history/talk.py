"""Talk in a chat that is not addressed to the bot: a short window, stored next to the history."""

from dataclasses import dataclass

from memory.characters import seam_before, well_formed
from memory.history.message import Sender

TALK_CHARS = 1000
"""Characters stored of one message, at most."""
TALK_LOADED = 150
"""The newest lines, which are loaded with a history. More do not fit into a prompt's budget of talk."""
_MOVED = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkLine:
    """A message that was not addressed to the bot, or an event of the chat. Prompts render it as data."""

    telegram_message_id: int
    sender: Sender
    text: str
    sent_at: float
    """Unix seconds."""
    is_service: bool = False
    """True for an event, such as somebody who joined."""
    pinned: int | None = None
    """Score of the pinned message, whose text is copied into this line."""
    update: str = ""
    """The whole message as its transport stores it, if it has a file: a later question may ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTalk:
    """The newest lines of a context, up to TALK_LOADED, oldest first."""

    lines: tuple[TalkLine, ...] = ()
    count: int = 0
    """Lines that are kept, loaded or not."""


NO_TALK = RecentTalk()


def score_of(telegram_message_id: int, *, is_moved: bool) -> int:
    """Return the score by which the line of this message is ordered and found.

    A group that became a supergroup (`is_moved`) numbers its messages again: they come after those of the group.
    """
    return telegram_message_id + (_MOVED if is_moved else 0)


def cut(text: str) -> str:
    """Return the first TALK_CHARS characters of a text, with "…" at the end if more was said."""
    text = well_formed(text.strip())
    if len(text) <= TALK_CHARS:
        return text
    return text[: seam_before(text, TALK_CHARS - 1)].rstrip() + "…"
