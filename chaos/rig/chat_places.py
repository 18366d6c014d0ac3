"""Private chats, and forums with topics in which one administrator writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from chaos.rig.chat_load import Place, private_place
from chaos.rig.system import System
from simulator.api.groups import Gathering, Newcomer, add_chat, add_person


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPlaces:
    """The places of one chat: a private one, or General and two topics."""

    places: Sequence[Place]


def make_chat_places(system: System, *, private: int, groups: int) -> list[ChatPlaces]:
    """Make new chats. The writer in a group is its administrator, so that every command is allowed."""
    simulation = system.simulator.simulation
    homes = [ChatPlaces(places=[private_place(simulation, number)]) for number in range(private)]
    mention = f"@{simulation.config.bot_username}"
    for number in range(groups):
        person = add_person(simulation, Newcomer(first_name=f"Head {number}"))
        forum = Gathering(
            title=f"Forum {number}",
            type="supergroup",
            is_forum=True,
            members=(person.id,),
            admins=(person.id,),
            topics=("One", "Two"),
        )
        chat = add_chat(simulation, forum)
        places = [
            Place(chat_id=chat.id, writer_id=person.id, thread_id=topic.thread_id, mention=mention)
            for topic in chat.topics
        ]
        homes.append(ChatPlaces(places=places))
    return homes
