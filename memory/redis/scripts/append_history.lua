-- Append messages to one context if it was not reset since `expected_epoch`.
-- USES: append_messages
-- KEYS: messages order telegram meta work people senders sessions epoch
-- ARGV: context_id expected_epoch now batch:json
-- Reply: their sequences, or nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
return append_messages(keys, context_id, expected_epoch, now, batch)
