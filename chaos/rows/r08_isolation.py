"""R8: a thousand chats with similar ids write the same text with different words. None sees another's."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import cycle
from random import Random
from typing import Literal

from chaos.card import Bench, Row, Score
from chaos.rig.chat_driver import ChatDriver, driving_chats
from chaos.rig.chat_load import Place
from chaos.rig.evidence import settled
from chaos.rig.isolation_checks import NAMES, WatchingModel, describe_requests, line_of
from chaos.rig.system import System, running_system
from simulator.api.groups import upgrade_group
from simulator.api.people import Line, write_line
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Person, Topic, direct_topic_of
from tests.scripted_openai import ScriptedOpenAI

_SUPERGROUP = -1_000_000_000_000
_LARGEST = (1 << 52) - 1
_HEARD_WITHIN_S = 180.0
_TOPICS = (1, 2, 12, 22)
_WRITERS = 5
"""People of one channel; the first is its administrator."""
_EVERY_SO_MANY_LINES = 1_000
_REQUESTS_KEPT = 500


def place_strangers(simulation: Simulation, count: int) -> list[Place]:
    """Create this many contexts in all forms of chats, with the same people and ids that begin like others'.

    A third are private chats. Groups become supergroups in the middle.
    """
    mention = f"@{simulation.config.bot_username}"
    places: list[Place] = []
    for at, person_id in enumerate(_ids_of_people(count // 3)):
        person = Person(id=person_id, first_name=NAMES[at % len(NAMES)], username=f"stranger_{at}")
        simulation.world.add_person(person)
        places.append(Place(chat_id=person_id, writer_id=person_id, form="private"))
    writers = [place.writer_id for place in places]
    makers = cycle([_private_topics, _group, _forum, _comments, _direct_messages])
    number = 0
    while len(places) < count:
        several = [writers[(number + step) % len(writers)] for step in range(_WRITERS)]
        made = next(makers)(simulation, number, several)
        places += [
            replace(each, mention="" if each.chat_id > 0 else mention) for each in made[: count - len(places)]
        ]
        number += 1
    return places


def _private_topics(simulation: Simulation, number: int, writers: Sequence[int]) -> list[Place]:
    """Return the topics of a private chat."""
    chat = simulation.world.chats[writers[0]]
    if chat.topics:
        return []
    simulation.world.put_chat(replace(chat, topics=_topics()))
    return [
        Place(chat_id=chat.id, writer_id=chat.id, thread_id=each, form="topic of a private chat")
        for each in _TOPICS
    ]


def _group(simulation: Simulation, number: int, writers: Sequence[int]) -> list[Place]:
    chat = _put_chat(simulation, -1 - number, "group", writers[:1])
    return [Place(chat_id=chat.id, writer_id=writers[0], form="group")]


def _forum(simulation: Simulation, number: int, writers: Sequence[int]) -> list[Place]:
    chat = _put_chat(simulation, _free_id(simulation, number), "supergroup", writers[:1])
    chat = simulation.world.put_chat(replace(chat, is_forum=True, topics=_topics()))
    return [
        Place(chat_id=chat.id, writer_id=writers[0], thread_id=topic.thread_id, form="forum")
        for topic in chat.topics
    ]


def _comments(simulation: Simulation, number: int, writers: Sequence[int]) -> list[Place]:
    """Return the comments under one post, by the channel itself."""
    group = _put_chat(simulation, _free_id(simulation, number), "supergroup", writers[:1])
    channel = _put_chat(simulation, _free_id(simulation, number), "channel", writers[:1])
    simulation.world.put_chat(replace(channel, comments_id=group.id, bot_status="administrator"))
    write_line(simulation, Line(chat_id=channel.id, from_id=writers[0], text="*"))
    post = simulation.world.newest(group.id, 1)[0]
    return [
        Place(
            chat_id=group.id, writer_id=writers[0], reply_to=post.id, as_channel=channel.id, form="comments"
        )
    ]


def _direct_messages(simulation: Simulation, number: int, writers: Sequence[int]) -> list[Place]:
    """Return the topics of several people in the direct messages of one channel."""
    channel = _put_chat(simulation, _free_id(simulation, number), "channel", writers)
    direct = replace(channel, id=_free_id(simulation, number), type="supergroup", parent_id=channel.id)
    simulation.world.put_chat(replace(direct, bot_status="administrator"))
    return [
        Place(chat_id=direct.id, writer_id=each, thread_id=direct_topic_of(each), form="direct messages")
        for each in sorted(set(writers) - {*channel.admins})
    ]


def _free_id(simulation: Simulation, number: int) -> int:
    """Return a free id of a supergroup or channel, with one digit more each time, starting again at the end."""
    chat_id = _SUPERGROUP - int(str(number + 1) * (number % 3 + 1))
    while chat_id in simulation.world.chats:
        chat_id -= 1
    return chat_id


def _topics() -> tuple[Topic, ...]:
    return (Topic(thread_id=None, name="General"), *(Topic(thread_id=each, name="*") for each in _TOPICS))


def _ids_of_people(count: int) -> list[int]:
    """Return ids whose digits are prefixes of others: 1, 10, 100 … 11, 110 …, and the largest ones."""
    wanted = {_LARGEST, _LARGEST // 10, 2**31, 2**31 - 1}
    first = 1
    while len(wanted) < count:
        wanted |= {first * 10**zeros for zeros in range(12)}
        first += 1
    return sorted(wanted - {1001})[:count]


def _put_chat(
    simulation: Simulation,
    chat_id: int,
    kind: Literal["group", "supergroup", "channel"],
    writers: Sequence[int],
) -> Chat:
    people = tuple(writers)
    chat = Chat(id=chat_id, type=kind, title="{m0}:ctx:*", members=people, admins=people[:1])
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
    forms = Counter(place.form for place in places)
    score.note("contexts", ", ".join(f"{count:,} {form}" for form, count in forms.items()))
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


ROW = Row(
    name="R8",
    title="isolation",
    load="{40|1,000} contexts, {160|50,000} turns, with recall; every turn asks for what others said",
    fault="all forms of chats, like ids, groups that migrate, names such as `*`; tools called with others' ids",
    hold="0 words of another context in any prompt",
    run=run,
)
