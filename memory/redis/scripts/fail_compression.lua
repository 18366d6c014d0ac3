-- Record a failed compression: retry it later, or give it up after too many failures until more has been said.
-- KEYS: compress meta
-- ARGV: context_id token retry_at max_failures:number next_sequence
-- Reply: given_up | later | lost (the claim is not ours any more: nothing is written)
if redis.call('ZSCORE', compress, context_id) ~= token then
  return 'lost'
end
if redis.call('HINCRBY', meta, 'summary_failures', 1) < max_failures then
  redis.call('ZADD', compress, retry_at, context_id)
  return 'later'
end
redis.call('HDEL', meta, 'summary_failures')
redis.call('HSET', meta, 'summary_failed_at', next_sequence)
redis.call('ZREM', compress, context_id)
return 'given_up'
