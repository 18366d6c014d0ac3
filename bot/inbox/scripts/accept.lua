-- Accept one update: dedupe, bound, add to its context's box, wake the context. Atomic.
-- KEYS update, box, active, ready, stop, control
-- ARGV 1 update id, 2 context id, 3 now, 4 box limit, 5 payload, 6 mode (turn | stop | ignored), 7 reason,
--      8 seconds to keep a finished record, 9 seconds to keep a stop
-- Returns accepted | duplicate | full | control | ignored
local update, box, active, ready, stop, control = unpack(KEYS)
local id, context, now, limit, payload, mode, reason, ttl, stop_ttl = unpack(ARGV)

if redis.call('EXISTS', update) == 1 then
  -- A write, so that the caller's wait for the disk covers what the first try wrote and perhaps did not see confirmed.
  redis.call('HINCRBY', update, 'redelivered', 1)
  return 'duplicate'
end
if mode == 'ignored' then
  redis.call('HSET', update, 'context', context, 'received_at', now)
  finish_update(update, 'ignored', reason, now, ttl)
  return 'ignored'
end
if mode == 'stop' and redis.call('HEXISTS', active, context) == 1 then
  -- The control lane: it must not wait behind the turn that it stops.
  redis.call('SET', stop, id, 'EX', stop_ttl)
  redis.call('XADD', control, 'MAXLEN', '~', 1000, '*', 'context', context, 'update', id)
  redis.call('HSET', update, 'context', context, 'received_at', now)
  finish_update(update, 'answered', 'stop', now, ttl)
  return 'control'
end
if payload == '' then
  redis.call('HSET', update, 'context', context, 'received_at', now)
  finish_update(update, 'ignored', 'nothing_to_stop', now, ttl)
  return 'ignored'
end
if redis.call('ZCARD', box) >= tonumber(limit) then
  return 'full'
end
redis.call('HSET', update, 'state', 'pending', 'context', context, 'received_at', now, 'payload', payload)
redis.call('ZADD', box, id, id)
wake(ready, active, context)
return 'accepted'
