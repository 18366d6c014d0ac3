"""Signs of messages and questions, such as "ends with a question mark".

The index stores them and the ranker weighs them.
"""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections.abc import Collection
from functools import cache
from itertools import pairwise

from memory.recall.lexicon.dates import has_chinese_time
from memory.recall.lexicon.languages import stop_words
from memory.recall.lexicon.question_words import NOT_ABOUT_ASKER, QUESTION_WORDS, REQUESTS, UNSPACED_SCRIPTS
from memory.recall.lexicon.scripts import script_of
from memory.recall.lexicon.stop_words import UNSPACED_PHRASES
from memory.recall.lexicon.terms import tokenize
from memory.recall.lexicon.time_words import SINCE, WEEKEND, YEARS, Meaning, time_meanings

QUESTION, ASKS, FIRST_PERSON, TIME, NAME = "question", "asks", "first_person", "time", "name"
"""Signs of a message.

QUESTION: it ends with a question mark. ASKS: it contains one, or a request. FIRST_PERSON: it is about the writer
("I", "our"). TIME: it names a time ("yesterday", "in May"). NAME: it has a capitalised word inside a sentence.
"""
WHEN, SMALL_TALK, BARE = "when", "small_talk", "bare"
"""Signs of a question.

WHEN: it asks for a time. SMALL_TALK: it needs no memory. BARE: it has search words only ("bike lock?"). NAME: it asks
for a name (where, who, which, called …).
"""
OTHER, SELF, WE = "other", "self", "we"
"""More kinds of words (question_words.py): other questions (who, where, how many), and words for "I" and "we"."""
_QUESTION_MARKS = "?？؟"
_AFTER_A_QUESTION = " \t\n\r\"'”»)!！"
_QUESTION_ENDINGS = ("吗", "呢", "吗。", "呢。", "ですか", "ますか", "ですか。", "ますか。")
_LOWER = "a-zß-öø-ÿа-яёіїєґ"
_NAME_WITHIN = re.compile(rf"(?<=[{_LOWER},;'\"”] )[\"“«]?[A-ZÀ-ÖØ-ÞА-ЯЁІЇЄҐ]\w+")
_TIME = re.compile("[YFZWM]|L[UmwSs]|[USsw]L|[NT][USs]|UA|P[ms]|Dm|mD")
_FEW = 3
_NOT_ABOUT_ASKER = re.compile(NOT_ABOUT_ASKER)
_REQUEST = re.compile(REQUESTS)


def message_signs(text: str, languages: Collection[str]) -> frozenset[str]:
    """Return the signs of a normal text that is a message in these languages (Snowball's names, or scripts)."""
    meanings = time_meanings(text)
    signs = {
        ASKS: any(mark in text for mark in _QUESTION_MARKS) or _REQUEST.search(text.lower()) is not None,
        QUESTION: text.rstrip(_AFTER_A_QUESTION).endswith((*_QUESTION_MARKS, *_QUESTION_ENDINGS)),
        NAME: _NAME_WITHIN.search(text) is not None,
        TIME: _has_time(meanings) or has_chinese_time(text),
        FIRST_PERSON: _is_about_writer(text, languages),
    }
    return frozenset(sign for sign, holds in signs.items() if holds)


def question_signs(text: str, languages: Collection[str]) -> frozenset[str]:
    """Return the signs of a normal text that is a question in these languages (Snowball's names, or scripts)."""
    return frozenset(sign for sign in (WHEN, NAME) if _has_words(text, languages, sign))


def is_memory_question(
    text: str, languages: Collection[str], *, has_content: bool, names_somebody: bool
) -> bool:
    """Return True if a normal text asks about the past and is no small talk.

    "Who is happy?", "where is Anna?" and "what did we agree on?" do. "Where?", "sorry, Anna!" and "I agree" do not.
    `has_content`: it has words that are no stop words. `names_somebody`: it mentions a participant, or the asker.
    """
    if has_question_word(text, languages):
        return has_content or names_somebody
    is_about_people = names_somebody or _is_about_writer(blank_requests(text), languages)
    return has_content and is_about_people and any(mark in text for mark in _QUESTION_MARKS)


def has_question_word(text: str, languages: Collection[str]) -> bool:
    """Return True if a normal text has a word such as when, who, where, which, how many."""
    return _has_words(text, languages, WHEN, NAME, OTHER)


def blank_requests(text: str) -> str:
    """Return a question in lower case, with "tell me" and the like replaced by spaces."""
    return _NOT_ABOUT_ASKER.sub(lambda match: " " * len(match.group()), text.lower())


def find_self_words(text: str, languages: Collection[str]) -> list[int]:
    """Return the places of words for "I" and "my" in a text in lower case."""
    patterns = [_pattern(language, SELF) for language in languages]
    return [match.start() for pattern in patterns if pattern for match in pattern.finditer(text)]


def _is_about_writer(text: str, languages: Collection[str]) -> bool:
    return _has_words(text, languages, SELF, WE) or has_self_ending(text.lower(), languages)


def _has_words(text: str, languages: Collection[str], *kinds: str) -> bool:
    """Return True if a text has words of these kinds (see question_words.py) in one of these languages."""
    lower = text.lower()
    patterns = [_pattern(language, kind) for language in languages for kind in kinds]
    return any(pattern.search(lower) for pattern in patterns if pattern)


@cache
def _pattern(language: str, kind: str) -> re.Pattern[str] | None:
    words = QUESTION_WORDS.get(language, {}).get(kind)
    if words is None:
        return None
    return re.compile(words if language in UNSPACED_SCRIPTS else rf"(?<![\w'])(?:{words})(?!\w)")


def _has_time(meanings: list[Meaning]) -> bool:
    """Return True if the words of a text (see time_words.py) say when something happens."""
    if _TIME.search("".join(kind for kind, _ in meanings)):
        return True
    few = any(
        kind == "I" and value == _FEW and after[0] == "U" for (kind, value), after in pairwise(meanings)
    )
    return few or any(
        meaning in (("U", WEEKEND), ("P", SINCE), ("A", 0)) or (meaning[0] == "D" and meaning[1] in YEARS)
        for meaning in meanings
    )


_ENDINGS_BY_LANGUAGE = {
    "spanish": r"\w{2,}[éí]",
    "portuguese": r"\w{2,}ei",
    "polish": r"\w{2,}ł[ea]m",
    "turkish": r"\w{2,}(?:[dt][ıiuü]m|yorum)",
    "russian": r"\w{2,}[ая]ю|живу|люблю|хочу|могу|хожу|учу|учусь|иду|еду|вижу|буду|веду|ищу|пишу|сплю|пью|ем|куплю|лечу",
    "persian": r"\w{2,}[^\Wیه\d]م",
}
_SELF_ENDINGS = {
    language: re.compile(rf"(?<!\w)(?:{word})(?!\w)") for language, word in _ENDINGS_BY_LANGUAGE.items()
}
_OTHER_WORDS = """café también así aquí allí ahí qué porqué bebé josé andré rené colibrí jabalí rubí esquí lei rei стаю чаю краю
    اسلام چهارم پنجم ششم هفتم هشتم دهم خانم آدم مردم تصمیم قدیم مریم کدام کدوم انجام تمام مقام سلام پیام شام بام وام دوم سوم
    فیلم علم قلم رقم شکم چشم خشم رحم جرم حرم کرم گرم نرم موم غم کم تیم سیم نیم بیم اسم رسم جسم قسم دائم لازم عالم سالم ظالم
    محکم مهم متهم هجوم علوم معلوم مرحوم ابریشم گندم هنگام اقدام احترام استخدام اعلام نظام امام حمام بادام آرام مدام کلام
"""
_NO_SELF_ENDINGS = frozenset(_OTHER_WORDS.split())
"""Words with such an ending that mean neither "I" nor "my"."""


def has_self_ending(text: str, languages: Collection[str]) -> bool:
    """Return True if a word of a text in lower case means "I" or "my" by its ending: Spanish "compré", Persian "سگم"."""
    joined = text.replace("\u200c", "")
    return any(
        match.group() not in _NO_SELF_ENDINGS
        for language in languages
        if language in _SELF_ENDINGS
        for match in _SELF_ENDINGS[language].finditer(joined)
    )


_COURTEOUS_PHRASES = re.compile(
    r"\b(?:good|great|nice|well|awesome|amazing|cool|what an?(?: \w+)?) (?:jobs?|idea|point|work|news|question|time)\b"
    r"|\b(?:tell|say) (?:me |us )?(?:a|another) (?:joke|story)\b|\bhappy (?:birthday|new year|easter|holidays)\b"
    r"|\bmerry christmas\b|\b(?:what(?:'s| is)|how(?:'s| is)) the (?:time|weather)(?: like)?\b|\bwhat time is it\b"
    r"|\bhave a \w+ (?:day|night|weekend|time)\b|\b(?:one|a|just a) (?:moment|second|minute|sec)\b|\bhow(?:'s| is) it going\b"
    r"|\bno (?:problem|worries)\b|\bi (?:really |totally |fully |quite )?agree\b|^\W*agreed\W*$"
    r"|\bwhat(?:'s| is) up\b|\bguten? (?:tag|morgen|abend|nacht)\b|\bbuen[oa]s? (?:d[ií]as?|tardes|noches)\b"
    r"|\bbo[am] (?:dia|tarde|noite)\b|\bfeliz (?:cumplea[ñn]os|anivers[áa]rio|año nuevo|navidad)\b|\bbuona? ?(?:giorno|sera|notte)\b"
    r"|\bдобр(?:ый|ое|ой|ого) (?:день|дня|утро|утра|вечер|ночи|времени суток)\b|\bс (?:добрым утром|дн[её]м рождения|новым годом)\b"
    r"|\btut mir (?:echt |sehr )?leid\b|\b(?:ich )?weiß (?:ich|nicht)\b|\bich weiß\b|\bestoy de acuerdo\b|\blo siento\b|\b(?:ya )?lo sé\b"
    r"|\bя (?:знаю|не знаю)\b|\bкак дела\b|\bспокойной ночи\b|\bхорошая (?:идея|работа)\b|\bdzień dobry\b|\bwie geht(?:'s| es dir)?\b"
    r"|(?:صبح|شب|روز|عصر) ?(?:بخیر|به خیر)|تولدت مبارک|शुभ (?:प्रभात|रात्रि)"
)
_COURTEOUS_WORDS = """
    hi hello hey hiya there good morning afternoon evening night thanks thank thx ty cheers ok okay k kk see ya tomorrow
    later soon bye goodbye lol lmao rofl xd haha hahaha hehe yes no yep yup nope yeah nah sure maybe nice cool great
    awesome amazing wonderful perfect excellent brilliant sounds please pls continue go going gonna really know think
    guess true funny sorry welcome congrats congratulations happy wait stop brb never mind
    nevermind done start begin let lets today now repeat again talk say said one right fine well back much lot hmm hm uh
    um ah oh aha wow omg yay oops ouch ugh exactly indeed totally definitely absolutely understood gotcha alright anyway
    bravo everyone everybody guys folks remember
    vale claro genial perfecto bien muy muchas gracias hola adiós adios chao chau luego mañana perdón perdon disculpa siento
    nada jaja jajaja sigue continúa espera listo exacto bueno buena felicidades enhorabuena entendido quizás
    danke bitte gut super toll klar genau tschüss tschüs ciao servus moin entschuldigung weiter warte fertig prima
    perfekt stimmt vielleicht glückwunsch verstanden einverstanden gerne gern sehr schön schon
    obrigado obrigada valeu beleza legal ótimo otimo tchau desculpa desculpe certo talvez parabéns kkk kkkk rsrs entendi
    merci bien parfait génial accord désolé désolée pardon voilà bonsoir bonjour salut revoir demain exactement
    grazie prego bene benissimo perfetto scusa esatto forse arrivederci
    bedankt goed leuk dag doei mooi precies misschien hej tack bra
    dzięki dobrze pewnie przepraszam dokładnie może cześć
    tamam teşekkürler sağol güzel harika evet hayır merhaba
    спасибо спс пожалуйста пж ок окей хорошо ладно понятно понял поняла ясно привет здравствуй здравствуйте пока хай да
    нет угу ага неа классно круто супер отлично прекрасно молодец прости простите извини извините продолжай дальше стоп
    подожди точно верно согласен согласна возможно может поздравляю ахах ахаха хаха лол ого ура конечно давай завтра думаешь помнишь
    дякую добре привіт так ні гаразд чудово вибач
    سلام مرسی ممنون ممنونم متشکرم تشکر باشه اوکی خوبه خوب عالی عالیه خداحافظ فعلا بای ببخشید بله آره نه حتما دقیقا مبارک تبریک
    می‌دونم میدونم موافقم ادامه بده صبر خوبی چطوری دمت گرم
    شكرا مرحبا أهلا اهلا نعم حسنا طيب تمام ممتاز جيد عفوا آسف اسف السلام عليكم وعليكم مبروك
    धन्यवाद शुक्रिया नमस्ते ठीक अच्छा हाँ हां बढ़िया
    γεια ευχαριστώ ναι όχι εντάξει καλημέρα καληνύχτα ωραία תודה שלום כן לא בסדר מעולה ביי
"""
_COURTEOUS_TERMS = frozenset(_COURTEOUS_WORDS.split())
_COURTEOUS_UNSPACED = re.compile(
    "谢谢|多谢|感谢|你好|您好|大家好|早上好|早安|晚上好|晚安|再见|拜拜|好的|好吧|好啊|好|行|没问题|没事|没关系|对不起|不好意思|抱歉|哈+|嘿+|呵+|是的|"
    "对|不是|不用|明白|知道|了解|收到|同意|继续|等等|等一下|停|恭喜|生日快乐|新年快乐|加油|真的|真|不错|太|棒|厉害|明天见|ありがとう|ございます|こんにちは|"
    "こんばんは|おはよう|おやすみ|なさい|さようなら|はい|いいえ|うん|すみません|ごめん|わかりました|笑|おめでとう|감사합니다|감사|고마워요?|안녕|하세요|네|"
    "아니요?|좋아요?|ㅋ+|ㅎ+|미안해?요?|ขอบคุณ|สวัสดี|ครับ|ค่ะ|คะ|โอเค|[我你您他她它们的了吗呢吧啊呀哦嗯是很也就那不ねよ]"
)


def is_small_talk(masked: str) -> bool:
    """Return True if a normal text without names has only polite phrases and stop words, or no letters and digits."""
    words = tokenize(_COURTEOUS_PHRASES.sub(" ", masked.lower()))
    return all(
        kind == "emoji" or (kind == "word" and _is_courteous(piece, words.languages[script_of(piece)]))
        for kind, piece in words.pieces
    )


def _is_courteous(piece: str, languages: tuple[str, ...]) -> bool:
    if script_of(piece) in UNSPACED_SCRIPTS:
        piece = _COURTEOUS_UNSPACED.sub(" ", piece)
        for phrase in UNSPACED_PHRASES:
            piece = piece.replace(phrase, " ")
        return _COURTEOUS_UNSPACED.sub("", piece).strip() == ""
    polite = _COURTEOUS_TERMS.union(*(stop_words(language) for language in languages))
    return piece in polite or all(part in polite for part in piece.split("'"))
