"""What gives way, and in which order, when a prompt is larger than its room."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.agent.prompt.draft import PromptDraft, total_tokens
from bot.agent.prompt.parts import PartName
from bot.agent.prompt.section import Section
from bot.agent.prompt.shrink import Need, cut_messages, cut_text, drop, drop_images
from bot.errors import PromptTooLong
from memory.history.selectors import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Concession:
    """One part that gives way, in what manner, and why it may."""

    part: PartName
    shrink: Callable[[Section, Need], Section]
    why: str


GIVES_WAY = (
    # What stands elsewhere, or can be found again.
    Concession(part="recalled", shrink=drop, why="the worst hit goes first, it can be searched for again"),
    Concession(part="heard", shrink=drop, why="the oldest line goes first, it was not said to the bot"),
    Concession(
        part="ledger", shrink=partial(drop, in_chunks=True), why="the replies tell what came of old calls"
    ),
    Concession(part="window", shrink=partial(drop, in_chunks=True), why="the oldest message goes first"),
    Concession(part="summary", shrink=partial(cut_text, least=64), why="its ends tell most"),
    # What this run has done: it could be done again.
    Concession(part="record", shrink=drop, why="the oldest call of another agent goes first"),
    Concession(
        part="steps",
        shrink=partial(cut_messages, roles=("tool",), least=32),
        why="the longest result gives most",
    ),
    Concession(part="digest", shrink=partial(cut_text, least=64), why="its ends tell most"),
    # What the answer is about.
    Concession(part="prompt", shrink=drop_images, why="the text can be answered without them"),
    Concession(
        part="prompt",
        shrink=partial(cut_messages, roles=("user", "assistant"), least=16),
        why="the longest message gives most",
    ),
    Concession(part="task", shrink=partial(cut_text, least=32), why="its ends tell most"),
    # What was cut to its least and is still too much goes whole; a call never goes without its results.
    Concession(part="summary", shrink=drop, why="the present message needs it"),
    Concession(part="digest", shrink=drop, why="the present message needs it"),
    Concession(part="steps", shrink=drop, why="the oldest step goes first"),
    Concession(part="prompt", shrink=partial(drop, keep=1), why="the newest message is the one to answer"),
)


def fit(draft: PromptDraft, *, room: int, chunk: int, meter: TokenCounter) -> PromptDraft:
    """The draft in at most `room` tokens, by the rows of GIVES_WAY; the draft itself if it fits.

    A window loses messages up to a multiple of `chunk`. Raises PromptTooLong when the system prompt and the
    tools leave no room.
    """
    excess = total_tokens(draft) - room
    if excess <= 0:
        return draft
    fitted = dict(draft)
    for row in GIVES_WAY:
        before = fitted[row.part]
        fitted[row.part] = row.shrink(before, Need(excess=excess, why=row.why, chunk=chunk, meter=meter))
        excess -= before.tokens - fitted[row.part].tokens
        if excess <= 0:
            return fitted
    raise PromptTooLong
