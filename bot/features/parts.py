"""What a worker gives to its features, and what they give back."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol

from bot.agent.abilities import Abilities
from bot.agent.agents_file import TeamSpec
from bot.agent.mcp_servers import McpTools
from bot.agent.model import ChatModel, JsonModel
from bot.agent.structured import StructuredModel
from bot.inbox.redis_inbox import RedisInbox
from bot.media.reader import Files, Transcriber
from bot.settings import Settings
from bot.transport.controls import Controls
from bot.transport.gating import BotIdentity
from bot.transport.migrations import Migrations
from bot.transport.page_links import PageLinks
from bot.transport.people import Guests
from bot.transport.telegram_api import TelegramApi
from bot.turn.answer import AnswerLimits
from bot.turn.chat_events import Interruptions
from bot.turn.commands import Handler, MaybeHandler
from bot.turn.commit import Committer
from bot.turn.costs import CostReader
from bot.turn.erasure import ChatContexts, Eraser
from bot.turn.forget_person import ForgetJobs
from bot.turn.hooks import Hooks
from bot.turn.limits import LimitGuard
from bot.turn.permissions import Permissions
from bot.turn.preview import Previews
from bot.turn.store import TurnStore
from memory.history.selectors import TokenCounter
from memory.stores import MemoryStores


class OpenedModel(ChatModel, JsonModel, Protocol):
    """A chat model that also answers in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The chat models by their names; the summary model and the transcriber, or None."""

    chat: Mapping[str, OpenedModel]
    summary: JsonModel | None
    transcriber: Transcriber | None = None
    abilities: Mapping[str, Abilities] = field(default_factory=dict[str, Abilities])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is not ours: Telegram and its files, who we are there, the models, and our address."""

    stack: AsyncExitStack
    """Closes what features open."""
    telegram: TelegramApi
    files: Files
    bot: BotIdentity
    models: Models
    servers: McpTools | None = None
    """The MCP servers; None in a process that does not work."""
    page_url: str | None = None
    """The address of the memory page, as people reach it; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores(MemoryStores):
    """The stores of every command: memory, invited people, moved groups."""

    guests: Guests
    migrations: Migrations


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a worker."""

    settings: Settings
    stores: Stores
    outside: Outside
    spec: TeamSpec
    inbox: RedisInbox
    clock: Callable[[], float]
    controls: Controls
    store: TurnStore
    guard: LimitGuard
    permissions: Permissions
    interruptions: Interruptions
    eraser: Eraser
    chat_contexts: ChatContexts
    forget_jobs: ForgetJobs
    committer: Committer
    previews: Previews
    page_links: PageLinks
    costs: CostReader
    tokenizer: TokenCounter
    writer: StructuredModel
    """The summary model, else the chat model of the main agent."""
    limits: AnswerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The working parts of a feature."""

    commands: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    """By command."""
    buttons: Mapping[str, MaybeHandler] = field(default_factory=dict[str, MaybeHandler])
    """By the word of the button: one for each whose presses wait."""
    hooks: Hooks = field(default_factory=Hooks)
