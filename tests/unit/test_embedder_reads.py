"""Which texts each embedder reads: the vector of another would only mislead."""

import pytest

from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder
from tests.fakes.embedder import FakeEmbedder

BLANK = ["", " \n\t", "\u3000"]


@pytest.mark.parametrize("text", ["my sister", "¿Dónde vive?", "42", "Tokyo 東京 and Kyoto", "😀 thanks"])
def test_minilm_reads_what_is_mostly_latin(text: str) -> None:
    assert MiniLMEmbedder().reads(text)


@pytest.mark.parametrize(
    "text",
    [
        *BLANK,
        "моя сестра",
        "我妹妹在儿童医院当护士",
        "خواهرم کجا زندگی می‌کند",
        "😀👍",
        "?!",
        "моя сестра in Lisbon",
    ],
)
def test_minilm_reads_nothing_else(text: str) -> None:
    assert not MiniLMEmbedder().reads(text)


async def test_an_openai_compatible_model_and_the_fake_read_all_that_is_not_blank() -> None:
    opened = await open_openai_embedder(
        EmbeddingEndpoint(model="any", base_url="http://127.0.0.1:9", dimension=8)
    )
    for embedder in (opened, FakeEmbedder()):
        assert [embedder.reads(text) for text in ("моя сестра", "我", "😀", *BLANK)] == [True] * 3 + [
            False
        ] * 3
    await opened.close()
