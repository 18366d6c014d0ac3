-- Put a dead letter back into its context's line, or end it for good if `drop_reason` is not ''.
-- USES: fence
-- KEYS: dead update box active ready erasures
-- ARGV: id context drop_reason now
-- Returns 1 done, 0 not a dead letter
if redis.call('ZREM', dead, id) == 0 then return 0 end
if drop_reason ~= '' then
  finish_update(update, 'dead', drop_reason, now)
  redis.call('INCR', erasures)
  return 1
end
redis.call('HSET', update, 'state', 'pending', 'attempts', 0)
redis.call('HDEL', update, 'reason', 'finished_at')
redis.call('ZADD', box, id, id)
wake(ready, active, context)
return 1
