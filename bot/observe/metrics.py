"""All metrics with name, unit and help. `GET /metrics` prints them."""

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
"""Media type of the text that `render` returns."""

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

UPDATES = Counter(
    "mnemogram_updates_total",
    "Updates received, by the outcome of the ingest: accepted, duplicate, control, ignored, refused, full, failed.",
    ["outcome"],
)
WEBHOOK_REFUSED = Counter(
    "mnemogram_webhook_refused_total", "Webhook requests refused, by status.", ["status"]
)
CONNECTIONS_DROPPED = Counter(
    "mnemogram_connections_dropped_total",
    "HTTP connections ended without an answer: slow_head, long_head, pipelined (too many requests "
    "at once), crowded (too many waited; it was the oldest).",
    ["reason"],
)
FINISHED = Counter(
    "mnemogram_updates_finished_total",
    "Updates finished, by terminal state: answered, ignored, refused, forgotten, dead.",
    ["state"],
)
TURN_SECONDS = Histogram(
    "mnemogram_turn_seconds",
    "Duration of a turn, by stage: load, agent, commit, deliver, whole.",
    ["stage"],
    buckets=_SECONDS,
)
TURNS_RESUMED = Counter("mnemogram_turns_resumed_total", "Turns resumed from the journal after a crash.")
TURNS_RESTARTED = Counter(
    "mnemogram_turns_restarted_total",
    "Turns started again because their message was edited or a further message joined it.",
)
MODEL_CALLS = Counter(
    "mnemogram_model_calls_total",
    "Requests to the model endpoint, by outcome: ok, or the name of the failure.",
    ["outcome"],
)
MODEL_BREAKER = Counter(
    "mnemogram_model_breaker_total",
    "Events of the models' circuit breakers: opened (no quota, wrong key, unknown model), refused (a request),"
    " probed, closed.",
    ["outcome"],
)
MODEL_BREAKERS_OPEN = Gauge(
    "mnemogram_model_breakers_open", "Models to which this process now sends only probes."
)
MODEL_TOKENS = Counter(
    "mnemogram_model_tokens_total", "Tokens, by direction: prompt, completion.", ["direction"]
)
MODEL_SECONDS = Histogram(
    "mnemogram_model_seconds", "Duration of one request to the model.", buckets=_SECONDS
)
TOOL_CALLS = Counter("mnemogram_tool_calls_total", "Tool calls, by outcome: ok, error.", ["outcome"])
RECALL_SECONDS = Histogram(
    "mnemogram_recall_seconds", "Duration of one recall: embedding and search.", buckets=_SECONDS
)
RECALL_FAILURES = Counter(
    "mnemogram_recall_failures_total", "Turns answered without recall because recall failed."
)
RECALL_PAUSED = Gauge(
    "mnemogram_recall_paused", "1 while recall pauses in this process: the index did not answer in time."
)
INDEXED = Counter("mnemogram_indexed_messages_total", "Messages whose search entries were written.")
REINDEXED = Counter("mnemogram_reindexed_messages_total", "Messages indexed again for a new embedding space.")
REINDEX_MESSAGES = Gauge(
    "mnemogram_reindex_messages", "Messages to index in the present reindexing; 0 without one."
)
REINDEX_MESSAGES_DONE = Gauge(
    "mnemogram_reindex_messages_done", "Messages that the present reindexing has finished; 0 without one."
)
REMINDERS = Counter(
    "mnemogram_reminders_total",
    "Reminders, by outcome: fired (they wait in the inbox), postponed (too much waits in their chat), sent (texts), run"
    " (tasks of the agent), missed (over a day late), cancelled (their person has no access any more).",
    ["outcome"],
)
REMINDER_LATENESS = Histogram(
    "mnemogram_reminder_lateness_seconds",
    "Time from the date of a reminder to its turn.",
    buckets=(0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86400),
)
COMPRESSIONS = Counter(
    "mnemogram_compressions_total",
    "Compressions of conversations, by outcome: compressed, not_due, later (failed, will be retried), given_up (failed"
    " for good), forgotten, lost.",
    ["outcome"],
)
COMPRESSION_SECONDS = Histogram(
    "mnemogram_compression_seconds",
    "Duration of one compression, from its claim to its end.",
    buckets=_SECONDS,
)
COMPRESSIONS_DUE = Gauge(
    "mnemogram_compressions_due", "Conversations that wait for compression without a worker."
)
EXTRACTIONS = Counter(
    "mnemogram_fact_extractions_total",
    "Batches of messages read for facts, by outcome: read, nothing_unread, later (failed, will be retried), given_up"
    " (failed for good), forgotten, lost.",
    ["outcome"],
)
EXTRACTION_CALLS = Counter("mnemogram_fact_calls_total", "Calls of the summary model that read for facts.")
EXTRACTION_TOKENS = Counter(
    "mnemogram_fact_tokens_total",
    "Tokens of these calls, by direction (prompt, completion) and by the age of the messages: new, older.",
    ["direction", "age"],
)
EXTRACTION_SECONDS = Histogram(
    "mnemogram_fact_extraction_seconds",
    "Duration of one extraction, from its claim to its end.",
    buckets=_SECONDS,
)
EXTRACTIONS_DUE = Gauge(
    "mnemogram_fact_extractions_due", "Contexts that wait for an extraction without a worker."
)
EXPIRED = Counter(
    "mnemogram_expired_total",
    "Records that went because messages became too old, by kind: messages, facts, summaries and the like.",
    ["kind"],
)
RETENTION_SECONDS = Histogram(
    "mnemogram_retention_seconds", "Duration of one walk through the messages of a chat.", buckets=_SECONDS
)
RETENTION_STEP_SECONDS = Histogram(
    "mnemogram_retention_step_seconds",
    "Duration of the longest request of such a walk.",
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1),
)
FACTS = Counter(
    "mnemogram_facts_total",
    "Facts in the answers of the summary model, by outcome: saved, dropped (invented, repeated or too many).",
    ["outcome"],
)
DIGESTS = Counter(
    "mnemogram_digests_total", "Digests of the steps of long runs, by outcome: written, failed.", ["outcome"]
)
ARTIFACTS = Counter(
    "mnemogram_artifacts_total",
    "Large tool results, by outcome: kept, not_kept (too large for the store, or the store is full).",
    ["outcome"],
)
DELEGATIONS = Counter(
    "mnemogram_delegations_total", "Delegations, by outcome: answered, failed, refused.", ["outcome"]
)
MEDIA = Counter(
    "mnemogram_media_total",
    "Files of messages, by kind and outcome: read, or the reason why not.",
    ["kind", "outcome"],
)
SENDS = Counter(
    "mnemogram_sends_total",
    "Message parts, by outcome: sent, waited (for a rate limit), retried, unknown, unreachable, refused.",
    ["outcome"],
)
LIMITED = Counter(
    "mnemogram_limited_total",
    "Turns refused, by limit: user_messages, user_tokens, user_money, chat_messages, chat_tokens, chat_money, "
    "all_money.",
    ["limit"],
)
PREVIEWS = Counter(
    "mnemogram_previews_total",
    "Previews of answers in progress, by outcome: shown (a message), failed (a call), late (deleted afterwards).",
    ["outcome"],
)
DEAD_LETTERS = Counter(
    "mnemogram_dead_letters_total", "Updates that became dead letters after repeated crashes."
)
WORKER_FAILURES = Counter(
    "mnemogram_worker_failures_total", "Unexpected errors caught by the worker.", ["where"]
)
QUEUE_DEPTH = Gauge("mnemogram_queue_depth", "Contexts with work to do, in all partitions.")
QUEUE_OLDEST_SECONDS = Gauge("mnemogram_queue_oldest_seconds", "Age of the oldest waiting entry.")


def render() -> bytes:
    """Return all metrics in the Prometheus text format."""
    return generate_latest()
