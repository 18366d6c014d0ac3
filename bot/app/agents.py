"""The agents as AGENTS_FILE and the settings have them: their models, windows, and the room for their prompts."""

from dataclasses import replace
from functools import cache

from bot.agent.agents_file import AgentSpec, TeamSpec, load_agents
from bot.agent.context_windows import context_window
from bot.agent.functions_based import PromptLimits
from bot.agent.prompt.assembly import measure
from bot.agent.prompt.parts import PromptParts
from bot.settings import Settings
from bot.tools import BUILT_IN_TOOLS, OPTIONAL_TOOLS
from memory.history.selectors import TokenCounter
from memory.tokens import CachingTokenCounter, tokenizer_for

_ANSWER_TOKENS = 4096
_ANSWER_SHARE = 4
"""A quarter of a small window is kept for the answer, and never more than _ANSWER_TOKENS."""
_LEAST_CONVERSATION = 256
"""Tokens that must be left for the conversation beside an agent's prompt and tools."""


def read_agents(settings: Settings) -> tuple[Settings, TeamSpec]:
    """The agents of AGENTS_FILE, each with its model, and the settings with the main agent's as the chat model.

    OPENAI_MODEL is that of each agent for which the file names none. Raises SettingsInvalid.
    """
    spec = load_agents(settings.agents_file, built_in_tools=BUILT_IN_TOOLS, optional_tools=OPTIONAL_TOOLS)
    agents = {
        name: replace(agent, model=agent.model or settings.openai_model)
        for name, agent in spec.agents.items()
    }
    chat_model = agents[spec.main].model
    return settings.model_copy(update={"openai_model": chat_model}), replace(spec, agents=agents)


def model_of(settings: Settings, agent: AgentSpec) -> str:
    """The chat model of an agent."""
    return agent.model or settings.openai_model


def model_names(settings: Settings, spec: TeamSpec) -> set[str]:
    """The chat models that the agents use."""
    return {model_of(settings, agent) for agent in spec.agents.values()}


def window_of(settings: Settings, model: str) -> int:
    """The window of a model in tokens. MODEL_CONTEXT_WINDOW is of the chat model, the main agent's; all others are
    looked up in the table.
    """
    override = settings.model_context_window if model == settings.openai_model else None
    return context_window(model, override)


def conversation_window(settings: Settings, spec: TeamSpec) -> int:
    """The smallest window of the agents: whoever has the chat must find room for what no summary tells."""
    return min(window_of(settings, model) for model in model_names(settings, spec))


def limits_of(settings: Settings, agent: AgentSpec) -> PromptLimits:
    """How much of its model's window an agent's prompts may take."""
    window = window_of(settings, model_of(settings, agent))
    answer_tokens = min(_ANSWER_TOKENS, window // _ANSWER_SHARE)
    return PromptLimits(
        context_window=window,
        answer_tokens=answer_tokens,
        recall_k=settings.recall_k,
        recall_neighbours=settings.recall_neighbours,
    )


@cache
def counter_for(model: str) -> TokenCounter:
    """One for each model, so that all its agents and turns share what was counted."""
    return CachingTokenCounter(tokenizer_for(model))


def find_room_problems(settings: Settings, spec: TeamSpec) -> list[str]:
    """One line for each agent whose prompt and tools leave no room for a conversation in its model's window."""
    problems = (_room_problem(settings, agent) for agent in spec.agents.values())
    return [problem for problem in problems if problem]


def _room_problem(settings: Settings, agent: AgentSpec) -> str | None:
    parts = PromptParts(system=agent.prompt, tools=[tool.spec for tool in agent.tools], is_group=True)
    tokens = measure(parts, meter=counter_for(model_of(settings, agent))).tokens
    limits = limits_of(settings, agent)
    if tokens + _LEAST_CONVERSATION <= limits.prompt_tokens:
        return None
    named = "AGENTS_FILE" if settings.agents_file else "MODEL_CONTEXT_WINDOW"
    return (
        f"{named}: the prompt and the tools of {agent.name} take {tokens:,} tokens; with at least "
        f"{_LEAST_CONVERSATION} for the conversation they must fit the {limits.prompt_tokens:,} that the model's "
        f"window of {limits.context_window:,} (MODEL_CONTEXT_WINDOW) has for prompts"
    )
