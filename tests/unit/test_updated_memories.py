"""Updates: later statements of the same person about the same, found among the candidates of a search."""

from dataclasses import replace

from memory.chat_history import ChatHistory
from memory.facts.selection import RecallBudget
from memory.history.message import Sender
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space, Spaces
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import WordTokenizer, make_message, make_ref

REF = make_ref()
QUESTION = "how many requests a day does the key of my weather app allow?"
OLD = "The key of my weather app allows 1,000 requests a day"
NEW = "The key of my weather app allows 1,200 requests a day now"
OTHERS = ["Ben plays the violin", "The train leaves at nine", "It rained in Bergen", "We had soup"]


async def _marks(*lines: tuple[str, int | None], k: int = 8) -> dict[str, str]:
    """Return the text → marks of the lines that are recalled for QUESTION. None as the sender is the bot."""
    store, recall = (
        InMemoryHistory(),
        Recall(Spaces(serving=Space(embedder=FakeEmbedder(), index=InMemoryIndex()))),
    )
    messages = [
        replace(
            make_message(f"m{number}", text, role="user" if sender else "assistant"),
            sender=Sender(id=sender, name=f"Person {sender}") if sender else None,
            sent_at=60.0 * number,
        )
        for number, (text, sender) in enumerate(lines)
    ]
    stored = await store.append(REF, messages, epoch=0)
    await recall.index([IndexItem(ref=REF, epoch=0, message=each) for each in stored])
    history = ChatHistory(
        ref=REF, epoch=0, store=store, recall=recall, tokenizer=WordTokenizer(),
        clock=lambda: 9e3, new_id=lambda: "unused",
    )  # fmt: skip
    memories = await history.recall(QUESTION, RecallBudget(lines=k), asker_id=1)
    return {
        each.message.text: f"{'newer ' if each.is_update else ''}{'older' if each.update else ''}".strip()
        for each in memories.messages
    }


async def test_the_older_and_the_newer_statement_are_marked() -> None:
    marks = await _marks((OLD, 1), *((each, 1) for each in OTHERS), (NEW, 1))
    assert (marks[OLD], marks[NEW]) == ("older", "newer")


async def test_statements_of_different_people_and_of_the_bot_update_nothing() -> None:
    marks = await _marks((OLD, 1), *((each, 1) for each in OTHERS), (NEW, 2), (NEW, None))
    assert not any(marks.values())


async def test_a_later_question_updates_nothing() -> None:
    marks = await _marks((OLD, 1), *((each, 1) for each in OTHERS), ("Weather app key?", 1))
    assert marks[OLD] == ""


async def test_the_newer_statement_takes_the_next_line_after_the_older_one() -> None:
    lines = [(f"{OLD} on plan {number}", 2) for number in range(12)]
    marks = await _marks((OLD, 1), *lines, (NEW, 1), k=2)
    assert marks.keys() == {OLD, NEW}
