"""Answers a prompt that the model's filter refused: finds the part at fault in at most two requests, and leaves it out.

The smallest loss comes first: results of tools, a quotation, talk, memories, the conversation, the question.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import structlog

from bot.agent.actions import CompletedStep
from bot.agent.context import AgentContext, LeftOut, StepNote
from bot.agent.model import ModelReply
from bot.agent.prompt.parts import PromptParts
from bot.agent.tool_calls import call_key
from bot.errors import ModelFiltered, TellUser
from memory.facts.selection import Memories

RESULT_LEFT_OUT = "[This result was left out: the model's filter refused it.]"

Ask = Callable[[PromptParts], Awaitable[ModelReply]]
"""Asks the model. Raises the TellUser errors of the model."""

log = structlog.get_logger()


async def answer_without_refused(parts: PromptParts, context: AgentContext, ask: Ask) -> ModelReply:
    """Return the reply to a refused prompt without the part at fault. The rest of the run goes without it too.

    So do later turns, unless this is a delegation. Raises ModelFiltered if the question alone is refused.
    """
    _note_refusal(context)
    if parts.steps:
        return await _answer_without_results(parts, context, ask)
    bare = _without_additions(parts)
    if bare != parts:
        with suppress(ModelFiltered):
            reply = await ask(bare)
            return await _blame_addition(parts, (bare, reply), context, ask)
        _note_refusal(context)
    asked = {message.id for message in parts.prompt}  # the window has them too
    has_talk = bare.summary or bare.ledger or any(message.id not in asked for message in bare.window)
    if not (has_talk or bare.standing):
        raise ModelFiltered
    alone = _alone(bare)
    reply = await ask(alone)
    context.thinking.is_window_refused = True
    await _leave_out("conversation" if has_talk else "memories", bare, alone, context)
    return reply


async def leave_out_question(failure: TellUser, context: AgentContext) -> None:
    """Mark the messages of the question if the filter refused them."""
    if isinstance(failure, ModelFiltered):
        ids = [message.id for message in context.user_messages]
        log.warning("model_filtered", at_fault="question", messages=ids)
        if context.conversation.refuse is not None:
            await context.conversation.refuse(ids, ())


async def _answer_without_results(parts: PromptParts, context: AgentContext, ask: Ask) -> ModelReply:
    """Leave out the results of the newest step, because the filter let everything before them pass.

    After a transfer another model may ask: then the question alone is asked in the end.
    """
    *older, newest = parts.steps
    blank = _without_results(newest)
    with suppress(ModelFiltered):
        reply = await ask(replace(parts, steps=(*older, blank)))
        steps, ledger = context.thinking.completed_steps, context.record.ledger
        calls = call_key(context, f"tool:{len(steps)}:")
        steps[-1] = blank
        ledger[:] = [
            replace(each, output=RESULT_LEFT_OUT) if each.id.startswith(calls) else each for each in ledger
        ]
        log.warning("model_filtered", at_fault="results")
        return reply
    _note_refusal(context)
    alone = _alone(_without_additions(parts))
    return await ask(replace(alone, tools=(), steps=(), digest=None, record=()))


async def _blame_addition(
    parts: PromptParts, answered: tuple[PromptParts, ModelReply], context: AgentContext, ask: Ask
) -> ModelReply:
    """Leave out one kind of addition. The prompt without all of them was `answered`.

    Of several suspects some are tried once more: the answer is better with them, or they are at fault.
    """
    (bare, reply), refused = answered, parts
    accepted = bare
    suspects = None if any(each.quote for each in parts.prompt) else _half_of(parts.recalled, parts)
    if suspects is not None:
        tried = replace(bare, recalled=suspects)
        try:
            reply, accepted = await ask(tried), tried
        except ModelFiltered:
            _note_refusal(context)
            refused = tried
    await _leave_out(_at_fault(refused), refused, accepted, context)
    return reply


def _half_of(memories: Memories, parts: PromptParts) -> Memories | None:
    """Return the memories to try again: all if talk is a suspect too, else the better half. None for one suspect."""
    if parts.talk:
        return memories if memories.messages or memories.facts else None
    half = len(memories.messages) // 2
    return replace(memories, messages=memories.messages[:half], facts=()) if half else None


def _at_fault(refused: PromptParts) -> LeftOut:
    if any(each.quote for each in refused.prompt):
        return "quote"
    return "talk" if refused.talk else "memories"


async def _leave_out(
    at_fault: LeftOut, refused: PromptParts, accepted: PromptParts, context: AgentContext
) -> None:
    """Leave out what is at fault for good, and everything that was not accepted from the rest of this run."""
    context.thinking.recalled = accepted.recalled
    context.conversation = replace(
        context.conversation,
        talk=tuple(accepted.talk),
        standing=tuple(accepted.standing),
        summary=accepted.summary,
        ledger=context.conversation.ledger if accepted.ledger else (),
    )
    if context.user_messages:
        context.user_messages = tuple(accepted.prompt)
    ids: set[str] = set()
    if at_fault == "memories":
        ids = _message_ids(refused) - _message_ids(accepted)
    log.warning("model_filtered", at_fault=at_fault, messages=sorted(ids))
    if context.delegation.depth:  # the agents of the chat may have another model
        return
    context.record.left_out.append(at_fault)
    quoted = {each.quote.telegram_message_id for each in refused.prompt if each.quote}
    if context.conversation.refuse is not None:
        await context.conversation.refuse(ids, quoted if at_fault == "quote" else ())


def _message_ids(parts: PromptParts) -> set[str]:
    """Return the messages that memories and wishes tell, with their neighbours and the sources of their facts."""
    facts = (*parts.recalled.facts, *parts.standing)
    found = {source for fact in facts for source in fact.message_ids}
    for hit in parts.recalled.messages:
        found.update(message.id for message in (*hit.before, hit.message, *hit.after))
    return found


def _without_additions(parts: PromptParts) -> PromptParts:
    """Return the prompt without what comes from elsewhere: talk, memories and quotations."""
    return replace(
        parts,
        talk=(),
        recalled=replace(parts.recalled, messages=(), facts=()),
        prompt=tuple([replace(message, quote=None) for message in parts.prompt]),
    )


def _alone(parts: PromptParts) -> PromptParts:
    """Return the prompt without the conversation before the question, and without wishes."""
    return replace(parts, standing=(), summary=None, ledger=(), window=(), unselected=0)


def _without_results(step: CompletedStep) -> CompletedStep:
    results = [replace(result, output=RESULT_LEFT_OUT, images=()) for result in step.results]
    return replace(step, results=tuple(results))


def _note_refusal(context: AgentContext) -> None:
    """Note the request that was just refused, for the trace of the turn."""
    agent = context.record.prompts[-1].agent
    outcome = ModelFiltered.__name__
    context.record.notes.append(
        StepNote(kind="model", name=agent, outcome=outcome, depth=context.delegation.depth)
    )
