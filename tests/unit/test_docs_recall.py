"""docs/recall.md: its quotations, commands, tables and figures are right."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.parts import PromptBudget, PromptParts
from bot.agent.prompt.text import RECALLED_HEADING
from memory.history.message import Message, Role, Sender
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.qdrant.points import to_batches
from memory.recall.ranking import FEATURES, load_weights
from memory.recall.vector_index import VectorPoint
from tests.unit.agent.kit import TOKENIZER, hit, recalls

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXT = (DOCS / "recall.md").read_text("utf-8")
_SVG = "{http://www.w3.org/2000/svg}"


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, "" for those without one."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return [body.removesuffix("\n") for found, body in fenced if found == language]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins with this, without markup."""
    table = TEXT[TEXT.index(f"\n{heading}") :].lstrip("\n").partition("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def backquoted(cell: str) -> list[str]:
    """Return the words in backquotes."""
    return re.findall(r"`([^`\n]+)`", cell)


# Quotations and commands
OLGA, BEN = Sender(id=1, name="Olga"), Sender(id=2, name="Ben")


def make_message(at: str, text: str, *, sequence: int, by: Sender | None = None) -> Message:
    sent_at = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
    role: Role = "user" if by else "assistant"
    return Message(
        id=f"m{sequence}", role=role, text=text, sent_at=sent_at, tokens=9, sender=by, sequence=sequence
    )


ASKS_BEN = make_message("2026-08-14 18:03", "does anybody know people in Portugal?", sequence=6, by=BEN)
ANNA = make_message(
    "2026-08-14 18:04", "my sister Anna lives in Lisbon, she has a spare room", sequence=7, by=OLGA
)
TRAIN = make_message("2026-11-13 09:31", "The night train to Lisbon leaves at 21:43.", sequence=90)
QUESTION = make_message("2026-11-20 18:00", "where could we sleep in Lisbon?", sequence=300, by=BEN)


def recalled_text(parts: PromptParts) -> str:
    """The recalled messages as the model reads them."""
    budget = PromptBudget(window=8_000, room=7_500, order="cached")
    prompt = assemble(parts, budget, meter=TOKENIZER)
    return next(each.text for each in prompt.messages if each.text.startswith(RECALLED_HEADING))


def test_recalled_messages_are_rendered_as_documented() -> None:
    parts = PromptParts(
        system="Help.", recalled=recalls(hit(ANNA), hit(TRAIN)), prompt=[QUESTION], is_group=True
    )

    assert recalled_text(parts) == blocks("text")[0]
    assert QUESTION.text in TEXT


# Lists and figures
def test_the_documented_features_exist() -> None:
    named = {name for row in rows("| without | lost |") for name in backquoted(row[0])}

    assert named <= set(FEATURES)


def test_the_documented_floor_is_used() -> None:
    weights = load_weights()
    hybrid, lexical = weights.hybrid_floor, weights.lexical_floor

    assert (
        f"{hybrid.base:g} + {hybrid.growth:g} × ln(candidates, at most {hybrid.many}) + {hybrid.talk:g} × length - "
        f"{hybrid.coverage:g} × coverage - {hybrid.meaning:g} × best cosine" in TEXT
    )
    assert f"{lexical.base:g} + {lexical.growth:g} × ln(candidates) without" in TEXT
    assert (lexical.coverage, lexical.meaning, lexical.talk) == (0.0, 0.0, 0.0)
    assert f"up to {hybrid.margin:g} points below ({lexical.margin:g} without vectors)" in TEXT
    assert f"more than {hybrid.spread:g} points ({lexical.spread:g}) below the best" in TEXT


def test_the_documented_weights_are_used() -> None:
    weights = load_weights()
    documented = {backquoted(row[0])[0]: row[2:] for row in rows("| feature | meaning |")}
    kinds = (
        weights.hybrid,
        weights.in_long_talk,
        weights.for_statements,
        weights.for_new_words,
        weights.lexical,
    )

    assert documented == {
        name: [f"{each[name]:g}" if name in each else "–" for each in kinds] for name in FEATURES
    }


def test_the_documented_fields_of_a_point_are_written() -> None:
    point = VectorPoint(
        context_id="c",
        epoch=0,
        message_id="m",
        role="user",
        sender_id=1,
        sent_at=0.0,
        sequence=0,
        session=0,
        dense=[1.0],
        sparse=SparseVector(indices=(1,), values=(1.0,)),
    )
    ((message, key),) = to_batches([point, replace(point, slot=1)])

    listed = [name for row in rows("| field | |") for name in backquoted(row[0])]

    assert sorted(listed) == sorted(message["payload"].keys() | key["payload"].keys())
