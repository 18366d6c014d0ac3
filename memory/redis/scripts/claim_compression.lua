-- Claim the compression that is due longest: its score becomes the end of the lease, when it is due again.
-- KEYS: compress
-- ARGV: now lease_end
-- Reply: {context_id, the score as stored, which is the claim's token}, or nil if none is due.
local due = redis.call('ZRANGEBYSCORE', compress, '-inf', now, 'LIMIT', 0, 1)[1]
if not due then
  return false
end
redis.call('ZADD', compress, lease_end, due)
return { due, redis.call('ZSCORE', compress, due) }
