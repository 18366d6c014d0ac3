"""Places of the world by their names and coordinates, with their time zones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from math import cos, radians

from memory.zones.names import iana_names, plain

_LEAST_SUGGESTED = 300
"""Thousands of inhabitants of a city that is suggested for another spelling."""
_ALIKE = 0.85
_SMALL = 1
"""Thousands of inhabitants of a place that only IANA names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of places.tsv: a city, a state of the USA, or the part of a country that is in one zone."""

    zone: str
    country: str
    """ISO 3166 code; of a city or a state in the USA with that of the state, such as US-TX."""
    population: int
    """Thousands of inhabitants."""
    position: tuple[float, float] | None
    """Latitude and longitude of a city; None for a country or a state."""
    names: str
    """Names in plain spelling, each between bars."""


def find_places(name: str) -> list[Place]:
    """Return the places with this name in any of our languages, the largest first. A region may follow its name.

    "Portland, OR", "Birmingham UK" and "Europe/Munich" are read. Of an unknown city in a known region, the region is
    returned; an unknown region after a comma does not count.
    """
    whole = plain(name.rpartition("/")[2])
    if found := _named(whole.replace(",", "").strip("_")):
        return found
    city, comma, region = (part.strip("_") for part in whole.partition(","))
    splits = [(city, region)] if comma else _splits(whole)
    for city, region in splits:
        regions = [place for place in _table() if place.position is None and _is_region(place, region)]
        countries = {place.country for place in regions}
        found = _named(city)
        inside = [place for place in found if not countries.isdisjoint((place.country, place.country[:2]))]
        if inside or comma:
            return inside or regions or found
    return []


def similar_places(name: str) -> list[Place]:
    """Return big cities whose names are almost this one: one or two letters differ, and never the first."""
    wanted = plain(name.partition(",")[0])
    names = {
        each: place
        for place in reversed(_table())
        if place.position and place.population >= _LEAST_SUGGESTED
        for each in place.names.strip("|").split("|")
        if each[:1] == wanted[:1] and abs(len(each) - len(wanted)) <= 2
    }
    return [names[each] for each in get_close_matches(wanted, names, n=5, cutoff=_ALIKE)]


def places_near(latitude: float, longitude: float) -> list[Place]:
    """Return all cities, the nearest first."""
    width = cos(radians(latitude))

    def distance(place: Place) -> float:
        north, east = place.position or (90.0, 0.0)
        across = abs(east - longitude)
        return (north - latitude) ** 2 + (min(across, 360 - across) * width) ** 2

    return sorted((place for place in _table() if place.position), key=distance)


@cache
def zones_by_population() -> Sequence[str]:
    """Return the zones of all cities, the one with the most inhabitants first."""
    return _ranked(place for place in _table() if place.position)


def zones_of(places: Iterable[Place]) -> Sequence[str]:
    """Return the zones of these places, the one with the most inhabitants first."""
    return _ranked(places)


def _ranked(places: Iterable[Place]) -> list[str]:
    population: dict[str, int] = {}
    for place in places:
        population[place.zone] = population.get(place.zone, 0) + place.population
    return sorted(population, key=population.__getitem__, reverse=True)


def _splits(whole: str) -> list[tuple[str, str]]:
    words = whole.split("_")
    return [("_".join(words[:at]), "_".join(words[at:])) for at in range(len(words) - 1, 0, -1)]


def _is_region(place: Place, name: str) -> bool:
    code = name.upper()
    return bool(name) and (f"|{name}|" in place.names or place.country in (code, f"US-{code}"))


def _named(name: str) -> list[Place]:
    if not name:
        return []
    spelt = f"|{name}|"
    found = [place for place in _table() if spelt in place.names]
    zone = _iana_cities().get(name)
    if zone and all(place.zone != zone for place in found):
        found.append(Place(zone=zone, country="", population=_SMALL, position=(90.0, 0.0), names=spelt))
    return sorted(found, key=lambda place: -place.population)


@cache
def _iana_cities() -> dict[str, str]:
    """Return the zones by the plain names of their cities: the last words of their names."""
    zones = sorted(iana_names().values(), key=lambda name: (len(name), name), reverse=True)
    return {plain(zone.rpartition("/")[2]): zone for zone in zones if "/" in zone and zone[:4] != "Etc/"}


@cache
def _table() -> Sequence[Place]:
    text = resources.files("memory.zones").joinpath("places.tsv").read_text("utf-8")
    return tuple(_parse(line) for line in text.splitlines() if not line.startswith("#"))


def _parse(line: str) -> Place:
    zone, country, population, latitude, longitude, names = line.split("\t")
    position = (float(latitude), float(longitude)) if latitude else None
    return Place(zone=zone, country=country, population=int(population), position=position, names=names)
