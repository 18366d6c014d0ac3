"""The agents of AGENTS_FILE with their models and windows, and the check that their prompts leave room."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from bot.agent.agents_file import AgentSpec, Options, TeamSpec, load_agents
from bot.agent.functions_based import PromptLimits
from bot.agent.known_models import context_window
from bot.agent.prompt.assembly import measure
from bot.agent.prompt.parts import PromptParts
from bot.environment import read_environment
from bot.errors import SettingsInvalid
from bot.features import ALL_TOOLS, missing_tools
from bot.settings import Settings
from bot.tools import OPTIONAL_TOOLS
from memory.history.selectors import TokenCounter
from memory.tokens import CachingTokenCounter, tokenizer_for

DEMO_AGENTS = Path(__file__).parents[2] / "examples" / "demo.toml"
"""The agents of the simulator without AGENTS_FILE. A wheel does not have this file."""

_ANSWER_TOKENS = 4096
_ANSWER_SHARE = 4
"""A quarter of the window stays free for the answer, and at most _ANSWER_TOKENS."""
_LEAST_CONVERSATION = 256
"""Tokens that an agent's prompt and tools must leave for the conversation."""


def read_agents(settings: Settings) -> tuple[Settings, TeamSpec]:
    """Return the agents, each with its model, and the settings with the main agent's model as the chat model.

    OPENAI_MODEL is the model of each agent without one in the file. Raises SettingsInvalid.
    """
    path = settings.agents_file
    if path is None and settings.is_simulated and DEMO_AGENTS.exists():
        path = DEMO_AGENTS
    spec = load_agents(
        path, built_in_tools=ALL_TOOLS, optional_tools=OPTIONAL_TOOLS, environ=read_environment()
    )
    missing = missing_tools(settings)
    agents = {
        name: replace(
            agent,
            model=agent.model or settings.openai_model,
            may_change_model=name == spec.main or agent.model is None,
            tools=tuple(each for each in agent.tools if each.name not in missing),
        )
        for name, agent in spec.agents.items()
    }
    settings = settings.model_copy(update={"openai_model": agents[spec.main].model})
    spec = replace(spec, agents=agents)
    _check_prices(settings, spec)
    return settings, spec


def with_model(spec: TeamSpec, model: str) -> TeamSpec:
    """Return the agents with a chosen model; "" changes nothing. Sub-agents keep a model of their own."""
    if not model:
        return spec
    agents = {
        name: replace(agent, model=model) if agent.may_change_model else agent
        for name, agent in spec.agents.items()
    }
    return replace(spec, agents=agents)


def _check_prices(settings: Settings, spec: TeamSpec) -> None:
    """Raise SettingsInvalid if there is a limit of money, and a model that may answer, draw or speak has no price."""
    priced = {choice.name for choice in settings.models if choice.input_price is not None}
    used = {*model_names(settings, spec), *filter(None, settings.paid_models)}
    for name in ("user_money_per_day", "chat_money_per_day", "money_per_month"):
        if getattr(settings, name) and (missing := sorted(used - priced)):
            example = f"MODELS={missing[0]}:0.25:2"
            raise SettingsInvalid(
                [f"{name.upper()}: needs prices of {', '.join(missing)}, such as {example}"]
            )


def model_of(settings: Settings, agent: AgentSpec) -> str:
    """Return the chat model of an agent."""
    return agent.model or settings.openai_model


def model_names(settings: Settings, spec: TeamSpec) -> set[str]:
    """Return the chat models of all agents, and those that people may choose."""
    return {*settings.model_names, *(model_of(settings, agent) for agent in spec.agents.values())}


def window_of(settings: Settings, model: str) -> int:
    """Return the window of a model in tokens: that of MODELS, or that of the table of known models.

    MODEL_CONTEXT_WINDOW is for the chat model of the main agent.
    """
    override = next((choice.window for choice in settings.models if choice.name == model), None)
    if override is None and model == settings.openai_model:
        override = settings.model_context_window
    return context_window(model, override)


def conversation_window(settings: Settings, spec: TeamSpec) -> int:
    """Return the smallest window of all agents: each must have room for the messages without a summary."""
    return min(window_of(settings, model_of(settings, agent)) for agent in spec.agents.values())


def limits_of(settings: Settings, agent: AgentSpec, options: Options) -> PromptLimits:
    """Return the limits of an agent's prompts."""
    window = window_of(settings, model_of(settings, agent))
    return PromptLimits(
        context_window=window,
        answer_tokens=min(_ANSWER_TOKENS, window // _ANSWER_SHARE),
        recall_k=settings.recall_k,
        recall_tokens=settings.recall_tokens,
        recall_neighbours=options.recall_neighbours,
    )


@cache
def counter_for(model: str) -> TokenCounter:
    """Return the counter of a model, which all its agents and turns share."""
    return CachingTokenCounter(tokenizer_for(model))


def find_room_problems(settings: Settings, spec: TeamSpec) -> list[str]:
    """Return one line for each agent and model whose prompt and tools leave no room for a conversation."""
    teams = [spec, *(with_model(spec, each) for each in settings.model_names[1:])]
    agents = {(name, agent.model): agent for team in teams for name, agent in team.agents.items()}
    problems = (_room_problem(settings, agent, spec.options) for agent in agents.values())
    return [problem for problem in problems if problem]


def _room_problem(settings: Settings, agent: AgentSpec, options: Options) -> str | None:
    parts = PromptParts(system=agent.prompt, tools=[tool.spec for tool in agent.tools], is_group=True)
    model = model_of(settings, agent)
    tokens = measure(parts, meter=counter_for(model)).tokens
    limits = limits_of(settings, agent, options)
    if tokens + _LEAST_CONVERSATION <= limits.prompt_tokens:
        return None
    is_choice = model in settings.model_names[1:]
    setting = "MODELS" if is_choice else "MODEL_CONTEXT_WINDOW"
    named = "AGENTS_FILE" if settings.agents_file and not is_choice else setting
    return (
        f"{named}: the prompt and the tools of {agent.name} take {tokens:,} tokens; with at least "
        f"{_LEAST_CONVERSATION} for the conversation they must fit the {limits.prompt_tokens:,} that {model}'s "
        f"window of {limits.context_window:,} ({setting}) has for prompts"
    )
