-- Make a summary the current one if nothing that it was made from has changed. All of it, or nothing.
-- KEYS: compress epoch meta order summaries lineage
-- ARGV: context_id token expected_epoch:current revision save:json
-- save: SummarySave (memory/summary/compressor.py)
-- Reply: saved (now or by an earlier try) | stale (messages were deleted or edited, or a new conversation began) |
--        lost (the claim is not ours any more)
if redis.call('ZSCORE', compress, context_id) ~= token then return 'lost' end
local current = redis.call('ZREVRANGE', lineage, 0, 0, 'WITHSCORES')
if current[1] == save.id then return 'saved' end

local facts = redis.call('HMGET', meta, 'revision', 'conversation_start')
if (facts[1] or '0') ~= revision or tonumber(facts[2] or '0') ~= save.conversation_start then
  return 'stale'
end
if (current[1] or '') ~= save.builds_on or (current[2] and save.upto_sequence <= tonumber(current[2])) then
  return 'stale'
end
for _, id in ipairs(save.ids) do
  if not redis.call('ZSCORE', order, id) then return 'stale' end
end

redis.call('HSET', summaries, save.id, save.summary, 'covers:' .. save.id, save.covers)
redis.call('ZADD', lineage, save.upto_sequence, save.id)
for _, old in ipairs(redis.call('ZRANGE', lineage, 0, -1 - save.stored_summaries)) do
  redis.call('HDEL', summaries, old, 'covers:' .. old)
  redis.call('ZREM', lineage, old)
end
redis.call('HDEL', meta, 'summary_failures', 'summary_failed_at')
return 'saved'
