-- Extend the lease of a claimed context of a queue. Repeated after a lost reply, it answers the same.
-- KEYS: queue
-- ARGV: context_id token lease_end
-- Reply: the score as stored, which is the claim's new token, or nil if the claim is not ours any more.
local held = redis.call('ZSCORE', queue, context_id)
if held ~= token and (not held or tonumber(held) ~= tonumber(lease_end)) then return false end
redis.call('ZADD', queue, lease_end, context_id)
return redis.call('ZSCORE', queue, context_id)
