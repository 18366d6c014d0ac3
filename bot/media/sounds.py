"""What kind of recording some bytes are: by their content, never by a name (pure)."""

_BEGINNINGS = (
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"ID3", "mp3"),
    (b"\x1a\x45\xdf\xa3", "webm"),
)
_MP4_SOUND = (b"M4A ", b"M4B ")


def container_of(data: bytes) -> str | None:
    """The file ending of a recording in a format that transcription endpoints take; None for all else.

    Endpoints judge by the ending of the name that they are given, and some know "ogg" and not Telegram's "oga".
    """
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:12] in _MP4_SOUND else "mp4"
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        return "wav"
    known = next((ending for start, ending in _BEGINNINGS if data.startswith(start)), None)
    return known or ("mp3" if _is_mp3_frame(data) else None)


def _is_mp3_frame(data: bytes) -> bool:
    """An MPEG audio frame of layer III: 11 bits set, and neither the version nor the layer a reserved one."""
    return len(data) > 3 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2 and data[1] & 0x18 != 0x08
