-- Begin a new conversation after the present messages; the older ones stay searchable. A prelude.

-- keys: meta, summaries, lineage. Drop the summaries and the active agent: they belong to the ended conversation.
-- Return the sequence at which the new conversation starts.
local function start_conversation(keys)
  local start = redis.call('HGET', keys.meta, 'next_sequence') or '0'
  redis.call('HSET', keys.meta, 'conversation_start', start)
  redis.call('HDEL', keys.meta, 'active_agent', 'summary_failures', 'summary_failed_at')
  redis.call('UNLINK', keys.summaries, keys.lineage)
  return start
end
