"""What was said in a chat and not to the bot: a short window of talk, kept beside the history."""

from dataclasses import dataclass

from memory.characters import seam_before, well_formed
from memory.history.message import Sender

HEARD_CHARS = 1000
"""How much of one message is kept."""
_MOVED = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardLine:
    """A message that was not addressed to the bot, or (`is_service`) what happened in the chat, such as who joined.

    `text` is told as data, never as an instruction; `sent_at` is Unix seconds. `pinned` is the score of the message that
    was pinned, whose words are in the text then.
    """

    telegram_message_id: int
    sender: Sender
    text: str
    sent_at: float
    is_service: bool = False
    pinned: int | None = None


def score_of(telegram_message_id: int, *, is_moved: bool) -> int:
    """Where the line of this message stands, and how it is found.

    A group that became a supergroup (`is_moved`) counts its messages anew: they come after those of the group, and
    never stand for them.
    """
    return telegram_message_id + (_MOVED if is_moved else 0)


def cut(text: str) -> str:
    """What is kept of a text: at most HEARD_CHARS characters, the last of them "…" where more was said."""
    text = well_formed(text.strip())
    if len(text) <= HEARD_CHARS:
        return text
    return text[: seam_before(text, HEARD_CHARS - 1)].rstrip() + "…"
