"""Which waiting updates make the next turn."""

from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import Command, parse_update
from bot.turn.batch import plan_batch

BEN, CHIARA = 1002, 1003


def a_line(update_id: int, sender: int = BEN) -> WaitingUpdate:
    raw = {
        "update_id": update_id,
        "message": {
            "message_id": update_id,
            "date": 1,
            "chat": {"id": -1, "type": "group"},
            "from": {"id": sender},
            "text": "hi",
        },
    }
    message = parse_update(raw).message
    assert message is not None
    return WaitingUpdate(
        update_id=update_id, admission=Admission(action="turn", reason="reply"), message=message
    )


def a_command(update_id: int) -> WaitingUpdate:
    line = a_line(update_id)
    command = Admission(
        action="command", reason="command", command=Command(name="new", argument="", mention="")
    )
    return WaitingUpdate(update_id=update_id, admission=command, message=line.message)


def an_edit(update_id: int) -> WaitingUpdate:
    edit = Admission(action="edit", reason="edited_message")
    return WaitingUpdate(update_id=update_id, admission=edit, message=a_line(update_id).message)


def numbers(batch: tuple[WaitingUpdate, ...]) -> list[int]:
    return [update.update_id for update in batch]


def test_lines_of_one_person_are_one_turn() -> None:
    assert numbers(plan_batch([a_line(1), a_line(2), a_line(3)])) == [1, 2, 3]


def test_another_persons_line_waits_for_the_next_turn() -> None:
    assert numbers(plan_batch([a_line(1), a_line(2, CHIARA), a_line(3)])) == [1]


def test_a_command_stands_alone_and_ends_the_lines_before_it() -> None:
    assert numbers(plan_batch([a_line(1), a_command(2), a_line(3)])) == [1]
    assert numbers(plan_batch([a_command(2), a_line(3)])) == [2]


def test_an_edit_stands_alone_and_comes_after_what_it_edits() -> None:
    assert numbers(plan_batch([a_line(1), an_edit(2), a_line(3)])) == [1]
    assert numbers(plan_batch([an_edit(2), an_edit(3), a_line(4)])) == [2]


def test_a_stop_parts_what_came_before_it_from_what_came_after() -> None:
    assert numbers(plan_batch([a_line(1), a_line(2), a_line(4)], stopped_before=3)) == [1, 2]
    assert numbers(plan_batch([a_line(4), a_line(5)], stopped_before=3)) == [4, 5]


def test_a_resumed_turn_answers_what_it_had_joined() -> None:
    assert numbers(plan_batch([a_line(1), a_line(2), a_line(3)], joined=[1, 2])) == [1, 2]


def test_a_journal_whose_updates_are_gone_does_not_keep_the_next_turn_from_beginning() -> None:
    assert numbers(plan_batch([a_line(7), a_line(8)], joined=[1, 2])) == [7, 8]
