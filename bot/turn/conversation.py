"""Conversations: from one read of the history to the context that an agent works in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from bot.agent.context import AgentContext, Conversation
from memory.artifacts.store import ContextArtifacts
from memory.chat_history import ChatHistory
from memory.history.buffered import BufferedHistory
from memory.history.selectors import TokenCounter
from memory.history.store import HistorySnapshot, HistoryStore
from memory.keys import ContextRef
from memory.recall.recall import Recall
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """Opens the contexts of all conversations."""

    redis: RedisClient
    history: HistoryStore
    recall: Recall
    tokenizer: TokenCounter
    clock: Callable[[], float]
    artifact_ttl_s: int
    artifact_chars: int
    is_summarizing: bool
    """True if a model writes summaries."""
    shows_talk: bool = True
    """True if prompts contain what was said in a group and not to the bot."""

    def buffer(
        self, ref: ContextRef, snapshot: HistorySnapshot, *, hidden_from: int | None = None
    ) -> BufferedHistory:
        """Return the history of one turn, which keeps new messages in memory until the commit.

        Stored messages from the sequence `hidden_from` on are hidden.
        """
        return BufferedHistory(self.history, ref, snapshot, hidden_from=hidden_from)

    def open(
        self,
        ref: ContextRef,
        snapshot: HistorySnapshot,
        buffered: BufferedHistory,
        *,
        is_group: bool,
        request_id: str = "",
        metadata: Mapping[str, object] | None = None,
    ) -> AgentContext:
        """Return the context before the question's messages. `request_id` makes this turn's tool calls unique."""

        async def count_uncovered() -> int:
            now = await buffered.load(ref, limit=0)
            return now.conversation_count - now.covered_count

        return AgentContext(
            conversation=Conversation(
                ref=ref,
                is_group=is_group,
                people=snapshot.people,
                talk=snapshot.talk if self.shows_talk or not is_group else (),
                summary=snapshot.summary,
                ledger=snapshot.ledger,
                is_window_short=not self.is_summarizing or snapshot.summary_failed_at is not None,
                count_uncovered=count_uncovered,
            ),
            chat_history=self._chat_history(ref, snapshot, buffered),
            request_id=request_id,
            metadata=metadata or {},
            agent_name=snapshot.active_agent,
            artifacts=ContextArtifacts(
                self.redis,
                ref,
                epoch=lambda: buffered.epoch,
                clock=self.clock,
                ttl_s=self.artifact_ttl_s,
                keep_beyond=self.artifact_chars,
            ),
        )

    def _chat_history(
        self, ref: ContextRef, snapshot: HistorySnapshot, buffered: BufferedHistory
    ) -> ChatHistory:
        return ChatHistory(
            ref=ref,
            epoch=snapshot.epoch,
            store=buffered,
            recall=self.recall,
            tokenizer=self.tokenizer,
            clock=self.clock,
            new_id=lambda: str(uuid4()),
        )
