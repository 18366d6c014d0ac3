"""Output for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.output import age, count, one_line, print_table, printable, to_minute, utc
from bot.times import iso


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "-"),
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 0 min"),
        (7_500, "2 h 5 min"),
        (86_400, "1 d 0 h"),
        (277_200, "3 d 5 h"),
    ],
)
def test_an_age_has_its_two_largest_units(seconds: float | None, expected: str) -> None:
    assert age(seconds) == expected


def test_times_are_in_utc() -> None:
    assert utc(0) == to_minute(iso(0)) == "1970-01-01 00:00"
    assert iso(1.5) == "1970-01-01T00:00:01.500Z"
    assert (utc(None), iso(None), to_minute(None)) == ("-", None, "-")


def test_nouns_have_singular_and_plural() -> None:
    assert [count(n, "entry", "entries") for n in (0, 1, 2000)] == ["0 entries", "1 entry", "2,000 entries"]
    assert count(3, "chat") == "3 chats"


def test_a_long_text_is_cut_to_one_line() -> None:
    assert one_line("a\n b\tc", longest=9) == "a b c"
    assert one_line("abcdefghij", longest=5) == "abcd…"


@given(st.text(st.characters(), max_size=50))
def test_no_output_controls_the_terminal(text: str) -> None:
    printed = printable(text)
    assert all(character == "\n" or character.isprintable() or ord(character) > 0x9F for character in printed)
    assert printed.encode().decode() == printed


def test_terminal_controls_are_replaced() -> None:
    assert printable("a\x1b[31mred\u202etxt\ud800\r\nb\tc") == "a\ufffd[31mred\ufffdtxt\ufffd\nb    c"


def test_a_table_fits_80_columns_and_prints_texts_unchanged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "[bold]not markup[/bold] :smile: " + "word " * 40 + "x" * 100
    print_table([">chat", "text"], [("-1001234567890", text)], wide=("text",))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "-1001234567890" in lines[3]
    assert "[bold]not markup[/bold] :smile:" in lines[3]
    assert sum(line.count("x") for line in lines[3:]) == 100
