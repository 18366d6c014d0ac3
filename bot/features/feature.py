"""What a feature may add to the bot. Everything is optional."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.transport.controls import Audience, ButtonRule

if TYPE_CHECKING:
    from bot.features.parts import Built, Parts
    from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The description of a feature: it imports nothing that works.

    The texts are files beside it, `texts/<language>.ftl`, with `menu-…` and `help-…` for each command.
    """

    build: str
    """`module:function` from Parts to Built. It is imported when a worker starts."""
    commands: Mapping[str, Audience] = field(default_factory=dict[str, Audience])
    """By name without the slash; the people whose menu and /help show it. Everybody can send each command."""
    buttons: Mapping[str, ButtonRule] = field(default_factory=dict[str, ButtonRule])
    """By the first word of their data, which is the name of a command too."""
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name → `module:function`. An agent without a list of tools has all of these."""
    page_line: str = ""
    """`module:function` from Settings, Words and HistorySnapshot to a line about a chat on its page; "" shows none."""
    settings: "type[Settings] | None" = None
    """The settings of the core with those of the feature: `settings.of(…)` returns them."""
    needs: "Callable[[Settings], bool] | None" = None
    """Tells if the tools exist with these settings; None if they always do. Agents that list them go without."""

    async def built(self, parts: "Parts") -> "Built":
        """Return the working parts. Raises ValueError unless each command and each waiting button has a handler."""
        build: Callable[[Parts], Awaitable[Built]] = load_object(self.build)
        built = await build(parts)
        waiting = {word for word, rule in self.buttons.items() if rule.waits}
        if others := (built.commands.keys() ^ self.commands.keys()) | (built.buttons.keys() ^ waiting):
            raise ValueError(f"{self.build} declares and builds different things: {sorted(others)}")
        return built


def load_object(name: str) -> Any:
    """Return the object of `module:name`, and import its module now."""
    module, _, inner = name.partition(":")
    return getattr(import_module(module), inner)
