-- A compression failed: try again later, or after too many times give it up until more has been said.
-- KEYS: compress, meta
-- ARGV: context_id, token of the claim, when to try again, failures at most, next_sequence at the failure
-- Reply: given_up | later | lost (the claim is no longer ours: nothing is written)
local compress, meta = unpack(KEYS)
local context, token, again, at_most, next_sequence = unpack(ARGV)
if redis.call('ZSCORE', compress, context) ~= token then
  return 'lost'
end
if redis.call('HINCRBY', meta, 'summary_failures', 1) < tonumber(at_most) then
  redis.call('ZADD', compress, again, context)
  return 'later'
end
redis.call('HDEL', meta, 'summary_failures')
redis.call('HSET', meta, 'summary_failed_at', next_sequence)
redis.call('ZREM', compress, context)
return 'given_up'
