"""Transcribes recordings with an OpenAI-compatible endpoint."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError, Timeout

from bot.errors import MediaReason, MediaUnreadable
from memory.openai_client import open_client

TIMEOUT_S = 75.0
"""For one recording, retries included: less than the deadline of a turn."""
_TEMPORARY = (408, 409, 425, 429)
_BAD_FILE = (400, 413, 415, 422)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAITranscriber:
    """Transcribes recordings with `model`, and with the `fallback` those that `model` does not take."""

    client: AsyncOpenAI
    model: str
    fallback: str
    timeout_s: float

    async def transcribe(self, data: bytes, *, ending: str) -> str:
        """Return the transcript, "" for silence. `ending` is the file ending of the format, such as ogg.

        Raises MediaUnreadable with a reason. "unheard": the endpoint does not take the recording. "unavailable": it
        does not answer in time. "deaf": it has no such model, or refuses us. Logs do not quote the endpoint.
        """
        try:
            async with asyncio.timeout(self.timeout_s):
                try:
                    return await self._ask(self.model, data, ending)
                except MediaUnreadable as refusal:
                    if refusal.reason != "unheard" or not self.fallback:
                        raise
                    return await self._ask(self.fallback, data, ending)
        except TimeoutError as error:
            raise _failure("unavailable", "timeout") from error

    async def _ask(self, model: str, data: bytes, ending: str) -> str:
        try:
            answer: object = await self.client.audio.transcriptions.create(
                file=(f"recording.{ending}", data), model=model
            )
        except (OpenAIError, OSError, ValueError) as error:
            raise _translate(error) from error
        text = answer if isinstance(answer, str) else getattr(answer, "text", None)
        if not isinstance(text, str):
            raise _failure("unavailable", "not understood")
        return text.strip()


@asynccontextmanager
async def open_transcriber(
    *, model: str, api_key: str | None, base_url: str | None, fallback: str = "", timeout_s: float = TIMEOUT_S
) -> AsyncGenerator[OpenAITranscriber]:
    """Open the model at `base_url`, by default at OpenAI's own. Close its connections at the end."""
    timeout = Timeout(timeout_s)
    async with open_client(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=1) as client:
        yield OpenAITranscriber(client=client, model=model, fallback=fallback, timeout_s=timeout_s)


def _translate(error: Exception) -> MediaUnreadable:
    if isinstance(error, APIStatusError):
        status = error.status_code
        if "insufficient_quota" in f"{error.code} {error.type}":
            return _failure("deaf", "quota")
        if status in _TEMPORARY or status >= 500:
            return _failure("unavailable", f"HTTP {status}")
        # A missing model is a 404, with some servers a 400 that names the model.
        is_file = status in _BAD_FILE and error.param != "model" and error.code != "model_not_found"
        return _failure("unheard" if is_file else "deaf", f"HTTP {status}")
    kind = (
        type(error.__cause__ or error).__name__
        if isinstance(error, APIConnectionError)
        else type(error).__name__
    )
    return _failure("unavailable", kind)


def _failure(reason: MediaReason, why: str) -> MediaUnreadable:
    log.warning("transcription_failed", reason=reason, why=why)
    return MediaUnreadable(reason)
