"""Checks of the agents, the models, the embedder and the bot at Telegram."""

import asyncio
import importlib
import time
from collections.abc import Collection
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

from bot.agent.abilities import Abilities, describe
from bot.agent.agents_file import TeamSpec
from bot.agent.model import JsonSchema, PromptMessage, ToolSpec
from bot.agent.openai_model import OpenAIModel, Patience, open_openai_model
from bot.agent.structured import TEXT, object_of
from bot.app.agents import find_room_problems, model_names, read_agents
from bot.app.models import abilities_of, sees_pictures
from bot.app.stores import embedder_config
from bot.cli.checks import Finding, fail, ok, warn
from bot.cli.output import age, count
from bot.cli.webhook import bot_api_url, open_bot_api, simulates
from bot.errors import (
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    SettingsInvalid,
    TelegramFailure,
    TelegramRefused,
    TellUser,
)
from bot.mcp.tools import McpServers, McpStatus, tool_name
from bot.media.reader import LARGEST_FILE
from bot.settings import InlineMode, PageViewers, Settings
from bot.transport.gating import BotIdentity
from bot.transport.telegram_api import WebhookInfo
from memory.recall.embedders.embedder import EmbeddingError
from memory.stores import open_embedder

_WORD = "hello"
_SERVERS_S = 10.0
_EMBEDDER_S = 7.0
_RECENT_S = 3600
_MANY_PENDING = 100


async def check_agent(settings: Settings) -> list[Finding]:
    """Check that AGENTS_FILE is readable, its tools exist and its prompts fit. Raises SettingsInvalid."""
    settings, spec = read_agents(settings)
    if problems := find_room_problems(settings, spec):
        raise SettingsInvalid(problems)
    tools = ", ".join(sorted(tool.name for tool in spec.agents[spec.main].tools)) or "none"
    names = sorted(name for name in spec.agents if name != spec.main)
    source = "AGENTS_FILE" if settings.agents_file else "the built-in agent"
    others = f"; other agents: {', '.join(names)}" if names else ""
    return [ok("agent", f"{spec.main}, from {source}; tools: {tools}{others}")]


async def check_servers(settings: Settings) -> list[Finding]:
    """Connect to each MCP server and list its tools, in time for the other findings."""
    with suppress(SettingsInvalid):  # `check_agent` reports it
        _, spec = read_agents(settings)
        if spec.servers:
            # Seconds on a loaded machine, which are not the servers'.
            await asyncio.to_thread(importlib.import_module, "bot.mcp.connection")
        async with McpServers.open(spec.servers) as servers:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SERVERS_S):
                    await asyncio.gather(*map(servers.tools_of, spec.servers))
            return [_judge_server(each, _named_tools(spec, each.name)) for each in servers.status()]
    return []


def _named_tools(spec: TeamSpec, server: str) -> set[str]:
    """Return the tools of a server that AGENTS_FILE names, by their names for the model."""
    toolsets = [agent.mcp for agent in spec.agents.values() if agent.mcp]
    references = [each for toolset in toolsets for each in toolset.references if each.server == server]
    named = {each.tool for each in references if each.tool != "*"} | {
        *(spec.servers[server].table.tools or ())
    }
    limited = {name for name in spec.limited_mcp_tools if name.startswith(f"{server}__")}
    return {tool_name(server, each) for each in named} | limited


def _judge_server(server: McpStatus, named: Collection[str]) -> Finding:
    if server.latency_s is None or server.error:
        says = f"{server.name}: {server.error or f'no list of tools within {_SERVERS_S:g} s'}"
        return warn("mcp", says, f"Check [mcp.servers.{server.name}]. Answers go without its tools.")
    if not server.tools:
        fix = f"Check `tools` of [mcp.servers.{server.name}]. The log tells of tools that were left out."
        return warn("mcp", f"{server.name}: it has no tool for agents", fix)
    if missing := sorted({*named} - {*server.tools}):
        fix = f"Correct the names in AGENTS_FILE. It lists: {', '.join(server.tools)}."
        return warn("mcp", f"{server.name}: it has no {', '.join(missing)}", fix)
    says = f"{server.name}: listed in {server.latency_s:.1f} s; tools: {', '.join(server.tools)}"
    return ok("mcp", says)


async def check_media(settings: Settings) -> list[Finding]:
    """Tell how photos, recordings and documents are read. No endpoint is called."""
    with suppress(SettingsInvalid):  # `check_agent` reports it
        settings, _ = read_agents(settings)
    photos = "seen" if sees_pictures(settings, settings.openai_model) else "not seen (OPENAI_VISION)"
    transcriber = "" if settings.is_offline else settings.transcription_model
    recordings = f"transcribed by {transcriber}" if transcriber else "not heard (OPENAI_TRANSCRIPTION_MODEL)"
    size = f"up to {LARGEST_FILE / 1_000_000:g} MB"
    return [ok("media", f"photos are {photos}, recordings {recordings}; documents are read {size}")]


async def check_embedder(settings: Settings) -> list[Finding]:
    """Embed one word. The bot works without vectors, so that failures are warnings."""
    began = time.monotonic()
    config = embedder_config(settings)
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(_EMBEDDER_S):
                embedder = await open_embedder(config, stack)
                if embedder is not None:
                    await embedder.embed([_WORD])
        except (EmbeddingError, TimeoutError) as failure:
            return [_without_vectors(failure)]
    if embedder is None:
        says = "the engine of the embedded model is not installed: recall uses words only"
        return [warn("embedder", says, "Install ctranslate2, or set OPENAI_EMBEDDING_MODEL.")]
    identity = embedder.identity
    how = "embedded" if settings.is_embedding_embedded else f"answers in {time.monotonic() - began:.1f} s"
    return [ok("embedder", f"{identity.model}, {identity.dimension} dimensions, {how}")]


def _without_vectors(failure: EmbeddingError | TimeoutError) -> Finding:
    """Return the warning about an embedder that fails, with the words of its endpoint."""
    says = f"no answer within {_EMBEDDER_S:g} s" if isinstance(failure, TimeoutError) else str(failure)
    if isinstance(failure, EmbeddingError) and failure.words:
        says += f": {failure.words}"
    fix = "Correct OPENAI_EMBEDDING_MODEL and its endpoint (empty: embedded)."
    return warn("embedder", f"{says}. Recall uses words only until it answers.", fix)


async def check_bot(settings: Settings, *, simulator_port: int) -> list[Finding]:
    """Check the token with getMe, and report privacy mode. Raises TelegramFailure if Telegram does not answer."""
    async with open_bot_api(settings, simulator_port=simulator_port) as telegram:
        try:
            bot = await telegram.get_me()
        except TelegramRefused as refusal:
            return [fail("telegram", str(refusal), "Get the token from @BotFather: /mybots → API Token.")]
        except TelegramFailure:
            if simulates(settings):
                return [_no_simulator(bot_api_url(settings, simulator_port=simulator_port))]
            raise
    place = "the simulator" if simulates(settings) else urlsplit(settings.telegram_api_url).hostname
    inline = [judge_inline(bot)] if settings.of(InlineMode).inline else []
    return [ok("telegram", f"@{bot.username} ({bot.id}) at {place}"), _privacy(bot), *inline]


async def check_page(settings: Settings, *, simulator_port: int) -> list[Finding]:
    """Tell where the memory page is, and how groups reach it."""
    address = settings.page_url(f"http://{settings.http_host}:{settings.http_port}")
    has_main_web_app = True
    async with open_bot_api(settings, simulator_port=simulator_port) as telegram:
        with suppress(TelegramFailure):  # `check_bot` reports it
            has_main_web_app = (await telegram.get_me()).has_main_web_app
    has_groups = settings.of(PageViewers).group_memory_page != "off"
    return [judge_page(address, has_groups=has_groups, has_main_web_app=has_main_web_app)]


def judge_page(address: str | None, *, has_groups: bool, has_main_web_app: bool) -> Finding:
    """Return the finding about the memory page at this address, or without one."""
    if address is None:
        fix = (
            "Set PUBLIC_URL to the https address that leads to HTTP_PORT. docs/memory-page.md has the steps."
        )
        return warn("page", "the memory page is not offered: it has no public address", fix)
    if not has_groups:
        return ok("page", f"the memory page is at {address}, for private chats only (GROUP_MEMORY_PAGE)")
    if has_main_web_app:
        return ok("page", f"the memory page is at {address}")
    return ok(
        "page",
        f"the memory page is at {address}. Links in groups lead to the private chat first. To let them open the "
        "page at once: @BotFather → /mybots → Bot Settings → Configure Mini App → Enable Mini App, with this "
        "address; then start the bot again.",
    )


async def check_webhook(settings: Settings, *, simulator_port: int) -> list[Finding]:
    """Compare the webhook at Telegram with WEBHOOK_URL. Raises TelegramFailure if Telegram does not answer."""
    async with open_bot_api(settings, simulator_port=simulator_port) as telegram:
        try:
            info = await telegram.webhook.info()
        except TelegramFailure:
            if simulates(settings):
                return []  # `check_bot` reports it
            raise
    return judge_webhook(info, our_url=settings.webhook_url, now=time.time())


def judge_webhook(info: WebhookInfo, *, our_url: str | None, now: float) -> list[Finding]:
    """Compare the webhook at Telegram with ours; then judge its last error and its waiting updates."""
    findings = [_judge_address(info.url, our_url)]
    if info.url and info.last_error and now - (info.last_error_at or now) < _RECENT_S:
        ago = age(now - (info.last_error_at or now))
        fix = "Check that the address leads to HTTP_PORT and has a valid certificate. Telegram tries again."
        findings.append(warn("webhook", f"Telegram could not deliver {ago} ago: {info.last_error}", fix))
    if info.pending_updates >= _MANY_PENDING:
        pending = count(info.pending_updates, "update")
        findings.append(warn("webhook", f"{pending} wait at Telegram", "Start `mnemogram run` or `serve`."))
    return findings


def _judge_address(url: str, our_url: str | None) -> Finding:
    host = urlsplit(url).hostname
    if our_url is None and not url:
        return ok("webhook", "none, and WEBHOOK_URL is not set: updates are polled")
    if our_url is None:
        says = f"updates go to {host}, and WEBHOOK_URL is not set: polling gets none of them"
        return fail("webhook", says, "Set WEBHOOK_URL, or delete the webhook: `mnemogram webhook delete`.")
    if url == our_url:
        return ok("webhook", f"Telegram pushes to WEBHOOK_URL ({host})")
    if not url:
        says = "not set yet: `mnemogram run` and `serve` set it when they start"
        return warn("webhook", says, "Start one of them, or use `mnemogram webhook set`.")
    fix = "Another program may use this token. `mnemogram webhook set` moves the updates to WEBHOOK_URL."
    return fail("webhook", f"updates go to {host}, not to WEBHOOK_URL", fix)


def judge_inline(bot: BotIdentity) -> Finding:
    """Judge INLINE=true. Telegram does not tell whether it sends chosen results, so the step is named each time."""
    feedback = "@BotFather → /setinlinefeedback → 100%"
    if not bot.supports_inline_queries:
        fix = f"@BotFather → /setinline, then {feedback}. Or set INLINE=false."
        return warn("inline", "INLINE is on, but the bot has no inline mode at Telegram", fix)
    return ok(
        "inline",
        f"inline mode is on. Answers also need {feedback}; Telegram does not tell whether that is done.",
    )


def _privacy(bot: BotIdentity) -> Finding:
    if bot.can_read_all_group_messages:
        says = "privacy mode is off: in groups the bot gets every message, and answers when it is addressed"
        return ok("privacy", says)
    return ok(
        "privacy",
        "privacy mode is on: in groups the bot gets only commands, mentions and replies to it. "
        "To change that: @BotFather → /setprivacy → Disable, then add the bot to each group again.",
    )


def _no_simulator(page: str) -> Finding:
    simulator = f"Start the simulator with `mnemogram run` (its page: {page})"
    says = "TELEGRAM_BOT_TOKEN is not set, and no simulator runs"
    return warn("telegram", says, f"{simulator}, or set the token of a bot from @BotFather.")


MODEL_LIMIT_S = 30.0
"""Time for this check: a local server may load the model first."""
_PATIENCE = Patience(tries=1, idle_s=MODEL_LIMIT_S - 2, whole_s=MODEL_LIMIT_S - 2)
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
        patience=_PATIENCE,
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
