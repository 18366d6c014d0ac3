"""Names of all Redis keys, each spelt once.

All keys of a chat have the hash tag of its partition (`{m0}` …), so that one Lua script can use them together, on a
cluster too. A key either has a TTL (named here) or is listed in PERMANENT.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

PREFIX = "mnemogram"

TERMINAL_UPDATE_TTL_S = 48 * 3600
"""Records of finished updates. Telegram redelivers for 24 h after a message's date."""
STOP_TTL_S = 3600
ERASED_TTL_S = 600
REFUSAL_TTL_S = 30 * 24 * 3600
PROMPTS_TTL_S = 24 * 3600
"""Receipts of a context's last prompts."""

HEARD_TTL_S = 84 * 3600
"""Group talk that was not addressed to the bot, after its last line. The next line also deletes lines of this age, so no
line lives twice as long: the greeting of a group says a week.
"""
INVITATION_TTL_S = 7 * 24 * 3600
USAGE_TTL_S = 3 * 24 * 3600
"""Counts of tokens of a day, from the first."""

MINUTE_TTL_S = 60
"""Window of the limits of messages. A chat gets at most one notice of a limit in it."""
INVITATION_TRIES_TTL_S = 3600
COMMANDS_TTL_S = 30 * 24 * 3600
"""Digests of the registered command menus. The menus are registered again after it."""

IMPORT_TTL_S = 3600
"""Parts of an import that wait for the rest of the file."""

SWEEPING_TTL_S = 30
"""Lease of one cleanup step: three requests to the index, each with a time-out of six seconds."""

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
"""Patterns (after the partition's tag) of the keys without a TTL: data of a user or an operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRef:
    """Reference of a context: its id (32 hex digits) and the partition whose hash tag its keys have."""

    context_id: str
    partition: int


def context_id(namespace: str, context_keys: Mapping[str, object]) -> str:
    """Return the id of the context with these keys. Their order does not matter.

    `namespace` belongs to the transport ("telegram"), so that no other transport can guess the id of a Telegram context.
    Raises TypeError for keys that are not plain JSON.
    """
    canonical = json.dumps([namespace, context_keys], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def partition_of(anchor: int | str, partitions: int) -> int:
    """Return the partition of a chat, whose id is the anchor. All its topics share it."""
    return crc32(str(anchor).encode()) % partitions


def partition_key(partition: int, name: str) -> str:
    """Return a key of the partition, for example `mnemogram:{m0}:ready`."""
    return f"{PREFIX}:{{m{partition}}}:{name}"


def context_key(ref: ContextRef, name: str) -> str:
    """Return a key of one context's memory, for example of its `messages`."""
    return partition_key(ref.partition, f"ctx:{ref.context_id}:{name}")


# Memory of one context ------------------------------------------------------------------------------------
def messages_key(ref: ContextRef) -> str:
    """HASH message id → the message as JSON."""
    return context_key(ref, "messages")


def order_key(ref: ContextRef) -> str:
    """ZSET of message ids scored by sequence."""
    return context_key(ref, "order")


def telegram_key(ref: ContextRef) -> str:
    """HASH in both directions: Telegram message id → message id, and message id → its Telegram ids with spaces."""
    return context_key(ref, "telegram")


def meta_key(ref: ContextRef) -> str:
    """HASH of the context:

    - next_sequence, conversation_start, created_at; session_start and last_sent_at of the newest session.
    - active_agent (after a transfer), revision (of deletions and edits).
    - migrated_to: the supergroup whose messages `telegram` contains.
    - summary_failures, summary_failed_at (next_sequence at the last one).
    """
    return context_key(ref, "meta")


def epoch_key(ref: ContextRef) -> str:
    """STRING counter of resets, which outlives them. Writers that began before a reset find another epoch."""
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
    """HASH sender id → last name, of at most PEOPLE_LIMIT senders with a message."""
    return context_key(ref, "people")


def senders_key(ref: ContextRef) -> str:
    """HASH sender id → number of messages, also of senders beyond PEOPLE_LIMIT."""
    return context_key(ref, "senders")


def sessions_key(ref: ContextRef) -> str:
    """ZSET of the first sequence of each session, scored by itself."""
    return context_key(ref, "sessions")


def artifacts_key(ref: ContextRef) -> str:
    """ZSET of artifact ids scored by their expiry (Unix seconds). It expires with the last of them."""
    return context_key(ref, "artifacts")


def artifact_key(ref: ContextRef, artifact_id: str) -> str:
    """HASH of one artifact: `about` (JSON) and its text in numbered pieces; ARTIFACT_TTL_S."""
    return context_key(ref, f"artifact:{artifact_id}")


def prompts_key(ref: ContextRef) -> str:
    """LIST of the receipts of the last turns' prompts, newest first; PROMPTS_TTL_S."""
    return context_key(ref, "prompts")


def heard_key(ref: ContextRef) -> str:
    """ZSET of what was said here and not to the bot (HeardLine), scored by `heard.score_of`; HEARD_TTL_S."""
    return context_key(ref, "heard")


def import_key(ref: ContextRef, token: str, name: str) -> str:
    """Part of a running import, under the name of the context's key that it will replace; IMPORT_TTL_S."""
    return partition_key(ref.partition, f"import:{token}:{name}")


# One partition --------------------------------------------------------------------------------------------
def contexts_key(partition: int) -> str:
    """HASH context id → its context keys and title as JSON."""
    return partition_key(partition, "contexts")


def work_key(partition: int) -> str:
    """STREAM of work on vectors: op=index (a message), op=drop (a message), op=erase (older epochs)."""
    return partition_key(partition, "work")


def walk_key(partition: int) -> str:
    """HASH of the walk that puts every message of the partition's histories into one space of vectors.

    build, space (where every message belongs), total, context and sequence (queued up to there), queued, done, has_ended.
    """
    return partition_key(partition, "walk")


def erasures_key(partition: int) -> str:
    """STRING: number of erasures and replacements that somebody asked for; see `rewritten_key`."""
    return partition_key(partition, "erasures")


def compress_key(partition: int) -> str:
    """ZSET of context ids whose conversation waits for compression, scored by the due time (Unix seconds; 0: now).

    During the compression the score is the end of its lease.
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
    """LIST of committed parts that are not delivered yet."""
    return partition_key(ref.partition, f"outbox:{ref.context_id}")


def sending_key(ref: ContextRef) -> str:
    """STRING: number of sends of the outbox's first part whose outcome is unknown."""
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
    """STRING: result of one reset, for its repetition after a lost reply; ERASED_TTL_S."""
    return partition_key(partition, f"erased:{token}")


def active_key(partition: int) -> str:
    """HASH context id → id of its entry in `ready`."""
    return partition_key(partition, "active")


def ready_key(partition: int) -> str:
    """STREAM of contexts with something to do; one consumer group."""
    return partition_key(partition, "ready")


def control_key(partition: int) -> str:
    """STREAM of signals for running turns. Every worker reads it."""
    return partition_key(partition, "control")


def dead_key(partition: int) -> str:
    """ZSET of dead letters (update ids), scored by the time at which they became one."""
    return partition_key(partition, "dead")


def refused_key(partition: int, chat_id: int, sender_id: int) -> str:
    """STRING: the update of this sender that got the refusal; REFUSAL_TTL_S."""
    return partition_key(partition, f"refused:{chat_id}:{sender_id}")


def format_key() -> str:
    """STRING: the number of the store's format (memory/redis/store_format.py)."""
    return f"{PREFIX}:format"


def partitions_key() -> str:
    """STRING: the number of partitions, fixed at the first start."""
    return f"{PREFIX}:partitions"


def spaces_key() -> str:
    """STRING: the space of vectors that serves, and the one that is being built, as JSON."""
    return f"{PREFIX}:spaces"


def sweeping_key() -> str:
    """STRING: lock of the cleanup of collections that are not a space any more; SWEEPING_TTL_S."""
    return f"{PREFIX}:sweeping"


def rewritten_key() -> str:
    """STRING: number of erasures (all partitions) that the embedded store's file does not contain any more."""
    return f"{PREFIX}:rewritten"


def unreachable_key(partition: int) -> str:
    """HASH chat id → time of Telegram's last 403 (Unix seconds), until an update comes from the chat."""
    return partition_key(partition, "unreachable")


def usage_key(kind: str, owner: int, day: str) -> str:
    """HASH of the usage of one user or chat (`kind`; or "all", 0) on a day (UTC): prompt, completion, micros; USAGE_TTL_S.

    All keys of the limits are in one slot, because a user writes in chats of any partition.
    """
    return f"{PREFIX}:{{usage}}:{kind}:{owner}:{day}"


def minute_key(kind: str, owner: int) -> str:
    """ZSET of the last minute's update ids of one user or chat (`kind`), scored by Unix seconds; MINUTE_TTL_S."""
    return f"{PREFIX}:{{usage}}:minute:{kind}:{owner}"


def limit_told_key(chat_id: int) -> str:
    """STRING: the update at which this chat got its last notice of a limit; MINUTE_TTL_S."""
    return f"{PREFIX}:{{usage}}:told:{chat_id}"


def booked_key(update_id: int, run: str = "") -> str:
    """STRING: the usage of this update's turn, or of a failed run of it, is booked; USAGE_TTL_S."""
    return f"{PREFIX}:{{usage}}:booked:{update_id}{run and ':'}{run}"


def migrations_key() -> str:
    """HASH supergroup id → id of its former group, which keeps the memory."""
    return f"{PREFIX}:migrations"


def guests_key() -> str:
    """HASH user id → time of the accepted invitation (Unix seconds), a colon, and the invitation's digest."""
    return f"{PREFIX}:{{access}}:guests"


def invitation_key(digest: str) -> str:
    """STRING: an unused invitation, by the SHA-256 of its code; INVITATION_TTL_S."""
    return f"{PREFIX}:{{access}}:invitation:{digest}"


def invitation_tries_key(user_id: int) -> str:
    """STRING: number of wrong invitations that this person has tried; INVITATION_TRIES_TTL_S from the first."""
    return f"{PREFIX}:{{access}}:tries:{user_id}"


def commands_key(bot_id: int) -> str:
    """HASH scope and language of a command menu → digest of its registered commands; COMMANDS_TTL_S."""
    return f"{PREFIX}:commands:{bot_id}"


def rates_all_key() -> str:
    """ZSET of the slots that calls to the Bot API have taken; its TTL ends with the last slot."""
    return f"{PREFIX}:{{rates}}:all"


def rates_chat_key(chat_id: int) -> str:
    """LIST of the times (ms) of a chat's newest calls to the Bot API; its TTL is the budget's window."""
    return f"{PREFIX}:{{rates}}:chat:{chat_id}"


def rates_hold_key(chat_id: int) -> str:
    """STRING: time (ms) before which Telegram wants no call for this chat; its TTL ends then."""
    return f"{PREFIX}:{{rates}}:chat:{chat_id}:hold"
