"""`mnemogram reindex` in a separate process, stopped by Ctrl-C."""

import asyncio
import signal
from pathlib import Path

import pytest

from chaos.rig.program import start_program, until
from tests.contract.console_rig import on_stores, remember, settings_in
from tests.scripted_embeddings import Embeddings
from tests.scripted_openai import scripted_openai

ANNA = ["My sister Anna lives in Lisbon.", "Noted.", "I like strong coffee.", "So do I."]


async def test_ctrl_c_stops_a_reindex_and_keeps_its_progress(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings_in(monkeypatch, tmp_path, tmp_path / "data")
    await asyncio.to_thread(on_stores, remember(1001, ANNA))
    async with scripted_openai([], embeddings=Embeddings(dimension=48, delay_s=1)) as endpoint:
        settings = {
            "DATA_DIR": str(tmp_path / "data"),
            "OPENAI_BASE_URL": endpoint.base_url,
            "OPENAI_EMBEDDING_MODEL": "scripted-embedding",
            "LEASE_S": "1",
        }
        program = await start_program("reindex", environment=settings, log=tmp_path / "reindex.log")
        await until(lambda: bool(endpoint.embedding_requests), within_s=60)  # whether the model works at all
        endpoint.embeddings = Embeddings(dimension=48, failure="hang")
        await until(lambda: len(endpoint.embedding_requests) > 1, within_s=60)
        program.process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(program.process.wait(), 30) == 1
        assert "Stopped. Finished messages stay indexed" in " ".join(program.log.read_text().split())

        endpoint.embeddings = Embeddings(dimension=48)
        again = await start_program("reindex", environment=settings, log=tmp_path / "again.log")
        assert await asyncio.wait_for(again.process.wait(), 60) == 0
        assert "Complete: 4 messages in" in again.log.read_text()
