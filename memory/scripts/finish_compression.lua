-- Take a claimed compression out of the queue, if the claim is still ours.
-- KEYS: compress
-- ARGV: context_id, token of the claim
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
