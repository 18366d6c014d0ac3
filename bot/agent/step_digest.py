"""Mid-run compression: when the steps of a long run are told by a digest instead, and the making of it (row I3)."""

from dataclasses import dataclass

import structlog

from bot.agent.actions import StepDigest, dump_digest, parse_digest
from bot.agent.context import AgentContext
from bot.agent.prompt.parts import PromptSize
from bot.agent.step_notes import noted
from bot.agent.team import Agent, Digester
from bot.agent.tool_run import Journal
from bot.errors import TellUser
from bot.observe.metrics import DIGESTS
from memory.errors import SummaryFailed
from memory.history.message import told_text

SHARES = ((100_000, 0.75), (500_000, 0.83))
"""Windows below so many tokens, and the share of them at which steps are digested."""
SHARE_OF_THE_LARGEST = 0.91
STEPS_AT_LEAST = 2
"""Steps that no digest covers: the newest of them stays whole, so that the agent reads what it just asked for."""

WORTH_SHARE = 0.1
"""Of the window: older steps that take less are not worth a digest."""

log = structlog.get_logger()


def share_for(window: int) -> float:
    """The share of a model's window at which the steps of a run are compressed."""
    return next((share for below, share in SHARES if window < below), SHARE_OF_THE_LARGEST)


def should_digest(size: PromptSize, window: int) -> bool:
    """Whether the next request is so large that older steps are to be told by a digest, and they are worth it.

    They are from a tenth of the window on. A history alone can exceed the share: a digest of small steps would
    not help there, and would cost a call of the summary model before every decision.
    """
    is_large = size.tokens >= share_for(window) * window
    return is_large and size.older_steps >= WORTH_SHARE * window


@dataclass(slots=True, kw_only=True)
class StepCompression:
    """The digests of one run, its delegations included. After a failure the digester is not asked again in it."""

    digester: Digester | None
    has_failed: bool = False

    async def restore(self, context: AgentContext, journal: Journal) -> None:
        """What an interrupted run made at this step."""
        known = await journal.finished(_step(context))
        if known is not None:
            context.digest = parse_digest(known)

    async def relieve(self, agent: Agent, context: AgentContext, journal: Journal) -> None:
        """Before the next decision: tell all steps but the newest by a digest, if the request has grown too large.

        Where that cannot be had the run goes on as it is: the prompt is then made to fit by cutting results.
        """
        covered = context.digest.covers if context.digest else 0
        since = len(context.completed_steps) - covered
        if since < STEPS_AT_LEAST or self.has_failed:  # measuring costs an assembly
            return
        window = agent.limits.context_window
        size = await agent.prompt_size(context)
        if not should_digest(size, window):
            return
        with noted(context.notes, "digest", "") as note:
            text = await self._digest(context, covered)
            note.outcome = "ok" if text.strip() else "error"
        if not text.strip():
            self.has_failed = True  # the turn's deadline is short
            DIGESTS.labels("failed").inc()
            log.warning(
                "steps_not_digested", tokens=size.tokens, window=window, has_digester=bool(self.digester)
            )
            return
        context.digest = StepDigest(covers=len(context.completed_steps) - 1, text=text)
        await journal.record(_step(context), dump_digest(context.digest))
        DIGESTS.labels("written").inc()
        log.info("steps_digested", steps=context.digest.covers, tokens=size.tokens, window=window)

    async def _digest(self, context: AgentContext, covered: int) -> str:
        """The text of the new digest, "" where there is none."""
        if self.digester is None:
            return ""
        try:
            return await self.digester.digest(
                task=context.task or "\n".join(told_text(message) for message in context.user_messages),
                digest=context.digest.text if context.digest else "",
                steps=context.completed_steps[covered:-1],
                usages=context.usages,
            )
        except (TellUser, SummaryFailed) as error:
            log.warning("digest_failed", failure=type(error).__name__)
            return ""


def _step(context: AgentContext) -> str:
    return f"digest:{len(context.completed_steps)}"
