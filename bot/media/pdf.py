"""Reads the text of PDFs, each in a process of its own."""

import json
from dataclasses import dataclass
from typing import Any, cast, get_args

from bot.errors import MediaReason, MediaUnreadable
from bot.media.isolated import FileProcess, ProcessLimits

PdfLimits = ProcessLimits
DOCUMENT_CHARS = 500_000
"""Characters that are read of one document: some 125,000 tokens, more than most windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """The text of a PDF, each page under a line with its number. `is_cut` is True if only a part was read."""

    text: str
    pages: int
    is_cut: bool


class PdfReader:
    """Reads PDFs, each in a process of its own, a few at a time."""

    def __init__(self, *, at_most: int = DOCUMENT_CHARS, limits: PdfLimits | None = None) -> None:
        """`at_most` is the highest number of characters from one PDF."""
        self._process = FileProcess("pdf", at_most=at_most, limits=limits)

    async def read(self, data: bytes) -> PdfText:
        """Return the text of a PDF. The process has ended when this returns, fails or is cancelled.

        Raises MediaUnreadable with the reason for no text: a password, a broken file, empty pages, only pictures, or
        more work than allowed. It is "pdf-too-much" if a limit has ended the process, or if it died.
        """
        output = await self._process.run(data)
        try:
            answer = cast("dict[str, Any]", json.loads(output))
        except ValueError as error:
            raise MediaUnreadable("pdf-too-much") from error
        if answer.get("problem") in get_args(MediaReason):
            raise MediaUnreadable(answer["problem"])
        return PdfText(text=answer["text"], pages=answer["pages"], is_cut=answer["is_cut"])
