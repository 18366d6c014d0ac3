-- Replace the JSON of a fact that has not changed since it was read, and queue the index work of its messages.
-- USES: facts
-- KEYS: facts fact_order cited standing order work meta epoch erasures
-- ARGV: context_id expected_epoch:current fact_id before after
-- Reply: corrected | changed (read it again)
if redis.call('HGET', facts, fact_id) ~= before then return 'changed' end
local fact = fields_of(after)
redis.call('HSET', facts, fact_id, after)
list_standing(keys, fact_id, fields_of(before), false)
list_standing(keys, fact_id, fact, not fact.valid_to)
redis.call('HINCRBY', meta, 'facts_version', 1)
redis.call('INCR', erasures)
reindex(keys, context_id, expected_epoch, fact.message_ids)
return 'corrected'
