"""Gathers the candidates of every question that the ranker's weights and floor are learned from."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.features.parts import Stores
from memory.recall.recall import Candidates
from rig.conversations import gather, store_conversation
from rig.locomo import Conversation, Question
from rig.long_replies import with_long_replies
from rig.own_talk import make_conversations
from rig.retrievers import EvaluationSet

FOLDS = 5
"""Parts of each public set. Each is judged by weights that were learned without it."""
OWN = "our own talk"
OWN_CONVERSATIONS = 6
_PARTS = ((12, 6), (60, 3))
"""Sizes of smaller chats, with their number in each conversation: the floor must suit them too."""
_STRANGE_IN_PARTS = 10
"""Of the strange questions, one in so many is asked in a part of a conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSet(EvaluationSet):
    """Conversations to learn from."""

    importance: float
    """Importance of each question."""
    teaches_floor: bool = False
    """True if the floor is learned from it too: then strange questions are asked, and parts of the conversations."""
    teaches_words: bool = False
    """True if the weights for words alone are learned from it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuestion:
    """A question with its candidates before ranking."""

    set_name: str
    conversation: str
    fold: int | None
    """The fold that is judged with it; None for talk that is learned from in every fold."""
    chat: str
    """Size of a part of the conversation; empty for the whole."""
    question: Question
    hybrid: Candidates
    """Candidates with vectors."""
    lexical: Candidates | None
    """Candidates by words alone, if their weights are learned from the set."""
    turn_ids: Mapping[str, str]
    has_answer: bool
    importance: float
    teaches_floor: bool

    @property
    def teaches_weights(self) -> bool:
        """True for questions of whole conversations that have an answer there."""
        return self.has_answer and not self.chat


def learning_sets(public: Sequence[Conversation], private: Sequence[Conversation]) -> list[LearningSet]:
    """Return LoCoMo's conversations in three forms, other talk with a bot, and our own talk."""
    chats = [each.as_private_chat() for each in public]
    return [
        LearningSet(
            name="LoCoMo", conversations=public, importance=1.0, teaches_floor=True, teaches_words=True
        ),
        LearningSet(
            name="LoCoMo as private chats",
            conversations=chats,
            importance=1.0,
            teaches_floor=True,
            teaches_words=True,
        ),
        LearningSet(
            name="LoCoMo as private chats with long replies",
            conversations=with_long_replies(chats),
            importance=1.0,
            teaches_floor=True,
        ),
        LearningSet(
            name="talk with a bot",
            conversations=[each.as_private_chat() for each in private],
            importance=1.5,
            teaches_floor=True,
        ),
        LearningSet(name=OWN, conversations=make_conversations(OWN_CONVERSATIONS), importance=0.5),
    ]


async def gather_set(stores: Stores, learned: LearningSet) -> list[RankedQuestion]:
    """Ask the questions of each conversation, and strange ones, in the whole of it and in parts."""
    asked: list[RankedQuestion] = []
    for number, conversation in enumerate(learned.conversations):
        sys.stderr.write(
            f"{learned.name}, {conversation.name}: {len(conversation.turns)} messages, "
            f"{len(conversation.questions)} questions\n"
        )
        fold = None if learned.name == OWN else number % FOLDS
        strange = learned.strange_to(conversation) if learned.teaches_floor else []
        asked += await _ask(stores, learned, conversation, strange, fold=fold)
        for size, count in _PARTS if learned.teaches_floor else ():
            for place in range(count):
                first = place * (len(conversation.turns) - size) // max(1, count - 1)
                part, some = conversation.part(first, size), strange[place::_STRANGE_IN_PARTS]
                asked += await _ask(
                    stores, learned, part, some, fold=fold, chat=f"{size} messages", number=place
                )
    return asked


async def _ask(
    stores: Stores,
    learned: LearningSet,
    conversation: Conversation,
    strange: Sequence[Question],
    *,
    fold: int | None,
    chat: str = "",
    number: int = 0,
) -> list[RankedQuestion]:
    stored = await store_conversation(stores, conversation, chat=f"{learned.name} {chat} {number}")
    return [
        RankedQuestion(
            set_name=learned.name,
            conversation=conversation.name,
            fold=fold,
            chat=chat,
            question=question,
            hybrid=await gather(stores, stored, question),
            lexical=await gather(stores, stored, question, by_words_alone=True)
            if learned.teaches_words
            else None,
            turn_ids=stored.turn_ids,
            has_answer=has_answer,
            importance=learned.importance,
            teaches_floor=learned.teaches_floor,
        )
        for questions, has_answer in ((conversation.questions, True), (strange, False))
        for question in questions
    ]
