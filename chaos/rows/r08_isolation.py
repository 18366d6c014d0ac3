"""R8: a thousand chats with similar ids write the same text with different words. None sees another's."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from random import Random

from chaos.card import Bench, Row, Score
from chaos.rig.chat_driver import ChatDriver, driving_chats
from chaos.rig.chat_load import Place
from chaos.rig.evidence import settled
from chaos.rig.isolation_checks import NAMES, WatchingModel, describe_requests, line_of
from chaos.rig.system import System, running_system
from simulator.api.groups import upgrade_group
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Person, Topic
from tests.scripted_openai import ScriptedOpenAI

_SUPERGROUP = -1_000_000_000_000
_LARGEST = (1 << 52) - 1
_HEARD_WITHIN_S = 180.0
_TOPICS = (1, 2, 12, 22)
_EVERY_SO_MANY_LINES = 1_000
_REQUESTS_KEPT = 500


def place_strangers(simulation: Simulation, count: int) -> list[Place]:
    """Create this many contexts whose ids begin like others':

    private chats, topics of forums and groups that become supergroups, with the same people.
    """
    mention = f"@{simulation.config.bot_username}"
    places: list[Place] = []
    for at, person_id in enumerate(_ids_of_people(count // 2)):
        person = Person(id=person_id, first_name=NAMES[at % len(NAMES)], username=f"stranger_{at}")
        simulation.world.add_person(person)
        places.append(Place(chat_id=person_id, writer_id=person_id))
    writers = [place.writer_id for place in places]
    number = 0
    while len(places) < count:
        writer = writers[number % len(writers)]
        if number % 3 == 0:
            chat = _put_chat(simulation, -1 - number, "group", writer)
            places.append(Place(chat_id=chat.id, writer_id=writer, mention=mention))
        elif (chat_id := _SUPERGROUP - _forum_number(number)) not in simulation.world.chats:
            chat = _put_chat(simulation, chat_id, "supergroup", writer)
            places += [
                Place(chat_id=chat.id, writer_id=writer, thread_id=topic.thread_id, mention=mention)
                for topic in chat.topics[: count - len(places)]
            ]
        number += 1
    return places


def _ids_of_people(count: int) -> list[int]:
    """Return ids whose digits are prefixes of others: 1, 10, 100 … 11, 110 …, and the largest ones."""
    wanted = {_LARGEST, _LARGEST // 10, 2**31, 2**31 - 1}
    first = 1
    while len(wanted) < count:
        wanted |= {first * 10**zeros for zeros in range(12)}
        first += 1
    return sorted(wanted - {1001})[:count]


def _forum_number(number: int) -> int:
    """Return a forum id with one digit more each time, starting again at the end."""
    return int(str(number + 1) * (number % 3 + 1))


def _put_chat(simulation: Simulation, chat_id: int, kind: str, writer: int) -> Chat:
    is_forum = kind == "supergroup"
    topics = [Topic(thread_id=None, name="General"), *(Topic(thread_id=each, name="*") for each in _TOPICS)]
    chat = Chat(
        id=chat_id,
        type="supergroup" if is_forum else "group",
        title="{m0}:ctx:*",
        is_forum=is_forum,
        members=(writer,),
        admins=(writer,),
        topics=tuple(topics) if is_forum else (),
    )
    return simulation.world.put_chat(chat)


async def run(bench: Bench) -> Score:
    """Let everyone write line after line, waiting only for their own answer."""
    score, model = Score(), WatchingModel(random=bench.random)
    async with _running(bench, model) as system, driving_chats(system) as talk:
        await system.start("serve", "work", "work")
        simulation = system.simulator.simulation
        places = place_strangers(simulation, bench.pick(40, 1_000))
        each = bench.pick(4, 50)
        counted = _Counted(bench, len(places) * each, system.model)
        async with asyncio.TaskGroup() as speaking:
            for context, place in enumerate(places):
                random = Random(bench.seed * 1_000_003 + context)
                speaking.create_task(_speak(talk, place, context, lines=each, random=random, counted=counted))
        await settled(system.redis)
    for found in model.foreign[:5]:
        bench.say(found)
    score.exactly("words and lines of other contexts in prompts", len(model.foreign), 0)
    score.exactly("prompts of an unknown context", model.unowned, 0)
    score.at_least("prompts with a message recalled from their own context", model.recalled, len(places))
    score.exactly("turns", counted.done, len(places) * each)
    score.at_least("attempts to read an artifact of another context", model.pried, counted.done // 50)
    score.note("contexts", ", ".join(f"{count:,} {kind}" for kind, count in kinds_of(places).items()))
    for what, figure in describe_requests(model).items():
        score.note(what, figure)
    return score


def _running(bench: Bench, model: WatchingModel) -> AbstractAsyncContextManager[System]:
    return running_system(
        bench.directory,
        model,
        OPENAI_EMBEDDING_MODEL="scripted-embedding",
        OPENAI_SUMMARY_MODEL="",
        WINDOW_TOKENS="100",
        options={"artifact_chars": 1000},
        STREAMING="false",
    )


class _Counted:
    """A counter of answered lines that prints progress."""

    def __init__(self, bench: Bench, planned: int, model: ScriptedOpenAI) -> None:
        self._bench = bench
        self._model = model
        self._planned = planned
        self.done = 0

    def note(self) -> None:
        """Count one more."""
        self.done += 1
        if self.done % _REQUESTS_KEPT == 0:
            self._model.requests.clear()
        if self.done % _EVERY_SO_MANY_LINES == 0:
            self._bench.say(f"{self.done:,} of {self._planned:,} turns")


async def _speak(
    talk: ChatDriver, place: Place, context: int, *, lines: int, random: Random, counted: _Counted
) -> None:
    """Write line after line. A group becomes a supergroup in the middle and stays the same context."""
    for number in range(lines):
        if number == lines // 2 and place.chat_id < 0 and place.chat_id > _SUPERGROUP:
            place = _upgrade(talk.simulation, place)
        said = line_of(context, number, random)
        await talk.ask(place, said, words=f"t{context}x{number}", within_s=_HEARD_WITHIN_S)
        counted.note()


def _upgrade(simulation: Simulation, place: Place) -> Place:
    chat = upgrade_group(simulation, chat_id=place.chat_id, from_id=place.writer_id)
    return replace(place, chat_id=chat.id)


def kinds_of(places: Sequence[Place]) -> dict[str, int]:
    """Return the number of contexts of each kind."""
    return {
        "private": sum(place.chat_id > 0 for place in places),
        "group": sum(0 > place.chat_id > _SUPERGROUP for place in places),
        "topic": sum(place.chat_id < _SUPERGROUP for place in places),
    }


ROW = Row(
    name="R8",
    title="isolation",
    load="{40|1,000} contexts, {160|50,000} turns, with recall; every turn asks for what others said",
    fault="ids with the same beginning, topics, groups that migrate, names such as `*`; tools called with others' ids",
    hold="0 words of another context in any prompt",
    run=run,
)
