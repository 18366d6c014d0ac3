"""The agents of AGENTS_FILE with their models and windows, and the check that their prompts leave room."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from bot.agent.agents_file import AgentSpec, TeamSpec, load_agents
from bot.agent.functions_based import PromptLimits
from bot.agent.known_models import context_window
from bot.agent.options import Options
from bot.agent.prompt.assembly import measure
from bot.agent.prompt.parts import PromptParts
from bot.errors import SettingsInvalid
from bot.settings import Settings
from bot.tools import BUILT_IN_TOOLS, OPTIONAL_TOOLS
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
    spec = load_agents(path, built_in_tools=BUILT_IN_TOOLS, optional_tools=OPTIONAL_TOOLS)
    agents = {
        name: replace(agent, model=agent.model or settings.openai_model)
        for name, agent in spec.agents.items()
    }
    _check_prices(settings, spec.options)
    chat_model = agents[spec.main].model
    return settings.model_copy(update={"openai_model": chat_model}), replace(spec, agents=agents)


def _check_prices(settings: Settings, options: Options) -> None:
    for name in ("user_money_per_day", "chat_money_per_day"):
        if getattr(settings, name) and not (options.input_price or options.output_price):
            raise SettingsInvalid(
                [f"{name.upper()}: needs input_price or output_price under [options] in AGENTS_FILE"]
            )


def model_of(settings: Settings, agent: AgentSpec) -> str:
    """Return the chat model of an agent."""
    return agent.model or settings.openai_model


def model_names(settings: Settings, spec: TeamSpec) -> set[str]:
    """Return the chat models of all agents."""
    return {model_of(settings, agent) for agent in spec.agents.values()}


def window_of(settings: Settings, model: str) -> int:
    """Return the window of a model in tokens.

    MODEL_CONTEXT_WINDOW is for the chat model of the main agent. The table has the windows of other models.
    """
    override = settings.model_context_window if model == settings.openai_model else None
    return context_window(model, override)


def conversation_window(settings: Settings, spec: TeamSpec) -> int:
    """Return the smallest window of all agents: each must have room for the messages without a summary."""
    return min(window_of(settings, model) for model in model_names(settings, spec))


def limits_of(settings: Settings, agent: AgentSpec, options: Options) -> PromptLimits:
    """Return the limits of an agent's prompts."""
    window = window_of(settings, model_of(settings, agent))
    return PromptLimits(
        context_window=window,
        answer_tokens=min(_ANSWER_TOKENS, window // _ANSWER_SHARE),
        recall_k=settings.recall_k,
        recall_neighbours=options.recall_neighbours,
    )


@cache
def counter_for(model: str) -> TokenCounter:
    """Return the counter of a model, which all its agents and turns share."""
    return CachingTokenCounter(tokenizer_for(model))


def find_room_problems(settings: Settings, spec: TeamSpec) -> list[str]:
    """Return one line for each agent whose prompt and tools leave no room for a conversation."""
    problems = (_room_problem(settings, agent, spec.options) for agent in spec.agents.values())
    return [problem for problem in problems if problem]


def _room_problem(settings: Settings, agent: AgentSpec, options: Options) -> str | None:
    parts = PromptParts(system=agent.prompt, tools=[tool.spec for tool in agent.tools], is_group=True)
    tokens = measure(parts, meter=counter_for(model_of(settings, agent))).tokens
    limits = limits_of(settings, agent, options)
    if tokens + _LEAST_CONVERSATION <= limits.prompt_tokens:
        return None
    named = "AGENTS_FILE" if settings.agents_file else "MODEL_CONTEXT_WINDOW"
    return (
        f"{named}: the prompt and the tools of {agent.name} take {tokens:,} tokens; with at least "
        f"{_LEAST_CONVERSATION} for the conversation they must fit the {limits.prompt_tokens:,} that the model's "
        f"window of {limits.context_window:,} (MODEL_CONTEXT_WINDOW) has for prompts"
    )
