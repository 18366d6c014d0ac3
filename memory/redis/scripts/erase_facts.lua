-- Erase facts of one context if it was not reset since `expected_epoch`. Their messages stay, and are not read again.
-- USES: facts
-- KEYS: facts fact_order cited order work meta epoch erasures
-- ARGV: context_id expected_epoch ids...
-- Reply: {{fact id, ...} of those that existed, {message id, ...} of messages that no fact cites any more}, or nil after a
-- reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
local dropped, cited = drop_facts(keys, context_id, expected_epoch, ids)
return { dropped, uncited(keys, cited) }
