"""Every sentence that a document, a page or the bot shows as something to try works on the stand-in."""

import re
from pathlib import Path

import pytest

from simulator.offline_model.reminders import read_reminder
from simulator.offline_model.reply import OfflineReply, reply_to
from simulator.offline_model.words import Language, language_of, languages
from tests.unit.test_offline_model import TEXT, TOOLS, planned, prompt, tool

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENGLISH = Language("english")
MANY = [*TOOLS, tool("list_reminders"), tool("town_facts", town=TEXT), tool("timetable", town=TEXT)]
REMIND = {"when": "in 20 minutes", "text": "water the plants"}

EXAMPLES: list[tuple[str, str, object]] = [
    ("README.md", "my sister Anna lives in Lisbon", ENGLISH.text("noted")),
    ("README.md", "where she lives", None),
    ("README.md", "write 9000 characters", None),
    ("docs/reminders.md", "remind me in 20 minutes to water the plants", ("set_reminder", REMIND)),
    ("docs/reminders.md", "which reminders are there?", ("list_reminders", {})),
    ("docs/recall.md", "where does Anna live", None),
    ("docs/facts.md", "forget that I …", ENGLISH.text("forgetting")),
    ("examples/README.md", "use town_facts with town=Porto", ("town_facts", {"town": "Porto"})),
    ("examples/README.md", "use timetable with town=Lisbon", ("timetable", {"town": "Lisbon"})),
    ("simulator/README.md", "remind me tomorrow at nine to call mum", ("current_time", {})),
    ("simulator/README.md", "add 2 and 3", ("add", {"a": 2, "b": 3})),
    ("simulator/README.md", "what time is it in Lisbon?", ("current_time", {"timezone": "Lisbon"})),
    ("simulator/README.md", "show markdown", ENGLISH.text("markdown")),
    ("simulator/page/empty_place.js", "My sister Anna lives in Lisbon", ENGLISH.text("noted")),
    ("simulator/page/empty_place.js", "Where does Anna live?", None),
    (
        "simulator/page/empty_place.js",
        "Remind me in 2 minutes to stretch",
        ("set_reminder", {"when": "in 2 minutes", "text": "stretch"}),
    ),
    ("simulator/page/empty_place.js", "we meet on Saturday at ten", ENGLISH.text("noted")),
    ("simulator/page/empty_place.js", "when do we meet?", None),
]
"""File, sentence, and its reply or call. None: what was told in TOLD is quoted, or as many characters are written."""

TOLD = ["my sister Anna lives in Lisbon", "we meet on Saturday at ten"]


@pytest.mark.parametrize(("file", "said", "expected"), EXAMPLES)
def test_an_example_works(file: str, said: str, expected: object) -> None:
    assert said in (ROOT / file).read_text("utf-8")
    reply = reply_to(prompt(*(each for each in TOLD if each != said), said), MANY)

    if expected is not None:
        assert (reply.text if isinstance(expected, str) else planned(reply)) == expected
    elif found := re.search(r"\d+", said):
        assert len(reply.text or "") == int(found[0])
    else:
        assert quotes_what_was_told(reply)


def quotes_what_was_told(reply: OfflineReply) -> bool:
    return any(f"“{each}”" in (reply.text or "") for each in TOLD)


def quoted(sentence: str, language: Language) -> list[str]:
    """Return what a sentence of this language has between its quotation marks."""
    opening, closing = language.text("marks")
    return re.findall(f"{opening}([^{closing}]+){closing}", sentence)


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.name)
def test_what_the_stand_in_proposes_works_in_each_language(language: Language) -> None:
    told, question = quoted(language.text("can"), language)
    about, reminder = quoted(language.text("cannot"), language)
    (with_time,) = quoted(language.text("which_time"), language)

    assert {language_of(each) for each in (told, question, about)} == {language}
    assert told in (reply_to(prompt(told, question)).text or "")
    assert told in (reply_to(prompt(told, about)).text or "")
    assert planned(reply_to(prompt(reminder), TOOLS)) == (
        "set_reminder",
        {"when": "in 20 minutes", "text": (read_reminder(reminder) or pytest.fail("no reminder")).text},
    )
    assert planned(reply_to(prompt(with_time), TOOLS)) == ("current_time", {})


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.name)
def test_the_reminder_that_the_bot_proposes_is_set_in_each_language(language: Language) -> None:
    catalogue = ROOT / f"bot/features/reminders/texts/{language.text('locale')[:2]}.ftl"
    (line,) = re.findall(r"^reminders-none = (.+)$", catalogue.read_text("utf-8"), re.MULTILINE)
    (example,) = quoted(line, language)

    wanted = read_reminder(example)

    assert wanted is not None
    assert (wanted.when, bool(wanted.text), wanted.lacks) == ("in 20 minutes", True, "")
