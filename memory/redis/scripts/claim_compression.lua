-- Claim the compression that is due longest: its score becomes the end of the lease, when it is due again.
-- KEYS: compress
-- ARGV: now, end of the lease
-- Reply: {context_id, the score as stored: the claim's token}, or nil when none is due.
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)[1]
if not due then
  return false
end
redis.call('ZADD', KEYS[1], ARGV[2], due)
return { due, redis.call('ZSCORE', KEYS[1], due) }
