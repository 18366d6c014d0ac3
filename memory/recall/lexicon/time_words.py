"""Words for times, in eight languages, by their role in a date."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from functools import cache

from memory.recall.lexicon.languages import unaccented
from memory.recall.lexicon.scripts import MARKS

HOUR, DAY, WEEK, MONTH, YEAR, WEEKEND = range(6)
SINCE = 1
YEARS = range(1900, 2101)
"""Numbers that count as years."""

_MONTHS = """
    january januar enero janeiro janvier gennaio январь января январе ژانویه
    february februar febrero fevereiro février febbraio февраль февраля феврале فوریه
    marzo märz março март марта марте مارس
    april abril avril aprile апрель апреля апреле آوریل
    mayo maio maggio май мая мае
    june juni junio junho juin giugno июнь июня июне ژوئن جون
    july juli julio julho juillet luglio июль июля июле ژوئیه جولای
    august agosto août август августа августе آگوست اوت
    september septiembre setiembre setembro septembre settembre сентябрь сентября сентябре سپتامبر
    october oktober octubre outubro octobre ottobre октябрь октября октябре اکتبر
    november noviembre novembro novembre ноябрь ноября ноябре نوامبر
    december dezember diciembre dezembro décembre dicembre декабрь декабря декабре دسامبر
"""
_SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = """
    monday mondays montag lunes lundi lunedì segundafeira понедельник понедельника دوشنبه
    tuesday tuesdays dienstag martes mardi martedì terçafeira вторник вторника سه‌شنبه
    wednesday wednesdays mittwoch miércoles mercredi mercoledì quartafeira среда среду среды چهارشنبه
    thursday thursdays donnerstag jueves jeudi giovedì quintafeira четверг четверга پنج‌شنبه
    friday fridays freitag viernes vendredi venerdì sextafeira пятница пятницу пятницы جمعه
    saturday saturdays samstag sonnabend sábado samedi sabato суббота субботу субботы شنبه
    sunday sundays sonntag domingo dimanche domenica воскресенье воскресенья یکشنبه
"""
_SHORT_WEEKDAYS = "segunda terça quarta quinta sexta"
_SEASONS = """
    springtime весной
    summertime летом
    autumntime осенью
    wintertime зимой
"""
_AMBIGUOUS_SEASONS = """
    spring printemps primavera frühling frühjahr весна весну بهار
    summer sommer verano verão été estate лето تابستان
    autumn fall herbst otoño outono automne autunno осень پاییز
    winter invierno inverno hiver зима зиму زمستان
"""
"""Seasons that need a preposition, "this", "last" or a year: a poem about autumn names no time."""
_UNITS = """
    hour hours stunde stunden hora horas heure heures ora ore час часа часов ساعت
    day days night nights morning afternoon evening tag tage tagen nacht día días noche noches dia dias noite noites jour jours nuit giorno giorni notte день дня дней ночь ночью روز شب
    week weeks woche wochen semana semanas semaine semaines settimana settimane неделя неделю недели неделе недель هفته
    month months monat monate monaten mes meses mês mois mese mesi месяц месяца месяцев месяце ماه
    year years jahr jahre jahren año años ano anos an ans année années anno anni год года году лет سال
    weekend weekends wochenende findesemana выходные выходных
"""
_NUMBERS = """
    a an one ein eine einem einer einen un una uno um uma une один одну одна یک
    two couple zwei dos dois duas deux due два две пару пара دو
    three few drei tres três trois tre три سه
    four vier cuatro quatro quatre quattro четыре چهار
    five fünf cinco cinq cinque пять پنج
    six sechs seis sei шесть شش
    seven sieben siete sete sept sette семь هفت
    eight acht ocho oito huit otto восемь هشت
    nine neun nueve nove neuf девять
    ten zehn diez dez dix dieci десять ده
    eleven elf once onze undici одиннадцать یازده
    twelve zwölf doce doze douze dodici двенадцать دوازده
"""
_OTHERS = {
    (
        "L",
        0,
    ): """last past previous letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen
        vergangenes pasado pasada pasados pasadas último última últimos últimas passado passada passados passadas
        dernier dernière derniers dernières scorso scorsa ultimo ultima прошлый прошлая прошлое прошлой прошлую
        прошлом прошлого прошлым прошлых прошлые گذشته قبل""",
    (
        "T",
        0,
    ): """this diese diesen dieses dieser esta este ce cet cette questo questa этот этой этом этого эти этим این""",
    (
        "N",
        0,
    ): """next every each coming nächste nächsten nächstes nächster jeden jede jedes próximo próxima cada
        prochain prochaine chaque prossimo prossima ogni следующий следующей следующую следующем каждый каждую
        каждое будущей آینده بعد هر""",
    ("A", 0): "ago назад atrás fa پیش",
    ("A", 1): "earlier back",
    ("B", 0): "hace vor há faz ilya",
    (
        "P",
        0,
    ): """in on during of from until till by early mid late de del do da en im am seit von vom em no na dès
        depuis di nel nell a à в во на с со до после در از""",
    ("P", SINCE): "since seit desde depuis",
    ("Y", 0): "today heute hoy hoje aujourd oggi сегодня امروز",
    ("Y", -1): "yesterday gestern ayer anoche ontem ieri вчера دیروز دیشب",
    ("Y", -2): "ereyesterday vorgestern anteayer anteontem antier позавчера پریروز",
    ("Z", 0): "امسال",
    ("Z", -1): "پارسال",
    ("F", 0): """tomorrow tonight morgen mañana amanhã demain domani завтра послезавтра فردا امشب recently
        neulich recientemente recentemente récemment недавно""",
    ("X", 0): "the th st nd rd er el la le il lo den dem",
}
"""Other words by kind.

L last, T this, N next, A ago (after the number), B ago (before the number), P preposition, Y day, Z year, F future or
vague, X ignored. Other tables: M month, m month that needs a preposition, a month that needs a number, W and w
weekday, S and s season, U unit, I number word.
"""

Meaning = tuple[str, int]


@cache
def time_words() -> dict[str, Meaning]:
    """Return the kind (a letter) and value of each word, casefolded and without accents."""
    words: dict[str, Meaning] = {}
    for kind, table, first in (
        ("M", _MONTHS, 1), ("W", _WEEKDAYS, 0), ("S", _SEASONS, 0), ("s", _AMBIGUOUS_SEASONS, 0), ("U", _UNITS, 0), ("I", _NUMBERS, 1)
    ):  # fmt: skip
        for value, line in enumerate(table.strip().split("\n"), first):
            words |= dict.fromkeys(line.split(), (kind, value))
    words |= {word: ("a", value) for value, word in enumerate(_SHORT_MONTHS.split(), 1)}
    words |= {word: ("w", value) for value, word in enumerate(_SHORT_WEEKDAYS.split())}
    words["sept"] = ("a", 9)
    words |= dict.fromkeys(("may", "mai", "می", "مه"), ("m", 5)) | dict.fromkeys(("march", "mars"), ("m", 3))
    for meaning, others in _OTHERS.items():
        words |= dict.fromkeys(others.split(), meaning)
    return {unaccented(word): meaning for word, meaning in words.items()}


_WORD = re.compile(rf"\d{{1,4}}(?!\d)|[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\bday before yesterday\b", "ereyesterday"),
        (r"\bfin de semana\b|\bfim de semana\b|\bfine settimana\b|\bweek-end\b|آخر هفته", "weekend"),
        (r"\b(segunda|ter[cç]a|quarta|quinta|sexta)[- ]feira\b", r"\1feira"),
        (r"\bil y a\b", "ilya"),
        (r"\b(یک|دو|سه|چهار|پنج) شنبه", r"\1شنبه"),
    )
)


def time_meanings(text: str) -> list[Meaning]:
    """Return the meaning of each word of a normal text, in order: "x" for no time, "D" and its value for a number."""
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    lexicon = time_words()
    meanings: list[Meaning] = []
    for word in _WORD.findall(text):
        if word.isdecimal():
            meanings.append(("D", int(word)))
        else:
            meanings.append(lexicon.get(unaccented(word.casefold()), ("x", 0)))
    return [meaning for meaning in meanings if meaning[0] != "X"]
