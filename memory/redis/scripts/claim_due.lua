-- Claim the context of a queue that is due longest: its score becomes the end of the lease, when it is due again.
-- KEYS: queue
-- ARGV: now lease_end
-- Reply: {context_id, the score as stored, which is the claim's token}, or nil if none is due.
local due = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, 1)[1]
if not due then return false end
redis.call('ZADD', queue, lease_end, due)
return { due, redis.call('ZSCORE', queue, due) }
