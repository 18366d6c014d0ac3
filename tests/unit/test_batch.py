"""The plan of a turn: which waiting updates it answers, and how they are joined."""

from dataclasses import replace
from typing import Any

from bot.features import CONTROLS
from bot.transport.controls import word_of
from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import PASTE_UNITS, Callback, Command, IncomingMessage, parse_update
from bot.turn.batch import (
    Batch,
    BurstWaits,
    correction_in,
    dump_stop,
    has_changed,
    is_outdated,
    is_stopped,
    own_presses,
    plan_batch,
    plan_continuations,
    seconds_for_more,
    stops_turn,
)
from memory.history.fact import AwaitedCorrection, with_correction, without_correction

BEN, CHIARA = 1002, 1003
FORWARD: dict[str, Any] = {"forward_origin": {"type": "hidden_user", "sender_user_name": "Dora", "date": 1}}
WAITS = BurstWaits(bundle_s=1.0, paste_s=1.5)


def make_message(
    update_id: int, sender: int, *, message_id: int | None = None, **fields: Any
) -> IncomingMessage:
    raw = {
        "message_id": update_id if message_id is None else message_id,
        "date": 1,
        "chat": {"id": -1, "type": "group"},
        "from": {"id": sender},
    }
    content = fields if "photo" in fields else {"text": "hi", **fields}
    message = parse_update({"update_id": update_id, "message": raw | content}).message
    assert message is not None
    return message


def make_line(update_id: int, sender: int = BEN, **fields: Any) -> WaitingUpdate:
    return WaitingUpdate(
        update_id=update_id,
        admission=Admission(action="turn", reason="reply"),
        message=make_message(update_id, sender, **fields),
        anchor_id=-1,
    )


def make_command(update_id: int) -> WaitingUpdate:
    command = Admission(
        action="command", reason="command", command=Command(name="new", argument="", mention="")
    )
    return WaitingUpdate(
        update_id=update_id, admission=command, message=make_message(update_id, BEN), anchor_id=-1
    )


def make_edit(update_id: int, of: int, text: str = "edited", *, at: int = 2) -> WaitingUpdate:
    return WaitingUpdate(
        update_id=update_id,
        admission=Admission(action="edit", reason="edited_message"),
        message=make_message(update_id, BEN, message_id=of, text=text, edit_date=at),
        anchor_id=-1,
    )


def make_press(update_id: int, data: str, by: int = BEN) -> WaitingUpdate:
    return WaitingUpdate(
        update_id=update_id,
        admission=Admission(action="press", reason="stop_button"),
        message=make_message(update_id, 4242),
        anchor_id=-1,
        callback=Callback(id="7", data=data, rule=CONTROLS.buttons.get(word_of(data)), sender_id=by),
    )


def numbers(batch: Batch) -> list[int]:
    return [update.update_id for update in batch.updates]


def texts_of(batch: Batch) -> list[str]:
    return [update.message.text for update in batch.updates]


def seconds(*waiting: WaitingUpdate) -> float:
    return seconds_for_more(plan_batch(waiting), waiting, WAITS)


def continuations(*waiting: WaitingUpdate) -> tuple[str, ...]:
    return plan_continuations(plan_batch(waiting))


def test_lines_of_one_person_are_one_turn() -> None:
    assert numbers(plan_batch([make_line(1), make_line(2), make_line(3)])) == [1, 2, 3]


def test_another_persons_line_waits_for_the_next_turn() -> None:
    assert numbers(plan_batch([make_line(1), make_line(2, CHIARA), make_line(3)])) == [1]


def test_the_rest_of_an_album_belongs_to_it_although_another_person_wrote_in_between() -> None:
    album: dict[str, Any] = {"media_group_id": "77"}
    waiting = [make_line(1, **album), make_line(2, CHIARA), make_line(3, **album), make_line(4)]

    assert numbers(plan_batch(waiting)) == [1, 3]
    assert numbers(plan_batch(waiting, stopped_before=3)) == [1]


def test_a_press_that_a_client_repeats_is_folded_if_its_answer_is_a_new_message() -> None:
    first, repeated = make_press(1, "why"), replace(make_press(2, "why"), message=make_message(1, 4242))
    assert first.callback is not None
    by_another, elsewhere = replace(make_press(3, "why", CHIARA), message=first.message), make_press(4, "why")
    repeated = replace(repeated, callback=replace(first.callback, id="8"))
    batch = plan_batch([first, make_line(9), by_another, repeated, elsewhere])
    assert (numbers(batch), batch.folded) == ([1], (2,))
    deletes = make_press(1, "facts:d:1002:0:0123456789abcdef")
    assert plan_batch([deletes, replace(deletes, update_id=2)]).folded == ()


def test_a_command_stands_alone_and_ends_the_lines_before_it() -> None:
    assert numbers(plan_batch([make_line(1), make_command(2), make_line(3)])) == [1]
    assert numbers(plan_batch([make_command(2), make_line(3)])) == [2]


def make_question(**changes: Any) -> AwaitedCorrection:
    asked = AwaitedCorrection(telegram_id=7, fact_id="f1", sender_id=BEN, owner_id=BEN, first=0, asked_at=0.0)
    return replace(asked, **changes)


def make_answer(sender: int = BEN, *, to: int = 7, **fields: Any) -> WaitingUpdate:
    return make_line(9, sender, reply_to_message={"message_id": to, "text": "?"}, **fields)


def test_the_answer_to_a_question_about_a_fact_stands_alone() -> None:
    waiting = [make_line(1), replace(make_answer(), update_id=2), make_line(3)]
    assert numbers(plan_batch(waiting, corrections=[make_question()])) == [1]
    assert numbers(plan_batch(waiting[1:], corrections=[make_question()])) == [2]
    assert numbers(plan_batch(waiting)) == [1, 2, 3]


def test_a_reply_of_the_person_who_was_asked_is_a_correction_for_an_hour() -> None:
    asked = make_question()
    assert correction_in(make_answer(), [asked]) == asked
    assert correction_in(make_answer(date=3599), [asked]) == asked
    assert correction_in(make_answer(date=3600), [asked]) is None


def test_other_replies_are_no_correction() -> None:
    asked = [make_question()]
    assert correction_in(make_answer(CHIARA), asked) is None
    assert correction_in(make_answer(to=8), asked) is None
    assert correction_in(make_answer(**FORWARD), asked) is None
    assert correction_in(make_answer(photo=[{"file_id": "a", "file_unique_id": "b"}]), asked) is None
    assert correction_in(make_line(9), asked) is None
    assert correction_in(make_answer(), []) is None


def test_a_new_question_replaces_the_one_in_its_message_and_those_that_have_expired() -> None:
    old, other, same = (
        make_question(telegram_id=5),
        make_question(telegram_id=6, asked_at=50.0),
        make_question(),
    )
    new = make_question(fact_id="f2", asked_at=3600.0)
    assert with_correction([old, other, same], new) == (other, new)
    assert without_correction([other, new], 7) == (other,)


def test_at_most_ten_questions_wait() -> None:
    awaited: tuple[AwaitedCorrection, ...] = ()
    for number in range(12):
        awaited = with_correction(awaited, make_question(telegram_id=number))
    assert [each.telegram_id for each in awaited] == list(range(2, 12))


def test_an_edit_of_a_waiting_message_is_merged_into_it() -> None:
    batch = plan_batch([make_line(1), make_edit(2, of=1), make_line(3)])

    assert (numbers(batch), texts_of(batch)) == ([1, 3], ["edited", "hi"])
    assert batch.update_ids == (1, 3, 2)


def test_the_latest_of_several_edits_counts() -> None:
    batch = plan_batch(
        [make_line(1), make_edit(3, of=1, text="second", at=9), make_edit(2, of=1, text="first", at=8)]
    )

    assert (texts_of(batch), batch.folded) == (["second"], (3, 2))


def test_the_later_update_counts_for_two_edits_within_a_second() -> None:
    batch = plan_batch([make_line(1), make_edit(2, of=1, text="first"), make_edit(3, of=1, text="second")])

    assert texts_of(batch) == ["second"]


def test_an_edit_of_another_message_stands_alone_and_ends_the_lines_before_it() -> None:
    assert numbers(plan_batch([make_line(1), make_edit(2, of=77), make_line(3)])) == [1]
    assert numbers(plan_batch([make_edit(2, of=77), make_edit(3, of=77), make_line(4)])) == [2]


def test_an_edited_command_is_not_merged_into_the_command() -> None:
    assert plan_batch([make_command(1), make_edit(2, of=1)]) == Batch(updates=(make_command(1),))


def test_a_stop_separates_earlier_messages_from_later_ones() -> None:
    assert numbers(plan_batch([make_line(1), make_line(2), make_line(4)], stopped_before=3)) == [1, 2]
    assert numbers(plan_batch([make_line(4), make_line(5)], stopped_before=3)) == [4, 5]


def test_a_resumed_turn_answers_its_joined_updates_with_the_edits_that_it_knew() -> None:
    waiting = [make_line(1), make_line(2), make_line(3), make_edit(4, of=2)]

    assert texts_of(plan_batch(waiting, joined=[1, 2])) == ["hi", "hi"]
    assert plan_batch(waiting, joined=[1, 2, 4]).update_ids == (1, 2, 4)
    assert texts_of(plan_batch(waiting, joined=[1, 2, 4])) == ["hi", "edited"]


def test_a_journal_of_missing_updates_does_not_block_the_next_turn() -> None:
    assert numbers(plan_batch([make_line(7), make_line(8)], joined=[1, 2])) == [7, 8]


def test_only_an_edit_of_its_messages_makes_an_interrupted_turn_outdated() -> None:
    assert is_outdated([make_line(1), make_edit(2, of=1)], [1])
    assert not is_outdated([make_line(1), make_edit(2, of=1)], [1, 2])
    assert not is_outdated([make_line(1), make_edit(2, of=1, text="hi")], [1])
    assert not is_outdated([make_line(1), make_edit(2, of=77), make_line(3)], [1])


def test_an_edit_changes_the_last_known_version_or_nothing() -> None:
    known = [make_line(1), make_edit(2, of=1)]

    assert not has_changed(make_edit(3, of=1), known)
    assert has_changed(make_edit(3, of=1, text="hi"), known)


def test_a_new_picture_under_the_same_caption_is_a_change() -> None:
    def photo(name: str) -> dict[str, Any]:
        size = {"file_id": name, "file_unique_id": name, "width": 1, "height": 1}
        return {"photo": [size], "caption": "look"}

    before, after = make_line(1, **photo("a")), make_line(2, message_id=1, **photo("b"))

    assert has_changed(after, [before])
    assert not has_changed(make_line(3, message_id=1, **photo("a")), [before])


def test_parts_of_an_album_are_one_message() -> None:
    album: dict[str, Any] = {"media_group_id": "77"}

    assert continuations(make_line(1, **album), make_line(2, **album), make_line(3)) == ("", "bundle", "")
    assert continuations(make_line(1, **album), make_line(2, media_group_id="78")) == ("", "")


def test_a_comment_and_its_forwards_are_one_message() -> None:
    assert continuations(make_line(1), make_line(2, **FORWARD), make_line(3, **FORWARD)) == (
        "",
        "bundle",
        "bundle",
    )
    assert continuations(make_line(1, **FORWARD), make_line(2)) == ("", "")
    assert continuations(make_line(1), make_line(2, **FORWARD, date=60)) == ("", "")


def test_a_text_that_telegram_split_is_one_message() -> None:
    long: dict[str, Any] = {"text": "x" * PASTE_UNITS}

    assert continuations(make_line(1, **long), make_line(2, **long), make_line(3)) == ("", "paste", "paste")
    assert continuations(make_line(1, text="x" * (PASTE_UNITS - 1)), make_line(2)) == ("", "")
    assert continuations(make_line(1, **long), make_line(2, date=60)) == ("", "")
    assert continuations(make_line(1, **long, **FORWARD), make_line(2)) == ("", "")


def test_the_length_of_a_paste_is_counted_in_utf16_units() -> None:
    assert continuations(make_line(1, text="😀" * (PASTE_UNITS // 2)), make_line(2)) == ("", "paste")


def test_a_turn_waits_only_for_messages_that_may_follow_its_newest_one() -> None:
    assert seconds(make_line(1)) == 0.0
    assert seconds(make_line(1, **FORWARD)) == 1.0
    assert seconds(make_line(1), make_line(2, media_group_id="77")) == 1.0
    assert seconds(make_line(1, text="x" * PASTE_UNITS)) == 1.5
    assert seconds(make_line(1, **FORWARD), make_line(2)) == 0.0
    assert seconds(make_line(1, **FORWARD), make_command(2)) == 0.0
    assert seconds(make_line(1), make_edit(2, of=1, text="x" * PASTE_UNITS)) == 1.5
    assert seconds(make_command(1)) == 0.0


PHOTO: dict[str, Any] = {
    "photo": [{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1}],
    "text": "",
}


def test_a_picture_without_words_and_the_words_next_to_it_are_one_message() -> None:
    assert continuations(make_line(1), make_line(2, **PHOTO)) == ("", "bundle")
    assert continuations(make_line(1, **PHOTO), make_line(2)) == ("", "bundle")
    assert continuations(make_line(1, **PHOTO), make_line(2, **PHOTO)) == ("", "")
    assert continuations(make_line(1, **PHOTO), make_line(2, date=60)) == ("", "")
    assert continuations(make_line(1), make_line(2, **PHOTO, caption="its own words")) == ("", "")


def test_an_album_without_words_and_the_words_next_to_it_are_one_message() -> None:
    album: dict[str, Any] = PHOTO | {"media_group_id": "77"}
    assert continuations(make_line(1), make_line(2, **album), make_line(3, **album)) == (
        "",
        "bundle",
        "bundle",
    )
    assert continuations(make_line(1, **album), make_line(2, **album), make_line(3)) == (
        "",
        "bundle",
        "bundle",
    )


def test_a_turn_waits_for_the_other_half_of_a_picture_and_its_question() -> None:
    for line in ("What is in this picture?", "¿Qué hay en la foto?", "Что на этом фото?", "در این عکس چیست؟"):
        assert seconds(make_line(1, text=line)) == 1.0
    for line in ("Let us have a picnic", "imagine that", "Bildung"):
        assert seconds(make_line(1, text=line)) == 0.0
    assert seconds(make_line(1, **PHOTO)) == 1.0
    assert seconds(make_line(1), make_line(2, **PHOTO)) == 0.0
    assert seconds(make_line(1, **PHOTO), make_line(2, text="this picture")) == 0.0


def test_a_stop_button_ends_its_own_turn_for_its_asker() -> None:
    data = dump_stop(BEN, 1)
    waiting = [
        make_line(1),
        make_line(2),
        make_press(3, data),
        make_press(4, data, by=CHIARA),
        make_press(5, dump_stop(BEN, 9)),
    ]
    batch = plan_batch(waiting)

    assert [press.update_id for press in own_presses(batch, waiting)] == [3]
    assert is_stopped(batch, waiting, None)
    assert not is_stopped(batch, waiting[:2], None)
    assert is_stopped(batch, waiting[:2], 3)
    assert not is_stopped(batch, waiting[:2], 2)


def test_the_data_of_a_button_names_its_turn_and_fits_telegrams_limit() -> None:
    longest = dump_stop(-(10**15), 2**63)

    assert len(longest.encode()) <= 64
    assert stops_turn(longest, 2**63)
    assert stops_turn("stop", 5)
    for foreign in ("", "stop:", "stop:1002", "stop:1002:55", "stopp:1:5", "buy:1:5", "stop:x"):
        assert not stops_turn(foreign, 5)
