"""Answering a turn again after an edit: which turn, and with which question."""

from dataclasses import replace

from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, parse_update
from bot.turn.batch import AGAIN_WITHIN_S, drop_outdated_quotes, find_last_turn, plan_again, with_edits
from memory.history.buffered import rewind
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Quote, Sender
from memory.history.store import ChatChoices, HistorySnapshot

NOW = 1_800_000_000.0
BEN, CHIARA = 1002, 1003


def make_question(number: int, text: str = "hi", by: int = BEN) -> Message:
    """Return a person's message whose Telegram id is its number."""
    return Message(
        id=f"u{number}",
        role="user",
        text=text,
        sent_at=NOW,
        tokens=1,
        sender=Sender(id=by, name="Ben"),
        telegram_message_id=number,
        sequence=number,
    )


def make_reply(number: int, text: str = "hello") -> Message:
    return Message(id=f"a{number}", role="assistant", text=text, sent_at=NOW, tokens=1, sequence=number)


def make_snapshot(*newest: Message, ledger: tuple[LedgerTurn, ...] = ()) -> HistorySnapshot:
    return HistorySnapshot(
        epoch=0,
        count=len(newest),
        conversation_count=len(newest),
        conversation_start=0,
        next_sequence=len(newest),
        created_at=NOW,
        newest=newest,
        ledger=ledger,
    )


def make_edit(of: int, text: str = "hi, edited", *, at: int = int(NOW)) -> IncomingMessage:
    entities = [{"type": "bot_command", "offset": 0, "length": 4}] if text.startswith("/") else []
    raw = {
        "message_id": of,
        "date": int(NOW),
        "edit_date": at,
        "chat": {"id": BEN, "type": "private"},
        "from": {"id": BEN},
        "text": text,
        "entities": entities,
    }
    message = parse_update({"update_id": 1, "edited_message": raw}).message
    assert message is not None
    return message


def waiting(update_id: int, of: int, text: str = "hi, edited") -> WaitingUpdate:
    return WaitingUpdate(
        update_id=update_id,
        admission=Admission(action="edit", reason="edited_message"),
        message=make_edit(of, text),
        anchor_id=BEN,
    )


def find_turn(
    snapshot: HistorySnapshot, edit: IncomingMessage, *, now: float = NOW
) -> tuple[str, ...] | None:
    turn = find_last_turn(snapshot, edit, now=now)
    return None if turn is None else turn.ids


def test_an_edit_of_any_message_of_the_last_turn_answers_all_of_it_again() -> None:
    snapshot = make_snapshot(
        make_question(0), make_reply(1), make_question(2), make_question(3), make_reply(4)
    )

    assert find_turn(snapshot, make_edit(2)) == find_turn(snapshot, make_edit(3)) == ("u2", "u3", "a4")


def test_an_older_turn_is_not_answered_again() -> None:
    assert (
        find_turn(
            make_snapshot(make_question(0), make_reply(1), make_question(2), make_reply(3)), make_edit(0)
        )
        is None
    )


def test_a_turn_without_an_answer_is_not_answered_by_an_edit() -> None:
    assert find_turn(make_snapshot(make_question(0)), make_edit(0)) is None
    assert find_turn(make_snapshot(), make_edit(0)) is None


def test_a_stopped_answer_stays_stopped() -> None:
    assert (
        find_turn(make_snapshot(make_question(0), replace(make_reply(1), is_stopped=True)), make_edit(0))
        is None
    )


def test_messages_of_others_before_the_question_do_not_belong_to_its_turn() -> None:
    snapshot = make_snapshot(make_question(0, by=CHIARA), make_question(1), make_reply(2))

    assert find_turn(snapshot, make_edit(1)) == ("u1", "a2")
    assert find_turn(snapshot, make_edit(0)) is None


def test_an_answer_that_is_too_old_to_edit_is_left_alone() -> None:
    snapshot = make_snapshot(make_question(0), make_reply(1))

    assert find_turn(snapshot, make_edit(0), now=NOW + AGAIN_WITHIN_S) is not None
    assert find_turn(snapshot, make_edit(0), now=NOW + AGAIN_WITHIN_S + 1) is None


def test_an_edit_into_a_command_and_an_outdated_edit_answer_nothing() -> None:
    edited = replace(make_question(0), edited_at=NOW + 5)

    assert find_turn(make_snapshot(make_question(0), make_reply(1)), make_edit(0, "/new all")) is None
    assert find_turn(make_snapshot(edited, make_reply(1)), make_edit(0, at=int(NOW) + 4)) is None
    assert find_turn(make_snapshot(edited, make_reply(1)), make_edit(0, at=int(NOW) + 5)) is not None


def test_a_document_in_the_turn_prevents_answering_again() -> None:
    entry = LedgerEntry(
        id="1", kind="tool", agent="main", name="read_document", input="{}", output="…", artifact_id="a77"
    )
    ledger = (LedgerTurn(first_sequence=0, last_sequence=2, entries=(entry,)),)
    snapshot = make_snapshot(
        replace(make_question(0), note="a document, plan.txt, artifact a77"),
        make_question(1),
        make_reply(2),
        ledger=ledger,
    )

    assert find_turn(snapshot, make_edit(0)) == ("u0", "u1", "a2")
    assert find_turn(snapshot, make_edit(1)) is None


def test_the_last_edit_of_each_message_counts() -> None:
    turn = find_last_turn(
        make_snapshot(make_question(0), make_question(1), make_reply(2)), make_edit(0), now=NOW
    )
    assert turn is not None
    edits = [waiting(5, 0), waiting(6, 1), waiting(7, 0), waiting(8, 55)]

    batch = plan_again(turn, edits)

    assert [update.update_id for update in batch.updates] == [7, 6]
    assert batch.folded == (5,)
    assert plan_again(turn, edits, [5]).update_ids == (5,)


def test_the_new_question_has_the_edited_text_and_no_quotation_of_the_old_one() -> None:
    quote = Quote(telegram_message_id=0, sender_name="Ben", text="hi")
    turn = find_last_turn(
        make_snapshot(make_question(0), replace(make_question(1), quote=quote), make_reply(2)),
        make_edit(0),
        now=NOW,
    )
    assert turn is not None

    told = with_edits(turn, {0: make_question(0, "hi, edited")})

    assert [(message.text, message.quote) for message in told] == [("hi, edited", None), ("hi", None)]


def test_a_message_edited_before_its_turn_is_not_quoted_with_its_old_text() -> None:
    def quoting(number: int, text: str, of: int) -> Message:
        return replace(
            make_question(number), quote=Quote(telegram_message_id=of, sender_name="Ben", text=text)
        )

    messages = [
        replace(make_question(0, "by the lake"), edited_at=NOW),
        make_question(1, "at nine"),
        quoting(2, "in the woods", of=0),
        quoting(3, "by the…", of=0),
        quoting(4, "at ten", of=1),
        quoting(5, "elsewhere", of=77),
        quoting(6, "elsewhere", of=78),
    ]
    kept = [replace(make_question(78, "nowhere"), edited_at=NOW)]

    told = drop_outdated_quotes(messages, kept)

    assert [each.quote is not None for each in told] == [False, False, False, True, True, True, False]
    assert [replace(each, quote=None) for each in told] == [replace(each, quote=None) for each in messages]


def test_a_rewound_context_has_the_agent_from_before_the_transfer() -> None:
    entry = LedgerEntry(id="1", kind="transfer", agent="main", name="cook", input="{}", output="ok")
    ledger = (LedgerTurn(first_sequence=2, last_sequence=3, entries=(entry,)),)
    snapshot = replace(
        make_snapshot(make_question(0), make_reply(1), make_question(2), make_reply(3), ledger=ledger),
        choices=ChatChoices(agent="cook"),
    )

    before = rewind(snapshot, 2)

    assert (before.choices.agent, before.ledger, before.count) == ("main", (), 2)
    assert [message.id for message in before.newest] == ["u0", "a1"]
    assert before.next_sequence == snapshot.next_sequence
