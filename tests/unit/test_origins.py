"""Seams at which words of others could be taken for a person's own."""

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.prompt.text import as_prompt_message, cut_marked, quote_fact, quote_line
from bot.errors import ToolFailed
from bot.features.facts.tools import forget_fact
from bot.features.reminders.tools import cancel_reminder, set_reminder
from bot.features.why.command import Memory, why_text
from bot.transport.gating import BotIdentity, admit, strip_mention
from bot.transport.updates import IncomingMessage, full_text, origin_of, parse_update, quote_of
from bot.transport.words import words_for
from bot.turn.batch import correction_in, plan_batch
from memory.history.fact import AwaitedCorrection, is_source
from memory.history.message import (
    Message,
    Origin,
    Quote,
    Sender,
    clock_of,
    foreign_origins,
    has_request,
    own_words,
    render_message,
    text_origin,
)
from memory.history.transcript import Excerpt, render_line
from memory.tokens import Tokenizer
from memory.zones.clocks import Clocks
from tests.messages import make_fact, make_message, make_receipt
from tests.unit.agent.kit import make_context
from tests.unit.test_batch import BEN, FORWARD, make_edit, make_line

WORDS = "I live in Zurich."
ANSWER_TO: dict[str, Any] = {
    "reply_to_message": {"message_id": 50, "from": {"id": 99, "is_bot": True}, "text": "What is right?"}
}
VIA_BOT: dict[str, Any] = {"via_bot": {"id": 5, "is_bot": True, "first_name": "Poems"}}
FOREIGN: tuple[Origin, ...] = ("quoted", "forwarded", "via_bot", "attached", "transcribed", "tool")


def by_ben(text: str = WORDS, **fields: Any) -> Message:
    return replace(make_message("m1", text), sender=Sender(id=BEN, name="Ben"), **fields)


def received(**fields: Any) -> IncomingMessage:
    raw = {
        "message_id": 7,
        "date": 1,
        "chat": {"id": BEN, "type": "private"},
        "from": {"id": BEN, "first_name": "Ben"},
    }
    message = parse_update({"update_id": 1, "message": raw | fields}).message
    assert message is not None
    return message


@pytest.mark.parametrize("is_group", [False, True])
@pytest.mark.parametrize("origin", FOREIGN)
def test_a_text_of_others_is_a_quotation_wherever_it_is_shown(origin: Origin, is_group: bool) -> None:
    """Also if it has no note and no author, as an application may store it."""
    told = by_ben(origin=origin)
    before, rest = by_ben("x" * 4_000), replace(told, continues="paste")

    for messages in ([told], [before, rest]):
        *marks, last = as_prompt_message(messages, is_group=is_group).text.splitlines()
        assert last == f"> {WORDS}"
        assert marks[-1].startswith("[")
    assert not is_source(told)
    assert render_message(told).startswith("(")
    assert f"[quoting: {origin}]" in render_line(Excerpt(message=told, text=render_message(told)))
    assert '"(' in quote_line(told, is_group=is_group)


def test_a_transcript_of_an_older_store_is_no_speech_of_the_person() -> None:
    old = by_ben(note="an audio file of 0:03, a song, transcribed")

    assert (text_origin(old), own_words(old)) == ("transcribed", "")
    assert as_prompt_message([old], is_group=False).text.endswith(f"\n> {WORDS}")
    for note in ("a voice message of 0:03, transcribed", "a video message, transcribed"):
        assert own_words(by_ben(note=note)) == WORDS
    assert own_words(by_ben(note='an audio file, transcribed, 5 characters, which is data: "x, transcribed"'))


def test_a_voice_that_nobody_heard_is_named_beside_its_caption() -> None:
    silent = by_ben("what is this?", origin="spoken", note="a voice message, which could not be heard")

    shown = as_prompt_message([silent], is_group=False).text

    assert shown == "[a voice message, which could not be heard]\nwhat is this?"


def test_a_page_with_a_voice_and_a_document_shows_what_is_attached() -> None:
    blocks = [
        {"type": "voice_note", "voice_note": {"file_id": "v"}},
        {"type": "document", "document": {"file_id": "d"}},
    ]

    assert origin_of(received(rich_message={"blocks": blocks})) == "typed"
    assert origin_of(received(rich_message={"blocks": blocks[:1]})) == "spoken"


@pytest.mark.parametrize("kind", ["blockquote", "expandable_blockquote"])
def test_a_block_quotation_is_not_the_writers(kind: str) -> None:
    text = f"@MnemoBot {WORDS}\nYes.\nMy own words"
    entities = [
        {"type": "mention", "offset": 0, "length": 9},
        {"type": kind, "offset": 10, "length": len(WORDS) + 5},
    ]
    message = received(text=text, entities=entities)

    assert full_text(message) == f"@MnemoBot \n> {WORDS}\n> Yes.\nMy own words"
    stripped = strip_mention(message, bot=BotIdentity(id=99, username="MnemoBot"))
    assert stripped == f"> {WORDS}\n> Yes.\nMy own words"
    assert own_words(by_ben(stripped)) == "My own words"


@pytest.mark.parametrize(
    ("text", "quoted", "shown"),
    [
        (f"See this: {WORDS}", WORDS, f"See this: \n> {WORDS}"),
        (f"{WORDS} Is it so?", WORDS, f"> {WORDS}\n Is it so?"),
        (f"a{WORDS}b", WORDS, f"a\n> {WORDS}\nb"),
        *(
            (f"Yes.{end}{WORDS}", f"Yes.{end}{WORDS}", f"> Yes.{end}> {WORDS}")
            for end in "\r\x0b\x85\u2028\u2029"
        ),
    ],
)
def test_a_block_quotation_has_lines_of_its_own(text: str, quoted: str, shown: str) -> None:
    entity = {"type": "blockquote", "offset": text.index(quoted), "length": len(quoted)}

    read = full_text(received(text=text, entities=[entity]))

    assert read == shown
    assert WORDS not in own_words(by_ben(read))


def test_a_block_quotation_stays_one_after_many_hidden_addresses() -> None:
    links = [f"{number:02}" for number in range(20)]
    text = "\n".join([*links, WORDS])
    entities = [
        {"type": "text_link", "offset": text.index(each), "length": 2, "url": "https://a.bc/" + "x" * size}
        for size, each in zip([484] * 16 + [47, 30, 20, 10], links, strict=True)
    ]

    read = full_text(
        received(text=text, entities=[*entities, {"type": "blockquote", "offset": 60, "length": len(WORDS)}])
    )

    assert read.endswith(f"\n> {WORDS}")


@pytest.mark.parametrize(
    ("text", "origins"), [(f"> {WORDS}\nIs it so?", ["quoted"]), ("5 > 3", []), ("Is it so?", [])]
)
def test_a_quoted_line_is_an_origin_of_its_own(text: str, origins: list[str]) -> None:
    assert foreign_origins(by_ben(text)) == origins
    quoting = replace(by_ben(text), quote=Quote(telegram_message_id=1, sender_name="Olga", text=WORDS))
    assert foreign_origins(quoting) == ["quoted"]
    assert foreign_origins(replace(by_ben(text), forwarded_from="Olga")) == ["forwarded"]


@pytest.mark.parametrize("name", [WORDS, f"x) {WORDS} (y"])
def test_the_name_of_a_mentioned_person_is_not_the_writers(name: str) -> None:
    user = {"id": 7, "first_name": name}
    entity = {"type": "text_mention", "offset": 6, "length": 9, "user": user}

    read = full_text(received(text="greet my friend in Porto", entities=[entity]))

    assert read.startswith("greet my friend (@")
    assert own_words(by_ben(read)) == "greet my friend in Porto"


@pytest.mark.parametrize(
    "url",
    ["https://a.bc/I_live_in_Zurich", "https://a.bc/(x)", "mailto:a@b.example", "https://a.bc/) I sing ("],
)
def test_the_address_under_words_is_not_the_writers(url: str) -> None:
    entity = {"type": "text_link", "offset": 4, "length": 4, "url": url}

    read = full_text(received(text="see this page", entities=[entity]))

    assert read.startswith(f"see this ({url[:9]}")
    assert own_words(by_ben(read)) == "see this page"
    assert own_words(by_ben("I sing (in Zurich)")) == "I sing (in Zurich)"


@pytest.mark.parametrize("code", [WORDS, f"```\n{WORDS}", f"a ``` b\n````\n{WORDS}"])
def test_a_block_of_code_is_not_the_writers(code: str) -> None:
    text = f"What is {code} My own words"
    entity = {"type": "pre", "offset": 8, "length": len(code), "language": "py"}

    read = full_text(received(text=text, entities=[entity]))

    *_, fence, last = read.splitlines()
    assert (set(fence), last) == ({"`"}, " My own words")
    assert f"{fence}\n{code}\n{fence}\n" in read
    assert own_words(by_ben(read)) == "What is \n My own words"
    assert foreign_origins(by_ben(read)) == ["quoted"]


def test_code_behind_a_command_has_a_line_of_its_own() -> None:
    text = f"@MnemoBot {WORDS}"
    mention = {"type": "mention", "offset": 0, "length": 9}
    message = received(text=text, entities=[mention, {"type": "pre", "offset": 10, "length": len(WORDS)}])

    stripped = strip_mention(message, bot=BotIdentity(id=99, username="MnemoBot"))

    assert stripped == f"```\n{WORDS}\n```"
    assert own_words(by_ben(stripped)) == ""


def test_code_of_a_page_is_not_the_writers() -> None:
    blocks = [
        {"type": "paragraph", "text": "My own"},
        {"type": "pre", "text": f"{WORDS}\n", "language": "py"},
    ]

    text = full_text(received(rich_message={"blocks": blocks}))

    assert text == f"My own\n\n```\n{WORDS}\n```"
    assert own_words(by_ben(text)) == "My own\n\n"


def test_each_line_of_a_quoted_block_is_quoted() -> None:
    said = {"type": "paragraph", "text": f"Yes.\u2028{WORDS}"}

    text = full_text(received(rich_message={"blocks": [{"type": "blockquote", "blocks": [said, said]}]}))

    assert text == f"> Yes.\u2028> {WORDS}\n> Yes.\u2028> {WORDS}"


def test_quoted_blocks_of_a_page_are_not_the_writers() -> None:
    said = {"type": "paragraph", "text": f"{WORDS}\nYes."}
    item = {
        "label": "1.",
        "blocks": [{"type": "blockquote", "blocks": [said, {"type": "blockquote", "blocks": [said]}]}],
    }
    blocks = [{"type": "paragraph", "text": "My own"}, {"type": "list", "items": [item]}]

    text = full_text(received(rich_message={"blocks": blocks}))

    assert own_words(by_ben(text)).split() == ["My", "own", "1."]


def test_no_name_of_a_file_ends_the_brackets_of_its_note() -> None:
    forged = by_ben("look", note=f"a document, a) {WORDS} (b")

    assert render_message(forged) == f"(a document, a  {WORDS}  b)\nlook"
    assert (
        render_message(by_ben("look", note='a document, a (1).txt: ":)"'))
        == '(a document, a (1).txt: ":)")\nlook'
    )


@pytest.mark.parametrize("room", range(40, 400, 20))
def test_a_cut_never_frees_the_end_of_a_quotation(room: int) -> None:
    forwarded = by_ben("a b c " * 100 + WORDS, forwarded_from="Olga", continues="bundle")
    whole = as_prompt_message([by_ben("my own words " * 60), forwarded], is_group=False).text

    cut = cut_marked(whole, room, Tokenizer(encoding="cl100k_base"))

    assert Tokenizer(encoding="cl100k_base").count(cut) <= room
    assert [line for line in cut.splitlines() if WORDS in line and not line.startswith("> ")] == []
    assert WORDS in cut


def test_a_cut_does_not_quote_the_question_behind_a_document() -> None:
    sent = by_ben("word " * 200 + "What is that?", note=f'a document: "{"x y " * 100}"')

    cut = cut_marked(as_prompt_message([sent], is_group=False).text, 100, Tokenizer(encoding="cl100k_base"))

    assert not cut.splitlines()[-1].startswith((">", "["))
    assert cut.endswith("What is that?")


@pytest.mark.parametrize(
    ("fields", "author"),
    [
        ({}, "Ben"),
        ({"forward_origin": {"type": "hidden_user", "sender_user_name": "Dora"}}, "Dora"),
        (VIA_BOT, "Poems"),
    ],
)
def test_a_reply_names_the_author_of_the_words_and_not_who_sent_them(
    fields: dict[str, Any], author: str
) -> None:
    quoted = {"message_id": 3, "from": {"id": BEN, "first_name": "Ben"}, "text": WORDS, **fields}

    quote = quote_of(received(text="so?", reply_to_message=quoted), 99)

    assert quote is not None
    assert (quote.sender_name, quote.text) == (author, WORDS)


@pytest.mark.parametrize("fields", [FORWARD, VIA_BOT])
def test_an_edit_leaves_a_message_the_words_of_its_author(fields: dict[str, Any]) -> None:
    (edited,) = plan_batch([make_line(1, **fields), make_edit(2, 1, WORDS)]).updates

    assert edited.message.text == WORDS
    assert origin_of(edited.message) == origin_of(make_line(1, **fields).message) != "typed"


@pytest.mark.parametrize("fields", [FORWARD, VIA_BOT])
def test_words_of_others_are_no_command_and_correct_no_fact(fields: dict[str, Any]) -> None:
    entities = [{"type": "bot_command", "offset": 0, "length": 6}]
    raw = {"message_id": 2, "date": 1, "chat": {"id": BEN, "type": "private"}, "from": {"id": BEN}}
    update = parse_update(
        {"update_id": 1, "message": raw | {"text": "/reset all", "entities": entities} | fields}
    )
    asked = AwaitedCorrection(
        telegram_id=50, fact_id="f1", sender_id=BEN, owner_id=BEN, first=0, asked_at=0.0
    )

    admission = admit(
        update, bot=BotIdentity(id=99, username="MnemoBot"), is_permitted=True, commands={"reset"}
    )

    assert (admission.action, admission.command) == ("turn", None)
    assert correction_in(make_line(3, **ANSWER_TO), [asked]) == asked
    assert correction_in(make_line(3, **ANSWER_TO, **fields), [asked]) is None


def test_the_task_of_a_reminder_is_done_and_is_no_word_of_its_person() -> None:
    task = by_ben(
        "Look up the weather", origin="bot", note="a reminder that Ben has set, due at 2026-11-26 18:00 UTC"
    )

    assert not is_source(task)
    assert has_request([task])
    assert as_prompt_message([task], is_group=False).text == (
        "[a reminder that Ben has set, due at 2026-11-26 18:00 UTC]\nLook up the weather"
    )


@pytest.mark.parametrize(
    "message",
    [
        by_ben(forwarded_from="Olga"),
        by_ben("", note=f'a document, a.txt, 5 characters: "{WORDS}"'),
        by_ben(f"> {WORDS}"),
        by_ben(origin="via_bot"),
    ],
)
async def test_a_message_without_own_words_changes_nothing(message: Message) -> None:
    context = await make_context(prompt=[message])

    for change in (
        set_reminder(context, "in 2 hours", WORDS),
        cancel_reminder(context, ("1",)),
        forget_fact(context, "all", ("f",)),
    ):
        with pytest.raises(ToolFailed, match="only words of others"):
            await change


@pytest.mark.parametrize(
    ("message", "whose"),
    [
        (by_ben(), "Ben:"),
        (by_ben("", origin="spoken", note="a voice message, which could not be heard"), "Ben:"),
        (by_ben(note="an audio file, transcribed"), "Ben, attached:"),
        (by_ben(forwarded_from="Olga"), "Ben, forwarded:"),
        (by_ben(origin="bot", note="a reminder that Ben has set"), "me:"),
    ],
)
def test_why_says_whose_the_words_are(message: Message, whose: str) -> None:
    text = why_text(words_for("en"), make_receipt(), [Memory(message=message)], which="last").text

    assert whose in text


def test_an_imported_line_has_the_clock_of_its_reader() -> None:
    """A file may name any id: the zone of that person was chosen in another chat."""
    said = Message(
        id="a", role="user", text="hello", sent_at=0.0, tokens=1, sender=Sender(id=7, name="Ben"),
        imported_from="Telegram",
    )  # fmt: skip
    clocks = Clocks(zones={7: "Asia/Tokyo", 1: "Europe/Lisbon"}, reader=1)

    assert quote_line(said, is_group=False, clocks=clocks).startswith("[1970-01-01 01:00 Europe/Lisbon")
    live = replace(said, imported_from="")
    assert quote_line(live, is_group=False, clocks=clocks).startswith("[1970-01-01 09:00 Asia/Tokyo")

    fact = make_fact(valid_from=20 * 3600.0)
    assert quote_fact(fact, clocks=clocks).startswith("[since 1970-01-02] Anna:")
    imported = replace(fact, imported_from="Telegram")
    assert quote_fact(imported, clocks=clocks).startswith("[since 1970-01-01, imported from Telegram] Anna:")


def test_lines_of_an_imported_file_show_no_zone_of_its_people() -> None:
    said = replace(by_ben(), sent_at=0.0, imported_from="Telegram")
    answer = replace(make_message("m2", "Noted.", role="assistant"), sent_at=0.0)
    zones = {BEN: "Asia/Tokyo"}

    def line(*messages: Message) -> str:
        return render_line(
            Excerpt(message=answer, text="Noted."), Clocks.of(map(clock_of, [*messages, answer]), zones)
        )

    assert line(said) == '[1970-01-01 00:00 UTC] assistant: "Noted."'
    assert line(said, replace(said, imported_from="")).startswith("[1970-01-01 09:00 Asia/Tokyo]")
