"""Recall with MiniLM and the embedded index: relevant messages are found, others are not."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar
from uuid import uuid4

import pytest

from memory.embedded.supervisor import IndexEndpoint
from memory.history.message import Message, Sender
from memory.keys import ContextRef
from memory.recall.embedders.embedder import EmbeddingUnavailable
from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.recall.qdrant.index import QdrantIndex, open_qdrant
from memory.recall.ranking import LIKELY_WITHIN
from memory.recall.recall import IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces, collection_name
from memory.recall.vector_index import Where
from tests.fakes.embedder import FakeEmbedder

ANNA, BORIS = 1, 2
PEOPLE = {ANNA: "Anna", BORIS: "Boris"}
NOW = datetime(2025, 11, 20, 18, tzinfo=UTC).timestamp()
ANYWHERE = Where()

Line = tuple[int | None, str]
"""A speaker (None: the assistant) and their text."""

TALK: dict[str, Sequence[Line]] = {
    "2025-03-02": [
        (ANNA, "Hi! I moved to Lisbon last month, my flat is near the river"),
        (BORIS, "How lovely! I still live in Oslo, in the same old house"),
        (ANNA, "Do you still have that big dog?"),
        (BORIS, "Yes, Bruno. He is nine now and sleeps all day"),
        (ANNA, "Thanks for the photos!"),
        (BORIS, "I am reading a novel about pirates"),
        (ANNA, "Mine is a novel about whales"),
        (BORIS, "You're welcome"),
    ],
    "2025-05-11": [
        (BORIS, "Yesterday we went hiking and I broke my ankle on the way down"),
        (ANNA, "Oh no! Does it hurt?"),
        (BORIS, "Quite a lot. The doctor says six weeks in plaster"),
        (ANNA, "I signed up for a pottery course, it begins on Monday"),
        (BORIS, "Pottery sounds fun. Will you make me a mug?"),
        (ANNA, "Of course, a blue one"),
    ],
    "2025-07-19": [
        (ANNA, "My sister got a job as a nurse at the children's hospital"),
        (BORIS, "Congratulations to her!"),
        (ANNA, "What is your favourite food, by the way?"),
        (BORIS, "Mushroom risotto with lots of parmesan"),
        (ANNA, "Good to know for when you visit"),
        (BORIS, "I am allergic to peanuts, remember that"),
    ],
    "2025-09-30": [
        (BORIS, "The concert was great, the drummer played for an hour"),
        (BORIS, "We went hiking with the children, nobody fell"),
        (ANNA, "I was busy with the tax forms all evening"),
        (BORIS, "My daughter starts school tomorrow"),
        (ANNA, "What did you buy her?"),
        (BORIS, "A red backpack with a fox on it"),
        (ANNA, "ok"),
    ],
    "2025-11-08": [
        (ANNA, "We painted the kitchen yellow"),
        (BORIS, "I finally sold the old car to a neighbour"),
        (ANNA, "How much did you get for it?"),
        (BORIS, "Two thousand, more than I hoped"),
        (ANNA, "I bought train tickets to Porto for the weekend"),
        (BORIS, "Have fun there"),
    ],
}


def items_of(talk: dict[str, Sequence[Line]], ref: ContextRef) -> list[IndexItem]:
    items: list[IndexItem] = []
    for day, lines in talk.items():
        began, session = datetime.fromisoformat(f"{day}T10:00:00+00:00").timestamp(), len(items)
        for number, (speaker, text) in enumerate(lines):
            message = Message(
                id=f"m{len(items)}",
                role="user" if speaker else "assistant",
                text=text,
                sent_at=began + 60 * number,
                tokens=1,
                sender=Sender(id=speaker, name=PEOPLE[speaker]) if speaker else None,
                sequence=len(items),
            )
            items.append(IndexItem(ref=ref, epoch=0, message=message, people=PEOPLE, session=session))
    return items


class Remembering:
    """MiniLM that embeds each text once for all tests: 36 messages take half a second."""

    identity = MiniLMEmbedder.identity
    _known: ClassVar[dict[str, list[float]]] = {}

    def __init__(self, minilm: MiniLMEmbedder) -> None:
        self._embedder = minilm

    def reads(self, text: str) -> bool:
        return self._embedder.reads(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in texts if text not in self._known]
        self._known.update(zip(new, await self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]


class Rig:
    def __init__(self, recall: Recall) -> None:
        self.recall = recall
        self.ref = ContextRef(context_id=uuid4().hex, partition=0)
        self.texts: dict[str, str] = {}

    async def index(self, talk: dict[str, Sequence[Line]]) -> None:
        items = items_of(talk, self.ref)
        self.texts = {item.message.id: item.message.text for item in items}
        await self.recall.index(items)

    async def ask(
        self, text: str, *, k: int = 1, asker: int | None = None, where: Where = ANYWHERE
    ) -> list[str]:
        question = RecallQuestion(text=text, people=PEOPLE, asker_id=asker, now=NOW, where=where)
        hits = await self.recall.search(self.ref, 0, question, k=k)
        return [self.texts[hit.message_id] for hit in hits]


@pytest.fixture
async def index(index_endpoint: IndexEndpoint) -> AsyncGenerator[QdrantIndex]:
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        space = MiniLMEmbedder.identity
        yield QdrantIndex(qdrant, collection_name(space), dimension=space.dimension)


@pytest.fixture
async def rig(index: QdrantIndex, minilm: MiniLMEmbedder) -> Rig:
    """A chat that contains TALK."""
    rig = Rig(Recall(Spaces(serving=Space(embedder=Remembering(minilm), index=index))))
    await rig.index(TALK)
    return rig


@pytest.fixture
async def wordy_rig(index: QdrantIndex) -> Rig:
    """A chat that contains TALK, whose embedder fails now."""
    embedder = FakeEmbedder(dimension=384)
    rig = Rig(Recall(Spaces(serving=Space(embedder=embedder, index=index))))
    await rig.index(TALK)
    embedder.failure = EmbeddingUnavailable("down")
    return rig


ANSWERS = {
    "Where does Anna live?": "Hi! I moved to Lisbon last month, my flat is near the river",
    "What did Boris break?": "Yesterday we went hiking and I broke my ankle on the way down",
    "When does the pottery course begin?": "I signed up for a pottery course, it begins on Monday",
    "What is Anna's sister's job?": "My sister got a job as a nurse at the children's hospital",
    "What is Boris allergic to?": "I am allergic to peanuts, remember that",
    "What colour is the kitchen?": "We painted the kitchen yellow",
    "Who sold a car?": "I finally sold the old car to a neighbour",
    "Where is Anna going by train?": "I bought train tickets to Porto for the weekend",
    "Who had to do taxes?": "I was busy with the tax forms all evening",
}


async def test_a_question_finds_its_answer(rig: Rig) -> None:
    assert {question: await rig.ask(question) for question in ANSWERS} == {
        question: [answer] for question, answer in ANSWERS.items()
    }


async def test_without_the_embedder_words_find_the_answer(wordy_rig: Rig) -> None:
    for question in ("What is Boris allergic to?", "Who sold a car?", "What colour is the kitchen?"):
        assert await wordy_rig.ask(question) == [ANSWERS[question]]


SMALL_TALK = [
    *(
        "thanks!",
        "ok",
        "hi",
        "Hello!",
        "Good morning",
        "lol",
        "yes",
        "no",
        "bye",
        "See you tomorrow",
        "😀",
        "👍👍",
        "?!",
    ),
    *(
        "You're welcome",
        "Congratulations!",
        "nice",
        "why?",
        "who are you?",
        "Спасибо!",
        "Привет",
        "Gracias",
        "Danke",
        "谢谢",
        "مرسی",
    ),
]
OFF_THE_SUBJECT = [
    "what is the capital of France?",
    "how do I install python on ubuntu?",
    "write a regex for email addresses",
    "what is 17 times 23?",
    "explain quantum entanglement simply",
    "what's the weather like today?",
    "tell me a joke",
    "can you translate this to German",
    "convert 10 miles to kilometres",
]


async def test_small_talk_and_unknown_topics_find_nothing(rig: Rig) -> None:
    for text in (*SMALL_TALK, *OFF_THE_SUBJECT):
        assert (text, await rig.ask(text, k=5)) == (text, [])


async def test_without_the_embedder_small_talk_finds_nothing_either(wordy_rig: Rig) -> None:
    for text in (*SMALL_TALK, *OFF_THE_SUBJECT):
        assert (text, await wordy_rig.ask(text, k=5)) == (text, [])


async def test_earlier_equal_small_talk_is_not_recalled(rig: Rig) -> None:
    assert "ok" in rig.texts.values()
    assert await rig.ask("ok", k=5) == []


@pytest.mark.parametrize(("asker", "answer"), [(ANNA, "Lisbon"), (BORIS, "Oslo")])
async def test_the_pronoun_i_means_the_asker(rig: Rig, asker: int, answer: str) -> None:
    (found,) = await rig.ask("where do I live?", asker=asker)
    assert answer in found


@pytest.mark.parametrize(("name", "answer"), [("Anna", "whales"), ("Boris", "pirates")])
async def test_a_question_with_a_name_prefers_messages_of_that_person(
    rig: Rig, name: str, answer: str
) -> None:
    (found,) = await rig.ask(f"Which novel is {name} reading?")
    assert answer in found


async def test_a_question_for_a_time_prefers_a_message_with_one(rig: Rig) -> None:
    (found,) = await rig.ask("When did Boris go hiking?")
    assert found.startswith("Yesterday we went hiking")


@pytest.mark.parametrize(("month", "answer"), [("May", "broke my ankle"), ("September", "nobody fell")])
async def test_a_month_in_the_question_prefers_messages_of_that_month(
    rig: Rig, month: str, answer: str
) -> None:
    (found,) = await rig.ask(f"What happened to Boris hiking in {month}?")
    assert answer in found


async def test_a_month_alone_finds_messages_of_that_month(rig: Rig) -> None:
    found = await rig.ask("What happened in July?", k=3)
    said_in_july = {text for _, text in TALK["2025-07-19"]}
    assert found
    assert set(found) <= said_in_july


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Boris's dog called?", "Yes, Bruno. He is nine now and sleeps all day"),
        ("What food does Boris like?", "Mushroom risotto with lots of parmesan"),
        ("What did Boris buy his daughter?", "A red backpack with a fox on it"),
    ],
)
async def test_an_answer_without_the_questions_words_is_found_by_the_message_before_it(
    rig: Rig, question: str, answer: str
) -> None:
    assert answer in await rig.ask(question, k=3)


async def test_a_search_can_ask_for_a_speaker(rig: Rig) -> None:
    where = Where(sender_ids=frozenset({BORIS}))
    assert await rig.ask("Where does Anna live?", where=where) != [ANSWERS["Where does Anna live?"]]
    said_by_boris = {text for lines in TALK.values() for speaker, text in lines if speaker == BORIS}
    assert set(await rig.ask("Who lives where?", k=9, where=where)) <= said_by_boris


async def test_excluded_messages_are_not_found_even_as_neighbours(rig: Rig) -> None:
    hidden = frozenset(number for number, text in rig.texts.items() if "ankle" in text or "plaster" in text)
    found = await rig.ask("What did Boris break hiking?", k=9, where=Where(excluded=hidden))
    assert not [text for text in found if "ankle" in text or "plaster" in text]


RUSSIAN: dict[str, Sequence[Line]] = {
    "2025-03-02": [
        (ANNA, "Привет! Месяц назад я переехала жить под Лиссабон"),
        (BORIS, "Здорово! Мой дом по-прежнему под Осло"),
        (ANNA, "Собака всё ещё жива?"),
        (BORIS, "Да, Бруно уже девять лет"),
    ],
    "2025-05-11": [
        (BORIS, "Вчера я сломал ногу на прогулке"),
        (ANNA, "Ой, больно?"),
        (BORIS, "Врач сказал, шесть недель гипса"),
        (ANNA, "Моя сестра работает медсестрой, больница детская"),
        (BORIS, "Меня мучает аллергия на арахис"),
    ],
}
CHINESE: dict[str, Sequence[Line]] = {
    "2025-03-02": [
        (ANNA, "我上个月搬到里斯本了"),
        (BORIS, "太好了。我还住在奥斯陆"),
        (ANNA, "你的狗怎么样"),
        (BORIS, "它已经九岁了。整天睡觉"),
    ],
    "2025-05-11": [
        (BORIS, "昨天我去爬山摔断了脚踝"),
        (ANNA, "疼吗"),
        (BORIS, "我对花生过敏"),
        (ANNA, "我妹妹在儿童医院当护士"),
    ],
}


@pytest.mark.parametrize(
    ("talk", "question", "answer"),
    [
        (RUSSIAN, "Кто переезжал под Лиссабон?", "Привет! Месяц назад я переехала жить под Лиссабон"),
        (RUSSIAN, "Кто сломал ногу?", "Вчера я сломал ногу на прогулке"),
        (
            RUSSIAN,
            "Что за больница, где работает сестра?",
            "Моя сестра работает медсестрой, больница детская",
        ),
        (CHINESE, "谁对花生过敏", "我对花生过敏"),
        (CHINESE, "妹妹在哪里工作", "我妹妹在儿童医院当护士"),
        (CHINESE, "谁搬到里斯本", "我上个月搬到里斯本了"),
    ],
)
async def test_text_in_a_script_unknown_to_the_embedder_is_found_by_its_words(
    index: QdrantIndex, minilm: MiniLMEmbedder, talk: dict[str, Sequence[Line]], question: str, answer: str
) -> None:
    rig = Rig(Recall(Spaces(serving=Space(embedder=Remembering(minilm), index=index))))
    await rig.index(talk)
    assert await rig.ask(question) == [answer]


async def test_a_chat_of_one_message_finds_it_only_for_a_fitting_question(
    index: QdrantIndex, minilm: MiniLMEmbedder
) -> None:
    rig = Rig(Recall(Spaces(serving=Space(embedder=Remembering(minilm), index=index))))
    await rig.index({"2025-03-02": [(ANNA, "My sister Anna lives in Lisbon")]})
    assert await rig.ask("Where does my sister live?", asker=ANNA) == ["My sister Anna lives in Lisbon"]
    assert await rig.ask("How long do I boil eggs?", asker=ANNA) == []


SPANISH: dict[str, Sequence[Line]] = {
    "2025-03-02": [
        (ANNA, "Acabo de mudarme a Valencia, vivo cerca de la playa"),
        (None, "¡Bienvenida! ¿Qué tal la ciudad?"),
        (ANNA, "Mi hijo empieza el cole el lunes"),
        (ANNA, "Tiene alergia al huevo, hay que avisar en el comedor"),
        (None, "Te ayudo a escribir la nota"),
    ],
    "2025-05-11": [
        (ANNA, "Mi jefe es insoportable, me cambia los turnos cada semana"),
        (None, "Eso es agotador"),
        (ANNA, "He comprado un coche de segunda mano por 6.500 euros"),
        (None, "¡Enhorabuena!"),
        (ANNA, "El sábado cenamos con mis suegros, haré una paella"),
        (ANNA, "Me he apuntado a clases de yoga los martes"),
        (None, "Te vendrá bien"),
        (ANNA, "La contraseña del wifi es girasol77"),
    ],
}


async def test_texts_that_the_embedder_finds_equally_similar_stay_below_the_floor(
    index: QdrantIndex, minilm: MiniLMEmbedder
) -> None:
    """MiniLM learned English: its cosine of any two Spanish texts is 0.4."""
    rig = Rig(Recall(Spaces(serving=Space(embedder=Remembering(minilm), index=index))))
    await rig.index(SPANISH)
    for question, answer in (
        ("¿dónde vivo?", "Valencia"),
        ("¿a qué tiene alergia mi hijo?", "huevo"),
        ("¿cuándo tengo yoga?", "martes"),
        ("¿cuál es la contraseña del wifi?", "girasol77"),
    ):
        assert any(answer in text for text in await rig.ask(question, k=3, asker=ANNA)), question
    for question in ("¿quién ganó el partido?", "¿qué es el blockchain?", "cuéntame un chiste", "lo siento"):
        assert (question, await rig.ask(question, k=3, asker=ANNA)) == (question, [])


@pytest.mark.parametrize("is_wordy", [False, True])
async def test_bare_words_find_messages_with_these_words(rig: Rig, wordy_rig: Rig, is_wordy: bool) -> None:
    asked = wordy_rig if is_wordy else rig
    for words in ("Lisbon?", "parmesan", "tax forms", "Bruno"):
        (found,) = await asked.ask(words)
        assert words.rstrip("?") in found


async def test_a_search_tool_finds_courtesies_and_unlikely_messages_too(rig: Rig) -> None:
    asked = RecallQuestion(text="thanks", people=PEOPLE, now=NOW)
    for question, count in (
        (asked, 0),
        (replace(asked, is_deliberate=True, is_floored=False), 5),
        (replace(asked, text="quantum entanglement", is_deliberate=True), 0),
        (replace(asked, text="quantum entanglement", is_floored=False), 5),
    ):
        assert len(await rig.recall.search(rig.ref, 0, question, k=5)) == count


async def test_a_search_without_the_floor_says_which_hits_are_likely(rig: Rig) -> None:
    asked = RecallQuestion(text="Where does my sister live?", people=PEOPLE, asker_id=ANNA, now=NOW)
    floored = await rig.recall.search(rig.ref, 0, asked, k=50)

    found = await rig.recall.search(rig.ref, 0, replace(asked, is_floored=False), k=50)

    likely = [hit for hit in found if hit.is_likely]
    assert likely == [hit for hit in floored if hit.score >= floored[0].score - LIKELY_WITHIN]
    assert 0 < len(likely) < len(found)


async def test_a_search_for_nothing_known_has_no_likely_hits(rig: Rig) -> None:
    asked = RecallQuestion(text="quantum entanglement", people=PEOPLE, now=NOW, is_floored=False)

    found = await rig.recall.search(rig.ref, 0, asked, k=5)

    assert [hit.is_likely for hit in found] == [False] * 5
