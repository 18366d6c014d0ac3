"""BM25 as sparse vectors: a message's weights and a question's, whose product is the score but for the IDF."""

from collections.abc import Mapping

from memory.recall.lexicon.analysis import SparseVector

K1 = 1.2
B = 0.4
"""How much a text's length counts: short messages differ in length by chance (0.4 was best on conversations)."""
AVERAGE_LENGTH = 23.0
"""Words of a message on average: LoCoMo's have 22.6. A constant, so that a message's weights never change; 16 to 30
make no difference to what is found."""


def message_vector(counts: Mapping[int, int], *, length: int) -> SparseVector:
    """How much each term of a message of so many words weighs. The IDF is the index's."""
    saturation = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    indices = tuple(counts)
    return SparseVector(
        indices=indices,
        values=tuple(counts[each] * (K1 + 1) / (counts[each] + saturation) for each in indices),
    )


def question_vector(weights: Mapping[int, float]) -> SparseVector:
    """The terms that are searched by; a term said twice weighs no more."""
    return SparseVector(indices=tuple(weights), values=tuple(weights.values()))
