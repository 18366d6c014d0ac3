-- The queue of contexts with messages to read for facts. A prelude.
-- A score is a whole number while a context waits, and has a fraction while it is claimed.

-- Messages that wait for others for up to PAUSE_S seconds, and the number from which they are read at once.
local PAUSE_S, MANY = 300, 20

-- Queue a context that has unread messages, unless it is claimed, due earlier, or waits after a failure.
-- keys: extract, unread, meta
local function queue_extraction(keys, context, now)
  local pause = redis.call('ZCARD', keys.unread) >= MANY and 0 or PAUSE_S
  local due, score = math.floor(now) + pause, tonumber(redis.call('ZSCORE', keys.extract, context))
  local waits = score and score == math.floor(score) and redis.call('HEXISTS', keys.meta, 'fact_failures') == 0
  if not score or (waits and score > due) then redis.call('ZADD', keys.extract, due, context) end
end
