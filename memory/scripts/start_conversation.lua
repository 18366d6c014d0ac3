-- Begin a new conversation after the present messages: the older ones stay and stay searchable. A prelude.
-- meta_key: as in memory/keys.py. Returns the sequence at which the new conversation starts.
local function start_conversation(meta_key)
  local start = redis.call('HGET', meta_key, 'next_sequence') or '0'
  redis.call('HSET', meta_key, 'conversation_start', start)
  return start
end
