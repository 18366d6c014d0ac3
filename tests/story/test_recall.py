"""Stories of recall over hundreds of lines: what is found, who said it, and what is left out."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from bot.agent.prompt.text import RECALLED_HEADING
from memory.history.message import Message, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.tokens import tokenizer_for
from tests.scripted_replies import call, calls, text
from tests.scripted_script import echo
from tests.story.compressions import talk
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, make_ref, running_bot
from tests.story.prompts import prompt_texts, recalled, tool_results

DAY_S = 86_400.0
LINES = 320
WINDOW = 50
"""No window has more messages than this without a summary model."""
EMBEDDED: dict[str, Any] = {"openai_embedding_model": "", "openai_summary_model": ""}
"""The embedded default embedder, and a window that is all there is besides recall."""
NAMES = {OLGA: "Olga Petrova", BEN: "Ben Hart", CHIARA: "Chiara Rossi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A fact, a question for it hundreds of lines later, and the lines between."""

    told: str
    asked: str
    thanks: str
    others: Sequence[str]
    things: Sequence[str]
    actions: Sequence[str]

    def small_talk(self) -> Iterator[str]:
        """Return more than LINES different lines, some of them similar to the fact."""
        yield from self.others
        for action, thing in product(self.actions, self.things):
            yield f"{action} {thing}"


ENGLISH = Language(
    told="my sister Anna lives in Lisbon",
    asked="where does Anna live?",
    thanks="thanks!",
    others=("my brother Tom works in Porto", "my aunt likes the sea", "the neighbours live upstairs"),
    things=(
        *(
            "the kettle",
            "the ladder",
            "a brush",
            "the lamp",
            "the saw",
            "some rope",
            "the old boat",
            "my bike",
        ),
        *("the shelf", "a new door", "the fence", "the garden", "our car", "the tent", "the oven", "a chair"),
    ),
    actions=(
        *("I have painted", "please clean", "tomorrow we sell", "nobody wants", "we could lend", "he forgot"),
        *(
            "I dreamt of",
            "it was cheap to buy",
            "she asked about",
            "do not touch",
            "let us measure",
            "we miss",
        ),
        *("I mended", "they photographed", "I will carry", "who broke", "we looked for", "it rained on"),
        *("he is proud of", "you may borrow"),
    ),
)
RUSSIAN = Language(
    told="Моя сестра Анна живёт в Лиссабоне",
    asked="где живёт моя сестра?",
    thanks="спасибо!",
    others=("Мой брат Олег работает в Порту", "Тётя любит море", "Соседи шумят наверху"),
    things=(
        *("чайник", "лестницу", "кисть", "лампу", "пилу", "верёвку", "лодку", "велосипед"),
        *("полку", "дверь", "забор", "сад", "машину", "палатку", "печь", "стул"),
    ),
    actions=(
        *("надо покрасить", "пора помыть", "завтра продаём", "никто не берёт", "можно одолжить", "он забыл"),
        *("мне снилось про", "дёшево купили", "она спрашивала про", "не трогай", "давай измерим", "жаль"),
        *("я починил", "они сняли", "я понесу", "кто сломал", "мы искали", "дождь залил"),
        *("он хвалит", "возьми"),
    ),
)
SPANISH = Language(
    told="Mi hermana Ana vive en Lisboa",
    asked="¿dónde vive mi hermana?",
    thanks="¡gracias!",
    others=(
        "Mi hermano Tomás trabaja en Oporto",
        "A mi tía le gusta el mar",
        "Los vecinos hacen ruido arriba",
    ),
    things=(
        *(
            "la tetera",
            "la escalera",
            "un pincel",
            "la lámpara",
            "la sierra",
            "una cuerda",
            "el barco",
            "la bici",
        ),
        *(
            "el estante",
            "la puerta",
            "la valla",
            "el jardín",
            "el coche",
            "la tienda",
            "el horno",
            "una silla",
        ),
    ),
    actions=(
        *("he pintado", "hay que limpiar", "mañana vendemos", "nadie quiere", "podemos prestar", "olvidó"),
        *("soñé con", "fue barato comprar", "ella preguntó por", "no toques", "vamos a medir", "falta"),
        *("arreglé", "fotografiaron", "yo llevo", "quién rompió", "buscamos", "llovió sobre"),
        *("presume de", "puedes usar"),
    ),
)


def lines_of(
    texts: Sequence[str], *, first: int = 0, sender: int = BEN, began: float = 0.0, pause_s: float = 600.0
) -> list[Message]:
    """Return messages of one person. `began` is the time of the first; by default the last is an hour old."""
    began = began or time.time() - 3600 - pause_s * len(texts)
    return [
        Message(
            id=message_id("story", sender, first + number),
            role="user",
            text=each,
            sent_at=float(int(began + pause_s * number)),
            tokens=len(each.split()),
            sender=Sender(id=sender, name=NAMES[sender]),
        )
        for number, each in enumerate(texts)
    ]


async def remember(bot: Story, messages: Sequence[Message], chat: int = BEN) -> None:
    """Store and index these messages in the chat's history."""
    for start in range(0, len(messages), 64):
        await RedisHistory(bot.redis).append(make_ref(chat), messages[start : start + 64], epoch=0)
        await bot.wait_until_indexed()


def recalled_texts(bot: Story) -> str:
    return recalled(bot.prompts()[-1])


@pytest.mark.parametrize("language", [ENGLISH, RUSSIAN, SPANISH], ids=["English", "Russian", "Spanish"])
async def test_a_fact_is_recalled_hundreds_of_lines_later_and_small_talk_recalls_nothing(
    stores: StoryStores, language: Language
) -> None:
    around = [language.told, *list(language.small_talk())[: LINES - 1]]
    async with running_bot(stores, echo, **EMBEDDED) as bot:
        await remember(bot, lines_of(around))

        await talk(bot, language.asked)
        answered = recalled_texts(bot)
        await talk(bot, language.thanks)

        heading, *lines = answered.splitlines()
        assert heading == RECALLED_HEADING
        assert 1 <= len(lines) <= 25
        assert any(line.endswith(f'] user: "{language.told}"') for line in lines)
        assert "days ago] user:" in answered
        assert language.told not in prompt_texts(bot.prompts()[0])
        assert recalled_texts(bot) == ""


async def test_messages_of_the_window_are_not_recalled(stores: StoryStores) -> None:
    near = [f"Anna lives there, said number {number}: where does Anna live?" for number in range(5)]
    texts = ["my sister Anna lives in Lisbon", *list(ENGLISH.small_talk())[:80], *near]
    async with running_bot(stores, echo, recall_k=1, openai_summary_model="") as bot:
        await remember(bot, lines_of(texts))

        await talk(bot, "where does Anna live?")

        assert set(near) <= set(prompt_texts(bot.prompts()[-1]))
        assert recalled_texts(bot).endswith('] user: "my sister Anna lives in Lisbon"')


async def test_neighbours_of_a_hit_are_shown_except_those_of_another_session(stores: StoryStores) -> None:
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0).timestamp() - 2 * DAY_S
    talked = lines_of(["the shop opens at nine"], first=900, began=noon - DAY_S) + lines_of(
        ["guess who has moved", "my sister Anna lives in Lisbon", "by the river", "she has a parrot"],
        first=910,
        began=noon,
    )
    texts = list(ENGLISH.small_talk())[:80]
    options: dict[str, Any] = {"recall_k": 1, "recall_neighbours": 2, "openai_summary_model": ""}
    async with running_bot(stores, echo, **options) as bot:
        await remember(bot, [*talked, *lines_of(texts, began=noon + DAY_S, pause_s=60)])

        await talk(bot, "in which city does my sister Anna live")

        day = datetime.fromtimestamp(noon, UTC).strftime("%Y-%m-%d")
        assert recalled_texts(bot) == (
            f"{RECALLED_HEADING}\n"
            f'  [{day} 12:00 UTC, said just before] user: "guess who has moved"\n'
            f'[{day} 12:10 UTC, 2 days ago] user: "my sister Anna lives in Lisbon"\n'
            f'  [{day} 12:20 UTC, said just after] user: "by the river"\n'
            f'  [{day} 12:30 UTC, said just after] user: "she has a parrot"'
        )


async def test_a_long_message_is_told_by_its_best_sentences_and_why_shows_the_same(
    stores: StoryStores,
) -> None:
    long = (
        f"{'The weather was dull again. ' * 30}My sister Anna lives in Lisbon. {'It rained all day. ' * 30}"
    )
    async with running_bot(stores, echo, recall_k=4, **EMBEDDED) as bot:
        await remember(bot, lines_of([long, *list(ENGLISH.small_talk())[:80]]))

        await talk(bot, "in which city does my sister Anna live?")
        (line,) = [each for each in recalled_texts(bot).splitlines() if "sister Anna" in each]
        mark, _, quoted = line.partition("] user: ")
        excerpt = json.loads(quoted)
        why = await bot.ask(BEN, "/why")

        assert mark.endswith(", excerpt")
        assert re.fullmatch(r"… .*My sister Anna lives in Lisbon\. .* …", excerpt)
        assert len(excerpt) <= 310
        assert f"“{excerpt}”" in why


async def test_an_older_statement_stands_with_the_newer_one_and_both_are_marked(stores: StoryStores) -> None:
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0).timestamp() - 9 * DAY_S
    older = lines_of(["my sister Anna lives in Lisbon"], first=900, began=noon)
    newer = lines_of(["my sister Anna lives in Porto now"], first=910, began=noon + 2 * DAY_S)
    texts = list(ENGLISH.small_talk())[:80]
    async with running_bot(stores, echo, recall_k=2, **EMBEDDED) as bot:
        await remember(bot, [*older, *newer, *lines_of(texts, began=noon + 3 * DAY_S, pause_s=60)])

        await talk(bot, "where does my sister Anna live?")

        first, second = (datetime.fromtimestamp(at, UTC).date() for at in (noon, noon + 2 * DAY_S))
        assert recalled_texts(bot).splitlines()[1:] == [
            f'[{first} 12:00 UTC, 9 days ago (older; see {second})] user: "my sister Anna lives in Lisbon"',
            f'[{second} 12:00 UTC, 7 days ago (newer)] user: "my sister Anna lives in Porto now"',
        ]


async def test_recalled_lines_end_where_their_tokens_are_spent(stores: StoryStores) -> None:
    texts = [f"my sister Anna lives in house number {number}" for number in range(30)]
    async with running_bot(stores, echo, recall_tokens=300, **EMBEDDED) as bot:
        await remember(bot, lines_of([*texts, *list(ENGLISH.small_talk())[:60]]))

        await talk(bot, "where does my sister Anna live?")

        tokens = tokenizer_for("gpt-4o").count(recalled_texts(bot))
        assert 200 < tokens <= 300


async def test_in_a_group_messages_of_one_person_can_be_searched_and_an_unknown_name_is_refused(
    stores: StoryStores,
) -> None:
    script = [
        calls(call("search_memory", {"query": "who brings the tent", "speaker": "Chiara"}, call_id="c1")),
        calls(call("search_memory", {"query": "who brings the tent", "speaker": "me"}, call_id="c2")),
        calls(call("search_memory", {"query": "the tent", "speaker": "Zoe"}, call_id="c3")),
        calls(call("search_memory", {"query": "the tent", "after": "soon"}, call_id="c4")),
        text("Chiara does."),
    ]
    async with running_bot(stores, script, recall_k=0) as bot:
        for sender, line in ((BEN, "I can bring the tent"), (CHIARA, "no, I bring the tent, it is mine")):
            await remember(bot, lines_of([line, "and the stove"], sender=sender), WEEKEND)

        await bot.ask(BEN, "@mnemogram_bot what did Chiara say of the tent?", chat=WEEKEND)

        hers, mine, stranger, no_day = tool_results(bot.prompts()[-1])
        assert ' ago] Chiara Rossi: "no, I bring the tent, it is mine"' in hers
        assert "Ben Hart" not in hers
        assert ' ago] Ben Hart: "I can bring the tent"' in mine
        assert "Chiara" not in mine
        assert "speaker: Zoe is not known here. Known are Ben Hart, Chiara Rossi;" in stranger
        assert "after: " in no_day
        assert "must be a day such as 2026-05-31" in no_day


async def test_in_a_group_i_means_the_asker(stores: StoryStores) -> None:
    async with running_bot(stores, echo, recall_k=1, **EMBEDDED) as bot:
        for sender, city in ((OLGA, "Porto"), (BEN, "Bergen"), (CHIARA, "Turin")):
            await remember(bot, lines_of([f"I live in {city}", "hello there"], sender=sender), WEEKEND)
        await remember(bot, lines_of(list(ENGLISH.small_talk())[3:93], sender=OLGA, first=10), WEEKEND)

        asked: dict[int, str] = {}
        for person in (BEN, CHIARA):
            await bot.ask(person, "@mnemogram_bot where do I live?", chat=WEEKEND)
            asked[person] = recalled_texts(bot)

        assert asked[BEN].endswith('] Ben Hart: "I live in Bergen"')
        assert asked[CHIARA].endswith('] Chiara Rossi: "I live in Turin"')
