-- Take a claimed compression out of the queue if the claim is still ours. If the conversation has changed since it was
-- last seen, the compression is due at once instead: the change found it in the queue and did not add it again.
-- KEYS: compress meta
-- ARGV: context_id token next_sequence revision
-- next_sequence, revision: those last seen, or '' and ''
if redis.call('ZSCORE', compress, context_id) ~= token then
  return
end
local facts = redis.call('HMGET', meta, 'next_sequence', 'revision')
if next_sequence ~= '' and ((facts[1] or '0') ~= next_sequence or (facts[2] or '0') ~= revision) then
  redis.call('ZADD', compress, 0, context_id)
else
  redis.call('ZREM', compress, context_id)
end
