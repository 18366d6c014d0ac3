"""Made-up chats: sizes by a power law, vectors of real size, talk that keeps to a topic for a while."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from memory.recall.lexicon.analysis import SparseVector
from memory.recall.vector_index import VectorPoint, VectorQuery, Where

WORDS = 50_000
"""Different words of all chats; the n-th is n times as rare as the first."""
WORDS_OF_A_MESSAGE, WORDS_OF_A_QUESTION = 14, 6
TOPICS = 1_000
WORDS_OF_A_TOPIC = 60
"""Half of what is said is of these words, the rest of any."""
SESSION = 20
"""Messages of a stretch of talk: of one topic."""
WINDOW = 60
"""The newest messages of a chat are in its prompt: a search leaves them out."""


@dataclass(slots=True)
class Crowd:
    """Chats that talk; `sizes` is how many messages each has so far."""

    random: Generator
    chats: int
    dimension: int
    sizes: list[int] = field(init=False)
    _topics: NDArray[np.float32] = field(init=False)
    _topic_of: dict[tuple[int, int], int] = field(init=False, default_factory=dict[tuple[int, int], int])

    def __post_init__(self) -> None:
        self.sizes = [0] * self.chats
        self._topics = self._unit(self._noise(TOPICS))

    def context_id(self, chat: int) -> str:
        """What the index calls this chat."""
        return f"chat-{chat}"

    def next_points(self, count: int) -> list[VectorPoint]:
        """So many messages more, each of any chat: the n-th chat says an n-th of what the first says."""
        shares = 1 / np.arange(1, self.chats + 1)
        chats = [int(each) for each in self.random.choice(self.chats, size=count, p=shares / shares.sum())]
        sequences = [self._next_sequence(chat) for chat in chats]
        topics = [self._topic(chat, sequence) for chat, sequence in zip(chats, sequences, strict=True)]
        vectors = self._vectors_about(topics)
        return [
            self._point(chat, sequence, topic, vector)
            for chat, sequence, topic, vector in zip(chats, sequences, topics, vectors, strict=True)
        ]

    def some_chat(self) -> int:
        """One that asks: the more, the more it has said."""
        sizes = np.array(self.sizes)
        return int(self.random.choice(self.chats, p=sizes / sizes.sum()))

    def query(self, chat: int, *, limit: int) -> VectorQuery:
        """A question in this chat, about what was talked of before its prompt."""
        older = max(self.sizes[chat] - WINDOW, 1)
        topic = self._topic(chat, int(self.random.integers(older)))
        (dense,) = self._vectors_about([topic])
        return VectorQuery(
            context_id=self.context_id(chat),
            epoch=0,
            dense=dense,
            sparse=self._words_about(topic, WORDS_OF_A_QUESTION),
            limit=limit,
            where=Where(before_sequence=older),
        )

    def _next_sequence(self, chat: int) -> int:
        self.sizes[chat] += 1
        return self.sizes[chat] - 1

    def _topic(self, chat: int, sequence: int) -> int:
        session = (chat, sequence - sequence % SESSION)
        if session not in self._topic_of:
            self._topic_of[session] = int(self.random.integers(TOPICS))
        return self._topic_of[session]

    def _point(self, chat: int, sequence: int, topic: int, dense: list[float]) -> VectorPoint:
        return VectorPoint(
            context_id=self.context_id(chat),
            epoch=0,
            message_id=str(UUID(bytes=self.random.bytes(16))),
            role="assistant" if sequence % 2 else "user",
            sender_id=int(self.random.integers(4)),
            sent_at=1_700_000_000.0 + 60 * sequence,
            sequence=sequence,
            session=sequence - sequence % SESSION,
            dense=dense,
            sparse=self._words_about(topic, WORDS_OF_A_MESSAGE),
        )

    def _vectors_about(self, topics: Sequence[int]) -> list[list[float]]:
        """Unit vectors with the digits of 32-bit floats, as embedders give them; of one topic they are alike by half."""
        return self._unit(self._topics[list(topics)] + self._unit(self._noise(len(topics)))).tolist()

    def _words_about(self, topic: int, count: int) -> SparseVector:
        """Each once; their numbers all over 32 bits, as hashes are."""
        any_words = {int(WORDS ** self.random.random()) for _ in range(count // 2)}
        own = {
            WORDS + topic * WORDS_OF_A_TOPIC + int(each)
            for each in self.random.integers(WORDS_OF_A_TOPIC, size=count // 2)
        }
        indices = tuple(rank * 2_654_435_761 % 2**32 for rank in sorted(any_words | own))
        weights = self.random.uniform(0.4, 1.6, len(indices))
        return SparseVector(indices=indices, values=tuple(round(float(weight), 4) for weight in weights))

    def _noise(self, count: int) -> NDArray[np.float32]:
        return self.random.standard_normal((count, self.dimension)).astype(np.float32)

    def _unit(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
