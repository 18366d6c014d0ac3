-- Turn facts off, of a person or of the whole context, and erase what there is.
-- USES: facts tombstones
-- KEYS: facts fact_order cited standing order work meta epoch erasures choices unread extract tombstones
-- ARGV: context_id expected_epoch:current person buried:json
-- person: sender id, or '' for the context
-- Reply: as erase_facts.lua
redis.call('HDEL', meta, 'fact_failures')  -- first: a full server refuses a script whose first write needs memory
local ids = {}
for _, id in ipairs(redis.call('ZRANGE', fact_order, 0, -1)) do
  local fact = fields_of(redis.call('HGET', facts, id))
  ids[#ids + 1] = (person == '' or fact.subject_id == person or fact.said_by == person) and id or nil
end
local dropped, messages = drop_facts(keys, context_id, expected_epoch, ids)
if person ~= '' then
  redis.call('HSET', choices, 'off:' .. person, 1)
else
  redis.call('HSET', choices, 'facts', 'off')
  redis.call('UNLINK', facts, fact_order, cited, standing, unread)
  redis.call('ZREM', extract, context_id)
end
if redis.call('EXISTS', meta) == 1 then
  redis.call('HINCRBY', meta, 'facts_version', 1)
  if person == '' then redis.call('HSET', meta, 'facts_from', 0) end
end
bury(tombstones, buried)
redis.call('INCR', erasures)
return { dropped, uncited(keys, messages) }
