"""Edits that leave a stored message unchanged."""

from typing import Any

from bot.transport.updates import IncomingMessage, parse_update
from bot.turn.chat_events import has_same_text
from tests.messages import make_message


def make_edit(**content: Any) -> IncomingMessage:
    raw = {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}, "from": {"id": 1}, **content}
    message = parse_update({"update_id": 1, "edited_message": raw}).message
    assert message is not None
    return message


def test_an_edit_that_leaves_every_word_changes_nothing() -> None:
    assert has_same_text(make_message(text="hello"), make_edit(text="hello"), "hello")
    assert not has_same_text(make_message(text="hello"), make_edit(text="hello!"), "hello!")
    assert not has_same_text(make_message(text="hello"), make_edit(text="hell"), "hell")


def test_the_caption_of_a_voice_message_is_only_the_beginning_of_its_stored_text() -> None:
    voice = {"file_id": "v", "file_unique_id": "v", "duration": 7}
    kept = make_message(text="for you\n\nwhere is my umbrella")

    assert has_same_text(kept, make_edit(voice=voice, caption="for you"), "for you")
    assert not has_same_text(kept, make_edit(voice=voice, caption="for all"), "for all")
