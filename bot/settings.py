"""The settings: one frozen object, which `load_settings` reads from the environment and `.env`."""

import hashlib
import hmac
import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot import addresses, environment
from bot.addresses import PAGE_PATH as PAGE_PATH
from bot.addresses import WEBHOOK_PATH as WEBHOOK_PATH
from bot.addresses import passwords_in, reachable
from bot.environment import ENCODING, ENV_FILE, SECRET_FORMS, SECRETS, check_visible, split_ids, trim_value
from bot.model_choices import LEAST_WINDOW, ModelChoice, parse_models

WEBHOOK_CONNECTIONS = 40
"""Updates that Telegram may push at the same time: its own default, far from what one process can take."""

SIMULATOR_TOKEN = "4242:simulator-token-not-a-secret"  # noqa: S105 — the simulator's, on loopback only
"""The token of the local Bot API: what we use when TELEGRAM_BOT_TOKEN is not set."""

G = TypeVar("G")
Choice = Annotated[ModelChoice | None, NoDecode]
_FORMS = {**addresses.FORMS, **SECRET_FORMS}
_MAY_BE_EMPTY = "may be empty"


def _split_ids(value: object, info: ValidationInfo) -> object:
    return split_ids(info.field_name or "", value) if isinstance(value, str) else value


Ids = Annotated[frozenset[int], NoDecode, BeforeValidator(_split_ids)]


def _parse_models(value: object) -> object:
    for entry in value.split(",") if isinstance(value, str) else ():
        check_visible(entry.strip())
    return parse_models(value) if isinstance(value, str) else value


Choices = Annotated[tuple[ModelChoice, ...], NoDecode, BeforeValidator(_parse_models)]


def _mend_model(name: str) -> str:
    check_visible(name)
    return name


HomePath = Annotated[Path, AfterValidator(environment.expand_home)]
ModelName = Annotated[str, AfterValidator(_mend_model), _MAY_BE_EMPTY]
"""The name of a model, which is sent as it is; empty for none."""


class SettingsGroup(BaseModel):
    """Settings that belong together, as a record that classes take: `Settings.of` returns it."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Access(SettingsGroup):
    """Access to the bot. Without any setting everyone has it; operators always have it."""

    # Access
    operator_ids: Ids = frozenset()
    """Telegram user ids of the operators, comma-separated."""
    allowed_chat_ids: Ids = Field(
        default=frozenset(),
        description="Chats in which everybody is served. If this, ALLOWED_USER_IDS or INVITED_ONLY is set, only "
        "operators and guests are served elsewhere.",
    )
    allowed_user_ids: Ids = frozenset()
    """People who are served in every chat. As above: any of the three closes the bot to all others."""
    invited_only: bool = False
    """Serve only operators, ALLOWED_* and people with an invitation (mnemogram invite)."""

    @property
    def is_closed(self) -> bool:
        """Return True if some people have no access."""
        return bool(self.invited_only or self.allowed_chat_ids or self.allowed_user_ids)

    def permits(self, chat_id: int, user_id: int | None) -> bool:
        """Return True if the settings let this person use the bot in this chat. Guests have access too."""
        if user_id in self.operator_ids or not self.is_closed:
            return True
        return chat_id in self.allowed_chat_ids or user_id in self.allowed_user_ids


class GroupTalk(SettingsGroup):
    """Talk in groups that is not addressed to the bot."""

    # Groups
    group_context: bool = True
    """Keep talk in a group that is not addressed to the bot as context."""
    group_context_messages: int = Field(default=1_000, ge=1, le=5_000)
    """Number of the newest such messages that are kept of each chat or topic. /catchup reads as many."""


class PageViewers(SettingsGroup):
    """People who see other memories than their own on the page."""

    # The memory page
    group_memory_page: Literal["administrators", "members", "off"] = "administrators"
    """People who see the memory page of a group. `members` works where the bot is an administrator."""
    operators_read_chats: bool = False
    """Let operators read the text of other people's chats on the page."""


class InlineMode(SettingsGroup):
    """Questions in chats of which the bot is no member."""

    # Inline mode
    inline: bool = False
    """Answer `@bot question` in any chat (inline mode). Needs @BotFather."""
    inline_memory: bool = False
    """Use the memory of the asker's private chat for inline questions, and keep them there."""


class OwnerLimits(NamedTuple):
    """Limits of each person or of each chat; 0 is no limit."""

    messages_per_minute: int
    tokens_per_day: int
    money_per_day: float


class UsageLimits(SettingsGroup):
    """Limits on what is used; 0 is no limit."""

    # Limits
    user_messages_per_minute: int = Field(default=0, ge=0)
    """Messages of one person that are answered a minute. 0: no limit."""
    chat_messages_per_minute: int = Field(default=0, ge=0)
    """Messages of one chat that are answered a minute. 0: no limit."""
    user_tokens_per_day: int = Field(default=0, ge=0)
    """Tokens that one person may use a day (UTC). 0: no limit."""
    chat_tokens_per_day: int = Field(default=0, ge=0)
    """Tokens that one chat may use a day (UTC). 0: no limit."""
    user_money_per_day: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Maximum cost of one person a day, in the unit of the prices. 0: no limit."""
    chat_money_per_day: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Maximum cost of one chat a day, in the unit of the prices. 0: no limit."""
    money_per_month: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Maximum cost of the whole bot a month (UTC), in the unit of the prices. 0: no limit."""

    @property
    def user(self) -> OwnerLimits:
        """Return the limits of each person."""
        return OwnerLimits(self.user_messages_per_minute, self.user_tokens_per_day, self.user_money_per_day)

    @property
    def chat(self) -> OwnerLimits:
        """Return the limits of each chat."""
        return OwnerLimits(self.chat_messages_per_minute, self.chat_tokens_per_day, self.chat_money_per_day)

    @property
    def are_none(self) -> bool:
        """Return True if there is no limit."""
        return not (any(self.user) or any(self.chat) or self.money_per_month)


SHARED_GROUPS = (UsageLimits, InlineMode, PageViewers, GroupTalk, Access)
"""The groups that belong to no feature."""


class Settings(BaseSettings):
    """Every setting, named as in the environment (case does not matter). An empty value is an unset one."""

    model_config = SettingsConfigDict(
        env_file=ENV_FILE,
        env_file_encoding=ENCODING,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    # Telegram
    telegram_bot_token: SecretStr | None = None
    """The bot's token, from @BotFather. Without one, `mnemogram run` starts the simulator."""
    telegram_api_url: str = "https://api.telegram.org"
    """The Bot API server: Telegram's, your own, or the simulator."""
    webhook_url: str | None = None
    """Our public https address. Set: Telegram pushes to it. Unset: we poll."""
    public_url: str | None = None
    """The https address that leads to our HTTP port; the memory page needs it. Unset: the origin of WEBHOOK_URL."""
    webhook_secret: SecretStr | None = None
    """Secret that Telegram sends back with each update. Unset: derived from the token."""
    http_host: str = Field("127.0.0.1", min_length=1)
    """The address that we listen on."""
    http_port: int = Field(8080, ge=0, le=65535)
    """The port that we listen on (0: any free one)."""
    # Stores
    redis_url: SecretStr | None = Field(
        None,
        description="redis://, rediss://, redis+cluster:// (host:port,host:port) or redis+sentinel:// "
        "(?service=NAME&sentinel_password=…). Unset: an embedded Valkey under DATA_DIR.",
    )
    redis_replicas: int = Field(0, ge=0, le=5)
    """Replicas that must have an update before it is acknowledged; else a failover may lose it."""
    redis_accept_loss: Literal["false", "true", "eviction"] = "false"
    """Start also with a store that may lose data (true), or with any, also one that evicts (eviction)."""
    partitions: int = Field(1, ge=1, le=1024)
    """Partitions of the inbox; fixed at the first start. More than 1: a cluster."""
    qdrant_url: str | None = None
    """Qdrant's address, or several by commas. Unset: an embedded index in DATA_DIR."""
    qdrant_api_key: SecretStr | None = None
    """The key of that Qdrant server."""
    data_dir: HomePath = Path("data")
    """Folder for the files of the embedded stores."""
    erasures_dir: HomePath | None = None
    """Folder with copies of the tombstones of erasures. Unset: `erasures` in DATA_DIR."""
    # Models and agents
    openai_api_key: SecretStr | None = None
    """The key of the model endpoint. Without it and OPENAI_BASE_URL: the offline model."""
    openai_base_url: str | None = None
    """Any OpenAI-compatible endpoint, with its /v1."""
    openai_model: Annotated[str, AfterValidator(_mend_model)] = Field("gpt-5.4-mini", min_length=1)
    """The chat model."""
    models: Choices = Field(
        (),
        description="The models that people may choose with /model, comma-separated: "
        "name[:input_price:output_price[:window]]. Prices are for a million tokens. OPENAI_MODEL is the default.",
    )
    openai_summary_model: ModelName = Field(
        "gpt-5.4-nano",
        description="The model that writes summaries; with OPENAI_BASE_URL and unset: the chat model. "
        "Empty: none, and the recent window is all there is.",
    )
    openai_vision: bool | None = None
    """Show photos to the chat model. Unset: as the table of known models says of OPENAI_MODEL."""
    openai_transcription_model: ModelName = "gpt-4o-mini-transcribe"
    """The model that hears voice messages; with OPENAI_BASE_URL and unset: none. Empty: none."""
    openai_embedding_model: ModelName = "text-embedding-3-small"
    """The embedding model. Empty, or with the offline model: the embedded MiniLM."""
    model_context_window: int | None = Field(None, ge=LEAST_WINDOW)
    """Tokens that the chat model takes. Unset: from the table of known models."""
    agents_file: HomePath | None = None
    """TOML: the agents' prompts, models, tools and limits. Unset: the built-in agent."""
    # Memory
    recall_tokens: int = Field(1_000, ge=0, le=100_000)
    """Tokens that old messages and facts may take in a prompt."""
    recall_k: int = Field(25, ge=0, le=50)
    """The most old messages and facts that are recalled into a prompt."""
    window_tokens: int = Field(8000, ge=64)
    """The budget of the recent window without a summary model or while it fails, in tokens."""
    facts: bool | None = Field(
        None,
        description="Extract facts about people after the reply. Unset: if there is a summary model. "
        "In groups an administrator turns them on with /facts on.",
    )
    retention_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Erase messages of this age in days, with all that rests on them; 0 = keep them for ever. People "
        "choose less for a chat with /retention.",
    )
    # Answers
    max_actions: int = Field(5, ge=1, le=100)
    """Actions (rounds of tools) that a run may take."""
    turn_deadline_s: float = Field(120, gt=0, le=3600)
    """The time of a whole turn, in seconds."""
    model_silence_s: float = Field(60, ge=0, le=3600)
    """Time without a sign of life from the model, in seconds; 0: until TURN_DEADLINE_S."""
    streaming: bool = True
    """Show an answer while it is being written."""
    while_busy: Literal["queue", "interrupt"] = Field(
        "queue",
        description="Effect of a message during the answer to the sender's message before: it waits for that answer "
        "(queue), or ends it (interrupt).",
    )
    show_sources: bool = False
    """Put a button under answers that used memories, which shows these."""
    # Operation
    worker_concurrency: int = Field(32, ge=1, le=1000)
    """Chats that one worker process answers at the same time."""
    lease_s: float = Field(30, ge=1, le=600)
    """Time until the chats of a hanging worker go to others, in seconds."""
    box_limit: int = Field(1000, ge=1)
    """Pending updates of one chat; beyond it Telegram is asked to wait (503)."""
    log_format: Literal["console", "json"] = "console"
    """Form of the log: console for people, json for machines."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity."""
    log_text: bool = False
    """Quote people, the model and tools in logs and traces."""
    otel_exporter_otlp_endpoint: str | None = None
    """Target of traces (OTLP over HTTP)."""

    @model_validator(mode="before")
    @classmethod
    def _trim(cls, values: dict[str, Any]) -> dict[str, Any]:
        trimmed = {
            name: trim_value(name, value) if isinstance(value, str) else value
            for name, value in values.items()
        }
        fields = cls.model_fields
        may_be_empty = {name for name, field in fields.items() if _MAY_BE_EMPTY in field.metadata}
        return {name: value for name, value in trimmed.items() if value != "" or name.lower() in may_be_empty}

    @field_validator("log_level", "redis_accept_loss", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator(*_FORMS)
    @classmethod
    def _mend(cls, value: SecretStr | str | None, info: ValidationInfo) -> SecretStr | str | None:
        mend = _FORMS[info.field_name or ""]
        if isinstance(value, SecretStr):
            return SecretStr(mend(value.get_secret_value()))
        return value and mend(value)

    def of(self, group: type[G]) -> G:
        """Return the settings as a group, or as those of a feature. Raises TypeError if they were read without it."""
        if not isinstance(self, group):
            raise TypeError(f"these settings have no {group.__name__}")
        return self

    @property
    def is_simulated(self) -> bool:
        """Whether we serve the simulator: there is no token of a real bot."""
        return self.telegram_bot_token is None

    @property
    def token(self) -> str:
        """The bot's token, or the simulator's."""
        return self.telegram_bot_token.get_secret_value() if self.telegram_bot_token else SIMULATOR_TOKEN

    @property
    def bot_id(self) -> int:
        """The bot's user id: what stands before the colon of its token."""
        return int(self.token.partition(":")[0])

    @property
    def secret(self) -> str:
        """The webhook secret: the given one, or HMAC-SHA-256 of a fixed text under the token, in hex."""
        if self.webhook_secret is not None:
            return self.webhook_secret.get_secret_value()
        return hmac.new(self.token.encode(), b"mnemogram webhook secret", hashlib.sha256).hexdigest()

    @property
    def environment(self) -> dict[str, str]:
        """The settings that were given, secrets included, as variables for another process of ours."""
        given: dict[str, str] = {}
        for name in self.model_fields_set:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                value = value.get_secret_value()
            elif isinstance(value, frozenset | tuple):
                value = ",".join(map(str, cast("Collection[object]", value)))
            given[name.upper()] = "" if value is None else str(value)
            if name in SECRETS:
                given[f"{name.upper()}_FILE"] = ""  # the variable has the secret itself
        return given

    def page_url(self, listening_at: str | None) -> str | None:
        """Return the address of the memory page; None if none is known.

        `listening_at` is the origin of our HTTP port, which the simulator's people can reach.
        """
        if self.public_url is not None:
            return self.public_url + PAGE_PATH
        if self.webhook_url is not None:
            parts = urlsplit(self.webhook_url)
            return f"{parts.scheme}://{parts.netloc}{PAGE_PATH}"
        if not self.is_simulated or listening_at is None:
            return None
        return reachable(listening_at) + PAGE_PATH

    @property
    def api_key(self) -> str | None:
        """The key of the model endpoint; None without one."""
        return self.openai_api_key.get_secret_value() if self.openai_api_key else None

    @property
    def is_offline(self) -> bool:
        """Whether the offline model answers: neither a key nor an endpoint is set."""
        return self.openai_api_key is None and self.openai_base_url is None

    @property
    def is_embedding_embedded(self) -> bool:
        """Whether the embedded MiniLM makes the vectors."""
        return self.is_offline or not self.openai_embedding_model

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models that people may choose, the default first. MODELS may have prices of others too."""
        named = [each.name for each in self.models if each.name not in self.other_models]
        return tuple(dict.fromkeys([self.openai_model, *named]))

    @property
    def other_models(self) -> Collection[str]:
        """The models of features, which do not chat."""
        return ()

    @property
    def priced_models(self) -> tuple[ModelChoice, ...]:
        """The models with a price; of several of one name the last counts."""
        return self.models

    @property
    def paid_models(self) -> Collection[str]:
        """The models of features that need a price under a limit of money."""
        return ()

    @property
    def summary_model(self) -> str:
        """The model that writes summaries, empty for none: on an endpoint of one's own the chat model by default."""
        is_default = "openai_summary_model" not in self.model_fields_set
        return self.openai_model if is_default and self.openai_base_url else self.openai_summary_model

    @property
    def extracts_facts(self) -> bool:
        """True if facts are extracted, which needs a summary model."""
        return self.facts is not False and bool(self.summary_model)

    @property
    def transcription_model(self) -> str:
        """The model that hears voice messages, empty for none: an endpoint of one's own may not have OpenAI's."""
        return self.at_openai("openai_transcription_model")

    def at_openai(self, name: str) -> str:
        """Return the model of this setting; empty if it is a default of OpenAI's and the endpoint is another."""
        is_elsewhere = self.is_offline or bool(self.openai_base_url)
        return "" if name not in self.model_fields_set and is_elsewhere else getattr(self, name)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may never be seen in a log, an error or a chat."""
        given = (self.telegram_bot_token, self.openai_api_key, self.qdrant_api_key, self.redis_url)
        urls = (
            self.redis_url.get_secret_value() if self.redis_url else None,
            *(self.qdrant_url, self.openai_base_url, self.telegram_api_url, self.otel_exporter_otlp_endpoint),
            *(url for name, url in os.environ.items() if name.lower().endswith("_proxy")),
        )
        passwords = {password for url in urls if url for password in passwords_in(url)}
        return (*(s.get_secret_value() for s in given if s), self.secret, *passwords)


def describe_problem(error: ErrorDetails) -> str:
    """Return one line about a setting, without the value of a secret."""
    what = error["msg"].removeprefix("Value error, ")
    if not error["loc"]:  # of settings that do not fit together: it names them itself
        return what
    name = str(error["loc"][0])
    is_private = name in SECRETS or (
        name in addresses.FORMS and name != "http_host"
    )  # an address may have a password
    has_value = not is_private and isinstance(error["input"], str | int | float)
    return f"{name.upper()}: {what}" + (f" (it is {error['input']!r})" if has_value else "")
