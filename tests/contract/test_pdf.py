"""PDFs are read in a separate process, whatever they contain."""

import asyncio
import time

import pytest

from bot.errors import MediaReason, MediaUnreadable
from bot.media.isolated import PdfReader, PdfText, ProcessLimits
from tests.documents import encrypted_pdf, pdf_bomb, pdf_of, pdf_with, scanned_pdf

pytestmark = pytest.mark.slow

ENDLESS = pdf_with(b"BT /F1 12 Tf " + b"(a) Tj 1 0 0 1 0 0 Tm " * 400_000 + b"ET")
"""A page that takes minutes."""


async def read(data: bytes, *, at_most: int = 10_000, limits: ProcessLimits | None = None) -> PdfText:
    return await PdfReader(at_most=at_most, limits=limits).read(data)


async def problem_of(data: bytes, reading: PdfReader) -> MediaReason | None:
    """Return the reason for no text, None for a PDF with a text."""
    try:
        await reading.read(data)
    except MediaUnreadable as problem:
        return problem.reason
    return None


async def test_pages_are_numbered_and_empty_ones_left_out() -> None:
    result = await read(pdf_of("hello", "", "the end"))

    assert result == PdfText(text="[page 1]\nhello\n\n[page 3]\nthe end", pages=3, is_cut=False)


async def test_a_pdf_without_text_has_a_reason() -> None:
    expected: dict[bytes, MediaReason] = {
        encrypted_pdf("secret"): "pdf-encrypted",
        b"%PDF-1.4\n" + b"\x00garbage" * 50: "pdf-corrupt",
        pdf_of("hello")[:200]: "pdf-corrupt",
        pdf_of("", ""): "pdf-empty",
        pdf_with(): "pdf-empty",
        scanned_pdf(): "pdf-scanned",
    }
    reading = PdfReader(at_most=100)
    found = await asyncio.gather(*(problem_of(data, reading) for data in expected))
    assert found == list(expected.values())


async def test_a_long_pdf_is_read_up_to_a_limit() -> None:
    result = await read(pdf_of(*["word " * 20] * 3_000), at_most=2_000)

    assert (result.pages, len(result.text), result.is_cut) == (3_000, 2_000, True)


async def test_a_bomb_and_an_endless_page_hit_their_limits_without_blocking_others() -> None:
    limits = ProcessLimits(seconds=1, memory=256 * 1024 * 1024)
    reading = PdfReader(at_most=10_000, limits=limits)
    packed = pdf_bomb(100)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.02)
            beats += 1

    beating = asyncio.create_task(beat())
    began = time.monotonic()
    bomb, endless = await asyncio.gather(problem_of(packed, reading), problem_of(ENDLESS, reading))
    took = time.monotonic() - began
    beating.cancel()

    assert endless == "pdf-too-much"
    assert bomb == "pdf-too-much"
    assert took < 8  # starting a process is slow on a busy machine; its second is not
    assert beats > 10


async def test_a_cancelled_turn_stops_its_reading() -> None:
    reading = PdfReader(at_most=1_000)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await reading.read(ENDLESS)

    assert await reading.read(pdf_of("next")) == PdfText(text="[page 1]\nnext", pages=1, is_cut=False)


async def test_without_a_process_there_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.media.isolated.sys.executable", "/no/such/python")

    assert await problem_of(pdf_of("hello"), PdfReader()) == "pdf-too-much"
