"""Facts in stories, as an extraction would have saved them."""

from dataclasses import replace

from memory.facts.context_facts import list_all
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from tests.planted_facts import plant_facts
from tests.story.harness import BEN, Story, make_ref

NAMES = {1001: "Olga Marin", 1002: "Ben Hart", 1003: "Chiara Rossi"}


async def plant(
    bot: Story,
    *statements: str,
    chat: int = BEN,
    thread: int | None = None,
    is_direct: bool = False,
    about: int = BEN,
    said_by: int | None = None,
    valid_to: float | None = None,
) -> list[Fact]:
    """Save facts that rest on the newest message of a person in the chat. Each is newer than the one before."""
    ref = make_ref(chat, thread, is_direct=is_direct)
    history = await bot.history(chat, thread, is_direct=is_direct)
    message = [each for each in history.newest if each.role == "user"][-1]
    known = len(await list_all(RedisFacts(bot.redis, clock=lambda: 0.0), ref))
    blank = Fact(
        id="",
        subject=NAMES.get(about, "Ann"),
        subject_id=about,
        statement="",
        said_by=about if said_by is None else said_by,
        message_ids=(message.id,),
        valid_from=message.sent_at,
        valid_to=valid_to,
        confidence=0.9,
    )
    facts = [
        replace(blank, id=f"fact{number}", statement=statement, valid_from=message.sent_at + number)
        for number, statement in enumerate(statements, known)
    ]
    await plant_facts(bot.redis, ref, facts)
    return facts


async def known_in(bot: Story, chat: int = BEN, thread: int | None = None) -> list[str]:
    """Return the statements of a chat or topic: those that hold first, the newest first."""
    facts = await list_all(RedisFacts(bot.redis, clock=lambda: 0.0), make_ref(chat, thread))
    return [fact.statement for fact in facts]
