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
