"""Every letter and digit of a model's Markdown arrives, in order, and nothing else does."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.transport.rendering import render

WORDS = [
    "a",
    "word",
    "Zoë",
    "12",
    "3.5",
    "2**10",
    "5*4*3",
    "a_b_c",
    "__init__",
    "日本語",
    "重要。",
    "서울",
    "मेरा",
    "متن",
]
LITERAL = [
    *(
        "https://a.bc/__x__/_y_",
        "www.a.bc/_z_",
        "example.com",
        "README.md",
        "src/**/*.ts",
        "*.py",
        "C:\\dir\\x",
    ),
    *(
        "$5",
        "$x_1$",
        "\\(a_b\\)",
        "\\[1\\]",
        "\\\\x",
        "(*)",
        "[^1]",
        "[Anna]: Hi",
        "<b>",
        "a || b",
        "&nosuch;",
        "~5",
    ),
]
inline = st.recursive(
    st.sampled_from(WORDS + LITERAL),
    lambda inner: st.one_of(
        st.builds("{0}{1}{0}".format, st.sampled_from(["**", "*", "_", "~~", "***", "__", "||", "`"]), inner),
        st.lists(inner, min_size=1, max_size=4).map(" ".join),
        st.builds("{}{}".format, inner, inner),
        inner.map("[{}](x)".format).map(lambda link: link.replace("(x)", "(#)")),
    ),
    max_leaves=8,
)


def numbered(items: list[str], start: int) -> str:
    """Return a list whose numbers have gaps."""
    return "\n".join(f"{start + 3 * number}. {item}" for number, item in enumerate(items))


lines = st.lists(inline, min_size=1, max_size=3)
blocks = st.one_of(
    lines.map("\n".join),
    lines.map(lambda each: "\n".join(f"- {line}" for line in each)),
    st.builds(numbered, lines, st.integers(0, 2050)),
    lines.map(lambda each: "\n".join(f"> {line}" for line in each)),
    lines.map(lambda each: "```\n" + "\n".join(each) + "\n```"),
    lines.map(lambda each: "\n".join(each) + "```"),
    inline.map("## {}".format),
    st.sampled_from(
        [
            "[1]: https://a.bc/x",
            "1. 1. 1. 1. 1. 1. 1. 1. 1. 1. x",
            "$$\nx_1\n$$",
            "> > > > > > > > > > x",
            "- [ ] a",
        ]
    ),
)
documents = st.lists(blocks, min_size=1, max_size=5).map("\n\n".join)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@given(documents)
@settings(max_examples=5 * settings().max_examples)
def test_every_letter_of_the_source_arrives_in_order(markdown: str) -> None:
    assert letters(render(markdown).text) == letters(markdown)


@given(documents)
@settings(deadline=None)
def test_a_rendered_text_is_not_much_longer_than_its_source(markdown: str) -> None:
    assert len(render(markdown * 20).text) <= 2 * len(markdown * 20) + 4_000
