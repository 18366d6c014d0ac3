-- Replace the JSON of a fact that has not changed since it was read, and queue the index work of its messages.
-- USES: facts
-- KEYS: facts fact_order cited order work meta epoch erasures
-- ARGV: context_id expected_epoch:current fact_id before after
-- Reply: corrected | changed (read it again)
if redis.call('HGET', facts, fact_id) ~= before then
  return 'changed'
end
redis.call('HSET', facts, fact_id, after)
redis.call('HINCRBY', meta, 'facts_version', 1)
redis.call('INCR', erasures)
reindex(keys, context_id, expected_epoch, fields_of(after).message_ids)
return 'corrected'
