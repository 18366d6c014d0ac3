"""Receipts of answers: the sources, models, tools and costs of each answer, without a word of a message."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.agent.context import AgentContext, StepNote
from bot.agent.model import Usage
from bot.agent.prompt.parts import TALK_ITEM, LeftOutCause, PartName, PromptRecord, RecordPart
from memory.chat_history import RankedMessage
from memory.codec import parse_json
from memory.facts.selection import Memories
from memory.history.buffered import BufferedHistory
from memory.history.fact import Fact
from memory.history.message import Message, sequence_of
from memory.keys import ContextRef, context_key
from memory.recall.excerpts import Excerpt, Reason, tell
from memory.redis.client import RedisClient

RECALLED_AT_MOST = 50
NEIGHBOURS_AT_MOST = 16
FACTS_AT_MOST = 18
TOOLS_AT_MOST = 9
MODELS_AT_MOST = 3
"""Entries of the lists of a receipt, which takes 16 kB of JSON at most, and 1.5 kB usually. RECALL_K is at most 50."""
_CALLS = frozenset(("tool", "delegation", "transfer"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessage:
    """A hit of the search for this answer. The message may have been forgotten since: the history decides."""

    message_id: str
    reasons: tuple[Reason, ...] = ()
    """Why it was found, the strongest reason first."""
    left_out: LeftOutCause = ""
    """Why the prompt does not contain it; "" if it does."""
    excerpt: Excerpt | None = None
    """The part of it that the prompt contains, as places without words; None for the whole message."""

    def tell(self, message: Message, *, at: float) -> Message:
        """Return the message as the prompt told it at this time. One that was edited since is whole."""
        return tell(message, None if (message.edited_at or 0.0) > at else self.excerpt)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTool:
    """A call of a tool, a delegation or a transfer."""

    name: str
    """"unknown" for a name that the model has invented."""
    outcome: str
    """"ok", "error", "replayed" (finished before a crash), or the class of the error that ended it."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutOfPart:
    """Things of one kind that the prompt does not contain."""

    part: PartName
    count: int
    """Messages, lines of talk, or turns with tool calls."""
    why: LeftOutCause


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReach:
    """The messages that the prompts of a turn had: of the conversation, and overheard ones."""

    since: int | None = None
    """Sequence of the oldest one, in the window or through the summary; None in receipts of earlier builds."""
    neighbours: tuple[int, ...] = ()
    """Sequences of messages that stood beside a hit."""
    talk: tuple[int, ...] = ()
    """Telegram ids of the oldest and the newest overheard message in the prompts; () without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReceipt(PromptReach):
    """The receipt of one answer: ids, counts, names and reasons. It describes the last prompt of the chat's agent."""

    message_id: str
    """The answer."""
    at: float
    """The time of the answer in Unix seconds."""
    agent: str = ""
    """The agent that has answered."""
    models: tuple[Usage, ...] = ()
    """All model calls of the turn, delegations and digests included, in the order of their first call."""
    micros: int | None = None
    """The cost in millionths; None if no price is known."""
    prompt_tokens: int = 0
    """Tokens of the last prompt, by our count. 0: a replayed tool gave the answer without a prompt."""
    room: int = 0
    """The most that this prompt could take."""
    recalled: tuple[RecalledMessage, ...] = ()
    """The best hits, best first."""
    more_recalled: int = 0
    """Further hits."""
    facts: tuple[str, ...] = ()
    """Ids of the best facts in the prompt. A fact may have been forgotten since: the store of facts decides."""
    standing: tuple[str, ...] = ()
    """Ids of the standing wishes in the prompt."""
    window_messages: int = 0
    """Earlier messages of the conversation in the prompt."""
    summary_id: str = ""
    """The summary in the prompt; "" without one."""
    tools: tuple[CalledTool, ...] = ()
    """The first calls of the turn."""
    more_tools: int = 0
    """Further calls."""
    left_out: tuple[LeftOutOfPart, ...] = ()
    """Things that are not in the prompt, recalled messages and window included."""

    @property
    def window_left_out(self) -> int:
        """Return the number of earlier messages that are not in the prompt, and that no summary covers."""
        return sum(each.count for each in self.left_out if each.part == "window")

    def heard(self, telegram_ids: Collection[int]) -> bool:
        """Return True if a prompt of the turn had one of these overheard messages."""
        return bool(self.talk) and any(self.talk[0] <= each <= self.talk[-1] for each in telegram_ids)

    def used(self, messages: Collection[str], sequences: Collection[int], *, answer: int) -> bool:
        """Return True if a prompt of the turn had one of these messages. `answer` is the sequence of the answer."""
        first = answer if self.since is None else self.since
        is_recalled = not set(messages).isdisjoint(self.memories)
        return is_recalled or any(first <= at < answer or at in self.neighbours for at in sequences)

    @property
    def memories(self) -> list[str]:
        """Return the ids of the recalled messages that the prompt contains, best first."""
        return [each.message_id for each in self.recalled if not each.left_out]


def make_receipt(
    context: AgentContext,
    *,
    agent: str,
    message_id: str,
    at: float,
    micros: int | None,
    history: BufferedHistory | None = None,
) -> AnswerReceipt:
    """Return the receipt of the run in this context, which has read this history.

    `agent` is the agent that has the chat after it.
    """
    record = _last_record(context.record.prompts, agent)
    parts = {part.part: part for part in record.parts} if record else {}
    memories = context.thinking.recalled or Memories()
    left_out = tuple(_left_out(parts.values()))
    summary = parts.get("summary")
    window = parts.get("window")
    calls = [note for note in context.record.notes if note.kind in _CALLS]
    recalled = _recalled(memories.messages[:RECALLED_AT_MOST], parts.get("recalled"))
    return AnswerReceipt(
        message_id=message_id,
        at=at,
        agent=agent,
        models=tokens_by_model(context.record.usages)[:MODELS_AT_MOST],
        micros=micros,
        prompt_tokens=record.tokens if record else 0,
        room=record.room if record else 0,
        recalled=recalled,
        more_recalled=max(0, len(memories.messages) - RECALLED_AT_MOST),
        since=_oldest_told(context.record.prompts, history) if history else None,
        neighbours=_neighbours(memories.messages, recalled),
        talk=_overheard(context.record.prompts),
        facts=_told(memories.facts, parts.get("facts"))[:FACTS_AT_MOST],
        standing=tuple(item.id for item in parts["standing"].included) if "standing" in parts else (),
        window_messages=len(window.included) if window else 0,
        summary_id=summary.included[0].id if summary and summary.included else "",
        tools=tuple(map(_called, calls[:TOOLS_AT_MOST])),
        more_tools=max(0, len(calls) - TOOLS_AT_MOST),
        left_out=left_out,
    )


def _oldest_told(records: Sequence[PromptRecord], history: BufferedHistory) -> int:
    """Return the sequence of the oldest message that a prompt had, in the window or through the summary.

    A window that has older messages than the turn has loaded counts as the whole conversation.
    """
    parts = [part for record in records for part in record.parts]
    if any(part.part == "summary" and part.included for part in parts):
        return history.snapshot.conversation_start
    included = {item.id for part in parts if part.part == "window" for item in part.included}
    loaded = {each.id: each.sequence or 0 for each in (*history.snapshot.newest, *history.pending)}
    if not included <= loaded.keys():
        return history.snapshot.conversation_start
    own = [each.sequence or 0 for each in history.pending[:1]]
    return min([*own, *(loaded[each] for each in included)], default=history.snapshot.next_sequence)


def _overheard(records: Sequence[PromptRecord]) -> tuple[int, ...]:
    """Return the Telegram ids of the oldest and the newest line of talk in the prompts."""
    parts = [part for record in records for part in record.parts if part.part == "talk"]
    ids = [int(item.id.removeprefix(TALK_ITEM)) for part in parts for item in part.included]
    return (min(ids), max(ids)) if ids else ()


def tokens_by_model(usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """Return the tokens of each model, in the order of the first calls."""
    sums: dict[str, Usage] = {}
    for usage in usages:
        sums[usage.model] = replace(sums.get(usage.model, Usage()) + usage, model=usage.model)
    return tuple(sums.values())


async def load_receipts(
    redis: RedisClient, ref: ContextRef, message_ids: Collection[str]
) -> dict[str, AnswerReceipt]:
    """Return the receipts of these answers by message id, without those that have none, in one round trip.

    A receipt lives as long as its answer, and ANSWER_RECEIPT_TTL_S at most.
    """
    if not message_ids:
        return {}
    ids = list(dict.fromkeys(message_ids))
    lines = await redis.call("MGET", *(context_key(ref, "receipt", each) for each in ids))
    return {each: parse_json(AnswerReceipt, line) for each, line in zip(ids, lines, strict=True) if line}


async def have_receipts(redis: RedisClient, ref: ContextRef, message_ids: Collection[str]) -> set[str]:
    """Return those of these messages that have a receipt, in one round trip."""
    if not message_ids:
        return set()
    ids = list(dict.fromkeys(message_ids))
    found = await redis.calls([("EXISTS", context_key(ref, "receipt", each)) for each in ids])
    return {each for each, exists in zip(ids, found, strict=True) if exists}


def _last_record(records: Sequence[PromptRecord], agent: str) -> PromptRecord | None:
    """Return the record of this agent's last prompt. Its delegates have left records too."""
    return next((record for record in reversed(records) if record.agent == agent), None)


def _recalled(hits: Sequence[RankedMessage], part: RecordPart | None) -> tuple[RecalledMessage, ...]:
    causes: dict[str, LeftOutCause] = {item.id: item.cause for item in part.left_out} if part else {}
    return tuple(
        RecalledMessage(
            message_id=hit.message.id,
            reasons=hit.reasons,
            left_out=causes.get(hit.message.id, ""),
            excerpt=hit.excerpt,
        )
        for hit in hits
    )


def _neighbours(hits: Sequence[RankedMessage], recalled: Sequence[RecalledMessage]) -> tuple[int, ...]:
    """Return the sequences of the messages beside the hits that are in the prompt."""
    shown = {each.message_id for each in recalled if not each.left_out}
    beside = [each for hit in hits if hit.message.id in shown for each in (*hit.before, *hit.after)]
    return tuple(dict.fromkeys(map(sequence_of, beside)))[:NEIGHBOURS_AT_MOST]


def _told(facts: Sequence[Fact], part: RecordPart | None) -> tuple[str, ...]:
    included = {item.id for item in part.included} if part else ()
    return tuple(fact.id for fact in facts if fact.id in included)


def _left_out(parts: Iterable[RecordPart]) -> Iterable[LeftOutOfPart]:
    """Yield the numbers of things that are missing in the prompt. A message that stands elsewhere in it is not."""
    for part in parts:
        counts = Counter[LeftOutCause]()
        for item in part.left_out:
            if item.cause != "repeated":
                counts[item.cause] += item.count
        for cause, count in counts.items():
            yield LeftOutOfPart(part=part.part, count=count, why=cause)


def _called(note: StepNote) -> CalledTool:
    return CalledTool(name=note.name, outcome=note.outcome, seconds=note.seconds)
