"""The plan of a compression: when it is due, and what it covers, keeps and splits."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Role, Sender
from memory.history.store import HistorySnapshot, SummaryState
from memory.history.summary import Summary, SummaryText
from memory.history.transcript import Excerpt, render_line
from memory.summary.compression import (
    CompressionLimits,
    CompressionPlan,
    Piece,
    is_due,
    limits_for,
    line_tokens,
    plan_compression,
    split_text,
)
from tests.messages import ids, make_message, some_messages

LIMITS = CompressionLimits(
    trigger_tokens=1_000,
    trigger_messages=60,
    keep_tokens=300,
    keep_messages=4,
    piece_tokens=400,
    summary_tokens=100,
)


def numbered(messages: Sequence[Message], *, tokens: int = 20) -> list[Message]:
    return [replace(message, sequence=number, tokens=tokens) for number, message in enumerate(messages)]


def conversation(*roles: Role, tokens: int = 20) -> list[Message]:
    return numbered(
        [make_message(f"m{n}", f"text {n}", role=role) for n, role in enumerate(roles)], tokens=tokens
    )


def snapshot(newest: Sequence[Message], *, summary_tokens: int = 0, **changes: object) -> HistorySnapshot:
    facts = HistorySnapshot(
        epoch=0,
        count=len(newest),
        conversation_count=len(newest),
        conversation_start=0,
        next_sequence=len(newest),
        created_at=1.0,
        newest=tuple(newest),
        summary=make_summary(summary_tokens) if summary_tokens else None,
    )
    return replace(facts, **changes)


def make_summary(tokens: int) -> Summary:
    return Summary(
        id="s",
        builds_on="",
        conversation_start=0,
        from_sequence=0,
        upto_sequence=0,
        text=SummaryText(overview="x"),
        tokens=tokens,
        model="m",
        created_at=1.0,
    )


def make_turn(last: int, *outputs: str, first: int = 0) -> LedgerTurn:
    entries = tuple(
        LedgerEntry(id=f"e{last}.{n}", kind="tool", agent="", name="add", input="{}", output=output)
        for n, output in enumerate(outputs)
    )
    return LedgerTurn(first_sequence=first, last_sequence=last, entries=entries)


def planned(
    messages: Sequence[Message], *ledger: LedgerTurn, limits: CompressionLimits = LIMITS
) -> CompressionPlan:
    plan = plan_compression(messages, ledger, limits=limits)
    assert plan is not None
    return plan


def covered(plan: CompressionPlan) -> list[str]:
    return [message.id for piece in plan.pieces for message in piece.covers]


def tokens_of(piece: Piece) -> int:
    return sum(map(line_tokens, piece.lines))


def test_i02_compression_starts_at_half_of_the_chat_models_window() -> None:
    limits = limits_for(8_192, 272_000, trigger=0.5, cap_tokens=0)

    assert limits == CompressionLimits(
        trigger_tokens=4_096,
        trigger_messages=400,
        keep_tokens=1_365,
        keep_messages=4,
        piece_tokens=32_000,
        summary_tokens=682,
    )


@pytest.mark.parametrize(
    ("window", "share", "cap", "trigger"),
    [
        (272_000, 0.5, 16_000, 16_000),
        (272_000, 0.5, 0, 136_000),
        (16_385, 0.5, 16_000, 8_192),
        (8_192, 0.25, 16_000, 2_048),
    ],
)
def test_i02_compression_starts_at_the_share_or_the_cap(
    window: int, share: float, cap: int, trigger: int
) -> None:
    assert limits_for(window, window, trigger=share, cap_tokens=cap).trigger_tokens == trigger


@pytest.mark.parametrize("window", [4_096, 8_192, 16_385, 128_000])
def test_a_small_summary_model_gets_pieces_and_summaries_that_fit(window: int) -> None:
    limits = limits_for(272_000, window, trigger=0.5, cap_tokens=16_000)

    assert limits.summary_tokens <= window // 10
    assert 300 < limits.piece_tokens + 4 * limits.summary_tokens + 1_000 <= window


def test_i02_a_conversation_is_due_when_its_uncovered_messages_reach_the_limit() -> None:
    newest = numbered(some_messages(40), tokens=20)  # 24 with what a message costs beside its text

    assert not is_due(snapshot(newest), [], LIMITS, loaded_limit=450)
    assert is_due(snapshot(newest), numbered(some_messages(2)), LIMITS, loaded_limit=450)


def test_summary_and_ledger_count_too() -> None:
    newest = numbered(some_messages(40), tokens=20)

    assert is_due(snapshot(newest, summary_tokens=40), [], LIMITS, loaded_limit=450)
    assert is_due(snapshot(newest, ledger=(make_turn(3, "x" * 400),)), [], LIMITS, loaded_limit=450)


def test_many_short_or_unloaded_messages_are_due_too() -> None:
    newest = numbered(some_messages(59), tokens=1)

    assert not is_due(snapshot(newest), [], LIMITS, loaded_limit=60)
    assert is_due(snapshot(newest), numbered(some_messages(1)), LIMITS, loaded_limit=60)
    assert is_due(snapshot(newest), [], LIMITS, loaded_limit=59)


def test_i07_after_giving_up_a_conversation_is_due_after_fifty_more_messages() -> None:
    long = numbered(some_messages(50), tokens=100)
    pending = numbered(some_messages(2))

    def failed_at(sequence: int) -> bool:
        state = snapshot(long, next_sequence=148, summary_state=SummaryState(failed_at=sequence))
        return is_due(state, pending, LIMITS, loaded_limit=450)

    assert failed_at(100)
    assert not failed_at(101)


def test_i05_the_newest_messages_stay_verbatim_within_their_limit() -> None:
    messages = numbered(some_messages(40), tokens=20)

    plan = planned(messages)

    assert ids(plan.kept) == [f"m{n}" for n in range(28, 40)]  # 12 of 24 tokens are 288 of 300
    assert covered(plan) == [f"m{n}" for n in range(28)]


def test_i05_the_newest_messages_stay_at_any_size() -> None:
    messages = numbered(some_messages(10), tokens=5_000)

    assert ids(planned(messages).kept) == ["m6", "m7", "m8", "m9"]


def test_at_most_a_third_of_the_triggering_messages_stay() -> None:
    messages = numbered(some_messages(60), tokens=1)

    assert len(planned(messages).kept) == 20


def test_tool_results_count_for_the_messages_that_stay() -> None:
    messages = numbered(some_messages(40), tokens=20)

    plan = planned(messages, *(make_turn(n, "x" * 800) for n in range(1, 40, 2)))

    assert ids(plan.kept) == ["m36", "m37", "m38", "m39"]


def test_nothing_is_planned_if_everything_stays() -> None:
    assert plan_compression([], [], limits=LIMITS) is None
    assert plan_compression(numbered(some_messages(4), tokens=9_000), [], limits=LIMITS) is None


def test_the_boundary_never_separates_messages_from_their_reply() -> None:
    messages = conversation(
        "user", "assistant", "user", "user", "user", "assistant", "assistant", "user", "assistant", tokens=200
    )

    plan = planned(messages, limits=replace(LIMITS, keep_messages=3))

    assert ids(plan.kept) == ["m2", "m3", "m4", "m5", "m6", "m7", "m8"]


def test_a_long_run_of_unanswered_messages_can_be_split() -> None:
    roles: list[Role] = ["user"] * 200
    messages = conversation(*roles)

    plan = planned(messages)

    assert ids(plan.kept)[0] == "m192"
    assert len(covered(plan)) == 192


def test_pieces_fit_and_end_after_an_exchange() -> None:
    messages = numbered(some_messages(60), tokens=60)

    plan = planned(messages)

    assert all(tokens_of(piece) <= LIMITS.piece_tokens for piece in plan.pieces)
    assert {len(piece.covers) % 2 for piece in plan.pieces} == {0}
    assert [
        line.message.id for piece in plan.pieces for line in piece.lines if isinstance(line, Excerpt)
    ] == (covered(plan))


def test_a_message_larger_than_a_piece_is_read_in_parts() -> None:
    long = "one two three four " * 200
    messages = numbered([make_message("big", long), *some_messages(9)[1:]], tokens=20)
    messages[0] = replace(messages[0], tokens=800)

    plan = planned(messages)

    parts = [
        line
        for piece in plan.pieces
        for line in piece.lines
        if isinstance(line, Excerpt) and line.message.id == "big"
    ]
    assert "".join(part.text for part in parts) == long
    assert [part.part for part in parts] == list(range(1, parts[0].parts + 1))
    assert len(parts) >= 3
    assert all(tokens_of(piece) <= LIMITS.piece_tokens for piece in plan.pieces)
    first_saved = next(piece for piece in plan.pieces if piece.covers)
    assert "big" in ids(first_saved.covers)
    assert parts[-1] in first_saved.lines


def test_a_turns_calls_stand_before_its_reply() -> None:
    messages = numbered(some_messages(8), tokens=90)

    plan = planned(messages, make_turn(1, "5", "7"), make_turn(7, "kept"))

    lines = plan.pieces[0].lines
    told = [line.message.id if isinstance(line, Excerpt) else line.output for line in lines]
    assert told[:4] == ["m0", "5", "7", "m1"]
    assert "kept" not in told


def test_messages_without_text_are_covered_without_a_line() -> None:
    spoken = some_messages(12)
    messages = numbered([replace(m, text="") if m.id in ("m1", "m2") else m for m in spoken], tokens=90)

    plan = planned(messages)

    assert covered(plan)[:4] == ["m0", "m1", "m2", "m3"]
    lines = [line for piece in plan.pieces for line in piece.lines if isinstance(line, Excerpt)]
    assert [line.message.id for line in lines][:2] == ["m0", "m3"]


def test_a_text_is_split_at_characters() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert split_text("abcdef", 2) == ["abc", "def"]
    assert split_text("ab", 5) == ["a", "b"]
    assert split_text("", 3) == []
    assert "".join(split_text(family * 3, 4)) == family * 3
    assert all(part.startswith("\U0001f468") for part in split_text(family * 3, 3))


@pytest.mark.parametrize("name", ["assistant", "Аssistant", "ass\u200bistant", "You.", "ｓｙｓｔｅｍ"])  # noqa: RUF001
def test_no_name_in_a_transcript_imitates_a_role(name: str) -> None:
    said = replace(make_message("m0", "yes"), sender=Sender(id=1, name=name))

    assert render_line(Excerpt(message=said, text="yes")).partition("] ")[2].startswith("user ")
