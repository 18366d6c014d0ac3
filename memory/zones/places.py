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
_NO_CITIES = (
    "Etc/",
    "US/",
    "Canada/",
    "Brazil/",
    "Mexico/",
    "Chile/",
    "Australia/North",
    "Australia/South",
    "Australia/W",
)
"""Beginnings of the names of zones that do not end with a city."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of places.tsv: a city, or the part of a state or a country that is in one zone."""

    zone: str
    country: str
    """ISO 3166 code. In Australia, Brazil, Canada and the USA it has that of the state, such as US-TX."""
    population: int
    """Thousands of inhabitants."""
    position: tuple[float, float] | None
    """Latitude and longitude of a city; None for a country or a state."""
    names: str
    """Names in plain spelling, each between bars."""


def find_places(name: str) -> list[Place]:
    """Return the places with this name in any of our languages, the largest first. A region may follow its name.

    "Portland, OR", "Birmingham UK", "London, Ontario, Canada" and "Europe/Munich" are read, and "US" in capitals.
    Of an unknown city in a known region, the region is returned. An unknown region after a comma gives nothing.
    """
    spelt = name.rpartition("/")[2]
    whole = plain(spelt)
    if found := _named(whole.replace(",", "").strip("_")):
        return found
    city, *parts = (part.strip("_") for part in whole.split(","))
    for city, region in [(city, part) for part in parts] or _splits(whole):
        regions = _regions(region)
        countries = {place.country for place in regions}
        inside = [
            place for place in _named(city) if not countries.isdisjoint((place.country, place.country[:2]))
        ]
        if inside or (parts and regions):
            return inside or regions
    return _regions(whole) if spelt.isupper() else []


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


def _regions(name: str) -> list[Place]:
    """Return the countries and states with this name or code."""
    code, spelt = name.upper(), f"|{name}|"
    places = (place for place in _table() if place.position is None) if name else ()
    return [place for place in places if spelt in place.names or code in (place.country, place.country[3:])]


def _named(name: str) -> list[Place]:
    """Return the places with this name. Other names of cities count less, and not beside a country or a state."""
    if not name:
        return []
    spelt = f"|{name}|"
    named = [place for place in _table() if spelt in place.names]
    found = [place for place in named if place.position is None or place.names.startswith(spelt)]
    if all(place.position for place in found):
        others = (place for place in named if place not in found)
        found += [replace(place, population=place.population // _OTHER_NAME) for place in others]
    if not found and (zone := _iana_cities().get(name)):
        found.append(Place(zone=zone, country="", population=0, position=(90.0, 0.0), names=spelt))
    return sorted(found, key=lambda place: -place.population)


@cache
def _iana_cities() -> dict[str, str]:
    """Return the zones by the plain names of their cities: the last words of their names."""
    zones = sorted(iana_names().values(), key=lambda name: (len(name), name), reverse=True)
    return {
        plain(zone.rpartition("/")[2]): zone
        for zone in zones
        if "/" in zone and not zone.startswith(_NO_CITIES)
    }


@cache
def _table() -> Sequence[Place]:
    text = resources.files("memory.zones").joinpath("places.tsv").read_text("utf-8")
    return tuple(_parse(line) for line in text.splitlines() if not line.startswith("#"))


def _parse(line: str) -> Place:
    zone, country, population, latitude, longitude, names = line.split("\t")
    position = (float(latitude), float(longitude)) if latitude else None
    return Place(zone=zone, country=country, population=int(population), position=position, names=names)
