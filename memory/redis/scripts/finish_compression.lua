-- Take a claimed compression out of the queue, if the claim is still ours. What came after the compressor's last look
-- at the conversation found it queued, and was not queued again: it is due at once then.
-- KEYS: compress, meta
-- ARGV: context_id, token of the claim, next_sequence and revision at the last look, or '' and '' without one
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return
end
local facts = redis.call('HMGET', KEYS[2], 'next_sequence', 'revision')
if ARGV[3] ~= '' and ((facts[1] or '0') ~= ARGV[3] or (facts[2] or '0') ~= ARGV[4]) then
  redis.call('ZADD', KEYS[1], 0, ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
