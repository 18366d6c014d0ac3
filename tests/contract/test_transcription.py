"""Transcription over HTTP by an endpoint that fails in every known way."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bot.errors import MediaUnreadable
from bot.media.transcriber import OpenAITranscriber, open_transcriber
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import Failure
from tests.scripted_transcriptions import Transcriptions
from tests.sent_files import make_voice_note


@asynccontextmanager
async def transcriber(
    behaviour: Transcriptions, *, timeout_s: float = 5, fallback: str = ""
) -> AsyncGenerator[tuple[ScriptedOpenAI, OpenAITranscriber]]:
    async with scripted_openai([]) as server:
        server.transcriptions = behaviour
        opening = open_transcriber(
            model="hear-1",
            api_key="sk-test",
            base_url=server.base_url,
            fallback=fallback,
            timeout_s=timeout_s,
        )
        async with opening as hearing:
            yield server, hearing
        assert server.invalid_requests == []


async def test_a_recording_is_transcribed_and_its_file_is_named_by_its_format() -> None:
    async with transcriber(Transcriptions(text=" buy three lemons \n")) as (server, hearing):
        heard = await hearing.transcribe(make_voice_note(), ending="ogg")

    assert heard == "buy three lemons"
    (recording,) = server.recordings
    assert (recording.model, recording.file_name, recording.data) == (
        "hear-1",
        "recording.ogg",
        make_voice_note(),
    )


async def test_silence_is_an_empty_text() -> None:
    async with transcriber(Transcriptions(text="  ")) as (_, hearing):
        assert await hearing.transcribe(make_voice_note(), ending="ogg") == ""


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure(status=400, message="Audio file might be corrupted or unsupported"), "unheard"),
        (Failure(status=415, message="unsupported"), "unheard"),
        (Failure(status=400, message="no such model", code="model_not_found"), "deaf"),
        (Failure(status=404, message="Not Found"), "deaf"),
        (Failure(status=401, message="Incorrect API key provided"), "deaf"),
        (Failure(status=429, message="quota", kind="insufficient_quota", code="insufficient_quota"), "deaf"),
        (Failure(status=429, message="slow down", retry_after_s=0.001), "unavailable"),
        (Failure(status=500, message="oops", retry_after_s=0.001), "unavailable"),
    ],
)
async def test_failures_of_a_transcription_are_distinguished(failure: Failure, reason: str) -> None:
    async with transcriber(Transcriptions(failure=failure)) as (_, hearing):
        with pytest.raises(MediaUnreadable) as caught:
            await hearing.transcribe(make_voice_note(), ending="ogg")

    assert caught.value.reason == reason


async def test_a_refused_format_is_sent_to_the_fallback_model() -> None:
    refusal = Failure(status=400, message="Audio file might be corrupted or unsupported")
    behaviour = Transcriptions(text="heard", failures={"hear-1": refusal})
    async with transcriber(behaviour, fallback="whisper-1") as (server, hearing):
        assert await hearing.transcribe(make_voice_note(), ending="ogg") == "heard"

    assert [recording.model for recording in server.recordings] == ["hear-1", "whisper-1"]


async def test_a_hanging_endpoint_is_given_up() -> None:
    async with transcriber(Transcriptions(hangs=True), timeout_s=0.2) as (_, hearing):
        with pytest.raises(MediaUnreadable) as caught:
            await hearing.transcribe(make_voice_note(), ending="ogg")

    assert caught.value.reason == "unavailable"


async def test_an_unreachable_endpoint_is_unavailable() -> None:
    opening = open_transcriber(model="hear-1", api_key=None, base_url="http://127.0.0.1:1/v1")
    async with opening as hearing:
        with pytest.raises(MediaUnreadable) as caught:
            await hearing.transcribe(make_voice_note(), ending="ogg")

    assert caught.value.reason == "unavailable"
