"""Small talk: what people say to be polite, to agree and to go on. It asks for no memory."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re

from memory.recall.lexicon.asking_words import UNSPACED_SCRIPTS
from memory.recall.lexicon.languages import stop_words
from memory.recall.lexicon.scripts import script_of
from memory.recall.lexicon.stop_words import UNSPACED_PHRASES
from memory.recall.lexicon.terms import read_words

_PHRASES = re.compile(
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
_WORDS = """
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
_COURTEOUS = frozenset(_WORDS.split())
_UNSPACED = re.compile(
    "谢谢|多谢|感谢|你好|您好|大家好|早上好|早安|晚上好|晚安|再见|拜拜|好的|好吧|好啊|好|行|没问题|没事|没关系|对不起|不好意思|抱歉|哈+|嘿+|呵+|是的|"
    "对|不是|不用|明白|知道|了解|收到|同意|继续|等等|等一下|停|恭喜|生日快乐|新年快乐|加油|真的|真|不错|太|棒|厉害|明天见|ありがとう|ございます|こんにちは|"
    "こんばんは|おはよう|おやすみ|なさい|さようなら|はい|いいえ|うん|すみません|ごめん|わかりました|笑|おめでとう|감사합니다|감사|고마워요?|안녕|하세요|네|"
    "아니요?|좋아요?|ㅋ+|ㅎ+|미안해?요?|ขอบคุณ|สวัสดี|ครับ|ค่ะ|คะ|โอเค|[我你您他她它们的了吗呢吧啊呀哦嗯是很也就那不ねよ]"
)


def is_small_talk(masked: str) -> bool:
    """Whether a normal text without names has only words of courtesy and stop words, or no letter or digit at all."""
    words = read_words(_PHRASES.sub(" ", masked.lower()))
    return all(
        kind == "emoji" or (kind == "word" and _is_courteous(piece, words.languages[script_of(piece)]))
        for kind, piece in words.pieces
    )


def _is_courteous(piece: str, languages: tuple[str, ...]) -> bool:
    if script_of(piece) in UNSPACED_SCRIPTS:
        piece = _UNSPACED.sub(" ", piece)
        for phrase in UNSPACED_PHRASES:
            piece = piece.replace(phrase, " ")
        return _UNSPACED.sub("", piece).strip() == ""
    known = _COURTEOUS.union(*(stop_words(language) for language in languages))
    return piece in known or all(part in known for part in piece.split("'"))
