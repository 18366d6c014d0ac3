"""Every Redis key that we write, spelt once.

All keys of a chat carry the hash tag of its partition (`{m0}` …), so that one Lua script can touch its inbox,
history and outbox together, on a cluster too. A key either has a TTL (named here) or is listed in PERMANENT.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

PREFIX = "mnemogram"

TERMINAL_UPDATE_TTL_S = 48 * 3600
"""How long the record of a finished update is kept. Telegram redelivers for 24 h after a message's date."""
STOP_TTL_S = 3600
ERASED_TTL_S = 600
REFUSAL_TTL_S = 30 * 24 * 3600
PROMPTS_TTL_S = 24 * 3600
"""How long the receipts of a context's last prompts are kept."""

HEARD_TTL_S = 84 * 3600
"""How long talk that was not addressed to the bot is kept after the last of it. What is older goes with the next line, so
that no line is kept for more than twice as long: a week, as the greeting of a group says."""
INVITATION_TTL_S = 7 * 24 * 3600
USAGE_TTL_S = 3 * 24 * 3600
"""How long a day's counts of tokens are kept, from their first."""

MINUTE_TTL_S = 60
"""The window of the limits of messages, and how long a chat that was told of a limit is not told again."""
INVITATION_TRIES_TTL_S = 3600
COMMANDS_TTL_S = 30 * 24 * 3600
"""After this long the command menus are registered again, whatever was noted of them."""

IMPORT_TTL_S = 3600
"""How long what is read of a context's file may wait beside the memory for the rest of it."""

SWEEPING_TTL_S = 30
"""How long one step of that sweeping may take: three requests to the index, each given up after six seconds."""

PERMANENT = (
    "format",
    "partitions",
    "ctx:*:messages",
    "ctx:*:order",
    "ctx:*:telegram",
    "ctx:*:meta",
    "ctx:*:epoch",
    "ctx:*:summaries",
    "ctx:*:lineage",
    "ctx:*:ledger",
    "ctx:*:people",
    "ctx:*:senders",
    "ctx:*:sessions",
    "contexts",
    "migrations",
    "guests",
    "box:*",
    "outbox:*",
    "sending:*",
    "delivering:*",
    "journal:*",
    "active",
    "ready",
    "control",
    "dead",
    "work",
    "walk",
    "spaces",
    "compress",
    "erasures",
    "rewritten",
    "unreachable",
    "update:*",  # until it is finished; TERMINAL_UPDATE_TTL_S from then on
)
"""Patterns (after the partition's tag) of the keys without a TTL: what a user or an operator owns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRef:
    """Where a context lives: its id (32 hex digits) and the partition whose hash tag its keys carry."""

    context_id: str
    partition: int


def context_id(namespace: str, context_keys: Mapping[str, object]) -> str:
    """The id of the context with these keys: the same keys in any order give the same id.

    `namespace` is the transport's own ("telegram"): it is hashed apart from the keys, so no other transport
    can reach a Telegram context by guessing ids. Raises TypeError for keys that are not plain JSON.
    """
    canonical = json.dumps([namespace, context_keys], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def partition_of(anchor: int | str, partitions: int) -> int:
    """The partition of a chat (its id is the anchor): all its topics share it."""
    return crc32(str(anchor).encode()) % partitions


def partition_key(partition: int, name: str) -> str:
    """A key of the partition, such as `mnemogram:{m0}:ready`."""
    return f"{PREFIX}:{{m{partition}}}:{name}"


def context_key(ref: ContextRef, name: str) -> str:
    """A key of one context's memory, such as `messages`."""
    return partition_key(ref.partition, f"ctx:{ref.context_id}:{name}")


# Memory of one context ------------------------------------------------------------------------------------
def messages_key(ref: ContextRef) -> str:
    """HASH message id → the message as JSON."""
    return context_key(ref, "messages")


def order_key(ref: ContextRef) -> str:
    """ZSET of message ids scored by sequence."""
    return context_key(ref, "order")


def telegram_key(ref: ContextRef) -> str:
    """HASH, both ways: Telegram message id → message id, and message id → its Telegram ids with spaces."""
    return context_key(ref, "telegram")


def meta_key(ref: ContextRef) -> str:
    """HASH of the context: next_sequence, conversation_start, created_at, active_agent (after a transfer),
    revision (of what was deleted or edited), migrated_to (the supergroup whose messages `telegram` knows), summary_failures, summary_failed_at (next_sequence at the last one), and of the newest session its session_start and
    last_sent_at.
    """
    return context_key(ref, "meta")


def epoch_key(ref: ContextRef) -> str:
    """STRING counter of resets. It outlives a reset: it is the fence that late writers meet."""
    return context_key(ref, "epoch")


def summaries_key(ref: ContextRef) -> str:
    """HASH summary id → the summary as JSON, and `covers:<summary id>` → the ids of the messages it added."""
    return context_key(ref, "summaries")


def lineage_key(ref: ContextRef) -> str:
    """ZSET of summary ids scored by the last sequence that each covers; the highest one is the current summary."""
    return context_key(ref, "lineage")


def ledger_key(ref: ContextRef) -> str:
    """ZSET of the ledger's turns (LedgerTurn as JSON), scored by the turn's last sequence."""
    return context_key(ref, "ledger")


def people_key(ref: ContextRef) -> str:
    """HASH sender id → the name that they showed last; of at most PEOPLE_LIMIT who have a message here."""
    return context_key(ref, "people")


def senders_key(ref: ContextRef) -> str:
    """HASH sender id → how many messages there are of theirs; also of those beyond the limit."""
    return context_key(ref, "senders")


def sessions_key(ref: ContextRef) -> str:
    """ZSET of the sequences at which a session began, each scored by itself."""
    return context_key(ref, "sessions")


def artifacts_key(ref: ContextRef) -> str:
    """ZSET of artifact ids scored by when they end (Unix seconds); it ends with the last of them."""
    return context_key(ref, "artifacts")


def artifact_key(ref: ContextRef, artifact_id: str) -> str:
    """HASH of one artifact: `about` (JSON) and its text in numbered pieces; ends after ARTIFACT_TTL_S."""
    return context_key(ref, f"artifact:{artifact_id}")


def prompts_key(ref: ContextRef) -> str:
    """LIST of the receipts of the last turns' prompts, newest first; PROMPTS_TTL_S."""
    return context_key(ref, "prompts")


def heard_key(ref: ContextRef) -> str:
    """ZSET of what was said here and not to the bot (HeardLine), scored by `heard.score_of`; HEARD_TTL_S."""
    return context_key(ref, "heard")


def import_key(ref: ContextRef, token: str, name: str) -> str:
    """What one import has read so far, under the name of the context's key whose place it takes; IMPORT_TTL_S."""
    return partition_key(ref.partition, f"import:{token}:{name}")


# One partition --------------------------------------------------------------------------------------------
def contexts_key(partition: int) -> str:
    """HASH context id → its context keys and title as JSON."""
    return partition_key(partition, "contexts")


def work_key(partition: int) -> str:
    """STREAM of work on vectors: op=index (a message), op=drop (a message), op=erase (older epochs)."""
    return partition_key(partition, "work")


def walk_key(partition: int) -> str:
    """HASH of the walk over the partition's histories that puts every message into one space: build, space, total,
    context and sequence (queued up to there), queued, done, has_ended. `space` is where every message belongs.
    """
    return partition_key(partition, "walk")


def erasures_key(partition: int) -> str:
    """STRING: how often something was erased or replaced here on somebody's wish; see `rewritten_key`."""
    return partition_key(partition, "erasures")


def compress_key(partition: int) -> str:
    """ZSET of context ids whose conversation is to be compressed, scored by when that is due (Unix seconds; 0 for
    at once). While one works on it, that is the end of its lease.
    """
    return partition_key(partition, "compress")


def update_key(partition: int, update_id: int) -> str:
    """HASH of one update: state, reason, context, times, and the payload until it is finished."""
    return f"{update_prefix(partition)}{update_id}"


def box_key(ref: ContextRef) -> str:
    """ZSET of the context's pending update ids, scored by update id."""
    return partition_key(ref.partition, f"box:{ref.context_id}")


def journal_key(ref: ContextRef) -> str:
    """HASH of the running turn's finished steps."""
    return partition_key(ref.partition, f"journal:{ref.context_id}")


def outbox_key(ref: ContextRef) -> str:
    """LIST of the parts that are committed and not yet delivered."""
    return partition_key(ref.partition, f"outbox:{ref.context_id}")


def sending_key(ref: ContextRef) -> str:
    """STRING: how many sends of the outbox's first part were begun whose outcome is open."""
    return partition_key(ref.partition, f"sending:{ref.context_id}")


def delivering_key(ref: ContextRef) -> str:
    """ZSET of update ids whose answer is in the outbox."""
    return partition_key(ref.partition, f"delivering:{ref.context_id}")


def update_prefix(partition: int) -> str:
    """Prefix of the keys of updates, for scripts that find the ids themselves."""
    return partition_key(partition, "update:")


def key_prefixes(partition: int) -> Mapping[str, str]:
    """Prefixes of keys by name. A script completes them with the id of a context or an update."""
    names = ("box", "outbox", "delivering", "journal", "update")
    return {name: partition_key(partition, f"{name}:") for name in names}


def stop_key(ref: ContextRef) -> str:
    """STRING: the highest update id that a /stop has ended; STOP_TTL_S."""
    return partition_key(ref.partition, f"stop:{ref.context_id}")


def erased_key(partition: int, token: str) -> str:
    """STRING: what one call of a reset erased, for its repetition after a lost reply; ERASED_TTL_S."""
    return partition_key(partition, f"erased:{token}")


def active_key(partition: int) -> str:
    """HASH context id → id of its entry in `ready`."""
    return partition_key(partition, "active")


def ready_key(partition: int) -> str:
    """STREAM of contexts with something to do; one consumer group."""
    return partition_key(partition, "ready")


def control_key(partition: int) -> str:
    """STREAM of stop requests, read by every worker."""
    return partition_key(partition, "control")


def dead_key(partition: int) -> str:
    """ZSET of dead-lettered update ids, scored by the time of their death."""
    return partition_key(partition, "dead")


def refused_key(partition: int, chat_id: int, sender_id: int) -> str:
    """STRING: this sender has had the one polite refusal; REFUSAL_TTL_S."""
    return partition_key(partition, f"refused:{chat_id}:{sender_id}")


def format_key() -> str:
    """STRING: the number of the store's format (memory/redis/store_format.py)."""
    return f"{PREFIX}:format"


def partitions_key() -> str:
    """STRING: the number of partitions, fixed at the first start."""
    return f"{PREFIX}:partitions"


def spaces_key() -> str:
    """STRING: which space of vectors serves and which one is being built, as JSON."""
    return f"{PREFIX}:spaces"


def sweeping_key() -> str:
    """STRING: somebody erases what is left in collections that are no space any more; SWEEPING_TTL_S."""
    return f"{PREFIX}:sweeping"


def rewritten_key() -> str:
    """STRING: of the erasures of all partitions, those that the embedded store's file no longer tells of."""
    return f"{PREFIX}:rewritten"


def unreachable_key(partition: int) -> str:
    """HASH chat id → when Telegram last answered 403 for it (Unix seconds); until something comes from there."""
    return partition_key(partition, "unreachable")


def usage_key(kind: str, owner: int, day: str) -> str:
    """HASH of what one user or chat (`kind`; or "all", 0) used on a day (UTC, 2026-11-20): prompt, completion, micros;
    USAGE_TTL_S. All keys of the limits are in one slot: a user writes in chats of any partition.
    """
    return f"{PREFIX}:{{usage}}:{kind}:{owner}:{day}"


def minute_key(kind: str, owner: int) -> str:
    """ZSET of the last minute's update ids of one user or chat (`kind`), scored by Unix seconds; MINUTE_TTL_S."""
    return f"{PREFIX}:{{usage}}:minute:{kind}:{owner}"


def limit_told_key(chat_id: int) -> str:
    """STRING: the update at which this chat was last told of a limit; MINUTE_TTL_S."""
    return f"{PREFIX}:{{usage}}:told:{chat_id}"


def booked_key(update_id: int, run: str = "") -> str:
    """STRING: what the turn of this update used is booked, or a run of it that came to nothing; USAGE_TTL_S."""
    return f"{PREFIX}:{{usage}}:booked:{update_id}{run and ':'}{run}"


def migrations_key() -> str:
    """HASH supergroup id → the id of the group that it was, under which its memory stays."""
    return f"{PREFIX}:migrations"


def guests_key() -> str:
    """HASH user id → when an invitation let them in (Unix seconds) and the digest of it, with a colon between."""
    return f"{PREFIX}:{{access}}:guests"


def invitation_key(digest: str) -> str:
    """STRING: an invitation that nobody has used, by the SHA-256 of its code; INVITATION_TTL_S."""
    return f"{PREFIX}:{{access}}:invitation:{digest}"


def invitation_tries_key(user_id: int) -> str:
    """STRING: how many wrong invitations this person has tried; INVITATION_TRIES_TTL_S from the first."""
    return f"{PREFIX}:{{access}}:tries:{user_id}"


def commands_key(bot_id: int) -> str:
    """HASH scope and language of a command menu → a digest of what was registered for it; COMMANDS_TTL_S."""
    return f"{PREFIX}:commands:{bot_id}"


def rates_prefix() -> str:
    """What the keys of the send budgets begin with: all of them in one slot, for one script; each with a TTL."""
    return f"{PREFIX}:{{rates}}:"
