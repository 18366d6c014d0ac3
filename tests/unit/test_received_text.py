"""Addresses under words and people under names, written into a received text.

Shapes of real messages: NousResearch/hermes-agent#31071, chenhg5/cc-connect#1207, vercel/chat#232.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.transport.received_text import ADDED_CHARACTERS, ADDRESS_CHARACTERS, additions_in, read_text
from bot.transport.updates import full_text, parse_update

Json = dict[str, object]
URL = "https://example.org/x"


def link(offset: int, length: int, url: object = URL, **fields: object) -> Json:
    return {"type": "text_link", "offset": offset, "length": length, "url": url} | fields


def person(offset: int, length: int, **user: object) -> Json:
    return {"type": "text_mention", "offset": offset, "length": length, "user": {"id": 7} | user}


def written(text: str, *entities: object) -> str:
    return read_text({"text": text, "entities": list(entities)})


@pytest.mark.parametrize(
    ("text", "entities", "expected"),
    [
        ("read the article now", [link(5, 11)], f"read the article ({URL}) now"),
        ("😀👨‍👩‍👧 the article", [link(11, 11)], f"😀👨‍👩‍👧 the article ({URL})"),
        ("請看這篇文章謝謝", [link(4, 2)], f"請看這篇文章 ({URL})謝謝"),
        ("the article, then", [link(0, 12)], f"the article, ({URL}) then"),
        ("one two", [link(0, 4), link(4, 3, "https://b.cd")], f"one ({URL}) two (https://b.cd)"),
        # A nested, an overlapping and a divided link.
        ("one two", [link(0, 7), link(4, 3, "https://b.cd")], f"one two ({URL}) (https://b.cd)"),
        ("one two", [{"type": "bold", "offset": 0, "length": 3}, link(0, 3), link(4, 3)], f"one two ({URL})"),
        # A link under an invisible character shows the picture of a page.
        ("\u200bnews of today", [link(0, 1)], f"\u200b ({URL})news of today"),
        ("a  b", [link(1, 2)], f"a  ({URL})b"),
        ("line\nnext", [link(0, 4, "https://a.bc/\nd")], "line (https://a.bc/%20d)\nnext"),
        ("pay https://bank.example", [link(4, 20, "https://evil.example")],
         "pay https://bank.example (https://evil.example)"),
        ("ask my boss", [person(4, 7, first_name="Anna", last_name="Silva")], "ask my boss (@Anna Silva)"),
        ("ask my boss", [person(4, 7, username="anna_s")], "ask my boss (@anna_s)"),
        # openclaw#52859
        ("😀 milk, eggs", [{"type": "strikethrough", "offset": 3, "length": 4}], "😀 ~~milk~~, eggs"),
        ("milk", [{"type": "strikethrough", "offset": 0, "length": 4}, link(0, 4)], f"~~milk ({URL})~~"),
    ],
)  # fmt: skip
def test_what_words_hide_is_written_after_them(text: str, entities: list[Json], expected: str) -> None:
    assert written(text, *entities) == expected


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("https://example.org/x", link(0, 21)),
        ("example.org/x", link(0, 13, "http://example.org/x/")),
        ("Example.org", link(0, 11, "https://example.org/")),
        ("a@b.example", link(0, 11, "mailto:a@b.example")),
        ("Anna Silva", person(0, 10, first_name="Anna", last_name="Silva")),
        ("@anna_s", person(0, 7, username="Anna_S")),
        ("somebody", person(0, 8)),
        ("some words", link(0, 4, "")),
        ("some words", link(0, 4, 7)),
        ("some words", link(8, 40)),
        ("some words", link(-1, 4)),
        ("some words", link(4, 0)),
        ("😀 words", link(1, 3)),
        ("some words", {"type": "url", "offset": 0, "length": 4, "url": URL}),
        ("some words", "text_link"),
    ],
)
def test_what_is_shown_already_or_does_not_fit_is_not_written(text: str, entity: object) -> None:
    assert written(text, entity) == text


def test_buttons_of_a_forwarded_message_give_their_addresses() -> None:
    rows = [
        [{"text": "Read\nmore", "url": "https://a.bc/(x)"}, {"text": "Vote", "callback_data": "v"}],
        "x",
        [7],
    ]
    raw: Json = {"text": "News", "reply_markup": {"inline_keyboard": rows}}

    assert read_text(raw | {"forward_date": 9}) == "News\nRead more (https://a.bc/%28x%29)"
    assert read_text(raw) == "News"


def test_addresses_are_bounded_alone_and_together() -> None:
    long = "https://example.org/" + "x" * 5_000
    assert len(written("a", link(0, 1, long))) < ADDRESS_CHARACTERS + 10

    many = "a " * 300
    text = written(many, *[link(2 * at, 1, f"https://example.org/{at}/{'x' * 400}") for at in range(300)])
    assert len(many) < len(text) <= len(many) + ADDED_CHARACTERS


def test_a_caption_has_its_own_entities() -> None:
    raw = {"caption": "a b", "caption_entities": [link(0, 1)], "entities": [link(2, 1)]}

    assert read_text(raw) == f"a ({URL}) b"


def test_the_received_text_stays_as_it_is() -> None:
    raw = {"message_id": 1, "chat": {"id": 7}, "text": "see it", "entities": [link(4, 2)]}
    message = parse_update({"update_id": 1, "message": raw}).message

    assert message is not None
    assert (message.text, full_text(message)) == ("see it", f"see it ({URL})")
    assert [(each.type, each.offset, each.url) for each in message.entities] == [("text_link", 4, URL)]


@given(
    st.text(alphabet="a😀 \nש", max_size=12),
    st.lists(st.tuples(st.integers(-2, 14), st.integers(-2, 14), st.sampled_from([URL, "https://b.cd"]))),
)
def test_a_text_without_its_additions_is_the_received_one(
    text: str, spans: list[tuple[int, int, str]]
) -> None:
    entities = [link(*span) for span in spans]
    additions = additions_in({"text": text, "entities": entities})
    shown = written(text, *entities)

    for number in reversed(range(len(additions))):
        addition = additions[number]
        assert 0 < addition.at <= len(text)
        place = addition.at + sum(len(before.text) for before in additions[:number])
        assert shown[place:].startswith(addition.text)
        shown = shown[:place] + shown[place + len(addition.text) :]
    assert shown == text
