"""How long an Ogg Opus sound plays, read from its last page (pure)."""

_PAGE = b"OggS"
_OPUS_RATE = 48_000
_MAX_S = 24 * 3600


def opus_seconds(data: bytes) -> int | None:
    """Whole seconds, at least 1; None for what is no Ogg Opus file."""
    last = data.rfind(_PAGE)
    if not data.startswith(_PAGE) or b"OpusHead" not in data[:64] or len(data) < last + 14:
        return None
    samples = int.from_bytes(data[last + 6 : last + 14], "little", signed=True)
    return min(max(round(samples / _OPUS_RATE), 1), _MAX_S)
