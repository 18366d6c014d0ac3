"""Files that are read in a process of their own: a PDF or a picture may be made to harm its reader."""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

import structlog

from bot.errors import MediaReason, MediaUnreadable

_SCRIPT = Path(__file__).with_name("file_process.py")
_AT_ONCE = 2
"""Processes of one kind at the same time. Reading is pure computation."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits for one file. At the end of the time the process is killed; no page of a PDF begins after half of it."""

    seconds: int = 20
    memory: int = 768 * 1024 * 1024


class FileProcess:
    """Runs file_process.py, once for each file, a few at a time."""

    def __init__(
        self, kind: Literal["pdf", "picture"], *, at_most: int, limits: ProcessLimits | None = None
    ) -> None:
        """`at_most` is the highest number of characters of a PDF, or of pixels of a picture."""
        self._limits = limits or ProcessLimits()
        self._arguments = [
            kind,
            *(str(each) for each in (at_most, self._limits.seconds, self._limits.memory)),
        ]
        self._turnstile = asyncio.Semaphore(_AT_ONCE)

    async def run(self, data: bytes) -> bytes:
        """Return the output for this file; nothing if a limit has ended the process, or if it died.

        The process has ended when this returns or is cancelled.
        """
        async with self._turnstile:
            return await self._run(data)

    async def _run(self, data: bytes) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-B", str(_SCRIPT), *self._arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},  # no token, no key
            )
        except OSError as error:  # no memory, no file descriptors, no more processes
            log.warning("file_process_not_started", error=type(error).__name__)
            return b""
        try:
            async with asyncio.timeout(self._limits.seconds):
                output, _ = await process.communicate(data)
        except TimeoutError:
            return b""
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return output


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

    def __init__(self, *, at_most: int = DOCUMENT_CHARS, limits: ProcessLimits | None = None) -> None:
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
