"""Rendering of a model's Markdown as Telegram text and entities."""

import pytest

from bot.transport.rendering import display_width, render, render_messages, render_with
from bot.transport.rich_text import Entity, RichText, Span, is_sendable_url, valid_spans


def render_entities(markdown: str) -> tuple[str, list[tuple[object, ...]]]:
    rich = render(markdown)
    return rich.text, [tuple(entity.to_dict().values()) for entity in rich.entities]


def test_inline_styles_become_entities_of_the_plain_text() -> None:
    assert render_entities("a **b** *i* ~~s~~ `c` [l](https://a.bc/d?e=f)") == (
        "a b i s c l",
        [
            ("bold", 2, 1),
            ("italic", 4, 1),
            ("strikethrough", 6, 1),
            ("code", 8, 1),
            ("text_link", 10, 1, "https://a.bc/d?e=f"),
        ],
    )


def test_offsets_count_utf16_units() -> None:
    assert render_entities("😀 **b😀** `x`") == ("😀 b😀 x", [("bold", 3, 3), ("code", 7, 1)])


def test_an_entity_is_a_json_object_of_the_bot_api() -> None:
    entity = Entity(type="pre", offset=0, length=3, language="py")

    assert entity.to_dict() == {"type": "pre", "offset": 0, "length": 3, "language": "py"}


def test_a_code_block_keeps_its_language_and_indentation() -> None:
    assert render_entities("```c++ title=x\n  int a;\n```\nafter") == (
        "  int a;\nafter",
        [("pre", 0, 8, "c++")],
    )


def test_an_unclosed_code_block_runs_to_the_end() -> None:
    assert render_entities("```py\nx = 1") == ("x = 1", [("pre", 0, 5, "py")])


def test_headings_are_bold_without_ornaments() -> None:
    text, entities = render_entities("# One\ntext\n### Two")

    assert text == "One\ntext\nTwo"
    assert ("bold", 0, 3) in entities
    assert ("bold", 9, 3) in entities


def test_lists_keep_marks_numbers_and_nesting() -> None:
    assert render_entities("- a\n  - b\n\n3. x\n4. y\n\n- [x] done\n- [ ] open") == (
        "• a\n  • b\n\n3. x\n4. y\n\n☑ done\n☐ open",
        [],
    )


def test_blocks_in_a_first_list_start_on_new_lines() -> None:
    assert render_entities("- a\n  ```\n  c\n  ```\n  after\n- b\n  > q") == (
        "• a\nc\nafter\n• b\nq",
        [("pre", 4, 1), ("blockquote", 16, 1)],
    )


def test_a_quote_contains_code_but_no_other_quote() -> None:
    assert render_entities("> a\n> > b\n> `c`\n\nd") == (
        "a\nb\nc\n\nd",
        [("blockquote", 0, 5), ("code", 4, 1)],
    )


def test_bold_is_interrupted_by_the_code_within() -> None:
    assert render_entities("**bold `code` on**") == (
        "bold code on",
        [("bold", 0, 4), ("code", 5, 4), ("bold", 10, 2)],
    )


def test_a_link_wins_over_code_in_it() -> None:
    assert render_entities("[a `b`](https://a.bc)") == ("a b", [("text_link", 0, 3, "https://a.bc")])


def test_a_table_is_aligned_monospace_by_display_width() -> None:
    assert render_entities("| name | n |\n|---|---|\n| Zoë | 1 |\n| 日本 | 22 |\n| ✅ | $x$ |") == (
        "name | n\n-----+----\nZoë  | 1\n日本 | 22\n✅   | $x$",
        [("pre", 0, 46)],
    )


def test_an_empty_cell_is_no_spoiler() -> None:
    assert render_entities("| a || b || c |\n|-|-|-|-|-|\n| 1 |2|3|4|5|")[0].startswith("a |   | b |   | c\n")


@pytest.mark.parametrize(
    ("markdown", "entities"),
    [
        (r"\(\frac{a}{b}\) and $x^2$", [("code", 0, 15), ("code", 20, 5)]),
        (r"so $$\sum_i x_i * y_i * 2$$.", [("code", 3, 24)]),
        (r"\[ a \\ b \]", [("pre", 0, 12, "latex")]),
        ("$$\nx = \\{y\\}\n$$", [("pre", 0, 15, "latex")]),
        (r"a set \{x\} of 50\%, C:\new\_x", []),
        ("from $5 to $10, US$3 and $x = 5", []),
        ("$5 and then about 6$", []),
    ],
)
def test_mathematics_stays_unrendered(markdown: str, entities: list[tuple[object, ...]]) -> None:
    assert render_entities(markdown) == (markdown, entities)


def test_escaped_dollars_and_brackets_are_no_mathematics() -> None:
    assert render_entities(r"\$7 \[citation needed\] \(see below\)") == (
        "$7 [citation needed] (see below)",
        [],
    )


def test_a_formula_in_a_list_or_a_quote_stays_there() -> None:
    assert render_entities("> a\n> $$\n> x_1\n> $$") == (
        "a\n$$\nx_1\n$$",
        [("expandable_blockquote", 0, 11), ("pre", 2, 9, "latex")],
    )


def test_latex_in_code_stays_as_it_is() -> None:
    assert render_entities("```latex\n\\[ \\frac{a}{b} \\]\n```")[0] == r"\[ \frac{a}{b} \]"
    assert render_entities(r"`\(x\)` and `$y$`") == (r"\(x\) and $y$", [("code", 0, 5), ("code", 10, 3)])


@pytest.mark.parametrize(
    ("quote", "kind"),
    [
        ("> a\n> b\n> c", "blockquote"),
        ("> a\n> b\n> c\n> d", "expandable_blockquote"),
        (f"> {'a' * 300}", "blockquote"),
        (f"> {'a' * 301}", "expandable_blockquote"),
    ],
)
def test_a_long_quote_is_folded(quote: str, kind: str) -> None:
    assert [entity[0] for entity in render_entities(quote)[1]] == [kind]


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("he is ||the killer||!", "he is the killer!", [("spoiler", 6, 10)]),
        ("||**bold** end||", "bold end", [("spoiler", 0, 8), ("bold", 0, 4)]),
        ("the norm ||v||, `a||b||c`", "the norm ||v||, a||b||c", [("code", 16, 7)]),
        ("if ok || not ok || x", "if ok || not ok || x", []),
        ("one||two three||four", "one||two three||four", []),
    ],
)
def test_bars_around_words_hide_them(markdown: str, text: str, entities: list[tuple[object, ...]]) -> None:
    assert render_entities(markdown) == (text, entities)


@pytest.mark.parametrize(
    ("markdown", "text", "length"),
    [("**重要。**请", "重要。请", 3), ("字**「中文」**字", "字「中文」字", 4), ("**(a)**b", "(a)b", 3)],
)
def test_bold_may_end_with_punctuation_before_a_letter(markdown: str, text: str, length: int) -> None:
    assert render_entities(markdown) == (
        text,
        [("bold", text.index("字") + 1 if text[0] == "字" else 0, length)],
    )


def test_a_picture_becomes_a_link_with_its_description_or_address() -> None:
    assert render_entities("![a cat](https://a.bc/c) ![](https://a.bc/x_y_z)") == (
        "🖼 a cat 🖼 https://a.bc/x_y_z",
        [("text_link", 3, 5, "https://a.bc/c"), ("text_link", 12, 18, "https://a.bc/x_y_z")],
    )


def test_a_wide_table_becomes_one_record_per_row() -> None:
    table = "| Name | What it does | |\n|---|---|---|\n"
    table += "| **a_b** | counts all of the words in the text | x |\n| c | | y |"

    assert render_entities(table) == (
        "Name: a_b\n• What it does: counts all of the words in the text\n• x\n\nName: c\n• y",
        [("bold", 6, 3), ("bold", 73, 1)],
    )


def test_links_of_a_table_work() -> None:
    assert render_entities("| a | b |\n|---|---|\n| x | [l](https://a.bc/x_y_z) |") == (
        "a: x\n• b: l",
        [("bold", 3, 1), ("text_link", 10, 1, "https://a.bc/x_y_z")],
    )


def test_a_table_aligns_numbers_right_and_keeps_bars_in_code_and_lines_in_cells() -> None:
    assert render_entities("| n | code |\n|---|---|\n| 5 | `a|b` |\n| 10 | one<br>two |")[0] == (
        " n | code\n---+-----\n 5 | a|b\n10 | one\n   | two"
    )


def test_a_drawn_table_in_code_stays_unchanged() -> None:
    code = "a    | b\n-----+--\n1    | " + "x" * 60

    assert render_entities(f"```\n{code}\n```") == (code, [("pre", 0, len(code))])


def test_widths_are_display_widths() -> None:
    assert [display_width(text) for text in ("a", "日", "❤️", "👨‍👩‍👧", "🇵🇹", "e\u0301", "1️⃣", "👍🏽")] == [
        1,
        2,
        2,
        2,
        2,
        1,
        2,
        2,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "use List<String> and <div> here",
        "<div>\nblock\n</div>",
        "<!-- remark -->",
        "if a || b || c",
        "the norm ||v||",
        "__init__ and __name__",
        "|| x",
        "price $5 and $6, ~3 or ~4",
        "a claim[^1]\n\n[^1]: its source",
        "*** x",
        "snake_case_name and 2*3*4",
        "/start @someone #tag",
    ],
)
def test_text_without_markdown_stays_unchanged(text: str) -> None:
    assert render_entities(text) == (text, [])


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("[x](docs/a)", "x (docs/a)"),
        ("[x](tg://user?id=5)", "x (tg://user?id=5)"),
        ("[x](http://localhost:8080/y)", "x (http://localhost:8080/y)"),
        ("[x](ftp://a.bc/y)", "x (ftp://a.bc/y)"),
        ("[x](mailto:a@b.cd)", "x (a@b.cd)"),
        ("[a@b.cd](mailto:a@b.cd)", "a@b.cd"),
    ],
)
def test_a_link_that_telegram_refuses_becomes_text(markdown: str, text: str) -> None:
    assert render_entities(markdown) == (text, [])


@pytest.mark.parametrize(
    ("url", "sendable"),
    [
        ("https://example.org", True),
        ("http://user@example.org:8080/path?q#f", True),
        ("https://bücher.example/ü", True),
        ("http://[2001:db8::1]/x", True),
        ("tg://resolve?domain=x", True),
        ("https://localhost", False),
        ("https://example.org:0/", False),
        ("https://example.org:65536/", False),
        ("https://exa mple.org", False),
        ("https://.", False),
        ("https://bücher.", False),
        ("https://a..bc/x", False),
        ("ftp://example.org", False),
        ("example.org", False),
        ("tg://user?id=1", False),
        ("mailto:a@b.cd", False),
        ("", False),
    ],
)
def test_only_addresses_that_telegram_accepts_are_sent(url: str, sendable: bool) -> None:
    assert is_sendable_url(url) is sendable


@pytest.mark.parametrize("blank", ["", " \n\t ", "\u200b\ufeff", "\x00", "&#8203;", "[]()"])
def test_blank_text_renders_as_nothing(blank: str) -> None:
    assert render(blank) == RichText(text="")
    assert not render(blank)


def test_control_characters_are_removed_as_telegram_does() -> None:
    assert render_entities("a\r\nb\x00c\u202ed\ue000 \ud800x\ufdd0")[0] == "a\nb cd\ue000 \ufffdx"


def test_a_control_character_written_as_a_reference_does_not_move_entities() -> None:
    assert render_entities("a&#8232;**b**") == ("a b", [("bold", 2, 1)])


def test_the_text_is_trimmed_with_its_entities() -> None:
    assert render_entities("\n\n  **a** b  \n\n") == ("a b", [("bold", 0, 1)])


@pytest.mark.parametrize(
    "text",
    [
        "You told me: “my sister Anna lives in Lisbon”.",
        "Sure! See https://example.com/a or ask @anna (she's in); /help is 100% free.",
        "One line.\nA second one.\n\nA new paragraph: well-known, 3.5 + 4 = 7.5, C# and #4.",
        "Привет! Как дела? 👨‍👩‍👧 नमस्ते 你好。",
    ],
)
def test_plain_words_are_not_converted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(_: str) -> tuple[str, list[Span]]:
        raise KeyboardInterrupt

    monkeypatch.setattr("bot.transport.rendering.parse", convert)

    assert render_messages(text) == [RichText(text=text)]


@pytest.mark.parametrize("failure", [RuntimeError, RecursionError])
def test_a_failing_converter_leaves_the_plain_text(failure: type[Exception]) -> None:
    def convert(_: str) -> tuple[str, list[Span]]:
        raise failure

    assert render_with(convert, " **a** <b> ") == RichText(text="**a** <b>")


def test_an_interrupt_is_not_treated_as_a_failure_of_the_converter() -> None:
    def convert(_: str) -> tuple[str, list[Span]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_with(convert, "a")


@pytest.mark.parametrize(
    "text",
    [
        "**a** " * 20_000,
        "```\n" * 20_000 + "x",
        "$$$$\n" * 15_000 + "x",
        "|" * 50_000 + "\n" + "|-" * 20_000 + "\n|x",
    ],
)
def test_text_that_is_slow_to_convert_stays_plain(text: str) -> None:
    assert render(text) == RichText(text=text.strip(" \n"))


def test_many_unclosed_formulas_stay_unchanged() -> None:
    assert render("\\[a" * 20_000).text == "[a" * 20_000
    assert render("$a" * 20_000 + "$").text == "$a" * 20_000 + "$"


def test_overlapping_ranges_are_dropped_cut_or_merged() -> None:
    text = "abcdefghij"
    spans = [
        Span(3, 3, "bold"),
        Span(0, 4, "bold"),
        Span(4, 6, "bold"),
        Span(3, 8, "italic"),
        Span(7, 9, "code"),
        Span(8, 10, "pre"),
    ]

    assert valid_spans(text, spans) == [
        Span(0, 6, "bold"),
        Span(3, 6, "italic"),
        Span(6, 7, "italic"),
        Span(7, 9, "code"),
    ]
