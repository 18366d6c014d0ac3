-- Take a dead letter up again (retry), or drop it for good.
-- KEYS dead, update, box, active, ready   ARGV 1 update id, 2 context, 3 retry | drop, 4 now, 5 seconds to keep a finished record
-- Returns 1 done, 0 not a dead letter
local dead, update, box, active, ready = unpack(KEYS)
local id, context, verb, now, ttl = unpack(ARGV)
if redis.call('ZREM', dead, id) == 0 then
  return 0
end
if verb == 'drop' then
  finish_update(update, 'dead', 'dropped by an operator', now, ttl)
  return 1
end
redis.call('HSET', update, 'state', 'pending', 'attempts', 0)
redis.call('HDEL', update, 'reason', 'finished_at', 'reprieved')
redis.call('ZADD', box, id, id)
wake(ready, active, context)
return 1
