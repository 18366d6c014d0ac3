"""How one part was sent, as the record of its update keeps it for operators."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class SendNote:
    """How often a part was sent again as its outcome was unknown, how often it was refused, how long it has waited."""

    repeats: int = 0
    refusals: int = 0
    waited_s: float = 0.0

    def line(self, kind: str, outcome: str) -> str:
        """With the part's kind and what became of it, as `parse_sent` reads it."""
        return f"{kind} {outcome} {self.repeats} {self.refusals} {self.waited_s:.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPart:
    """A part as the record tells it. `at` is in Unix seconds; without a `telegram_id` no message shows it."""

    number: int
    at: float
    kind: str
    outcome: str
    repeats: int
    refusals: int
    waited_s: float
    telegram_id: int | None


def parse_sent(number: int, line: str) -> SentPart | None:
    """What `sent.lua` made of a `SendNote`'s line; None for one of another version."""
    try:
        at, kind, outcome, repeats, refusals, waited_s, *shown = line.split()
        return SentPart(
            number=number,
            at=float(at),
            kind=kind,
            outcome=outcome,
            repeats=int(repeats),
            refusals=int(refusals),
            waited_s=float(waited_s),
            telegram_id=int(shown[0]) if shown and shown[0].lstrip("-").isdigit() else None,
        )
    except ValueError:
        return None
