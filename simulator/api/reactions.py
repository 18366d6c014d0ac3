"""Reactions to messages: which there are, and who has set which."""

from collections import OrderedDict
from typing import Any, cast

from simulator.api.errors import BadRequest

MAX_REACTIONS = 50_000
# Bot API documentation, ReactionTypeEmoji.
_EMOJI = (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻"
    " 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
)
_REACTIONS = frozenset(_EMOJI.split())

Reaction = dict[str, str]


class Reactions:
    """Who reacted with what; the oldest are forgotten when there are too many."""

    def __init__(self) -> None:
        self._set: OrderedDict[tuple[int, int, int], list[Reaction]] = OrderedDict()

    def put(self, chat_id: int, message_id: int, user_id: int, reactions: list[Reaction]) -> list[Reaction]:
        """Replace a user's reactions to a message; the ones before."""
        key = (chat_id, message_id, user_id)
        before = self._set.pop(key, [])
        if reactions:
            self._set[key] = reactions
        if len(self._set) > MAX_REACTIONS:
            self._set.popitem(last=False)
        return before

    def as_json(self) -> list[dict[str, Any]]:
        """All of them, as the page's events tell them."""
        return [
            {"chat_id": chat_id, "message_id": message_id, "user_id": user_id, "reactions": reactions}
            for (chat_id, message_id, user_id), reactions in self._set.items()
        ]


def read_reaction(item: object) -> Reaction:
    """A ReactionType; raises BadRequest for what no bot or person may set."""
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    emoji = str(fields.get("emoji", ""))
    # The variation selector of ❤️ and others may come with the emoji or not.
    if fields.get("type") != "emoji" or emoji.replace("\ufe0f", "") not in _REACTIONS:
        raise BadRequest("REACTION_INVALID")
    return {"type": "emoji", "emoji": emoji}
