-- Give a claimed compression another time: the end of a longer lease. Repeated after a lost reply, it answers the same.
-- KEYS: compress
-- ARGV: context_id, token of the claim, the time
-- Reply: the score as stored: the claim's new token, or nil when the claim is no longer ours.
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if held ~= ARGV[2] and (not held or tonumber(held) ~= tonumber(ARGV[3])) then
  return false
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return redis.call('ZSCORE', KEYS[1], ARGV[1])
