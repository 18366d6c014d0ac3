-- Give a claimed compression another time: the end of a longer lease, or when to try again.
-- KEYS: compress
-- ARGV: context_id, token of the claim, the time
-- Reply: the score as stored: the claim's new token, or nil when the claim is no longer ours.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return false
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return redis.call('ZSCORE', KEYS[1], ARGV[1])
