"""docs/telegram.md and docs/access.md: the settings, commands, numbers and lines that they name are those of the code."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.prompt.draft import HEARD_TOKENS
from bot.inbox.slots import RESTING_AT_MOST
from bot.media.notes import SHOWN_WHOLE, tell_document
from bot.media.pdf import PdfLimits
from bot.media.reader import LARGEST_SOUND, LONGEST_SOUND_S, READ_KINDS
from bot.media.sight import picture_tokens
from bot.observe import metrics
from bot.settings import Settings
from bot.transport.administrators import BELIEVED_S
from bot.transport.contents import note_on
from bot.transport.continuations import APART_S, PASTE_UNITS
from bot.transport.guests import KNOWN_S, TRIES, UNKNOWN_S
from bot.transport.ingest import COMMANDS
from bot.transport.quotations import QUOTED_CHARACTERS
from bot.transport.rates import OF_TELEGRAM
from bot.transport.rendering import render
from bot.transport.splitting import MESSAGE_LIMIT
from bot.transport.updates import MEDIA_KINDS
from bot.transport.words import LANGUAGES
from bot.turn.batch import BurstWaits
from bot.turn.delivery import FIRST_PAUSE_S, LONGEST_PAUSE_S, SENDS_AT_MOST
from bot.turn.preview import TYPING_AFTER_S, TYPING_EVERY_S
from bot.turn.preview_screens import DRAFT_EVERY_S, MESSAGE_AFTER_S, MESSAGE_EVERY_S, STOP_BUTTON_AFTER_S
from bot.turn.reading import PICTURE_BYTES_AT_MOST, PICTURES_AT_MOST
from bot.turn.reanswering import AGAIN_WITHIN_S
from bot.turn.replies import CODE_UNITS_AT_MOST, FILE_NAME, PARTS_AT_MOST
from memory import keys
from memory.history.heard import HEARD_CHARS
from memory.history.message import Quote, Sender
from tests.unit.agent.kit import as_spoken, message

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "telegram.md").read_text("utf-8")
ACCESS = (DOCS / "access.md").read_text("utf-8")

_LANGUAGE_NAMES = {
    "en": "English",
    "es": "Spanish",
    "ru": "Russian",
    "de": "German",
    "pt": "Portuguese",
    "fa": "Persian",
}


def settings_in(text: str) -> set[str]:
    """The names in capitals with an underscore, and those without that are settings all the same."""
    named = set(re.findall(r"`([A-Z][A-Z_]+[A-Z])(?:=[^`]*)?`", text))
    return named - {"USER_ID", "UPDATE_ID"}


def section(heading: str) -> str:
    return TEXT[TEXT.index(f"\n## {heading}\n") :].partition("\n## ")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of the first table in it."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# Names ----------------------------------------------------------------------------------------------------
def test_every_setting_that_is_named_exists_and_stands_in_the_readme() -> None:
    named = settings_in(TEXT + ACCESS)

    assert {name for name in named if name.lower() not in Settings.model_fields} == set()
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert {name for name in named if f"`{name}`" not in readme and f"`{name}=" not in readme} == set()


def test_the_settings_have_the_defaults_that_are_listed() -> None:
    listed: dict[str, str] = {}
    for names, default, _ in rows(section("Settings")):
        listed |= dict.fromkeys(re.findall(r"`(\w+)`", names), default.strip("`"))

    listed["OPENAI_VISION"] = "None"  # by the table
    listed["OPENAI_TRANSCRIPTION_MODEL"] = listed["OPENAI_TRANSCRIPTION_MODEL"].partition("`")[0]
    actual = {name: Settings.model_fields[name.lower()].default for name in listed}

    assert listed == {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in actual.items()
    }


def test_every_command_and_metric_that_it_names_exists() -> None:
    commands = set(re.findall(r"`/([a-z]+)(?: all)?`", TEXT + ACCESS)) - {"setprivacy"}  # @BotFather's

    assert commands <= set(COMMANDS)
    counted = set(re.findall(r"`(mnemogram_\w+)`", TEXT + ACCESS))
    assert counted
    assert {name for name in counted if name not in metrics.render().decode()} == set()


def test_every_kind_of_content_is_told_of() -> None:
    told = " ".join(cell for row in rows(section("What you can send")) for cell in row[:1])
    words = {"video_note": "video message", "voice": "voice message", "audio": "audio file"}
    kinds = {*MEDIA_KINDS, *READ_KINDS} - {"paid_media"}

    assert {kind for kind in kinds if words.get(kind, kind.replace("_", " ")) not in told} == set()


def test_every_language_is_named() -> None:
    for text in (TEXT, ACCESS):
        assert [_LANGUAGE_NAMES[each] for each in LANGUAGES if _LANGUAGE_NAMES[each] not in text] == []
    assert set(_LANGUAGE_NAMES) == set(LANGUAGES)


# Numbers --------------------------------------------------------------------------------------------------
def test_the_figures_of_what_comes_in_are_those_of_the_code() -> None:
    waits, pdf = BurstWaits(), PdfLimits()
    told = tell_document("x" * (SHOWN_WHOLE + 1), pages=None, artifact_id="a", is_cut=False)
    figures = [
        f"at most {SHOWN_WHOLE:,} characters: all of it. Longer: its first {told.count('x'):,}",
        f"recordings of up to {LONGEST_SOUND_S // 60} minutes and {LARGEST_SOUND // 10**6} MB",
        f"`MEDIA_BYTES` ({default('media_bytes') // 10**6} MB",
        f"`DOCUMENT_CHARS` ({default('document_chars'):,}) characters",
        f"{PICTURES_AT_MOST} pictures and {PICTURE_BYTES_AT_MOST // 10**6} MB of pictures in one answer",
        f"with {pdf.seconds} seconds, {pdf.memory // 1024**2} MiB",
        f"{QUOTED_CHARACTERS} characters at most",
        f"is older than {AGAIN_WITHIN_S // 3600} hours",
        f"a text of {PASTE_UNITS:,} UTF-16 units or more, and what follows within {APART_S} seconds",
        f"begins {waits.paste_s} seconds later than it could, that to an album or a forward {waits.bundle_s:.0f} second",
        f"the newest `GROUP_CONTEXT_MESSAGES` ({default('group_context_messages')}) of each group",
        f"{HEARD_CHARS:,} characters of each, for a week at most; all of it goes {keys.HEARD_TTL_S // 3600} hours after",
        f"at most {HEARD_TOKENS:,} tokens",
        f"believed for {BELIEVED_S:.0f} seconds",
        f"`ARTIFACT_TTL_S`, {default('artifact_ttl_s') // 86_400} days",
        f"takes {picture_tokens('gpt-4o', 1280, 960)} for `gpt-4o`",
    ]

    assert [figure for figure in figures if figure not in TEXT] == []
    assert 2 * keys.HEARD_TTL_S == 7 * 86_400  # what is older than half of it goes with the next line


def test_the_figures_of_what_goes_out_are_those_of_the_code() -> None:
    private, group = OF_TELEGRAM.private, OF_TELEGRAM.group
    figures = [
        "at most once a second; in a group",
        f"from {MESSAGE_AFTER_S} seconds on, in one message that is edited at most every {MESSAGE_EVERY_S:.0f} seconds",
        f"takes longer than {STOP_BUTTON_AFTER_S:.0f} seconds",
        f"split at {MESSAGE_LIMIT:,} units",
        f"an answer of more than {PARTS_AT_MOST} messages, or with a block of code of more than {CODE_UNITS_AT_MOST:,} units",
        f"a file `{FILE_NAME}`",
        f"{private.calls} calls in {private.window_s:.0f} seconds for a private chat",
        f"{group.calls} in {group.window_s:.0f} seconds for a group, {OF_TELEGRAM.slots} a second in all",
        f"with up to {RESTING_AT_MOST:,} waiting",
        f"tried again after {FIRST_PAUSE_S} seconds",
        f"after {TYPING_AFTER_S} seconds, then one in {TYPING_EVERY_S} seconds",
    ]

    assert [figure for figure in figures if figure not in TEXT] == []
    assert (DRAFT_EVERY_S, LONGEST_PAUSE_S, SENDS_AT_MOST) == (1, 60, 2)  # "up to a minute", "sent once more"


def test_the_figures_of_access_and_limits_are_those_of_the_code() -> None:
    figures = [
        f"one polite sentence in {keys.REFUSAL_TTL_S // 86_400} days",
        f"once, within {keys.INVITATION_TTL_S // 86_400} days",
        f"everywhere within {KNOWN_S:.0f} seconds",
        f"at most every {UNKNOWN_S:.0f} seconds",
        f"| after {keys.USAGE_TTL_S // 86_400} days |",
        f"| after {keys.INVITATION_TTL_S // 86_400} days; after an hour |",
        f"after 30 days; after {keys.COMMANDS_TTL_S // 86_400} days",
    ]

    assert [figure for figure in figures if figure not in TEXT] == []
    assert (keys.INVITATION_TRIES_TTL_S, keys.MINUTE_TTL_S) == (3600, 60)
    assert (TRIES, "after ten of them in an hour" in ACCESS) == (10, True)


@pytest.mark.parametrize(("lines", "kind"), [(3, "blockquote"), (4, "expandable_blockquote")])
def test_quotes_are_folded_from_the_length_that_it_says(lines: int, kind: str) -> None:
    assert "folded beyond 3 lines or 300 units" in TEXT
    assert [entity.type for entity in render("\n".join(["> said"] * lines)).entities] == [kind]


# Lines that it quotes -------------------------------------------------------------------------------------
def test_the_message_with_its_marks_reads_as_it_shows() -> None:
    (shown,) = re.findall(r"^```text\n(.*?)\n^```$", TEXT, re.DOTALL | re.MULTILINE)
    told = replace(
        message(1, "is this the platform?"),
        sender=Sender(id=1, name="Olga"),
        note="a photo, 1280×960",
        quote=Quote(telegram_message_id=5, sender_name="Ben Hart", text="the train leaves at nine"),
    )

    assert as_spoken(told, is_group=False).text == shown


def test_the_notes_read_as_it_shows() -> None:
    place = {"location": {"latitude": 38.7223, "longitude": -9.1393}}
    poll = {"poll": {"question": "Lunch?", "options": [{"text": "yes"}, {"text": "no"}]}}

    assert f"`{note_on(place)}`" in TEXT
    assert f"`{note_on(poll)}`" in TEXT


def default(name: str) -> int:
    return int(Settings.model_fields[name].default)
