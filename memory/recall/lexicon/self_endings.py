"""Verbs and nouns that say "I" or "my" by their endings alone, in languages that leave the pronoun out."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections.abc import Collection

_ENDINGS = {
    "spanish": r"\w{2,}[éí]",
    "portuguese": r"\w{2,}ei",
    "polish": r"\w{2,}ł[ea]m",
    "turkish": r"\w{2,}(?:[dt][ıiuü]m|yorum)",
    "russian": r"\w{2,}[ая]ю|живу|люблю|хочу|могу|хожу|учу|учусь|иду|еду|вижу|буду|веду|ищу|пишу|сплю|пью|ем|куплю|лечу",
    "persian": r"\w{2,}[^\Wیه\d]م",
}
_PATTERNS = {language: re.compile(rf"(?<!\w)(?:{word})(?!\w)") for language, word in _ENDINGS.items()}
_SO_ENDED = """café también así aquí allí ahí qué porqué bebé josé andré rené colibrí jabalí rubí esquí lei rei стаю чаю краю
    اسلام چهارم پنجم ششم هفتم هشتم دهم خانم آدم مردم تصمیم قدیم مریم کدام کدوم انجام تمام مقام سلام پیام شام بام وام دوم سوم
    فیلم علم قلم رقم شکم چشم خشم رحم جرم حرم کرم گرم نرم موم غم کم تیم سیم نیم بیم اسم رسم جسم قسم دائم لازم عالم سالم ظالم
    محکم مهم متهم هجوم علوم معلوم مرحوم ابریشم گندم هنگام اقدام احترام استخدام اعلام نظام امام حمام بادام آرام مدام کلام
"""
_SAYS_NOTHING = frozenset(_SO_ENDED.split())
"""Words that end so and say nothing of the kind."""


def speaks_of_oneself(text: str, languages: Collection[str]) -> bool:
    """Whether a text in lower case has a word that says "I" or "my" by its ending: Spanish "compré", Persian "سگم"."""
    joined = text.replace("\u200c", "")
    return any(
        match.group() not in _SAYS_NOTHING
        for language in languages
        if language in _PATTERNS
        for match in _PATTERNS[language].finditer(joined)
    )
