-- Take a claimed compression out of the queue if the claim is still ours. One that is given up waits until more has been
-- said. Another one is due at once if the conversation has changed since it was last seen: the change found it in the
-- queue and did not add it again.
-- KEYS: compress meta
-- ARGV: context_id token next_sequence revision is_given_up
-- next_sequence, revision: those last seen, or '' and ''
if redis.call('ZSCORE', compress, context_id) ~= token then return end
local facts = redis.call('HMGET', meta, 'next_sequence', 'revision')
if is_given_up == '1' then
  redis.call('HDEL', meta, 'summary_failures')
  redis.call('HSET', meta, 'summary_failed_at', next_sequence ~= '' and next_sequence or '0')
elseif next_sequence ~= '' and ((facts[1] or '0') ~= next_sequence or (facts[2] or '0') ~= revision) then
  return redis.call('ZADD', compress, 0, context_id)
end
redis.call('ZREM', compress, context_id)
