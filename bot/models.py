"""Opens the models: one client for each model that the agents name, and the one that writes summaries."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog

from bot.agent.model import ChatModel, JsonModel, ModelReply, OnText, PromptMessage, ToolSpec
from bot.agent.offline_model import OFFLINE_MODEL, serve_offline_model
from bot.agent.openai_model import open_openai_model
from bot.errors import ModelUnavailable
from bot.settings import Settings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The chat models by their names, and the summary model, None where there is none."""

    chat: Mapping[str, ChatModel]
    summary: JsonModel | None


class NoModel:
    """The ChatModel of those who only look at prompts: it cannot be asked."""

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Raises ModelUnavailable."""
        raise ModelUnavailable


@asynccontextmanager
async def open_models(settings: Settings, names: Iterable[str]) -> AsyncGenerator[Models]:
    """The models of these settings; connections, and the offline model that stands in for all, end with the block."""
    async with AsyncExitStack() as stack:
        base_url = settings.openai_base_url
        if settings.is_offline:
            base_url = await stack.enter_async_context(serve_offline_model())
            log.warning("offline_model", hint="set OPENAI_API_KEY or OPENAI_BASE_URL for a real model")
        key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
        opened = {
            name: await stack.enter_async_context(
                open_openai_model(
                    model=OFFLINE_MODEL if settings.is_offline else name, api_key=key, base_url=base_url
                )
            )
            for name in sorted({*names, *filter(None, [settings.summary_model])})
        }
        yield Models(chat=opened, summary=opened.get(settings.summary_model))
