"""Checks of the chat models: each is asked as a turn asks."""

import asyncio
import time
from contextlib import suppress

from bot.agent.abilities import Abilities, describe
from bot.agent.model import JsonSchema, PromptMessage, ToolSpec
from bot.agent.openai_model import OpenAIModel, Patience, open_openai_model
from bot.agent.structured import TEXT, object_of
from bot.app.agents import model_names, read_agents
from bot.app.models import abilities_of
from bot.cli.checks import Finding, fail, ok, warn
from bot.errors import ModelQuotaExhausted, ModelRefused, ModelRepliedNothing, SettingsInvalid, TellUser
from bot.settings import Settings

LIMIT_S = 30.0
"""Time for this check: a local server may load the model first."""
_ONE_TRY = Patience(tries=1, idle_s=LIMIT_S - 2, whole_s=LIMIT_S - 2)
_SYSTEM = PromptMessage(role="system", text="You are a test of this endpoint. Answer in one word.")
_TURN = (
    _SYSTEM,
    PromptMessage(role="user", text="Good morning!"),
    PromptMessage(role="user", text="Are you there?"),
    PromptMessage(role="assistant", text="Yes."),
    PromptMessage(role="user", text="Answer with one word: hello"),
)
"""As a turn's prompt: two messages of one role in a row, and a history."""
_TOOL = ToolSpec(
    name="find",
    description="Find a word. Do not call it.",
    parameters={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
_SCHEMA = JsonSchema(name="greeting", schema=object_of(word=TEXT))
_REPORT = PromptMessage(role="user", text='Answer with this JSON object and nothing else: {"word": "hello"}')


async def check_model(settings: Settings) -> list[Finding]:
    """Ask each model in use as a turn does, and the one for summaries for JSON too."""
    if settings.is_offline:
        fix = "Set OPENAI_API_KEY, or OPENAI_BASE_URL for any OpenAI-compatible endpoint."
        return [warn("model", "the offline model answers; it is only for demonstrations", fix)]
    names = {settings.openai_model}
    with suppress(SettingsInvalid):  # `check_agent` reports it
        settings, spec = read_agents(settings)
        names = model_names(settings, spec)
    names = sorted({*names, *filter(None, [settings.summary_model])})
    return list(await asyncio.gather(*(request_answer(settings, name) for name in names)))


async def request_answer(settings: Settings, name: str) -> Finding:
    """Ask a model with a system message, a history, a tool and a stream, and say what it must do without."""
    abilities = abilities_of(settings, name)
    opening = open_openai_model(
        model=name,
        api_key=settings.api_key,
        base_url=settings.openai_base_url,
        patience=_ONE_TRY,
        abilities=abilities,
    )
    began = time.monotonic()
    try:
        async with opening as model:
            await _ask(model, writes_json=name == settings.summary_model)
    except TellUser as failure:
        return _judge_failure(name, failure)
    return _judge_answer(name, abilities, seconds=time.monotonic() - began)


async def _ask(model: OpenAIModel, *, writes_json: bool) -> None:
    await model.chat(_TURN, [_TOOL])
    if writes_json:
        await model.chat_json([_SYSTEM, _REPORT], _SCHEMA)


def _judge_answer(name: str, abilities: Abilities, *, seconds: float) -> Finding:
    says = f"{name} answers in {seconds:.1f} s"
    lessons = abilities.lessons()
    if not lessons:
        return ok("model", says)
    without = ", ".join(map(describe, lessons))
    fix = "The bot leaves out what this endpoint refuses."
    if "tools" in abilities.lacking():
        fix = "It cannot search, remind or use tools. For these choose a model that can call tools."
    return warn("model", f"{says}, but only {without}", fix)


def _judge_failure(name: str, failure: TellUser) -> Finding:
    if isinstance(failure, ModelRepliedNothing):
        says = f"{name} gave an empty reply to a greeting"
        return warn("model", says, "Try again, or try another OPENAI_MODEL.")
    fix = "Check OPENAI_BASE_URL and the network."
    if isinstance(failure, ModelRefused):
        settings = "OPENAI_MODEL, MODELS, OPENAI_SUMMARY_MODEL, AGENTS_FILE"
        fix = (
            f"Check OPENAI_BASE_URL, OPENAI_API_KEY, and that the endpoint has the model {name} ({settings})."
        )
    if isinstance(failure, ModelQuotaExhausted):
        fix = "Increase the quota of the account of OPENAI_API_KEY."
    says = f"{failure}. It says: {failure.said}" if failure.said else str(failure)
    return fail("model", says, fix)
