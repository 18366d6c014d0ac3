"""Photos, files, stickers and polls as the Bot API fields of a message."""

from pathlib import PurePosixPath
from typing import Any, Literal, TypeAlias

from simulator.api.errors import PageError
from simulator.api.files import StoredFile, image_size, opus_seconds

FileKind: TypeAlias = Literal["photo", "voice", "audio", "video_note", "video", "animation", "document"]
FILE_KINDS: tuple[FileKind, ...] = (
    *("photo", "voice", "audio"),
    *("video_note", "video", "animation", "document"),
)
ALBUM_KINDS = frozenset({"photo", "video", "audio", "document"})
CAPTIONED = frozenset({"photo", "voice", "audio", "video", "animation", "document"})

# Bot API documentation and tdlib: the longest side of the sizes s, m, x and y of a photo.
_SIZES = (("S", 90), ("M", 320), ("X", 800), ("Y", 1280))
_MAX_SIDES = 10_000
_MAX_RATIO = 20
_NOTE_LENGTH = 240
_VIDEO = {"width": 640, "height": 360}


def file_content(kind: FileKind, file: StoredFile, *, duration_s: int | None) -> dict[str, Any]:
    """Return the fields of a file that is sent as this kind.

    The bytes do not change: a photo does not become a JPEG, and its smaller sizes have the same bytes. Raises PageError
    for a photo that is no picture. A voice message may be any file.
    """
    seconds = duration_s if duration_s is not None else opus_seconds(file.data) or 1
    about = file.fields() | {"mime_type": file.mime_type}
    match kind:
        case "photo":
            return {"photo": _photo_sizes(file)}
        case "voice":
            return {"voice": about | {"duration": seconds}}
        case "audio":
            title = PurePosixPath(file.name).stem
            return {"audio": about | {"duration": seconds, "file_name": file.name, "title": title}}
        case "video_note":
            return {"video_note": file.fields() | {"length": _NOTE_LENGTH, "duration": seconds}}
        case "video":
            return {"video": about | _VIDEO | {"duration": seconds, "file_name": file.name}}
        case "animation":
            moving = about | {"file_name": file.name}
            return {"animation": moving | _VIDEO | {"duration": seconds}, "document": moving}
        case "document":
            return {"document": about | {"file_name": file.name}}


def sticker_content(emoji: str, file: StoredFile) -> dict[str, Any]:
    """Return the fields of a static sticker in an invented set."""
    about = {"type": "regular", "width": 512, "height": 512, "is_animated": False, "is_video": False}
    return {"sticker": file.fields() | about | {"emoji": emoji, "set_name": "SimulatedStickers"}}


def poll_content(question: str, options: tuple[str, ...], *, poll_id: int, kind: str) -> dict[str, Any]:
    """Return the fields of a new poll without votes."""
    return {
        "poll": {
            "id": str(poll_id),
            "question": question,
            "options": [
                {"persistent_id": f"{poll_id}-{number}", "text": option, "voter_count": 0}
                for number, option in enumerate(options)
            ],
            "total_voter_count": 0,
            "is_closed": False,
            "is_anonymous": True,
            "type": kind,
            "allows_multiple_answers": False,
            "allows_revoting": True,
            "members_only": False,
        }
    }


def _photo_sizes(file: StoredFile) -> list[dict[str, Any]]:
    size = image_size(file.data)
    if size is None:
        raise PageError("That file is no picture: send a PNG, JPEG, GIF or WebP, or send it as a document.")
    width, height = size
    if width + height > _MAX_SIDES or max(size) > _MAX_RATIO * min(size):
        raise PageError("That picture is too large or too narrow for a photo: send it as a document.")
    smaller = [
        file.fields(letter)
        | {"width": max(width * side // max(size), 1), "height": max(height * side // max(size), 1)}
        for letter, side in _SIZES
        if side < max(size)
    ]
    return [*smaller, file.fields() | {"width": width, "height": height}]
