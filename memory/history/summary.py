"""Summaries of a conversation: their content, the messages they cover, and their rendering."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

from memory.characters import seam_before


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFact:
    """One fact about a person; `about` is the name that the conversation uses."""

    about: str
    fact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactNote:
    """An artifact of the covered messages: its id, the tool that made it, and its content in short."""

    id: str
    tool: str
    holds: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryText:
    """Content of a summary: its fixed fields. `next` is the state from which the conversation goes on."""

    overview: str = ""
    primary_goal: str = ""
    secondary_goals: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    discovered: tuple[str, ...] = ()
    facts: tuple[SummaryFact, ...] = ()
    decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    artifacts: tuple[ArtifactNote, ...] = ()
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of a conversation, from its beginning up to and including the sequence `upto_sequence`."""

    id: str
    builds_on: str
    """The summary before it, whose content it repeats; "" for the first one of a conversation."""
    conversation_start: int
    """Sequence at which the conversation begins."""
    from_sequence: int
    """First sequence of the messages that it adds; their ids are stored next to it."""
    upto_sequence: int
    text: SummaryText
    tokens: int
    """Tokens of its rendered text."""
    model: str
    created_at: float
    """Unix seconds."""


_Item = str | SummaryFact | ArtifactNote
_ListName = Literal[
    "secondary_goals", "done", "partial", "discovered", "facts", "decisions", "open_questions", "artifacts"
]
_TextName = Literal["overview", "primary_goal", "next"]

STORED_RESULTS = "Stored results"

_LABELS: tuple[tuple[_ListName | _TextName, str], ...] = (
    ("overview", "Overview"),
    ("primary_goal", "Main goal"),
    ("secondary_goals", "Other goals"),
    ("done", "Done"),
    ("partial", "Partly done"),
    ("discovered", "Found out"),
    ("facts", "About people"),
    ("decisions", "Decided"),
    ("open_questions", "Open questions"),
    ("artifacts", STORED_RESULTS),
    ("next", "To go on from"),
)
_GIVES_WAY_FIRST: tuple[_ListName, ...] = (
    "secondary_goals",
    "done",
    "discovered",
    "partial",
    "artifacts",
    "open_questions",
    "decisions",
    "facts",
)
"""Lists that are shortened, the least important first. Facts come last: people ask for them after a long time."""
_CUT_FIRST: tuple[_TextName, ...] = ("next", "primary_goal", "overview")
_CUT = " […]"


def is_blank(text: SummaryText) -> bool:
    """Return True if the summary is empty."""
    return not render_summary(text)


def render_summary(text: SummaryText) -> str:
    """Render the summary in plain words: a line for each text, a short list for each list; "" for an empty one.

    Every text and item is on one line, after a label of ours or a dash, so none can imitate a line.
    """
    lines: list[str] = []
    for name, label in _LABELS:
        value = cast("str | tuple[_Item, ...]", getattr(text, name))
        if isinstance(value, str):
            lines += [f"{label}: {_one_line(value)}"] if value.strip() else []
        else:
            items = [f"- {line}" for item in value if (line := _item_line(item))]
            lines += [f"{label}:", *items] if items else []
    return "\n".join(lines)


def fit_summary(text: SummaryText, max_tokens: int, count: Callable[[str], int]) -> SummaryText:
    """Return the summary shortened to `max_tokens` when rendered; the same one if it fits already.

    The least important lists lose their last items first; then texts are cut. A summary that is not empty never
    becomes empty, even if one character takes more than `max_tokens`.
    """
    fitted = _smaller(text, max_tokens, count)
    if is_blank(fitted) and not is_blank(text):
        overview = SummaryText(overview=" ".join(_items(text)))
        return _with_text_cut(overview, "overview", max_tokens, count, least=1)
    return fitted


def _smaller(text: SummaryText, max_tokens: int, count: Callable[[str], int]) -> SummaryText:
    for name in _GIVES_WAY_FIRST:
        excess = count(render_summary(text)) - max_tokens
        if excess <= 0:
            return text
        text = replace(text, **{name: _shortened(_items_of(text, name), excess, count)})
    for name in _CUT_FIRST:
        text = _with_text_cut(text, name, max_tokens, count)
    return text


def _items_of(text: SummaryText, name: _ListName) -> tuple[_Item, ...]:
    return cast("tuple[_Item, ...]", getattr(text, name))


def _shortened(items: tuple[_Item, ...], excess: int, count: Callable[[str], int]) -> tuple[_Item, ...]:
    """Drop the last items until they have made up for `excess` tokens."""
    kept = len(items)
    while kept and excess > 0:
        kept -= 1
        excess -= count(f"- {_item_line(items[kept])}\n")
    return items[:kept]


def _with_text_cut(
    text: SummaryText, name: _TextName, max_tokens: int, count: Callable[[str], int], *, least: int = 0
) -> SummaryText:
    """Cut that text to the characters that fit, found by bisection; never below `least`."""
    if count(render_summary(text)) <= max_tokens:
        return text
    whole = _one_line(cast("str", getattr(text, name)))
    fits, too_many = least, len(whole)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        cut = replace(text, **{name: _beginning(whole, middle)})
        if count(render_summary(cut)) <= max_tokens:
            fits = middle
        else:
            too_many = middle
    return replace(text, **{name: _beginning(whole, fits)})


def _beginning(whole: str, length: int) -> str:
    kept = whole[: seam_before(whole, length)] or whole[:length]
    return f"{kept}{_CUT}" if len(kept) < len(whole) and len(kept) > len(_CUT) else kept


def _items(text: SummaryText) -> list[str]:
    """Return every text and every item of the summary as one line each."""
    values = [cast("str | tuple[_Item, ...]", getattr(text, name)) for name, _ in _LABELS]
    items = [item for value in values for item in ((value,) if isinstance(value, str) else value)]
    return [line for item in items if (line := _item_line(item))]


def _item_line(item: _Item) -> str:
    if isinstance(item, str):
        return _one_line(item)
    if isinstance(item, SummaryFact):
        about = f"{item.about}: " if item.about.strip() else ""
        return _one_line(about + item.fact) if item.fact.strip() else ""
    made = f"{item.id} ({item.tool}): {item.holds}" if item.holds.strip() else f"{item.id} ({item.tool})"
    return _one_line(made)


def _one_line(text: str) -> str:
    # split() also takes U+0085, U+2028, U+2029 and form feeds for line breaks, as readers may.
    return " ".join(text.split())
