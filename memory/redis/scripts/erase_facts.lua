-- Erase facts of one context. Their messages stay, and are not read again.
-- USES: facts tombstones
-- KEYS: facts fact_order cited standing order work meta epoch erasures tombstones
-- ARGV: context_id expected_epoch:current buried:json ids...
-- Reply: {{fact id, ...} of those that existed, {message id, ...} of messages that no fact cites any more}
local dropped, cited = drop_facts(keys, context_id, expected_epoch, ids)
bury(tombstones, #dropped > 0 and buried or {})
return { dropped, uncited(keys, cited) }
