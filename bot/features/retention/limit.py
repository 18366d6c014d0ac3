"""Sentences about how long the messages of a chat are kept."""

from bot.features.retention.settings import RetentionSettings
from bot.settings import Settings
from bot.transport.words import Words
from memory.history.store import HistorySnapshot
from memory.retention import parse_choice


def limit_line(settings: Settings, words: Words, snapshot: HistorySnapshot) -> str:
    """Return the limit of this chat; "" if messages are kept for ever."""
    days = parse_choice(snapshot.retention).days_within(settings.of(RetentionSettings).retention_days)
    return limit_text(words, days) if days else ""


def limit_text(words: Words, days: int) -> str:
    """Return a sentence on the limit; 0 is none."""
    return words("retention-limit", limit=span_text(words, days)) if days else words("retention-none")


def span_text(words: Words, days: int) -> str:
    """Return the span of time as people say it; 0 is for ever."""
    return words("retention-span", days=days)
