"""Places of the world by their names and coordinates, with their time zones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import cos, hypot, radians

from memory.zones.names import iana_names, plain

_LEAST_SUGGESTED = 300
"""Thousands of inhabitants of a city that is suggested for another spelling."""
_SHORTEST_SUGGESTED = 5
_OTHER_NAME = 10
"""Divisor of the inhabitants of a place whose usual name is another one: Jerusalem was once called Salem."""
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
    """Return big cities whose names differ by one slip: a letter more, less, wrong, or in the wrong place.

    The first letter is right. In Latin letters only the usual name counts: other languages have a name near any word.
    """
    wanted = plain(name.partition(",")[0])
    if len(wanted) < _SHORTEST_SUGGESTED:
        return []
    big = [place for place in _table() if place.position and place.population >= _LEAST_SUGGESTED]
    return [
        place
        for place in big
        if any(
            each[:1] == wanted[0] and _is_one_slip(each, wanted)
            for at, each in enumerate(place.names.strip("|").split("|"))
            if at == 0 or not each.isascii()
        )
    ]


def places_near(latitude: float, longitude: float) -> list[tuple[float, Place]]:
    """Return all cities with the degrees to them, the nearest first."""
    width = cos(radians(latitude))

    def distance(place: Place) -> float:
        north, east = place.position or (90.0, 0.0)
        across = abs(east - longitude)
        return hypot(north - latitude, min(across, 360 - across) * width)

    cities = ((distance(place), place) for place in _table() if place.position)
    return sorted(cities, key=lambda each: each[0])


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


def _is_one_slip(one: str, other: str) -> bool:
    """Return True if the names differ in one letter, or in the order of two neighbours."""
    if abs(len(one) - len(other)) > 1:
        return False
    different = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    start = next(different, min(len(one), len(other)))
    one, other = one[start:], other[start:]
    swapped = one[1:2] + one[:1] + one[2:]
    return one[1:] == other or one == other[1:] or one[1:] == other[1:] or swapped == other


def _is_region(place: Place, name: str) -> bool:
    code = name.upper()
    return bool(name) and (f"|{name}|" in place.names or place.country in (code, f"US-{code}"))


def _named(name: str) -> list[Place]:
    if not name:
        return []
    spelt = f"|{name}|"
    found = [
        place
        if place.names.startswith(spelt)
        else replace(place, population=max(_SMALL, place.population // _OTHER_NAME))
        for place in _table()
        if spelt in place.names
    ]
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
