-- Begin a new conversation after the present messages: the older ones stay and stay searchable. The summaries are
-- of the conversation that ended, and so is whom a transfer gave the chat to. A prelude.
-- All keys as in memory/keys.py. Returns the sequence at which the new conversation starts.
local function start_conversation(meta_key, summaries_key, lineage_key)
  local start = redis.call('HGET', meta_key, 'next_sequence') or '0'
  redis.call('HSET', meta_key, 'conversation_start', start)
  redis.call('HDEL', meta_key, 'active_agent', 'summary_failures', 'summary_failed_at')
  redis.call('UNLINK', summaries_key, lineage_key)
  return start
end
