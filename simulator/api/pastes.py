"""How a Telegram app sends a text that is too long for one message: as several (pure)."""

from simulator.api.utf16 import utf16_length

# Android's ChatActivityEnterView looks for a good place so far back, and no further.
_LOOK_BACK = 300


def split_paste(text: str, limit: int) -> list[str]:
    """Parts of at most `limit` UTF-16 units: cut at the last blank line, else at the first line end, else after
    the last sentence, else at the last blank of a part's last 300 characters; else in the middle of a word.
    """
    parts: list[str] = []
    rest = text
    while utf16_length(rest) > limit:
        most = _longest(rest, limit)
        end = _good_end(rest, most) or most
        parts.append(rest[:end].strip())
        rest = rest[end:]
    return [part for part in (*parts, rest.strip()) if part]


def _longest(text: str, limit: int) -> int:
    """How many characters fit."""
    count = min(limit, len(text))
    while (over := utf16_length(text[:count]) - limit) > 0:
        count -= (over + 1) // 2
    return count


def _good_end(text: str, most: int) -> int:
    line = sentence = blank = 0
    for place in range(most - 1, max(most - _LOOK_BACK, 1) - 1, -1):
        char, before = text[place], text[place - 1]
        if char == before == "\n":
            return place
        if char == "\n":
            line = place
        elif char.isspace() and before == "." and not sentence:
            sentence = place
        elif char.isspace() and not blank:
            blank = place
    return line or sentence or blank
