-- Take a worker out of the group, unless it holds entries: they would be lost, and a sweep must find them.
-- KEYS: ready workers
-- ARGV: group consumer worker
redis.call('ZREM', workers, worker)
local held = redis.call('XPENDING', ready, group, '-', '+', 1, consumer)
if #held == 0 then
  redis.call('XGROUP', 'DELCONSUMER', ready, group, consumer)
end
return #held
