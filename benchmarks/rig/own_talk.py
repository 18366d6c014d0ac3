"""Makes up conversations of a person with a bot that answers at length, from the phrases in own_talk.toml.

The ranker's weights learn from them what long replies change: no public set of such talk may be learned from.
"""

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rig.locomo import TURN_S, Conversation, Question, Turn

PHRASES = Path(__file__).parent.parent / "own_talk.toml"
PERSON, BOT = "Robin", "Mnemobot"
REPLY_WORDS = (30, 80, 160, 250, 350, 450)
"""Words of a usual reply, one number for each conversation in turns."""
_BEGAN = 1_750_000_000.0
_WEEK_S = 7 * 86_400.0
_PROJECTS, _WISHES, _REMARKS, _SESSIONS = 6, 9, 12, 4
_ASKED_OF_ALL = 0.3
"""Share of the single statements that a question asks for."""
_ORDERED = 5
"""Messages that an answer about the order of things needs."""
_RELATIONS = ("sister", "colleague", "neighbour", "cousin", "flatmate", "uncle", "old friend")
_PEOPLE = (
    "Amara",
    "Björn",
    "Chloe",
    "Dev",
    "Elif",
    "Farid",
    "Greta",
    "Hiro",
    "Ivana",
    "Jonah",
    "Kofi",
    "Leila",
)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")


@dataclass(slots=True)
class Message:
    """A message of the person, with the questions that it answers by their keys. Keys are shared by evidence."""

    text: str
    part: str
    project: str
    keys: Sequence[str] = ()
    reply_key: str = ""
    """The question that the bot's reply answers."""


@dataclass(slots=True)
class Script:
    """One conversation in the making."""

    chance: random.Random
    phrases: dict[str, Any]
    messages: list[list[Message]] = field(default_factory=list[list[Message]])
    """Threads: messages that belong together, in order."""
    asked: dict[str, str] = field(default_factory=dict[str, str])
    """Key → question."""

    def say(self, name: str, **values: str) -> str:
        """Return a phrase of this name with the values."""
        return self.fill(self.phrases["general"][name], **values)

    def ask(self, kind: str, key: str, **values: str) -> str:
        """Note a question of this kind, and return its key."""
        self.asked[key] = self.fill(self.phrases["asked"][kind], **values)
        return key

    def fill(self, phrases: Sequence[str], **values: str) -> str:
        """Return one of the phrases with the values."""
        return self.chance.choice(phrases).format(**values)


def make_conversations(count: int, *, seed: int = 1) -> list[Conversation]:
    """Return made-up conversations, always the same for a seed."""
    phrases = tomllib.loads(PHRASES.read_text(encoding="utf-8"))
    return [_make(number, phrases, random.Random(f"{seed} {number}")) for number in range(count)]


def _make(number: int, phrases: dict[str, Any], chance: random.Random) -> Conversation:
    script = Script(chance=chance, phrases=phrases)
    domains = chance.sample(phrases["domains"], _PROJECTS)
    for domain in domains:
        script.messages.append(_talk_about(script, domain))
    for pairs, kind, wanted in (("wishes", "wish", _WISHES), ("remarks", "remark", _REMARKS)):
        for at, pair in enumerate(chance.sample(phrases[pairs], wanted)):
            asked = pair["asked"]
            script.asked[f"{kind} {at}"] = asked if isinstance(asked, str) else chance.choice(asked)
            script.messages.append([Message(pair["said"], "", "", keys=[f"{kind} {at}"])])
    words = REPLY_WORDS[number % len(REPLY_WORDS)]
    turns, evidence = _write(script, domains, words=words)
    return Conversation(
        name=f"own-{number + 1}",
        speakers=(PERSON, BOT),
        turns=tuple(turns),
        questions=tuple(
            Question(text=text, kind=key.split()[0], evidence=frozenset(evidence[key]))
            for key, text in script.asked.items()
        ),
        asker=PERSON,
        bot=BOT,
    )


def _talk_about(script: Script, domain: dict[str, Any]) -> list[Message]:
    """Return the messages about one project, and note questions about them."""
    chance, project = script.chance, domain["project"]
    whole = [script.ask(kind, f"{kind} {project}", project=project) for kind in ("summary", "order", "count")]
    money = script.ask("money", f"money {project}", project=project)
    numbers = chance.sample(range(len(domain["parts"])), len(domain["parts"]))
    messages: list[Message] = []
    late: list[Message] = []
    for place, number in enumerate(numbers):
        part, called = domain["parts"][number], domain["called"][number]
        other = domain["parts"][numbers[place - 1]]
        named = {"part": part, "other": other, "project": project, "called": called}
        named |= {"person": chance.choice(_PEOPLE), "relation": chance.choice(_RELATIONS)}
        named |= {"choice": domain["choices"][number], "date": _date(chance)}
        named |= {"amount": f"{chance.randrange(3, 90)}00 euros"}
        kinds = chance.sample(("decisions", "deadlines", "helpers", "never", "questions_only"), 3)
        new = [_message(script, kind, named, whole) for kind in kinds]
        messages += new
        if place in (1, 5):
            text = script.say("money" if place == 1 else "more_money", **named)
            messages.append(Message(_with_request(script, text, named), part, project, keys=[money]))
        for denial in [each for each in new if each.keys and each.keys[0].startswith("contradiction")]:
            text = script.say("have", **named)
            late.append(Message(_with_request(script, text, named), part, project, keys=denial.keys))
    return [*messages, *late]


def _with_request(script: Script, text: str, named: dict[str, str]) -> str:
    context = [script.say("context", **named) for _ in range(script.chance.randrange(3))]
    return " ".join([*context[:1], text, *context[1:], script.say("requests", **named)])


def _message(script: Script, kind: str, named: dict[str, str], whole: Sequence[str]) -> Message:
    """Return a message of this kind, and note the questions that it answers alone."""
    place = f"{named['part']} / {named['project']}"
    text, part, project = script.say(kind, **named), named["part"], named["project"]
    if kind == "questions_only":
        key = script.ask("bot", f"bot {place}", **named) if script.chance.random() < _ASKED_OF_ALL else ""
        return Message(text, part, project, reply_key=key)
    text = _with_request(script, text, named)
    if kind == "never":
        is_asked = script.chance.random() < _ASKED_OF_ALL
        keys = [script.ask("contradiction", f"contradiction {place}", **named)] if is_asked else []
        return Message(text, part, project, keys=keys)
    single = {"decisions": "decision", "deadlines": "deadline", "helpers": "helper"}[kind]
    keys = (
        [script.ask(single, f"{single} {place}", **named)] if script.chance.random() < _ASKED_OF_ALL else []
    )
    return Message(text, part, project, keys=[*keys, *(whole if kind == "decisions" else whole[:2])])


def _date(chance: random.Random) -> str:
    return f"{chance.choice(_MONTHS)} {chance.randrange(1, 29)}"


def _write(
    script: Script, domains: Sequence[dict[str, Any]], *, words: int
) -> tuple[list[Turn], dict[str, set[str]]]:
    """Return the turns of all sessions, and the evidence of each question."""
    by_project = {domain["project"]: domain for domain in domains}
    evidence: dict[str, set[str]] = {key: set() for key in script.asked}
    turns: list[Turn] = []
    for session, messages in enumerate(_sessions(script), start=1):
        sent_at = _BEGAN + session * _WEEK_S
        number = 0
        for message in messages:
            pair = (message.text, _reply(script, message, by_project.get(message.project), words=words))
            for speaker, text in zip((PERSON, BOT), pair, strict=True):
                name = f"D{session}:{(number := number + 1)}"
                turns.append(Turn(id=name, speaker=speaker, text=text, sent_at=sent_at + number * TURN_S))
                keys = message.keys if speaker == PERSON else [message.reply_key] if message.reply_key else []
                for key in keys:
                    if key.split()[0] != "order" or len(evidence[key]) < _ORDERED:
                        evidence[key].add(name)
    return turns, evidence


def _sessions(script: Script) -> list[list[Message]]:
    """Return the messages of each session: each thread in pieces, with single messages between them."""
    chance = script.chance
    pieces: list[list[list[Message]]] = [[] for _ in range(_SESSIONS)]
    for thread in script.messages:
        count = min(len(thread), 3)
        chosen = sorted(chance.sample(range(_SESSIONS), count))
        for at, session in enumerate(chosen):
            first, last = (len(thread) * edge // count for edge in (at, at + 1))
            pieces[session].append(thread[first:last])
    for session in pieces:
        chance.shuffle(session)
    return [[each for piece in session for each in piece] for session in pieces]


def _reply(script: Script, message: Message, domain: dict[str, Any] | None, *, words: int) -> str:
    """Return a reply of about this length that takes up the message's words and its project's."""
    chance = script.chance
    if domain is None:
        domain = chance.choice(script.phrases["domains"])
        words = min(words, 60)
    wanted = words * chance.uniform(0.5, 1.5)
    about = {"part": message.part or chance.choice(domain["parts"]), "project": domain["project"]}
    opening = script.say("opening")
    said = message.text.split(". ")[0].rstrip("?.!")
    text = f"{opening} You say: {said[:1].lower()}{said[1:]}." if chance.random() < 0.5 else opening
    while len(text.split()) < wanted:
        part = about["part"] if chance.random() < 0.5 else chance.choice(domain["parts"])
        named = {"part": part, "Part": part.capitalize(), "other": chance.choice(domain["parts"])}
        advice = chance.choice(domain["advice"])
        text += "\n" if chance.random() < 0.2 else " "
        text += script.say("frames", advice=advice, project=about["project"], **named)
    return f"{text} {script.say('closing', other=chance.choice(domain['parts']), **about)}"
