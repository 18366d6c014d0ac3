"""The file that came with a message: which one of Telegram's many fields tells of it, and what it says (pure)."""

from dataclasses import dataclass

from bot.transport.raw_json import NOTHING, Json, int_in, object_in, objects_in, str_in

FILE_KINDS = (
    *("animation", "live_photo", "audio", "document", "photo"),
    *("sticker", "video", "video_note", "voice"),
)
"""The kinds of content that are one file. An animation comes with a document as well, a live photo with a photo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message. `kind` is of MEDIA_KINDS; `size` (bytes) and `duration_s` are 0 where not told.

    `file_id` names it for getFile, `unique_id` is the same for every bot and every time; of a photo it is the largest.
    """

    kind: str
    file_id: str
    unique_id: str
    size: int = 0
    mime_type: str = ""
    file_name: str = ""
    duration_s: int = 0
    width: int = 0
    height: int = 0


def attachment_in(message: Json) -> Attachment | None:
    """The file of a raw message; None without one that can be fetched."""
    kind = next((kind for kind in FILE_KINDS if kind in message), "")
    if kind == "photo" or (kind == "live_photo" and not str_in(object_in(message, kind), "file_id")):
        file = _largest(objects_in(message, "photo"))
    else:
        file = object_in(message, kind)
    file_id = str_in(file, "file_id")
    if not file_id:
        return None
    side = int_in(file, "length") or 0  # of a video note, which is as wide as it is high
    return Attachment(
        kind=kind,
        file_id=file_id,
        unique_id=str_in(file, "file_unique_id"),
        size=max(0, int_in(file, "file_size") or 0),
        mime_type=str_in(file, "mime_type"),
        file_name=str_in(file, "file_name"),
        duration_s=max(0, int_in(file, "duration") or 0),
        width=int_in(file, "width") or side,
        height=int_in(file, "height") or side,
    )


def _largest(sizes: list[Json]) -> Json:
    return max(
        sizes,
        key=lambda size: (int_in(size, "width") or 0) * (int_in(size, "height") or 0),
        default=NOTHING,
    )
