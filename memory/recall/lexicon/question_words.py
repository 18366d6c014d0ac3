"""Words of questions and words for "I" and "we": patterns by language or script."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

QUESTION_WORDS: dict[str, dict[str, str]] = {
    "english": {
        "when": "when|how long|how recently|(?:what|which) (?:date|day|month|year|time|week|weekend)",
        "other": "who|whom|whose|where|how (?:many|much|often)|number of",
        "name": "where|who|which|name|called|city|country|state|place",
        "self": "i|i'm|im|i've|ive|i'd|i'll|my|me|mine|myself",
        "we": "we|our|us|we're|we've",
    },
    "spanish": {
        "when": "cu[aá]ndo|cu[aá]nto tiempo|qu[eé] (?:d[ií]a|fecha|mes|año|hora|semana)|hace cu[aá]nto",
        "other": "qui[eé]n(?:es)?|(?:a|de)?d[oó]nde|cu[aá]nt[oa]s?",
        "name": "(?:a|de)?d[oó]nde|qui[eé]n(?:es)?|cu[aá]l(?:es)?|nombres?|llam[aoó]\\w*|ciudad|país|lugar|sitio",
        "self": "yo|mis?|mí|me|conmigo|m[ií][oa]s?|soy|estoy|tengo|voy|fui|quiero|puedo|debo|hice|tuve|estuve|puse",
        "we": "nos|nosotr[oa]s|nuestr[oa]s?|somos|fuimos|tenemos|hicimos",
    },
    "german": {
        "when": "wann|wie lange|welche[mnrs]? (?:tag|datum|monat|jahr|woche|wochenende)|wie ?viel uhr",
        "other": "wer|wen|wem|wessen|wo|wohin|woher|wie ?viele?|wie oft",
        "name": "wo|wohin|woher|wer|welche[mnrs]?|namen?|hei(?:ß|ss)\\w*|stadt|land|ort",
        "self": "ich|mich|mir|mein(?:e[mnrs]?)?",
        "we": "wir|uns|unser(?:e[mnrs]?)?",
    },
    "portuguese": {
        "when": "quando|quanto tempo|que (?:dia|m[eê]s|ano|hora|data|semana)|qual (?:dia|data)",
        "other": "quem|a?onde|quant[oa]s?",
        "name": "a?onde|quem|qua(?:l|is)|nomes?|cham[ao]\\w*|cidade|país|lugar",
        "self": "eu|me|mim|comigo|meus?|minhas?|sou|estou|tenho|vou|fui|quero|posso|fiz|tive|estive",
        "we": "nós|nos|noss[oa]s?|a gente|somos|fomos|temos",
    },
    "french": {
        "when": "quand|combien de temps|quel (?:jour|mois)|quelle (?:date|année|heure|semaine)",
        "other": "qui|où|combien",
        "name": "où|qui|quelle?s?|nom|appel\\w*|ville|pays|endroit|lieu",
        "self": "je|j|moi|me|m|mon|ma|mes|mien(?:ne)?s?",
        "we": "nous|notre|nos",
    },
    "italian": {
        "when": "quando|quanto tempo|che (?:giorno|ora|mese|anno)|quale (?:giorno|mese|anno)",
        "other": "chi|dove|dov|quant[oaie]",
        "name": "dov\\w?|chi|qual[ei]?|nom[ei]|chiam\\w*|città|paese|posto",
        "self": "io|mi|me|mio|mia|mie|miei|ho|sono|voglio|posso",
        "we": "noi|ci|nostr[oaie]|abbiamo|siamo",
    },
    "dutch": {
        "when": "wanneer|hoe lang|welke? (?:dag|datum|maand|jaar|week)|hoe laat",
        "other": "wie|wiens|waar|waarheen|hoeveel|hoe vaak",
        "name": "waar|wie|welke?|naam|heet\\w*|stad|land|plaats",
        "self": "ik|me|mij|mijne?",
        "we": "we|wij|ons|onze",
    },
    "swedish": {
        "when": "när|hur länge|vilke[nt] (?:dag|månad|vecka)|vilket (?:datum|år)",
        "other": "vem|vems|var|vart|hur (?:många|mycket|ofta)",
        "name": "var|vem|vilke[nt]|vilka|namn|heter|stad|land|plats",
        "self": "jag|mig|min|mitt|mina",
        "we": "vi|oss|vår|vårt|våra",
    },
    "polish": {
        "when": "kiedy|jak długo|jaki (?:dzień|miesiąc|rok)|o której",
        "other": "kto|kogo|komu|kim|czyj[ae]?|gdzie|dokąd|skąd|ile|ilu",
        "name": "gdzie|dokąd|kto|który|która|które|nazw\\w+|imię|miast\\w+|kraj\\w*",
        "self": "ja|mnie|mi|mną|mój|moja|moje|mojego|mojej|moich|jestem|mam",
        "we": "my|nas|nam|nami|nasz\\w*|jesteśmy|mamy",
    },
    "turkish": {
        "when": "ne zaman|hangi (?:gün|ay|yıl|tarih|saat)\\w*|saat kaç\\w*|ne kadar süre\\w*",
        "other": "kim|kimi|kime|kimin|kimle|nere\\w+|kaç|ne kadar",
        "name": "nere\\w+|kim\\w*|hangi|ad[ıi]|ismi|şehir\\w*|ülke\\w*",
        "self": "ben|beni|bana|benim|bende|benden",
        "we": "biz|bizi|bize|bizim",
    },
    "russian": {
        "when": "когда|как (?:давно|долго)|какого числа|в как(?:ом|ой) (?:году|месяце|день)|во сколько|сколько времени",
        "other": "кто|кого|кому|кем|ком|чей|чья|чь[её]|чьи|где|куда|откуда|сколько|скольк\\w+",
        "name": "где|куда|откуда|кто|как\\w{2,3}|зовут|называ\\w+|назва\\w+|имя|город\\w*|стран\\w+|мест[оеа]",
        "self": "я|меня|мне|мной|мною|мо[йяёею]|мои|моих|моим|моими|моего|моей|моему",
        "we": "мы|нас|нам|нами|наш\\w{0,3}",
    },
    "ukrainian": {
        "when": "коли|як (?:давно|довго)|якого числа|о котрій|в якому (?:році|місяці)",
        "other": "хто|кого|кому|ким|чий|чия|чиє|де|куди|звідки|скільки",
        "name": "де|куди|звідки|хто|як\\w{1,3}|звати|назив\\w+|назв\\w+|міст\\w+|країн\\w+",
        "self": "я|мене|мені|мною|мій|моя|моє|мої|моєї|мого|моєму",
        "we": "ми|нас|нам|нами|наш\\w{0,3}",
    },
    "arabic": {
        "when": "متى|كم (?:مدة|الوقت)|أي (?:يوم|تاريخ|شهر|سنة)",
        "other": "من|أين|اين|وين|كم",
        "name": "أين|اين|وين|من|أي|اسم\\w*|مدينة|بلد|مكان",
        "self": "أنا|انا|لي|عندي|معي|مني",
        "we": "نحن|لنا|عندنا|معنا",
    },
    "persian": {
        "when": "چه (?:زمانی|وقت|وقتی|تاریخی|روزی|سالی|ماهی|ساعتی)|چند وقت|کی|کیه",
        "other": "کی|کیه|کیا|چه کسی|چه کسانی|مال کی|کجا|کجاست|کجاس|کجان|چند|چندتا|چقدر|چه قدر",
        "name": "کجا\\w*|کی|کیه|کدام|کدوم|اسم\\w*|نام\\w*|شهر|کشور|جا",
        "self": "من|منو|منم|برام|بهم|خودم|ازم",
        "we": "ما|مون|خودمون|برامون",
    },
    "hindi": {
        "when": "कब|कितने बजे|किस (?:दिन|महीने|साल)|कितने दिन",
        "other": "कौन|किसने|किसे|किसका|किसकी|किसके|कहाँ|कहां|किधर|कितना|कितनी|कितने",
        "name": "कहाँ|कहां|कौन|नाम|शहर|देश|जगह",
        "self": "मैं|मैंने|मुझे|मुझको|मेरा|मेरी|मेरे",
        "we": "हम|हमने|हमें|हमारा|हमारी|हमारे",
    },
    "greek": {
        "when": "πότε|πόσ(?:ο|η) (?:καιρό|ώρα)|ποια (?:μέρα|ημερομηνία)",
        "other": "ποιος|ποια|ποιον|ποιανού|πού|που|πόσ(?:ο|α|ες|οι|ους)",
        "name": "πού|ποιος|ποια|όνομα|λένε|πόλη|χώρα|μέρος",
        "self": "εγώ|εμένα|μου|με",
        "we": "εμείς|εμάς|μας",
    },
    "hebrew": {
        "when": "מתי|כמה זמן|באיזה (?:יום|חודש|תאריך)|באיזו שנה",
        "other": "מי|למי|את מי|איפה|לאן|מאיפה|כמה",
        "name": "איפה|לאן|מי|איזה|איזו|שם|עיר|מדינה",
        "self": "אני|שלי|לי|אותי|איתי",
        "we": "אנחנו|שלנו|לנו",
    },
    "han": {
        "when": "什么时候|何时|几时|哪[一]?[天年]|哪个月|几[月号点]|多久|星期几|周几|いつ|何[日月年時]",
        "other": "谁|誰|だれ|哪位|哪里|哪儿|什么地方|何处|哪个(?:城市|国家)|どこ|多少|几[个次只本天年岁]|いくつ|いくら|何[人回個本匹]",
        "name": "哪里|哪儿|什么地方|谁|誰|哪[个家本]|名字|叫什么|城市|国家|どこ|名前",
        "self": "我(?!们)|私|僕|俺|わたし",
        "we": "我们|咱|私たち",
    },
    "hangul": {
        "when": "언제|며칠|몇 ?[월년시]|얼마나 오래",
        "other": "누구|누가|어디|몇|얼마",
        "name": "어디|누구|누가|이름|도시|나라",
        "self": "(?<![가-힣])(?:나|내|저|제)(?=는|가|를|의|도|한테|[^가-힣]|$)",
        "we": "우리",
    },
    "continuous": {
        "when": "เมื่อไหร่|เมื่อไร|วันไหน|กี่โมง|นานเท่าไหร่",
        "other": "ใคร|ที่ไหน|ไหน|กี่|เท่าไหร่|เท่าไร",
        "name": "ที่ไหน|ใคร|ชื่อ|เมือง|ประเทศ",
        "self": "ฉัน|ผม|ดิฉัน|หนู",
        "we": "เรา",
    },
}
"""Patterns by Snowball's name of the language, or by script if we tell no languages apart. They match casefolded
text.
"""

UNSPACED_SCRIPTS = frozenset(["han", "hangul", "continuous"])

NOT_ABOUT_ASKER = (
    r"\b(?:tell|told|remind|show|give|send|let|help|ask|email) me\b|\b(?:i|we) (?:wonder|guess|think|thought|forgot|forget|believe|"
    r"mean|was wondering|want to know|need to know|'?d like to know|don'?t (?:know|remember|recall)|can'?t (?:remember|recall))\b|"
    r"\b(?:can|could|may|should) i (?:ask|know)\b|\bdo i know\b|\bexcuse me\b|"
    r"\b(?:dime|recu[eé]rdame)\b|\bme (?:puedes|podr[ií]as|dices|recuerdas|cuentas)\b|\b(?:sag|erinnere?|zeig|gib) mir\b|"
    r"\bkannst du mir\b|\b(?:скажи|напомни|подскажи|покажи|расскажи|дай|ответь) мне\b|\bмне (?:скажи|напомни|подскажи|интересно)\b|"
    r"\bя (?:забыла?|не помню|думаю|хочу знать)\b|\bme (?:diz|diga|lembra|conta|fala)\b|به من بگو|یادم (?:بنداز|بیار)|告诉我|提醒我|我想知道|我忘了"
)
"""Phrases with "I" or "me" that are addressed to the listener and are not about the asker."""

REQUESTS = (
    r"^\W*(?:(?:please|pls|hey|ok|so|now|then|and|bitte|por favor|пожалуйста|请)\W+)*(?:"
    r"(?:recommend|suggest|advise|tell|give|show|explain|write|find|list|translate|name|describe|help)\b"
    r"|(?:recomi[eé]nda|sugi[eé]re|aconseja|acons[eé]ja|expl[ií]ca)(?:me|nos)?\b|(?:dime|dame|mu[eé]strame|escribe|busca)\b"
    r"|(?:empfiehl|empfehle?|sage?|gib|zeige?|erkläre?|schreibe?|nenne?|suche?|erzähle?)\b"
    r"|(?:me )?(?:recomend[ae]|sugere|sugira|diz|diga|explique|escreva)\b"
    r"|(?:recommande|conseille|propose|dis|donne|explique|écris)\b|(?:consigliami|suggeriscimi|dimmi|dammi|spiegami)\b"
    r"|(?:посоветуй|порекомендуй|подскажи|предложи|скажи|расскажи|объясни|напиши|найди|покажи|назови|дай)(?:те)?\b"
    r"|(?:帮我|给我|你)?(?:推荐|介绍|告诉我|建议|解释|写|找))"
    r"|(?:معرفی|پیشنهاد|پیدا) کن|(?:پیشنهاد|توضیح) بده|\b(?:بگو|بنویس)\b"
)
"""Requests without a question mark, in lower case."""
