# ruff: noqa: RUF001 - letters of other alphabets are the point
"""Generates what a model may write: Markdown of every kind, nested, unfinished and broken, in odd alphabets."""

from collections.abc import Callable
from random import Random

_WORDS = (
    *("the", "window", "of", "a", "copper", "12", "3.5%", "don't", "naïve", "Straße", "e.g.", "2*3*4", "snake_case"),
    *("привет", "мир", "日本語", "確認してください。", "重要：", "「引用」", "한국어", "각", "हिन्दी", "क्षत्रिय", "ภาษาไทยกำลัง"),
    *("مرحبا", "\u200fעברית\u200f", "\u202babc\u202c", "حسنًا،", "فارسی\u200cها"),
    *("😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇵🇹", "🇩🇪🇫🇷", "1️⃣", "❤️", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
    *("e\u0301\u0323", "Z\u0351\u036b\u0343\u036a\u0302", "\u200b", "\u00a0", "\u3000", "\ufeff", "\u2028", "\x00", "\x1b[0m", "\t"),
    *("\ud800", "\udfff\ud83d", "\ud83d\ude00", "\ufdd0", "\ufdd8", "\ufffe", "\U0010ffff", "\r\n", "&amp;", "&#8232;", "&lt;b&gt;"),
    *("/start", "@someone", "#tag", "a.com", "https://example.org/x_y?z=1#f", "user@example.org", "$5", "\\$7", "C:\\new", "a||b"),
    *("<b>", "</b>", "<br>", "<div class='x'>", "List<String>", "<!-- no -->", "__init__", "**kwargs", "*args", "...", "—"),
)  # fmt: skip
_URLS = (
    *("https://example.org", "http://a.b/c_d(e)", "https://bücher.example/ü", "http://localhost:80/x", "https://[::1]/", "x"),
    *("tg://resolve?domain=x", "tg://user?id=1", "javascript:alert(1)", "mailto:a@b.cd", "ftp://a.bc", "/etc", "", " ", "#f"),
    *("https://exa mple.org", "https://.", "https://a.bc:99999/", "https://a.bc/\ud800", "HTTPS://A.BC", "//a.bc", "http://a%zz.bc"),
)  # fmt: skip
_FORMULAS = (
    r"\frac{a}{b}",
    "x_1^2",
    r"\sum_{i=0}^n i",
    "|x|",
    r"a \\ b",
    r"\{y\}",
    "5",
    "E=mc^2",
    r"\text{if } x < 0",
)
_LANGUAGES = ("", "python", "c++", "rust ignore", "latex", "x" * 40, "日本", "a`b", "json title=x")
_BREAKING = "*_~`|[]()<>#\\$&!\n >-"


class MarkdownTexts:
    """Text number `n` of a seed is always the same."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def text(self, number: int) -> str:
        """One answer of a model, of 0 to about 20,000 characters."""
        writer = _Writer(Random(f"{self._seed}:{number}"))
        return writer.special() if number % 10 == 0 else writer.document()


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._blocks: tuple[Callable[[int], str], ...] = (
            *(self._paragraph, self._paragraph, self._paragraph, self._heading, self._list, self._list),
            *(self._quote, self._fence, self._table, self._formula_block, self._odd_block),
        )

    def document(self) -> str:
        """Blocks of all kinds; four in ten are broken by stray marks, missing characters or an early end."""
        count = self._random.choice((1, 2, 3, 5, 8, 13, 30))
        text = self._random.choice(("\n\n", "\n\n", "\n")).join(self._block(0) for _ in range(count))
        return self._broken(text) if self._random.random() < 0.4 else text

    def special(self) -> str:
        """What is rare and goes wrong first: very long, very deep, or very many of one thing."""
        random = self._random
        count = random.choice((99, 100, 101, 250, 2049, 4096, 4097))
        word = random.choice(_WORDS)
        return random.choice(
            (
                lambda: random.choice(("😀", "👩‍👩‍👧‍👦", "🇵🇹", "👍🏽", "e\u0301")) * count,
                lambda: (
                    "".join(random.choice(("**", "*", "~~", "||", "_", "`", "> ")) for _ in range(100)) + word
                ),
                lambda: "".join(f"{'> ' * depth}{word}\n" for depth in range(100)),
                lambda: " ".join(f"**{word}{number}** `c`" for number in range(count // 4)),
                lambda: "a" + "\u0301" * count,
                lambda: random.choice(("x" * count * 2, word * count, "日本語" * count)),
                lambda: self._code(word),
                lambda: f"**{' '.join(random.choices(_WORDS, k=count // 3))}**",
                lambda: "".join("  " * depth + f"- {word}\n" for depth in range(60)),
                lambda: "[" * count + word + "](https://a.bc)" * count,
                lambda: self._table(0) * 10 + "\n\n" + self._fence(0) * 20,
                lambda: "".join(random.choice(_BREAKING + "ab") for _ in range(count)),
            )
        )()

    def _code(self, word: str) -> str:
        lines = (f"    x{number} = {word!r}" * self._random.choice((1, 1, 1, 90)) for number in range(120))
        return "```py\n" + "\n".join(lines)

    def _block(self, depth: int) -> str:
        return self._random.choice(self._blocks)(depth)

    def _paragraph(self, depth: int) -> str:
        sentences = self._random.choice((1, 1, 2, 3, 6, 40 if depth == 0 else 4))
        return self._random.choice((". ", "。", "\n", "  \n")).join(self._inline(0) for _ in range(sentences))

    def _inline(self, depth: int) -> str:
        random = self._random
        pieces = [
            self._styled(depth) if random.random() < 0.3 else random.choice(_WORDS)
            for _ in range(random.randint(1, 8))
        ]
        return random.choice((" ", " ", " ", "")).join(pieces)

    def _styled(self, depth: int) -> str:
        random = self._random
        inner = self._inline(depth + 1) if depth < 4 and random.random() < 0.4 else random.choice(_WORDS)
        match random.randrange(10):
            case 0 | 1 | 2 | 3:
                mark = random.choice(("**", "*", "_", "~~", "***", "__", "||"))
                return f"{mark}{inner}{mark}"
            case 4 | 5:
                tick = random.choice(("`", "``", "`` "))
                return f"{tick}{inner}{tick[::-1]}"
            case 6 | 7:
                return f"[{inner}]({random.choice(_URLS)})"
            case 8:
                return f"![{random.choice(('', inner))}]({random.choice(_URLS)})"
            case _:
                opening, closing = random.choice((("$", "$"), ("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]")))
                return f"{opening}{random.choice(_FORMULAS)}{closing}"

    def _heading(self, _: int) -> str:
        return f"{'#' * self._random.randint(1, 7)} {self._inline(2)}"

    def _list(self, depth: int) -> str:
        lines: list[str] = []
        for number in range(self._random.randint(1, 6)):
            mark = self._random.choice(("-", "*", "+", f"{number + 1}.", "1)", "- [ ]", "- [x]"))
            indent = "  " * self._random.randint(0, 3)
            nested = self._block(depth + 1) if depth < 2 and self._random.random() < 0.2 else ""
            lines += [
                f"{indent}{mark} {self._inline(2)}",
                *(f"{indent}   {line}" for line in nested.split("\n") if line),
            ]
        return "\n".join(lines)

    def _quote(self, depth: int) -> str:
        inner = self._block(depth + 1) if depth < 3 else self._inline(2)
        return "\n".join(f"> {line}" for line in inner.split("\n"))

    def _fence(self, _: int) -> str:
        random = self._random
        fence = random.choice(("```", "```", "````", "~~~"))
        lines = [
            " " * random.choice((0, 4, 8)) + " ".join(random.choices(_WORDS, k=random.randint(0, 12)))
            for _ in range(random.randint(0, 30))
        ]
        return (
            f"{fence}{random.choice(_LANGUAGES)}\n"
            + "\n".join(lines)
            + random.choice(("", f"\n{fence}", f"\n{fence}"))
        )

    def _table(self, _: int) -> str:
        random = self._random
        columns = random.randint(1, 6)
        bar = random.choice(("| ", "|", ""))
        rows = [
            bar
            + " | ".join(self._cell() for _ in range(columns + random.choice((0, 0, 0, 1, -1))))
            + random.choice((" |", "|", ""))
            for _ in range(random.randint(1, 8))
        ]
        return "\n".join(
            [
                rows[0],
                "|" + "|".join(random.choices(("---", ":--", "--:", ":-:"), k=columns)) + "|",
                *rows[1:],
            ]
        )

    def _cell(self) -> str:
        return self._random.choice(
            ("", self._random.choice(_WORDS), self._inline(3), self._styled(3), "1,234", "a<br>b")
        )

    def _formula_block(self, _: int) -> str:
        opening, closing = self._random.choice((("$$", "$$"), ("\\[", "\\]")))
        line = self._random.choice(("", "\n"))
        return f"{opening}{line}{' '.join(self._random.choices(_FORMULAS, k=3))}{line}{closing}"

    def _odd_block(self, _: int) -> str:
        return self._random.choice(
            (
                "---",
                "***",
                "===",
                "text\n---",
                "[^1]: note",
                "[x]: https://a.bc",
                "    indented\n    code",
                "<table><tr><td>x</td></tr></table>",
                "\n\n\n",
                "Term\n: meaning",
            )
        )

    def _broken(self, text: str) -> str:
        letters = list(text)
        for _ in range(self._random.randint(1, 6)):
            place = self._random.randrange(len(letters) + 1)
            match self._random.randrange(4):
                case 0:
                    letters[place : place + self._random.randint(1, 9)] = []
                case 1:
                    del letters[place + len(letters) // 2 :]
                case _:
                    letters[place:place] = self._random.choice(_BREAKING) * self._random.choice((1, 1, 2, 3))
        return "".join(letters)
