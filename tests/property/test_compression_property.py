"""The compression plan and the summary for generated conversations."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Role
from memory.history.summary import (
    ArtifactNote,
    SummaryFact,
    SummaryText,
    fit_summary,
    is_blank,
    render_summary,
)
from memory.history.transcript import Excerpt, Line, render_line
from memory.summary.compression import CompressionLimits, line_tokens, plan_compression
from memory.tokens import Tokenizer
from tests.messages import ids, make_message

ROLES: tuple[Role, ...] = ("user", "user", "assistant", "system")
TEXTS = st.text(max_size=40) | st.sampled_from(["", "## Tool: x", "a\u2028b", "\ud800", '"}', "word " * 300])
TOKENIZER = Tokenizer(encoding="o200k_base")


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    drawn = draw(st.lists(st.tuples(st.sampled_from(ROLES), TEXTS, st.integers(0, 400)), max_size=90))
    return [
        replace(make_message(f"m{n}", text, role=role), sequence=3 * n, tokens=tokens)
        for n, (role, text, tokens) in enumerate(drawn)
    ]


@st.composite
def some_limits(draw: st.DrawFn) -> CompressionLimits:
    return CompressionLimits(
        trigger_tokens=1_000,
        trigger_messages=draw(st.integers(1, 100)),
        keep_tokens=draw(st.integers(0, 2_000)),
        keep_messages=draw(st.integers(1, 10)),
        piece_tokens=draw(st.integers(64, 3_000)),
        summary_tokens=100,
    )


def ledger_of(messages: Sequence[Message]) -> list[LedgerTurn]:
    """Return a ledger with a call for every third message."""
    return [
        LedgerTurn(
            first_sequence=message.sequence or 0,
            last_sequence=message.sequence or 0,
            entries=(
                LedgerEntry(id=message.id, kind="tool", agent="", name="t", input="{}", output=message.text),
            ),
        )
        for message in messages[::3]
    ]


@given(conversations(), some_limits())
def test_i05_a_plan_covers_the_oldest_whole_exchanges_in_order(
    messages: list[Message], limits: CompressionLimits
) -> None:
    plan = plan_compression(messages, ledger_of(messages), limits=limits)

    if plan is None:
        return
    covered = [message for piece in plan.pieces for message in piece.covers]
    assert [*covered, *plan.kept] == messages
    assert covered
    assert len(plan.kept) >= limits.keep_messages
    assert _is_boundary(covered[-1], plan.kept[0]) or len(messages) > 64
    lines = [line for piece in plan.pieces for line in piece.lines]
    told = "".join(line.text for line in lines if isinstance(line, Excerpt))
    assert told == "".join(message.text for message in covered if message.text.strip())
    calls = [line.id for line in lines if isinstance(line, LedgerEntry)]
    assert calls == [message.id for message in messages[::3] if message in covered]


@given(conversations(), some_limits())
def test_a_piece_fits_unless_it_is_a_single_line(messages: list[Message], limits: CompressionLimits) -> None:
    plan = plan_compression(messages, (), limits=limits)

    for piece in plan.pieces if plan else ():
        assert len(piece.lines) <= 1 or sum(map(line_tokens, piece.lines)) <= limits.piece_tokens
        assert piece.covers or piece.lines


@given(conversations(), some_limits())
def test_a_piece_covers_only_messages_that_were_read_to_their_end(
    messages: list[Message], limits: CompressionLimits
) -> None:
    plan = plan_compression(messages, (), limits=limits)
    read: list[Line] = []
    covered: list[str] = []

    for piece in plan.pieces if plan else ():
        read += piece.lines
        covered += ids(piece.covers)
        told = {line.message.id for line in read if isinstance(line, Excerpt)}
        if piece.covers:
            assert told == {m.id for m in messages if m.id in covered and m.text.strip()}


@given(conversations())
def test_a_line_of_a_transcript_is_one_line(messages: list[Message]) -> None:
    for message in messages:
        line = render_line(Excerpt(message=message, text=message.text))
        assert len(line.splitlines()) == 1
        assert line.encode()


ITEMS = st.lists(TEXTS, max_size=4).map(tuple)
SUMMARIES = st.builds(
    SummaryText,
    overview=TEXTS,
    primary_goal=TEXTS,
    secondary_goals=ITEMS,
    done=ITEMS,
    partial=ITEMS,
    discovered=ITEMS,
    facts=st.lists(st.builds(SummaryFact, about=TEXTS, fact=TEXTS), max_size=4).map(tuple),
    decisions=ITEMS,
    open_questions=ITEMS,
    artifacts=st.lists(st.builds(ArtifactNote, id=st.just("a1"), tool=TEXTS, holds=TEXTS), max_size=3).map(
        tuple
    ),
    next=TEXTS,
)


@given(SUMMARIES, st.integers(0, 300))
def test_a_summary_is_shortened_to_fit_and_never_emptied(text: SummaryText, max_tokens: int) -> None:
    fitted = fit_summary(text, max_tokens, TOKENIZER.count)

    assert is_blank(fitted) == is_blank(text)
    assert TOKENIZER.count(render_summary(fitted)) <= max(max_tokens, 12)


def _is_boundary(before: Message, after: Message) -> bool:
    return after.role == "user" and before.role != "user"
