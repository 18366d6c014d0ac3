"""What people write for their time zone, and what it gives. Sources of inputs are named where they are from reports."""

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from memory.zones.clocks import BadTime, find_zone, offset_name
from memory.zones.reader import NOTHING, find_places, read_zone, zones_near
from tests.text_work import cpu_s

NOW = datetime(2026, 11, 26, 11, 56, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("UTC+3", "UTC+03:00"),
        ("utc +3", "UTC+03:00"),
        ("UTC−3", "UTC-03:00"),  # noqa: RUF001 - a real minus
        ("UTC–3:30", "UTC-03:30"),
        ("GMT+5:30", "UTC+05:30"),
        ("+05:30", "UTC+05:30"),
        ("+0545", "UTC+05:45"),
        ("+5.5", "UTC+05:30"),
        ("GMT-0330", "UTC-03:30"),
        ("GMT-3", "UTC-03:00"),  # Study-Together-Org/time_counter#32: it gave a zone of Asia
        ("gmt 3", "UTC+03:00"),
        ("UTC+3 hours", "UTC+03:00"),
        ("+3 UTC", "UTC+03:00"),
        ("+3", "UTC+03:00"),
        ("UTC+14", "UTC+14:00"),
        ("UTC+۳:۳۰", "UTC+03:30"),
        ("MSK+4", "UTC+07:00"),
        ("мск+2", "UTC+05:00"),
        ("UTC", "UTC"),  # KevinNovak/Friend-Time#112
        ("Z", "UTC"),
        ("UTC+0", "UTC"),
        ("Etc/GMT+3", "Etc/GMT+3"),
        ("(UTC+03:00) Riga", "Europe/Riga"),  # as Windows writes it: gravity-ui/uikit#2649
        ("(UTC+03:00)", "UTC+03:00"),
        ("Moscow (UTC+3)", "Europe/Moscow"),
        ("UTC plus 3", "UTC+03:00"),
        ("GMT minus 5:30", "UTC-05:30"),
        ("UTC плюс 3", "UTC+03:00"),
        ("GMT más 2", "UTC+02:00"),
        ("UTC menos 3", "UTC-03:00"),
        ("+3 часа", "UTC+03:00"),
        ("UTC+1 Stunde", "UTC+01:00"),
        ("+3 GMT time", "UTC+03:00"),
        ("UTC+5:30 IST", "UTC+05:30"),
        ("(GMT-08:00) Pacific Time (US & Canada)", "America/Los_Angeles"),
        ("UTC+1 CET", "Europe/Berlin"),
    ],
)
def test_an_offset_has_the_sign_that_people_use(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone
    assert find_zone(zone).key == zone


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("US/Pacific", "US/Pacific"),
        ("new-york", "America/New_York"),
        ("Zürich", "Europe/Zurich"),
        ("port au prince", "America/Port-au-Prince"),
        ("Beijing", "Asia/Shanghai"),  # moment/moment-timezone#913
        ("Mumbai", "Asia/Kolkata"),
        ("New Delhi", "Asia/Kolkata"),  # moment/moment#1473
        ("San Francisco", "America/Los_Angeles"),
        ("Munich", "Europe/Berlin"),
        ("München", "Europe/Berlin"),
        ("Мюнхен", "Europe/Berlin"),
        ("مونیخ", "Europe/Berlin"),
        ("Múnich", "Europe/Berlin"),
        ("Munique", "Europe/Berlin"),
        ("Europe/Munich", "Europe/Berlin"),
        ("Munich, Germany", "Europe/Berlin"),
        ("Munich time", "Europe/Berlin"),
        ("Пекин", "Asia/Shanghai"),
        ("پکن", "Asia/Shanghai"),
        ("Pekín", "Asia/Shanghai"),
        ("Lisboa", "Europe/Lisbon"),
        ("St. Petersburg", "Europe/Moscow"),
        ("Санкт-Петербург", "Europe/Moscow"),
        ("Питер", "Europe/Moscow"),
        ("Екатеринбург", "Asia/Yekaterinburg"),
        ("Osaka", "Asia/Tokyo"),
        ("Rio", "America/Sao_Paulo"),
        ("Bangalore", "Asia/Kolkata"),
        ("Barcelona", "Europe/Madrid"),
        ("Birmingham UK", "Europe/London"),
        ("Birmingham, AL", "America/Chicago"),
        ("San José, Costa Rica", "America/Costa_Rica"),
        ("كرج", "Asia/Tehran"),
        ("مشهد", "Asia/Tehran"),
        ("Genf", "Europe/Zurich"),
        ("NYC", "America/New_York"),
        ("Bali", "Asia/Makassar"),
        ("Germany", "Europe/Berlin"),
        ("Deutschland", "Europe/Berlin"),
        ("Германия", "Europe/Berlin"),
        ("آلمان", "Europe/Berlin"),
        ("Japan", "Asia/Tokyo"),
        ("UK", "Europe/London"),
        ("California", "America/Los_Angeles"),
        ("Nuuk", "America/Nuuk"),
        ("МСК", "Europe/Moscow"),  # noqa: RUF001
        ("MSK", "Europe/Moscow"),
        ("EST", "America/New_York"),
        ("EDT", "America/New_York"),
        ("ET", "America/New_York"),
        ("Eastern Time", "America/New_York"),
        ("PST", "America/Los_Angeles"),
        ("CET", "Europe/Berlin"),
        ("MEZ", "Europe/Berlin"),
        ("BST", "Europe/London"),
        ("JST", "Asia/Tokyo"),
        ("AEST", "Australia/Sydney"),
        ("Europe/uk", "Europe/London"),  # eddiejaoude/stargate#39
        ("HK", "Asia/Hong_Kong"),
        ("Großbritannien", "Europe/London"),
        ("انگلستان", "Europe/London"),
        ("Weißrussland", "Europe/Minsk"),
        ("ЮАР", "Africa/Johannesburg"),
        ("Bosnia and Herzegovina", "Europe/Sarajevo"),
        ("Trinidad & Tobago", "America/Port_of_Spain"),
        ("Saint Lucia", "America/St_Lucia"),
        ("Соломоновы острова", "Pacific/Guadalcanal"),
        ("Canary Islands", "Atlantic/Canary"),
        ("Камчатка", "Asia/Kamchatka"),
        ("Сахалин", "Asia/Sakhalin"),
        ("Central European Time", "Europe/Berlin"),
        ("Greenwich Mean Time", "UTC"),
        ("British Summer Time", "Europe/London"),
        ("Московское время", "Europe/Moscow"),
        ("CET/CEST", "Europe/Berlin"),  # sopel-irc/sopel#1592: the name changes with the season
        ("PST/PDT", "America/Los_Angeles"),
        ("GMT/BST", "Europe/London"),
        ("Indian Standard Time", "Asia/Kolkata"),  # moment/moment-timezone#433
        ("W. Europe Standard Time", "Europe/Berlin"),  # names of Windows: home-assistant/core#179613
        ("Romance Standard Time", "Europe/Paris"),  # jspricke/python-remind#19
        ("AUS Eastern Standard Time", "Australia/Sydney"),
        ("Australian Eastern Standard Time", "Australia/Sydney"),
        ("AUS Central Standard Time", "Australia/Darwin"),
        ("East Coast", "America/New_York"),
        ("Zeitzone Berlin", "Europe/Berlin"),
        ("zona horaria de Madrid", "Europe/Madrid"),
        ("horário de Brasília", "America/Sao_Paulo"),
        ("часовой пояс Москвы", "Europe/Moscow"),
        ("Berlin time zone", "Europe/Berlin"),
        ("tz: Berlin", "Europe/Berlin"),
    ],
)
def test_a_name_in_any_of_our_languages_gives_its_zone(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("🇩🇪", "Europe/Berlin"),
        ("🇱🇦", "Asia/Vientiane"),  # LA is Los Angeles
        ("🇪🇹", "Africa/Addis_Ababa"),  # ET is Eastern Time
        ("🇩🇪 Germany", "Europe/Berlin"),
        ("Berlin 🌍️", "Europe/Berlin"),
        ("📍Berlin", "Europe/Berlin"),
        ("<Europe/Berlin>", "Europe/Berlin"),
        ("`Europe/Berlin`", "Europe/Berlin"),
        ("Europe\\Berlin", "Europe/Berlin"),
        ("#Berlin", "Europe/Berlin"),
    ],
)
def test_a_flag_is_its_country_and_signs_around_a_name_do_not_count(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone


def test_a_flag_of_a_large_country_is_a_choice() -> None:
    assert read_zone("🇵🇹", NOW).others == ("Europe/Lisbon", "Atlantic/Azores")
    assert {"America/New_York", "Pacific/Honolulu"} < set(read_zone("🇺🇸", NOW).others)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Samoa", "Pacific/Apia"),
        ("Grenada", "America/Grenada"),
        ("Гренада", "America/Grenada"),
        ("Santa Lucía", "America/St_Lucia"),
        ("Santa Lúcia", "America/St_Lucia"),
        ("Armenia", "Asia/Yerevan"),
        ("Jamaica", "America/Jamaica"),
        ("Broken Hill", "Australia/Broken_Hill"),
        ("St. Petersburg", "Europe/Moscow"),
        ("Petersburg", "Europe/Moscow"),
    ],
)
def test_a_country_and_a_city_of_iana_come_before_old_names_of_other_cities(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("London, ON", "America/Toronto"),
        ("London, Ontario, Canada", "America/Toronto"),
        ("Toronto, ON, CA", "America/Toronto"),
        ("Paris, Ontario", "America/Toronto"),  # mattermost-community/mattermost-plugin-walltime#37
        ("Paris, Yukon", "America/Whitehorse"),
        ("Paris, Île-de-France, France", "Europe/Paris"),
        ("Sydney, Nova Scotia", "America/Glace_Bay"),
        ("Victoria, BC", "America/Vancouver"),
        ("Victoria, Australia", "Australia/Melbourne"),
        ("Perth, WA", "Australia/Perth"),
        ("Vancouver, WA", "America/Los_Angeles"),
        ("British Columbia", "America/Vancouver"),
        ("Alberta", "America/Edmonton"),
        ("Nunavut", "America/Iqaluit"),
        ("New South Wales", "Australia/Sydney"),
        ("Minas Gerais", "America/Sao_Paulo"),
        ("Acre", "America/Rio_Branco"),
        ("Vermont", "America/New_York"),
        ("London (Ontario)", "America/Toronto"),
        ("Birmingham (Alabama)", "America/Chicago"),
        ("San José (Costa Rica)", "America/Costa_Rica"),
        ("Hyderabad (Pakistan)", "Asia/Karachi"),
        ("Georgia (US)", "America/New_York"),
    ],
)
def test_a_state_is_read_alone_and_after_a_city(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("I live in Berlin", "Europe/Berlin"),
        ("I'm in New York", "America/New_York"),
        ("The Netherlands", "Europe/Amsterdam"),
        ("Ich lebe in der Schweiz", "Europe/Zurich"),
        ("vivo en Madrid", "Europe/Madrid"),
        ("moro no Rio de Janeiro", "America/Sao_Paulo"),
        ("من در تهران هستم", "Asia/Tehran"),
        ("в Москве", "Europe/Moscow"),
        ("Я живу в Санкт-Петербурге", "Europe/Moscow"),
        ("я в Казани", "Europe/Moscow"),
        ("живу в Германии", "Europe/Berlin"),
        ("в Нижнем Новгороде", "Europe/Moscow"),
        ("в Южной Корее", "Asia/Seoul"),  # noqa: RUF001
        ("из Ярославля", "Europe/Moscow"),
        ("Los Angeles", "America/Los_Angeles"),
        ("El Salvador", "America/El_Salvador"),
    ],
)
def test_a_place_is_read_in_a_sentence(text: str, zone: str) -> None:
    assert read_zone(text, NOW).zone == zone


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("IST", ("Asia/Kolkata", "Asia/Jerusalem", "Europe/Dublin")),
        ("CST", ("Asia/Shanghai", "America/Mexico_City", "America/Chicago", "America/Havana")),
        ("Spain", ("Europe/Madrid", "Atlantic/Canary")),
        ("Brasil", ("America/Sao_Paulo", "America/Manaus", "America/Rio_Branco", "America/Noronha")),
        ("Georgia", ("Asia/Tbilisi", "America/New_York")),
        ("Granada", ("Europe/Madrid", "America/Grenada")),
        ("Guadalupe", ("America/Monterrey", "America/Guadeloupe")),
        ("Santa Catarina", ("America/Sao_Paulo", "America/Monterrey")),
        ("Victoria", ("Australia/Melbourne", "America/Vancouver")),
        ("Ontario", ("America/Toronto", "America/Los_Angeles")),
        ("Congo", ("Africa/Kinshasa", "Africa/Lubumbashi")),
        ("IN", ("Asia/Kolkata", "America/Indiana/Indianapolis", "America/Chicago")),
        ("London, Narnia", ("Europe/London",)),
        ("CST/CDT", ("America/Chicago", "America/Havana")),
        ("Paris, Texas", ("America/Chicago", "America/Denver")),
        ("Paris (Texas)", ("America/Chicago", "America/Denver")),
        ("Berln", ("Europe/Berlin",)),
        ("Los Angles", ("America/Los_Angeles",)),
        ("в Ростове-на-Дону", ("Europe/Moscow",)),
        ("it is 14:56 here", ("Europe/Istanbul",)),
        ("у меня 14:57", ("Europe/Istanbul",)),  # noqa: RUF001
        ("ساعت ۱۵:۲۶", ("Asia/Tehran",)),  # noqa: RUF001
        ("5:26 pm", ("Asia/Kolkata",)),
        ("5:26 p.m.", ("Asia/Kolkata",)),
        ("5:26", ("Asia/Kolkata",)),
        ("17h26", ("Asia/Kolkata",)),
        ("17 Uhr", ("Asia/Karachi",)),
        ("сейчас 14 часов", ("Africa/Johannesburg", "Africa/Cairo", "Europe/Kyiv", "Asia/Jerusalem")),
        ("son las 12 horas", ("Europe/London", "Africa/Abidjan")),
        ("ساعت ۱۵", ("Europe/Istanbul",)),  # noqa: RUF001
        ("5 o'clock", ("America/Phoenix", "America/Denver", "Asia/Karachi")),
    ],
)
def test_what_may_mean_several_zones_is_a_choice(text: str, zones: tuple[str, ...]) -> None:
    reading = read_zone(text, NOW)
    assert (reading.zone, reading.others) == ("", zones)


def test_a_large_country_offers_each_of_its_clocks_once() -> None:
    russia, states = read_zone("Россия", NOW).others, read_zone("USA", NOW).others
    assert len(russia) == 11
    assert {"Europe/Moscow", "Asia/Yekaterinburg", "Asia/Kamchatka"} < set(russia)
    assert read_zone("US", NOW).others == read_zone("آمریکا", NOW).others == states
    assert {"America/Toronto", "America/Los_Angeles"} < set(read_zone("CA", NOW).others)
    assert states[:3] == ("America/New_York", "America/Chicago", "America/Los_Angeles")


def test_a_likely_other_place_is_offered_too() -> None:
    assert read_zone("PT", NOW).others == ("Europe/Lisbon", "Atlantic/Azores")
    assert read_zone("Barcelona", NOW).others == ("America/Caracas",)
    assert read_zone("EST", NOW).others == ("America/Jamaica",)


def test_an_offset_offers_the_places_that_have_it_now() -> None:
    assert read_zone("GMT+1", NOW).others == ("Africa/Lagos", "Europe/Berlin", "Africa/Casablanca")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "localtime",
        "Factory",
        "Atlantis",
        "Zermatt",
        "home",
        "the",
        "no",  # Norway only in capitals
        "at 5",
        "in_",
        "East",
        "UTC+25",
        "+99",
        "UTC+3:17",
        "+3 часа от МСК",  # noqa: RUF001
        "плюс 3 часа от Москвы",
        "+2 hours to London",
        "5",
        "25:61",
    ],
)
def test_an_unknown_text_gives_nothing(text: str) -> None:
    assert read_zone(text, NOW) == NOTHING


@pytest.mark.parametrize("text", ["в " + "жо " * 90 + "зе", "in in " + "a " * 150, "in a, " + "a, " * 90])
def test_a_text_of_many_words_is_read_in_a_moment(text: str) -> None:
    read_zone("Berlin", NOW)
    assert cpu_s(lambda said: read_zone(said, NOW), text, limit_s=2) < 0.25


def test_a_location_gives_the_zones_around_it() -> None:
    assert zones_near(52.5, 13.4, NOW).zone == "Europe/Berlin"
    assert zones_near(50.0, 24.0, NOW).others == ("Europe/Kyiv", "Europe/Warsaw")
    for longitude in (179.9, -179.9):
        assert zones_near(-16.5, longitude, NOW).others[0] == "Pacific/Fiji"
    assert zones_near(-50.0, -140.0, NOW).zone == ""


def test_a_stored_name_is_read_only_as_it_is_stored() -> None:
    assert find_zone("Etc/GMT+1").key == "Etc/GMT+1"
    for name in ("GMT+1", "lisbon", "localtime", "Factory", "UTC+3", "UTC+03:61", "Munich"):
        with pytest.raises(BadTime):
            find_zone(name)


def test_a_fixed_offset_is_the_same_in_summer_and_winter() -> None:
    zone = find_zone("UTC-03:30")
    for month in (1, 7):
        at = datetime(2026, month, 1, tzinfo=UTC).astimezone(zone)
        assert at.isoformat().endswith("-03:30")
    assert offset_name(0) == "UTC"


def test_every_zone_of_the_table_exists() -> None:
    for name in ("Beijing", "Россия", "USA", "Brasil", "Antarctica", "Kosovo"):
        assert {place.zone for place in find_places(name)} <= available_timezones()
