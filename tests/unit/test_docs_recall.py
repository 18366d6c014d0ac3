"""docs/recall.md: what it quotes is what we render, its commands exist, and its tables and figures are the code's."""

import json
import re
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.core import TyperGroup

from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.parts import PromptBudget, PromptParts
from bot.agent.prompt.text import RECALLED_HEADING
from bot.cli.console import build_console
from bot.settings import Settings
from memory.embedded.index.upkeep import UpkeepTimes
from memory.embedded.index.vacuum import SLICE
from memory.history.message import Message, Role, Sender
from memory.history.sessions import SESSION_GAP_S, SESSION_MESSAGES
from memory.history.store import PEOPLE_LIMIT
from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.recall.embedders.openai import EmbeddingEndpoint
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.lexicon.scripts import READ_LIMIT
from memory.recall.lexicon.terms import AVERAGE_LENGTH, K1, TERM_LIMIT, WORD_LIMIT, B
from memory.recall.qdrant.points import to_batches
from memory.recall.ranking import load_weights
from memory.recall.ranking_features import FEATURES, REACH
from memory.recall.recall import LIST_LIMIT
from memory.recall.space_record import SWEEP_AFTER_S
from memory.recall.vector_index import TERMS_TOLD, VectorPoint
from memory.recall.walk import PAGE
from tests.unit.agent.kit import TOKENIZER

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXT = (DOCS / "recall.md").read_text("utf-8")
_SVG = "{http://www.w3.org/2000/svg}"


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, "" for those without one."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return [body.removesuffix("\n") for found, body in fenced if found == language]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose heading begins so, without markup."""
    table = TEXT[TEXT.index(f"\n{heading}") :].lstrip("\n").partition("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def bare(cell: str) -> list[str]:
    """What stands in backquotes."""
    return re.findall(r"`([^`\n]+)`", cell)


# What it quotes and commands ------------------------------------------------------------------------------
OLGA, BEN = Sender(id=1, name="Olga"), Sender(id=2, name="Ben")


def said(at: str, text: str, *, sequence: int, by: Sender | None = None) -> Message:
    sent_at = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
    role: Role = "user" if by else "assistant"
    return Message(
        id=f"m{sequence}", role=role, text=text, sent_at=sent_at, tokens=9, sender=by, sequence=sequence
    )


ASKS_BEN = said("2026-08-14 18:03", "does anybody know people in Portugal?", sequence=6, by=BEN)
ANNA = said("2026-08-14 18:04", "my sister Anna lives in Lisbon, she has a spare room", sequence=7, by=OLGA)
TRAIN = said("2026-11-13 09:31", "The night train to Lisbon leaves at 21:43.", sequence=90)
QUESTION = said("2026-11-20 18:00", "where could we sleep in Lisbon?", sequence=300, by=BEN)


def told(parts: PromptParts) -> str:
    """The recalled messages as the model reads them."""
    budget = PromptBudget(window=8_000, answer_tokens=500, order="cached")
    prompt = assemble(parts, budget, meter=TOKENIZER)
    return next(each.text for each in prompt.messages if each.text.startswith(RECALLED_HEADING))


def test_recalled_messages_are_told_as_it_shows() -> None:
    parts = PromptParts(system="Help.", recalled=[ANNA, TRAIN], prompt=[QUESTION], is_group=True)

    assert told(parts) == blocks("text")[0]
    assert QUESTION.text in TEXT


def test_neighbours_are_told_as_it_shows() -> None:
    parts = PromptParts(
        system="Help.", recalled=[ANNA], beside={ANNA.id: [ASKS_BEN]}, prompt=[QUESTION], is_group=True
    )

    assert told(parts) == blocks("text")[1]


def test_every_command_exists() -> None:
    console = typer.main.get_command(build_console())
    assert isinstance(console, TyperGroup)
    lines = [line for block in blocks("") for line in block.splitlines()]
    commands = [line for line in [*lines, *bare(TEXT)] if line.startswith(("mnemogram ", "python "))]

    assert commands
    for line in commands:
        program, name, *words = line.split()
        options = {word for word in words if re.match(r"-{1,2}[a-z]", word)}
        if program == "python":
            source = (ROOT / name).read_text("utf-8")
            assert [option for option in options if f'"{option}"' not in source] == [], line
        else:
            known = {option for each in console.commands[name].params for option in each.opts}
            assert options <= known, line


# What it lists and counts ---------------------------------------------------------------------------------
def test_the_features_and_their_weights_are_those_that_rank() -> None:
    weights = load_weights()
    shown = {bare(name)[0]: cells for name, _, *cells in rows("| feature | what it tells |")}

    assert list(shown) == list(FEATURES)
    assert shown == {
        name: [f"{kind[name]:g}" if name in kind else "–" for kind in (weights.hybrid, weights.lexical)]
        for name in FEATURES
    }


def test_what_carries_recall_is_told_of_features_that_there_are() -> None:
    named = {name for row in rows("| without | lost |") for name in bare(row[0])}

    assert named <= set(FEATURES)


def test_the_floor_is_the_one_that_is_used() -> None:
    weights = load_weights()
    floors = [
        f"{floor.base:g} + {floor.growth:g} × ln(candidates)"
        for floor in (weights.hybrid_floor, weights.lexical_floor)
    ]
    measured = json.loads(files("memory.recall").joinpath("ranker_weights.json").read_text("utf-8"))["floor"][
        "measured"
    ]

    assert [floor for floor in floors if floor not in TEXT] == []
    assert f"at most {weights.hybrid_floor.margin:g} point below" in TEXT
    assert weights.hybrid_floor.margin == weights.lexical_floor.margin
    assert [share for share in re.findall(r"\d+ of \d+", measured) if share not in TEXT] == []


def test_the_fields_of_a_point_are_those_that_are_written() -> None:
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
    ((written,),) = to_batches([point])

    listed = [name for row in rows("| field | |") for name in bare(row[0])]

    assert sorted(listed) == sorted(written.payload or {})


def test_the_settings_have_the_defaults_that_are_listed() -> None:
    for name, default, _ in rows("| setting | default |"):
        actual = Settings.model_fields[bare(name)[0].lower()].default
        assert default.strip("`") == ("unset" if actual is None else str(actual)), name


def test_the_figures_are_those_of_the_code() -> None:
    times, endpoint, minilm = UpkeepTimes(), EmbeddingEndpoint(model="any"), MiniLMEmbedder.identity
    assert (REACH, SESSION_GAP_S) == (2, 3600.0)  # "two before and after", "a pause of an hour"
    figures = [
        f"The best `RECALL_K` messages ({Settings.model_fields['recall_k'].default})",
        f"k1 {K1}, b {B}, with a constant average length of {AVERAGE_LENGTH:.0f} words",
        f"({minilm.dimension} dimensions, ",
        f"the first {TERMS_TOLD}, for the second request",
        f"pause of an hour, or after {SESSION_MESSAGES} messages",
        f"after {times.quiet:.0f} seconds of silence, or after {times.patience:.0f} without",
        f"two lists of the {LIST_LIMIT} best messages each",
        f"{PAGE} at a time",
        f"{SWEEP_AFTER_S:.0f} seconds later",
        f"in slices of {SLICE} points",
        f"at most {PEOPLE_LIMIT} people",
        f"{READ_LIMIT:,} characters and {WORD_LIMIT:,} words",
        f"{endpoint.patience_s(1):.0f} s at most with a second try",
        f"endpoints up to {endpoint.max_input_tokens:,}",
        f"at most {TERM_LIMIT:,} terms",
    ]

    assert [figure for figure in figures if figure not in TEXT] == []


def test_the_plot_shows_the_figures_of_the_table() -> None:
    drawn: dict[str, list[str]] = {}
    label = ""
    for element in ET.parse(DOCS / "recall.svg").iter(f"{_SVG}text"):  # noqa: S314 - our own file
        text = element.text or ""
        if element.get("x") == "20":
            label = text
        elif re.fullmatch(r"\d+\.\d", text):
            drawn.setdefault(label, []).insert(0, text)

    assert drawn == {name: cells[:3] for name, *cells in rows("| retriever | recall@5 |")}


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"),
        *("docs/recall.md", "docs/memory.md", "docs/telegram.md", "docs/access.md", "docs/operating.md"),
        *("docs/reliability.md", "docs/security.md", "SECURITY.md", "examples/README.md"),
    ],
)
def test_every_link_leads_somewhere(document: str) -> None:
    path = ROOT / document
    links = [link for link in re.findall(r"\]\(([^)]+)\)", path.read_text("utf-8")) if "://" not in link]

    assert [link for link in links if not leads_somewhere(path, link)] == []


def leads_somewhere(document: Path, link: str) -> bool:
    """Whether there is the file, and in it the heading, that a document links to."""
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    return target.exists() and (not anchor or anchor in anchors(target.read_text("utf-8")))


def anchors(text: str) -> set[str]:
    """What links to the headings of a document are called."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
