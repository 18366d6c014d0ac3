"""Reads the text of PDFs, each in a process of its own: a PDF may be made to harm its reader."""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import structlog

from bot.errors import MediaReason, MediaUnreadable

_SCRIPT = Path(__file__).with_name("pdf_process.py")
_AT_ONCE = 2
"""Processes at the same time. Reading is pure computation."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """The text of a PDF, each page under a line with its number. `is_cut` is True if only a part was read."""

    text: str
    pages: int
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfLimits:
    """Limits for one PDF. No page begins after half of the time; at its end the process is killed."""

    seconds: int = 20
    memory: int = 768 * 1024 * 1024


DOCUMENT_CHARS = 500_000
"""Characters that are read of one document: some 125,000 tokens, more than most windows."""


class PdfReader:
    """Reads PDFs, each in a process of its own, a few at a time."""

    def __init__(self, *, at_most: int = DOCUMENT_CHARS, limits: PdfLimits | None = None) -> None:
        """`at_most` is the highest number of characters from one PDF."""
        self._at_most = at_most
        self._limits = limits or PdfLimits()
        self._turnstile = asyncio.Semaphore(_AT_ONCE)

    async def read(self, data: bytes) -> PdfText:
        """Return the text of a PDF. The process has ended when this returns, fails or is cancelled.

        Raises MediaUnreadable with the reason for no text: a password, a broken file, empty pages, only pictures, or
        more work than allowed. It is "pdf-too-much" if a limit has ended the process, or if it died.
        """
        async with self._turnstile:
            output = await self._run(data)
        try:
            answer = cast("dict[str, Any]", json.loads(output))
        except ValueError as error:
            raise MediaUnreadable("pdf-too-much") from error
        if answer.get("problem") in get_args(MediaReason):
            raise MediaUnreadable(answer["problem"])
        return PdfText(text=answer["text"], pages=answer["pages"], is_cut=answer["is_cut"])

    async def _run(self, data: bytes) -> bytes:
        limits = self._limits
        arguments = [str(each) for each in (self._at_most, limits.seconds, limits.memory)]
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-B", str(_SCRIPT), *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},  # no token, no key
            )
        except OSError as error:  # no memory, no file descriptors, no more processes
            log.warning("pdf_process_not_started", error=type(error).__name__)
            return b""
        try:
            async with asyncio.timeout(limits.seconds):
                output, _ = await process.communicate(data)
        except TimeoutError:
            return b""
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return output
