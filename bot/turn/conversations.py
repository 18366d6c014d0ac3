"""Opens the context of a conversation for a turn: its history, facts, reminders and artifacts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from bot.agent.context import AgentContext, Conversation, MessageCount
from bot.model_choices import chosen_model
from memory.artifacts.store import ContextArtifacts, OutgoingFiles
from memory.chat_history import ChatHistory
from memory.facts.context_facts import ContextFacts
from memory.facts.redis_facts import RedisFacts
from memory.history.buffered import BufferedHistory, refuse_messages
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.history.selectors import TokenCounter
from memory.keys import ContextRef
from memory.recall.recall import Recall
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """Opens the contexts of all conversations."""

    redis: RedisClient
    recall: Recall
    facts: RedisFacts
    tokenizer: TokenCounter
    clock: Callable[[], float]
    artifact_ttl_s: int
    artifact_chars: int
    models: Sequence[str]
    """The models that people may choose, the default first."""
    is_summarizing: bool
    """True if a model writes summaries."""
    shows_talk: bool = True
    """True if prompts contain what was said in a group and not to the bot."""

    async def find_by_telegram(
        self, ref: ContextRef, history: BufferedHistory, telegram_message_id: int
    ) -> Message | None:
        """Return the message that is shown under this Telegram id, or None. Raises the store's errors."""
        found = await RedisHistory(self.redis).find_by_telegram(ref, telegram_message_id)
        return (await history.get(ref, [found])).get(found) if found else None

    def open(
        self,
        ref: ContextRef,
        history: BufferedHistory,
        *,
        is_group: bool,
        request_id: str = "",
        metadata: Mapping[str, object] | None = None,
    ) -> AgentContext:
        """Return the context before the question's messages. `request_id` makes this turn's tool calls unique."""
        snapshot = history.snapshot

        def count() -> MessageCount:
            now, pending = history.snapshot, len(history.pending)
            uncovered = now.conversation_count + pending - now.summary_state.covered_count
            return MessageCount(total=now.count + pending, uncovered=uncovered)

        return AgentContext(
            conversation=Conversation(
                ref=ref,
                is_group=is_group,
                people=snapshot.people,
                zones=snapshot.choices.zones,
                talk=snapshot.talk.lines if self.shows_talk or not is_group else (),
                standing=snapshot.standing,
                summary=snapshot.summary,
                ledger=snapshot.ledger,
                is_window_short=not self.is_summarizing or snapshot.summary_state.failed_at is not None,
                count=count,
                refuse=lambda ids, quoted: refuse_messages(history, ref, ids, quoted),
                facts=self._facts(ref, history),
                model=chosen_model(snapshot.choices.model, self.models),
                files=OutgoingFiles(self.redis, ref, epoch=lambda: history.epoch),
            ),
            chat_history=ChatHistory(
                ref=ref,
                epoch=snapshot.epoch,
                store=history,
                recall=self.recall,
                tokenizer=self.tokenizer,
                clock=self.clock,
                new_id=lambda: str(uuid4()),
            ),
            request_id=request_id,
            metadata=metadata or {},
            agent_name=snapshot.choices.agent,
            artifacts=self._artifacts(ref, history),
        )

    def _facts(self, ref: ContextRef, history: BufferedHistory) -> ContextFacts | None:
        if "facts" not in history.snapshot.holds:
            return None
        return ContextFacts(facts=self.facts, ref=ref, epoch=lambda: history.epoch, recall=self.recall)

    def _artifacts(self, ref: ContextRef, history: BufferedHistory) -> ContextArtifacts:
        return ContextArtifacts(
            self.redis,
            ref,
            epoch=lambda: history.epoch,
            clock=self.clock,
            ttl_s=self.artifact_ttl_s,
            keep_beyond=self.artifact_chars,
            has_any="artifacts" in history.snapshot.holds,
        )
