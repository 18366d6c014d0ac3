"""The scenarios of crash points: earlier messages, the message under test, and its worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.agent.agents_file import AgentSpec, TeamSpec
from bot.agent.model import ModelReply, PromptMessage, ToolCall
from bot.agent.prompt.text import TASK_HEADING
from bot.agent.team import TeamLimits, delegate_tool, transfer_tool
from bot.agent.tool import Tool
from chaos.rig.crashes.fake_services import Log

Json = dict[str, Any]

NOW = 1_800_000_000
BOT = "mnemogram_bot"
_UPDATES_OF_A_SCENE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The chat of one crash point. Its number makes every id."""

    number: int
    is_group: bool = False
    is_moved: bool = False

    @property
    def person(self) -> int:
        """Return the writer's id, which is also the id of a private chat."""
        return 5_000_000 + self.number

    @property
    def anchor(self) -> int:
        """Return the chat id of the memory."""
        return -7_000_000 - self.number if self.is_group else self.person

    @property
    def chat(self) -> int:
        """Return the current chat id."""
        return -1_000_000_000_000 - self.number if self.is_moved else self.anchor

    def moved(self) -> "Scene":
        """Return the id of the supergroup."""
        return replace(self, is_moved=True)

    def update_id(self, number: int) -> int:
        """Return the update id of the message with this number."""
        return self.number * _UPDATES_OF_A_SCENE + number

    def place(self) -> Json:
        """Return the chat as it is in updates."""
        if not self.is_group:
            return {"id": self.chat, "type": "private", "first_name": "Anna"}
        return {"id": self.chat, "type": "supergroup" if self.is_moved else "group", "title": "Shelves"}


Said = Callable[[Scene], Json]
"""An update, for the scene in which it is said."""


def says(number: int, text: str, *, moved: bool = False, edits: int = 0, **content: Any) -> Said:
    """Return an update of the person; in a group it mentions the bot.

    `edits` is the number of the edited message.
    """

    def update(scene: Scene) -> Json:
        where = scene.moved() if moved else scene
        told = f"@{BOT} {text}" if scene.is_group and not text.startswith("/") else text
        kind, length = (
            ("bot_command", len(told.split()[0])) if told.startswith("/") else ("mention", len(BOT) + 1)
        )
        marked = [{"type": kind, "offset": 0, "length": length}] if told[:1] in {"/", "@"} else []
        message = {
            "message_id": edits or number,
            "from": {"id": scene.person, "is_bot": False, "first_name": "Anna"},
            "chat": where.place(),
            "date": NOW + (edits or number),
            **({"text": told, "entities": marked} if told else {}),
            **({"edit_date": NOW + number} if edits else {}),
            **content,
        }
        return {"update_id": scene.update_id(number), "edited_message" if edits else "message": message}

    return update


def _replying(number: int, text: str, *, to: int, said: str) -> Said:
    def update(scene: Scene) -> Json:
        raw = says(number, text)(scene)
        replied = says(to, said)(scene)["message"]
        return {**raw, "message": {**raw["message"], "reply_to_message": replied}}

    return update


def _confirming(number: int) -> Said:
    """Return an update for the press of the button of a /reset."""

    def update(scene: Scene) -> Json:
        question = {
            "message_id": _QUESTION,
            "from": {"id": 1, "is_bot": True, "first_name": "Bot"},
            "chat": scene.place(),
            "date": NOW + number,
            "text": "Erase everything?",
        }
        press = {
            "id": str(number),
            "from": {"id": scene.person, "is_bot": False, "first_name": "Anna"},
            "chat_instance": "1",
            "data": f"reset:{scene.person}:chat:0",
            "message": question,
        }
        return {"update_id": scene.update_id(number), "callback_query": press}

    return update


def _migrating(number: int) -> Said:
    def update(scene: Scene) -> Json:
        return says(number, "", migrate_to_chat_id=scene.moved().chat)(scene)

    return update


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A scenario.

    `before` is sent and answered first; then a fault hits the work on `asked`. `pause_s` is the time
    between the pieces of an answer. `tells_progress`: the bot's text shows the progress before a crash,
    and may differ.
    """

    name: str
    asked: Sequence[Said] = ()
    before: Sequence[Said] = (says(1, "the paint is blue"),)
    work: Literal["turn", "door", "compress", "extract", "index"] = "turn"
    is_group: bool = False
    is_moved: bool = False
    pause_s: float = 0.0
    tells_progress: bool = False

    def next(self) -> Said:
        """Return the last message of the scenario."""
        return says(90, "and now?", moved=self.is_moved)


_DOCUMENT: Json = {
    "document": {
        "file_id": "shelf one is full\nshelf two is empty",
        "file_unique_id": "d",
        "file_name": "shelves.txt",
        "mime_type": "text/plain",
        "file_size": 37,
    }
}
_LONG = tuple(
    says(number, f"please keep this: shelf {number} dries in {number} hours, then the next coat")
    for number in range(1, 7)
)

_QUESTION = 50
"""The message with the button of a /reset."""

KINDS: Sequence[Kind] = (
    Kind(name="plain", asked=[says(11, "what is on the wall?")]),
    Kind(name="tools", asked=[says(11, "count the shelves")]),
    Kind(name="team", asked=[says(11, "please ask around")]),
    Kind(name="burst", asked=[says(11, "one thing"), says(12, "and another"), says(13, "and a third")]),
    Kind(
        name="line",
        asked=[says(11, "one thing"), says(12, "/new"), says(13, "count the shelves"), says(14, "/memory")],
    ),
    Kind(name="streamed", asked=[says(11, "count the shelves")], pause_s=0.01),
    Kind(name="streamed-group", asked=[says(11, "what is on the wall?")], pause_s=0.01, is_group=True),
    Kind(name="edit", asked=[says(11, "the paint is red", edits=1)]),
    Kind(name="reset", asked=[says(11, "/reset"), _confirming(12)], tells_progress=True),
    Kind(
        name="forget", asked=[_replying(11, "/forget", to=1, said="the paint is blue")], tells_progress=True
    ),
    Kind(
        name="migration",
        asked=[_migrating(11), says(12, "what is on the wall?", moved=True)],
        is_group=True,
        is_moved=True,
    ),
    Kind(name="media", asked=[says(11, "", caption="what is this?", **_DOCUMENT)]),
    Kind(name="door", asked=[says(11, "one thing"), says(12, "/stop")], work="door"),
    Kind(name="compression", before=_LONG, work="compress"),
    Kind(name="extraction", before=_LONG, work="extract"),
    Kind(name="indexing", asked=[says(11, "what is on the wall?")], work="index"),
)


def find_kind(name: str) -> Kind:
    """Return the scenario of this name."""
    return next(kind for kind in KINDS if kind.name == name)


def build_spec(log: Log) -> TeamSpec:
    """Return the agents: a desk with tools that delegates and transfers. The log records their calls."""

    async def look_up(thing: str) -> dict[str, object]:
        """Say where a thing is."""
        log.note("tool", name="look_up", thing=thing)
        return {"thing": thing, "shelf": len(thing)}

    def mend(thing: str) -> str:
        """Repair a thing."""
        log.note("tool", name="mend", thing=thing)
        return f"{thing} is mended"

    tools = tuple(Tool.from_function(function) for function in (look_up, mend))
    desk = (delegate_tool("researcher", "Finds things."), transfer_tool("support", "Mends things."))
    return TeamSpec(
        main="desk",
        agents={
            "desk": AgentSpec(name="desk", prompt="You are the desk.", model=None, tools=(*tools, *desk)),
            "researcher": AgentSpec(
                name="researcher", prompt="You are the researcher.", model=None, tools=tools
            ),
            "support": AgentSpec(name="support", prompt="You are the support.", model=None, tools=tools),
        },
        limits=TeamLimits(),
    )


_Step = Sequence[tuple[str, str]]
_PLANS: dict[tuple[str, str], Sequence[_Step]] = {
    ("desk", "shelves"): (
        (("look_up", '{"thing":"a lamp"}'), ("mend", '{"thing":"a chair"}')),
        (("look_up", '{"thing":"a pot"}'),),
    ),
    ("desk", "ask around"): (
        (("delegate_to_researcher", '{"task":"find the brush"}'), ("look_up", '{"thing":"a lamp"}')),
        (("transfer_to_support", '{"reason":"a chair is broken"}'),),
    ),
    ("support", "ask around"): ((), (), (("mend", '{"thing":"a chair"}'),)),
    ("researcher", "the brush"): ((("look_up", '{"thing":"a brush"}'),),),
}
"""The calls of an agent, step after step, for a request with these words."""


def think(messages: Sequence[PromptMessage]) -> ModelReply:
    """Return the model's next reply: the calls of its plan, one step after the other, then a sentence."""
    agent = messages[0].text.removeprefix("You are the ").partition(".")[0]
    asked = _asked(messages)
    done = sum(bool(message.tool_calls) for message in messages)
    step = _step(agent, asked, done)
    if step:
        calls = tuple(
            ToolCall(id=f"call_{agent}_{done}_{number}", name=name, arguments=arguments)
            for number, (name, arguments) in enumerate(step)
        )
        return ModelReply(tool_calls=calls, finish_reason="tool_calls")
    return ModelReply(text=f"The {agent} has heard: {asked.splitlines()[-1][:60]}", finish_reason="stop")


def _asked(messages: Sequence[PromptMessage]) -> str:
    """Return the task of a delegation, or else the user's last message."""
    users = [message.text for message in messages if message.role == "user"]
    tasks = [told for told in users if told.startswith(TASK_HEADING)]
    if tasks:
        return tasks[-1].splitlines()[1]
    return [told for told in users if not told.startswith("From the ")][-1]


def _step(agent: str, asked: str, done: int) -> _Step:
    for (name, words), steps in _PLANS.items():
        if name == agent and words in asked and done < len(steps):
            return steps[done]
    return ()
