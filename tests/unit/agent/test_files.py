"""Files that tools return: their names and kinds."""

import pytest

from bot.agent.files import File, check_file
from bot.agent.tool_output import Attached, render_output
from tests.sent_files import make_picture


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("plan.csv", "plan.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\plan.csv", "plan.csv"),
        ("a\nb\x00\u202ecsv.exe", "abcsv.exe"),
        ("`x`*.md", "x.md"),
        (".profile", "profile"),
        ("отчёт за май.csv", "отчёт за май.csv"),
        ("x" * 300 + "." + "y" * 50, "x" * 60 + "." + "y" * 12),
        ("\ud800", "file"),
        ("", "file"),
        ("///", "file"),
    ],
)
def test_a_name_is_cleaned(name: str, clean: str) -> None:
    assert check_file(File(name, "x")).name == clean


@pytest.mark.parametrize(
    ("name", "content", "is_picture"),
    [
        ("p.png", make_picture(), True),
        ("p.dat", make_picture(), True),
        ("p.jpg", b"\xff\xd8\xff\xe0", True),
        ("p.gif", b"GIF89a", False),
        ("p.svg", "<svg/>", False),
        ("p.txt", "PNG", False),
    ],
)
def test_only_first_bytes_make_a_picture(name: str, content: bytes | str, is_picture: bool) -> None:
    assert check_file(File(name, content)).is_picture is is_picture


def test_cells_of_a_table_are_quoted() -> None:
    assert File.table("t.csv", [("a", "b"), ('x "y"', "1,5"), (None, 2)]).content == (
        'a,b\r\n"x ""y""","1,5"\r\n,2\r\n'
    )


def test_a_list_with_a_file_has_a_line_for_each_value() -> None:
    output = render_output([{"rows": 1}, File("t.csv", "a"), "done"])

    assert isinstance(output, Attached)
    assert output.splitlines()[::2] == ['{"rows":1}', "done"]
    assert [file.name for file in output.files] == ["t.csv"]


def test_a_list_without_files_is_json() -> None:
    assert render_output([1, "a"]) == '[1,"a"]'
