"""Reasons of a search hit: which kinds of evidence made recall find a message."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal["words", "meaning", "date", "writer"]
"""words: the message has a word of the question. meaning: it says something similar. date: it was written in the period
that the question names. writer: it was written by the person that the question is about.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Reasons of a hit, the strongest first; none for a message that no search has found."""

    reasons: tuple[Reason, ...] = ()


NO_REASON = Why()
