"""Example tools of a team of agents: what the researcher looks up, and what booking does."""

from typing import Annotated

from pydantic import Field

from bot.errors import ToolFailed

TOWNS = {
    "Lisbon": {"country": "Portugal", "station": "Santa Apolónia", "inhabitants": 545_000},
    "Porto": {"country": "Portugal", "station": "Campanhã", "inhabitants": 232_000},
    "Madrid": {"country": "Spain", "station": "Atocha", "inhabitants": 3_330_000},
}
_FIRST, _LAST = 5 * 60, 23 * 60
_MINUTES = {"Lisbon": 5, "Porto": 15, "Madrid": 20}


def town_facts(town: Annotated[str, Field(description="The name of a town")]) -> dict[str, object]:
    """What is known of a town: its country, its main station, its inhabitants."""
    return {"town": _known(town), **TOWNS[_known(town)]}


def timetable(town: Annotated[str, Field(description="The name of a town")]) -> list[dict[str, object]]:
    """Every departure of a day from a town's main station. It is long: read the part of it that you need."""
    name = _known(town)
    others = [other for other in TOWNS if other != name]
    return [
        {
            "train": f"{name[0]}{number:03}",
            "leaves": f"{minute // 60:02}:{minute % 60:02}",
            "to": others[number % 2],
        }
        for number, minute in enumerate(range(_FIRST, _LAST, _MINUTES[name]))
    ]


def reserve(
    train: Annotated[str, Field(pattern=r"^[LMP]\d{3}$", description="A train such as L004")],
    seats: Annotated[int, Field(ge=1, le=9)],
) -> str:
    """Reserve seats on a train."""
    return f"{seats} seats on {train} are reserved."


def _known(town: str) -> str:
    for name in TOWNS:
        if name.casefold() == town.strip().casefold():
            return name
    raise ToolFailed(f"There is nothing about {town!r}. The towns are: {', '.join(TOWNS)}.")
