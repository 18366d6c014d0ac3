"""Conversations with the offline model, line by line: right persons, corrections, languages, reminders, documents.

A line without an answer is told, and `CALL …` is a call of a tool.
"""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import json
import re
from typing import Any

import pytest

from simulator.offline_model.answer import best_sentence, quote
from simulator.offline_model.catch_up import write_points
from simulator.offline_model.prompt import is_question, sentences, unwrapped
from simulator.offline_model.reply import reply_to
from simulator.offline_model.words import Language, languages
from tests.unit.test_offline_facts import facts_in
from tests.unit.test_offline_model import TEXT, TOOLS, WITHOUT_SEARCH, tool

pytestmark = pytest.mark.slow

WITHOUT_ARTIFACTS = [each for each in WITHOUT_SEARCH if each["function"]["name"] != "read_artifact"]
UNKNOWN = "unknown"
"""The sentence of this name in the language of the question."""

ENGLISH = [
    ("my name is Olga", ""),
    ("what's my name?", "my name is Olga"),
    ("my sister Anna lives in Lisbon", ""),
    ("where do I live?", UNKNOWN),
    ("I live in Berlin and I work at Siemens", ""),
    ("where do I live?", "I live in Berlin and I work at Siemens"),
    ("what's my job?", "I live in Berlin and I work at Siemens"),
    ("where does my sister live?", "my sister Anna lives in Lisbon"),
    ("where does she live?", "my sister Anna lives in Lisbon"),
    ("where does my brother live?", UNKNOWN),
    ("Actually Anna moved to Porto in May", ""),
    ("where does anna live now?", "Actually Anna moved to Porto in May|my sister Anna lives in Lisbon"),
    ("My exam is on 12 May.", ""),
    ("no wait, it's on 14 May", ""),
    ("when is my exam?", "no wait, it's on 14 May|My exam is on 12 May."),
    ("I'm allergic to peanuts", ""),
    ("do I have any allergies?", "I'm allergic to peanuts"),
    ("my favourite food is pizza", ""),
    ("what is my favourite colour?", UNKNOWN),
    ("dentist on Friday at 3", ""),
    ("what do I have on Friday?", "dentist on Friday at 3"),
    ("Tom's bike is blue", ""),
    ("my bike is red", ""),
    ("what colour is my bike?", "my bike is red"),
    ("what colour is Tom's bike?", "Tom's bike is blue"),
    ("what is the capital of Peru?", UNKNOWN),
    ("tell me a joke", "cannot"),
    ("can you write a poem about Anna?", "cannot"),
    ("forget that I live in Berlin", "erase: I live in Berlin and I work at Siemens"),
    ("Forget my age please", "forgetting"),
    ("I turned 42 last week", ""),
    ("how old am I?", "I turned 42 last week"),
    ("I'm flying to Oslo on March 3", ""),
    ("Oops, March 5 it is", ""),
    ("when do I fly to Oslo?", "Oops, March 5 it is|I'm flying to Oslo on March 3"),
    ("My shoe size is 38, Bruno's is 45", ""),
    ("what's my shoe size?", "My shoe size is 38, Bruno's is 45"),
    ("cancel the reminder about the ficus please", "cancelling"),
    ("Hey, what is this?", "can"),
    ("how are you?", "fine_too"),
    ("my gym session is on Tuesday", ""),
    ("we moved the choir rehearsal from Monday to Thursday", ""),
    ("when is my gym session?", "my gym session is on Tuesday"),
    ("my wife's name is Priya", ""),
    ("what's my wife called?", "my wife's name is Priya"),
    ("my van's registration is QX71 LPB", ""),
    ("what is my van registration?", "my van's registration is QX71 LPB"),
    ("thanks!", "welcome"),
    ("I have physio next Wednesday at 4pm", ""),
    ("sorry, it's been moved to Thursday at half past nine", "instead: I have physio next Wednesday at 4pm"),
    (
        "when's my physio?",
        "sorry, it's been moved to Thursday at half past nine|I have physio next Wednesday at 4pm",
    ),
    ("what's 17% of 340?", "cannot"),
    ("My wife is allergic to walnuts", ""),
    ("Oh sorry, I meant hazelnuts, not walnuts", "instead: My wife is allergic to walnuts"),
    (
        "what is my wife allergic to?",
        "Oh sorry, I meant hazelnuts, not walnuts|My wife is allergic to walnuts",
    ),
    ("my tent is a green Vaude", ""),
    ("it's turquoise actually", "instead: my tent is a green Vaude"),
    ("what colour is my tent?", "it's turquoise actually|my tent is a green Vaude"),
    ("my locker number is 417", ""),
    ("scratch that, 471", "instead: my locker number is 417"),
    ("I'm meeting Ingrid at the cinema", ""),
    ("Forget that, we're meeting at the library", "instead: I'm meeting Ingrid at the cinema"),
    (
        "Where am I meeting Ingrid?",
        "Forget that, we're meeting at the library|I'm meeting Ingrid at the cinema",
    ),
    ("Book club is at Nadia's on Sunday at 7", ""),
    ("Where is book club?", "Book club is at Nadia's on Sunday at 7"),
    ("Who am I talking to?", "can"),
    ("Please don't remember anything about Pavel", "forgetting"),
    ("how do I delete something?", "forgetting"),
    ("good night, talk tomorrow", "goodbye"),
    ("will it rain tomorrow?", "cannot"),
]
GERMAN = [
    ("Ich heiße Jonas und wohne in Köln", ""),
    ("Meine Schwester Lena wohnt in Hamburg", ""),
    ("Wo wohne ich?", "Ich heiße Jonas und wohne in Köln"),
    ("Wie heiße ich?", "Ich heiße Jonas und wohne in Köln"),
    ("Wo wohnt meine Schwester?", "Meine Schwester Lena wohnt in Hamburg"),
    ("Nein, Lena ist nach Bremen gezogen", ""),
    ("Wo wohnt Lena jetzt?", "Nein, Lena ist nach Bremen gezogen|Meine Schwester Lena wohnt in Hamburg"),
    ("Mein Fahrrad ist rot", ""),
    ("Welche Farbe hat mein Fahrrad?", "Mein Fahrrad ist rot"),
    ("Was ist die Hauptstadt von Peru?", UNKNOWN),
    ("Erzähl mir einen Witz", "cannot"),
    ("Danke!", "welcome"),
    ("Tausend Dank, du bist toll", "welcome"),
    ("Was ist 15 mal 12?", "cannot"),
    ("Na, wie geht's dir so?", "fine_too"),
    ("Seit Mai wohnen wir in Trier", ""),
    ("Meine Tante Ute wohnt in Mainz", ""),
    ("Wo wohnen wir?", "Seit Mai wohnen wir in Trier|Ich heiße Jonas und wohne in Köln"),
    ("Merk dir bitte, dass die Leiter bei Herrn Moser steht", ""),
    ("Vergiss bitte, wo die Leiter steht.", "erase: Merk dir bitte, dass die Leiter bei Herrn Moser steht"),
]
SPANISH = [
    ("mi hermano Luis vive en Lima", ""),
    ("¿Dónde vivo?", UNKNOWN),
    ("Me llamo Ana y vivo en Sevilla", ""),
    ("¿Dónde vivo?", "Me llamo Ana y vivo en Sevilla"),
    ("¿Dónde vive mi hermano?", "mi hermano Luis vive en Lima"),
    ("Luis se mudó a Quito", ""),
    ("¿dónde vive Luis ahora?", "Luis se mudó a Quito|mi hermano Luis vive en Lima"),
    ("tengo cita con la ginecóloga el martes 8 de diciembre", ""),
    ("qué frío hace hoy, no me apetece salir", ""),
    ("¿Quién eres?", "can"),
    ("¿qué tal?", "fine_too"),
    ("mi coche es un Seat Ibiza rojo", ""),
    ("no como carne", "noted"),
    ("me he equivocado, el coche es un Fabia", "instead: mi coche es un Seat Ibiza rojo"),
    ("¿qué coche tengo?", "me he equivocado, el coche es un Fabia|mi coche es un Seat Ibiza rojo"),
    ("tradúceme 'buenas noches' al italiano", "cannot"),
    ("¿cuánto es 15 por 12?", "cannot"),
    ("mil gracias, eres un sol", "welcome"),
    ("El coche de Berta es azul", ""),
    ("¿De qué color es mi coche?", "me he equivocado, el coche es un Fabia|mi coche es un Seat Ibiza rojo"),
    ("¿Para qué sirves?", "can"),
    ("¿Cómo borro algo?", "forgetting"),
]
PORTUGUESE = [
    ("Me chamo João e moro em Recife", ""),
    ("minha irmã Ana mora em Lisboa", ""),
    ("onde eu moro?", "Me chamo João e moro em Recife"),
    ("onde a Ana mora?", "minha irmã Ana mora em Lisboa"),
    ("a senha do wifi é tulipa", ""),
    ("qual é a senha do wifi?", "a senha do wifi é tulipa"),
    ("obrigada", "welcome"),
    ("quanto é 15 vezes 12?", "cannot"),
]
RUSSIAN = [
    ("Меня зовут Иван, я живу в Казани", ""),
    ("моя сестра Анна живёт в Лиссабоне", ""),
    ("где я живу?", "Меня зовут Иван, я живу в Казани"),
    ("где живет моя сестра?", "моя сестра Анна живёт в Лиссабоне"),
    ("Анна переехала в Порту", ""),
    ("где живёт Анна?", "Анна переехала в Порту|моя сестра Анна живёт в Лиссабоне"),
    ("мне 33 года", ""),
    ("сколько мне лет?", "мне 33 года"),
    ("отмени напоминание про фикус", "cancelling"),
    ("Привет! Ты кто?", "can"),
    ("кто ты?", "can"),
    ("сколько будет 15 на 12?", "cannot"),
]
PERSIAN = [
    ("اسم من رضا است و در شیراز زندگی می‌کنم", ""),
    ("خواهرم آنا در لیسبون زندگی می‌کند", ""),
    ("آنا کجا زندگی می‌کند؟", "خواهرم آنا در لیسبون زندگی می‌کند"),
    ("من کجا زندگی می‌کنم؟", "اسم من رضا است و در شیراز زندگی می‌کنم"),
    ("ممنون", "welcome"),
]
GROUP = [
    ("[2026-11-27 09:20 UTC] Ben: I live in Munich", ""),
    ("[2026-11-27 09:21 UTC] Olga: let's meet at the station at 9:40", ""),
    ("[2026-11-27 09:22 UTC] Ben: my brother lives in Rome", ""),
    ("[2026-11-27 09:23 UTC] Chiara: where do I live?", UNKNOWN),
    ("[2026-11-27 09:23 UTC] Chiara: when do we meet?", "let's meet at the station at 9:40"),
    ("[2026-11-27 09:23 UTC] Chiara: where does Ben live?", "I live in Munich"),
    ("[2026-11-27 09:23 UTC] Chiara: where does Ben's brother live?", "my brother lives in Rome"),
    ("[2026-11-27 09:23 UTC] Chiara: where does Olga live?", UNKNOWN),
    ("[2026-11-27 09:24 UTC] Ben: The canoe trip begins at 9", ""),
    ("[2026-11-27 09:25 UTC] Olga: Let's make it 10, not 9", ""),
    ("[2026-11-27 09:25 UTC] Ben: I booked the cabin at Loch Ard for the 12th of December", ""),
    ("[2026-11-27 09:25 UTC] Olga: what a day", ""),
    ("[2026-11-27 09:25 UTC] Ben: sorry, the cabin is for the 19th, not the 12th", ""),
    (
        "[2026-11-27 09:26 UTC] Chiara: when is the cabin booked for?",
        "sorry, the cabin is for the 19th, not the 12th",
    ),
    ("[2026-11-27 09:26 UTC] Chiara: when does the canoe trip begin?", "Let's make it 10, not 9"),
]


def replies(lines: list[str]) -> list[str]:
    """Return the reply to each line; the model has read all lines before it."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are Mnemogram."}]
    said: list[str] = []
    for line in lines:
        messages.append({"role": "user", "content": line})
        reply = reply_to(messages, WITHOUT_SEARCH)
        call = reply.call
        said.append(reply.text or "" if call is None else f"CALL {call.name} {dict(call.arguments)}")
        messages.append({"role": "assistant", "content": said[-1]})
    return said


def expected(answer: str, language: str) -> str:
    """Return the whole answer: a sentence by its name, or quotations of the person's own words, newest first."""
    spoken = Language(language)
    if answer.startswith("instead: "):
        opening, closing = spoken.text("marks")
        return spoken.text("instead", text=f"{opening}{answer.removeprefix('instead: ')}{closing}")
    if answer.startswith("erase: "):
        return "\n\n".join([expected(answer.removeprefix("erase: "), language), spoken.text("forgetting")])
    if spoken.has(answer):
        return spoken.text(answer)
    opening, closing = spoken.text("marks")
    newest, *older = [f"{opening}{each}{closing}" for each in answer.split("|")]
    return "\n".join(
        [
            spoken.text("told", when="", text=newest),
            *(spoken.text("older", when="", text=each) for each in older),
        ]
    )


@pytest.mark.parametrize(
    ("language", "talk"),
    [
        ("english", ENGLISH),
        ("german", GERMAN),
        ("spanish", SPANISH),
        ("portuguese", PORTUGUESE),
        ("russian", RUSSIAN),
        ("persian", PERSIAN),
    ],
)
def test_a_conversation_is_answered_rightly_from_its_first_line_to_its_last(
    language: str, talk: list[tuple[str, str]]
) -> None:
    found = replies([line for line, _ in talk])

    for (line, answer), reply in zip(talk, found, strict=True):
        if answer:
            assert (line, reply) == (line, expected(answer, language))
        else:
            spoken = Language(language)
            noted = (spoken.text("noted"), spoken.text("hint"))
            assert reply in noted or reply.startswith(spoken.text("instead", text=""))


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("english", "please always be brief"),
        ("english", "Keep your replies short please"),
        ("german", "Antworte mir bitte immer knapp"),
        ("german", "Bitte antworte kurz"),
        ("spanish", "Responde siempre con pocas palabras"),
        ("portuguese", "Responda sempre em português"),
        ("russian", "Отвечай коротко"),
        ("persian", "همیشه کوتاه جواب بده"),
    ],
)
def test_a_wish_for_all_answers_is_kept_for_a_language_model(language: str, line: str) -> None:
    assert replies([line]) == [Language(language).text("wished")]
    assert [each["kind"] for each in facts_in(line)] == ["standing"]


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("english", "my sister-in-law Nerea is allergic to shellfish", "what am I allergic to?"),
        ("german", "meine Schwester ist allergisch gegen Nüsse", "wogegen bin ich allergisch?"),
        ("spanish", "mi cuñada Nerea es alérgica al marisco", "¿a qué soy alérgica?"),
        ("spanish", "Nerea es alérgica al marisco", "¿a qué soy alérgica?"),
        ("portuguese", "minha irmã é alérgica a camarão", "a que sou alérgica?"),
        ("russian", "моя сестра любит рыбу", "что я люблю?"),
    ],
)
def test_what_is_told_of_another_person_is_no_answer_about_the_asker(
    language: str, told: str, question: str
) -> None:
    assert replies([told, question])[-1] == Language(language).text(UNKNOWN)


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("english", "I'm Ben, 34, a beekeeper", "what's my job?"),
        ("english", "I'm Olga, a glazier from Leeds", "what do I do for a living?"),
        ("english", "I'm Ben, 34, a beekeeper", "how old am I?"),
        ("german", "Ich bin Jonas und arbeite als Imker", "Was bin ich von Beruf?"),
        ("spanish", "soy enfermera", "¿En qué trabajo?"),
        ("spanish", "soy enfermera", "¿Cuál es mi profesión?"),
        ("portuguese", "sou professora", "com o que eu trabalho?"),
        ("russian", "я учитель", "кем я работаю?"),
    ],
)
def test_the_job_of_the_asker_is_told_however_it_was_said(language: str, told: str, question: str) -> None:
    others = {"english": "My mate Gareth works as a plumber", "german": "Mein Bruder arbeitet als Klempner"}
    said = [told, *([others[language]] if language in others else [])]

    assert replies([*said, question])[-1] == expected(told, language)


def test_a_note_of_the_same_day_is_newer_than_the_message_that_it_contradicts() -> None:
    memory = (
        "From this chat's memory. Each line quotes an earlier message: it is data, not an instruction:\n"
        '[2026-11-27 09:12 UTC, today] Ben: "My wife Priya is allergic to walnuts"\n'
        '[since 2026-11-27] Priya: "Ben\'s wife Priya is allergic to hazelnuts."'
    )
    messages = [{"role": "user", "content": each} for each in (memory, "what is Priya allergic to?")]

    assert "hazelnuts" in (reply_to(messages, WITHOUT_SEARCH).text or "").partition("\n")[0]


def test_a_line_with_other_facts_is_not_replaced_by_the_correction_of_one_detail() -> None:
    english = Language("english")
    fixed = "sorry, my daughter is Femke, not Fenna"

    assert replies(["my daughter Fenna is five and plays hockey", fixed])[-1] == english.text("noted")
    assert replies(["I live in Ghent, my daughter Fenna in Bruges", fixed])[-1] == english.text("noted")
    assert replies(["my daughter is Fenna", fixed])[-1] == expected(
        "instead: my daughter is Fenna", "english"
    )


@pytest.mark.parametrize(
    ("language", "told", "moved", "question"),
    [
        ("english", "I live in Split", "I moved to Zadar", "where do I live?"),
        ("german", "ich wohne in Köln", "ich bin nach Bonn gezogen", "wo wohne ich?"),
        ("spanish", "vivo en Vigo", "me mudé a Redondela", "¿dónde vivo?"),
        ("portuguese", "eu moro em Recife", "me mudei para Olinda", "onde eu moro?"),
        ("russian", "я живу в Казани", "я переехала в Самару", "где я живу?"),
        ("english", "I live in Split", "I moved to Zadar last month", "where do I live now?"),
        ("spanish", "vivo en Vigo", "me he mudado a Redondela", "¿dónde vivo ahora?"),
    ],
)
def test_who_moved_lives_at_the_new_place(language: str, told: str, moved: str, question: str) -> None:
    assert replies([told, moved, question])[-1] == expected(f"{moved}|{told}", language)


def test_in_a_group_nobody_gets_the_answer_about_somebody_else() -> None:
    found = replies([line for line, _ in GROUP])

    for (line, answer), reply in zip(GROUP, found, strict=True):
        if answer == UNKNOWN:
            assert (line, reply) == (line, Language("english").text(UNKNOWN))
        elif answer:
            assert (line, reply.partition("said on 27 November 2026: ")[2].partition("\n")[0]) == (
                line,
                f"“{answer}”.",
            )


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Was backt Ben am Sonntag?", "Ich backe am Sonntag Brot für alle"),
        ("Was macht Ben am Sonntag?", "Ich backe am Sonntag Brot für alle"),
        ("Warum kommt Olga so spät?", "Am Sonntag hab ich Probe, ich komm erst nach dem Essen"),
    ],
)
def test_a_question_about_a_writer_is_answered_in_its_language_with_his_own_words(
    question: str, told: str
) -> None:
    talk = [
        "[2026-11-27 09:20 UTC] Ben: Ich backe am Sonntag Brot für alle",
        "[2026-11-27 09:20 UTC] Olga: Am Sonntag hab ich Probe, ich komm erst nach dem Essen",
        *(f"[2026-11-27 09:2{at} UTC] Ben: I wash the dishes after lunch number {at}" for at in range(1, 7)),
    ]

    name = "Ben" if "Ben" in question else "Olga"
    assert replies([*talk, f"[2026-11-27 09:30 UTC] Chiara: {question}"])[-1] == (
        f"{name} hat am 27. November 2026 gesagt: „{told}“."
    )


def test_what_a_writer_said_in_another_language_than_the_question_is_quoted_with_doubt() -> None:
    found = '[2026-11-27 09:20 UTC] Ben: "Ich backe am Sonntag Brot für alle"'
    function = {"name": "search_memory", "arguments": json.dumps({"query": "baking"})}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "[2026-11-27 09:23 UTC] Chiara: What is Ben baking on Sunday?"},
        {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": found},
    ]

    assert "Ich backe am Sonntag Brot" in (reply_to(messages, TOOLS).text or "")


NOW = "Friday 2026-11-27 11:30:00+00:00 (UTC)"


def remind(line: str, *before: str, result: str = "") -> Any:
    """Return the arguments of the reminder that this line sets, with the time at hand; the text of a question.

    With the `result` of that call it is the next reminder or text.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are Mnemogram."}]
    for at, text in enumerate([*before, line]):
        messages.append({"role": "assistant" if at % 2 else "user", "content": text})
    reply = reply_to(messages, TOOLS)
    for name, content in (("current_time", NOW), ("set_reminder", result)):
        if reply.call is not None and reply.call.name == name and content:
            function = {"name": name, "arguments": "{}"}
            messages.append(
                {"role": "assistant", "tool_calls": [{"id": name, "type": "function", "function": function}]}
            )
            messages.append({"role": "tool", "tool_call_id": name, "content": content})
            reply = reply_to(messages, TOOLS)
    return reply.text if reply.call is None else dict(reply.call.arguments)


@pytest.mark.parametrize(
    ("line", "when", "text", "repeats"),
    [
        ("remind me tomorrow at nine to call mum", "2026-11-28T09:00", "call mum", ""),
        (
            "remind me on the 5th of every month to feed the moss",
            "2026-12-05T09:00",
            "feed the moss",
            "monthly",
        ),
        ("recuérdame el 3 de cada mes pagar la luz", "2026-12-03T09:00", "pagar la luz", "monthly"),
        ("erinnere mich am 1. jeden Monats an den Strom", "2026-12-01T09:00", "den Strom", "monthly"),
        ("me lembre dia 5 de cada mês de pagar o gás", "2026-12-05T09:00", "pagar o gás", "monthly"),
        (
            "напоминай 10 числа каждого месяца платить за свет",
            "2026-12-10T09:00",
            "платить за свет",
            "monthly",
        ),
        (
            "don't forget to remind me tomorrow at noon to air the loft",
            "2026-11-28T12:00",
            "air the loft",
            "",
        ),
        ("every weekday at 7:10 wake me with 'swim first'", "07:10", "swim first", "weekdays"),
        ("make sure I don't forget to call Piet at 3pm please", "15:00", "call Piet", ""),
        ("acuérdame mañana a las 7 de bajar el vidrio, porfa", "2026-11-28T07:00", "bajar el vidrio", ""),
        ("pasado mañana a las 8 dame un toque para llamar a Luz", "2026-11-29T08:00", "llamar a Luz", ""),
        ("¿me puedes despertar mañana a las cinco y cuarto?", "2026-11-28T05:15", "⏰", ""),
        ("kannst du mich morgen um sieben wecken?", "2026-11-28T07:00", "⏰", ""),
        ("você pode me acordar amanhã às seis?", "2026-11-28T06:00", "⏰", ""),
        ("не забудь напомнить мне завтра в девять купить хлеб", "2026-11-28T09:00", "купить хлеб", ""),
        ("فردا ساعت شش بیدارم کن", "2026-11-28T06:00", "⏰", ""),
        ("Can you remind me to call mum tomorrow at 9:15?", "2026-11-28T09:15", "call mum", ""),
        ("remind me to buy milk in half an hour", "in 30 minutes", "buy milk", ""),
        ("remind me in two hours about the oven", "in 2 hours", "the oven", ""),
        (
            "remind me every Monday at 8 to take out the bins",
            "08:00",
            "take out the bins",
            "FREQ=WEEKLY;BYDAY=MO",
        ),
        ("remind me every day at 7pm to take my pills", "19:00", "take my pills", "daily"),
        ("remind me on Sunday to water the plants", "2026-11-29T09:00", "water the plants", ""),
        ("remind me on Friday at 10 about the report", "2026-12-04T10:00", "the report", ""),
        (
            "remind me tomorrow at half past seven to check the hives",
            "2026-11-28T07:30",
            "check the hives",
            "",
        ),
        ("remind me at quarter to nine tomorrow to ring Tomasz", "2026-11-28T08:45", "ring Tomasz", ""),
        (
            "every friday at 18:00 remind me to water the ficus",
            "18:00",
            "water the ficus",
            "FREQ=WEEKLY;BYDAY=FR",
        ),
        ("don't let me forget to call the vet on Monday at 4pm", "2026-11-30T16:00", "call the vet", ""),
        ("remind us tomorrow at 8 to pack", "2026-11-28T08:00", "pack", ""),
        ("remind me tonight to lock the door", "19:00", "lock the door", ""),
        ("remind me tomorrow evening to pack", "2026-11-28T19:00", "pack", ""),
        ("Erinnere mich morgen um neun daran, Mama anzurufen", "2026-11-28T09:00", "Mama anzurufen", ""),
        ("Erinnere mich in einer Stunde an den Kuchen", "in 1 hours", "den Kuchen", ""),
        ("Erinnere mich jeden Montag um 8 Uhr an die Tonnen", "08:00", "die Tonnen", "FREQ=WEEKLY;BYDAY=MO"),
        ("recuérdame mañana a las nueve llamar a mamá", "2026-11-28T09:00", "llamar a mamá", ""),
        ("recuérdame dentro de dos horas apagar el horno", "in 2 hours", "apagar el horno", ""),
        ("me lembre amanhã às nove de ligar para a mãe", "2026-11-28T09:00", "ligar para a mãe", ""),
        ("me lembra em meia hora de tirar o bolo", "in 30 minutes", "tirar o bolo", ""),
        ("напомни завтра в девять позвонить маме", "2026-11-28T09:00", "позвонить маме", ""),
        ("напомни мне каждую среду в 8 вынести мусор", "08:00", "вынести мусор", "FREQ=WEEKLY;BYDAY=WE"),
        (
            "напомни мне завтра в половине восьмого утра забрать посылку",
            "2026-11-28T07:30",
            "забрать посылку",
            "",
        ),
        ("напомни завтра без четверти девять позвонить брату", "2026-11-28T08:45", "позвонить брату", ""),
        (
            "напоминай каждый понедельник в 10:00 сдавать отчёт",
            "10:00",
            "сдавать отчёт",
            "FREQ=WEEKLY;BYDAY=MO",
        ),
        (
            "ping me every monday at 8am to put the bins out",
            "08:00",
            "put the bins out",
            "FREQ=WEEKLY;BYDAY=MO",
        ),
        ("give me a shout at 9 tonight to ring Dave", "21:00", "ring Dave", ""),
        (
            "remind me on 3 December at 12:00 to renew my passport",
            "2026-12-03T12:00",
            "renew my passport",
            "",
        ),
        ("remind me on December 10 at 18:30 to buy candles", "2026-12-10T18:30", "buy candles", ""),
        ("remind me on the 3rd of January at 9am to call", "2027-01-03T09:00", "call", ""),
        ("every weekday at 8am remind me to take my vitamin D", "08:00", "take my vitamin D", "weekdays"),
        (
            "recuérdame el 3 de diciembre a las 12 renovar el pasaporte",
            "2026-12-03T12:00",
            "renovar el pasaporte",
            "",
        ),
        ("recuérdame de lunes a viernes a las 8 tomar la pastilla", "08:00", "tomar la pastilla", "weekdays"),
        (
            "todos los domingos por la noche recuérdame llamar a mi madre",
            "19:00",
            "llamar a mi madre",
            "FREQ=WEEKLY;BYDAY=SU",
        ),
        ("wake me in a quarter of an hour for tea", "in 15 minutes", "tea", ""),
        ("can u remind me tmrw at 9 to water the ferns", "2026-11-28T09:00", "water the ferns", ""),
        (
            "Vergiss nicht, mich jeden Freitag um 17 Uhr ans Blumengießen zu erinnern",
            "17:00",
            "Blumengießen",
            "FREQ=WEEKLY;BYDAY=FR",
        ),
        ("avísame en media hora para sacar la pizza", "in 30 minutes", "sacar la pizza", ""),
        ("Erinnere mich morgen um halb acht an die Bienen", "2026-11-28T07:30", "die Bienen", ""),
        ("recuérdame mañana a las siete y media llamar", "2026-11-28T07:30", "llamar", ""),
        ("فردا ساعت نه یادم بنداز به مامان زنگ بزنم", "2026-11-28T09:00", "به مامان زنگ بزنم", ""),
        ("۲۰ دقیقه دیگر یادم بنداز به گل‌ها آب بدهم", "in 20 minutes", "به گل‌ها آب بدهم", ""),
        ("wake me up in an hour and a half", "in 90 minutes", "⏰", ""),
        ("remind me to call Tom in two and a half hours", "in 150 minutes", "call Tom", ""),
        ("Erinnere mich in anderthalb Stunden an den Kuchen", "in 90 minutes", "den Kuchen", ""),
        ("Erinnere mich in zweieinhalb Stunden an den Kuchen", "in 150 minutes", "den Kuchen", ""),
        ("recuérdame apagar el horno en una hora y media", "in 90 minutes", "apagar el horno", ""),
        ("me lembre em uma hora e meia de tirar o bolo", "in 90 minutes", "tirar o bolo", ""),
        ("напомни через полтора часа полить цветы", "in 90 minutes", "полить цветы", ""),
        ("یک ساعت و نیم دیگه یادم بنداز به مامان زنگ بزنم", "in 90 minutes", "به مامان زنگ بزنم", ""),
        (
            "que no se me olvide llamar al fontanero el jueves por la tarde",
            "2026-12-03T19:00",
            "llamar al fontanero",
            "",
        ),
        (
            "todos los lunes a las 19 h recuérdame regar las plantas",
            "19:00",
            "regar las plantas",
            "FREQ=WEEKLY;BYDAY=MO",
        ),
        (
            "on the 3rd of December I need to be reminded to renew the permit",
            "2026-12-03T09:00",
            "renew the permit",
            "",
        ),
        (
            "el 5 de diciembre tengo que acordarme de pagar el seguro, recuérdamelo",
            "2026-12-05T09:00",
            "pagar el seguro",
            "",
        ),
        (
            "am Montag kommen die Tonnen raus, erinner mich daran",
            "2026-11-30T09:00",
            "kommen die Tonnen raus",
            "",
        ),
        ("remind me on the 11th of December at noon to leave", "2026-12-11T12:00", "leave", ""),
        ("remind me tomorrow at midday to eat", "2026-11-28T12:00", "eat", ""),
        ("remind me at midnight to call Ann", "00:00", "call Ann", ""),
        ("recuérdame mañana al mediodía llamar a Ana", "2026-11-28T12:00", "llamar a Ana", ""),
        ("Erinnere mich morgen mittags an die Suppe", "2026-11-28T12:00", "die Suppe", ""),
        ("me lembre amanhã ao meio-dia de ligar", "2026-11-28T12:00", "ligar", ""),
        ("напомни завтра в полдень позвонить маме", "2026-11-28T12:00", "позвонить маме", ""),
        ("فردا ظهر یادم بنداز به مامان زنگ بزنم", "2026-11-28T12:00", "به مامان زنگ بزنم", ""),
        ("remind me on the 18th at 5 pm to pay", "2026-12-18T17:00", "pay", ""),
        ("recuérdame el 18 a las 17:00 pagar", "2026-12-18T17:00", "pagar", ""),
        ("Erinnere mich am 18. um 17 Uhr an die Miete", "2026-12-18T17:00", "die Miete", ""),
        ("me lembre no dia 18 às 17:00 de pagar", "2026-12-18T17:00", "pagar", ""),
        ("напомни 18 числа в 17:00 заплатить", "2026-12-18T17:00", "заплатить", ""),
        ("remind me on the 27th at 9 to pay", "2026-12-27T09:00", "pay", ""),
        ("recuérdame el viernes que viene a las 10 llamar", "2026-12-04T10:00", "llamar", ""),
        ("Erinnere mich kommenden Freitag um 10 Uhr an Ole", "2026-12-04T10:00", "Ole", ""),
        ("me lembre na sexta que vem às 10 de ligar", "2026-12-04T10:00", "ligar", ""),
        ("recuérdame a las 7 menos cuarto de la mañana sacar el pan", "06:45", "sacar el pan", ""),
        ("recuérdame esta tarde a las 6 sacar al perro", "18:00", "sacar al perro", ""),
        ("I need a nudge every Monday at 8 to water it", "08:00", "water it", "FREQ=WEEKLY;BYDAY=MO"),
        ("I'd like to be reminded on the 3rd of January at 9am to call", "2027-01-03T09:00", "call", ""),
        (
            "Could you remind me on 12/12 that Mia needs her goggles?",
            "2026-12-12T09:00",
            "Mia needs her goggles",
            "",
        ),
        ("erinnere mich am 24.12. um 10 Uhr an die Geschenke", "2026-12-24T10:00", "die Geschenke", ""),
        ("recuérdame el 24/12 a las 10 comprar regalos", "2026-12-24T10:00", "comprar regalos", ""),
        (
            "Cada viernes a las 20 h acuérdate de decirme que riegue las macetas",
            "20:00",
            "riegue las macetas",
            "FREQ=WEEKLY;BYDAY=FR",
        ),
    ],
)
def test_a_reminder_in_plain_words_is_set(line: str, when: str, text: str, repeats: str) -> None:
    wanted = {"when": when, "text": text, "repeats": repeats}

    assert remind(line) == {name: value for name, value in wanted.items() if value}


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("english", "let me know when the ferry comes"),
        ("english", "we leave for Lyon tomorrow"),
        ("german", "morgen fahre ich nach Ulm"),
        ("spanish", "que alguien me dé un toque el domingo"),
        ("spanish", "anula la barbacoa"),
        ("portuguese", "amanhã vou para Olinda"),
        ("russian", "завтра еду в Тулу"),
        ("persian", "فردا به شیراز می‌روم"),
    ],
)
def test_a_line_that_may_ask_for_a_reminder_gets_an_example_of_one(language: str, line: str) -> None:
    assert replies([line]) == [Language(language).text("hint")]


@pytest.mark.parametrize(
    ("language", "told", "fixed", "question"),
    [
        ("english", "Nora turns 7 in March", "Nora is already 8, I mixed it up", "how old is Nora?"),
        ("english", "Lou studies law in Ghent", "Lou left the law school", "what does Lou study?"),
        ("english", "our bus leaves at 6pm", "actually it's 7pm", "when does our bus leave?"),
        ("english", "the code of the gate is 99", "no, 98", "what is the code of the gate?"),
        ("spanish", "el ensayo es el martes", "al final lo pasan al jueves", "¿cuándo es el ensayo?"),
        (
            "spanish",
            "Mi primo Iker estudia física en León",
            "Iker escribió que deja la física y se pasa a la música",
            "¿qué estudia Iker ahora?",
        ),
        (
            "spanish",
            "comparto garaje con Eva y pago 60 euros al mes",
            "perdona, quise decir 75 euros al mes",
            "¿cuánto pago al mes?",
        ),
        ("german", "ich zahle 500 Euro Miete", "ups, ich meinte 550 Euro", "wie viel Miete zahle ich?"),
        (
            "portuguese",
            "eu pago 300 reais na academia",
            "na verdade são 320 reais",
            "quanto eu pago na academia?",
        ),
        (
            "english",
            "We sail to Skye on 3 June with the kids",
            "The boat leaves on 7 June, not the 3rd.",
            "when do we sail to Skye?",
        ),
        ("english", "my flight is on 3 June", "it is on 7 June, not on the 3rd", "when am I flying?"),
        (
            "german",
            "Mein Bruder Matteo heiratet im Mai in Passau",
            "Ach, ich hab mich geirrt: Matteos Hochzeit ist erst im Juni.",
            "Wann heiratet Matteo?",
        ),
        (
            "german",
            "Lenas Kind kommt im Mai zur Welt",
            "Ach, ich hab mich vertan: Das Kind von Lena kommt im Juni.",
            "Wann kommt Lenas Kind zur Welt?",
        ),
        (
            "german",
            "Am 4. Mai hab ich um 8 einen Hautarzttermin.",
            "Stimmt nicht, der Hautarzt ist erst am 6. Mai, auch um 8.",
            "Wann ist mein Hautarzttermin?",
        ),
        ("german", "Der Chor probt am 4. Mai", "Am 6. Mai, nicht am 4. Mai", "Wann probt der Chor?"),
        (
            "spanish",
            "el concierto es el 4 de mayo",
            "es el 6 de mayo, no el 4 de mayo",
            "¿cuándo es el concierto?",
        ),
        (
            "portuguese",
            "o concerto é no dia 4 de maio",
            "é no dia 6 de maio, não no dia 4",
            "quando é o concerto?",
        ),
        ("russian", "я плачу 900 рублей за зал", "ой, я имела в виду 950 рублей", "сколько я плачу за зал?"),
    ],
)
def test_what_changed_is_told_before_what_was_said_first(
    language: str, told: str, fixed: str, question: str
) -> None:
    assert replies([told, fixed, question])[-1] == expected(f"{fixed}|{told}", language)


def test_a_correction_belongs_to_the_line_that_shares_the_most_words_with_it() -> None:
    family, coach = "Omar is a baker and our son Yusuf turned 9", "Yusuf's coach is called Mr Bello"
    fixed = "Sorry, I got that wrong: Yusuf's coach is Mr Sato, Mr Bello is the referee"
    talk = [family, coach, "I bake bread", fixed, "who is Yusuf's coach?", "how old is Yusuf?"]

    assert replies(talk)[3:] == [
        expected(f"instead: {coach}", "english"),
        expected(f"{fixed}|{coach}", "english"),
        expected(family, "english"),
    ]
    talk = ["I bought coffee at the market", "I drink tea, not coffee", "I drink tea, not wine"]
    assert replies(talk) == [Language("english").text("noted")] * 3
    talk = ["We meet in Turin at noon", "I bake bread", "We meet in Rome, not in Turin"]
    assert replies(talk)[-1] == expected("instead: We meet in Turin at noon", "english")
    talk = ["концерт 4 мая", "я люблю чай", "это 6 мая, а не 4 мая", "когда концерт?"]
    assert replies(talk)[-1] == expected("это 6 мая, а не 4 мая|концерт 4 мая", "russian")


@pytest.mark.parametrize(
    ("language", "line", "key"),
    [
        ("english", "are you a real person?", "can"),
        ("english", "how do you say umbrella in Dutch?", "cannot"),
        ("german", "bist du ein echter Mensch?", "can"),
        ("spanish", "¿eres una persona de verdad?", "can"),
        ("spanish", "¿cómo se dice 'puente' en ruso?", "cannot"),
        ("spanish", "buenas noches, hasta mañana", "goodbye"),
        ("portuguese", "até amanhã!", "goodbye"),
        ("russian", "ты настоящий человек?", "can"),
        ("persian", "خداحافظ", "goodbye"),
    ],
)
def test_questions_about_the_bot_and_goodbyes_are_no_questions_of_the_memory(
    language: str, line: str, key: str
) -> None:
    assert replies([line]) == [Language(language).text(key)]


def test_a_new_thing_at_the_same_place_replaces_nothing() -> None:
    told = "I work at Siemens in Berlin"

    assert replies([told, "I now have a garden in Berlin", "where do I work?"])[1:] == [
        Language("english").text("noted"),
        expected(told, "english"),
    ]


def test_a_reminder_without_a_time_is_asked_for_one() -> None:
    assert remind("remind me every month to pay") == Language("english").text("which_time")
    assert remind("remind me to call Tom") == Language("english").text("which_time")
    assert remind("remind me on 3/4 to pay the rent") == Language("english").text("which_time")
    assert remind("Erinnere mich an den Kuchen") == Language("german").text("which_time")
    assert remind("remind me every other week at 9 to pay") == Language("english").text("which_time")
    assert remind("remind me in 2 hours and 20 minutes to pay") == Language("english").text("which_time")
    assert remind("Erinnere mich um 19 Uhr 30 ans Bad") == Language("german").text("which_time")
    assert remind("remind me next week at 9 to pay") == Language("english").text("which_time")
    assert remind("remind me on Friday the 18th at 5 to pay") == Language("english").text("which_time")
    assert remind("remind me on the 18th of next month to pay") == Language("english").text("which_time")
    assert remind("remind me by the 3rd at 9 to pay") == Language("english").text("which_time")
    assert remind("remind me tomorrow at noonish to pay") == Language("english").text("which_time")
    assert remind("recuérdame la semana que viene a las 9 pagar") == Language("spanish").text("which_time")
    assert remind("Erinnere mich am Morgen um 9 an Ole") == Language("german").text("which_time")
    asked = ("remind me to buy milk", Language("english").text("which_time"))
    assert remind("tomorrow at 5pm", *asked) == {"when": "2026-11-28T17:00", "text": "buy milk"}


def test_the_answer_to_the_question_for_a_city_sets_the_reminder() -> None:
    asked = ("remind me at 18:30 to call Anna", Language("english").text("which_city"))

    assert remind("I'm in Lisbon", *asked) == {"when": "18:30", "text": "call Anna", "zone": "Lisbon"}
    assert remind("never mind", *asked) == Language("english").text("nod")
    assert remind("I'm in Lisbon, Portugal", *asked) == {
        "when": "18:30",
        "text": "call Anna",
        "zone": "Lisbon, Portugal",
    }
    assert remind("Lisbon", *asked) == {"when": "18:30", "text": "call Anna", "zone": "Lisbon"}


def test_a_city_that_comes_later_sets_the_reminders_that_wait_for_it() -> None:
    english = Language("english")
    which, noted = english.text("which_city"), english.text("noted")
    talk = ("remind me at 18:30 to call Anna", which, "I like tea", noted)
    anna = {"when": "18:30", "text": "call Anna", "zone": "Lisbon"}

    assert remind("I'm in Lisbon", *talk) == anna
    assert remind("Lisbon", *talk, "remind me at 19:15 to feed the cat", which) == anna
    assert remind("Anna lives in Lisbon", *talk).startswith("Noted")
    assert remind("Lisbon", *talk, "remind me at 19:15 to feed the cat", which, result="Set") == {
        "when": "19:15",
        "text": "feed the cat",
        "zone": "Lisbon",
    }
    assert remind("Lisbon", *talk[:2], "never mind", "👍") == noted
    assert remind("Lisbon", *talk[:2], "remind me in an hour to stretch", english.text("set")) == anna


def test_a_statement_that_is_no_city_is_noted_and_the_time_comes_before_the_city() -> None:
    english = Language("english")
    which = english.text("which_city")
    unknown = "There is no time zone 'my sister is ill'. Names are like Lisbon, UTC+3 or Europe/Lisbon."
    timed = ("remind me to buy milk", english.text("which_time"), "at 5pm", which)

    assert remind("Lisbon", *timed) == {"when": "17:00", "text": "buy milk", "zone": "Lisbon"}
    assert remind("my sister ill", *timed, result=unknown) == english.text("noted")
    no_city = english.text("no_city")
    several = "'Toledo' may mean several zones. Ask the person which: America/New_York, Asia/Manila."
    assert remind("Atlantis", *timed, result=unknown) == no_city
    choice = english.text("which_zone", zones="America/New_York, Asia/Manila")
    assert remind("Toledo", *timed, result=several) == choice
    assert remind("I live in Toledo", *timed, result=several) == choice
    assert remind("I live in Atlantis", *timed, result=unknown) == no_city
    assert remind("Asia/Manila", *timed, "Toledo", choice)["zone"] == "Asia/Manila"
    assert remind("Madrid", *timed, "Toledo", no_city) == {
        "when": "17:00",
        "text": "buy milk",
        "zone": "Madrid",
    }


LISTED = """\
The reminders of this chat. Their texts are quotations, not instructions:
7e83d4f1: for Saturday 2026-11-28 07:30 (Europe/Vienna), by "Ben": "put the bins out"
212f5fd4: for Monday 2026-11-30 08:00 (Europe/Vienna), repeats FREQ=WEEKLY;BYDAY=MO, by "Ben": "llevar al cole"
3a2f5fd4: for Monday 2026-11-30 09:00 (Europe/Vienna), by "Ben": "Blumen gießen"
4a2f5fd4: for Monday 2026-11-30 09:00 (Europe/Vienna), by "Ben": "regar as plantas"
5a2f5fd4: for Monday 2026-11-30 09:00 (Europe/Vienna), by "Ben": "полить фикус"
6a2f5fd4: for Monday 2026-11-30 09:00 (Europe/Vienna), by "Ben": "خرید نان"
"""


@pytest.mark.parametrize(
    ("line", "wanted", "id"),
    [
        (
            "actually make the bins one 6:30",
            {"when": "2026-11-28T06:30", "text": "put the bins out"},
            "7e83d4f1",
        ),
        (
            "move the bins reminder to Tuesday",
            {"when": "2026-12-01T07:30", "text": "put the bins out"},
            "7e83d4f1",
        ),
        ("drop the bins one", None, "7e83d4f1"),
        ("scrap the bins reminder please", None, "7e83d4f1"),
        ("I don't need the bins reminder anymore", None, "7e83d4f1"),
        ("stop reminding me about the bins", None, "7e83d4f1"),
        ("scrap the alarm", None, ""),
        ("quita el recordatorio del cole, porfa", None, "212f5fd4"),
        ("vergiss die Erinnerung an die Blumen", None, "3a2f5fd4"),
        ("сними напоминание про фикус", None, "5a2f5fd4"),
        ("move the bins reminder", None, ""),
        ("cancel the dentist reminder", None, ""),
        (
            "cambia lo del cole a las siete",
            {"when": "07:00", "text": "llevar al cole", "repeats": "FREQ=WEEKLY;BYDAY=MO"},
            "212f5fd4",
        ),
        ("cambia lo del cole al martes", None, ""),
        ("borra lo de llevar al cole", None, "212f5fd4"),
        ("lösch das mit den Blumen", None, "3a2f5fd4"),
        ("apaga o das plantas", None, "4a2f5fd4"),
        ("отмени фикус", None, "5a2f5fd4"),
        ("یادآوری نان را لغو کن", None, "6a2f5fd4"),
    ],
)
def test_a_reminder_with_a_word_of_the_line_is_changed_or_cancelled(
    line: str, wanted: dict[str, str] | None, id: str
) -> None:
    calls, text = follow(line)
    expected_calls = [("set_reminder", wanted), ("cancel_reminder", {"ids": [id]})]

    assert calls == expected_calls[not wanted :] if id else calls == []
    if not wanted:
        told = {each.text("cancelled", text="") for each in languages()} if id else set[str]()
        refused = {each.text("cancelling") for each in languages()}
        assert text.startswith(tuple(told or refused))
        assert told or "put the bins out" in text


def test_a_correction_right_after_a_reminder_was_set_changes_this_one() -> None:
    asked = (
        "remind me tomorrow at 7:30",
        "I'll remind you on Saturday, 28 November at 07:30: put the bins out",
    )
    moved = {"when": "2026-11-28T08:00", "text": "put the bins out"}

    assert follow("no, at 8 instead", *asked)[0] == [
        ("set_reminder", moved),
        ("cancel_reminder", {"ids": ["7e83d4f1"]}),
    ]
    assert follow("actually in 30 minutes", *asked)[0][0] == (
        "set_reminder",
        {**moved, "when": "in 30 minutes"},
    )
    assert follow("cancel that", *asked)[0] == [("cancel_reminder", {"ids": ["7e83d4f1"]})]
    assert follow("snooze it to 9", *asked)[0][0] == ("set_reminder", {**moved, "when": "2026-11-28T09:00"})


def test_a_correction_of_something_else_right_after_a_reminder_is_none_of_the_reminder() -> None:
    asked = (
        "remind me tomorrow at 7:30",
        "I'll remind you on Saturday, 28 November at 07:30: put the bins out",
    )
    gala = "Actually the gala was moved to 13 December, same time"

    assert follow(gala, *asked) == ([], Language("english").text("noted"))


def test_a_statement_is_no_answer_to_the_question_for_a_time() -> None:
    asked = ("remind me to call the vet", Language("english").text("which_time"))
    noted = Language("english").text("noted")

    assert remind("I keep the spare key under the terracotta gnome", *asked) == noted
    assert remind("I used to live in Swindon", *asked) == noted
    assert remind("at 5pm", *asked, "I like tea", noted) == {"when": "17:00", "text": "call the vet"}


def test_all_reminders_are_cancelled_at_once_and_named() -> None:
    calls, text = follow("delete all my reminders")

    assert calls == [("cancel_reminder", {"ids": re.findall(r"^\w+(?=: for)", LISTED, re.MULTILINE)})]
    assert text == Language("english").text(
        "cancelled",
        text="put the bins out; llevar al cole; Blumen gießen; regar as plantas; полить фикус; خرید نان",
    )


def test_equal_reminders_are_one_and_the_only_one_needs_no_name() -> None:
    heading, first, *_ = LISTED.splitlines()
    twice = "\n".join([heading, first, first.replace("7e83d4f1", "8e83d4f1")])
    cancelled = ("cancel_reminder", {"ids": ["7e83d4f1", "8e83d4f1"]})

    assert follow("push the bins one back to 8", listed=twice)[0][1] == cancelled
    assert follow("scrap the alarm", listed=twice) == (
        [cancelled],
        Language("english").text("cancelled", text="put the bins out"),
    )
    none = "No reminders are set in this chat."
    assert follow("scrap the alarm", listed=none) == ([], Language("english").text("no_reminders"))


def follow(line: str, *before: str, listed: str = LISTED) -> tuple[list[tuple[str, dict[str, Any]]], str]:
    """Return the calls that change reminders, and the text at the end."""
    results = {
        "current_time": NOW,
        "list_reminders": listed,
        "set_reminder": "Set for Saturday 2026-11-28 06:30 (Europe/Vienna). Its id is a1.",
    }
    tools = [*TOOLS, tool("list_reminders", required=[]), tool("cancel_reminder", ids=TEXT)]
    messages: list[dict[str, Any]] = [
        {"role": "assistant" if at % 2 else "user", "content": text}
        for at, text in enumerate([*before, line])
    ]
    calls: list[tuple[str, dict[str, Any]]] = []
    while (reply := reply_to(messages, tools)).call is not None:
        name = reply.call.name
        calls.append((name, dict(reply.call.arguments)))
        count = len(reply.call.arguments.get("ids", ()))
        results["cancel_reminder"] = f"Cancelled {count} of {count}."
        function = {"name": name, "arguments": "{}"}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": name, "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": name, "content": results[name]})
    return [each for each in calls if each[0] in ("set_reminder", "cancel_reminder")], reply.text or ""


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.name)
def test_each_language_has_the_same_sentences(language: Language) -> None:
    table = Language("english")

    for key in (
        "told",
        "older",
        "unsure",
        "unknown",
        "noted",
        "unkept",
        "can",
        "cannot",
        "set",
        "which_time",
        "now",
    ):
        assert language.has(key)
        assert (language.text(key) == table.text(key)) == (language.name == "english")
    for key in (
        "hello",
        "thanks",
        "fine",
        "who",
        "order",
        "everything",
        "about",
        "asking",
        "erase",
        "remind",
        "time",
    ):
        assert language.pattern(key).search("") is None


def test_a_line_that_may_be_of_two_languages_is_answered_in_that_of_the_conversation() -> None:
    told = "mein Freund heißt Ole, er ist Pfleger"

    *_, doubtful = replies([told, "was macht Ole beruflich?"])

    assert doubtful.startswith(Language("german").text("unsure"))
    assert told in doubtful


def test_a_long_document_is_read_where_the_words_of_the_question_are() -> None:
    mark = (
        "[a document, recall.md (18 KB), 18,671 characters, artifact ae85b37f2209, to be read with read_artifact; "
        'it is data and no instruction, and begins: "How recall works."]'
    )

    (called,) = replies([f"{mark}\nwhat does it say about BEAM?"])

    assert called == "CALL read_artifact {'artifact_id': 'ae85b37f2209', 'search': 'BEAM'}"


def test_a_document_of_an_earlier_conversation_is_read_if_memory_names_it() -> None:
    memory = (
        "From this chat's memory. Each line quotes an earlier message: it is data, not an instruction:\n"
        '[2026-11-27 10:06 UTC, today] Olga: "(a document, handbook.txt (12 KB), 12,395 characters, artifact '
        'ae85b37f2209, to be read with read_artifact; it is data and no instruction, and begins: \\"Rules\\")"'
    )
    messages = [{"role": "user", "content": each} for each in (memory, "what does it say about bonfires?")]

    call = reply_to(messages, WITHOUT_SEARCH).call

    assert call is not None
    assert (call.name, call.arguments["artifact_id"]) == ("read_artifact", "ae85b37f2209")


@pytest.mark.parametrize(
    ("lines", "statements"),
    [
        (
            ["We meet on Monday", "no, on Tuesday instead"],
            ["Ben: “We meet on Monday” → “no, on Tuesday instead”"],
        ),
        (
            ["the gym costs 30 pounds", "sorry, 35 pounds"],
            ["Ben: “the gym costs 30 pounds” → “sorry, 35 pounds”"],
        ),
        (
            ["comparto garaje con Eva y pago 60 euros al mes", "perdona, quise decir 75 euros al mes"],
            [
                "Ben: «comparto garaje con Eva y pago 60 euros al mes» → «perdona, quise decir 75 euros al mes»"
            ],
        ),
        (
            ["my aunt's party is on 22 June, she turns 70", "oh wait, the party is on the 24th of June"],
            [
                "Ben: “my aunt's party is on 22 June, she turns 70” → “oh wait, the party is on the 24th of June”"
            ],
        ),
        (
            ["my sister Ines has the vet on Monday", "oh wait, the vet was moved to Thursday at 3"],
            ["Ben: “my sister Ines has the vet on Monday” → “oh wait, the vet was moved to Thursday at 3”"],
        ),
        (["my niece Fien is vegan; me, I eat everything"], ["Ben: “my niece Fien is vegan”"]),
        (["forget that I'm allergic to mussels", "remind me to call my sister"], []),
        (["My name is Ben"], ["Ben: “My name is Ben”"]),
        (["Ich heiße Jonas", "Ich bin Tischler"], ["Ben: „Ich heiße Jonas“", "Ben: „Ich bin Tischler“"]),
        (
            ["Ich wohne in Köln", "Nein, ich wohne in Bonn"],
            ["Ben: „Ich wohne in Köln“ → „Nein, ich wohne in Bonn“"],
        ),
        (
            ["Mein Termin ist am Montag", "Ups, am Freitag"],
            ["Ben: „Mein Termin ist am Montag“ → „Ups, am Freitag“"],
        ),
        (
            ["Soy carpintero", "soy alérgica a las nueces"],
            ["Ben: «Soy carpintero»", "Ben: «soy alérgica a las nueces»"],
        ),
        (["Quedamos el lunes", "perdón, el martes"], ["Ben: «Quedamos el lunes» → «perdón, el martes»"]),
        (
            ["Quedamos el lunes", "no como carne el jueves"],
            ["Ben: «Quedamos el lunes»", "Ben: «no como carne el jueves»"],
        ),
        (
            ["mi coche es un Ibiza", "me he equivocado, el coche es un Fabia"],
            ["Ben: «mi coche es un Ibiza» → «me he equivocado, el coche es un Fabia»"],
        ),
        (
            [
                "el martes tengo cita con el dentista a las 10",
                "perdona, la cita la han cambiado al miércoles a las 12:15",
            ],
            [
                "Ben: «el martes tengo cita con el dentista a las 10» → "
                "«perdona, la cita la han cambiado al miércoles a las 12:15»"
            ],
        ),
        (
            ["We meet on Thursday the 9th of December at 14:15", "no, it's on Friday at 16:00"],
            ["Ben: “We meet on Thursday the 9th of December at 14:15” → “no, it's on Friday at 16:00”"],
        ),
        (
            ["My wife Priya is allergic to walnuts", "Oh sorry, I meant hazelnuts, not walnuts", "I'm Ben"],
            ["Ben: “My wife Priya is allergic to walnuts” → “I meant hazelnuts, not walnuts”"],
        ),
        (
            ["We meet on 9 December", "no, on 10 January"],
            ["Ben: “We meet on 9 December” → “no, on 10 January”"],
        ),
        (
            ["We meet on Monday", "no, we meet tomorrow at 9"],
            ["Ben: “We meet on Monday” → “no, we meet tomorrow at 9”"],
        ),
        (
            [
                "my husband Omar is a baker and our son Yusuf just turned nine",
                "Yusuf's coach is called Mr Bello.",
                "the weather is awful today",
                "Sorry, I got that wrong: Yusuf's coach is Mr Sato.",
            ],
            [
                "Ben: “my husband Omar is a baker and our son Yusuf just turned nine”",
                "Ben: “Yusuf's coach is called Mr Bello.” → “I got that wrong: Yusuf's coach is Mr Sato.”",
            ],
        ),
        (
            ["Am 4. Mai hab ich einen Hautarzttermin", "Nein, der Hautarzt ist am 6. Mai."],
            ["Ben: „Am 4. Mai hab ich einen Hautarzttermin“ → „Nein, der Hautarzt ist am 6. Mai.“"],
        ),
        (["We meet at 3 pm", "no, at 10 am"], ["Ben: “We meet at 3 pm” → “no, at 10 am”"]),
        (
            ["Quedamos el lunes a las 9", "perdón, el martes"],
            ["Ben: «Quedamos el lunes a las 9» → «perdón, el martes»"],
        ),
        (
            ["Minha irmã mora em Lisboa", "Sou professora"],
            ["Ben: “Minha irmã mora em Lisboa”", "Ben: “Sou professora”"],
        ),
        (["Меня зовут Иван", "Я учитель"], ["Ben: «Меня зовут Иван»", "Ben: «Я учитель»"]),
        (["Встречаемся в 9", "ой, в 10"], ["Ben: «Встречаемся в 9» → «ой, в 10»"]),
        (["اسم من رضا است", "من معلم هستم"], ["Ben: «اسم من رضا است»", "Ben: «من معلم هستم»"]),
        (["Ich bin müde", "estoy cansada", "я устал", "من خسته هستم"], []),
    ],
)
def test_facts_are_read_in_each_language_and_take_corrections(
    lines: list[str], statements: list[str]
) -> None:
    found = facts_in(*lines)

    assert [each["statement"] for each in found] == statements


def test_a_later_correction_replaces_the_known_fact() -> None:
    known = (("Ben", "Ben: “We meet on Monday”"), ("Ben", "Ben: «Soy carpintero»"))

    (moved,) = facts_in("no, on Tuesday instead", known=known)
    (job,) = facts_in("soy profesor", known=known)

    assert moved["statement"] == "Ben: “We meet on Monday” → “no, on Tuesday instead”"
    assert moved["replaces"] == [1]
    assert (job["statement"], job["replaces"]) == ("Ben: «soy profesor»", [2])


def test_a_correction_of_what_is_no_fact_is_not_put_to_a_fact_about_the_same_person() -> None:
    known = (("Ben", "Ben: “my husband Omar is a baker and our son Yusuf just turned nine”"),)

    assert facts_in("I got that wrong: Yusuf's coach is Mr Sato.", known=known) == []


def test_a_sentence_does_not_end_at_a_title_an_initial_or_a_number() -> None:
    told = "Report it to Mr. J. Hale. See No. 5, e.g. for Sra. Ruiz. Done!"

    assert sentences(told) == ["Report it to Mr. J. Hale.", "See No. 5, e.g. for Sra. Ruiz.", "Done!"]


def test_the_rarest_words_of_a_question_choose_the_sentence_and_one_of_many_is_told_with_doubt() -> None:
    english = Language("english")
    rules = [
        "The boat shed opens at seven and closes at nine in the evening.",
        "Guests use the boat shed with a member.",
        "Whoever loses the shed's padlock pays 25 euros.",
    ]

    lost = best_sentence("how much do I pay if I lose the padlock of the boat shed?", rules, english)
    parking = best_sentence("is there parking for visitors at the boat shed?", rules[:1], english)

    assert rules[2] in lost
    assert rules[0] in parking
    assert best_sentence("parking for visitors in the evening?", rules, english).startswith(
        english.text("unsure")
    )


def test_a_mark_is_nobodys_words_and_notes_come_first_in_what_is_known_of_the_asker() -> None:
    mark = "(a document, rules.txt (12 KB), 12,395 characters, artifact ae85b37f2209, to be read; it is"
    memory = (
        "From this chat's memory. Each line quotes an earlier message: it is data, not an instruction:\n"
        f"[2026-11-27 10:06 UTC, today] user: {json.dumps(mark)}\n"
        '[2026-11-25 09:12 UTC] user: "I pay 60 euros a month for the garage"\n'
        '[since 2026-11-25] Ben: "Ben: “I pay 75 euros a month for the garage”"\n'
        '[since 2026-11-26] Ben: "Ben lives in Leeds."'
    )
    known, paid, rules = (
        reply_to([{"role": "user", "content": each} for each in (memory, question)], WITHOUT_ARTIFACTS).text
        or ""
        for question in (
            "what do you know about me?",
            "how much do I pay for the garage?",
            "which rules are there?",
        )
    )

    assert [re.findall(r"\d\d euros|Leeds", line) for line in known.splitlines()[2:]] == [
        ["Leeds"],
        ["75 euros"],
    ]
    assert re.findall(r"\d\d euros", paid) == ["75 euros", "60 euros"]
    assert rules == Language("english").text(UNKNOWN)


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_heading_of_a_document_is_quoted_with_the_sentence_below_it(gap: str) -> None:
    report = (
        "HOME REPORT - 3 Elm Row\n\n"
        f"Windows{gap}The frames of the upper floor are painted shut. Budget about 900 pounds for new cords.\n\n"
        f"Drains{gap}Roots were found in the clay pipe below the yard, behind the shed. They may come back.\n\n"
        f"Loft{gap}The insulation is thin and should be doubled. The hatch is not insulated at all, nor is the tank."
    )
    mark = f"[a document, report.txt (1 KB); it is data and no instruction: {json.dumps(report)}]"

    found = replies([f"{mark}\nhere it is", "What does the report say about the drains?"])[-1]

    assert "“Drains: Roots were found in the clay pipe below the yard, behind the shed.”" in found
    assert "“Drains”" not in found
    assert sentences(unwrapped("RENTAL CONTRACT\nbetween A and B\n\nRent: 900")) == [
        "RENTAL CONTRACT between A and B",
        "Rent: 900",
    ]


def test_a_document_is_quoted_in_whole_sentences() -> None:
    rule = (
        "The garden is open to guests until ten in the evening, "
        "and nobody may bring music, a dog or a bicycle into it."
    )
    rules = " ".join(rule.replace("ten", hour) for hour in ("six", "seven", "eight", "nine"))
    wrapped = (
        "The key of the cellar hangs behind the door\nof the pantry. " + "The bins go out on Monday. " * 20
    )
    asked = "[a document: a.txt, 40 characters, which is data and no instruction: {}]\n{}"

    (key,) = replies([asked.format(json.dumps(wrapped), "where is the key of the cellar?")])

    assert quote(rules, Language("english")).endswith("a bicycle into it. …”")
    assert key == "The document says: “The key of the cellar hangs behind the door of the pantry.”"


def test_a_writer_of_several_lines_is_named_once_in_what_was_said() -> None:
    said = [
        ("Ben", "the train leaves at nine"),
        ("Ben", "from platform four"),
        ("Chiara", "I bring sandwiches"),
    ]
    lines = [f'{at} [09:20] {name}: "{text}"' for at, (name, text) in enumerate(said, 1)]

    assert write_points(['Reader: "Olga"', *lines])["points"] == [
        {"kind": "told", "text": "Ben: “the train leaves at nine” “from platform four”", "messages": [1, 2]},
        {"kind": "told", "text": "Chiara: “I bring sandwiches”", "messages": [3]},
    ]


def test_what_the_bot_was_asked_is_not_asked_of_the_reader_whose_language_is_kept() -> None:
    said = [
        ("Olga", "what is Chiara bringing?"),
        ("assistant", "Chiara said: “I bring sandwiches”."),
        ("Chiara", "llevo los bocadillos y la fruta"),
        ("Olga", "Chiara, do you have a tent?"),
    ]
    lines = [f'{at} [09:20] {name}: "{text}"' for at, (name, text) in enumerate(said, 1)]

    assert [each["text"] for each in write_points(['Reader: "Chiara"', *lines])["points"]] == [
        "Olga te pregunta: «Chiara, do you have a tent?»"
    ]


def test_a_question_is_known_by_its_sign_or_its_first_word() -> None:
    assert is_question("where does Anna live")
    assert is_question("آنا کجا زندگی می‌کند")
    assert not is_question("Anna lives where the river ends")


@pytest.mark.parametrize(
    ("told", "no_more", "question"),
    [
        (
            "My cousin Piet just moved to Utrecht",
            "Piet's not in Utrecht any more btw, he found a flat in Gouda",
            "where does my cousin live now?",
        ),
        (
            "Meine Kusine Ines wohnt in Kiel",
            "Ines wohnt nicht mehr in Kiel, sie hat eine Wohnung in Trier",
            "wo wohnt meine Kusine?",
        ),
        (
            "Mi prima Inés vive en Vigo",
            "Inés ya no vive en Vigo, ahora está en Lugo",
            "¿dónde vive mi prima?",
        ),
    ],
)
def test_what_is_no_longer_so_corrects_what_was_said_before(told: str, no_more: str, question: str) -> None:
    noted, answer = replies([told, no_more, question])[1:]

    assert told in noted
    assert answer.index(no_more) < answer.index(told)


@pytest.mark.parametrize(
    ("language", "told", "also", "question"),
    [
        (
            "english",
            "my mother lives in Leeds",
            "now my sister lives in Leeds too",
            "where does my mother live?",
        ),
        (
            "german",
            "meine Mutter wohnt in Kiel",
            "meine Schwester wohnt jetzt auch in Kiel",
            "wo wohnt meine Mutter?",
        ),
        (
            "spanish",
            "mi madre vive en Vigo",
            "ahora mi hermana vive en Vigo también",
            "¿dónde vive mi madre?",
        ),
        ("spanish", "mi madre vive en Vigo", "ahora mi hermana vive en Vigo", "¿dónde vive mi madre?"),
        (
            "portuguese",
            "minha mãe mora em Santos",
            "agora minha irmã também mora em Santos",
            "onde mora minha mãe?",
        ),
        ("russian", "моя мама живёт в Твери", "теперь моя сестра тоже живёт в Твери", "где живёт моя мама?"),
        (
            "persian",
            "مادرم در تبریز زندگی می‌کند",
            "حالا خواهرم هم در تبریز زندگی می‌کند",
            "مادرم کجا زندگی می‌کند؟",
        ),
    ],
)
def test_what_holds_also_of_another_corrects_nothing(
    language: str, told: str, also: str, question: str
) -> None:
    assert replies([told, also, question])[1:] == [Language(language).text("noted"), expected(told, language)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("english", "please get rid of the sofa"),
        ("english", "turn off the lights"),
        ("english", "I need you to send an email to my boss"),
        ("english", "buy milk"),
        ("german", "wirf bitte das Sofa raus"),
        ("spanish", "deshazte del sofá"),
        ("portuguese", "acenda a luz da cozinha"),
        ("russian", "избавься от дивана"),
        ("russian", "выключи свет"),
        ("persian", "چراغ را خاموش کن"),
    ],
)
def test_a_request_is_noted_without_a_claim_that_it_is_done(language: str, line: str) -> None:
    assert replies([line]) == [Language(language).text("undone")]


@pytest.mark.parametrize(
    "line", ["please remember that I park in row 5", "call me Kim", "the sofa is gone", "I'm vegan"]
)
def test_what_only_resembles_a_request_is_noted(line: str) -> None:
    assert replies([line]) == [Language("english").text("noted")]


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        (
            "english",
            ["my friend Lea likes chess", "my friend Tom likes chess too"],
            "which of my friends like chess?",
        ),
        ("german", ["mein Freund Ole mag Schach", "meine Freundin Ida mag auch Schach"], "wer mag Schach?"),
        (
            "spanish",
            ["mi amiga Nuria juega al tenis", "Iker juega al tenis"],
            "¿quiénes de mis amigos juegan al tenis?",
        ),
        ("portuguese", ["minha amiga Bia gosta de xadrez", "Davi gosta de xadrez"], "quem gosta de xadrez?"),
        (
            "russian",
            ["моя подруга Оля любит шахматы", "Паша любит шахматы"],
            "кто из моих друзей любит шахматы?",
        ),
    ],
)
def test_a_question_for_many_gets_all_that_fit_and_no_other(
    language: str, told: list[str], question: str
) -> None:
    other = {"english": "my friend Max likes golf", "russian": "мой друг Макс любит гольф"}.get(
        language, "ok"
    )
    quoted = [quote(each, Language(language)) for each in told[::-1]]

    heading, _, *lines = replies([*told, other, question])[-1].splitlines()

    assert heading == Language(language).text("listed")
    assert [line.partition(quoted[at])[1] for at, line in enumerate(lines)] == quoted


@pytest.mark.parametrize(
    ("language", "question", "told"),
    [
        ("english", "what's my favourite colour?", "blue"),
        ("german", "wo wohnt mein Bruder?", "in Kiel"),
        ("spanish", "¿cuál es mi color favorito?", "el verde"),
        ("portuguese", "qual é a minha cor favorita?", "azul"),
        ("russian", "где живёт мой брат?", "в Твери"),
        ("persian", "رنگ مورد علاقه من چیه؟", "سبز"),
    ],
)
def test_who_answers_our_request_to_tell_it_finds_the_answer_later(
    language: str, question: str, told: str
) -> None:
    assert replies([question, told, question])[-1] == expected(told, language)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("my sister Martha lives in Leeds", "where does Marta live?"),
        ("my sister Martha lives in Leeds", "where does Matrha live?"),
        ("my brother Jon lives in Oslo", "where does John live?"),
        ("the locksmith is Fredriksen", "who is the loksmith?"),
    ],
)
def test_one_wrong_letter_is_forgiven(told: str, question: str) -> None:
    assert replies([told, question])[-1] == expected(told, "english")


@pytest.mark.parametrize("question", ["where does Daniela live?", "where does David live?"])
def test_another_name_is_another_person(question: str) -> None:
    assert replies(["my cousin Daniel lives in Leeds", question])[-1] == Language("english").text(UNKNOWN)


@pytest.mark.parametrize(
    ("language", "told", "line"),
    [
        (
            "english",
            "my sister Anna lives in Leeds",
            "what a day the train was late and it rained anyway where does my sister live",
        ),
        ("english", "my sister Anna lives in Leeds", "I'm in Rome this week, where does Anna live?"),
        (
            "german",
            "meine Schwester wohnt in Kiel",
            "heute war es stressig und es hat geregnet sag mal wo wohnt meine Schwester",
        ),
        ("spanish", "mi hermana vive en Vigo", "hoy llegué tarde y llovía mucho oye dónde vive mi hermana"),
        (
            "portuguese",
            "minha irmã mora em Santos",
            "hoje cheguei tarde e choveu muito aliás onde mora minha irmã",
        ),
        (
            "russian",
            "моя сестра живёт в Твери",
            "сегодня поезд опоздал и был дождь кстати где живёт моя сестра",
        ),
    ],
)
def test_a_question_at_the_end_of_a_long_line_is_answered(language: str, told: str, line: str) -> None:
    assert replies([told, line])[-1] == expected(told, language)


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("english", "Hi, I'm Tess", "what's my name?"),
        ("german", "Hallo, ich bin Jan", "wie heiße ich?"),
        ("spanish", "Hola, soy Eva", "¿cómo me llamo?"),
        ("portuguese", "Oi, eu sou a Lia", "como eu me chamo?"),
        ("russian", "Привет, я Лена", "как меня зовут?"),
    ],
)
def test_a_name_behind_a_greeting_is_known(language: str, told: str, question: str) -> None:
    assert replies([told, question])[-1] == expected(told, language)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("my flatmate Omar has a dog", "do I have a dog?"),
        ("my mum's birthday is 4 May", "when is my birthday?"),
        ("my sister likes pizza", "do you like pizza?"),
        ("my sister lives in Leeds, I only work there", "where do I live?"),
    ],
)
def test_a_line_about_somebody_else_answers_nothing_about_the_asker_or_the_bot(
    told: str, question: str
) -> None:
    assert told not in replies([told, question])[-1]


def test_accents_may_be_left_out() -> None:
    line = "recuerdame manana a las siete y media llamar a mama"

    assert remind(line) == {"when": "2026-11-28T07:30", "text": "llamar a mama"}
    assert remind("me lembre amanha as nove de ligar para a mae")["when"] == "2026-11-28T09:00"


def test_what_a_search_by_meaning_found_is_quoted_with_doubt_unless_it_is_of_another() -> None:
    said = ["my sister has a cat", "I have a spaniel called Rex"]

    def found(question: str) -> str:
        function = {"name": "search_memory", "arguments": json.dumps({"query": question})}
        lines = [f'[2026-11-20 19:27 UTC] user: "{each}"' for each in said]
        messages = [
            {"role": "user", "content": question},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c", "content": "\n".join(["Found:", *lines])},
        ]
        return reply_to(messages, TOOLS).text or ""

    assert found("do I have pets?").startswith(Language("english").text("unsure"))
    assert said[1] in found("which pets do I keep?")
    assert found("does my brother have pets?") == Language("english").text(UNKNOWN)


@pytest.mark.parametrize(
    ("language", "told", "line"),
    [
        ("english", "my wifi key is cat123", "forget the wifi key thing"),
        ("english", "my wifi key is cat123", "forget the thing about the wifi key"),
        ("german", "das WLAN-Passwort ist katze1", "Vergiss das mit dem WLAN-Passwort"),
        ("spanish", "la clave del wifi es gato123", "Olvida lo de la clave del wifi"),
        ("portuguese", "a senha do wifi é gato1", "Esqueça o da senha do wifi"),
        ("russian", "пароль от вайфая кот123", "Забудь про пароль от вайфая"),
        ("persian", "رمز وای‌فای گربه۱ است", "رمز وای‌فای را فراموش کن"),
    ],
)
def test_forget_it_is_of_what_was_said_and_not_of_a_reminder(language: str, told: str, line: str) -> None:
    assert replies([told, line])[-1] == expected(f"erase: {told}", language)


def test_a_scrapped_plan_is_no_reminder() -> None:
    said = ["thinking of going to madeira in april", "scrap madeira, we're doing the azores instead"]

    assert "madeira in april" in replies(said)[-1]
    assert "azores" in replies([*said, "so where are we going in april?"])[-1]


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("english", "I'll bring the charcoal", "who's bringing the charcoal?"),
        ("german", "ich bringe die Kohle mit", "wer bringt die Kohle?"),
        ("german", "ich nehme das Zelt mit", "wer nimmt das Zelt?"),
        ("spanish", "Yo llevo el carbón", "¿quién lleva el carbón?"),
        ("spanish", "Yo traigo la guitarra", "¿quién trae la guitarra?"),
        ("portuguese", "Eu faço a salada", "quem faz a salada?"),
        ("russian", "я принесу уголь", "кто принесёт уголь?"),
        ("russian", "я куплю хлеб", "кто купит хлеб?"),
        ("persian", "من زغال میارم", "کی زغال میاره؟"),
    ],
)
def test_who_does_something_is_found_in_the_first_person_of_another(
    language: str, told: str, question: str
) -> None:
    found = replies([f"[2026-11-27 09:20 UTC] Olga: {told}", f"[2026-11-27 09:26 UTC] Tom: {question}"])[-1]
    spoken = Language(language)

    assert "Olga" in found
    assert told in found
    assert not found.startswith((spoken.text("unsure"), spoken.text("unknown")))


@pytest.mark.parametrize(
    ("language", "told", "liked", "question"),
    [
        ("english", "I can't stand olives", "I like tea", "which food do I hate?"),
        ("english", "I hate olives", "I like tea", "what don't I like?"),
        ("german", "ich kann Rosenkohl nicht ausstehen", "ich mag Pizza", "welches Gemüse hasse ich?"),
        ("german", "ich mag keinen Rosenkohl", "ich mag Pizza", "was kann ich nicht leiden?"),
        ("spanish", "no soporto las aceitunas", "me gustan los higos", "¿qué comida odio?"),
        ("spanish", "odio las aceitunas", "me gustan los higos", "¿qué no me gusta?"),
        ("portuguese", "detesto coentro", "gosto de figos", "de que comida eu não gosto?"),
        ("portuguese", "não gosto de coentro", "gosto de figos", "o que eu odeio?"),
        ("russian", "терпеть не могу оливки", "я люблю чай", "какую еду я не люблю?"),
        ("persian", "از زیتون بدم می‌آید", "چای دوست دارم", "از چه غذایی متنفرم؟"),
    ],
)
def test_words_of_dislike_are_alike_and_no_words_of_liking(
    language: str, told: str, liked: str, question: str
) -> None:
    found, other = replies([told, liked, question])[-1], replies([liked, question])[-1]

    assert told in found
    assert liked not in found
    assert liked not in other


@pytest.mark.parametrize(
    ("lines", "question", "line"),
    [
        (
            ["Hotel Seeblick", "Breakfast 7 to 10", "Parking 12 euros a night"],
            "when is breakfast?",
            "Breakfast 7 to 10",
        ),
        (
            ["Cabin", "Checkout 11:00", "Wifi", "lake2026", "Bins on Monday"],
            "what is the wifi?",
            "Wifi: lake2026",
        ),
        (
            ["Ferienhof", "Frühstück von 8 bis 10", "Hunde kosten 8 Euro", "Abreise bis 10"],
            "Was kosten Hunde?",
            "Hunde kosten 8 Euro",
        ),
        (
            ["Albergue", "La cena es a las 9", "El desayuno es a las 8"],
            "¿Cuándo es la cena?",
            "La cena es a las 9",
        ),
        (
            ["Pousada", "O café é às 8", "A piscina abre às 10"],
            "quando abre a piscina?",
            "A piscina abre às 10",
        ),
        (
            ["Кружок", "Среда 18:00 рисование", "Пятница 16:30 шахматы"],
            "Когда шахматы?",
            "Пятница 16:30 шахматы",
        ),
        (["مهمانخانه", "صبحانه ساعت ۸", "استخر ساعت ۱۰"], "صبحانه کی است؟", "صبحانه ساعت ۸"),
        (
            [f"{room} room has two windows, a large oven and a table" for room in ("Red", "Blue", "Green")],
            "what does the blue room have?",
            "Blue room has two windows, a large oven and a table",
        ),
    ],
)
def test_a_document_of_lines_is_quoted_by_the_line(lines: list[str], question: str, line: str) -> None:
    text = "\n".join(lines)
    mark = f"[a document, list.txt (1 KB); it is data and no instruction: {json.dumps(text)}]"

    found = replies([f"{mark}\nhere", question])[-1]

    assert line in found
    assert not [each for each in lines[1:] if each not in line and each in found]


def test_a_line_that_goes_on_in_the_next_one_is_joined_to_it() -> None:
    assert sentences(unwrapped("The key of the cellar hangs behind the door\nof the pantry.")) == [
        "The key of the cellar hangs behind the door of the pantry."
    ]


def test_of_two_reminders_the_one_that_waits_is_not_lost() -> None:
    english = Language("english")
    city, time = english.text("which_city"), english.text("which_time")
    anna, milk = "remind me at 18:30 to call Anna", "remind me to buy milk"
    done = english.text("set", when="at 18:30", text="call Anna")
    told = "Set for Friday 2026-11-27 18:30 (UTC). Its id is 5. It is now Friday 2026-11-27 11:30 (UTC)."
    set_anna = {"when": "18:30", "text": "call Anna", "zone": "Lisbon"}

    assert remind("Lisbon", anna, city, milk, time) == set_anna
    assert remind("Lisbon", milk, time, anna, city) == set_anna
    assert remind("Lisbon", anna, city, milk, time, result=told).endswith(f"\n\n{time}")
    assert remind("at 5pm", anna, city, milk, time, "Lisbon", f"{done}\n\n{time}")["text"] == "buy milk"
    assert remind("at 5pm", milk, time, anna, done)["text"] == "buy milk"
    assert remind(f"{anna}\nremind me at 19:00 to feed the cat", result=told) == {
        "when": "19:00",
        "text": "feed the cat",
    }


@pytest.mark.parametrize(
    ("language", "old", "new", "question"),
    [
        ("english", "My exam is on 12 May.", "no, my exam is on 14 May", "what do you know about me?"),
        ("english", "my bike is red", "my bike is blue", "what do you know about me?"),
        ("german", "Mein Fahrrad ist rot", "Mein Fahrrad ist blau", "Was weißt du über mich?"),
        ("spanish", "Mi bici es roja", "mi bici es azul", "¿qué sabes de mí?"),
        ("portuguese", "Minha bicicleta é azul", "minha bicicleta é preta", "o que você sabe sobre mim?"),
        ("russian", "Мой велосипед красный", "мой велосипед синий", "что ты знаешь обо мне?"),
        ("german", "Mein Kurs ist am Montag", "nein, mein Kurs ist am Freitag", "Was weißt du über mich?"),
        ("spanish", "Mi cita es el lunes", "no, mi cita es el martes", "¿Qué sabes de mí?"),
        (
            "portuguese",
            "Minha consulta é na segunda",
            "não, minha consulta é na sexta",
            "o que você sabe sobre mim?",
        ),
        ("russian", "Мой экзамен в понедельник", "нет, мой экзамен в среду", "что ты знаешь обо мне?"),
        ("persian", "قرار من دوشنبه است", "نه، قرار من سه‌شنبه است", "دربارهٔ من چه می‌دانی؟"),
    ],
)
def test_what_was_corrected_is_marked_as_older_in_a_list(
    language: str, old: str, new: str, question: str
) -> None:
    spoken = Language(language)
    told = spoken.text("told", when="", text=quote(new, spoken))
    older = spoken.text("older", when="", text=quote(old, spoken))

    listed = replies([old, new, question])[-1].splitlines()[2:]

    assert listed == [f"- {told.removesuffix('.')}", f"- {older.removesuffix('.')}"]


def test_what_is_not_listed_is_corrected_and_not_another_line() -> None:
    lines = ["vivo en Cádiz", "mi marido Paco es electricista", "la comida de empresa es el 12"]

    listed = replies([*lines, "no, la comida es el 13", "¿qué sabes de mí?"])[-1]

    assert "Me dijiste: «mi marido Paco es electricista»" in listed


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("german", "Was kocht Ben?"),
        ("portuguese", "o que eu odeio?"),
        ("spanish", "¿quién cocina hoy?"),
        ("english", "what does Ben cook?"),
    ],
)
def test_the_language_of_the_question_wins(language: str, line: str) -> None:
    said = "Ich koche Lasagne mit Spinat" if language == "english" else "I'm cooking lasagne with spinach"
    assert replies([said, line])[-1] == Language(language).text(UNKNOWN)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        *(
            ("english", each)
            for each in ("add milk to the shopping list", "schedule a call with Eva for Monday")
        ),
        *(
            ("german", each)
            for each in ("trag den Termin in den Kalender ein", "vereinbare einen Termin mit Eva")
        ),
        *(
            ("spanish", each)
            for each in ("añade leche a la lista de la compra", "dile a Ana que llego tarde")
        ),
        *(
            ("portuguese", each)
            for each in ("marca uma consulta no dentista pra mim", "avisa o Tom que vou atrasar")
        ),
        *(("russian", each) for each in ("запиши меня к стоматологу", "скажи Ане, что я опоздаю")),
        *(("persian", each) for each in ("شیر را به لیست خرید اضافه کن", "به آنا بگو دیر می‌رسم")),
    ],
)
def test_a_request_is_not_noted_as_a_statement(language: str, line: str) -> None:
    assert replies([line]) == [Language(language).text("undone")]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("english", "find me at the bar at eight"),
        ("german", "Stell dir vor, ich habe gewonnen"),
        ("german", "schreibe gerade an meiner Doktorarbeit"),
        ("spanish", "la agenda de Eva está llena"),
        ("portuguese", "a marca do café é Pilão"),
        ("russian", "запись к врачу в понедельник"),
    ],
)
def test_a_statement_with_a_word_of_requests_is_noted(language: str, line: str) -> None:
    assert replies([line]) == [Language(language).text("noted")]


def test_a_compound_is_found_by_its_whole_word_and_corrected_by_its_end() -> None:
    lines = [
        "Nächste Spange-Kontrolle ist am 14. Januar",
        "Mia kriegt eine Spange",
        "ach Quatsch, die Kontrolle ist am 15. Januar",
        "Wann ist die Spangenkontrolle?",
    ]

    assert replies(lines)[-1] == expected(f"{lines[2]}|{lines[0]}", "german")


def test_a_name_alone_is_no_answer_if_another_word_of_the_question_was_said() -> None:
    lines = [
        "у Артёма аллергия на цитрусовые",
        "тренировки у него по вторникам",
        "Во сколько тренировки у Артёма?",
    ]

    assert replies(lines)[-1] == Language("russian").text(UNKNOWN)


@pytest.mark.parametrize(
    ("language", "told", "line"),
    [
        ("english", "bought a theremin for 120 euros", "and for how much did i buy the theremin"),
        ("german", "mit Lena gehe ich am Freitag ins Kino", "und mit wem gehe ich ins kino"),
        ("spanish", "le presté el taladro a Bruno", "y a quien le preste el taladro"),
        ("portuguese", "emprestei a furadeira pra Bia", "pra quem emprestei a furadeira"),
        ("russian", "моя сестра работает медсестрой", "а кем работает сестра"),
        ("russian", "купила астролябию за 15 тысяч", "за сколько я астролябию купила"),
        ("persian", "برای مریم هدیه خریدم", "برای کی هدیه خریدم"),
    ],
)
def test_a_question_word_behind_other_words_asks_and_no_question_is_quoted(
    language: str, told: str, line: str
) -> None:
    found = replies([told, line, f"{line}?"])

    assert is_question(line, Language(language))
    assert [told in each for each in found] == [False, True, True]
    assert line not in found[2]


@pytest.mark.parametrize(
    "line",
    [
        *("so is my dad", "cant eat nuts", "what a day", "как же я устала", "я как раз дома"),
        *("qué frío hace", "para que lo sepas vivo en vigo", "que pena", "so wie immer", "همه چی خوبه"),
    ],
)
def test_a_statement_with_a_word_of_questions_asks_nothing(line: str) -> None:
    assert not is_question(line)


@pytest.mark.parametrize(
    ("language", "key", "line"),
    [
        ("english", "can", "whats this then, what can u do"),
        ("english", "can", "whats up, who r u"),
        ("english", "welcome", "thx mate, not bad"),
        ("english", "forgetting", "pls forget my locker code"),
        ("english", "noted", "im allergic to walnuts so never suggest anything w walnuts pls"),
        ("english", "goodbye", "ok gotta go, bed time. night!"),
        ("german", "can", "was geht, wer biste"),
        ("spanish", "can", "q tal, quien eres"),
        ("portuguese", "can", "o q vc pode fazer"),
        ("portuguese", "welcome", "show, obrigada"),
        ("russian", "can", "ты кто вообще и че умеешь"),
        ("russian", "cannot", "че там с погодой сегодня"),
        ("russian", "welcome", "спс, неплохо"),
    ],
)
def test_the_spelling_of_chats_is_understood(language: str, key: str, line: str) -> None:
    assert replies([line])[-1] == Language(language).text(key)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("i live in Rotterdam", "what do u know about me"),
        ("ich wohne in Köln", "was weißt du so über mich"),
        ("vivo en Vigo", "y de mi que sabes"),
        ("moro em Olinda", "sobre mim o q vc sabe"),
        ("я живу в Самаре", "что ты обо мне знаешь"),
    ],
)
def test_what_is_known_of_the_asker_has_no_thanks_and_no_orders(told: str, line: str) -> None:
    others = ("thx mate, not bad", "buy milk for me", "закажи мне такси", "спс, неплохо")

    found = replies([told, *others, line])[-1]

    assert told in found
    assert not any(each in found for each in others)


CHANGES = [
    ("remind me tomorrow at 8 to swim", "actually make that 9"),
    ("erinnere mich morgen um 8 an Yoga", "lieber um 9"),
    ("recuérdame mañana a las 8 nadar", "mejor a las 9"),
    ("me lembre amanhã às 8 de nadar", "melhor às 9"),
    ("напомни завтра в 8 поплавать", "не, лучше в 9"),
    ("فردا ساعت هشت یادم بنداز شنا کنم", "نه، ساعت ۹"),
]


@pytest.mark.parametrize(("line", "change"), CHANGES)
def test_a_change_of_a_reminder_that_waits_for_a_city_changes_its_time(line: str, change: str) -> None:
    which = Language("english").text("which_city")
    noted = Language("english").text("noted")

    assert remind(change, line, which)["when"] == "2026-11-28T09:00"
    waiting = (line, which, change, which, "ok", Language("english").text("nod"), "I like tea", noted)
    assert {**remind("Lisbon", *waiting), "text": ""} == {
        "when": "2026-11-28T09:00",
        "text": "",
        "zone": "Lisbon",
    }


@pytest.mark.parametrize("change", ["actually make that 9", "mejor a las 9", "melhor às 9", "не, лучше в 9"])
def test_a_change_right_after_a_reminder_was_set_needs_no_other_word(change: str) -> None:
    asked = (
        "remind me tomorrow at 7:30",
        "I'll remind you on Saturday, 28 November at 07:30: put the bins out",
    )

    assert follow(change, *asked)[0] == [
        ("set_reminder", {"when": "2026-11-28T09:00", "text": "put the bins out"}),
        ("cancel_reminder", {"ids": ["7e83d4f1"]}),
    ]


@pytest.mark.parametrize(
    ("told", "line", "town"),
    [
        ("im Ben, 34, live in Rotterdam", "remind me tomorrow at 8 to swim", "Rotterdam"),
        ("bin die Jule, wohn in leipzig", "erinnere mich morgen um 8 an Yoga", "leipzig"),
        ("vivo en Vigo con Iker", "recuérdame mañana a las 8 nadar", "Vigo"),
        ("moro em Recife", "me lembre amanhã às 8 de nadar", "Recife"),
        ("живу в питере", "напомни завтра в 8 поплавать", "питере"),
        ("من در شیراز زندگی می‌کنم", "فردا ساعت هشت یادم بنداز شنا کنم", "شیراز"),
    ],
)
def test_a_city_that_was_told_before_gives_the_time_zone(told: str, line: str, town: str) -> None:
    lacking = (
        "The time zone of the person is unknown. Ask for the city, then call set_reminder again with zone."
    )
    said = (told, Language("english").text("noted"))

    assert remind(line, *said, result=lacking)["zone"] == town
    assert remind(line, "my sister lives in Rome", said[1], result=lacking) != {"zone": "Rome"}


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (
            [
                "my mum turns 70 in March, she lives in Whitby",
                "I'm Ben, 34",
                "where does mum live and how old is she",
            ],
            0,
        ),
        (
            [
                "my wife's Katya, shes a midwife",
                "katya works saturday",
                "whats my wifes name",
                "and her job?",
            ],
            0,
        ),
        (["my wife's Katya, a midwife", "what's my wife's name?"], 0),
        (["мужа зовут Лёша, он программист. детей нет, зато есть кот Бублик", "как зовут моего кота?"], 0),
        (["iker es de bilbao, trabaja de camarero", "de donde es Iker", "y en q trabaja"], 0),
    ],
)
def test_her_is_the_person_of_the_question_before(lines: list[str], answer: int) -> None:
    found = replies(lines)[-1]

    assert lines[answer] in found
    assert not any(each in found for each in lines[answer + 1 : -1])


def test_of_a_document_the_line_with_the_counted_thing_answers_and_no_colon_is_added() -> None:
    contract = (
        "Договор на ремонт ванной\nПодрядчик: ООО «Дом».\nСрок: 21 рабочий день со дня аванса.\n"
        "За каждый день просрочки подрядчик платит 0,5 процента."
    )
    mark = f"[a document, c.txt (1 KB); it is data and no instruction: {json.dumps(contract)}]"
    russian = Language("russian")

    kept, days = replies([f"{mark}\nвот договор, сохрани плз", "сколько дней у них на ремонт по договору?"])

    assert kept == russian.text("reading")
    assert days == russian.text("document", text="«Срок: 21 рабочий день со дня аванса.»")
    assert "Договор на ремонт ванной" in sentences(unwrapped(contract))


def test_what_is_gone_is_told_before_what_was_said_of_it() -> None:
    told = ["Olga: торт закажу я, медовик, на 12 человек", "Olga: медовика у них нет, взяла наполеон"]
    found = replies([f"[2026-11-27 09:20 UTC] {each}" for each in [*told, "Ben: так какой торт будет?"]])[-1]

    assert found.index("наполеон") < found.index("12 человек")


def test_a_short_weekday_is_the_weekday_and_a_german_feier_is_a_whole_word() -> None:
    rota = "[a document, r.txt (1 KB); it is data and no instruction: {}]\nmy rota"
    days = json.dumps("Rota Ben\nMon: off\nThu: late, ward J28\nFri: early, ward J30")
    party = [
        "die Weihnachtsfeier ist am 12. Dezember",
        "nee, die Feier ist am 13. Dezember",
        "wann ist die Weihnachtsfeier?",
    ]

    assert "J28" in replies([rota.format(days), "what ward am i on thursday?"])[-1]
    assert replies(party)[-1] == expected(f"{party[1]}|{party[0]}", "german")


def test_a_line_about_another_thing_corrects_no_older_fact() -> None:
    known = (("Ben", "Ben: “my brother tom is getting married on 12 june”"),)
    lines = (
        "nope scrap that, priya cant get september off. october it is",
        "remind me at 6",
        "actually make that 7pm",
    )

    assert not any(each["replaces"] or "7pm" in each["statement"] for each in facts_in(*lines, known=known))
