"""Readings of what people write for their time zone: names, places, offsets, and the time on their clock."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from math import cos, hypot, radians
from unicodedata import category, decimal, normalize

from memory.zones.clocks import LONGEST_NAME, find_zone, iana_names, offset_name, plain

_OFFERED, _OFFERED_OF_COUNTRY = 5, 12
_RIVAL, _OFFERED_SHARE = 2, 10
"""Divisors of the largest city's inhabitants: for a city of the same name that is as likely, and for one to offer."""
_LATEST_MIN, _EARLIEST_MIN = 14 * 60, -12 * 60
_CLOCK_DIFFERS_MIN = (7, 20)
"""Minutes by which a clock is wrong or was read earlier; the second only if the first finds no zone."""
_NEAREST, _NEAR_DEGREES = 6, 3
_DAY_MIN = 24 * 60

_SIGNS = str.maketrans({"\\": "/", **dict.fromkeys("−–—‒", "-")})  # noqa: RUF001
_AROUND = " \n\t.,;!?\"'«»“”<>[]{}`*#/"
"""Signs before and after a name, which people copy with it."""
_PREFIX = r"(?P<base>utc|gmt|utc/gmt|gmt/utc|msk|мск|z|zulu)"
_OFFSET = re.compile(
    rf"\(?(?:{_PREFIX}\s*)?(?:(?P<sign>[+-]|±)\s*)?(?P<hours>\d{{1,2}})(?:[:.,]?(?P<minutes>\d{{2}})|[.,](?P<half>5))?"
    r"\s*(?:(?:h|hours?|ч|час(?:а|ов)?|stunden?|horas?|(?P<utc>utc|gmt))\b)?"  # noqa: RUF001
    r"\)?\s*(?P<place>[^\W\d].*)?",
    re.DOTALL,
)
_SIGN_WORDS = (
    (re.compile(r"(?:\b(?:plus|плюс|más|mais)\b|بعلاوه|به علاوه|مثبت)\s*(?=\d)", re.IGNORECASE), "+"),
    (re.compile(r"(?:\b(?:minus|минус|menos)\b|منهای|منفی)\s*(?=\d)", re.IGNORECASE), "-"),
)
_CLOCK = re.compile(
    r"(?<![\d:.+-])(?P<before>ساعت\s*)?(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})(?::\d{2})?)?"
    r"\s*(?:(?P<half>[ap]\.?\s?m\b\.?)"
    r"|(?P<after>(?:uhr|o['’]?\s?clock|hrs|horas?|h|ч|час(?:а|ов)?)\b))?(?![\d:])"  # noqa: RUF001
)
_TIME_WORDS = re.compile(
    r"_(?:(?:standard_|daylight_|summer_)?time|time_?zone)$|^(?:city_of|(?:time_?zone|tz):?)_"
)
_FLAG, _IN_EMOJI = re.compile("[🇦-🇿]{2}"), ("So", "Mn")

_WORDS_BEFORE = re.compile(
    r"(?:(?:i|im|i_am|we|live|based|located|now|currently|time|in|from|at|the"
    r"|ich|wohne|lebe|bin|komme|aus|der|die|den|dem"
    r"|yo|vivo|estoy|soy|en|de|el|la|los|las|eu|moro|estou|sou|em|no|na|nos|nas|do|da|os|as"
    r"|я|живу|нахожусь|сеичас|время|в|во|на|из|от|по|من|در|به|وقت"
    r"|zeitzone|hora|horario|huso|zona|horaria|fuso|часовои|пояс)_)+"
)
"""Words of a sentence before the place. They are left out only if the whole is no place: see Los Angeles."""
_WORDS_AFTER = re.compile(r"_(?:now|here|currently|сеичас|هستم|زندگی_می_?کنم)$")
_CASE_ENDINGS = {
    "е": ("", "а", "я", "ь", "и", "о"),  # noqa: RUF001
    "и": ("ь", "я", "а"),  # noqa: RUF001
    "у": ("", "а"),  # noqa: RUF001
    "ы": ("а", ""),  # noqa: RUF001
    "а": ("",),  # noqa: RUF001
    "я": ("ь", "и"),
}
"""Endings of Russian names after "in" and "from", each with those of the name itself. "й" is plain "и"."""


def _by_name(text: str) -> dict[str, str]:
    pairs = (each.partition("=") for each in text.split())
    return {name: zone for zone, _, names in pairs for name in names.split(",")}


_USUAL = _by_name(
    "America/Denver=mst America/Los_Angeles=pst America/New_York=est Europe/Berlin=cet,cest Europe/Kyiv=eet,eest"
)
"""The zones that most people mean by an abbreviation that others have too."""
_ABBREVIATIONS = _by_name("""
UTC=greenwich_mean,coordinated_universal America/Anchorage=alaskan America/Argentina/Buenos_Aires=art
America/Bogota=cot America/Caracas=vet America/Chicago=ct,central,us_central America/Denver=mt,mountain
America/Halifax=atlantic America/Lima=pet America/Los_Angeles=pt,pacific,us_pacific,us_west,west_coast
America/New_York=et,eastern,us_eastern,us_east,east_coast America/Santiago=clt
America/Sao_Paulo=brt,e_south_america Asia/Almaty=almt Asia/Baku=azt Asia/Bangkok=ict,se_asia
Asia/Dubai=gst,arabian Asia/Irkutsk=irkt Asia/Kathmandu=npt Asia/Kolkata=indian Asia/Krasnoyarsk=krat
Asia/Kuala_Lumpur=myt Asia/Manila=pht Asia/Novosibirsk=novt Asia/Omsk=omst Asia/Riyadh=arab,saudi
Asia/Singapore=sgt Asia/Tashkent=uzt Asia/Tehran=irst Asia/Vladivostok=vlat Asia/Yakutsk=yakt
Asia/Yekaterinburg=yekt Australia/Darwin=aus_central Australia/Sydney=aus_eastern,australian_eastern
Europe/Athens=oez
Europe/Berlin=mez,mesz,w_europe,central_europe,central_european,mitteleuropaische_zeit
Europe/Berlin=mitteleuropaische_sommerzeit,hora_central_europea,hora_da_europa_central,центральноевропеиское_время
Europe/Istanbul=trt Europe/Kyiv=eastern_european,fle Europe/Lisbon=wez,western_european Europe/London=british
Europe/Moscow=мск,russian,московское,московское_время,московскому_времени Europe/Paris=romance
Europe/Samara=samt Pacific/Honolulu=hawaiian
""")
"""Abbreviations that IANA's data do not have, and names of clocks, also those of Windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneReading:
    """The meaning of a text. Both are empty if it has none."""

    zone: str = ""
    """Stored name of the zone; "" if the person has to choose."""
    others: tuple[str, ...] = ()
    """Zones to offer, the likeliest first. Each keeps another time than the others."""

    def __bool__(self) -> bool:
        return bool(self.zone or self.others)


NOTHING = ZoneReading()


def read_zone(text: str, now: float) -> ZoneReading:
    """Return the zone that a person means, at `now` (Unix seconds).

    Similar spelling alone never gives a zone; it may offer one. Sources of what people write: midblue/timezone-bot#81,
    KevinNovak/Friend-Time#7 and #112, TheCommieAxolotl/BetterDiscord-Stuff#82, opnsense/core#3800.
    """
    said = normalize("NFKC", text[:LONGEST_NAME]).translate(_SIGNS)
    at = datetime.fromtimestamp(now, UTC)
    if flag := _FLAG.fullmatch(said.strip()):
        return _choice(_distinct(zones_of(country_of_flag(flag[0])), at, at_most=_OFFERED_OF_COUNTRY))
    letters = (
        str(decimal(each)) if each.isdecimal() else each for each in said if category(each) not in _IN_EMOJI
    )
    said = "".join(letters).strip(_AROUND)
    for words, sign in _SIGN_WORDS:
        said = words.sub(sign, said)
    name = _TIME_WORDS.sub("", plain(said))
    if not name:
        return NOTHING
    if "/" in name and name in iana_names():
        return ZoneReading(zone=iana_names()[name])
    return (
        _read_offset(said.casefold(), at)
        or _read_abbreviation(name, at)
        or _read_place(said, name, at)
        or _read_clock(said.casefold(), at)
        or _read_before_bracket(said, now)
        or _read_before_comma(said, at)
        or _offer_similar(said, at)
        or _read_sentence(name, now)
    )


def zones_near(latitude: float, longitude: float, now: float) -> ZoneReading:
    """Return the zones of the nearest cities to choose from. Near a border the nearest one may be wrong."""
    nearest = places_near(latitude, longitude)[:_NEAREST]
    found = _distinct((place.zone for _, place in nearest), datetime.fromtimestamp(now, UTC))[:3]
    is_clear = len(found) == 1 and nearest[0][0] < _NEAR_DEGREES
    return ZoneReading(zone=found[0]) if is_clear else ZoneReading(others=found)


def _read_offset(said: str, at: datetime) -> ZoneReading:
    """Read "UTC+3", "GMT-0330", "+5:30", "MSK+2" and "(UTC+03:00) Riga", whose place decides if it is known.

    The signs are those that people use. In names of Etc they are turned round: see odoo/odoo#242505. "+3 from Moscow"
    is no offset from UTC.
    """
    if said in ("utc", "gmt", "z", "zulu", "utc/gmt"):
        return ZoneReading(zone="UTC", others=_zones_with(0, at))
    match = _OFFSET.fullmatch(said)
    if match is None or not (match["base"] or match["sign"]):
        return NOTHING
    place = (match["place"] or "").partition("(")[0].strip()
    name = _TIME_WORDS.sub("", plain(place))
    abbreviated = _read_abbreviation(name, at)
    if place and (found := abbreviated if abbreviated.zone else _read_place(place, name, at)):
        return found
    if place and not (match["base"] or match["utc"]):
        return NOTHING
    part = (
        30 if match["half"] else {"25": 15, "75": 45}.get(match["minutes"] or "0", int(match["minutes"] or 0))
    )
    minutes = (int(match["hours"]) * 60 + part) * (-1 if match["sign"] == "-" else 1)
    minutes += 180 if match["base"] in ("msk", "мск") else 0
    if part % 15 or not _EARLIEST_MIN <= minutes <= _LATEST_MIN:
        return NOTHING
    return ZoneReading(zone=offset_name(minutes), others=_zones_with(minutes, at))


def _read_abbreviation(name: str, at: datetime) -> ZoneReading:
    """Read "EST" and the like. If it stands for several offsets, as IST and CST do, the person has to choose."""
    if zone := _ABBREVIATIONS.get(name):  # PT is Portugal too
        return ZoneReading(zone=zone, others=_distinct([zone, *zones_of(_regions(name))], at)[1:])
    first, *others = (_abbreviations(at.year).get(part, {}) for part in name.split("/"))
    used = [(zone, offset) for zone, offset in first.items() if all(zone in other for other in others)]
    usual = _USUAL.get(name.partition("/")[0], "")
    zones = _distinct([*([usual] if usual in dict(used) else []), *(zone for zone, _ in used)], at)
    if not usual and len({offset for zone, offset in used if zone in zones}) > 1:
        return ZoneReading(others=zones)
    return ZoneReading(zone=next(iter(zones), ""), others=zones[1:])


def _read_place(said: str, name: str, at: datetime) -> ZoneReading:
    """Read a city, a state or a country.

    A country with several zones is a choice. So is a city with a rival of its name: a like city, a state or a country.
    """
    found = find_places(said) or find_places(name)
    if not found:
        return ZoneReading(zone=iana_names().get(name, ""))
    largest = found[0].population
    likely = [each for each in found if each.position is None or each.population * _OFFERED_SHARE >= largest]
    wide = [each for each in likely if each.position is None]
    zones = _distinct(zones_of(likely), at, at_most=_OFFERED_OF_COUNTRY if wide else _OFFERED)
    if len(zones) == 1:
        return _choice(zones)
    least = 0 if any("-" in each.country for each in wide) else largest
    rivals = [*wide, *(each for each in likely if each.population * _RIVAL >= least)]
    if len(_distinct((each.zone for each in rivals), at)) > 1:
        return _choice(zones)
    return ZoneReading(zone=found[0].zone, others=tuple(each for each in zones if each != found[0].zone))


def _read_clock(said: str, at: datetime) -> ZoneReading:
    """Read a time of day within a sentence, and return the zones where it is that time now."""
    for match in _CLOCK.finditer(said):
        hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"] or ""
        if hour > 23 or minute > 59 or not (match["minute"] or half or match["before"] or match["after"]):
            continue
        evening = [hour, hour + 12] if 0 < hour < 12 else [hour]
        hours = [hour % 12 + 12 * (half[0] == "p")] if half else evening
        zones = [zone for each in hours for zone in _zones_at(each * 60 + minute, at)]
        return ZoneReading(others=tuple(dict.fromkeys(zones)))
    return NOTHING


def _read_before_bracket(said: str, now: float) -> ZoneReading:
    before, bracket, region = said.partition("(")
    if not (before and bracket):
        return NOTHING
    at, whole = datetime.fromtimestamp(now, UTC), f"{before.strip()}, {region.rstrip(' )')}"
    return _read_place(whole, "", at) or read_zone(before, now)


def _read_before_comma(said: str, at: datetime) -> ZoneReading:
    """Offer the zones of a city in an unknown region: another place may have its name."""
    city, comma, _ = said.partition(",")
    found = _read_place(city, plain(city), at) if comma else NOTHING
    return ZoneReading(others=tuple(filter(None, (found.zone, *found.others))))


def _offer_similar(said: str, at: datetime) -> ZoneReading:
    return ZoneReading(others=_distinct(zones_of(similar_places(said)), at))


def _read_sentence(name: str, now: float) -> ZoneReading:
    """Read the place in "I live in Berlin", also in a case of Russian: "в Москве"."""
    words = _WORDS_BEFORE.match(name)
    if words is None:
        return NOTHING
    place = _WORDS_AFTER.sub("", name[words.end() :])
    usual = re.sub("[её]м_|ом_", "ии_", place.replace("ои_", "ая_"))
    at = datetime.fromtimestamp(now, UTC)
    for spelt in (place, *(usual[:-1] + ending for ending in _CASE_ENDINGS.get(place[-1:], ()))):
        if found := _read_place(spelt, spelt, at):
            return found
    return read_zone(place, now)


def _zones_at(minutes: int, at: datetime) -> Sequence[str]:
    """Return the zones where so many minutes of the day have passed, about."""
    utc = at.hour * 60 + at.minute

    def differs_by(zone: str) -> int:
        return (utc + _offset(zone, at) - minutes + _DAY_MIN // 2) % _DAY_MIN - _DAY_MIN // 2

    for at_most in _CLOCK_DIFFERS_MIN:
        near = [zone for zone in zones_by_population() if abs(differs_by(zone)) <= at_most]
        if near:
            return _distinct(near, at)
    return ()


def _zones_with(minutes: int, at: datetime) -> tuple[str, ...]:
    return _distinct((zone for zone in zones_by_population() if _offset(zone, at) == minutes), at)


def _choice(zones: tuple[str, ...]) -> ZoneReading:
    return ZoneReading(zone=zones[0]) if len(zones) == 1 else ZoneReading(others=zones)


def _distinct(zones: Iterable[str], at: datetime, *, at_most: int = _OFFERED) -> tuple[str, ...]:
    """Return the first zone of each clock: two zones with the same time all year are one to choose from."""
    found: dict[tuple[int, ...], str] = {}
    for zone in zones:
        found.setdefault(_year_of(zone, at), zone)
    return tuple(found.values())[:at_most]


def _year_of(zone: str, at: datetime) -> tuple[int, ...]:
    return tuple(_offset(zone, at + timedelta(days=15 * half_months)) for half_months in range(25))


def _offset(zone: str, at: datetime) -> int:
    """Return the minutes by which the zone is ahead of UTC then."""
    offset = at.astimezone(find_zone(zone)).utcoffset() or timedelta()
    return int(offset.total_seconds()) // 60


@cache
def _abbreviations(year: int) -> dict[str, dict[str, int]]:
    """Return the zones that use an abbreviation in this year, with their offsets then, the largest zone first."""
    found: dict[str, dict[str, int]] = {}
    for zone in zones_by_population():
        for abbreviation, offset in set(_names_in(zone, year)):
            found.setdefault(abbreviation, {})[zone] = offset
    return found


def _names_in(zone: str, year: int) -> Iterator[tuple[str, int]]:
    for month in (1, 7):
        at = datetime(year, month, 1, tzinfo=UTC)
        name = at.astimezone(find_zone(zone)).tzname() or ""
        if name.isalpha():
            yield name.casefold(), _offset(zone, at)


_LEAST_SUGGESTED = 300
"""Thousands of inhabitants of a city that is suggested for another spelling."""
_SHORTEST_SUGGESTED = 5
_MOST_PARTS, _LONGEST_REGION = 4, 8
"""Parts of a place between commas, and words of a region, that are read: a text of 300 words would take a second."""
_OTHER_NAME = 10
"""Divisor of the inhabitants of a place whose usual name is another one: Jerusalem was once called Salem."""
_NO_CITIES = (
    *("Etc/", "US/", "Canada/", "Brazil/", "Mexico/", "Chile/"),
    *("Australia/North", "Australia/South", "Australia/W"),
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
    city, *parts = (part.strip("_") for part in whole.split(",")[:_MOST_PARTS])
    for city, region in [(city, part) for part in parts] or _splits(whole):
        regions = _regions(region)
        countries = {place.country for place in regions}
        inside = [
            place for place in _named(city) if not countries.isdisjoint((place.country, place.country[:2]))
        ]
        if inside or (parts and regions):
            return inside or regions
    return _regions(whole) if spelt.isupper() else []


def country_of_flag(flag: str) -> list[Place]:
    """Return the country of an emoji of two letters, with the parts of it that are in other zones."""
    code = "".join(chr(ord(each) - ord("🇦") + ord("A")) for each in flag)
    return [place for place in _table() if place.position is None and place.country[:2] == code]


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
    return zones_of(place for place in _table() if place.position)


def zones_of(places: Iterable[Place]) -> Sequence[str]:
    """Return the zones of these places, the one with the most inhabitants first."""
    population: dict[str, int] = {}
    for place in places:
        population[place.zone] = population.get(place.zone, 0) + place.population
    return sorted(population, key=population.__getitem__, reverse=True)


def _splits(whole: str) -> list[tuple[str, str]]:
    words = whole.split("_")
    last = range(len(words) - 1, max(0, len(words) - 1 - _LONGEST_REGION), -1)
    return [("_".join(words[:at]), "_".join(words[at:])) for at in last]


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
