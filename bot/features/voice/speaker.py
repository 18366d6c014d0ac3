"""Speaks texts with an OpenAI-compatible endpoint."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from openai import AsyncOpenAI, OpenAIError, Timeout

from bot.media.formats import opus_seconds
from memory.artifacts.store import LARGEST_FILE
from memory.openai_client import open_client

_VOICE = "alloy"
_TIMEOUT_S = 30.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISpeaker:
    """Speaks texts with `model`."""

    client: AsyncOpenAI
    model: str

    async def speak(self, text: str) -> bytes | None:
        """Return the text as Ogg Opus, which Telegram wants; None after a failure. Logs do not quote the endpoint."""
        try:
            answer = await self.client.audio.speech.create(
                input=text, model=self.model, voice=_VOICE, response_format="opus"
            )
        except (OpenAIError, OSError, ValueError) as error:
            log.warning(
                "speech_failed", error=type(error).__name__, status=getattr(error, "status_code", None)
            )
            return None
        data = answer.content
        if not 0 < len(data) <= LARGEST_FILE or not opus_seconds(data):
            log.warning("speech_failed", error="no Ogg Opus", size=len(data))
            return None
        return data


@asynccontextmanager
async def open_speaker(
    *, model: str, api_key: str | None, base_url: str | None
) -> AsyncGenerator[OpenAISpeaker]:
    """Open the model at `base_url`, by default at OpenAI's own. Close its connections at the end."""
    timeout = Timeout(_TIMEOUT_S)
    async with open_client(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=1) as client:
        yield OpenAISpeaker(client=client, model=model)
