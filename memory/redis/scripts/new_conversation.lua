-- Begin a new conversation if the context was not reset since `expected_epoch`.
-- USES: start_conversation
-- KEYS: meta summaries lineage epoch
-- ARGV: expected_epoch
-- Reply: the sequence at which it starts, or nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
return start_conversation(keys)
