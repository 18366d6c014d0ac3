"""Text counted as Telegram counts it: in UTF-16 code units."""

# Telegram shows these as nothing: line and paragraph separators and direction overrides, and the
# combining vertical lines and ring of tdlib's clean_input_string.
_REMOVED = frozenset("\r\u0333\u033f\u030a") | {chr(code) for code in range(0x2028, 0x202F)}


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, offset: int, length: int) -> str:
    """The part of a text that an entity covers; both numbers lie between characters."""
    units = text.encode("utf-16-le")
    return units[2 * offset : 2 * (offset + length)].decode("utf-16-le")


def clean_text(text: str) -> tuple[str, dict[int, int]]:
    """A text without what Telegram removes, control characters as spaces, and where each boundary went.

    The map gives, for every offset between two characters of the given text, the offset in the clean
    one; an offset that is missing lies inside a surrogate pair or after the end.
    """
    kept: list[str] = []
    moved = {0: 0}
    before = after = 0
    for char in text:
        width = 2 if char > "\uffff" else 1
        before += width
        if char not in _REMOVED:
            kept.append(" " if char < " " and char != "\n" else char)
            after += width
        moved[before] = after
    return "".join(kept), moved


def is_blank(text: str) -> bool:
    """Whether Telegram would find nothing but spaces and line ends."""
    return not text.strip(" \n")


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
