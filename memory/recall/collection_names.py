"""What a collection of vectors is called: by the embedder's space, how texts are analysed and how points are laid out."""

from memory.recall.embedders.embedder import EmbeddingSpace
from memory.recall.lexicon.analysis import RECIPE

COLLECTION_PREFIX = "mnemogram_"
LAYOUT = "3"
"""Of a point: its vectors' names and its payload (memory/recall/qdrant/points.py). Another layout is another collection."""


def collection_name(space: EmbeddingSpace, *, recipe: str = RECIPE, layout: str = LAYOUT) -> str:
    """At most 120 characters of `a-z0-9_-`; what is embedded, analysed or laid out otherwise has another name."""
    return f"{COLLECTION_PREFIX}{space.collection_slug}_terms{recipe}_points{layout}"
