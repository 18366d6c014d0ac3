"""Files that are read in a process of their own: a PDF or a picture may be made to harm its reader."""

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog

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
