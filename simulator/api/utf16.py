"""Text in UTF-16 code units, as Telegram counts it, and how an app splits a long one (pure)."""

# Telegram removes these (tdlib, clean_input_string): carriage returns, line and paragraph separators, direction
# overrides, and the combining vertical lines and ring.
_REMOVED = frozenset("\r\u0333\u033f\u030a") | {chr(code) for code in range(0x2028, 0x202F)}


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, offset: int, length: int) -> str:
    """Return the part of a text that an entity covers; its borders lie between characters."""
    units = text.encode("utf-16-le")
    return units[2 * offset : 2 * (offset + length)].decode("utf-16-le")


def clean_text(text: str) -> tuple[str, dict[int, int]]:
    """Remove characters as Telegram does, and replace control characters by spaces.

    The second result maps each offset between two characters to its offset in the clean text. An offset without an
    entry lies inside a surrogate pair or after the end.
    """
    characters: list[str] = []
    moved = {0: 0}
    before = after = 0
    for char in text:
        width = 2 if char > "\uffff" else 1
        before += width
        if char not in _REMOVED:
            characters.append(" " if char < " " and char != "\n" else char)
            after += width
        moved[before] = after
    return "".join(characters), moved


def is_blank(text: str) -> bool:
    """Return True if a text has only spaces and line ends."""
    return not text.strip(" \n")


# Characters in which Android's ChatActivityEnterView looks for a good place to cut.
_LOOK_BACK = 300


def split_paste(text: str, limit: int) -> list[str]:
    """Split a text into parts of at most `limit` UTF-16 units.

    Within the last 300 characters of a part, the cut is at the last blank line. Otherwise it is at the first line end,
    after the last sentence, or at the last space. Without any of these it is inside a word.
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
    """Return the number of characters that fit."""
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
