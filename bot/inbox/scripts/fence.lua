-- Shared by the inbox's scripts: is this entry of `ready` still held by this consumer, at this delivery?
-- A worker that slept past its lease finds another delivery count here, and writes nothing.
local function is_held(ready, fence)
  local held = redis.call('XPENDING', ready, fence.group, fence.entry, fence.entry, 1)[1]
  return held ~= nil and held[2] == fence.consumer and tostring(held[4]) == fence.delivery
end

-- The update that the work on a context is about: the first of the interrupted turn, else the first that waits.
local function first_update(journal, box)
  local joined = redis.call('HGET', journal, 'joined')
  local first = joined and string.match(joined, '-?%d+')
  if first and redis.call('ZSCORE', box, first) then
    return first, true
  end
  return redis.call('ZRANGE', box, 0, 0)[1], false
end

-- Nobody has died over this attempt: it does not count. The next take begins another; what is taken back is so once.
local function take_back(update, attempt)
  if redis.call('HGET', update, 'attempt') == attempt then
    redis.call('HDEL', update, 'attempt')
    redis.call('HINCRBY', update, 'attempts', -1)
  end
end

-- Put a finished update's record into its terminal state; its payload goes, the record stays for a while.
local function finish_update(key, state, reason, now, ttl)
  redis.call('HSET', key, 'state', state, 'reason', reason, 'finished_at', now)
  redis.call('HDEL', key, 'payload')
  redis.call('EXPIRE', key, ttl)
end

-- Wake a context: give it one entry in `ready` unless it has one.
local function wake(ready, active, context)
  if redis.call('HEXISTS', active, context) == 0 then
    redis.call('HSET', active, context, redis.call('XADD', ready, '*', 'context', context))
  end
end
