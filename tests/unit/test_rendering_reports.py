# ruff: noqa: RUF001 - punctuation of other scripts is the point
"""Markdown of models from public reports: what is written arrives, and nothing else."""

import time

import pytest

from bot.transport.rendering import render, render_messages
from bot.transport.unfinished import without_loose_ends


def shown(markdown: str) -> tuple[str, list[tuple[object, ...]]]:
    """Return the text, and each range with its words."""
    rich = render(markdown)
    data = rich.text.encode("utf-16-le")
    return rich.text, [
        (
            entity.type,
            data[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le"),
            *filter(None, (entity.url, entity.language)),
        )
        for entity in rich.entities
    ]


# agent-os#2560, denkeeper#243, copilot-cli#1936, textgen#5608, lobehub#7327
@pytest.mark.parametrize(
    "text",
    [
        "see https://docs.python.org/3/library/__future__.html now",
        "https://a.bc/_next_/x_y and www.a_b.org/_static_/a",
        "见https://a.bc/_v1_/x，然后 https://a.bc/?q=_test_",
        "src/__tests__/a.ts and lib/_private_/b",
        "2**10 and 3**2, 5*4*3, (a+b)**2 + (c+d)**2, 2**(n), x**(n+1)",
        "2 * 3 and 4 * 5; STALE_NO_FILE; 3~5; (~2000) or (~5000)",
        "src/**/*.ts and lib/**/*.js, *.txt or *.csv, *.*, log_*.txt, a_*.csv",
        "f(*args, **kwargs) and {**a, **b}",
        "__dirname, __typename__ and __aenter__",
        "*/5 * * * * and 0 */2 * * *",
        'the marks (*) and (*), "*" and "*"',
        "call[0](x) and table[i](y[j]), handlers(a)[0](b), grid[i][j](x)",
        "name: ____ and date: ____",
        "\\\\server\\share and C:\\Users\\x",
        "a claim[^1]\n\n[^1]: its source",
        ">= 5 is enough\n\n>>> print(1)\n1\n>>> x",
        ">5 items",
        # kinds of the same reports
        "C:\\Users\\_me_\\x\\*.txt and D:\\_tmp_\\y",
        r"\d+\.\d+ and ^\w+\-\w+$",
        "^.*$ and (.*?) and a.*, b.*",
        "SELECT a.*, b.* FROM a WHERE c LIKE '%_x_%'",
        "exclude **/build/** and **/node_modules/**, **/*.py",
        "(a+b)*(c+d)*(e+f), (a)**(b) + (c)**(d)",
        "x^*y^* and (s^*, w^*)",
        "magnet:?xt=urn:btih:_a_b_ and urn:isbn:_x_",
        "（https://a.bc/_x_）好【https://a.bc/_y_】",
        "٢*٣*٤ and ２*３*４",
        # claude-code#88952, kilocode#7907 and pi#9911, as relative paths
        r"node_modules\.bin\eslint, data\_scratch\out and .\_build\html",
        r"%USERPROFILE%\.ssh and ~\.ssh\id_rsa, $env:APPDATA\.npm\_logs\x.log, \\server\_share\x",
        "a**b**c and -x**n, k**2**3; int **p, **q",
        "1. > 5 years\n2. < 5 years\n3. > €5\n4. >= 2 nodes",
        "see www.allegro.pl and www.rts.rs/x_y_",
    ],
)
def test_numbers_names_and_addresses_stay(text: str) -> None:
    assert shown(text) == (text, [])


# vellum-assistant#35515, readdown#16
@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("1. a\n2. b\n4. c\n5. d", "1. a\n2. b\n4. c\n5. d"),
        ("Top:\n\n3. c\n2. b\n1. a", "Top:\n\n3. c\n2. b\n1. a"),
        ("1969. Moon\n1989. Wall\n2001. Film", "1969. Moon\n1989. Wall\n2001. Film"),
        ("1. [x] a\n2. [ ] b", "1. ☑ a\n2. ☐ b"),
        ("> 7. a\n> 9. b", "7. a\n9. b"),
        ("- a\n\n  3. b\n  5. c", "• a\n  3. b\n  5. c"),
        # textgen#7401
        ("- a\n\n      - b\n\n      - c", "• a\n  • b\n  • c"),
        ("a\n\n    1. b\n    3. c", "a\n\n1. b\n3. c"),
        ("1) a\n3) b", "1) a\n3) b"),
        ("007. Bond", "007. Bond"),
        ("1. a\n\n- b\n\n2. c", "1. a\n\n• b\n\n2. c"),
        # streamdown#376
        ("- P/E\n  - < 10: cheap\n  - > 25–30: rich", "• P/E\n  • < 10: cheap\n  • > 25–30: rich"),
        ("100\n+ 20 bonus\n= 120\n\n* a\n  + 2 b", "100\n+ 20 bonus\n= 120\n\n• a\n  • 2 b"),
        ("* > 90 % of users\n* > said", "• > 90 % of users\n•\nsaid"),
    ],
)
def test_numbers_of_items_stay_as_they_are_written(markdown: str, text: str) -> None:
    assert render(markdown).text == text


# mattermost#22516, GPT-Telegramus#91, hermes-conduit#75
@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("[Anna]: Hello\n[Ben]: Hi", "[Anna]: Hello\n[Ben]: Hi", []),
        ("Sources:\n\n[1]: https://a.bc/x", "Sources:\n\n[1]: https://a.bc/x", []),
        (
            "Known [1].\n\nSources:\n\n[1]: https://a.bc/x",
            "Known [1].\n\nSources:\n\n[1]: https://a.bc/x",
            [("text_link", "[1]", "https://a.bc/x")],
        ),
        (
            "people [1][2].\n\n[1]: https://a.bc/x\n[2]: https://a.bc/y",
            "people [1][2].",
            [("text_link", "[1]", "https://a.bc/x"), ("text_link", "[2]", "https://a.bc/y")],
        ),
        ("[here][1]\n\n[1]: https://a.bc", "here", [("text_link", "here", "https://a.bc")]),
        ("[Log]: 12:03 ok\n\nsee [Log]", "[Log]: 12:03 ok\n\nsee [Log]", []),
        (
            "[site](example.com/docs) [chat](t.me/foo)",
            "site chat",
            [("text_link", "site", "http://example.com/docs"), ("text_link", "chat", "http://t.me/foo")],
        ),
        ("[x](docs/a) [r](README.md) [y](#z)", "x (docs/a) r (README.md) y (#z)", [("code", "README.md")]),
        ("[`f`](https://a.bc/f)", "f", [("text_link", "f", "https://a.bc/f")]),
        ("**https://a.bc/x_y**", "https://a.bc/x_y", [("bold", "https://a.bc/x_y")]),
        (
            "_see [a](https://a.bc)_\n<b>",
            "see a\n<b>",
            [("italic", "see a"), ("text_link", "a", "https://a.bc")],
        ),
        ('[a](http://b.cd/(e)_f "t")', "a", [("text_link", "a", "http://b.cd/(e)_f")]),
        ("[](https://a.bc/x)", "https://a.bc/x", [("text_link", "https://a.bc/x", "https://a.bc/x")]),
        (r"[notes](C:\Users\_me\.config)", r"notes (C:\Users\_me\.config)", []),
        (
            "Text [1].\n\n**Sources**\n\n[1]: https://a.bc/1",
            "Text [1].\n\nSources\n\n[1]: https://a.bc/1",
            [("text_link", "[1]", "https://a.bc/1"), ("bold", "Sources")],
        ),
        (
            "Text [1].\n\n* [1]: https://a.bc/1\n* [2]: https://a.bc/2",
            "Text [1].\n\n• [1]: https://a.bc/1\n• [2]: https://a.bc/2",
            [("text_link", "[1]", "https://a.bc/1")],
        ),
        (
            "So [li20][wu21].\n\n[li20]: https://a.bc/1\n[wu21]: https://a.bc/2",
            "So [li20][wu21].",
            [("text_link", "[li20]", "https://a.bc/1"), ("text_link", "[wu21]", "https://a.bc/2")],
        ),
    ],
)
def test_a_label_and_its_address_arrive(markdown: str, text: str, entities: list[tuple[object, ...]]) -> None:
    assert shown(markdown) == (text, entities)


# agent-os#2005, tdesktop#30685, hermes-agent#85381, takopi#202
@pytest.mark.parametrize(
    ("markdown", "text", "code"),
    [
        ("Run this: ```bash\nls\n```\nthen *go*", "Run this:\nls\nthen go", ["ls"]),
        ("Run this: ```\nls\n```\nthen", "Run this:\nls\nthen", ["ls"]),
        ("```py\nx = 1```\nthen *go*", "x = 1\nthen go", ["x = 1"]),
        ("```py\nx = 1\n``` Then *run* it.", "x = 1\nThen run it.", ["x = 1"]),
        ("```py\nx```\na\n\n```py\ny\n```\nb", "x\na\n\ny\nb", ["x", "y"]),
        ("- Run: ```sh\n  ls\n  ```\n- b", "• Run:\nls\n• b", ["ls"]),
        ("1. Run:\n   ```py\nx = 1\n   ```\n2. b", "1. Run:\nx = 1\n2. b", ["x = 1"]),
        ("````md\n```py\nx\n```\n````\nb", "```py\nx\n```\nb", ["```py\nx\n```"]),
        ("```md\nuse ```\nhere\n```\nb", "use ```\nhere\nb", ["use ```\nhere"]),
        ("the mark ``` is code", "the mark ``` is code", []),
        ("```print('x')\ny\n```", "print('x')\ny", ["print('x')\ny"]),
        ("> ```\n> a\n> ```\nb", "a\nb", ["a"]),
        ("代码：```py\nx\n```好", "代码：\nx\n好", ["x"]),
        ("```py\nx\n```.\nb", "x\n.\nb", ["x"]),
        ("```py\nx\n``` Done", "x\nDone", ["x"]),
        ("Run: ~~~\nls\n~~~\nthen", "Run:\nls\nthen", ["ls"]),
        ('```js\na = "```";\nb = "```";\n```\nc', 'a = "```";\nb = "```";\nc', ['a = "```";\nb = "```";']),
        ("```md\n```py\nx\n```\n```\nb", "```py\nx\n```\nb", ["```py\nx\n```"]),
        ("```bash $ ls -la\na\n```", "$ ls -la\na", ["$ ls -la\na"]),
        ('```json {"a": 1}\n```', '{"a": 1}', ['{"a": 1}']),
        ('```python title="x.py" {1,3}\na\n```', "a", ["a"]),
        # open-webui#26034, t3code#10908
        (
            "```\n# T\n```sh\nls\n```\n## U\n```\nb *c*",
            "# T\n```sh\nls\n```\n## U\nb c",
            ["# T\n```sh\nls\n```\n## U"],
        ),
        (
            "```xml\n<p>\n```json\n{}\n```\n</p>\n```\nb",
            "<p>\n```json\n{}\n```\n</p>\nb",
            ["<p>\n```json\n{}\n```\n</p>"],
        ),
        ("```py\nx = 1```\na\n```js\ny\n```\nb\n```\nz\n```\nc", "x = 1\na\ny\nb\nz\nc", ["x = 1", "y", "z"]),
        # a block that is not closed is no nesting: the blocks after it stay what they are
        ("```sh\nls\n```py\nx\n```\na\n```\ny\n```\nb", "ls\n```py\nx\na\ny\nb", ["ls\n```py\nx", "y"]),
        ("```py\nx\n```\n```\na *b*", "x\na b", ["x"]),
        ("a\n\n    ```py\n    x\n      y\n    ```\nb", "a\n\nx\n  y\nb", ["x\n  y"]),
        ("1. a\n\n       ```py\n       x\n       ```\n2. b", "1. a\nx\n2. b", ["x"]),
        ("a\n\n    f():\n        x\n\n    f()\n\nb", "a\n\nf():\n    x\n\nf()\n\nb", ["f():\n    x\n\nf()"]),
        ("```py\nx\n```\n```\ny\n```\na", "x\ny\na", ["x", "y"]),
    ],
)
def test_a_fence_on_a_line_with_text_divides_code_and_text(markdown: str, text: str, code: list[str]) -> None:
    rendered, entities = shown(markdown)

    assert rendered == text
    assert [entity[1] for entity in entities if entity[0] == "pre"] == code


@pytest.mark.parametrize(
    "answer", ["Run this: ```bash\nls\n```\nthen go", "```py\nx = 1```\nthen go", "a\n\n```py\nx\n```\nb"]
)
def test_a_growing_answer_shows_no_fence(answer: str) -> None:
    for end in range(len(answer) + 1):
        if answer[:end].endswith("`") and not answer[:end].endswith("```"):
            continue
        assert "```" not in render(without_loose_ends(answer[:end])).text.rstrip("`") + " ", answer[:end]


@pytest.mark.parametrize(
    ("growing", "text"),
    [
        ("重要：**", "重要："),
        ("see **`code`", "see code"),
        ("**`co", "co"),
        ("**the `code`", "the code"),
        ("***\n> [!NOTE] Title", "————————\nNOTE Title"),
        ("````md\n```py\nx\n```", "```py\nx"),
        ("```py\nx\n```The", "x"),
        ("known [[1]](https://a.b", "known 1"),
        ("see [Foo](https://a.bc/Foo_(b", "see Foo"),
        ("2**1", "2**1"),
        ("f(**kw) and **b", "f(**kw) and b"),
        ("> ```py\n> x\nb", "x\nb"),
    ],
)
def test_a_growing_answer_shows_no_torn_mark(growing: str, text: str) -> None:
    assert render(without_loose_ends(growing)).text == text


def test_a_growing_spoiler_is_hidden() -> None:
    assert shown(without_loose_ends("It was ||the but")) == ("It was the but", [("spoiler", "the but")])


# KiroCrew#2323, opencode#38490, commonmark-spec#650, future-os#744
@pytest.mark.parametrize(
    ("markdown", "entities"),
    [
        ("*斜体（括号）。*这", [("italic", "斜体（括号）。")]),
        ("~~删除（括号）。~~正", [("strikethrough", "删除（括号）。")]),
        ("***重要：***请", [("bold", "重要："), ("italic", "重要：")]),
        ("__标签：__正文", [("bold", "标签：")]),
        ("**«Слово»**и **„Wort“**e **‹mot›**s", [("bold", "«Слово»"), ("bold", "„Wort“"), ("bold", "‹mot›")]),
        ("含**「重点」**内容", [("bold", "「重点」")]),
        ("**复现：**10 轮", [("bold", "复现：")]),
        ("**서울**은 크다", [("bold", "서울")]),
        ("**متن**، بعد", [("bold", "متن")]),
        ("**👍🏽 ok** x", [("bold", "👍🏽 ok")]),
        ("**/start** begins", [("bold", "/start")]),
        ("ב**ישראל** ו**متن**", [("bold", "ישראל"), ("bold", "متن")]),
        ("**မြန်မာ**ကို", [("bold", "မြန်မာ")]),
        ("x=**5**", [("bold", "5")]),
        ("**Python 3**(latest)", [("bold", "Python 3")]),
        ("**the A* search (a)*(b)**", [("bold", "the A* search (a)*(b)")]),
        ("*see **kwargs now*", [("italic", "see **kwargs now")]),
        ("**a *b** c*", [("bold", "a *b")]),
        # parts of words, as in the names of mnemonics, and endings of inflected ones
        ("**S**trength, **1**st, BAS**E**", [("bold", "S"), ("bold", "1"), ("bold", "E")]),
        ("**API**s и **Слово**м", [("bold", "API"), ("bold", "Слово")]),
        ("**the `print`**s", [("bold", "the"), ("code", "print")]),
        ("**ｱｲｳ**ｴｵ", [("bold", "ｱｲｳ")]),
    ],
)
def test_emphasis_opens_and_closes_next_to_punctuation_of_any_script(
    markdown: str, entities: list[tuple[object, ...]]
) -> None:
    assert shown(markdown)[1] == entities


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        (
            "\\begin{align} a &= b \\\\ c \\end{align}",
            "\\begin{align} a &= b \\\\ c \\end{align}",
            [("pre", "\\begin{align} a &= b \\\\ c \\end{align}", "latex")],
        ),
        (
            "\\[\na = 1\n\nb = 2\n\\]",
            "\\[\na = 1\n\nb = 2\n\\]",
            [("pre", "\\[\na = 1\n\nb = 2\n\\]", "latex")],
        ),
        ("so \\(a_b\\) and $x_1$", "so \\(a_b\\) and $x_1$", [("code", "\\(a_b\\)"), ("code", "$x_1$")]),
        ("as in \\[1\\] and \\[x\\]", "as in [1] and [x]", []),
        ("Hello\\! \\(approx\\) v1\\.2 \\= 2", "Hello! (approx) v1.2 = 2", []),
    ],
)
def test_formulas_and_backslashes_stay(markdown: str, text: str, entities: list[tuple[object, ...]]) -> None:
    assert shown(markdown) == (text, entities)


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        (
            "see README.md, src/main.rs or __init__.py.",
            "see README.md, src/main.rs or __init__.py.",
            [("code", "README.md"), ("code", "src/main.rs"), ("code", "__init__.py")],
        ),
        ("run setup.sh", "run setup.sh", [("code", "setup.sh")]),
        ("example.com and https://a.bc/x.md", "example.com and https://a.bc/x.md", []),
        ("> [!NOTE]\n> text", "NOTE\ntext", [("blockquote", "NOTE\ntext"), ("bold", "NOTE")]),
        ("||one\ntwo **b**||", "one\ntwo b", [("spoiler", "one\ntwo b"), ("bold", "b")]),
        ("答案：||巴黎||，||42||", "答案：巴黎，42", [("spoiler", "巴黎"), ("spoiler", "42")]),
        ("the norms ||v|| and ||Ax||", "the norms ||v|| and ||Ax||", []),
        (r"open C:\x\y.py", r"open C:\x\y.py", [("code", r"C:\x\y.py")]),
        ("| a | b |\n|---|---|\n| x | y | z |", "a | b |\n--+---+--\nx | y | z", None),
        # markdig#436: three dashes below a paragraph divide, and make no heading of it
        (
            "One.\nTwo.\n---\n\nThree\n===",
            "One.\nTwo.\n————————\n\nThree",
            [("bold", "Three"), ("underline", "Three")],
        ),
        ("Four\n------\nFive", "Four\nFive", [("bold", "Four"), ("underline", "Four")]),
        # KiroCrew#3209
        ("The **table:**| a | b |\n|---|---|\n| 1 | 2 |", "The table:\na | b\n--+--\n1 | 2", None),
    ],
)
def test_debatable_cases_are_decided(
    markdown: str, text: str, entities: list[tuple[object, ...]] | None
) -> None:
    assert shown(markdown)[0] == text
    assert entities is None or shown(markdown)[1] == entities


@pytest.mark.parametrize(
    "blank", ["\u2060\u2064", "\u00ad", "**\u2061**", "\u034f\ufe0f", "\u3164", "\U000e0020"]
)
def test_an_answer_of_invisible_characters_is_empty(blank: str) -> None:
    assert render_messages(blank) == []


@pytest.mark.parametrize(
    "unit",
    ["1. ", "> ", "- [ ] ", "- ", "> - ", "|a", "|a|b|\n|-|-|\n", "[^1]: x\n", "* a\n  ", "\t- a\n", "#### "],
)
def test_nested_and_repeated_blocks_stay_small(unit: str) -> None:
    source = unit * (16_000 // len(unit)) + "x"

    assert sum(len(part.text) for part in render_messages(source)) <= 2 * len(source) + 4_000


def test_deep_nesting_keeps_every_word() -> None:
    lines = [f"{'  ' * depth}- w{depth}" for depth in range(30)]

    text = render("\n".join(lines)).text

    assert [word for word in text.split() if word.startswith("w")] == [f"w{depth}" for depth in range(30)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "[",
            "![",
            "[a](",
            '[a](b "',
            "*a_ ",
            "*a **b ",
            "`",
            "`a``",
            "<",
            "&a;",
            "$a ",
            "\\[a",
            "\\begin{a}",
        ),
        *(
            "||a ",
            "a.md ",
            "://",
            "_",
            "~~a",
            "> ",
            "- a\n",
            "1. ",
            "|a|\n",
            "```\n",
            "a ```x\n",
            "$$a\n",
            "![![a](b)",
        ),
    ],
)
def test_rendering_takes_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        best = 9.0
        for _ in range(3):
            began = time.process_time()
            render(text)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(32_000) < 12 * max(seconds(8_000), 0.002)
