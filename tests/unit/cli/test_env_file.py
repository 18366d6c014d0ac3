"""The file `.env` after `init`: every other line stays, and only its owner can read it."""

from io import StringIO
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.init import replace_values, write_private

OLD = """\
# my bot
export TELEGRAM_BOT_TOKEN = "1:old" # from BotFather
OTHER='two
OPENAI_API_KEY=inside
lines'
# OPENAI_MODEL=gpt

not an assignment
LAST=1"""


def test_changed_values_keep_their_comments_and_every_other_line() -> None:
    new = replace_values(OLD, {"TELEGRAM_BOT_TOKEN": "2:new", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"})

    assert (
        new
        == """\
# my bot
export TELEGRAM_BOT_TOKEN=2:new # from BotFather
OTHER='two
OPENAI_API_KEY=inside
lines'
# OPENAI_MODEL=gpt
OPENAI_MODEL=m

not an assignment
LAST=1
OPENAI_API_KEY=k
"""
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A=1", "A=9"),
        ("A=\r\nB=2\r\n", "A=9\r\nB=2\r\n"),
        ("A= # none", "A=9 # none"),
        ("A=#1 # one\n", "A=9 # one\n"),
        ("A='1'#one\n", "A=9 #one\n"),
        ("A='1' 2\n", "A='1' 2\nA=9\n"),
        ("a=1\n", "a=9\n"),
        ("A=1\nA=2\n", "A=1\nA=9\n"),
        ("A\n", "A=9\n"),
        ("", "A=9\n"),
        ("# a=1", "# a=1\nA=9\n"),
    ],
)
def test_each_form_of_an_assignment_gets_the_value(old: str, new: str) -> None:
    assert replace_values(old, {"A": "9"}) == new


lines = st.sampled_from(
    ["A=1", "B='x\ny'", 'export A="1" # c', "# A=", "A", "'A'=2", "C=${A}", "?? '", "=", "A = 'x", "", " "]
)


@given(st.lists(lines), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file_has_the_value_afterwards_and_keeps_the_others(
    old: list[str], end: str, is_ended: bool
) -> None:
    text = end.join(old) + (end if is_ended else "")

    new = replace_values(text, {"A": "9"})

    before, after = (dotenv_values(stream=StringIO(each), interpolate=False) for each in (text, new))
    assert after == {**before, "A": "9"}
    assert replace_values(new, {"A": "9"}) == new


def test_the_file_is_private_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real", tmp_path / ".env"
    target.write_text("A=1\n")
    target.chmod(0o644)
    link.symlink_to(target)

    write_private(link, "A=2\r\n")

    assert (link.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (
        True,
        b"A=2\r\n",
        0o600,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [".env", "real"]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    with pytest.raises(OSError, match=r"\.env"):
        write_private(tmp_path / ".env", "A=1\n")
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
