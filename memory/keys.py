"""Names and documentation of all Redis keys.

All keys of a chat have the hash tag of its partition (`{m0}` …), so that one Lua script can use them together, on a
cluster too.
A key without a TTL holds data of a user or an operator.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple, NewType
from zlib import crc32

PREFIX = "mnemogram"

Key = NewType("Key", str)
"""A whole Redis key."""

TERMINAL_UPDATE_TTL_S = 48 * 3600
"""Records of finished updates. Telegram redelivers for 24 h after a message's date."""
STOP_TTL_S = 3600
FILES_TTL_S = 24 * 3600
"""Files that wait to be sent, after the newest of a context."""
ERASED_TTL_S = 24 * 3600
"""The result of a reset. A chat that waits for a store gets its receipt within this time."""
REFUSAL_TTL_S = 30 * 24 * 3600
ANSWER_RECEIPT_TTL_S = 30 * 24 * 3600
"""Receipts of answers. Forgetting an answer erases its receipt before."""

TALK_TTL_S = 84 * 3600
"""Group talk that was not addressed to the bot, after its last line. The next line also deletes lines of this
age, so no line lives twice as long: the greeting of a group says a week.
"""
INVITATION_TTL_S = 7 * 24 * 3600
USAGE_TTL_S = 3 * 24 * 3600
"""Counts of tokens of a day, from the first."""

MINUTE_TTL_S = 60
"""Window of the limits of messages. A chat gets at most one notice of a limit in it."""
INVITATION_TRIES_TTL_S = 3600
COMMANDS_TTL_S = 30 * 24 * 3600
"""Digests of the registered command menus. The menus are registered again after it."""

PROBE_TTL_S = 60

IMPORT_TTL_S = 3600
"""Parts of an import that wait for the rest of the file."""

BEAT_TTL_S = 600
"""The number of a worker's last heartbeat. An idle worker beats more often than that."""

SWEEPING_TTL_S = 30
"""Lease of one cleanup step: three requests to the index, each with a time-out of six seconds."""


COUNTER_STEP_S = 900
COUNTER_TTL_S = 31 * 24 * 3600
"""Counters are kept in buckets of COUNTER_STEP_S. counters.lua has the same numbers."""
DASHBOARD_TTL_S = 60
"""A link that `mnemogram dashboard` prints."""
SESSION_TTL_S = 8 * 3600
"""An operator's session on the page, after such a link was opened."""


class KeyKind(NamedTuple):
    """Documentation of a key."""

    holds: str
    """Type and content."""
    parts: str = ""
    """Further parts of the name."""
    expires: bool = False
    """True if it has a TTL. All other keys hold data of a user or an operator."""
    counted_as: str = ""
    """Field of RecordCounts for the entries of a context's key, "" for an index. A reset erases both."""
    listed_in: str = ""
    """Key of the context with the ids of all keys of this kind, which a reset erases too."""
    outlives_resets: bool = False
    """True for a key of a context that no reset erases."""


ContextName = Literal[
    Literal["messages", "order", "telegram", "meta", "epoch", "summaries", "lineage", "ledger", "people"],
    Literal["senders", "sessions", "artifacts", "artifact", "receipts", "receipt", "talk", "facts"],
    Literal["fact_order", "cited", "standing", "unread", "fact_lists", "choices", "reminders", "incognito"],
    Literal["imports"],
]
WorkName = Literal["box", "journal", "outbox", "sending", "delivering", "files", "stop"]
PartitionName = Literal[
    Literal["contexts", "work", "walk", "erasures", "compress", "extract", "due", "own_updates", "active"],
    Literal["ready", "control", "dead", "unreachable", "counts", "workers", "update", "erased", "refused"],
    Literal["warned", "import", "local_zones", "probe", "beat", "retain", "tombstones"],
]
GlobalName = Literal[
    Literal["format", "partitions", "spaces", "sweeping", "rewritten", "rewriting", "unclean", "renewed"],
    Literal["whole_since", "secret", "forgetting", "forgetting_lease", "forgotten", "migrations", "zones"],
    Literal["restoring", "commands", "abilities", "{usage}:day", "{usage}:month", "{usage}:minute"],
    Literal["{usage}:told", "{usage}:booked", "{usage}:pictures", "{usage}:facts"],
    Literal["{access}:guests", "{access}:invitation", "{access}:tries", "{access}:open"],
    Literal["{access}:dashboard", "{access}:sessions", "{rates}:seats", "{rates}:bucket", "{rates}:hold"],
    Literal["{rates}:counts"],
]

CONTEXT_KEYS: Mapping[ContextName, KeyKind] = {
    "messages": KeyKind("HASH message id → the message as JSON.", counted_as="messages"),
    "order": KeyKind("ZSET of message ids scored by sequence.", counted_as="messages"),
    "telegram": KeyKind(
        "HASH in both directions: Telegram message id → message id, and message id → its Telegram ids with spaces."
        " `photos:<message id>` → file ids of the photos that we sent with it."
    ),
    "meta": KeyKind(
        "HASH of the context. next_sequence, first_sequence (the lowest that an import took), conversation_start,"
        " created_at; session_start and last_sent_at of"
        " the newest session. active_agent (after a transfer), revision (of deletions and edits). migrated_to:"
        " the supergroup whose messages `telegram` contains. summary_failures, summary_failed_at (next_sequence"
        " at the last one). facts_from: older messages were not read for facts yet. facts_version (of changes of"
        " facts), facts_saved (id of the last save), fact_failures. `facts_since:<sender id>`: messages of this person"
        " before that sequence are not read. corrections: the questions about facts that wait for"
        " an answer (AwaitedCorrection as JSON). offers: the buttons that forget answers which used a forgotten message"
        " (Offer as JSON). model: the one that people have chosen. choices: what they have chosen of features (JSON)."
        " talk_after: models see only"
        " talk after this time, because a filter refused the lines before. zone_asked: the person"
        " who was asked for a time zone, and when (Unix seconds)."
    ),
    "epoch": KeyKind(
        "STRING counter of resets, which outlives them. Writers that began before a reset find another epoch.",
        outlives_resets=True,
    ),
    "summaries": KeyKind(
        "HASH summary id → the summary as JSON, and `covers:<summary id>` → the ids of the messages it added.",
        counted_as="summaries",
    ),
    "lineage": KeyKind(
        "ZSET of summary ids scored by the last sequence that each covers; the highest one is the current summary.",
        counted_as="summaries",
    ),
    "ledger": KeyKind(
        "ZSET of the ledger's turns (LedgerTurn as JSON), scored by the turn's last sequence.",
        counted_as="ledger_turns",
    ),
    "people": KeyKind(
        "HASH sender id → last name, of at most PEOPLE_LIMIT senders with a message.", counted_as="people"
    ),
    "senders": KeyKind(
        "HASH sender id → number of messages, also of senders beyond PEOPLE_LIMIT.", counted_as="people"
    ),
    "sessions": KeyKind(
        "ZSET of the first sequence of each session, scored by itself.", counted_as="sessions"
    ),
    "artifacts": KeyKind(
        "ZSET of artifact ids scored by their expiry (Unix seconds). It expires with the last of them.",
        expires=True,
        counted_as="artifacts",
    ),
    "artifact": KeyKind(
        "HASH of one artifact: `about` (JSON) and its text in numbered pieces; ARTIFACT_TTL_S.",
        "ARTIFACT_ID",
        expires=True,
        listed_in="artifacts",
    ),
    "receipts": KeyKind(
        "ZSET of the ids of answers with a receipt, scored by its expiry (Unix seconds). It expires with the last of"
        " them.",
        expires=True,
        counted_as="answer_receipts",
    ),
    "receipt": KeyKind(
        "STRING: the receipt of one answer (AnswerReceipt as JSON), without a word of a message;"
        " ANSWER_RECEIPT_TTL_S.",
        "MESSAGE_ID",
        expires=True,
        listed_in="receipts",
    ),
    "talk": KeyKind(
        "ZSET of what was said here and not to the bot (TalkLine), scored by `talk.score_of`; TALK_TTL_S.",
        expires=True,
        counted_as="talk",
    ),
    "facts": KeyKind("HASH fact id → the fact as JSON.", counted_as="facts"),
    "fact_order": KeyKind("ZSET of fact ids scored by valid_from (Unix seconds).", counted_as="facts"),
    "cited": KeyKind(
        "HASH message id → ids of the facts that cite it, with spaces; and `closed:<fact id>` → ids of the facts that"
        " this one has closed."
    ),
    "standing": KeyKind(
        "ZSET of the standing wishes that hold, each as sender id, valid_from (17 characters) and fact id with colons."
        " All have the score 0, so those of a sender stand together, by age."
    ),
    "unread": KeyKind("ZSET of ids of the messages that are not read for facts yet, scored by sequence."),
    "fact_lists": KeyKind("HASH sender id → the shown list that waits for the unread ones.", expires=True),
    "choices": KeyKind(
        "HASH of choices that outlive resets: `facts` → on or off, `off:<sender id>` → 1, and `retention` → days for"
        " which messages are kept, with ` facts` if facts stay.",
        outlives_resets=True,
    ),
    "reminders": KeyKind("HASH reminder id → the reminder as JSON.", counted_as="reminders"),
    "incognito": KeyKind(
        "ZSET of the spans of incognito (Unix seconds): `BEGIN` while it is on, scored by its end after an hour of"
        " silence; `BEGIN END` later, scored by the time up to which its answers were sent.",
        outlives_resets=True,
    ),
    "imports": KeyKind(
        "HASH of imports from other services: import id → ImportRecord as JSON; `ID:first`, its lowest sequence, which"
        " is negative; `ID:done`, messages that were read (missing while it is being forgotten); `ID:added`;"
        " `ID:forgotten`, those that stay forgotten; `ID:chats:UPTO`, names of the tombstones that a reset leaves."
    ),
}
"""Memory of one context: `{m0}:ctx:CONTEXT:messages`."""

ERASED_KEYS: Mapping[str, str] = {
    name: kind.counted_as
    for name, kind in CONTEXT_KEYS.items()
    if not kind.outlives_resets and not kind.parts
}
"""Keys that a reset erases, with the field of RecordCounts that counts their entries."""


_LISTED_KEYS: Mapping[str, ContextName] = {
    kind.listed_in: name for name, kind in CONTEXT_KEYS.items() if kind.listed_in
}
"""Keys of a context that list the ids of other keys, with the name of those."""


WORK_KEYS: Mapping[WorkName, KeyKind] = {
    "box": KeyKind("ZSET of the context's pending update ids, scored by update id."),
    "journal": KeyKind("HASH of the running turn's finished steps."),
    "outbox": KeyKind("LIST of committed parts that are not delivered yet."),
    "sending": KeyKind("STRING: number of sends of the outbox's first part whose outcome is unknown."),
    "delivering": KeyKind("ZSET of update ids whose answer is in the outbox."),
    "files": KeyKind("HASH file id → its bytes in base64, until they are sent; FILES_TTL_S.", expires=True),
    "stop": KeyKind("STRING: the highest update id that a /stop has ended; STOP_TTL_S.", expires=True),
}
"""Work of one context: `{m0}:box:CONTEXT`. A script completes `{m0}:box:` with the id of a context that it finds."""

PARTITION_KEYS: Mapping[PartitionName, KeyKind] = {
    "contexts": KeyKind("HASH context id → its context keys and title as JSON."),
    "work": KeyKind(
        "STREAM of work on vectors: op=index (a message), op=drop (a message), op=erase (older epochs)."
    ),
    "walk": KeyKind(
        "HASH of the walk that puts every message of the partition's histories into one space of vectors. build, space"
        " (where every message belongs), total, context and sequence (queued up to there), queued, done, has_ended."
    ),
    "erasures": KeyKind(
        "STRING: number of erasures, and of other writes that made words unreachable; compare `rewritten`."
    ),
    "compress": KeyKind(
        "ZSET of context ids whose conversation waits for compression, scored by the due time (Unix seconds; 0: now)."
        " During the compression the score is the end of its lease."
    ),
    "extract": KeyKind(
        "ZSET of context ids with messages to read for facts. The score is a whole number of Unix seconds while the"
        " context waits (0: now), and has a fraction while it is claimed: the end of the lease."
    ),
    "due": KeyKind(
        "ZSET of all reminders, each as context id, space, reminder id; scored by the next date (Unix seconds)."
    ),
    "own_updates": KeyKind(
        "STRING counter of the updates that reminders and warnings have made. Their ids are negative."
    ),
    "active": KeyKind("HASH context id → id of its entry in `ready`."),
    "ready": KeyKind("STREAM of contexts with something to do; one consumer group."),
    "control": KeyKind("STREAM of signals for running turns. Every worker reads it."),
    "dead": KeyKind("ZSET of dead letters (update ids), scored by the time at which they became one."),
    "unreachable": KeyKind(
        "HASH chat id → time of Telegram's last 403 (Unix seconds), until an update comes from the chat."
    ),
    "counts": KeyKind(
        "HASH of what happened in COUNTER_STEP_S from START (Unix seconds): messages, turns, recalled (turns that used"
        " memories), prompt, completion and micros of each model, and levels of answer times (bot/observe/series.py)."
        " It has no data of a chat, so no reset touches it; COUNTER_TTL_S.",
        "START",
        expires=True,
    ),
    "workers": KeyKind(
        "ZSET of the workers, each with its version, scored by their last sign of life (Unix seconds); only in the"
        " first partition. It expires with the newest.",
        expires=True,
    ),
    "update": KeyKind(
        "HASH of one update: state, reason, context, times, and the payload until it is finished. TERMINAL_UPDATE_TTL_S"
        " from then on.",
        "UPDATE_ID",
    ),
    "erased": KeyKind("STRING: counts of a reset, for its repetition; ERASED_TTL_S.", "TOKEN", expires=True),
    "refused": KeyKind(
        "STRING: the update of this sender that got the refusal; REFUSAL_TTL_S.",
        "CHAT_ID:SENDER_ID",
        expires=True,
    ),
    "warned": KeyKind(
        "STRING: time of this operator's warning of the budget; 32 days.", "MONTH:OPERATOR_ID", expires=True
    ),
    "import": KeyKind(
        "Part of a running import, under the name of the context's key that it will replace; IMPORT_TTL_S.",
        "TOKEN:NAME",
        expires=True,
    ),
    "local_zones": KeyKind("HASH: a copy of `zones` for the scripts of the partition."),
    "probe": KeyKind(
        "HASH: the write by which /health/ready and `mnemogram doctor` find out if there can be any; PROBE_TTL_S.",
        expires=True,
    ),
    "beat": KeyKind("STRING: number of this worker's last heartbeat; BEAT_TTL_S.", "CONSUMER", expires=True),
    "retain": KeyKind(
        "ZSET of context ids whose old messages are looked for, scored by the due time (Unix seconds; 0: now)."
        " Meanwhile the score is the end of the lease."
    ),
    "tombstones": KeyKind(
        "ZSET of keyed hashes of what was erased (memory/tombstones.py), scored by Unix seconds."
    ),
}
"""One partition: `{m0}:ready`."""

GLOBAL_KEYS: Mapping[GlobalName, KeyKind] = {
    "format": KeyKind("STRING: the number of the store's format (memory/redis/durability.py)."),
    "partitions": KeyKind("STRING: the number of partitions, fixed at the first start."),
    "spaces": KeyKind("STRING: the space of vectors that serves, and the one that is being built, as JSON."),
    "sweeping": KeyKind(
        "STRING: lock of the cleanup of collections that are not a space any more; SWEEPING_TTL_S.",
        expires=True,
    ),
    "rewritten": KeyKind(
        "STRING: number of erasures (all partitions) that the store's file does not contain any more, except for the"
        " servers in `unclean`."
    ),
    "rewriting": KeyKind(
        "STRING: pause after a rewrite of the files of Redis or Valkey servers; ten minutes, longer for large files.",
        expires=True,
    ),
    "unclean": KeyKind(
        "HASH server → reason why its append-only file still has erased data: it may not or could not be rewritten."
    ),
    "renewed": KeyKind(
        "HASH of the last copy of the serving collection on a Qdrant server: erasures (their number at its begin), and"
        " at (Unix seconds)."
    ),
    "whole_since": KeyKind(
        "STRING: the run ids of the servers (INFO) whose append-only files are known to be whole since their start."
    ),
    "secret": KeyKind("STRING: the installation's secret, for tombstones and receipts of erasures."),
    "forgetting": KeyKind(
        "HASH of people who are being forgotten: name of the tombstone → request and progress, as JSON."
    ),
    "forgetting_lease": KeyKind("STRING: the runner of a request.", "NAME", expires=True),
    "forgotten": KeyKind(
        "STRING: the signed receipt of a person's erasure; ERASED_TTL_S.", "NAME", expires=True
    ),
    "migrations": KeyKind("HASH supergroup id → id of its former group, which keeps the memory."),
    "zones": KeyKind(
        "HASH person id → name of the time zone that this person has chosen, until `/timezone off`."
    ),
    "restoring": KeyKind("STRING: SHA-256 of the backup whose restore is not complete yet."),
    "commands": KeyKind(
        "HASH scope and language of a command menu → digest of its registered commands; COMMANDS_TTL_S.",
        "BOT_ID",
        expires=True,
    ),
    "abilities": KeyKind(
        "HASH digest of the endpoint, and the model → what its requests do without, learned from refusals (JSON);"
        " a day.",
        expires=True,
    ),
    "{usage}:day": KeyKind(
        "HASH of the usage of one user or chat (KIND; or all:0) on a day (UTC): prompt, completion, micros;"
        " USAGE_TTL_S. All keys of the limits are in one slot, because a user writes in chats of any partition.",
        "KIND:OWNER:DAY",
        expires=True,
    ),
    "{usage}:month": KeyKind(
        "HASH of a month's usage: tokens, micros, memory_tokens, memory_micros (summaries, facts). With KIND and UNIT:"
        " ZSET of its users or chats, scored by tokens or micros. Both live for 13 more months; no reset touches them.",
        "MONTH:KIND:UNIT",
        expires=True,
    ),
    "{usage}:minute": KeyKind(
        "ZSET of a minute's update ids, scored by Unix seconds; MINUTE_TTL_S.", "KIND:OWNER", expires=True
    ),
    "{usage}:told": KeyKind(
        "STRING: the update of this chat's last notice of a limit; MINUTE_TTL_S.", "CHAT_ID", expires=True
    ),
    "{usage}:booked": KeyKind(
        "STRING: the usage of this run of a turn is booked; USAGE_TTL_S.", "UPDATE_ID:RUN", expires=True
    ),
    "{usage}:pictures": KeyKind(
        "SET of the tool calls that have made a picture for a person on a day (UTC); USAGE_TTL_S.",
        "USER_ID:DAY",
        expires=True,
    ),
    "{usage}:facts": KeyKind(
        "STRING: tokens of a day (UTC) for facts of older messages; USAGE_TTL_S.", "DAY", expires=True
    ),
    "{access}:guests": KeyKind(
        "HASH user id → time of the accepted invitation (Unix seconds), a colon, and the invitation's digest."
    ),
    "{access}:invitation": KeyKind(
        "STRING: an unused invitation, by the SHA-256 of its code; INVITATION_TTL_S.", "DIGEST", expires=True
    ),
    "{access}:tries": KeyKind(
        "STRING: a person's wrong invitations; INVITATION_TRIES_TTL_S.", "USER_ID", expires=True
    ),
    "{access}:open": KeyKind(
        "ZSET of the digests of unused invitations, scored by their expiry (Unix seconds); INVITATION_TTL_S.",
        expires=True,
    ),
    "{access}:dashboard": KeyKind(
        "STRING: an unused link to the operators' page (digest); DASHBOARD_TTL_S.", "DIGEST", expires=True
    ),
    "{access}:sessions": KeyKind(
        "ZSET of the SHA-256 of the tokens of operators' sessions, scored by their end (Unix seconds); SESSION_TTL_S.",
        expires=True,
    ),
    "{rates}:seats": KeyKind("ZSET of seats of Bot API calls; its TTL ends with the last.", expires=True),
    "{rates}:bucket": KeyKind(
        "STRING: times (ms) at which the budgets of a chat's messages and of all its calls are full; its TTL.",
        "CHAT_ID",
        expires=True,
    ),
    "{rates}:hold": KeyKind(
        "STRING: time (ms) before which Telegram wants no call for this chat; five minutes longer.",
        "CHAT_ID",
        expires=True,
    ),
    "{rates}:counts": KeyKind(
        "HASH of the refusals (429s) of the Bot API in COUNTER_STEP_S from START (Unix seconds); COUNTER_TTL_S.",
        "START",
        expires=True,
    ),
}
"""All partitions: `mnemogram:spaces`."""


_COMPLETED_BY_SCRIPTS: Final = ("box", "outbox", "delivering", "journal", "update", "beat")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRef:
    """Reference of a context: its id (32 hex digits) and the partition whose hash tag its keys have."""

    context_id: str
    partition: int


def context_id(namespace: str, context_keys: Mapping[str, object]) -> str:
    """Return the id of the context with these keys. Their order does not matter.

    `namespace` belongs to the transport ("telegram"), so that no other transport can guess the id of a
    Telegram context. Raises TypeError for keys that are not plain JSON.
    """
    canonical = json.dumps([namespace, context_keys], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def partition_of(anchor: int | str, partitions: int) -> int:
    """Return the partition of a chat, whose id is the anchor. All its topics share it."""
    return crc32(str(anchor).encode()) % partitions


def context_key(ref: ContextRef, name: ContextName | WorkName, *parts: str | int) -> Key:
    """Return a key of one context.

    Its memory: `mnemogram:{m0}:ctx:CONTEXT:messages`. Its work: `mnemogram:{m0}:box:CONTEXT`.
    """
    place = f"{name}:{ref.context_id}" if name in WORK_KEYS else f"ctx:{ref.context_id}:{name}"
    return Key(":".join((f"{PREFIX}:{{m{ref.partition}}}:{place}", *map(str, parts))))


def listed_prefixes(ref: ContextRef) -> Mapping[str, str]:
    """Return the prefixes of a context's keys that another key lists, by the name of the list.

    A script completes `mnemogram:{m0}:ctx:CONTEXT:artifact:` with an id that it finds in `artifacts`.
    """
    return {listing: context_key(ref, name, "") for listing, name in _LISTED_KEYS.items()}


def partition_key(partition: int, name: PartitionName | WorkName, *parts: str | int) -> Key:
    """Return a key of a partition: `mnemogram:{m0}:ready`. An empty last part makes the prefix of all such keys."""
    return Key(":".join((f"{PREFIX}:{{m{partition}}}:{name}", *map(str, parts))))


def global_key(name: GlobalName, *parts: str | int) -> Key:
    """Return a key that all partitions share: `mnemogram:spaces`, `mnemogram:{usage}:told:5`."""
    return Key(":".join((f"{PREFIX}:{name}", *map(str, parts))))


@cache
def key_prefixes(partition: int) -> Mapping[str, str]:
    """Return the prefixes of keys by name, which a script completes with the id of a context or an update."""
    return {name: partition_key(partition, name, "") for name in _COMPLETED_BY_SCRIPTS}
