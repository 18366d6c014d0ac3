"""Recall with an embedding endpoint that fails, is slow or changes:

words still work, and no wrong vector is written.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from memory.history.message import Message
from memory.recall.embedders.embedder import EmbeddingError, EmbeddingInvalid
from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder
from memory.recall.recall import IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import make_ref
from tests.scripted_embeddings import EmbeddingFailure, Embeddings
from tests.scripted_openai import ScriptedOpenAI, scripted_openai

pytestmark = pytest.mark.slow

REF = make_ref()
NOW = 1_763_661_780.0
TALK = ("my sister moved to Lisbon", "the weather is awful", "our dog eats carrots", "the train was late")


@dataclass(frozen=True)
class Rig:
    server: ScriptedOpenAI
    index: InMemoryIndex
    recall: Recall

    async def write(self, *texts: str, start: int = 0) -> None:
        await self.recall.index([_item(start + number, text) for number, text in enumerate(texts)])

    async def search_ids(self, text: str) -> list[str]:
        question = RecallQuestion(text=text, now=NOW)
        return [hit.message_id for hit in await self.recall.search(REF, 0, question, k=1)]


@asynccontextmanager
async def rigged(*, timeout_s: float = 20.0) -> AsyncGenerator[Rig]:
    async with scripted_openai(embeddings=Embeddings(dimension=64)) as server:
        endpoint = EmbeddingEndpoint(
            model="m", base_url=server.base_url, timeout_s=timeout_s, more_s=10, opening_s=20
        )
        embedder = await open_openai_embedder(endpoint)
        index = InMemoryIndex()
        try:
            yield Rig(server, index, Recall(Spaces(serving=Space(embedder=embedder, index=index))))
        finally:
            await embedder.close()


def _item(number: int, text: str) -> IndexItem:
    message = Message(
        id=f"m{number}", role="user", text=text, sent_at=NOW - 9_000 + 60 * number, tokens=1, sequence=number
    )
    return IndexItem(ref=REF, epoch=0, message=message)


@pytest.mark.parametrize(
    "failure", ["server_error", "rate_limited", "wrong_dimension", "null", "nan", "nan_text", "hang"]
)
async def test_while_the_endpoint_fails_words_find_messages_and_nothing_is_written(
    failure: EmbeddingFailure,
) -> None:
    async with rigged(timeout_s=0.5 if failure == "hang" else 20) as rig:
        await rig.write(*TALK)
        before = dict(rig.index.points)

        rig.server.embeddings = Embeddings(dimension=64, failure=failure)
        with capture_logs() as logs:
            answer = await rig.search_ids("who moved to Lisbon?")
        with pytest.raises(EmbeddingError):
            await rig.write("we baked bread", start=4)

        assert answer == ["m0"]
        assert [entry["event"] for entry in logs] == ["recall_by_words_alone"]
        assert rig.index.points == before

        rig.server.embeddings = Embeddings(dimension=64)
        await rig.write("we baked bread", "and ate it", start=4)
        assert len(rig.index.points) == 6


async def test_a_changed_dimension_is_logged_with_the_model_and_both_sizes() -> None:
    async with rigged() as rig:
        await rig.write(*TALK)

        rig.server.embeddings = Embeddings(dimension=32)
        with capture_logs() as logs:
            await rig.search_ids("who moved to Lisbon?")
        with pytest.raises(EmbeddingInvalid, match=r"^m gave a vector of 32 dimensions instead of 64$"):
            await rig.write("we baked bread", start=4)

        assert [entry["reason"] for entry in logs] == ["m gave a vector of 32 dimensions instead of 64"]
        assert {len(point.dense or ()) for point in rig.index.points.values()} == {64}


async def test_logs_and_errors_contain_no_message_text() -> None:
    async with rigged() as rig:
        rig.server.embeddings = Embeddings(dimension=64, failure="server_error")
        with capture_logs() as logs:
            await rig.search_ids("where is the treasure buried?")
        with pytest.raises(EmbeddingError) as caught:
            await rig.write("the treasure is buried here")

        assert "treasure" not in f"{logs} {caught.value!r}"
