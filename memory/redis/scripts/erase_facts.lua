-- Erase facts of one context. Their messages stay, and are not read again.
-- USES: facts
-- KEYS: facts fact_order cited standing order work meta epoch erasures
-- ARGV: context_id expected_epoch:current ids...
-- Reply: {{fact id, ...} of those that existed, {message id, ...} of messages that no fact cites any more}
local dropped, cited = drop_facts(keys, context_id, expected_epoch, ids)
return { dropped, uncited(keys, cited) }
